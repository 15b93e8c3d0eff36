#if SQLite && PostgreSQL
    import Foundation
    import Roost
    import RoostCore
    import RoostImport
    import RoostMigration
    import RoostSystem
    import Testing

    @Suite("Imports of PostgreSQL databases", .enabled(if: ImportServer.parameters != nil, ImportServer.missing))
    struct ServerImportTests {
        /// A music shop like the Chinook database, with generated rows.
        private static let shop = """
            CREATE TABLE artist (artist_id int PRIMARY KEY, name varchar(120));
            CREATE TABLE album (album_id int PRIMARY KEY, title varchar(160) NOT NULL, artist_id int NOT NULL REFERENCES artist);
            CREATE TABLE genre (genre_id int PRIMARY KEY, name varchar(120));
            CREATE TABLE track (track_id int PRIMARY KEY, name varchar(200) NOT NULL, album_id int REFERENCES album,
                genre_id int REFERENCES genre, milliseconds int NOT NULL, unit_price numeric(10,2) NOT NULL);
            CREATE TABLE playlist (playlist_id int PRIMARY KEY, name varchar(120));
            CREATE TABLE playlist_track (playlist_id int REFERENCES playlist, track_id int REFERENCES track,
                PRIMARY KEY (playlist_id, track_id));
            CREATE TABLE employee (employee_id int PRIMARY KEY, last_name varchar(20) NOT NULL, reports_to int REFERENCES employee,
                birth_date timestamp);
            CREATE TABLE customer (customer_id int PRIMARY KEY, email varchar(60) NOT NULL UNIQUE, support_rep_id int REFERENCES employee);
            CREATE TABLE invoice (invoice_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customer, invoice_date timestamptz NOT NULL,
                total numeric(10,2) NOT NULL);
            CREATE TABLE invoice_line (invoice_line_id int PRIMARY KEY, invoice_id int NOT NULL REFERENCES invoice,
                track_id int NOT NULL REFERENCES track, quantity int NOT NULL);
            CREATE INDEX track_album ON track (album_id);
            INSERT INTO artist SELECT n, 'artist ' || n FROM generate_series(1, 275) n;
            INSERT INTO album SELECT n, 'album ' || n, 1 + n * 7 % 275 FROM generate_series(1, 347) n;
            INSERT INTO genre SELECT n, 'genre ' || n FROM generate_series(1, 25) n;
            INSERT INTO track SELECT n, 'track ' || n, NULLIF(1 + n * 11 % 347, 5), 1 + n % 25, n * 1000, 0.99 + n % 2 FROM generate_series(1, 3503) n;
            INSERT INTO playlist SELECT n, NULLIF('list ' || n, 'list 3') FROM generate_series(1, 18) n;
            INSERT INTO playlist_track SELECT 1 + n % 18, 1 + n * 13 % 3503 FROM generate_series(1, 3503) n;
            INSERT INTO employee SELECT n, 'name ' || n, NULLIF(n / 2, 0), timestamp '1960-01-01' + n * interval '1 day' FROM generate_series(1, 8) n;
            INSERT INTO customer SELECT n, n || '@example.org', 1 + n % 8 FROM generate_series(1, 59) n;
            INSERT INTO invoice SELECT n, 1 + n % 59, timestamptz '2009-01-01 00:00+00' + n * interval '1 hour', n * 0.99 FROM generate_series(1, 412) n;
            INSERT INTO invoice_line SELECT n, 1 + n % 412, 1 + n % 3503, 1 FROM generate_series(1, 2240) n;
            """

        private func agrees(_ value: Value, with text: String?) -> Bool {
            switch (value, text) {
            case (.null, nil): true
            case (.int(let number), let text?): "\(number)" == text
            case (.string(let value), let text?): value.utf8.elementsEqual(text.utf8)
            case (.decimal(let number), let text?): Decimal(string: text) == number
            case (.objectID(let id), let text?): "\(id.key)" == text
            case (.date(let date), let text?):
                DateText.text(date.timeIntervalSinceReferenceDate)
                    == text.replacingOccurrences(of: " ", with: "T").replacingOccurrences(of: "+00", with: "") + "Z"
            default: false
            }
        }

        @Test("an import of a shop keeps every value of every row", arguments: ["sqlite", "lmdb", "json"])
        func shop(type: String) throws {
            let schema = try ServerSchema(Self.shop)
            try schema.execute("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'")
            let imported = try schema.imported(type: type)
            var compared = 0
            for table in imported.content.plan.tables where table.entity != nil {
                let rows = try schema.rows("SELECT * FROM \(table.name)")
                let objects = try imported.objects(table.name)
                #expect(objects.count == rows.count && table.rows == rows.count)
                for row in rows {
                    let object = try #require(objects[Int64((row.first ?? nil) ?? "") ?? 0])
                    for (value, column) in zip(row, table.columns).dropFirst() {
                        let property = try #require(column.property)
                        #expect(agrees(object[property] ?? .null, with: value), "\(table.name) \(column.name)")
                        compared += 1
                    }
                }
            }
            #expect(compared == 275 + 347 * 2 + 25 + 3503 * 5 + 18 + 8 * 3 + 59 * 2 + 412 * 3 + 2240 * 3)
            let pairs = try schema.rows("SELECT playlist_id, track_id FROM playlist_track")
            #expect(
                try imported.pairs("playlist", of: "track") == Set(pairs.map { $0.map { Int64($0 ?? "") ?? 0 } }))
            #expect(imported.report.links == pairs.count)
            #expect(try imported.entity("track").declaration.fetchIndexes.map(\.name) == ["track_album"])
            #expect(try imported.entity("customer").declaration.uniquenessConstraints == [["email"]])
            #expect(imported.report.warnings == [])
        }

        @Test("an import with the inferred model, after the model was written and read again, fills an equal store")
        func roundTrip() throws {
            let schema = try ServerSchema(Self.shop)
            let first = try schema.imported()
            let model = try ManagedObjectModel(document: first.model.document())
            let again = try schema.imported(model: model, type: "json")
            #expect(again.report.digest == first.report.digest)
            #expect(again.report.objects == first.report.objects)
        }

        @Test("a given model renames entities and properties and changes types")
        func givenModel() throws {
            let schema = try ServerSchema(
                "CREATE TABLE t (id int PRIMARY KEY, price numeric, day date, ok boolean); INSERT INTO t VALUES (1, 7.00, '2001-01-02', true)"
            )
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Thing",
                    attributes: [
                        .integer64("cost").with { $0.userInfo["importedFrom"] = "price" }, .string("day"),
                        .integer64("number").with { $0.userInfo["importedFrom"] = "id" }, .boolean("ok"),
                    ]
                ).with { $0.userInfo["importedFrom"] = "t" }
            ])
            #expect(
                try schema.imported(model: model).objects("Thing") == [
                    1: ["cost": .int(7), "day": .string("2001-01-02"), "number": .int(1), "ok": .bool(true)]
                ])
            try schema.execute("INSERT INTO t VALUES (2, 7.5, NULL, NULL)")
            let error = try schema.failure(model: model)
            #expect(error.code == .invalidValue)
            #expect(error.message.hasPrefix("Table 't', column 'price', row 2: the value is not a whole number"))
        }

        @Test(
            "a PostgreSQL import reads tables and columns with any characters in their names",
            arguments: [
                "'", "\"", "\"\"; DROP TABLE \"t\"; --", "a\nb", "\\", "$1", "%I", "é", "e\u{301}", "👩‍👩‍👧", " ", "t.k",
                "\u{1}", "SELECT", "OPERATOR(", String(repeating: "x", count: 63), String(repeating: "é", count: 31),
            ])
        func names(name: String) throws {
            let session = try ServerSession()
            let quoted = try session.quoted(name)
            let schemaName = String((UUID().uuidString.prefix(8) + name).unicodeScalars.prefix(20))
            let schema = try ServerSchema(
                """
                CREATE TABLE \(quoted) (\(quoted) int PRIMARY KEY, other text);
                CREATE TABLE child (id int PRIMARY KEY, \(quoted) int REFERENCES \(quoted));
                CREATE TABLE pair (\(quoted) int REFERENCES \(quoted), child int REFERENCES child);
                CREATE INDEX ON child (\(quoted));
                INSERT INTO \(quoted) VALUES (7, 'x'); INSERT INTO child VALUES (1, 7); INSERT INTO pair VALUES (7, 1);
                """, name: schemaName)
            let imported = try schema.imported()
            let table = try #require(imported.content.plan.tables.first { $0.name.utf8.elementsEqual(name.utf8) })
            let entity = try #require(table.entity)
            #expect(try imported.objects(entity) == [7: ["other": .string("x")]])
            let child = try imported.entity("child")
            let toOne = try #require(child.relationships.first { !$0.isToMany })
            #expect(try imported.values("child", of: toOne.name.name) == [reference(entity, key: 7)])
            #expect(imported.report.links == 1)
            #expect(imported.report.warnings == [])
            let model = try ManagedObjectModel(document: imported.model.document())
            #expect(try schema.imported(model: model).report.digest == imported.report.digest)
        }

        @Test("tables and columns whose names differ only in case stay apart")
        func cases() throws {
            let schema = try ServerSchema(
                """
                CREATE TABLE item (id int PRIMARY KEY, a text, "A" text); CREATE TABLE "Item" (id int PRIMARY KEY, b text);
                CREATE TABLE link (x int, ref int REFERENCES item, "Ref" int REFERENCES item);
                INSERT INTO item VALUES (1, 'small', 'LARGE'), (2, NULL, NULL); INSERT INTO "Item" VALUES (1, 'other');
                INSERT INTO link VALUES (1, 1, 2);
                """)
            let first = try schema.imported()
            let model = try ManagedObjectModel(document: first.model.document())
            for imported in [first, try schema.imported(model: model)] {
                let plan = imported.content.plan
                let item = try #require(plan.tables.first { $0.name == "item" })
                let entity = try #require(item.entity)
                let values = try #require(try imported.objects(entity)[1])
                for (column, text) in [("a", "small"), ("A", "LARGE")] {
                    let property = try #require(item.columns.first { $0.name == column }?.property)
                    #expect(values[property] == .string(text))
                }
                let link = try #require(plan.tables.first { $0.name == "link" })
                for (column, key) in [("ref", Int64(1)), ("Ref", 2)] {
                    let property = try #require(link.columns.first { $0.name == column }?.property)
                    #expect(try imported.values("link", of: property) == [reference(entity, key: key)])
                }
            }
        }

        @Test("a database with an encoding other than UTF-8 is imported", arguments: ["LATIN1", "SQL_ASCII"])
        func encodings(encoding: String) throws {
            let name = "import_" + UUID().uuidString.prefix(8).lowercased()
            let session = try ServerSession()
            try session.execute(
                "CREATE DATABASE \(name) ENCODING '\(encoding)' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
            defer { _ = try? session.execute("DROP DATABASE \(name) WITH (FORCE)") }
            let other = try ServerSession(database: name)
            try other.execute(
                "CREATE TABLE t (id int PRIMARY KEY, a text, b text); INSERT INTO t VALUES (1, E'caf\\351', 'ok')")
            let directory = try ImportDirectory()
            let content = try DatabaseImport(postgreSQL: other.path, model: nil) { () throws(StoreError) in }
            let imported = try Imported(content, path: directory.file("store"))
            let isKnown = encoding == "LATIN1"
            #expect(
                try imported.objects("t")[1] == [
                    "a": isKnown ? .string("café") : .data(Data([0x63, 0x61, 0x66, 0xE9])), "b": .string("ok"),
                ])
            #expect(imported.report.warnings.count == (isKnown ? 0 : 1))
        }

        // MARK: Other sessions

        @Test("an import has the content of one point in time while another session writes")
        func snapshot() throws {
            let schema = try ServerSchema(
                """
                CREATE TABLE a (id int PRIMARY KEY, x int); CREATE TABLE b (id int PRIMARY KEY, a_id int REFERENCES a);
                INSERT INTO a SELECT n, 1 FROM generate_series(1, 3000) n; INSERT INTO b SELECT n, n FROM generate_series(1, 3000) n;
                """)
            let content = try schema.content()
            let writer = try ServerSession()
            let name = try writer.quoted(schema.name)
            try writer.execute("SET search_path = \(name); SET lock_timeout = 200")
            try writer.execute("DELETE FROM b WHERE id % 2 = 0; UPDATE a SET x = 2; INSERT INTO a VALUES (5000, 5)")
            // Until the import ends, its tables cannot be truncated, altered or dropped.
            for statement in ["TRUNCATE b", "ALTER TABLE b ADD COLUMN c int", "DROP TABLE b"] {
                do {
                    try writer.execute(statement)
                    Issue.record("\(statement) did not wait")
                } catch { #expect(error.code == .busy) }
            }
            let imported = try Imported(content, path: schema.directory.file("store"))
            #expect(try imported.objects("a").count == 3000)
            #expect(try imported.objects("b").count == 3000)
            #expect(try imported.values("a", of: "x").allSatisfy { $0 == .int(1) })
            #expect(try schema.rows("SELECT count(*) FROM b") == [["1500"]])
            // The import's transaction has ended, which released its locks.
            try writer.execute("TRUNCATE b")
        }

        @Test("an import waits for a locked table no longer than the timeout")
        func locked() throws {
            let schema = try ServerSchema("CREATE TABLE t (id int PRIMARY KEY)")
            try schema.execute("BEGIN; LOCK TABLE t")
            do throws(StoreError) {
                _ = try DatabaseImport(postgreSQL: schema.path, timeoutSeconds: 0.2, model: nil) {
                    () throws(StoreError) in
                }
                Issue.record("the import did not wait")
            } catch {
                #expect(error.code == .busy)
                #expect(error.message.contains("--timeout"))
            }
            try schema.execute("ROLLBACK")
        }

        @Test("an import changes nothing on the server")
        func unchanged() throws {
            let schema = try ServerSchema("CREATE TABLE t (code text PRIMARY KEY); INSERT INTO t VALUES ('a')")
            let content = try schema.content()
            let sessions = try schema.rows(
                "SELECT backend_xid IS NULL, xact_start IS NOT NULL FROM pg_stat_activity WHERE application_name = 'roost' AND pid IN (SELECT pid FROM pg_locks WHERE relation = 't'::regclass)"
            )
            // The import's transaction has no transaction ID, because it has written nothing.
            #expect(sessions == [["t", "t"]])
            _ = content
        }

        @Test("a cancelled import throws the caller's error")
        func cancelled() throws {
            let schema = try ServerSchema("CREATE TABLE t (x int); INSERT INTO t SELECT generate_series(1, 50000)")
            let count = Mutex(0)
            do throws(StoreError) {
                _ = try DatabaseImport(postgreSQL: schema.path, model: nil) { () throws(StoreError) in
                    let calls = count.withLock { count in
                        count += 1
                        return count
                    }
                    if calls > 3 { throw StoreError(.cancelled, "Enough.") }
                }
                Issue.record("the import was not cancelled")
            } catch { #expect(error.message == "Enough.") }
        }

        // MARK: Refusals

        @Test("a schema of a Roost store is refused, with a hint to convert it")
        func roostStore() throws {
            let schema = try ServerSchema("CREATE TABLE t (x int); INSERT INTO t VALUES (1)")
            let imported = try schema.imported()
            let name = "store_" + UUID().uuidString.prefix(8).lowercased()
            let location = StoreLocation(
                type: "postgresql", path: "\(ImportServer.parameters ?? "") schema=\(name)")
            _ = try MigrationManager(registry: .standard).convert(
                from: .store(imported.store), to: .location(location))
            defer { _ = try? schema.session.execute("DROP SCHEMA \(name) CASCADE") }
            do throws(StoreError) {
                _ = try DatabaseImport(postgreSQL: location.path, model: nil) { () throws(StoreError) in }
                Issue.record("the store was imported")
            } catch {
                #expect(error.code == .invalidRequest)
                #expect(error.message.contains("is a Roost store") && error.message.contains("roost convert"))
            }
        }

        @Test("an empty schema and a missing schema are refused")
        func noTables() throws {
            let schema = try ServerSchema("CREATE VIEW v AS SELECT 1 AS x")
            let other = try ServerSchema("CREATE TABLE t (x int)")
            let empty = try schema.failure()
            #expect(empty.code == .invalidRequest && empty.message.contains("has no tables to import"))
            #expect(empty.message.contains("these schemas have tables"))
            try schema.execute("DROP SCHEMA \(try schema.session.quoted(schema.name)) CASCADE")
            #expect(try schema.failure().code == .notFound)
            _ = other
        }

        @Test("a table and a column that the user may not read are left out with a warning")
        func rights() throws {
            let role = "reader_" + UUID().uuidString.prefix(8).lowercased()
            let schema = try ServerSchema(
                """
                CREATE TABLE open (id int PRIMARY KEY, x text); CREATE TABLE closed (id int PRIMARY KEY);
                CREATE TABLE partly (id int PRIMARY KEY, secret text, x text); CREATE TABLE hidden (id int PRIMARY KEY);
                ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON hidden USING (id > 5);
                INSERT INTO open VALUES (1, 'a'); INSERT INTO partly VALUES (1, 's', 'b'); INSERT INTO hidden VALUES (1);
                CREATE ROLE \(role) LOGIN; GRANT SELECT ON open, hidden TO \(role); GRANT SELECT (id, x) ON partly TO \(role);
                """)
            let name = try schema.session.quoted(schema.name)
            try schema.execute("GRANT USAGE ON SCHEMA \(name) TO \(role)")
            defer { _ = try? schema.session.execute("DROP OWNED BY \(role); DROP ROLE \(role)") }
            let path = schema.path.replacingOccurrences(of: "user=roost", with: "user=\(role)")
            let content = try DatabaseImport(postgreSQL: path, model: nil) { () throws(StoreError) in }
            let imported = try Imported(content, path: schema.directory.file("store"))
            #expect(imported.model.entities.map(\.name.text) == ["open", "partly"])
            #expect(try imported.values("partly", of: "x") == [.string("b")])
            #expect(
                imported.report.warnings == [
                    "Table 'closed' is left out, because the user has no right to read it.",
                    "Table 'hidden' is left out, because row-level security hides rows of it from the user.",
                    "Table 'partly': Column 'secret' is left out, because the user has no right to read it.",
                ])
        }

        @Test(
            "no error message contains the password of a location",
            arguments: [
                "//user:secret@localhost/db", "//user:secret@localhost:1/db?schema=x",
                "host=x password=secret dbname=y",
                "//localhost/db?password=secret", "host=x password='secret", "//user:secret@[bad/db",
                "//user:secret%zz@h/d",
            ])
        func password(path: String) {
            do throws(StoreError) {
                _ = try DatabaseImport(postgreSQL: path, model: nil) { () throws(StoreError) in }
                Issue.record("the location was accepted")
            } catch {
                #expect(error.code == .invalidRequest)
                #expect(!"\(error) \(error.message)".contains("secret"))
            }
        }

        @Test("an import fails with ioFailure if the server cannot be reached")
        func noServer() {
            do throws(StoreError) {
                _ = try DatabaseImport(
                    postgreSQL: "host=/nowhere dbname=x user=y", model: nil
                ) { () throws(StoreError) in }
                Issue.record("there is a server")
            } catch {
                #expect(error.code == .ioFailure)
                #expect(error.message.contains("the server cannot be reached"))
            }
        }
    }
#endif
