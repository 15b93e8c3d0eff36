import Foundation
import Roost
import RoostFiles
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("A store whose file has two names")
struct HardLinkTests {
    private func insert(into store: any PersistentStore) throws {
        var changes = ChangeSet(model: store.model)
        let key = try store.reserveKeys(1, for: "Artist").lowerBound
        try changes.insert(ObjectID("Artist", key), values: ["name": .string("a")])
        _ = try store.commit(changes)
    }

    private func count(_ store: any PersistentStore) throws -> Int {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try snapshot.count(FetchRequest("Artist"))
    }

    @Test("is read under both and written under none, until one is gone", arguments: fileTypes)
    func twoNames(type: String) throws {
        let folder = try Folder()
        let kind = try StoreRegistry.builtIn.type(named: type)
        let url = StoreURL(type: type, path: folder.file("a"))
        let other = StoreURL(type: type, path: folder.file("b"))
        let store = try kind.create(url, model: try model(), options: StoreOptions())
        try insert(into: store)
        try store.close()
        #expect(link(url.path, other.path) == 0)

        let reading = StoreOptions(isReadOnly: true)
        for name in [url, other] {
            let refusal = error { try kind.open(name, options: StoreOptions()).close() }
            #expect(refusal?.code == .hasOtherNames && refusal?.message.contains("hard link") == true)
            let reader = try kind.open(name, options: reading)
            #expect(try count(reader) == 1)
            // Nor by way of a reader.
            #expect(error { try kind.open(name, options: StoreOptions()).close() }?.code == .hasOtherNames)
            try reader.close()
            #expect(error { _ = try StoreMaintenance(registry: .builtIn).compact(name) }?.code == .hasOtherNames)
            let manager = MigrationManager(registry: .builtIn)
            #expect(error { _ = try manager.migrateInPlace(name, model: try model("title")) }?.code == .hasOtherNames)
        }
        #expect(StoreFile.sameFile(url.path, other.path))

        #expect(unlink(other.path) == 0)
        let again = try kind.open(url, options: StoreOptions())
        try insert(into: again)
        #expect(try count(again) == 2)
        try again.close()
    }

    @Test("is opened when the other one is what a replacement that never ended left", arguments: fileTypes)
    func leftover(type: String) throws {
        let folder = try Folder()
        let kind = try StoreRegistry.builtIn.type(named: type)
        let url = StoreURL(type: type, path: folder.file("a"))
        try kind.create(url, model: try model(), options: StoreOptions()).close()
        try StoreFile.addName(StoreFile.temporarySibling(of: url.path), toFileAt: url.path)
        try StoreFile.addName(StoreFile.backupSibling(of: url.path), toFileAt: url.path)
        let store = try kind.open(url, options: StoreOptions())
        try insert(into: store)
        try store.close()
        #expect(try Set(folder.names()).isSubset(of: ["a", "a.lock"]))
    }

    @Test(
        "a file of somebody else's where SQLite's index or LMDB's lock file belongs stays",
        arguments: [("sqlite", "-shm"), ("lmdb", "-lock")])
    func foreign(type: String, suffix: String) throws {
        let folder = try Folder()
        let kind = try StoreRegistry.builtIn.type(named: type)
        let url = StoreURL(type: type, path: folder.file("a"))
        try kind.create(url, model: try model(), options: StoreOptions()).close()
        let text = String(repeating: "precious\n", count: 4000)
        try folder.write(text, to: "a" + suffix)
        for isReadOnly in [true, false] {
            let refusal = error { try kind.open(url, options: StoreOptions(isReadOnly: isReadOnly)).close() }
            #expect(refusal?.code == .notAStore && refusal?.message.contains("a\(suffix)'") == true)
        }
        #expect(try folder.bytes("a" + suffix) == Array(text.utf8))
        #expect(unlink(folder.file("a" + suffix)) == 0)
        try kind.open(url, options: StoreOptions()).close()
    }
}
