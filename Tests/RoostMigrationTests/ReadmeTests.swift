import Foundation
import Roost
import RoostMigration
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
            func print(_ id: ObjectID, _ title: Value, _ year: Value) { printed.append("\(id) \(title) \(year)") }

            // The program, as the README has it but for the path.
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Artist", attributes: [.string("name", isOptional: false)],
                    relationships: [.toMany("albums", to: "Album", inverse: "artist")]),
                EntityDescription(
                    "Album", attributes: [.string("title"), .integer16("year")],
                    relationships: [.toOne("artist", to: "Artist", inverse: "albums")]),
            ])
            let store = try Store.open(.sqlite(path), model: model)
            let artists =
                try store.insert("Artist", rows: [["name": "Joni Mitchell"]], result: .objectIDs).objectIDs ?? []
            try store.insert("Album", rows: artists.map { ["title": "Blue", "year": 1971, "artist": .objectID($0)] })

            let prefix = "Bl"
            try store.update("Album", set: "year = year + 1", where: "title BEGINSWITH \(prefix)")
            for album in try store.fetch("Album", where: "artist.name == \("Joni Mitchell")", sortedBy: ["year"]) {
                print(album.id, album["title"], album["year"])
            }
            try store.close()

            #expect(printed == ["Album/p1 \"Blue\" 1972"])
        }

        @Test("its migration brings a store to the current version of a bundle, and keeps the old one")
        func migration() throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("notes.sqlite")
            let bundle = directory.file("Notes.xcdatamodeld")
            for (name, attribute) in [("Notes", "title"), ("Notes 2", "name")] {
                let version = "\(bundle)/\(name).xcdatamodel"
                try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
                let contents = """
                    <?xml version="1.0" encoding="UTF-8"?>
                    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                    <entity name="Note"><attribute name="\(attribute)" optional="YES" attributeType="String" elementID="title"/></entity>
                    </model>
                    """
                try Data(contents.utf8).write(to: URL(fileURLWithPath: "\(version)/contents"))
            }
            let current =
                "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>Notes 2.xcdatamodel</string></dict></plist>"
            try Data(current.utf8).write(to: URL(fileURLWithPath: "\(bundle)/.xccurrentversion"))
            let old = try StoreRegistry.standard.create(
                StoreLocation(type: "sqlite", path: path), model: ModelFile.read(bundle, version: "Notes").model)
            var changes = ChangeSet(model: old.model)
            try changes.insert(ObjectID("Note", key: 1), values: ["title": "Blue"])
            _ = try old.commit(changes)
            try old.close()

            // The program, as the README has it but for the paths.
            let model = try ModelFile.read(bundle).model
            let history = try ModelFile.history(at: bundle)
            let store = try Store.open(
                .sqlite(path), model: model,
                ifIncompatible: .migrate(MigrationOptions(history: history).with { $0.keepsBackup = true }))

            #expect(try store.count("Note", where: "name == 'Blue'") == 1)
            try store.close()
            #expect(try directory.names().filter { $0.hasPrefix("notes.sqlite.backup-") }.count == 1)
        }

        @Test("its programs are those that are tested here")
        func text() throws {
            let here = URL(fileURLWithPath: #filePath)
            let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
            let tested = Self.squeezed(try String(contentsOf: here, encoding: .utf8))
            let program = try #require(readme.components(separatedBy: "import Roost\n").dropFirst().first)
                .components(separatedBy: "```")[0]
            #expect(tested.contains(Self.squeezed(program).replacingOccurrences(of: "\"music.sqlite\"", with: "path")))
            let migration = try #require(readme.components(separatedBy: "## Migrating\n\n```swift\n").dropFirst().first)
                .components(separatedBy: "```")[0]
            #expect(
                tested.contains(
                    Self.squeezed(migration).replacingOccurrences(of: "\"notes.sqlite\"", with: "path")
                        .replacingOccurrences(of: "\"Notes.xcdatamodeld\"", with: "bundle")))
        }

        /// Without white space, which the formatter places as it likes.
        private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }
    }
#endif
