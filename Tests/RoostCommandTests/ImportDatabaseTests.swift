import Foundation
import Testing

#if SQLite
    import RoostSystem

    @Suite("roost import of an SQLite database")
    struct ImportDatabaseTests {
        private static let shell = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"]
            .first { FileManager.default.isExecutableFile(atPath: $0) }

        private let shop = """
            CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT UNIQUE);
            CREATE TABLE "order" (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id) ON DELETE CASCADE,
                total DECIMAL(10,2), placed DATETIME);
            CREATE TABLE tag (name TEXT PRIMARY KEY);
            CREATE TABLE order_tag (order_id INTEGER REFERENCES "order"(id), tag TEXT REFERENCES tag(name), PRIMARY KEY (order_id, tag));
            CREATE VIEW big AS SELECT * FROM "order" WHERE total > 100;
            INSERT INTO customer VALUES (1, 'Ada', 'a@x.org'), (5, 'Grace', NULL);
            INSERT INTO "order" VALUES (10, 1, 12.50, '2024-05-01 12:30:00'), (11, 5, 0.1, NULL), (12, 7, NULL, NULL);
            INSERT INTO tag VALUES ('gift'), ('late');
            INSERT INTO order_tag VALUES (10, 'gift'), (10, 'late'), (11, 'gift');
            """

        private func workplace() throws -> Workplace {
            let place = try Workplace()
            let shell = try #require(Self.shell)
            let made = try RunningCommand([shell, "shop.db", shop], in: place.path).wait()
            try #require(made.code == 0, "\(made.errors)")
            return place
        }

        @Test(
            "an import of an SQLite database makes entities, relationships and values",
            .enabled(if: shell != nil, "sqlite3 is not installed"),
            arguments: Workplace.fileTypes)
        func newStore(type: String) throws {
            let place = try workplace()
            let result = try place.roost("import", "shop.db", "\(type):shop", "--json")
            let json = try result.json()
            #expect(result.code == 0 && json["objects"] as? Int == 7 && json["verified"] as? Bool == true)
            // The warnings are about an order with a missing customer, and about the view.
            let warnings = try #require(json["warnings"] as? [String]).joined(separator: "\n")
            #expect(warnings.contains("customer_id") && warnings.contains("big"), "\(warnings)")
            let orders = try place.roost(
                "fetch", "shop", "order", "--select=id,customer.name,total,placed", "--format=csv")
            #expect(
                orders.output == """
                    id,customer.name,total,placed
                    10,Ada,12.5,2024-05-01T12:30:00Z
                    11,Grace,0.1,
                    12,,,

                    """, "\(orders.output)\(orders.errors)")
            #expect(try place.roost("check", "shop").code == 0)
        }

        @Test(
            "an import of an SQLite database saves the model that it proposes, and accepts the edited model",
            .enabled(if: shell != nil, "sqlite3 is not installed"))
        func editedModel() throws {
            let place = try workplace()
            try place.roost("import", "sqlite:shop.db", "shop", "--dry-run", "--save-model=m.json")
                .expectError(2, containing: "does not say what type of store to make")
            #expect(try !place.names().contains("m.json"))
            let shown = try place.roost("import", "sqlite:shop.db", "sqlite:shop", "--dry-run", "--save-model=m.json")
            #expect(shown.code == 0 && shown.output.contains("to customer"), "\(shown.output)")
            #expect(try !place.names().contains("shop"))
            let edited = String(decoding: try place.bytes("m.json"), as: UTF8.self)
                .replacing("\"mail\": {", with: "\"email\": {").replacing("[\"mail\"]", with: "[\"email\"]")
            try place.write(Data(edited.utf8), to: "m.json")
            let made = try place.roost("import", "shop.db", "sqlite:shop", "--model=m.json")
            #expect(made.code == 0, "\(made.errors)")
            #expect(
                try place.roost("fetch", "shop", "customer", "--select=email", "--format=jsonl").output
                    == "{\"email\": \"a@x.org\"}\n{\"email\": null}\n")
        }

        @Test(
            "an import of an SQLite database refuses wrong options and Roost stores",
            .enabled(if: shell != nil, "sqlite3 is not installed"))
        func refusals() throws {
            let place = try workplace()
            let before = try place.bytes("shop.db")
            try place.roost("import", "shop.db", "sqlite:shop.db").expectError(3, containing: "not a Roost store")
            try place.roost("import", "shop.db", "sqlite:shop", "--key=id").expectError(
                2, containing: "'--key' is only for text files")
            try place.roost("import", "shop.db", "sqlite:shop", "--no-header").expectError(2, containing: "--no-header")
            #expect(try place.roost("import", "shop.db", "sqlite:shop", "-q").code == 0)
            try place.roost("import", "shop.db", "shop").expectError(2, containing: "--overwrite")
            try place.roost("import", "shop", "sqlite:other").expectError(2, containing: "roost convert")
            try place.roost("import", "sqlite:nothing.db", "sqlite:other").expectError(3, containing: "nothing.db")
            #expect(try place.bytes("shop.db") == before)
            #expect(try place.roost("import", "shop.db", "sqlite:shop", "-q", "--overwrite").code == 0)
        }
    }
#endif
