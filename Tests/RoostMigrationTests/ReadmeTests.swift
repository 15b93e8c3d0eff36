import Foundation
import Roost
import RoostMigration
import Testing

#if SQLite
    @Suite("The README")
    struct ReadmeTests {
        /// Runs the README's program with another path.
        private func program(_ path: String, print: (Value) -> Void) throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Artist", attributes: [.string("name")],
                    relationships: [.toMany("albums", to: "Album", inverse: "artist")]),
                EntityDescription(
                    "Album", attributes: [.string("title")],
                    relationships: [.toOne("artist", to: "Artist", inverse: "albums")]),
            ])
            let container = try PersistentContainer(.sqlite(path), model: model)
            let context = container.makeContext()
            if try context.count(FetchRequest("Album")) == 0 {
                let (artist, album) = (try context.insert("Artist"), try context.insert("Album"))
                (artist["name"], album["title"]) = ("Joni Mitchell", "Blue")
                try album.setObject(artist, for: "artist")
                try context.save()
            }
            for album in try context.fetch(FetchRequest("Album", where: "artist.name == 'Joni Mitchell'")) {
                print(album["title"])
            }
        }

        @Test("the README's program prints the same on its second run")
        func program() throws {
            let directory = try TemporaryDirectory()
            var printed: [Value] = []
            for _ in 1...2 { try program(directory.file("music.sqlite")) { printed.append($0) } }
            #expect(printed == ["Blue", "Blue"])
        }

        @Test("the README's program has at most fifteen lines")
        func length() throws {
            let readme = try Self.readme()
            let program = try #require(readme.components(separatedBy: "```swift\n").dropFirst().first)
            #expect(
                program.components(separatedBy: "```")[0].split(separator: "\n", omittingEmptySubsequences: false).count
                    <= 16)
        }

        @Test("the README's migration opens a store with the bundle's current version and keeps a backup")
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

            // The program, as in the README except for the paths.
            let model = try ModelFile.read(bundle).model
            let history = try ModelFile.history(at: bundle)
            let store = try Store.open(
                .sqlite(path), model: model,
                ifIncompatible: .migrate(MigrationOptions(history: history).with { $0.keepsBackup = true }))

            #expect(try store.count("Note", where: "name == 'Blue'") == 1)
            try store.close()
            #expect(try directory.names().filter { $0.hasPrefix("notes.sqlite.backup-") }.count == 1)
        }

        @Test("the README's programs are the programs that these tests run")
        func text() throws {
            let readme = try Self.readme()
            let tested = Self.squeezed(try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8))
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

        private static func readme() throws -> String {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            return try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        }

        /// Returns the text without white space, which the formatter changes.
        private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }
    }
#endif
