#if PostgreSQL
    import RoostCore
    import Testing

    @testable import RoostPostgreSQL
    @testable import RoostSQL

    extension PostgreSQLConnection {
        /// Returns the number of sessions that hold the lock of a store.
        func lockCount(of schema: String) throws -> Int? {
            let key = try PostgreSQLStoreLock.key(schema, connection: self)
            return try query(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = (\(key) & 4294967295)::oid AND classid = ((\(key) >> 32) & 4294967295)::oid"
            ).text(0, column: 0).flatMap { Int($0) }
        }
    }

    @Suite(
        "Locks and places of writers in PostgreSQL",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct SessionLockTests {
        private let model: ManagedObjectModel
        private let location = PostgreSQLServer.location()
        private let place: PostgreSQLLocation
        private let observer: PostgreSQLConnection

        init() throws {
            model = try ManagedObjectModel(entities: [
                EntityDescription("Counter", attributes: [AttributeDescription("value", type: .integer64)])
            ])
            place = try PostgreSQLLocation(location.path)
            observer = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
        }

        private func lockCount() throws -> Int? { try observer.lockCount(of: place.schema) }

        private func commit(_ store: any PersistentStore, key: Int64) throws {
            var changes = ChangeSet(model: model)
            try changes.insert(ObjectID("Counter", key: key), values: ["value": 1])
            _ = try store.commit(changes)
        }

        @Test("a session that writes keeps the lock of its store, and releases it before the store is closed")
        func keepsLock() throws {
            let store = try PostgreSQLStoreType().create(location, model: model, options: StoreOptions())
            defer { try? PostgreSQLStoreType().destroy(location) }
            #expect(try lockCount() == 1)
            for key in 1...3 as ClosedRange<Int64> { try commit(store, key: key) }
            #expect(try lockCount() == 2)
            try store.close()
            #expect(try lockCount() == 0)
        }

        @Test(
            "the server notices a lost client within about a minute, or earlier if its own settings say so",
            arguments: ["", "-c tcp_keepalives_idle=7 -c tcp_user_timeout=5000"])
        func lostClient(options: String) throws {
            // Any address that begins with 127 is the same machine, on Linux only.
            #if os(Linux)
                let address = "127.\(UInt8.random(in: 1...254)).\(UInt8.random(in: 1...254)).2"
            #else
                let address = "127.0.0.1"
            #endif
            let server = try OwnServer(options: "-c listen_addresses=\(address) \(options)")
            let parameters = "host=\(address) \(server.parameters.drop { $0 != " " })"
            let connection = try PostgreSQLConnection(
                try PostgreSQLLocation("\(parameters) schema=any"), settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            let values = try ["idle", "interval", "count"].map {
                try connection.query("SHOW tcp_keepalives_\($0)").text(0, column: 0)
            }
            let timeout = try connection.query("SHOW tcp_user_timeout").text(0, column: 0)
            #expect(values == [options.isEmpty ? "30" : "7", "10", "3"])
            #expect(timeout == (options.isEmpty ? "60000" : "5000"))
        }

        @Test("a statement that is in use stays prepared, however many others are prepared after it")
        func heldStatement() throws {
            let held = try observer.statement("SELECT 7::bigint")
            for number in 0..<600 {
                let other = try observer.statement("SELECT \(number)::bigint + 1")
                #expect(try other.step())
            }
            #expect(try held.step())
            #expect(try held.integer(at: 0) == 7)
            let count = try observer.query("SELECT count(*) FROM pg_prepared_statements").text(0, column: 0)
            #expect(count.flatMap { Int($0) }.map { $0 <= 256 } ?? false, "\(count ?? "no count")")
        }

        @Test("consecutive commits use the tallies of one place, even in different sessions")
        func usesOnePlace() throws {
            try PostgreSQLStoreType().create(location, model: model, options: StoreOptions()).close()
            defer { try? PostgreSQLStoreType().destroy(location) }
            for session in 0..<4 as Range<Int64> {
                let store = try PostgreSQLStoreType().open(location, options: StoreOptions())
                for key in 1...2 as ClosedRange<Int64> { try commit(store, key: session * 2 + key) }
                try store.close()
            }
            let places = try observer.query(
                "SELECT count(DISTINCT place) FROM \(try observer.identifier(place.schema))._roost_tallies WHERE kind = 'entity'"
            )
            #expect(places.text(0, column: 0) == "1")
        }

        @Test("concurrent transactions get different places, each the lowest place that is free")
        func differentPlaces() throws {
            let store = try PostgreSQLStoreType().create(location, model: model, options: StoreOptions())
            defer { try? PostgreSQLStoreType().destroy(location) }
            let database = try #require((store as? SQLStore)?.database as? PostgreSQLDatabase)
            let (first, second) = (try database.beginWritingBesideOthers(), try database.beginWritingBesideOthers())
            #expect([first.place.number, second.place.number] == [0, 1])
            database.rollBackWriting(first.connection)
            let third = try database.beginWritingBesideOthers()
            #expect(third.place.number == 0)
            database.rollBackWriting(second.connection)
            database.rollBackWriting(third.connection)
            try store.close()
        }
    }
#endif
