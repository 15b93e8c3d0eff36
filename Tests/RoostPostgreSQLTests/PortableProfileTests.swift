#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostMemory
    import RoostStores
    import Testing

    @testable import RoostPostgreSQL

    @Suite(
        "Stores with the portable profile",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct PortableProfileTests {
        private let type = PostgreSQLStoreType()
        private let options = PostgreSQLServer.options(.portable, timeoutSeconds: 0)

        private func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: [AttributeDescription("name", type: .string)])
            ])
        }

        /// Runs SQL in the schema of a store, and returns the first value of the result.
        @discardableResult
        private func run(_ sql: String, in location: StoreLocation) throws -> String? {
            let connection = try PostgreSQLConnection(
                try PostgreSQLLocation(location.path), settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            return try connection.query(sql).text(0, column: 0)
        }

        private func insert(_ key: Int64, into store: any PersistentStore) throws {
            var changes = ChangeSet(model: store.model)
            try changes.insert(ObjectID("Item", key: key), values: ["name": "a"])
            _ = try store.commit(changes)
        }

        @Test(
            "a store with the portable profile passes every check without a forbidden statement",
            arguments: ConformanceCheck.all)
        func check(_ check: ConformanceCheck) throws {
            let log = StatementLog()
            try check.run(on: PostgreSQLServer.portable(log))
            try log?.requireNoViolation()
        }

        /// The checks above cover all store operations that contexts use.
        @Test(
            "contexts on the portable profile pass every graph check without a forbidden statement",
            .enabled(if: ProcessInfo.processInfo.environment["ROOST_POSTGRES_CONTEXTS"] != nil, "make faults runs it"),
            arguments: GraphCheck.all)
        func graphCheck(_ check: GraphCheck) async throws {
            let log = StatementLog()
            if case .failed(let failure) = await check.outcome(on: PostgreSQLServer.portable(log)) { throw failure }
            try log?.requireNoViolation()
        }

        /// The lease's row is removed, and a trigger delays the commit until the lease ends.
        @Test("a commit reports its real outcome even if its lease ends before the server answers")
        func leaseEndsDuringCommit() throws {
            let location = PostgreSQLServer.location()
            let store = try type.create(
                location, model: try model(), options: PostgreSQLServer.options(.portable, timeoutSeconds: 60))
            defer { try? type.destroy(location) }
            try insert(1, into: store)
            try run(
                "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NOT NEW.is_fence THEN PERFORM pg_sleep(8); END IF; RETURN NULL; END $$",
                in: location)
            try run(
                "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON _roost_commits DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()",
                in: location)
            try run("DELETE FROM _roost_openings", in: location)
            var isRefused = false
            do { try insert(2, into: store) } catch { isRefused = true }
            try? store.close()
            let table = try run(
                "SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'name' AND table_name NOT LIKE '\\_roost%' LIMIT 1",
                in: location)
            let count = try run("SELECT count(*) FROM \"\(try #require(table))\" WHERE _id = 2", in: location)
            #expect(count == (isRefused ? "0" : "1"))
        }

        @Test("a store's profile is recognized by its tables, and another profile is refused")
        func profiles() throws {
            let location = PostgreSQLServer.location()
            try type.create(location, model: try model(), options: options).close()
            defer { try? type.destroy(location) }
            try type.open(location, options: StoreOptions()).close()
            #expect { try type.open(location, options: PostgreSQLServer.options(.postgresql)) } throws: { error in
                (error as? StoreError)?.code == .invalidRequest
            }
            let other = PostgreSQLServer.location()
            try type.create(other, model: try model(), options: StoreOptions()).close()
            defer { try? type.destroy(other) }
            #expect { try type.open(other, options: options) } throws: { error in
                (error as? StoreError)?.code == .invalidRequest
            }
        }

        @Test("a store with the portable profile is in use until its leases end")
        func leases() throws {
            let location = PostgreSQLServer.location()
            let store = try type.create(location, model: try model(), options: options)
            defer { try? type.destroy(location) }
            try store.close()
            // A killed program leaves such a lease.
            let row = "INSERT INTO _roost_openings VALUES (gen_random_uuid(), clock_timestamp() + interval"
            try run("\(row) '10 seconds', FALSE)", in: location)
            #expect { try type.destroy(location) } throws: { ($0 as? StoreError)?.code == .busy }
            try type.open(location, options: options).close()
            try run("UPDATE _roost_openings SET until = clock_timestamp() - interval '1 second'", in: location)
            try type.destroy(location)
            #expect { try type.open(location, options: options) } throws: { ($0 as? StoreError)?.code == .notFound }
        }

        @Test("a store fails to open with `busy` while another program removes or replaces it")
        func alone() throws {
            let location = PostgreSQLServer.location()
            try type.create(location, model: try model(), options: options).close()
            defer { try? type.destroy(location) }
            try run(
                "INSERT INTO _roost_openings VALUES (gen_random_uuid(), clock_timestamp() + interval '10 seconds', TRUE)",
                in: location)
            #expect { try type.open(location, options: options) } throws: { ($0 as? StoreError)?.code == .busy }
            try run("DELETE FROM _roost_openings", in: location)
            try type.open(location, options: options).close()
        }

        @Test("a store whose lease ended never writes into the store that took its name")
        func replaced() throws {
            let location = PostgreSQLServer.location()
            let store = try type.create(location, model: try model(), options: options)
            defer { try? type.destroy(location) }
            try insert(1, into: store)
            let other = try type.temporaryLocation(beside: location)
            let unpublished = options.with {
                $0.isUnpublished = true
                $0.storeUUID = try? store.metadata().storeUUID
            }
            try type.create(other, model: try model(), options: unpublished).close()
            #expect { try type.replace(location, with: other, overwriting: true) } throws: { error in
                (error as? StoreError)?.code == .busy
            }
            // Simulates a program that was stopped for longer than its lease.
            try run("DELETE FROM _roost_openings", in: location)
            try type.replace(location, with: other, overwriting: true)
            #expect { try insert(2, into: store) } throws: { ($0 as? StoreError)?.code == .storeReplaced }
            #expect { try store.snapshot() } throws: { ($0 as? StoreError)?.code == .storeReplaced }
            try store.close()
            let new = try type.open(location, options: options)
            #expect(try checkStore(new).isEmpty)
            let tally = try new.snapshot().recordedTally()
            #expect(tally?.entities[0].count == 0)
            try new.close()
        }

        @Test("a transaction is not committed if another store takes its store's name meanwhile", arguments: [0, 2])
        func renamedMeanwhile(earlierTransactions: Int) throws {
            let location = PostgreSQLServer.location()
            let made = try type.create(location, model: try model(), options: options)
            defer { try? type.destroy(location) }
            let uuid = try made.metadata().storeUUID
            try made.close()
            let other = try type.temporaryLocation(beside: location)
            try type.create(other, model: try model(), options: options.with { $0.isUnpublished = true }).close()
            let (place, new) = (try PostgreSQLLocation(location.path), try PostgreSQLLocation(other.path))
            let number = try #require(try run("SELECT '_roost_tallies'::regclass::oid::bigint", in: location))
            let database = try PostgreSQLDatabase(
                place, lock: try PostgreSQLStoreLock.acquire(try PostgreSQLOpening(location, options: options)),
                incarnation: PostgreSQLIncarnation(
                    uuid: uuid, tableNumber: try #require(Int64(number)), formatVersion: 3))
            for _ in 0..<earlierTransactions { database.rollBackWriting(try database.beginWriting()) }
            let connection = try database.beginWritingBesideOthers().connection
            // Simulates another program that found the lease too old and replaced the store.
            let old = "\(place.schema).old"
            try run(
                "ALTER SCHEMA \"\(place.schema)\" RENAME TO \"\(old)\"; ALTER SCHEMA \"\(new.schema)\" RENAME TO \"\(place.schema)\"",
                in: location)
            #expect { try database.commitWriting(connection) } throws: { ($0 as? StoreError)?.code == .storeReplaced }
            try database.close()
            try run("DELETE FROM \"\(old)\"._roost_openings", in: location)
            let commits = try run("SELECT count(*) FROM _roost_commits", in: location)
            #expect(commits == "1")
            try type.destroy(StoreLocation(type: type.name, path: place.path(schema: old)))
        }

        @Test("a lease throws `busy` when it is too old, and `storeReplaced` after its end")
        func endedLease() throws {
            let clock = PostgreSQLLeaseClock(ContinuousClock.now)
            try clock.requireCounting("store")
            clock.renew(ContinuousClock.now - .seconds(16))
            #expect { try clock.requireCounting("store") } throws: { ($0 as? StoreError)?.code == .busy }
            clock.renew(ContinuousClock.now)
            try clock.requireCounting("store")
            clock.end()
            clock.renew(ContinuousClock.now)
            #expect { try clock.requireCounting("store") } throws: { ($0 as? StoreError)?.code == .storeReplaced }
        }

        @Test("a store is removed together with a history table that a crash left")
        func leftHistory() throws {
            let location = PostgreSQLServer.location()
            try type.create(location, model: try model(), options: options).close()
            try run("CREATE TABLE _roost_history (left_by INT)", in: location)
            try type.destroy(location)
            #expect { try type.open(location, options: options) } throws: { ($0 as? StoreError)?.code == .notFound }
        }

        @Test(
            "a store can replace a store of the other profile only if the replaced store is closed",
            arguments: PostgreSQLProfile.allCases)
        func mixed(new: PostgreSQLProfile) throws {
            let old: PostgreSQLProfile = new == .portable ? .postgresql : .portable
            let (first, second) = (PostgreSQLServer.location(), PostgreSQLServer.location())
            let store = try type.create(first, model: try model(), options: PostgreSQLServer.options(old))
            defer { try? type.destroy(first) }
            try type.create(second, model: try model(), options: PostgreSQLServer.options(new)).close()
            #expect { try type.replace(first, with: second, overwriting: true) } throws: { error in
                (error as? StoreError)?.code == .busy
            }
            try store.close()
            try type.replace(first, with: second, overwriting: true)
            try type.open(first, options: PostgreSQLServer.options(new)).close()
        }

        @Test("a store's history turns on and off despite a table that a crash left")
        func history() throws {
            let location = PostgreSQLServer.location()
            let store = try type.create(location, model: try model(), options: options)
            defer { try? type.destroy(location) }
            try insert(1, into: store)
            let tracking = options.with { $0.tracksHistory = true }
            #expect { try type.open(location, options: tracking) } throws: { ($0 as? StoreError)?.code == .busy }
            try store.close()
            try run("CREATE TABLE _roost_history (left_by INT)", in: location)
            let on = try type.open(location, options: tracking)
            try insert(2, into: on)
            let count = try Store(on, registry: StoreRegistry()).history(after: nil).count
            #expect(count == 1)
            try on.close()
            let off = try type.open(location, options: options.with { $0.tracksHistory = false })
            try insert(3, into: off)
            #expect(try checkStore(off).isEmpty)
            try off.close()
            let table = try run("SELECT to_regclass('_roost_history') IS NULL", in: location)
            #expect(table == "t")
        }

        @Test("creating a store whose name is taken leaves no other schema")
        func taken() throws {
            let location = PostgreSQLServer.location()
            let schema = try PostgreSQLLocation(location.path).schema
            try run("CREATE SCHEMA \(schema)", in: location)
            // An empty schema is used for the new store.
            try type.create(location, model: try model(), options: options).close()
            defer { try? type.destroy(location) }
            #expect { try type.create(location, model: try model(), options: options) } throws: { error in
                (error as? StoreError)?.code == .alreadyExists
            }
            let left = try run(
                "SELECT count(*) FROM pg_namespace WHERE starts_with(nspname, '\(schema)')", in: location)
            #expect(left == "1")
        }

        /// Without the log, the checks above do not examine statements.
        @Test(
            "the server's log shows the statements that the portable profile forbids",
            .enabled(
                if: StatementLog() != nil || ProcessInfo.processInfo.environment["ROOST_POSTGRES_REQUIRED"] != nil,
                "the server was not started by Scripts/postgres, so no statement is looked at"))
        func violations() throws {
            let log = try #require(StatementLog(), "the server was not started by Scripts/postgres")
            let location = PostgreSQLServer.location(in: UUID().uuidString, name: "log", parameters: log.parameters)
            let store = try type.create(location, model: try model(), options: StoreOptions())
            defer { try? type.destroy(location) }
            try insert(1, into: store)
            try store.close()
            let found = Set(try log.violations().map(\.reason))
            let expected: Set<String> = [
                "a lock by name", "a transaction that is not serializable", "a lock of rows that are free",
                "tables and rows change in one transaction", "a notification", "a collation",
            ]
            #expect(found.isSuperset(of: expected), "\(found)")
        }
    }
#endif
