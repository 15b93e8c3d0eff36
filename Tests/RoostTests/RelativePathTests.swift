import Foundation
import Roost
import Testing

@Suite("Stores opened by a relative path")
struct RelativePathTests {
    @Test("a store opened by a relative path survives a change of directory", arguments: fileTypes)
    func elsewhere(type: String) async throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.file("elsewhere"), withIntermediateDirectories: false)
        // Runs in a separate process, because all threads share the directory.
        await #expect(processExitsWith: .success) { [type, path = folder.path as String] in
            try #require(FileManager.default.changeCurrentDirectoryPath(path))
            let kind = try StoreRegistry.standard.type(named: type)
            let location = StoreLocation(type: type, path: "a.store")
            for isNew in [true, false] {
                try #require(FileManager.default.changeCurrentDirectoryPath(path))
                let store =
                    isNew
                    ? try kind.create(location, model: try model(), options: StoreOptions())
                    : try kind.open(location, options: StoreOptions())
                try #require(FileManager.default.changeCurrentDirectoryPath(path + "/elsewhere"))
                var changes = ChangeSet(model: store.model)
                let key = try store.reserveKeys(1, for: "Artist").lowerBound
                try changes.insert(ObjectID("Artist", key: key), values: ["name": .string("a")])
                _ = try store.commit(changes)
                let snapshot = try store.snapshot()
                try #require(try snapshot.count(FetchRequest("Artist")) == (isNew ? 1 : 2))
                snapshot.close()
                try #require(try checkStore(store).isEmpty)
                try store.close()
            }
            try #require(try FileManager.default.contentsOfDirectory(atPath: path + "/elsewhere").isEmpty)
        }
        #expect(try !folder.names().contains { $0.hasPrefix("elsewhere/") })
    }
}
