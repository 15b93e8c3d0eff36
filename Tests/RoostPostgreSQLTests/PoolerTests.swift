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

        init(mode: String) throws {
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
