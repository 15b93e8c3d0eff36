import RoostCore

#if SQLite
    import Foundation
    import Roost
    @testable import RoostCoreData
    import Testing

    @Suite("The choice of a store's model")
    struct StoreModelTests {
        private static let note =
            "CREATE TABLE ZNOTE (\(CoreDataLayoutTests.row), ZTITLE VARCHAR, ZSTARS INTEGER);"
            + "INSERT INTO ZNOTE VALUES (1, 1, 1, 'a', 5);"

        private static func open(
            _ files: AppleStore, model: String, version: String? = nil
        ) throws -> any PersistentStore {
            files.close()
            return try CoreDataStoreType().open(
                StoreLocation(type: "coredata", path: files.path),
                options: StoreOptions(
                    typeOptions: ["model": model].merging(version.map { ["modelVersion": $0] } ?? [:]) { $1 }))
        }

        private static func attributes(_ store: any PersistentStore) -> [String] {
            store.model.entity("Note")?.attributes.map(\.name) ?? []
        }

        /// Writes `Notes.xcdatamodeld` with the attributes of each version.
        ///
        /// The first version is current.
        private static func writeBundle(
            to directory: TemporaryDirectory, versions: [(name: String, attributes: String)]
        ) throws -> String {
            for version in versions {
                try directory.write(
                    "<model><entity name=\"Note\">\(version.attributes)</entity></model>",
                    to: "Notes.xcdatamodeld/\(version.name).xcdatamodel/contents")
            }
            try directory.write(
                "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(versions[0].name).xcdatamodel</string></dict></plist>",
                to: "Notes.xcdatamodeld/.xccurrentversion")
            return directory.file("Notes.xcdatamodeld")
        }

        private static let title = "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
        private static let stars = "<attribute name=\"stars\" optional=\"YES\" attributeType=\"Integer 32\"/>"
        private static let day = "<attribute name=\"day\" optional=\"YES\" attributeType=\"Date\"/>"

        @Test("Apple's version hashes in a store select the version of a compiled bundle")
        func appleHashes() throws {
            let files = try AppleStore(
                ["Note"], metadata: [("NSStoreModelVersionHashes", .dict([("Note", .data([1, 1]))]))],
                sql: Self.note.replacingOccurrences(of: ", ZSTARS INTEGER", with: "")
                    .replacingOccurrences(of: ", 5)", with: ")"))
            let path = try CompiledBundleTests.writeBundle(to: files.directory)
            // The current version has one more attribute, which the file lacks.
            #expect(Self.attributes(try Self.open(files, model: path)) == ["title"])
            #expect(try failure { try Self.open(files, model: path, version: "Notes 10") }.code == .modelMismatch)
        }

        @Test("a store's tables select the version of a bundle, whichever is current")
        func tables() throws {
            let files = try AppleStore(["Note"], sql: Self.note)
            let path = try Self.writeBundle(
                to: files.directory,
                versions: [
                    ("N 3", Self.title + Self.stars + Self.day), ("N 2", Self.title + Self.stars), ("N", Self.title),
                ])
            let store = try Self.open(files, model: path)
            #expect(Self.attributes(store) == ["stars", "title"])
            #expect(try store.snapshot().objects("Note")[1]?["stars"] == .int(5))
            #expect(try failure { try Self.open(files, model: path, version: "N 3") }.code == .modelMismatch)
            // `ModelFile.read` chooses the same version.
            let description = PersistentStoreDescription(StoreLocation(type: "coredata", path: files.path))
            #expect(try ModelFile.read(path, forStore: description).model.entity("Note")?.attributes.count == 2)
        }

        @Test("a bundle with several fitting versions is refused unless one is named")
        func ambiguous() throws {
            let files = try AppleStore(["Note"], sql: Self.note)
            let path = try Self.writeBundle(
                to: files.directory,
                versions: [
                    ("N 2", Self.title + Self.stars),
                    ("N", Self.title + Self.stars.replacingOccurrences(of: "32", with: "64")),
                ])
            let error = try failure { try Self.open(files, model: path) }
            #expect(error.code == .invalidRequest && error.message.contains("'N 2', 'N'"))
            #expect(error.message.contains("--model-version"))
            #expect(Self.attributes(try Self.open(files, model: path, version: "N")) == ["stars", "title"])
        }

        @Test("a bundle without a fitting version is refused, and the error lists its versions")
        func noVersion() throws {
            let files = try AppleStore(["Note"], sql: Self.note)
            let path = try Self.writeBundle(
                to: files.directory, versions: [("N 2", Self.day), ("N", Self.title + Self.day)])
            let error = try failure { try Self.open(files, model: path) }
            #expect(error.code == .modelMismatch && error.message.contains("none of the versions"))
            #expect(error.message.contains("N, N 2"))
        }

        @Test("the model in a store's file selects among versions with the same columns")
        func cache() throws {
            let archive = compiledModel("Note", attributes: [("title", 700), ("stars", 300)])
            let files = try AppleStore(
                ["Note"],
                sql: Self.note
                    + "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB); INSERT INTO Z_MODELCACHE VALUES (\(AppleStore.hex(deflateStored(archive))));"
            )
            let wide = Self.title + Self.stars.replacingOccurrences(of: "32", with: "64")
            let path = try Self.writeBundle(
                to: files.directory, versions: [("N 2", Self.title + Self.stars), ("N", wide)])
            #expect(try Self.open(files, model: path).model.entity("Note")?.attribute("stars")?.type == .integer64)
        }

        // MARK: Model documents

        private static func modelDocument() throws -> (model: ManagedObjectModel, bytes: [UInt8]) {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Note",
                    attributes: [
                        AttributeDescription("title", type: .string), AttributeDescription("stars", type: .integer32),
                    ])
            ])
            return (model, Array(model.document()))
        }

        @Test("a Core Data store is opened with a model document")
        func documents() throws {
            let files = try AppleStore(["Note"], sql: Self.note)
            let (model, bytes) = try Self.modelDocument()
            try files.directory.write(bytes, to: "Notes.roostmodel.json")
            let path = files.directory.file("Notes.roostmodel.json")
            let store = try Self.open(files, model: path)
            #expect(store.model == model)
            #expect(try store.snapshot().objects("Note")[1]?["title"] == .string("a"))
        }

        @Test("a version name for a model document is refused, because a document has no versions")
        func versionOfDocument() throws {
            let files = try AppleStore(["Note"], sql: Self.note)
            try files.directory.write(Self.modelDocument().bytes, to: "Notes.roostmodel.json")
            let path = files.directory.file("Notes.roostmodel.json")
            let versioned = try failure { try Self.open(files, model: path, version: "2") }
            #expect(versioned.code == .invalidRequest && versioned.message.contains("has no versions"))
        }

        @Test("the error for a malformed model document names it, and a missing one is not found")
        func wrongDocument() throws {
            let files = try AppleStore(["Note"], sql: Self.note)
            try files.directory.write("{ \"entities\": { \"Note\": { \"atributes\": {} } } }", to: "bad.json")
            let error = try failure { try Self.open(files, model: files.directory.file("bad.json")) }
            #expect(error.code == .invalidModel && error.message.contains("bad.json"))
            #expect(try failure { try Self.open(files, model: files.directory.file("none.json")) }.code == .notFound)
        }

        @Test(
            "a Roost store's hashes select the version of a model bundle; a missing store selects the current version",
            arguments: ["sqlite", "json"])
        func roostStores(type: String) throws {
            let directory = try TemporaryDirectory()
            let path = try Self.writeBundle(
                to: directory,
                versions: [("N 3", Self.title + Self.day), ("N 2", Self.title + Self.stars), ("N", Self.title)])
            let old = try ModelFile.read(path, version: "N 2").model
            let location = StoreLocation(type: type, path: directory.file("notes"))
            try StoreRegistry.standard.create(location, model: old).close()
            #expect(try ModelFile.read(path, forStore: PersistentStoreDescription(location)).model == old)
            // For a missing store, the model is the current version.
            let current = try ModelFile.read(path).model
            let none = StoreLocation(type: type, path: directory.file("none"))
            #expect(try ModelFile.read(path, forStore: PersistentStoreDescription(none)).model == current)
        }
    }
#endif
