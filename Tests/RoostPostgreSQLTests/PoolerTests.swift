#if PostgreSQL
    import Foundation
    import RoostCore
    import Testing

    @testable import RoostPostgreSQL

    /// PgBouncer in front of the server of the tests.
    final class Pooler {
        static let path = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }

        /// The parameters of connections through the pooler.
        let parameters: String
        private let directory = "/tmp/roost-pooler-\(UInt32.random(in: .min ... .max))"
        private let process = Process()

        /// Starts a pooler.
        ///
        /// Without a reset, a session still has the locks of its previous client.
        init(mode: String, resetsSessions: Bool = true) throws {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory)
            let settings = """
                [databases]
                roost = host=\(PostgreSQLServer.host ?? "") dbname=roost user=roost
                [pgbouncer]
                unix_socket_dir = \(directory)
                listen_addr =
                listen_port = 6432
                auth_type = any
                pool_mode = \(mode)
                server_reset_query = \(resetsSessions ? "DISCARD ALL" : "DEALLOCATE ALL")
                logfile = \(directory)/log
                """
            try settings.write(toFile: "\(directory)/settings", atomically: false, encoding: .utf8)
            parameters = "host=\(directory) port=6432 dbname=roost user=roost"
            let program = try #require(Self.path)
            // PgBouncer refuses to run as root.
            let isRoot = geteuid() == 0
            process.executableURL = URL(fileURLWithPath: isRoot ? "/usr/sbin/runuser" : program)
            process.arguments =
                (isRoot ? ["-u", "postgres", "--", program] : []) + ["--quiet", "\(directory)/settings"]
            try process.run()
            let deadline = ContinuousClock.now + .seconds(60)
            while !FileManager.default.fileExists(atPath: "\(directory)/.s.PGSQL.6432"), ContinuousClock.now < deadline
            {
                Thread.sleep(forTimeInterval: 0.01)
            }
            try #require(
                FileManager.default.fileExists(atPath: "\(directory)/.s.PGSQL.6432"), "PgBouncer did not start")
        }

        deinit {
            process.terminate()
            process.waitUntilExit()
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    @Suite(
        "Connections through PgBouncer",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing),
        .enabled(if: Pooler.path != nil, "pgbouncer is not installed"))
    struct PoolerTests {
        private let type = PostgreSQLStoreType()

        private func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: [AttributeDescription("name", type: .string)])
            ])
        }

        @Test("a store works through PgBouncer in session mode")
        func session() throws {
            let pooler = try Pooler(mode: "session")
            let schema = try #require(PostgreSQLServer.location().path.split(separator: "=").last)
            let location = StoreLocation(type: type.name, path: "\(pooler.parameters) schema=\(schema)")
            let store = try type.create(location, model: try model(), options: StoreOptions())
            var changes = ChangeSet(model: store.model)
            try changes.insert(ObjectID("Item", key: 1), values: ["name": "a"])
            _ = try store.commit(changes)
            #expect { try type.destroy(location) } throws: { ($0 as? StoreError)?.code == .busy }
            try store.close()
            try type.destroy(location)
        }

        /// Runs `body` with a store whose pooler does not reset sessions, and with a direct
        /// connection.
        ///
        /// Returns the number of sessions that have the store's lock after `body`, and expects none
        /// after the store is closed.
        private func withKeptSessions(
            timeoutSeconds: Double = 60, _ body: (any PersistentStore, _ direct: PostgreSQLConnection) throws -> Void
        ) throws -> Int? {
            let pooler = try Pooler(mode: "session", resetsSessions: false)
            let direct = PostgreSQLServer.location()
            let place = try PostgreSQLLocation(direct.path)
            let observer = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
            let store = try type.create(
                StoreLocation(type: type.name, path: "\(pooler.parameters) schema=\(place.schema)"), model: try model(),
                options: StoreOptions(timeoutSeconds: timeoutSeconds))
            defer { try? type.destroy(direct) }
            try body(store, observer)
            let count = try observer.lockCount(of: place.schema)
            try store.close()
            #expect(try observer.lockCount(of: place.schema) == 0)
            return count
        }

        private func commit(_ store: any PersistentStore, key: Int64) throws {
            var changes = ChangeSet(model: store.model)
            try changes.insert(ObjectID("Item", key: key), values: ["name": "a"])
            _ = try store.commit(changes)
        }

        @Test("a closed store keeps no lock in the sessions of a pooler that does not reset them")
        func releasesLocks() throws {
            let count = try withKeptSessions { store, _ in
                for key in 1...3 as ClosedRange<Int64> { try commit(store, key: key) }
            }
            #expect(count == 2)
        }

        @Test("a session whose transaction cannot begin releases the lock of its store")
        func releasesLockAfterError() throws {
            let count = try withKeptSessions(timeoutSeconds: 0.05) { store, direct in
                try direct.query("BEGIN; LOCK TABLE _roost_tallies IN ACCESS EXCLUSIVE MODE")
                #expect(throws: StoreError.self) { try commit(store, key: 1) }
                try direct.query("ROLLBACK")
            }
            #expect(count == 1)
        }

        @Test("a connection through PgBouncer in transaction mode is refused, and the error names the mode")
        func transaction() throws {
            let direct = PostgreSQLServer.location()
            try type.create(direct, model: try model(), options: StoreOptions()).close()
            defer { try? type.destroy(direct) }
            let schema = try #require(direct.path.split(separator: "=").last)
            let pooler = try Pooler(mode: "transaction")
            func isRefused(_ body: () throws -> Void) -> Bool {
                do { try body() } catch {
                    return (error as? StoreError)?.code == .unsupported && "\(error)".contains("transaction mode")
                }
                return false
            }
            #expect(
                isRefused {
                    _ = try type.open(
                        StoreLocation(type: type.name, path: "\(pooler.parameters) schema=\(schema)"),
                        options: StoreOptions())
                })
            #expect(
                isRefused {
                    _ = try type.create(
                        StoreLocation(type: type.name, path: "\(pooler.parameters) schema=\(schema)x"),
                        model: try model(),
                        options: StoreOptions())
                })
        }
    }
#endif
