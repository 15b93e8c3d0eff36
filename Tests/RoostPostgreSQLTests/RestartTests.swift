#if PostgreSQL
    import Foundation
    import RoostCore
    import RoostSystem
    import Testing

    @testable import RoostPostgreSQL

    /// The server of one test, which can be killed.
    final class OwnServer: Sendable {
        let parameters: String
        private let directory = "/tmp/roost-restart-\(UInt32.random(in: .min ... .max))"

        init(options: String = "") throws {
            parameters = try Self.run("start", in: directory, options: options)
        }

        deinit { _ = try? Self.run("stop", "immediate", in: directory) }

        func kill() throws { _ = try Self.run("stop", "immediate", "keep", in: directory) }
        func start() throws { _ = try Self.run("start", in: directory) }

        /// Ends all other sessions of clients, as an administrator does.
        func terminateSessions() throws {
            let place = try PostgreSQLLocation("\(parameters) schema=any")
            let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            try connection.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        }

        private struct Failure: Error { let status: Int32 }

        private static func run(_ arguments: String..., in directory: String, options: String = "") throws -> String {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let process = Process()
            process.executableURL = root.appendingPathComponent("Scripts/postgres")
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging([
                "ROOST_POSTGRES_DIRECTORY": directory, "ROOST_POSTGRES_OPTIONS": options,
            ]) { $1 }
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
            return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// The keys of the writers' commits, by outcome.
    private struct Outcomes: Sendable, CustomStringConvertible {
        var acknowledged: [Int64] = []
        var refused: [Int64] = []
        var unknown: [Int64] = []

        var description: String {
            "\(acknowledged.count) commits acknowledged, \(refused.count) refused, \(unknown.count) unknown"
        }
    }

    @Suite(
        "A server that is killed", .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct RestartTests {
        /// `ROOST_POSTGRES_KILLS` sets the number of kills.
        @Test(
            "a killed server keeps each acknowledged commit, and the open store continues",
            arguments: [true, false],
            PostgreSQLProfile.allCases)
        func killed(isWholeServer: Bool, profile: PostgreSQLProfile) throws {
            let server = try OwnServer()
            let type = PostgreSQLStoreType()
            let location = StoreLocation(type: type.name, path: "\(server.parameters) schema=killed")
            let model = try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: [AttributeDescription("number", type: .integer64)])
            ])
            let store = try type.create(
                location, model: model, options: PostgreSQLServer.options(profile, timeoutSeconds: 120))
            let wanted =
                Int(ProcessInfo.processInfo.environment["ROOST_POSTGRES_KILLS"] ?? "") ?? (isWholeServer ? 4 : 20)
            let outcomes = commitThroughKills(into: store, killing: wanted) {
                if isWholeServer {
                    try server.kill()
                    try server.start()
                } else {
                    try server.terminateSessions()
                }
            }
            try store.close()
            print("\(wanted) kills of \(isWholeServer ? "the server" : "all sessions"): \(outcomes)")
            let again = try type.open(location, options: StoreOptions())
            defer { try? again.close() }
            try expectContent(of: again, after: outcomes)
        }

        /// Commits on four threads during `wanted` kills; returns the outcomes.
        private func commitThroughKills(
            into store: any PersistentStore, killing wanted: Int, by kill: @escaping @Sendable () throws -> Void
        ) -> Outcomes {
            let kills = Mutex(0)
            let outcomes = Mutex(Outcomes())
            let writerCount = 4
            let isOver = Mutex(false)
            let killer = DispatchGroup()
            killer.enter()
            Thread.detachNewThread {
                defer {
                    killer.leave()
                    // Ends the writers, also after an error.
                    kills.withLock { $0 = max($0, wanted) }
                }
                do {
                    for _ in 0..<wanted {
                        // Waits for some commits since the last kill.
                        let enough = outcomes.withLock { $0.acknowledged.count } + .random(in: 5...60)
                        while outcomes.withLock({ $0.acknowledged.count }) < enough, !isOver.withLock({ $0 }) {
                            usleep(200)
                        }
                        try kill()
                        kills.withLock { $0 += 1 }
                    }
                } catch {
                    Issue.record("The server could not be killed or started again: \(error)")
                }
            }
            onThreads(writerCount) { writer in
                var key = Int64(writer)
                while kills.withLock({ $0 }) < wanted {
                    key += Int64(writerCount)
                    var changes = ChangeSet(model: store.model)
                    try changes.insert(ObjectID("Item", key: key), values: ["number": .int(key)])
                    do throws(StoreError) {
                        _ = try store.commit(changes)
                        outcomes.withLock { $0.acknowledged.append(key) }
                    } catch {
                        #expect([.ioFailure, .outcomeUnknown, .timedOut, .busy].contains(error.code), "\(error)")
                        outcomes.withLock {
                            if error.code == .outcomeUnknown { $0.unknown.append(key) } else { $0.refused.append(key) }
                        }
                        usleep(10_000)
                    }
                }
            }
            isOver.withLock { $0 = true }
            killer.wait()
            return outcomes.withLock { $0 }
        }

        /// Expects every acknowledged object, no refused object, and a correct tally.
        private func expectContent(of store: any PersistentStore, after outcomes: Outcomes) throws {
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            var found: Set<Int64> = []
            var batch = RecordBatch(model: store.model)
            let cursor = try snapshot.records(of: "Item", after: nil)
            while try cursor.next(into: &batch) { for index in 0..<batch.count { found.insert(batch.key(at: index)) } }
            #expect(outcomes.acknowledged.count > 10)
            #expect(outcomes.acknowledged.allSatisfy(found.contains), "acknowledged commits are lost")
            #expect(!outcomes.refused.contains(where: found.contains), "commits that were refused took place")
            #expect(found.count <= outcomes.acknowledged.count + outcomes.unknown.count)
            let (recorded, counted) = (try snapshot.recordedTally(), try snapshot.computeTally())
            #expect(recorded == counted)
        }
    }
#endif
