import Foundation
import RoostConformance
import RoostCore
import Testing

/// The effects of power cuts, kills, failing calls and early ends on a store that an operation
/// changes (RELIABILITY §3).
///
/// The normal run checks a sample. `ROOST_CRASH_STATES` sets the number of states of each case,
/// `ROOST_CRASH_FAULTS` the number of failing calls (both accept `all`), and `ROOST_CRASH_KILLS`
/// the number of kills. `ROOST_CRASH_SEED` repeats a run. `ROOST_CRASH_CASES` limits `Case.all` to
/// names that contain its value.
@Suite("Crash lab", .serialized, .enabled(if: CrashLab.works, "calls can be recorded only on Linux with glibc"))
struct CrashLabTests {
    /// One operation, and the types of its stores (equal if it has one store).
    struct Case: Sendable, CustomTestStringConvertible {
        let operation: CrashLab.Operation
        let source: String
        let store: String

        var testDescription: String {
            source == store && !operation.hasSource ? "\(operation) \(store)" : "\(operation) \(source) to \(store)"
        }

        static let all: [Case] = {
            let wanted = ProcessInfo.processInfo.environment["ROOST_CRASH_CASES"] ?? ""
            return CrashLab.Operation.allCases.flatMap { operation in
                FileBackends.all.flatMap { source in
                    FileBackends.all
                        // Only these operations convert between types.
                        .filter { operation == .convert || operation == .migrateInto || $0 == source }
                        .map { Case(operation: operation, source: source, store: $0) }
                }
            }.filter { wanted.isEmpty || $0.testDescription.contains(wanted) }
        }()

        /// The seed that selects ``some`` and the failing calls.
        static let faultSeed = seed(named: "ROOST_CRASH_SEED")

        /// All cases if `ROOST_CRASH_FAULTS` is set, and otherwise a random third of them.
        static let some: [Case] = {
            guard CrashLabTests.limit("ROOST_CRASH_FAULTS", usually: 0) == 0 else { return all }
            let first = Int(faultSeed % 3)
            return all.indices.filter { $0 % 3 == first }.map { all[$0] }
        }()

        func lab(transactions: Int64 = 6) throws -> CrashLab {
            try CrashLab(operation, from: source, to: store, transactions: transactions)
        }
    }

    /// Returns the number in an environment variable, nil for `all`, or `usually`.
    fileprivate static func limit(_ variable: String, usually: Int) -> Int? {
        guard let text = ProcessInfo.processInfo.environment[variable] else { return usually }
        return text == "all" ? nil : Int(text) ?? usually
    }

    @Test("a power cut leaves the old store or the new one, and a rerun finishes", arguments: Case.all)
    func powerCuts(_ subject: Case) throws {
        let seed = seed(named: "ROOST_CRASH_SEED")
        let limit = Self.limit("ROOST_CRASH_STATES", usually: 4)
        // Some faults show only at certain sizes of the store.
        let sizes: [Int64] = limit == nil ? [1, 6, 14] : [Int64(1 + seed % 8)]
        for transactions in sizes {
            let lab = try subject.lab(transactions: transactions)
            let run = try lab.run(recording: true)
            defer { lab.discard(run) }
            // With fewer transactions, the associations of a migration with policies need no file.
            if subject.operation == .migrateThroughVersions || subject.operation == .migrateInto, transactions > 6 {
                #expect(run.trace.records.contains { $0.path.contains("roost-spill") }, "\(subject.testDescription)")
            }
            try requireNothing(
                in: lab.findings(of: run, limit: limit, seed: seed),
                at: "power cuts, \(subject.testDescription), \(transactions) transactions, ROOST_CRASH_SEED=\(seed)")
        }
    }

    private func requireNothing(in examined: [CrashLab.Examined], at place: String) {
        // The strict model may allow no states besides those of the journaled model.
        #expect(examined.contains { $0.count > 0 }, "\(place)")
        for (model, count, findings) in examined {
            print("\(place), \(model): \(count) states")
            for (kind, found) in findings {
                Issue.record("\(place), \(model): \(found.count) × \(kind), first \(found.first)")
            }
        }
    }

    /// A power cut before or during the cleanup must leave the old store too.
    @Test(
        "a cancelled or failed migration leaves the old store, and a rerun finishes",
        arguments: FileBackends.all, [CrashLab.Operation.migrateThroughVersions, .migrateInto])
    func endings(type: String, operation: CrashLab.Operation) throws {
        let seed = seed(named: "ROOST_CRASH_SEED")
        let limit = Self.limit("ROOST_CRASH_STATES", usually: 4)
        let lab = try Case(operation: operation, source: type, store: type).lab()
        let counted = try lab.run()
        lab.discard(counted)
        func numbers(_ count: Int?) throws -> [Int] {
            let last = try #require(count) - 1
            return limit == nil ? (0...8).map { 1 + last * $0 / 8 } : [1 + Int(seed % UInt64(last + 1))]
        }
        let endings =
            try numbers(counted.reportCount).map { CrashLab.Ending.cancel($0) }
            + numbers(counted.questionCount).map { .failure($0) }
        for ending in endings {
            let run = try lab.run(ending: ending, recording: true)
            defer { lab.discard(run) }
            let place = "endings, \(operation) \(type), \(ending), ROOST_CRASH_SEED=\(seed)"
            #expect(run.status == 3, "\(place): \(run.status) \(run.errors)")
            try requireNothing(in: lab.findings(of: run, wasEnded: true, limit: limit ?? 40, seed: seed), at: place)
            if let problem = try lab.check(run.root, after: .old) { Issue.record("\(place): \(problem)") }
        }
    }

    @Test("a process killed at a random system call leaves the old store or the new one")
    func kills() throws {
        let seed = seed(named: "ROOST_CRASH_SEED")
        var random = SeededGenerator(seed: seed)
        let kills = Self.limit("ROOST_CRASH_KILLS", usually: 10) ?? 100
        print("kills: ROOST_CRASH_SEED=\(seed)")
        try #require(!Case.all.isEmpty)
        let classes = Set(CrashLab.Fault.Class.allCases)
        var labs: [(subject: Case, lab: CrashLab, calls: Int)] = []
        for number in 0..<kills {
            if labs.count < (kills > 10 ? Case.all.count : 3) {
                let subject = Case.all[(number + Int(seed % 100)) % Case.all.count]
                let lab = try subject.lab()
                // This fault never occurs, so the run only counts the calls.
                let counted = try lab.run(CrashLab.Fault(classes: classes, number: .max, action: .kill))
                lab.discard(counted)
                labs.append((subject, lab, try #require(counted.callCount)))
            }
            let (subject, lab, calls) = labs[number % labs.count]
            let fault = CrashLab.Fault(
                classes: classes, number: 1 + random.below(calls), action: random.below(2) == 0 ? .kill : .killAfter)
            let run = try lab.run(fault)
            defer { lab.discard(run) }
            let place = "\(subject.testDescription), seed \(seed), call \(fault.number) of \(calls)"
            // Two threads work at once, so the number of calls may vary between runs.
            #expect(
                run.status == -9 || (run.status == 0 && fault.number > calls - 5),
                "\(place): \(run.status) \(run.errors)")
            if let problem = try lab.check(run.root, after: run.status == 0 ? .new : .any) {
                Issue.record("\(place): \(problem)")
            }
        }
    }

    @Test(
        "two processes that run the same command leave a whole store; at least one finishes if neither is killed",
        arguments: [
            CrashLab.Operation.convert, .migrate, .migrateKeepingBackup, .migrateThroughVersions, .migrateInto,
        ],
        FileBackends.all)
    func together(_ operation: CrashLab.Operation, on type: String) throws {
        let seed = seed(named: "ROOST_CRASH_SEED")
        var random = SeededGenerator(seed: seed)
        let rounds = (Self.limit("ROOST_CRASH_KILLS", usually: 10) ?? 100) / 5
        let classes = Set(CrashLab.Fault.Class.allCases)
        let lab = try Case(operation: operation, source: type, store: type).lab()
        let counted = try lab.run(CrashLab.Fault(classes: classes, number: .max, action: .kill))
        lab.discard(counted)
        let calls = try #require(counted.callCount)
        var statuses: [String: Int] = [:]
        for round in 0..<rounds {
            // Every fourth round kills no process.
            let number = round % 4 == 0 ? .max : 1 + random.below(calls)
            let runs = try lab.runTwice(CrashLab.Fault(classes: classes, number: number, action: .kill))
            defer { lab.discard(runs[0]) }
            let place =
                "\(operation) \(type), round \(round), ROOST_CRASH_SEED=\(seed), call \(number) of \(calls)"
            statuses["\(runs[0].status) \(runs[1].status)", default: 0] += 1
            // In place, one process waits. Otherwise, either may find the store's name in use.
            let mayBeRefused = operation.hasSource
            for (index, run) in runs.enumerated() {
                #expect(
                    run.status == 0 || (run.status == -9 && index == 0)
                        || (run.status == 3 && mayBeRefused && run.errors.contains("busy: ")),
                    "\(place): process \(index) ended with \(run.status), \(run.errors)")
            }
            let isDone = runs.contains { $0.status == 0 }
            #expect(isDone || runs[0].status == -9, "\(place): neither process finished")
            if let problem = try lab.check(runs[0].root, after: isDone ? .new : .any) {
                Issue.record("\(place): \(problem)")
            }
        }
        print("together, \(operation) \(type): \(statuses), ROOST_CRASH_SEED=\(seed)")
    }

    /// A call fails, and in some runs all later calls of the same kinds fail too.
    @Test(
        "after a failing system call, an operation succeeds or reports an error, and the store is whole",
        arguments: Case.some)
    func faults(_ subject: Case) throws {
        let seed = Case.faultSeed
        var random = SeededGenerator(seed: seed)
        let limit = Self.limit("ROOST_CRASH_FAULTS", usually: 4)
        let lab = try subject.lab()
        let kinds: [(code: Int32, classes: Set<CrashLab.Fault.Class>)] = [
            (ENOSPC, [.write, .truncate, .create]), (EIO, Set(CrashLab.Fault.Class.allCases)),
        ]
        var (count, failures) = (0, 0)
        for (code, classes) in kinds {
            let counted = try lab.fail(CrashLab.Fault(classes: classes, number: .max, action: .error(code)))
            lab.discard(counted)
            let calls = try #require(counted.callCount)
            var numbers = Array(1..<calls + 1)
            if let limit, limit < calls { numbers = (0..<limit).map { _ in 1 + random.below(calls) } }
            for number in numbers {
                for isSticky in limit == nil ? [false, true] : [random.below(2) == 0] {
                    let fault = CrashLab.Fault(
                        classes: classes, number: number, action: .error(code), isSticky: isSticky)
                    let run = try lab.fail(fault)
                    defer { lab.discard(run) }
                    count += 1
                    let place =
                        "\(subject.testDescription), seed \(seed), \(String(cString: strerror(code))) at call \(number) of \(calls)\(isSticky ? " and later" : "")"
                    #expect(run.status == 0 || run.status == 3, "\(place): \(run.status) \(run.errors)")
                    if run.status != 0 {
                        failures += 1
                        #expect(run.errors.contains(": "), "\(place): \(run.errors)")
                    }
                    if let problem = try lab.check(run.root, after: run.status == 0 ? .new : .any) {
                        Issue.record("\(place): \(problem); it said \(run.errors)")
                    }
                }
            }
        }
        print(
            "faults, \(subject.testDescription): \(count) runs, \(failures) ended with an error, ROOST_CRASH_SEED=\(seed)"
        )
        #expect(failures > 0)
    }

    /// Without flushes of directories, an acknowledged store is lost.
    ///
    /// Without flushes of files, an incomplete store is published.
    @Test(
        "the crash lab finds the damage that missing flushes cause", arguments: FileBackends.all,
        [CrashLab.Operation.convert, .migrate, .migrateKeepingBackup])
    func missingFlushes(of type: String, during operation: CrashLab.Operation) throws {
        let lab = try Case(operation: operation, source: type, store: type).lab()
        func findings(without kind: CrashLab.Fault.Class) throws -> CrashLab.Findings {
            let run = try lab.run(
                CrashLab.Fault(classes: [kind], number: 1, action: .skip, isSticky: true), recording: true)
            defer { lab.discard(run) }
            #expect(try #require(run.callCount) > 0)
            return try lab.findings(of: run, models: [.strict], limit: 30, seed: 1).reduce(into: [:]) {
                found, examined in
                found.merge(examined.findings) { first, _ in first }
            }
        }
        let names = try findings(without: .syncDirectory)
        // SQLite migrates a store within its file, so no names change.
        if type != "sqlite" || operation != .migrate {
            #expect(names["lost"] != nil, "without flushes of directories: \(names)")
        }
        let files = try findings(without: .sync)
        #expect(files["unusable"] != nil, "without flushes of files: \(files)")
    }
}
