#if PostgreSQL
    import CWriters
    import Foundation
    import Roost
    import RoostCore

    // Measures durable commits of 1, 2, 4 and 8 threads to one store on a PostgreSQL server, and
    // compares them with a C program that writes the same rows.
    //
    // Each commit increments a counter or inserts an object. The programs run in pairs, and each
    // pair reverses the order of the previous one. The median of the pairs' ratios counts, because
    // other work of the machine often affects both runs of a pair, but not all pairs.

    /// The minimum rate of Roost, as a fraction of C's rate.
    let limit = 0.8
    /// The number of runs of each program; odd, so that one ratio is the median.
    let pairCount = 7
    let counterCount: Int64 = 1000

    struct Failure: Error { let text: String }

    let model = try ManagedObjectModel(entities: [
        EntityDescription("Counter", attributes: [AttributeDescription("value", type: .integer64)])
    ])

    /// Commits on one thread, which uses its own counters, so that it knows their versions.
    func write(_ store: any PersistentStore, number: Int, of threadCount: Int, commitCount: Int) throws {
        let slotCount = Int(counterCount) / threadCount
        var values = [Int64](repeating: 0, count: slotCount)
        for index in 0..<commitCount {
            var changes = ChangeSet(model: model)
            if index % 2 == 0 {
                let slot = (index / 2) % slotCount
                let id = ObjectID("Counter", key: Int64(slot * threadCount + number + 1))
                try changes.update(id, version: UInt32(values[slot] + 1), values: ["value": .int(values[slot] + 1)])
                values[slot] += 1
            } else {
                let key = try store.reserveKeys(1, for: "Counter").lowerBound
                try changes.insert(ObjectID("Counter", key: key), values: ["value": 1])
            }
            _ = try store.commit(changes)
        }
    }

    /// Runs `body` on several threads; throws the first error.
    func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let group = DispatchGroup()
        let errors = NSLock()
        // Proof: `failure` is used only while `errors` is locked, and after all threads have left `group`.
        nonisolated(unsafe) var failure: (any Error)?
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do { try body(number) } catch { errors.withLock { failure = failure ?? error } }
            }
        }
        group.wait()
        if let failure { throw failure }
    }

    func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return start.duration(to: .now) / .seconds(1)
    }

    guard let parameters = ProcessInfo.processInfo.environment["ROOST_POSTGRES"], !parameters.isEmpty else {
        print("ROOST_POSTGRES names no server; skipped.")
        exit(0)
    }
    let commitCount = Int(ProcessInfo.processInfo.environment["COMMITS"] ?? "") ?? 4000
    let location = StoreLocation(type: "postgresql", path: "\(parameters) schema=roost_writers")

    func runRoost(threadCount: Int, commits: Int) throws -> Double {
        try? StoreRegistry.standard.type(named: location.type).destroy(location)
        let store = try StoreRegistry.standard.create(location, model: model)
        defer { try? StoreRegistry.standard.type(named: location.type).destroy(location) }
        var changes = ChangeSet(model: model)
        for key in 1...counterCount { try changes.insert(ObjectID("Counter", key: key), values: ["value": 0]) }
        _ = try store.commit(changes)
        let time = try seconds {
            try onThreads(threadCount) { number in
                try write(store, number: number, of: threadCount, commitCount: commits)
            }
        }
        let snapshot = try store.snapshot()
        let (recorded, counted) = (try snapshot.recordedTally(), try snapshot.computeTally())
        guard recorded == counted, counted.entities[0].count == Int(counterCount) + commits / 2 * threadCount else {
            throw Failure(text: "The tallies or the number of objects are wrong.")
        }
        snapshot.close()
        try store.close()
        return time
    }

    func runC(threadCount: Int, commits: Int) throws -> Double {
        try parameters.withCString { parameters in
            var run = writers_run()
            run.parameters = parameters
            run.thread_count = Int32(threadCount)
            run.commit_count = Int64(commits)
            func require(_ code: Int32) throws {
                guard code == 0 else {
                    throw Failure(
                        text: withUnsafeBytes(of: run.error) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
                }
            }
            try require(writers_prepare(&run))
            var code: Int32 = 0
            let time = seconds { code = writers_commit(&run) }
            try require(code)
            try require(writers_finish(&run))
            return time
        }
    }

    var isWithin = true
    print("threads   C commits/s   Roost commits/s   Roost/C (at least \(limit))")
    for threadCount in [1, 2, 4, 8] {
        let commits = commitCount / threadCount / 2 * 2
        var pairs: [(c: Double, roost: Double)] = []
        for number in 0..<pairCount {
            func timeOfC() throws -> Double { try runC(threadCount: threadCount, commits: commits) }
            func timeOfRoost() throws -> Double { try runRoost(threadCount: threadCount, commits: commits) }
            if number % 2 == 0 {
                let c = try timeOfC()
                pairs.append((c, try timeOfRoost()))
            } else {
                let roost = try timeOfRoost()
                pairs.append((try timeOfC(), roost))
            }
        }
        func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }
        func rate(_ times: [Double]) -> Double { Double(commits * threadCount) / median(times) }
        let ratio = median(pairs.map { $0.c / $0.roost })
        isWithin = isWithin && ratio >= limit
        let numbers = [rate(pairs.map(\.c)), rate(pairs.map(\.roost)), ratio]
            .map { String(format: $0 < 10 ? "%.2f" : "%.0f", $0) }
        print("\(threadCount)\t\(numbers[0])\t\(numbers[1])\t\(numbers[2])")
    }
    exit(isWithin ? 0 : 1)
#else
    print("Built without the trait PostgreSQL; nothing is measured.")
#endif
