#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostMemory
    import RoostMigration
    import RoostStores
    import RoostSystem
    import Testing

    @testable import RoostPostgreSQL

    @Suite(
        "Changes of the model within a schema of PostgreSQL",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct PostgreSQLModelChangeTests {
        private let type = PostgreSQLStoreType()
        private let manager = MigrationManager(registry: StoreRegistry([PostgreSQLStoreType(), MemoryStoreType()]))

        /// Returns a model of albums, and of labels that can have a country.
        private func model(
            country: Bool = false, albumIndex: String = "title", further: [String] = []
        ) throws -> ManagedObjectModel {
            let labels: [AttributeDescription] =
                [.string("name")] + (country ? [.string("country", isOptional: false, default: "none")] : [])
            return try ManagedObjectModel(
                entities: [
                    EntityDescription("Album", attributes: [.string("title"), .integer64("year")]).with {
                        $0.fetchIndexes = [FetchIndexDescription("order", on: albumIndex)]
                    },
                    EntityDescription("Label", attributes: labels),
                ] + further.map { EntityDescription($0, attributes: [.string("name")]) })
        }

        private func makeStore(
            profile: PostgreSQLProfile = .postgresql, tracksHistory: Bool = false, further: [String] = []
        ) throws -> StoreLocation {
            let location = PostgreSQLServer.location()
            let options = PostgreSQLServer.options(profile).with { $0.tracksHistory = tracksHistory }
            let store = try type.create(location, model: try model(further: further), options: options)
            var changes = ChangeSet(model: store.model)
            for key in Int64(1)...20 {
                try changes.insert(
                    ObjectID("Album", key: key), values: ["title": .string("title \(key)"), "year": .int(1950 + key)])
            }
            for key in Int64(1)...2 {
                try changes.insert(ObjectID("Label", key: key), values: ["name": .string("label \(key)")])
            }
            _ = try store.commit(changes)
            try store.close()
            return location
        }

        /// Runs a statement in a store's schema and returns the first value of the result.
        @discardableResult
        private func run(_ sql: String, at location: StoreLocation) throws -> String? {
            let place = try PostgreSQLLocation(location.path)
            let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            return try connection.query(sql).text(0, column: 0)
        }

        /// Returns the OID of an entity's table; a new table has a new OID.
        private func tableNumber(_ name: String, at location: StoreLocation) throws -> String? {
            try run("SELECT '\"\(name)\"'::regclass::oid", at: location)
        }

        private func requireAll(at location: StoreLocation, countries: [Value?]) throws {
            let opened = try type.open(location, options: StoreOptions())
            let store = try Store(opened, registry: manager.registry)
            defer { try? store.close() }
            let (albums, labels) = (try store.fetch("Album").map { $0["year"] }, try store.fetch("Label"))
            #expect(albums == (1951...1970).map { .int($0) })
            let hasCountry = opened.model.entity("Label")?.layout.field("country") != nil
            #expect(labels.map { hasCountry ? $0["country"] : nil } == countries)
            #expect(try checkStore(opened).filter { $0.severity == .damage } == [])
        }

        /// Ends all sessions that hold a store's lock, as a server restart does.
        ///
        /// Returns their number.
        private func endSessions(at location: StoreLocation) throws -> String? {
            try run(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid() AND objid = (hashtextextended('roost ' || current_schema(), 0) & 4294967295)::oid",
                at: location)
        }

        /// Returns the number of sessions that wait for the session with a store's exclusive lock.
        private func waitingCount(at location: StoreLocation) throws -> String? {
            try run(
                "SELECT count(*) FROM pg_stat_activity a WHERE EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.mode = 'ExclusiveLock' AND l.objid = (hashtextextended('roost ' || current_schema(), 0) & 4294967295)::oid AND l.pid = ANY (pg_blocking_pids(a.pid)))",
                at: location)
        }

        private func failure(_ body: () throws -> Void) -> StoreError? {
            do { try body() } catch { return error as? StoreError }
            return nil
        }

        @Test("a small change keeps the tables of unchanged entities")
        func keptTables() throws {
            let location = try makeStore()
            defer { try? type.destroy(location) }
            let before = try (tableNumber("Album", at: location), tableNumber("Label", at: location))
            try run("CREATE VIEW titles AS SELECT title FROM \"Album\"", at: location)
            let new = try model(country: true)
            #expect(try manager.planMigrationInPlace(location, model: new).path == .oneTransaction)
            let report = try manager.migrateInPlace(location, model: new)
            #expect(report.path == .oneTransaction && report.verified && report.objects == 22)
            let after = try (tableNumber("Album", at: location), tableNumber("Label", at: location))
            #expect(after.0 == before.0 && after.1 != before.1)
            try requireAll(at: location, countries: ["none", "none"])
            #expect(try run("SELECT count(*) FROM titles", at: location) == "20")
            try run("DROP VIEW titles", at: location)
        }

        @Test("a store in the portable profile is migrated into a new schema")
        func portable() throws {
            let location = try makeStore(profile: .portable)
            defer { try? type.destroy(location) }
            let new = try model(country: true)
            #expect(try manager.planMigrationInPlace(location, model: new).path == .onePass)
            #expect(try manager.migrateInPlace(location, model: new).path == .onePass)
            try requireAll(at: location, countries: ["none", "none"])
        }

        @Test("an index with the name of a dropped index is made in the same transaction")
        func changedIndex() throws {
            let location = try makeStore()
            defer { try? type.destroy(location) }
            let new = try model(country: true, albumIndex: "year")
            #expect(try manager.migrateInPlace(location, model: new).path == .oneTransaction)
            try requireAll(at: location, countries: ["none", "none"])
            let definition = try run(
                "SELECT string_agg(indexdef, ';') FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'Album' AND indexdef NOT LIKE '%UNIQUE%'",
                at: location)
            #expect(definition?.contains("year") == true && definition?.contains("title") == false)
        }

        @Test("the model of a store that another program has open does not change")
        func openElsewhere() throws {
            let location = try makeStore()
            defer { try? type.destroy(location) }
            let open = try type.open(location, options: StoreOptions())
            var options = MigrationOptions()
            options.conversion.timeoutSeconds = 0
            let refused = failure {
                _ = try manager.migrateInPlace(location, model: try model(country: true), options: options)
            }
            #expect(refused?.code == .busy && refused?.message.contains("is open") == true)
            // The refused migration has released its lock.
            var changes = ChangeSet(model: open.model)
            try changes.insert(ObjectID("Label", key: 3), values: ["name": "new"])
            _ = try open.commit(changes)
            try open.close()
            _ = try manager.migrateInPlace(location, model: try model(country: true))
            try requireAll(at: location, countries: ["none", "none", "none"])
        }

        @Test(
            "no program can open a store whose model is being changed, and a cancelled change leaves the old model"
        )
        func meanwhile() throws {
            let location = try makeStore()
            defer { try? type.destroy(location) }
            let (type, cancellation) = (type, ConversionCancellation())
            var options = MigrationOptions()
            options.conversion.cancellation = cancellation
            options.conversion.onProgress = { _ in
                guard !cancellation.isCancelled else { return }
                cancellation.cancel()
                do throws(StoreError) {
                    _ = try type.open(location, options: StoreOptions(timeoutSeconds: 0))
                    Issue.record("the store was opened")
                } catch {
                    #expect(error.code == .busy)
                }
            }
            let cancelled = failure {
                _ = try manager.migrateInPlace(location, model: try model(country: true), options: options)
            }
            #expect(cancelled?.code == .cancelled)
            try requireAll(at: location, countries: [.null, .null])
            #expect(try run("SELECT count(*) FROM pg_class WHERE relname LIKE '%dropped%'", at: location) == "0")
        }

        @Test("a store whose migration lost its sessions keeps the old model and can be migrated again")
        func endedSessions() throws {
            let location = try makeStore()
            defer { try? type.destroy(location) }
            let (tests, ended) = (self, Mutex<String?>(nil))
            var options = MigrationOptions()
            options.conversion.onProgress = { _ in
                guard ended.withLock({ $0 }) == nil else { return }
                let count = try? tests.endSessions(at: location)
                ended.withLock { $0 = count }
            }
            let error = failure {
                _ = try manager.migrateInPlace(location, model: try model(country: true), options: options)
            }
            #expect(error?.code == .ioFailure && ended.withLock { $0 } != "0")
            try requireAll(at: location, countries: [.null, .null])
            #expect(try manager.migrateInPlace(location, model: try model(country: true)).path == .oneTransaction)
            try requireAll(at: location, countries: ["none", "none"])
        }

        @Test("a view on a table that must be dropped stops the migration, and the store stays as it was")
        func dependentView() throws {
            let location = try makeStore()
            defer { try? type.destroy(location) }
            try run("CREATE VIEW names AS SELECT name FROM \"Label\"", at: location)
            let refused = failure { _ = try manager.migrateInPlace(location, model: try model(country: true)) }
            #expect(refused?.code == .notAStore)
            #expect(try run("SELECT count(*) FROM names", at: location) == "2")
            try run("DROP VIEW names", at: location)
            try requireAll(at: location, countries: [.null, .null])
        }

        @Test("another program's table with a new entity's name stops the migration until the table is dropped")
        func takenName() throws {
            let location = try makeStore()
            defer { try? type.destroy(location) }
            try run("CREATE TABLE \"Genre\" (note text)", at: location)
            let new = try model(country: true, further: ["Genre"])
            let refused = failure { _ = try manager.migrateInPlace(location, model: new) }
            #expect(refused?.code == .notAStore)
            try requireAll(at: location, countries: [.null, .null])
            try run("DROP TABLE \"Genre\"", at: location)
            #expect(try manager.migrateInPlace(location, model: new).path == .oneTransaction)
            try requireAll(at: location, countries: ["none", "none"])
        }

        @Test("a migration makes a new schema if a table has the name of another table's array type")
        func arrayTypes() throws {
            let location = try makeStore(further: ["_Label"])
            defer { try? type.destroy(location) }
            let new = try model(country: true, further: ["_Label"])
            #expect(try manager.migrateInPlace(location, model: new).path == .onePass)
            try requireAll(at: location, countries: ["none", "none"])
        }

        @Test("if several programs migrate a store at once, one migrates it and the others find the new model")
        func together() throws {
            let location = try makeStore()
            defer { try? type.destroy(location) }
            let (manager, new) = (manager, try model(country: true))
            let (done, paths) = (DispatchSemaphore(value: 0), Mutex<[String]>([]))
            // Migrations can wait for each other, so each has a thread.
            for _ in 0..<6 {
                Thread.detachNewThread {
                    defer { done.signal() }
                    var options = MigrationOptions()
                    options.conversion.timeoutSeconds = 60
                    let result = Result { try manager.migrateInPlace(location, model: new, options: options).path }
                    paths.withLock { $0.append("\(result)") }
                }
            }
            for _ in 0..<6 { done.wait() }
            let found = paths.withLock { $0 }
            #expect(found.filter { $0.contains("oneTransaction") }.count == 1, "\(found)")
            #expect(found.filter { $0.contains("nothing") }.count == 5, "\(found)")
            try requireAll(at: location, countries: ["none", "none"])
        }

        @Test("a change of the model starts a new history, and the report warns of it")
        func history() throws {
            let location = try makeStore(tracksHistory: true)
            defer { try? type.destroy(location) }
            let report = try manager.migrateInPlace(location, model: try model(country: true))
            #expect(report.path == .oneTransaction && report.warnings.contains { $0.contains("history") })
            let store = try type.open(location, options: StoreOptions())
            #expect(try store.recordsHistory())
            try store.close()
            try requireAll(at: location, countries: ["none", "none"])
        }

        @Test("a commit by a program that has lost its lock does not stop a change of the model")
        func writerWithoutLock() throws {
            // A commit to a store with a history waits for all commit places.
            let location = try makeStore(tracksHistory: true)
            defer { try? type.destroy(location) }
            let open = try type.open(location, options: StoreOptions())
            defer { try? open.close() }
            #expect(try endSessions(at: location) == "1")
            var changes = ChangeSet(model: open.model)
            try changes.insert(ObjectID("Label", key: 9), values: ["name": "late"])
            let (tests, late) = (self, changes)
            let (isBegun, done, code) = (Mutex(false), DispatchSemaphore(value: 0), Mutex<StoreError.Code?>(nil))
            var options = MigrationOptions()
            // This timeout is too short for a second attempt after a deadlock.
            options.conversion.timeoutSeconds = 0.5
            options.conversion.onProgress = { _ in
                guard !isBegun.withLock({ $0 }) else { return }
                isBegun.withLock { $0 = true }
                Thread.detachNewThread {
                    let found = tests.failure { _ = try open.commit(late) }?.code
                    code.withLock { $0 = found }
                    done.signal()
                }
                // Polls until the commit waits for the migration or has ended.
                for _ in 0..<5000 where code.withLock({ $0 }) == nil {
                    guard (try? tests.waitingCount(at: location)) == "0" else { break }
                }
            }
            let report = try manager.migrateInPlace(location, model: try model(country: true), options: options)
            #expect(report.path == .oneTransaction)
            done.wait()
            #expect(code.withLock { $0 } == .busy)
            #expect(failure { _ = try open.commit(changes) }?.code == .storeReplaced)
            try requireAll(at: location, countries: ["none", "none"])
        }

        @Test("a program that has lost its lock gets `storeReplaced` after a change of the model")
        func lostLock() throws {
            let location = try makeStore()
            defer { try? type.destroy(location) }
            let open = try type.open(location, options: StoreOptions())
            defer { try? open.close() }
            #expect(try endSessions(at: location) == "1")
            #expect(try manager.migrateInPlace(location, model: try model(country: true)).path == .oneTransaction)
            var changes = ChangeSet(model: open.model)
            try changes.insert(ObjectID("Label", key: 9), values: ["name": "late"])
            #expect(failure { _ = try open.commit(changes) }?.code == .storeReplaced)
            #expect(failure { _ = try open.snapshot() }?.code == .storeReplaced)
            try requireAll(at: location, countries: ["none", "none"])
        }
    }
#endif
