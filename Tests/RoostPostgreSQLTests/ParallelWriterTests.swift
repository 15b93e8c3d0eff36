#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostStores
    import RoostSystem
    import Testing

    @testable import RoostPostgreSQL

    /// A store of nodes with links, references, unique names and lists for several writers.
    struct Meeting {
        let model: ManagedObjectModel
        let location = PostgreSQLServer.location()
        let store: any PersistentStore
        private let type = PostgreSQLStoreType()

        /// Creates the store with nodes that have keys from 1.
        init(nodeCount: Int64, tracksHistory: Bool = false, profile: PostgreSQLProfile = .postgresql) throws {
            model = try Self.model()
            let options = PostgreSQLServer.options(profile).with { $0.tracksHistory = tracksHistory }
            store = try type.create(location, model: model, options: options)
            guard nodeCount > 0 else { return }
            var changes = ChangeSet(model: model)
            for key in 1...nodeCount { try changes.insert(ObjectID("Node", key: key), values: ["value": 0]) }
            _ = try store.commit(changes)
        }

        static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Node",
                    attributes: [
                        AttributeDescription("name", type: .string),
                        AttributeDescription("value", type: .integer64, isOptional: false),
                    ],
                    relationships: [
                        RelationshipDescription("parent", destination: "Node", inverse: "children", maxCount: 1),
                        RelationshipDescription("children", destination: "Node", inverse: "parent", maxCount: nil),
                        RelationshipDescription("friends", destination: "Node", inverse: "fans", maxCount: nil),
                        RelationshipDescription("fans", destination: "Node", inverse: "friends", maxCount: nil),
                        RelationshipDescription("list", destination: "Node", inverse: "lists", maxCount: nil).with {
                            $0.isOrdered = true
                        },
                        RelationshipDescription("lists", destination: "Node", inverse: "list", maxCount: nil),
                    ],
                    uniquenessConstraints: [["name"]])
            ])
        }

        func open(timeoutSeconds: Double = 60) throws -> any PersistentStore {
            try type.open(location, options: StoreOptions(timeoutSeconds: timeoutSeconds))
        }

        func destroy() {
            try? store.close()
            try? type.destroy(location)
        }

        /// Returns a session of the server with an open transaction that ran `sql` in the store's
        /// schema.
        func session(running sql: String) throws -> PostgreSQLConnection {
            let place = try PostgreSQLLocation(location.path)
            let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
            try connection.query("BEGIN; \(sql)")
            return connection
        }

        /// Requires that the store has no findings, and that its recorded tally is correct.
        func requireSound() throws {
            let store = try open()
            defer { try? store.close() }
            let findings = try checkStore(store)
            #expect(findings.map(\.message) == [])
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let (recorded, counted) = (try snapshot.recordedTally(), try snapshot.computeTally())
            #expect(recorded == counted)
        }
    }

    /// Runs `body` on several threads, waits for all, and records their errors as issues.
    func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do { try body(number) } catch { Issue.record("A writer failed: \(error)") }
            }
        }
        group.wait()
    }

    @Suite(
        "Concurrent writers in PostgreSQL", .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct ParallelWriterTests {
        private func node(_ key: Int64) -> ObjectID { ObjectID("Node", key: key) }

        /// Returns the version and the values of a node, or nil if it does not exist.
        private func read(
            _ key: Int64, in snapshot: any StoreSnapshot
        ) throws(StoreError) -> (version: UInt32, values: [String: Value])? {
            var batch = RecordBatch(model: snapshot.model)
            guard try snapshot.record(with: node(key), into: &batch) else { return nil }
            return (batch.record(at: 0).version, batch.record(at: 0).values())
        }

        /// Adds one to the value of a node, and retries after conflicts.
        private func increment(_ key: Int64, in store: any PersistentStore) throws {
            var isDone = false
            while !isDone { isDone = try incrementOnce(key, in: store) }
        }

        private func insert(_ key: Int64, in store: any PersistentStore) throws -> CommitReceipt {
            var changes = ChangeSet(model: store.model)
            try changes.insert(node(key), values: ["value": 1])
            return try store.commit(changes)
        }

        /// Adds one to the value of a node; returns false if a conflict prevents that.
        private func incrementOnce(_ key: Int64, in store: any PersistentStore) throws -> Bool {
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let (version, values) = try #require(try read(key, in: snapshot))
            guard case .int(let value)? = values["value"] else { throw StoreError(.corrupted, "no value") }
            var changes = ChangeSet(model: store.model)
            try changes.update(node(key), version: version, values: ["value": .int(value + 1)])
            switch Result(catching: { () throws(StoreError) in try store.commit(changes) }) {
            case .success: return true
            case .failure(let error) where error.code == .conflict: return false
            case .failure(let error): throw error
            }
        }

        @Test("a commit does not wait for an unfinished commit to other objects")
        func doesNotWait() throws {
            let meeting = try Meeting(nodeCount: 3)
            defer { meeting.destroy() }
            let store = meeting.store
            // The locks of an unfinished commit: commit place 0, node 1, and the existence of node 2.
            let other = try meeting.session(
                running:
                    "SELECT 1 FROM _roost_tallies WHERE kind = 'generation' AND place = 0 FOR UPDATE; SELECT 1 FROM \"Node\" WHERE _id = 1 FOR NO KEY UPDATE; SELECT 1 FROM \"Node\" WHERE _id = 2 FOR KEY SHARE"
            )
            defer { other.close() }
            let hasty = try meeting.open(timeoutSeconds: 0.2)
            defer { try? hasty.close() }
            for key: Int64 in [2, 3] { try increment(key, in: hasty) }
            #expect {
                try increment(1, in: hasty)
            } throws: {
                ($0 as? StoreError)?.code == .busy
            }
            // The new link locks only the existence of node 1, so the lock for a change does not block it.
            var changes = ChangeSet(model: store.model)
            try changes.add(Link(3, 1), to: RelationshipName("Node", name: "friends"))
            _ = try hasty.commit(changes)
        }

        /// A commit that depends on data of an unfinished transaction.
        ///
        /// The raw value is the statement of that transaction.
        enum Meet: String, CaseIterable {
            case linkToDeleted = "DELETE FROM \"Node\" WHERE _id = 1"
            case referenceToDeleted = "DELETE FROM \"Node\" WHERE _id = 1 AND TRUE"
            case reliesOnChanged = "UPDATE \"Node\" SET value = 5 WHERE _id = 1"
            case changesChanged = "UPDATE \"Node\" SET value = 5 WHERE _id = 1 AND TRUE"
            case endOfSameList = "SELECT 1 FROM \"Node\" WHERE _id = 1 FOR NO KEY UPDATE"
            case deletesLinked = "SELECT 1 FROM \"Node\" WHERE _id = 1 FOR KEY SHARE"
            case removesSameLink = "DELETE FROM \"Node_fans\""
            case sameMetadata = "UPDATE _roost_metadata SET value = value WHERE name = 'user'"
            case keysThatWereNotReserved = "SELECT 1 FROM _roost_keys FOR UPDATE"
        }

        private func change(_ meet: Meet, of model: ManagedObjectModel) throws -> ChangeSet {
            var changes = ChangeSet(model: model)
            let (friends, list) = (RelationshipName("Node", name: "friends"), RelationshipName("Node", name: "list"))
            switch meet {
            case .linkToDeleted: try changes.add(Link(3, 1), to: friends)
            case .referenceToDeleted:
                try changes.update(node(3), version: 1, values: ["value": 1, "parent": .objectID(node(1))])
                changes.existing = [node(1)]
            case .reliesOnChanged:
                try changes.update(node(3), version: 1, values: ["value": 1])
                changes.unchanged.append(.init(node(1), version: 1))
            case .changesChanged: try changes.update(node(1), version: 1, values: ["value": 1])
            case .endOfSameList:
                changes.lastPlaces.append(.init(node(1), in: list, place: nil))
                try changes.add(Link(1, 2, order: 1), to: list)
            case .deletesLinked: changes.delete(node(1), version: 1)
            case .removesSameLink: try changes.remove(Link(2, 3), from: friends)
            case .sameMetadata: changes.userMetadata = ["entry": .int(1)]
            case .keysThatWereNotReserved: try changes.insert(node(1000), values: ["value": 1])
            }
            return changes
        }

        @Test("a commit is busy while a transaction that it depends on is unfinished", arguments: Meet.allCases)
        func waitsForShared(meet: Meet) throws {
            let meeting = try Meeting(nodeCount: 3)
            defer { meeting.destroy() }
            var link = ChangeSet(model: meeting.model)
            try link.add(Link(2, 3), to: RelationshipName("Node", name: "friends"))
            _ = try meeting.store.commit(link)
            let other = try meeting.session(running: meet.rawValue)
            defer { other.close() }
            let hasty = try meeting.open(timeoutSeconds: 0.2)
            defer { try? hasty.close() }
            let changes = try change(meet, of: meeting.model)
            #expect {
                _ = try hasty.commit(changes)
            } throws: {
                ($0 as? StoreError)?.code == .busy
            }
            try other.query("ROLLBACK")
            let receipt = try meeting.store.commit(changes)
            #expect(receipt.hasChanges)
            try meeting.requireSound()
        }

        @Test("a bulk load and a commit exclude each other")
        func waits() throws {
            let meeting = try Meeting(nodeCount: 3)
            defer { meeting.destroy() }
            let store = meeting.store
            let other = try meeting.session(
                running: "SELECT 1 FROM _roost_tallies WHERE kind = 'generation' AND place = 7 FOR UPDATE")
            let hasty = try meeting.open(timeoutSeconds: 0.2)
            defer { try? hasty.close() }
            #expect {
                _ = try hasty.bulkLoader(BulkLoadOptions())
            } throws: {
                ($0 as? StoreError)?.code == .busy
            }
            other.close()
            let loader = try store.bulkLoader(BulkLoadOptions())
            #expect {
                try increment(1, in: hasty)
            } throws: {
                ($0 as? StoreError)?.code == .busy
            }
            loader.abandon()
            try increment(1, in: hasty)
        }

        @Test("more writers than commit places take turns and lose no commit", arguments: PostgreSQLProfile.allCases)
        func places(profile: PostgreSQLProfile) throws {
            let meeting = try Meeting(nodeCount: 40, profile: profile)
            defer { meeting.destroy() }
            let store = meeting.store
            let stores = try (0..<4).map { _ in try meeting.open() }
            onThreads(40) { number in
                for _ in 0..<3 { try increment(Int64(number + 1), in: stores[number % 4]) }
            }
            for store in stores { try store.close() }
            let snapshot = try store.snapshot()
            for key: Int64 in 1...40 {
                let value = try read(key, in: snapshot)?.values["value"]
                #expect(value == .int(3))
            }
            snapshot.close()
            try meeting.requireSound()
        }

        /// Runs writers in processes, and returns the generations of their insertions.
        private func write(
            inProcesses count: Int, threads: Int, rounds: Int, to location: StoreLocation, nodes: Int64
        ) throws -> [String] {
            let program = try #require(PeerProgram.besideTests("PostgreSQLPeer"))
            let running = try (0..<count).map { number in
                let process = Process()
                let output = Pipe()
                process.executableURL = URL(fileURLWithPath: program.path)
                process.arguments = ["writers", location.path] + [threads, number * threads, rounds].map(String.init)
                process.arguments?.append("\(nodes)")
                process.standardOutput = output
                try process.run()
                return (process, output)
            }
            let texts = Mutex<[String]>([])
            // All outputs are read at once, because a full pipe would stop its process.
            onThreads(count) { number in
                let data = running[number].1.fileHandleForReading.readDataToEndOfFile()
                texts.withLock { $0.append(String(decoding: data, as: UTF8.self)) }
            }
            for (process, _) in running {
                process.waitUntilExit()
                #expect(process.terminationStatus == 0)
            }
            return texts.withLock { $0 }.flatMap { $0.split(separator: "\n").map(String.init) }
        }

        /// `ROOST_POSTGRES_INCREMENTS` sets the number of increments of each thread.
        ///
        /// Then each process has four threads, not two, and there are 1 000 counters, not 10. With
        /// a history, each thread makes a tenth of the increments.
        @Test(
            "increments and inserts from eight processes take effect once each", arguments: [false, true],
            PostgreSQLProfile.allCases)
        func increments(tracksHistory: Bool, profile: PostgreSQLProfile) throws {
            let isLong = ProcessInfo.processInfo.environment["ROOST_POSTGRES_INCREMENTS"] != nil
            let counters: Int64 = isLong ? 1000 : 10
            let meeting = try Meeting(nodeCount: counters, tracksHistory: tracksHistory, profile: profile)
            defer { meeting.destroy() }
            let store = meeting.store
            let (processes, threads) = (8, isLong ? 4 : 2)
            let count = Int(ProcessInfo.processInfo.environment["ROOST_POSTGRES_INCREMENTS"] ?? "40") ?? 40
            let rounds = isLong && tracksHistory ? count / 10 : count
            let generations = try write(
                inProcesses: processes, threads: threads, rounds: rounds, to: meeting.location, nodes: counters)
            #expect(generations.count == processes * threads * rounds)
            #expect(Set(generations).count == generations.count)
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            var sum: Int64 = 0
            for key in 1...counters {
                if case .int(let value)? = try read(key, in: snapshot)?.values["value"] { sum += value }
            }
            #expect(sum == Int64(processes * threads * rounds))
            let recorded = try snapshot.recordedTally()
            #expect(recorded?.entities[0].count == Int(counters) + processes * threads * rounds)
            if tracksHistory {
                let history = try Store(store, registry: StoreRegistry()).history(after: nil)
                let count = history.reduce(0) { $0 + $1.changes.count }
                #expect(count == Int(counters) + 2 * processes * threads * rounds)
            }
            try meeting.requireSound()
        }

        @Test("writers of the portable profile continue if the server's memory for their locks is used up")
        func fewLocks() throws {
            let server = try OwnServer(options: "-c max_connections=40 -c max_pred_locks_per_transaction=10")
            let location = StoreLocation(type: "postgresql", path: "\(server.parameters) schema=few")
            let counters: Int64 = 200
            let store = try PostgreSQLStoreType().create(
                location, model: try Meeting.model(), options: PostgreSQLServer.options(.portable))
            var changes = ChangeSet(model: store.model)
            for key in 1...counters { try changes.insert(node(key), values: ["value": 0]) }
            _ = try store.commit(changes)
            // While the transaction below runs, the server keeps the locks of all later
            // transactions.
            let (threads, rounds) = (4, 400)
            let progress = Mutex((rounds: 0, isOver: false))
            let isRunning = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                do {
                    let place = try PostgreSQLLocation(location.path)
                    let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
                    defer { connection.close() }
                    try connection.query("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM _roost_tallies")
                    isRunning.signal()
                    // Ends the transaction after the writers have waited for a second, or have ended.
                    var (last, checks) = (-1, 0)
                    while checks < 20 {
                        usleep(50_000)
                        let now = progress.withLock { $0 }
                        if now.isOver { break }
                        checks = now.rounds == last && now.rounds > 0 ? checks + 1 : 0
                        last = now.rounds
                    }
                } catch {
                    Issue.record("The other transaction failed: \(error)")
                    isRunning.signal()
                }
            }
            isRunning.wait()
            onThreads(threads) { number in
                for round in 0..<rounds {
                    try increment(Int64((round * 7 + number * 50) % 200 + 1), in: store)
                    progress.withLock { $0.rounds += 1 }
                }
            }
            progress.withLock { $0.isOver = true }
            let snapshot = try store.snapshot()
            var sum: Int64 = 0
            for key in 1...counters {
                if case .int(let value)? = try read(key, in: snapshot)?.values["value"] { sum += value }
            }
            #expect(sum == Int64(threads * rounds))
            snapshot.close()
            try store.close()
        }

        @Test("the receipt of a commit names the generation of the previous commit")
        func receipts() throws {
            let meeting = try Meeting(nodeCount: 0)
            defer { meeting.destroy() }
            let (first, second) = (meeting.store, try meeting.open())
            defer { try? second.close() }
            let a = try insert(1, in: first)
            let b = try insert(2, in: second)
            #expect(b.previousGeneration == a.generation)
            let snapshot = try first.snapshot()
            let recorded = try snapshot.recordedTally()
            #expect(recorded?.generation == b.generation)
            snapshot.close()
        }

        @Test(
            "no entry of the metadata is lost if many commits set entries at once",
            arguments: PostgreSQLProfile.allCases)
        func metadata(profile: PostgreSQLProfile) throws {
            let meeting = try Meeting(nodeCount: 0, profile: profile)
            defer { meeting.destroy() }
            let stores = try (0..<4).map { _ in try meeting.open() }
            onThreads(12) { number in
                for round in 0..<5 {
                    var changes = ChangeSet(model: meeting.model)
                    changes.userMetadata = ["entry \(number) \(round)": .int(1)]
                    _ = try stores[number % 4].commit(changes)
                }
            }
            for store in stores { try store.close() }
            let metadata = try meeting.store.metadata()
            #expect(metadata.userMetadata.count == 60)
            try meeting.requireSound()
        }

        @Test("a program that commits on one thread removes old keys of commits")
        func removesOldKeys() throws {
            let meeting = try Meeting(nodeCount: 1)
            defer { meeting.destroy() }
            let session = try meeting.session(
                running:
                    "INSERT INTO _roost_commits (id, at) VALUES ('00000000-0000-4000-8000-000000000001', clock_timestamp() - interval '2 days'); COMMIT"
            )
            defer { session.close() }
            func oldCount() throws -> String? {
                try session.query(
                    "SELECT count(*) FROM _roost_commits WHERE at < clock_timestamp() - interval '1 day'"
                ).text(0, column: 0)
            }
            #expect(try oldCount() == "1")
            for number in 0..<PostgreSQLDatabase.commitsPerSweep {
                var changes = ChangeSet(model: meeting.model)
                changes.userMetadata = ["number": .int(Int64(number))]
                _ = try meeting.store.commit(changes)
            }
            #expect(try oldCount() == "0")
        }
    }
#endif
