import Foundation
import Testing

#if PostgreSQL
    /// The server whose parameters are in `ROOST_POSTGRES`, and the client `psql`.
    private enum TestServer {
        static let parameters = ProcessInfo.processInfo.environment["ROOST_POSTGRES"].flatMap { $0.isEmpty ? nil : $0 }
        static let client = ["/usr/bin/psql", "/usr/local/bin/psql", "/opt/homebrew/bin/psql"]
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    @Suite(
        "roost import of a PostgreSQL database",
        .enabled(
            if: TestServer.parameters != nil && TestServer.client != nil,
            "ROOST_POSTGRES names no server, or psql is not installed"))
    struct ImportServerTests {
        private static let shop = """
            CREATE TABLE customer (id serial PRIMARY KEY, name text NOT NULL, mail text UNIQUE);
            CREATE TABLE "order" (id int PRIMARY KEY, customer_id int REFERENCES customer ON DELETE CASCADE, total numeric(10,2),
                placed timestamptz);
            CREATE TABLE tag (name text PRIMARY KEY);
            CREATE TABLE order_tag (order_id int REFERENCES "order", tag text REFERENCES tag, PRIMARY KEY (order_id, tag));
            CREATE VIEW big AS SELECT * FROM "order" WHERE total > 100;
            INSERT INTO customer VALUES (1, 'Ada', 'a@x.org'), (5, 'Grace', NULL);
            INSERT INTO "order" VALUES (10, 1, 12.50, '2024-05-01 12:30:00+00'), (11, 5, 0.1, NULL), (12, NULL, NULL, NULL);
            INSERT INTO tag VALUES ('gift'), ('late'); INSERT INTO order_tag VALUES (10, 'gift'), (10, 'late'), (11, 'gift');
            """

        /// A directory, and a schema with a new name on the server.
        private final class Shop {
            let place: Workplace
            let schema = "shop_" + UUID().uuidString.prefix(8).lowercased()

            init(_ sql: String = shop) throws {
                place = try Workplace()
                try run("CREATE SCHEMA \(schema); SET search_path = \(schema); \(sql)")
            }

            deinit { _ = try? run("DROP SCHEMA IF EXISTS \(schema) CASCADE") }

            var source: String { "postgresql:\(TestServer.parameters ?? "") schema=\(schema)" }

            func run(_ sql: String) throws {
                let result = try RunningCommand(
                    [
                        try #require(TestServer.client), try #require(TestServer.parameters), "-X", "-q", "-v",
                        "ON_ERROR_STOP=1", "-c", sql,
                    ],
                    in: place.path
                ).wait()
                try #require(result.code == 0, "\(result.errors)")
            }
        }

        @Test(
            "an import of a PostgreSQL database makes entities, relationships and values",
            arguments: Workplace.fileTypes)
        func newStore(type: String) throws {
            let shop = try Shop()
            let result = try shop.place.roost("import", shop.source, "\(type):shop", "--json")
            let json = try result.json()
            #expect(result.code == 0 && json["objects"] as? Int == 7 && json["verified"] as? Bool == true)
            #expect(
                json["warnings"] as? [String] == [
                    "View 'big' is left out.",
                    "Column 'id' of table 'customer': the sequence that numbers new rows is left out.",
                ])
            let orders = try shop.place.roost(
                "fetch", "shop", "order", "--select=id,customer.name,total,placed", "--format=csv")
            #expect(
                orders.output == """
                    id,customer.name,total,placed
                    10,Ada,12.5,2024-05-01T12:30:00Z
                    11,Grace,0.1,
                    12,,,

                    """, "\(orders.output)\(orders.errors)")
            #expect(try shop.place.roost("check", "shop").code == 0)
        }

        @Test("a dry run of a PostgreSQL import shows the plan and writes only the model, which can be edited and used")
        func editedModel() throws {
            let shop = try Shop()
            let shown = try shop.place.roost(
                "import", shop.source, "sqlite:shop", "--dry-run", "--save-model=m.json")
            #expect(
                shown.output.hasPrefix(
                    """
                    customer: 2 rows, each an object of customer
                    COLUMN  PROPERTY  TYPE    REMARK
                    id      –         –       the sequence that numbers new rows is left out; is the key of the objects
                    name    name      string
                    mail    mail      string
                    order: 3 rows, each an object of order
                    COLUMN       PROPERTY  TYPE         REMARK
                    id           –         –            is the key of the objects
                    customer_id  customer  to customer
                    total        total     decimal
                    placed       placed    date

                    """), "\(shown.output)\(shown.errors)")
            #expect(try shop.place.names() == ["m.json"])
            let edited = String(decoding: try shop.place.bytes("m.json"), as: UTF8.self)
                .replacing("\"mail\": {", with: "\"email\": {").replacing("[\"mail\"]", with: "[\"email\"]")
            try shop.place.write(Data(edited.utf8), to: "m.json")
            let made = try shop.place.roost("import", shop.source, "sqlite:shop", "--model=m.json", "-q")
            #expect(made.code == 0, "\(made.errors)")
            #expect(
                try shop.place.roost("fetch", "shop", "customer", "--select=email", "--format=jsonl").output
                    == "{\"email\": \"a@x.org\"}\n{\"email\": null}\n")
        }

        @Test("a PostgreSQL database is imported into a store on the same server, but a store is refused as a source")
        func sameServer() throws {
            let shop = try Shop()
            let store = "postgresql:\(TestServer.parameters ?? "") schema=\(shop.schema)_store"
            defer { _ = try? shop.run("DROP SCHEMA IF EXISTS \(shop.schema)_store CASCADE") }
            #expect(try shop.place.roost("import", shop.source, store, "-q").code == 0)
            #expect(try shop.place.roost("check", store).code == 0)
            try shop.place.roost("import", store, "sqlite:copy").expectError(2, containing: "roost convert")
            try shop.place.roost("import", shop.source, shop.source).expectError(3, containing: "not those of a Roost")
            try shop.place.roost("import", shop.source, shop.source, "--overwrite").expectError(
                2, containing: "is the source")
            try shop.run("SELECT * FROM \(shop.schema).customer")
        }

        @Test("an import of a PostgreSQL database prints no control characters of names")
        func controlCharacters() throws {
            let shop = try Shop(
                "CREATE TABLE U&\"a\\001b[2J\\000ab\" (U&\"c\\001b\" int CHECK (U&\"c\\001b\" > 0), r int4range)")
            for arguments in [["--dry-run"], []] {
                let result = try shop.place.start(["import", shop.source, "sqlite:shop"] + arguments).wait()
                #expect(result.code == 0 && !result.output.contains("\u{1B}"), "\(result.output)\(result.errors)")
            }
        }

        @Test(
            "an import of a PostgreSQL database reports an unusable location in one line, without its password",
            arguments: [
                ("postgresql://ada:secret@localhost/shop", 2, "must not have a password"),
                ("POSTGRES://ada:secret@localhost/shop", 2, "must not have a password"),
                ("postgresql:host=localhost password=secret", 2, "must not have a password"),
                ("postgresql:host=/nowhere dbname=shop user=ada", 3, "cannot be reached"),
                ("postgresql://ada@localhost/shop?schema=pg_catalog", 2, "belongs to the server"),
            ] as [(String, Int32, String)])
        func locations(source: String, code: Int32, text: String) throws {
            let place = try Workplace()
            for more in [[], ["--dry-run"], ["--key=id"]] {
                let result = try place.start(["import", source, "sqlite:x"] + more).wait()
                #expect(!"\(result.output)\(result.errors)".contains("secret"))
                if more != ["--key=id"] { result.expectError(code, containing: text) }
            }
            #expect(try place.names() == [])
        }
    }
#else
    @Suite("roost import of a PostgreSQL database, without the trait")
    struct ImportServerTests {
        @Test("an import of a PostgreSQL database needs the PostgreSQL trait")
        func missing() throws {
            let place = try Workplace()
            try place.roost("import", "postgresql://ada:secret@localhost/shop", "sqlite:x").expectError(
                2, containing: "this program was built without PostgreSQL")
        }
    }
#endif
