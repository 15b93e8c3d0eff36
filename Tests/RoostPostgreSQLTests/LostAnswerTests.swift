#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostSystem
    import Testing

    @testable import RoostPostgreSQL

    @Suite(
        "Commits to PostgreSQL whose answer is lost",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct LostAnswerTests {
        private static let counters = 8

        private func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Counter", attributes: [AttributeDescription("value", type: .integer64, isOptional: false)])
            ])
        }

        private func withStore(
            _ profile: PostgreSQLProfile = .postgresql, timeoutSeconds: Double = 60,
            _ body: (any PersistentStore, Proxy, StoreLocation) throws -> Void
        ) throws {
            let proxy = try Proxy(host: try #require(PostgreSQLServer.host))
            defer { proxy.stop() }
            let type = PostgreSQLStoreType()
            let location = PostgreSQLServer.location()
            let throughProxy = StoreLocation(
                type: type.name,
                path: location.path.replacing("host=\(PostgreSQLServer.host ?? "")", with: "host=\(proxy.directory)"))
            let store = try type.create(
                throughProxy, model: try model(),
                options: PostgreSQLServer.options(profile, timeoutSeconds: timeoutSeconds))
            defer {
                proxy.set(.passing)
                try? store.close()
                try? type.destroy(location)
            }
            var changes = ChangeSet(model: store.model)
            for key in 1...Int64(Self.counters) + 1 {
                try changes.insert(ObjectID("Counter", key: key), values: ["value": 0])
            }
            _ = try store.commit(changes)
            try body(store, proxy, location)
        }

        /// The number of lost messages in a test.
        private static let rounds = Int64(ProcessInfo.processInfo.environment["ROOST_POSTGRES_KILLS"] ?? "") ?? 20

        /// Commits three times, so that the connection has prepared its statements.
        private func warmUp(_ store: any PersistentStore) throws {
            for _ in 0..<3 { try increment(Int64(Self.counters) + 1, in: store) }
        }

        private func increment(_ key: Int64, in store: any PersistentStore) throws(StoreError) {
            let id = ObjectID("Counter", key: key)
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            var batch = RecordBatch(model: store.model)
            guard try snapshot.record(with: id, into: &batch) else { throw StoreError(.objectNotFound, "no counter") }
            let record = batch.record(at: 0)
            var changes = ChangeSet(model: store.model)
            guard case .int(let value)? = record.values()["value"] else { throw StoreError(.corrupted, "no value") }
            try changes.update(id, version: record.version, values: ["value": .int(value + 1)])
            _ = try store.commit(changes)
        }

        private func values(_ location: StoreLocation) throws -> [Int64] {
            let store = try PostgreSQLStoreType().open(location, options: StoreOptions(isReadOnly: true))
            defer { try? store.close() }
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let cursor = try snapshot.records(of: "Counter", after: nil)
            var batch = RecordBatch(model: store.model)
            var values: [Int64] = []
            while try cursor.next(into: &batch) {
                for index in 0..<batch.count {
                    if case .int(let value)? = batch.record(at: index).values()["value"] { values.append(value) }
                }
            }
            return values
        }

        @Test(
            "a commit that the server executed succeeds exactly once although the answer is lost",
            arguments: PostgreSQLProfile.allCases)
        func committed(profile: PostgreSQLProfile) throws {
            try withStore(profile) { store, proxy, location in
                for round in 1...Self.rounds {
                    try warmUp(store)
                    proxy.set(.swallowingAnswer(to: "_commit\0"))
                    try increment(1, in: store)
                    #expect(try values(location)[0] == round)
                }
            }
        }

        @Test(
            "a commit that never reached the server fails with `ioFailure` and writes nothing",
            arguments: PostgreSQLProfile.allCases)
        func lost(profile: PostgreSQLProfile) throws {
            try withStore(profile) { store, proxy, location in
                for round in 1...Self.rounds {
                    try warmUp(store)
                    proxy.set(.swallowing("_commit\0"))
                    #expect {
                        try increment(1, in: store)
                    } throws: { error in
                        (error as? StoreError)?.code == .ioFailure
                            && (error as? StoreError)?.message.contains("Nothing was written") == true
                    }
                    #expect(try values(location)[0] == round - 1)
                    try increment(1, in: store)
                }
            }
        }

        @Test(
            "a commit's outcome is found even if the first reply to the query for the outcome is also lost",
            arguments: PostgreSQLProfile.allCases)
        func lostTwice(profile: PostgreSQLProfile) throws {
            try withStore(profile) { store, proxy, location in
                for round in 1...Int64(5) {
                    try warmUp(store)
                    proxy.set(.swallowing("_commit\0"), then: .swallowingAnswer(to: "is_fence"))
                    #expect {
                        try increment(1, in: store)
                    } throws: { error in
                        (error as? StoreError)?.code == .ioFailure
                    }
                    let refused = try values(location)
                    #expect(refused[0] == round - 1)
                    try warmUp(store)
                    proxy.set(.swallowingAnswer(to: "_commit\0"), then: .swallowingAnswer(to: "is_fence"))
                    try increment(1, in: store)
                    let done = try values(location)
                    #expect(done[0] == round)
                }
            }
        }

        @Test(
            "no acknowledged commit is lost or doubled if connections end at any moment",
            arguments: PostgreSQLProfile.allCases)
        func terminated(profile: PostgreSQLProfile) throws {
            try withStore(profile) { store, proxy, location in
                // With these intervals some commits finish, and some questions about their outcome
                // fail.
                proxy.cut(every: 1...60)
                var (acknowledged, unknown) = (Int64(0), Int64(0))
                for _ in 0..<200 {
                    do throws(StoreError) {
                        try increment(1, in: store)
                        acknowledged += 1
                    } catch {
                        if error.code == .outcomeUnknown { unknown += 1 }
                        // A lost connection cannot extend a lease, so commits on a slow machine can fail with `busy`.
                        let codes: [StoreError.Code] = [.ioFailure, .outcomeUnknown, .closed, .timedOut, .busy]
                        #expect(codes.contains(error.code), "\(error)")
                    }
                }
                proxy.cut(every: nil)
                let value = try values(location)[0]
                #expect(acknowledged > 0)
                #expect((acknowledged...acknowledged + unknown).contains(value), "\(acknowledged) \(unknown) \(value)")
            }
        }

        @Test("a commit fails with `outcomeUnknown` if the server is unreachable until the timeout")
        func unknown() throws {
            try withStore(timeoutSeconds: 1) { store, proxy, location in
                try increment(2, in: store)
                try warmUp(store)
                proxy.set(.swallowingAnswerForGood(to: "_commit\0"))
                #expect {
                    try increment(2, in: store)
                } throws: { error in
                    (error as? StoreError)?.code == .outcomeUnknown
                }
                let found = try values(location)
                #expect(found[1] == 2)
            }
        }

        @Test("keys of a commit with an unknown outcome are not reserved again")
        func keysOfUnknownCommit() throws {
            try withStore(timeoutSeconds: 1) { store, proxy, location in
                let reserved = try store.reserveKeys(1, for: "Counter").lowerBound
                try warmUp(store)
                proxy.set(.swallowingAnswerForGood(to: "_commit\0"))
                var changes = ChangeSet(model: store.model)
                try changes.insert(ObjectID("Counter", key: reserved + 1), values: ["value": 0])
                let error = #expect(throws: StoreError.self) { try store.commit(changes) }
                #expect(error?.code == .outcomeUnknown)
                proxy.set(.passing)
                #expect(try store.reserveKeys(1, for: "Counter").lowerBound > reserved + 1)
            }
        }

        @Test(
            "a commit fails if the server answers with garbage, and a retry succeeds",
            arguments: [
                [UInt8](repeating: 0xFF, count: 64), Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
                [UInt8(ascii: "T"), 0, 0, 0, 4],
                [UInt8(ascii: "D"), 0x7F, 0xFF, 0xFF, 0xFF, 0, 1],
                [UInt8(ascii: "D"), 0, 0, 0, 30, 0, 2, 0, 0, 0, 8, 1, 2],
            ])
        func garbage(answer: [UInt8]) throws {
            try withStore { store, proxy, location in
                proxy.set(.answering(answer))
                #expect { try increment(1, in: store) } throws: { error in
                    [.ioFailure, .internalInconsistency, .corrupted].contains((error as? StoreError)?.code)
                }
                proxy.set(.passing)
                #expect(try values(location)[0] == 0)
                try increment(1, in: store)
                #expect(try values(location)[0] == 1)
            }
        }

        @Test("opening a store fails with `timedOut` if the server does not answer")
        func silence() throws {
            let proxy = try Proxy(host: try #require(PostgreSQLServer.host))
            defer { proxy.stop() }
            proxy.set(.silent)
            let path = "host=\(proxy.directory) dbname=roost user=roost schema=silent"
            #expect {
                _ = try PostgreSQLStoreType().open(
                    StoreLocation(type: "postgresql", path: path),
                    options: StoreOptions(typeOptions: ["connectTimeoutSeconds": "0.3"]))
            } throws: { ($0 as? StoreError)?.code == .timedOut }
        }

        @Test(
            "eight writers that increment counters at once lose and repeat no increment",
            arguments: PostgreSQLProfile.allCases)
        func manyWriters(profile: PostgreSQLProfile) throws {
            try withStore(profile) { _, _, location in
                let type = PostgreSQLStoreType()
                let failures = Mutex<[String]>([])
                let threads = (0..<8).map { number in
                    let group = DispatchGroup()
                    group.enter()
                    let thread = Thread {
                        defer { group.leave() }
                        do {
                            let store = try type.open(location, options: StoreOptions(timeoutSeconds: 60))
                            defer { try? store.close() }
                            var generator = SeededGenerator(seed: UInt64(number))
                            for _ in 0..<50 {
                                let key = Int64.random(in: 1...Int64(Self.counters), using: &generator)
                                while true {
                                    do {
                                        try increment(key, in: store)
                                        break
                                    } catch let error as StoreError where error.code == .conflict {
                                        continue
                                    }
                                }
                            }
                        } catch {
                            failures.withLock { $0.append("\(error)") }
                        }
                    }
                    thread.start()
                    return group
                }
                for group in threads { group.wait() }
                let errors = failures.withLock { $0 }
                #expect(errors.isEmpty, "\(errors)")
                let sum = try values(location).prefix(Self.counters).reduce(0, +)
                #expect(sum == 8 * 50)
            }
        }
    }
#endif
