import Foundation
import Roost
import Testing

#if SQLite
    @Suite("The README")
    struct ReadmeTests {
        @Test("its program runs and prints the album")
        func program() throws {
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let path = directory.appendingPathComponent("music.sqlite").path
            var printed: [String] = []
            func print(_ id: ObjectID, _ values: [String: Value]) {
                printed.append("\(id) \(values["title"] ?? .null)")
            }

            // The program, as the README has it but for the path.
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Artist", attributes: [.string("name", isOptional: false)],
                    relationships: [.toMany("albums", "Album", inverse: "artist")]),
                EntityDescription(
                    "Album", attributes: [.string("title"), .integer16("year")],
                    relationships: [.toOne("artist", "Artist", inverse: "albums")]),
            ])
            let store = try StoreRegistry.builtIn.create(StoreURL(type: "sqlite", path: path), model: model)
            let artist = ObjectID("Artist", try store.reserveKeys(1, for: "Artist").lowerBound)
            let album = ObjectID("Album", try store.reserveKeys(1, for: "Album").lowerBound)
            var changes = ChangeSet(model: model)
            try changes.insert(artist, values: ["name": "Joni Mitchell"])
            try changes.insert(album, values: ["title": "Blue", "year": 1971, "artist": .objectID(artist)])
            _ = try store.commit(changes)

            let snapshot = try store.snapshot()
            let albums = try snapshot.fetch(
                FetchRequest("Album", where: .beginsWith("title", "Bl"), sortedBy: [.init("year")]))
            var batch = RecordBatch(model: model)
            while try albums.next(into: &batch) {
                for index in 0..<batch.count { print(batch.id(at: index), batch.values(at: index)) }
            }
            snapshot.close()
            try store.close()

            #expect(printed == ["Album/p1 \"Blue\""])
        }

        @Test("its program is the one that is tested here")
        func text() throws {
            let here = URL(fileURLWithPath: #filePath)
            let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
            let tested = Self.squeezed(try String(contentsOf: here, encoding: .utf8))
            let program = try #require(readme.components(separatedBy: "import Roost\n").dropFirst().first)
                .components(separatedBy: "```")[0]
            #expect(tested.contains(Self.squeezed(program).replacingOccurrences(of: "\"music.sqlite\"", with: "path")))
        }

        /// Without white space, which the formatter places as it likes.
        private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }
    }
#endif
