import Foundation
import RoostConformance
import RoostCore
import Testing

/// What power cuts, kills and failing calls leave of a store while another one takes its place (RELIABILITY §3).
///
/// The normal run looks at a sample. `ROOST_CRASH_STATES` sets the number of states of each case, or `all`; `ROOST_CRASH_FAULTS` the
/// number of failing calls, or `all`; `ROOST_CRASH_KILLS` the number of kills; `ROOST_CRASH_SEED` repeats a run.
@Suite("Crash lab", .serialized, .enabled(if: CrashLab.works, "calls can be recorded only on Linux with glibc"))
struct CrashLabTests {
    /// One operation between two types of store.
    struct Case: Sendable, CustomTestStringConvertible {
        let operation: CrashLab.Operation
        let source: String
        let store: String

        var testDescription: String {
            operation == .convert ? "convert \(source) to \(store)" : "\(operation) \(store)"
        }

        static let all: [Case] =
            FileBackends.all.flatMap { source in
                FileBackends.all.map { Case(operation: .convert, source: source, store: $0) }
            }
            + [CrashLab.Operation.replace, .migrate, .migrateKeepingBackup].flatMap { operation in
                FileBackends.all.map { Case(operation: operation, source: $0, store: $0) }
            }

        /// All of them in a long campaign; else every third, another third in each run.
        static let some: [Case] = {
            guard CrashLabTests.limit("ROOST_CRASH_FAULTS", usually: 0) == 0 else { return all }
            let first = Int.random(in: 0..<3)
            return all.indices.filter { $0 % 3 == first }.map { all[$0] }
        }()

        func lab(transactions: Int64 = 6) throws -> CrashLab {
            try CrashLab(operation, from: source, to: store, transactions: transactions)
        }
    }

    /// A number from the environment; nil for `all`.
    fileprivate static func limit(_ variable: String, usually: Int) -> Int? {
        guard let text = ProcessInfo.processInfo.environment[variable] else { return usually }
        return text == "all" ? nil : Int(text) ?? usually
    }

    /// Under both models of a file system.
    @Test("a power cut leaves the old store or the new one, and the same command finishes", arguments: Case.all)
    func powerCuts(_ subject: Case) throws {
        let seed = seed(named: "ROOST_CRASH_SEED")
        let limit = Self.limit("ROOST_CRASH_STATES", usually: 4)
        // Some protocols fail at some sizes of stores only.
        let sizes: [Int64] = limit == nil ? [1, 6, 14] : [Int64(1 + seed % 8)]
        for transactions in sizes {
            let lab = try subject.lab(transactions: transactions)
            for model in DiskModel.allCases {
                let (count, findings) = try lab.findings(model, limit: limit, seed: seed)
                let place =
                    "\(subject.testDescription), \(model), \(transactions) transactions, ROOST_CRASH_SEED=\(seed)"
                print("power cuts, \(place): \(count) states")
                #expect(count > 0)
                for (kind, found) in findings {
                    Issue.record("\(place): \(found.count) × \(kind), first \(found.first)")
                }
            }
        }
    }

    @Test("a process that is killed at any call leaves the old store or the new one, and the same command finishes")
    func kills() throws {
        let seed = seed(named: "ROOST_CRASH_SEED")
        var random = SeededGenerator(seed: seed)
        let kills = Self.limit("ROOST_CRASH_KILLS", usually: 10) ?? 100
        print("kills: ROOST_CRASH_SEED=\(seed)")
        let classes = Set(CrashLab.Fault.Class.allCases)
        var labs: [(subject: Case, lab: CrashLab, calls: Int)] = []
        for number in 0..<kills {
            if labs.count < (kills > 10 ? Case.all.count : 3) {
                let subject = Case.all[(number + Int(seed % 100)) % Case.all.count]
                let lab = try subject.lab()
                // A fault that no call reaches only counts them.
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
            // Two threads work at once, so a run may need a call less than another one.
            #expect(
                run.status == -9 || (run.status == 0 && fault.number > calls - 5),
                "\(place): \(run.status) \(run.errors)")
            if let problem = try lab.check(run.root, isAcknowledged: run.status == 0) {
                Issue.record("\(place): \(problem)")
            }
        }
    }

    /// Each kind of call fails once, or from then on for good.
    @Test(
        "a call that fails leaves the old store or the new one, says so, and the same command finishes",
        arguments: Case.some)
    func faults(_ subject: Case) throws {
        let seed = seed(named: "ROOST_CRASH_SEED")
        var random = SeededGenerator(seed: seed)
        let limit = Self.limit("ROOST_CRASH_FAULTS", usually: 4)
        let lab = try subject.lab()
        let kinds: [(code: Int32, classes: Set<CrashLab.Fault.Class>)] = [
            (ENOSPC, [.write, .truncate, .create]), (EIO, Set(CrashLab.Fault.Class.allCases)),
        ]
        var (count, failures) = (0, 0)
        for (code, classes) in kinds {
            let counted = try lab.run(CrashLab.Fault(classes: classes, number: .max, action: .error(code)))
            lab.discard(counted)
            let calls = try #require(counted.callCount)
            var numbers = Array(1..<calls + 1)
            if let limit, limit < calls { numbers = (0..<limit).map { _ in 1 + random.below(calls) } }
            for number in numbers {
                for isSticky in limit == nil ? [false, true] : [random.below(2) == 0] {
                    let fault = CrashLab.Fault(
                        classes: classes, number: number, action: .error(code), isSticky: isSticky)
                    let run = try lab.run(fault)
                    defer { lab.discard(run) }
                    count += 1
                    let place =
                        "\(subject.testDescription), seed \(seed), \(String(cString: strerror(code))) at call \(number) of \(calls)\(isSticky ? " and later" : "")"
                    #expect(run.status == 0 || run.status == 3, "\(place): \(run.status) \(run.errors)")
                    if run.status != 0 {
                        failures += 1
                        #expect(run.errors.hasPrefix("CrashLabChild: "), "\(place): \(run.errors)")
                    }
                    if let problem = try lab.check(run.root, isAcknowledged: run.status == 0) {
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

    /// The lab itself: it must see what a protocol without flushes comes to.
    ///
    /// Of two flushes of one file in a row either may be left out; without the last one, that of the directory, a store that was
    /// acknowledged is lost.
    @Test("the lab notices flushes that are left out", arguments: FileBackends.all)
    func missingFlushes(_ type: String) throws {
        let lab = try Case(operation: .convert, source: "json", store: type).lab()
        var fault = CrashLab.Fault(classes: [.sync], number: .max, action: .skip)
        let counted = try lab.run(fault)
        lab.discard(counted)
        fault.number = try #require(counted.callCount)
        let last = try lab.findings(.strict, fault: fault, limit: 1, seed: 1).findings
        #expect(last["lost"] != nil, "without the last flush: \(last)")
        (fault.number, fault.isSticky) = (1, true)
        let all = try lab.findings(.strict, fault: fault, limit: 30, seed: 1).findings
        #expect(all.keys.contains { $0 != "lost" }, "without any flush: \(all)")
    }
}
