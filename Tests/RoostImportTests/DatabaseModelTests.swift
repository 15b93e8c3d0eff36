import Foundation
import RoostCore
import RoostImport
import RoostMigration
import Testing

#if SQLite
    @Suite("Models given to an import of a database")
    struct DatabaseModelTests {
        private let directory: ImportDirectory
        private let path: String

        init() throws {
            directory = try ImportDirectory()
            path = try directory.database(
                """
                CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT, year INT, artist_id INT REFERENCES artist);
                CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE album_tag (album_id INT REFERENCES album, tag_id INT REFERENCES tag);
                INSERT INTO artist VALUES (1, 'Nina'); INSERT INTO tag VALUES (5, 'jazz');
                INSERT INTO album VALUES (10, 'Blue', 1965, 1), (11, '12', NULL, NULL), (12, NULL, 40000, 77);
                INSERT INTO album_tag VALUES (10, 5);
                """)
        }

        private func inferred() throws -> ManagedObjectModel {
            try DatabaseImport(sqlite: path, model: nil) { () throws(StoreError) in }.model
        }

        private func model(_ change: (inout [EntityDescription]) -> Void) throws -> ManagedObjectModel {
            var entities = try inferred().entityDescriptions
            change(&entities)
            return try ManagedObjectModel(entities: entities)
        }

        @Test("an import with the inferred model, after the model was written and read again, fills an equal store")
        func roundTrip() throws {
            let first = try Imported(path, type: "json")
            let document = try inferred().document()
            let again = try Imported(path, model: try ManagedObjectModel(document: document))
            #expect(again.report.digest == first.report.digest)
            #expect(again.report.warnings == first.report.warnings)
        }

        @Test("a given model renames entities and properties and changes types")
        func renamed() throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Record",
                    attributes: [
                        .string("heading").with { $0.userInfo["importedFrom"] = "title" },
                        .double("year"), .integer64("number").with { $0.userInfo["importedFrom"] = "id" },
                        .integer64("artistNumber").with { $0.userInfo["importedFrom"] = "artist_id" },
                    ],
                    relationships: [
                        .toOne("by", to: "artist", inverse: "records").with {
                            $0.userInfo["importedFrom"] = "artist_id"
                        },
                        .toMany("tags", to: "tag", inverse: "records").with {
                            $0.userInfo["importedFrom"] = "album_tag"
                        },
                    ]
                ).with { $0.userInfo["importedFrom"] = "album" },
                EntityDescription(
                    "artist", attributes: [.string("name", isOptional: false)],
                    relationships: [.toMany("records", to: "Record", inverse: "by")]),
                EntityDescription("tag", relationships: [.toMany("records", to: "Record", inverse: "tags")]),
            ])
            let imported = try Imported(path, model: model)
            #expect(
                try imported.objects("Record")[10] == [
                    "heading": .string("Blue"), "year": .double(1965), "number": .int(10), "artistNumber": .int(1),
                    "by": reference("artist", key: 1),
                ])
            #expect(try imported.objects("Record")[12]?["artistNumber"] == .int(77))
            #expect(try imported.pairs("Record", of: "tags") == [[10, 5]])
            #expect(imported.report.warnings.contains("Column 'name' of table 'tag': left out."))
        }

        @Test("a given model without importedFrom matches tables and columns by name")
        func byName() throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Album", attributes: [.string("Title")], relationships: [.toOne("artist", to: "Artist")]),
                EntityDescription("Artist", attributes: [.string("name")]),
            ])
            let imported = try Imported(path, model: model)
            #expect(try imported.values("Album", of: "artist") == [reference("Artist", key: 1), .null, .null])
            for text in [
                "Table 'tag': The table is left out.", "Table 'album_tag': The table is left out.",
                "Column 'year' of table 'album': left out.",
            ] { #expect(imported.report.warnings.contains(text)) }
        }

        @Test("an import warns if a type of the given model does not keep the form of a text")
        func otherTypes() throws {
            let path = try directory.database(
                "CREATE TABLE t (a TEXT, b TEXT, c, d DATETIME); INSERT INTO t VALUES ('2001-01-01T01:00:00+01:00', '1.50', 2, '2001-01-01 01:00:00+01:00');",
                name: "other.db")
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "t", attributes: [.date("a"), .decimal("b"), .boolean("d").with { $0.type = .date }, .string("c")])
            ])
            let imported = try Imported(path, model: model)
            let date = Value.date(Date(timeIntervalSinceReferenceDate: 0))
            #expect(
                try imported.objects("t")[1] == ["a": date, "b": .decimal(1.5), "c": .string("2"), "d": date])
            #expect(
                imported.report.warnings == [
                    "Column 'b' of table 't': the form of its text is not kept in type decimal.",
                    "Column 'a' of table 't': the form of its text is not kept in type date.",
                    "Column 'd' of table 't': the offset from UTC is not kept.",
                ])
        }

        @Test("the error for a value that the model cannot hold names the table, column and row")
        func unfitting() throws {
            let model = try model { entities in
                for index in entities.indices where entities[index].name == "album" {
                    for place in entities[index].attributes.indices
                    where entities[index].attributes[place].name == "year" {
                        entities[index].attributes[place].type = .integer16
                    }
                }
            }
            let error = try importFailure(path, model: model)
            #expect(error.code == .invalidValue)
            #expect(error.message.hasPrefix("Table 'album', column 'year', row 12: the value"))
        }

        @Test("the error for a missing mandatory value names table, column and row", arguments: ["title", "artist"])
        func missing(property: String) throws {
            let model = try model { entities in
                for index in entities.indices where entities[index].name == "album" {
                    for place in entities[index].attributes.indices
                    where entities[index].attributes[place].name == property {
                        entities[index].attributes[place].isOptional = false
                    }
                    for place in entities[index].relationships.indices
                    where entities[index].relationships[place].name == property {
                        entities[index].relationships[place].isOptional = false
                    }
                }
            }
            let error = try importFailure(path, model: model)
            #expect(error.code == .invalidValue)
            #expect(
                error.message.contains(property == "title" ? "column 'title', row 12" : "column 'artist_id', row 11"))
        }

        @Test(
            "the error for a refused value says what the property requires",
            arguments: [
                ("NULL", AttributeType.string, "'t.c' requires a value, and the database has NULL"),
                ("0.1", .float, "the value cannot be stored exactly as a float in 't.c'"),
                ("1e300", .float, "the value cannot be stored exactly as a float in 't.c'"),
                ("17", .date, "the value is not text, and 't.c' requires a date written as text"),
                ("'x'", .integer64, "the value is not a whole number, which 't.c' requires"),
                ("'sixteen letters!'", .uuid, "the value is not a UUID, which 't.c' requires"),
            ])
        func requirements(value: String, type: AttributeType, reason: String) throws {
            let path = try directory.database("CREATE TABLE t (c); INSERT INTO t VALUES (\(value));", name: "values.db")
            let model = try ManagedObjectModel(entities: [
                EntityDescription("t", attributes: [.init("c", type: type, isOptional: false)])
            ])
            let error = try importFailure(path, model: model)
            #expect(error.message.hasPrefix("Table 't', column 'c', row 1: \(reason). Change"), "\(error.message)")
        }

        @Test("the error for a reference to a missing row names the mandatory relationship")
        func dangling() throws {
            let path = try directory.database(
                "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE t (p INT REFERENCES p); INSERT INTO t VALUES (7);",
                name: "dangling.db")
            let model = try ManagedObjectModel(entities: [
                EntityDescription("p", relationships: [.toMany("ts", to: "t", inverse: "p")]),
                EntityDescription(
                    "t", relationships: [.toOne("p", to: "p", inverse: "ts").with { $0.isOptional = false }]),
            ])
            let error = try importFailure(path, model: model)
            let reason = "'t.p' requires an object, and the row refers to none"
            #expect(error.message.hasPrefix("Table 't', column 'p', row 1: \(reason)."), "\(error.message)")
        }

        @Test("an import lists every entity and property that matches no table or column")
        func misfits() throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription("albums", attributes: [.string("x")]),
                EntityDescription(
                    "artist", attributes: [.string("nam"), .derived("many", type: .integer64, from: "tags.@count")],
                    relationships: [
                        .toOne("home", to: "tag"), .toMany("tags", to: "tag"),
                    ]),
                EntityDescription("tag"), EntityDescription("sub", superentity: "tag"),
            ])
            let error = try importFailure(path, model: model)
            #expect(error.code == .invalidModel)
            for text in [
                "the database has no table 'albums'; did you mean 'album'?",
                "table 'artist' has no column 'nam'; did you mean 'name'?", "a derived attribute",
                "'artist.home'", "'artist.tags': the database has no join table 'tags'", "'sub' has a superentity",
            ] { #expect(error.message.contains(text)) }
        }
    }
#endif
