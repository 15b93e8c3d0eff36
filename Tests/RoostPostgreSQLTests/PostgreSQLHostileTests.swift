#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostSQL
    import RoostStores
    import Testing

    @testable import RoostPostgreSQL

    @Suite(
        "Hostile names, values and databases",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct PostgreSQLHostileTests {
        private let type = PostgreSQLStoreType()

        /// Texts that break careless literals, identifiers, arrays and statements.
        static let texts: [String] = {
            let heads = [
                "", "'", "\"", "\\", "\\'", "''", "\"\"", "$1", "$$", "{", "}", ",", "(", ")", ";", "--", "/*", "*/",
                "%", "_", "\u{0}", "\u{1}", "\u{1}\u{1}", "\u{1}\u{2}", "E'", "U&'", "NULL", "é", "👩‍👩‍👧", "\n",
            ]
            let tails = [
                "", "; DROP TABLE \"Track\"; --", "' OR '1'='1", "\" OR 1=1 --", "\\'; SELECT pg_sleep(10); --",
                "'); DELETE FROM \"Track\"; --", "} , {", "$2", "\u{0}x", "\\x41", "%s%n",
            ]
            return heads.flatMap { head in tails.map { head + $0 } }
        }()

        private func model(_ entity: String = "Track", attribute: String = "title") throws -> ManagedObjectModel {
            var description = EntityDescription(
                entity,
                attributes: [
                    AttributeDescription(attribute, type: .string), AttributeDescription("number", type: .integer64),
                ])
            description.fetchIndexes = [FetchIndexDescription("by", on: attribute)]
            return try ManagedObjectModel(entities: [description])
        }

        private func condition(
            _ comparison: FetchRequest.Comparison.Operator, to right: FetchRequest.Expression
        ) -> FetchRequest.Predicate {
            .comparison(
                FetchRequest.Comparison(
                    left: .keyPath(["title"]), operator: comparison, right: right))
        }

        private func withStore(
            _ model: ManagedObjectModel, at location: StoreLocation = PostgreSQLServer.location(),
            _ body: (Store) throws -> Void
        ) throws {
            let store = try open(try type.create(location, model: model, options: StoreOptions()))
            defer {
                try? store.close()
                try? type.destroy(location)
            }
            try body(store)
        }

        private func psql(_ sql: String) throws -> String {
            let connection = try PostgreSQLConnection(
                PostgreSQLLocation(PostgreSQLServer.location().path), settings: PostgreSQLSettings(StoreOptions()))
            let result = try connection.query(sql)
            return (0..<result.rowCount).map { result.text($0, column: 0) ?? "" }.joined(separator: "\n")
        }

        private func open(_ store: any PersistentStore) throws -> Store {
            try Store(store, registry: StoreRegistry([type]))
        }

        @Test("hostile texts are read back unchanged, and each condition finds exactly its text")
        func values() throws {
            #expect(Self.texts.count >= 300)
            let distinct = Array(Set(Self.texts.map { Array($0.utf8) }))
            try withStore(try model()) { store in
                try store.insert(
                    "Track", rows: distinct.map { ["title": .string(String(decoding: $0, as: UTF8.self))] })
                for bytes in distinct {
                    let text = String(decoding: bytes, as: UTF8.self)
                    let found = try store.fetch("Track", where: condition(.equal, to: .constant(.string(text))))
                    #expect(found.count == 1 && found.first?["title"] == .string(text), "\(text.debugDescription)")
                }
                #expect(try store.count("Track") == distinct.count)
                let members = (0..<2).flatMap { _ in
                    distinct.map { FetchRequest.Expression.constant(.string(String(decoding: $0, as: UTF8.self))) }
                }
                #expect(try store.count("Track", where: condition(.isIn, to: .aggregate(members))) == distinct.count)
                let sorted = try store.fetch("Track", sortedBy: ["title"])
                #expect(sorted.count == distinct.count)
                let expected = distinct.sorted { $0.lexicographicallyPrecedes($1) }
                for (record, bytes) in zip(sorted, expected) {
                    #expect(record["title"] == .string(String(decoding: bytes, as: UTF8.self)))
                }
            }
        }

        @Test(
            "hostile names of entities, attributes and schemas work as names",
            arguments: [
                "a\"; DROP SCHEMA public; --", "o'clock", "back\\slash", "ctid", "xmin", "pg_class", "Track_pkey",
                "user", "_roost_commits", "_roost_history", "_roost_openings",
                "select", "ünïcode 👩‍👩‍👧", "sixty-three bytes and more of a name that has to be made shorter somewhere",
            ])
        func names(name: String) throws {
            let location = StoreLocation(
                type: "postgresql",
                path:
                    "\(PostgreSQLServer.parameters ?? "") schema='\(String("t \(name)".prefix(30)).replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
            )
            try? type.destroy(location)
            let names = name.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || $0 == "_" } ? name : "Plain"
            try withStore(try model(names, attribute: names == "Plain" ? "title" : name), at: location) { store in
                let attribute = names == "Plain" ? "title" : name
                try store.insert(EntityName(names), rows: [[attribute: "x"]])
                #expect(try store.fetch(EntityName(names)).map { $0[attribute] } == ["x"])
            }
            #expect(try psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'public'") == "1")
        }

        @Test(
            "a password in a location is refused and not shown in the error",
            arguments: [
                "//user:hunter2@localhost/db?schema=a", "host=localhost password=hunter2 schema=a",
                "//localhost/db?password=hunter2",
                "host=localhost password='hunter2",
            ])
        func passwords(path: String) throws {
            #expect {
                _ = try type.open(StoreLocation(type: "postgresql", path: path), options: StoreOptions())
            } throws: { error in
                let text = "\(error)"
                return (error as? StoreError)?.code == .invalidRequest && !text.contains("hunter2")
            }
        }

        @Test("a schema that is not a store is refused and keeps its tables")
        func foreign() throws {
            let location = PostgreSQLServer.location()
            let schema = try #require(location.path.split(separator: "=").last)
            _ = try psql(
                "CREATE SCHEMA \(schema); CREATE TABLE \(schema).notes (text TEXT); INSERT INTO \(schema).notes VALUES ('mine')"
            )
            defer { _ = try? psql("DROP SCHEMA \(schema) CASCADE") }
            func code(_ body: () throws -> Void) -> StoreError.Code? {
                do { try body() } catch { return (error as? StoreError)?.code }
                return nil
            }
            #expect(code { _ = try type.open(location, options: StoreOptions()) } == .notAStore)
            #expect(
                code { _ = try type.create(location, model: try model(), options: StoreOptions()) } == .alreadyExists)
            #expect(code { try type.destroy(location) } == .notAStore)
            #expect(try psql("SELECT text FROM \(schema).notes") == "mine")
        }

        @Test("tables and views of other programs prevent the removal of a store, but not its use")
        func additions() throws {
            let location = PostgreSQLServer.location()
            let schema = try #require(location.path.split(separator: "=").last)
            let store = try type.create(location, model: try model(), options: StoreOptions())
            try store.close()
            defer { _ = try? psql("DROP SCHEMA \(schema) CASCADE") }
            _ = try psql("CREATE TABLE \(schema).notes (text TEXT)")
            try type.open(location, options: StoreOptions()).close()
            #expect { try type.destroy(location) } throws: { ($0 as? StoreError)?.code == .notAStore }
            try type.open(location, options: StoreOptions()).close()
            _ = try psql(
                "DROP TABLE \(schema).notes; CREATE VIEW public.\(schema)_view AS SELECT * FROM \(schema).\"Track\"")
            #expect { try type.destroy(location) } throws: { ($0 as? StoreError)?.code == .notAStore }
            try type.open(location, options: StoreOptions()).close()
            _ = try psql("DROP VIEW public.\(schema)_view")
            try type.destroy(location)
            #expect(try psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == "0")
        }

        @Test(
            "damage done by SQL is found by opening or by checking the store",
            arguments: [
                "UPDATE S.\"Track\" SET title = 'other'", "DELETE FROM S.\"Track\"", "DROP TABLE S._roost_keys",
                "ALTER TABLE S.\"Track\" ALTER COLUMN title TYPE VARCHAR(10)", "DROP INDEX S.\"Track_title_index\"",
                "UPDATE S._roost_metadata SET value = 'x' WHERE name = 'model'", "DELETE FROM S._roost_tallies",
                "ALTER TABLE S.\"Track\" DROP COLUMN number",
                "ALTER TABLE S._roost_commits DROP CONSTRAINT _roost_commits_pkey",
                "ALTER TABLE S.\"Track\" SET UNLOGGED", "ALTER TABLE S.\"Track\" ENABLE ROW LEVEL SECURITY",
                "CREATE RULE r AS ON INSERT TO S.\"Track\" DO INSTEAD NOTHING", "TRUNCATE S._roost_tallies",
            ])
        func damage(sql: String) throws {
            let location = PostgreSQLServer.location()
            let schema = try #require(location.path.split(separator: "=").last)
            let made = try open(try type.create(location, model: try model(), options: StoreOptions()))
            try made.insert("Track", rows: [["title": "Blue"]])
            try made.close()
            defer { _ = try? psql("DROP SCHEMA \(schema) CASCADE") }
            _ = try psql(sql.replacing("S.", with: "\(schema)."))
            do {
                let store = try type.open(location, options: StoreOptions())
                defer { try? store.close() }
                #expect(try !checkStore(store).isEmpty)
            } catch {
                #expect([.corrupted, .storeReplaced].contains(error.code), "\(error)")
            }
        }

        @Test("an open store never writes into a PostgreSQL store that took its name")
        func replaced() throws {
            let location = PostgreSQLServer.location()
            let schema = try #require(location.path.split(separator: "=").last)
            let made = try open(try type.create(location, model: try model(), options: StoreOptions()))
            try made.insert("Track", rows: [["title": "old"]])
            defer { try? type.destroy(location) }
            let uuid = try made.persistentStore.metadata().storeUUID
            let snapshot = try made.persistentStore.snapshot()
            // The open store loses its lock, as after a server restart.
            _ = try psql(
                "SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objid = (hashtextextended('roost \(schema)', 0) & 4294967295)::oid"
            )
            snapshot.close()
            // The new store gets the old store's identity, as in a conversion.
            let other = try type.temporaryLocation(beside: location)
            let options = StoreOptions().with {
                $0.isUnpublished = true
                $0.storeUUID = uuid
            }
            try type.create(other, model: try model(), options: options).close()
            try type.replace(location, with: other, overwriting: true)
            for _ in 0..<3 {
                #expect {
                    try made.insert("Track", rows: [["title": "lost"]])
                } throws: { error in
                    [.storeReplaced, .ioFailure].contains((error as? StoreError)?.code)
                }
            }
            try? made.close()
            let new = try open(try type.open(location, options: StoreOptions()))
            #expect(try new.count("Track") == 0)
            #expect(try checkStore(new.persistentStore).isEmpty)
            try new.close()
        }

        @Test("a schema that resembles a store is never removed")
        func lookalikes() throws {
            let location = PostgreSQLServer.location()
            let schema = try #require(location.path.split(separator: "=").last)
            _ = try psql(
                "CREATE SCHEMA \(schema); CREATE TABLE \(schema).customers AS SELECT generate_series(1, 10) AS id; CREATE TABLE \(schema)._roost_metadata (a INT)"
            )
            defer { _ = try? psql("DROP SCHEMA \(schema) CASCADE") }
            #expect(throws: StoreError.self) { try type.destroy(location) }
            #expect(try psql("SELECT count(*) FROM \(schema).customers") == "10")
        }

        @Test("a damaged store with another program's table is not removed")
        func damagedStoreWithForeignTable() throws {
            let damaged = PostgreSQLServer.location("damaged")
            let name = try #require(damaged.path.split(separator: "=").last)
            try type.create(damaged, model: try model(), options: StoreOptions()).close()
            defer { _ = try? psql("DROP SCHEMA \(name) CASCADE") }
            _ = try psql(
                "CREATE TABLE \(name).precious (a INT); DELETE FROM \(name)._roost_metadata WHERE name = 'formatVersion'"
            )
            #expect(throws: StoreError.self) { try type.destroy(damaged) }
            #expect(try psql("SELECT count(*) FROM \(name).precious") == "0")
            _ = try psql("DROP TABLE \(name).precious")
            try type.destroy(damaged)
        }

        @Test(
            "a store cannot be in a schema for temporary stores or in 'public'",
            arguments: ["a~roost~archive", "public"])
        func reservedNames(reserved: String) throws {
            let location = PostgreSQLServer.location()
            let schema = try #require(location.path.split(separator: "=").last)
            let path = location.path.replacing(schema, with: reserved)
            #expect(throws: StoreError.self) {
                try type.create(
                    StoreLocation(type: type.name, path: path), model: try model(), options: StoreOptions())
            }
        }

        @Test("a user without rights gets `permissionDenied` and changes nothing")
        func rights() throws {
            let location = PostgreSQLServer.location()
            let schema = try #require(location.path.split(separator: "=").last)
            _ = try? psql("CREATE ROLE roost_guest LOGIN")
            let store = try type.create(location, model: try model(), options: StoreOptions())
            try store.close()
            defer { try? type.destroy(location) }
            let guest = StoreLocation(
                type: "postgresql", path: location.path.replacing("user=roost", with: "user=roost_guest"))
            for body: () throws -> Void in [
                { _ = try type.open(guest, options: StoreOptions()) }, { try type.destroy(guest) },
                {
                    _ = try type.create(
                        StoreLocation(type: "postgresql", path: guest.path.replacing("\(schema)", with: "\(schema)x")),
                        model: try model(), options: StoreOptions())
                },
            ] {
                #expect(throws: StoreError.self) { try body() }
                do { try body() } catch let error as StoreError { #expect(error.code == .permissionDenied, "\(error)") }
            }
            try type.open(location, options: StoreOptions()).close()
        }

        @Test("identifiers are quoted as libpq quotes them")
        func quoting() throws {
            let connection = try PostgreSQLConnection(
                PostgreSQLLocation(PostgreSQLServer.location().path), settings: PostgreSQLSettings(StoreOptions()))
            for text in Self.texts where !text.utf8.contains(0) && !text.isEmpty {
                #expect(try connection.identifier(text) == PostgreSQLDialect().quote(text))
            }
        }
    }
#endif
