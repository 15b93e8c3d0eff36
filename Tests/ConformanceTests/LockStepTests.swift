import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

@Suite("Lock-step")
struct LockStepTests {
    /// Every backend that can be written, with files in memory if the system supports that.
    ///
    /// On a disk, thousands of commits would mostly wait, and no test simulates a power cut.
    private static let fixtures = StoreFixture.writable.map { fixture in
        let (type, directory) = (fixture.name, "/dev/shm")
        guard FileManager.default.isWritableFile(atPath: directory) else { return fixture }
        return StoreFixture(fixture.type, keepsClosedStores: fixture.keepsClosedStores).with {
            $0.makeLocation = { bench, name in
                StoreLocation(type: type, path: "\(directory)/\(URL(fileURLWithPath: bench).lastPathComponent)-\(name)")
            }
        }
    }

    /// A failure names the seed and prints a shortened failing sequence as Swift code.
    ///
    /// `ROOST_LOCKSTEP_SEED` repeats a run, and `ROOST_LOCKSTEP_OPERATIONS` sets its length.
    @Test("all stores match a plain model after random operations")
    func lockStep() throws {
        let seed = RandomSeed.named("ROOST_LOCKSTEP_SEED")
        let count = ProcessInfo.processInfo.environment["ROOST_LOCKSTEP_OPERATIONS"].flatMap { Int($0) } ?? 5_000
        let fixtures = Self.fixtures
        print("lock-step on \(fixtures.map(\.name)): ROOST_LOCKSTEP_SEED=\(seed)")
        let summary = try LockStep.run(on: fixtures, seed: seed, operationCount: count)
        print("lock-step: \(summary)")
        #expect(summary.operationCount == count)
        // If most commits were refused, or none, the run would prove little.
        #expect(summary.writtenCount > summary.refusedCount)
        #expect(count < 1000 || summary.refusedCount * 20 > summary.writtenCount)
    }

    private static func memory() throws -> StoreFixture {
        try #require(StoreFixture.writable.first { $0.name == "memory" })
    }

    @Test("a random sequence of operations stays valid if some operations are left out")
    func partsOfSequences() throws {
        let operations = try LockStep.operations(seed: 20, count: 400)
        #expect(try LockStep.operations(seed: 20, count: 400) == operations)
        #expect(try LockStep.operations(seed: 21, count: 400) != operations)
        var random = SeededGenerator(seed: 20)
        for _ in 0..<25 {
            let share = 2 + random.below(9)
            try LockStep.replay(operations.filter { _ in !random.oneIn(share) }, on: [try Self.memory()])
        }
    }

    @Test(
        "lock-step finds a faulty store and shrinks the failure to a few operations",
        arguments: [
            (FaultyStoreType.Fault.truncatesAtNUL, 2), (.losesLastRecord, 4), (.dropsLastLink, 6), (.ignoresOrder, 4),
            (.followsThreeValuedLogic, 3), (.ignoresVersions, 4), (.admitsTakenValues, 3), (.writesHalf, 3),
            (.forgetsMetadata, 3), (.reusesKeys, 2), (.showsLaterCommits, 4), (.keepsAbandonedLoads, 2),
            (.losesLastCommit, 3),
        ])
    func shrinking(_ fault: FaultyStoreType.Fault, atMost count: Int) throws {
        let fixture = try Self.memory().faulty(fault)
        let failure = try #require(throws: LockStepFailure.self) {
            try LockStep.run(on: [fixture], seed: 1, operationCount: 6000)
        }
        #expect(failure.operations.count <= count, "\(failure)")
        // The short sequence shows the fault again and passes on stores without the fault.
        #expect(throws: ConformanceFailure.self) { try LockStep.replay(failure.operations, on: [fixture]) }
        try LockStep.replay(failure.operations, on: Self.fixtures)
        // Without any one operation, the rest passes or fails differently.
        for index in failure.operations.indices {
            var fewer = failure.operations
            fewer.remove(at: index)
            do throws(ConformanceFailure) {
                try LockStep.replay(fewer, on: [fixture])
            } catch {
                #expect(error.expected != failure.failure.expected, "\(failure)")
            }
        }
        #expect(failure.description.contains("ROOST_LOCKSTEP_SEED=1"))
    }

    /// `LockStepExample.swift` holds the code printed for this fault, so the compiler checks it.
    @Test("code printed by a lock-step failure passes on sound stores and fails on the faulty one")
    func printedCode() throws {
        let faulty = try Self.memory().faulty(.leavesLinks)
        let failure = try #require(throws: LockStepFailure.self) {
            try LockStep.run(on: [faulty], seed: 1, operationCount: 6000)
        }
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("LockStepExample.swift")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("func lockStepExample") })
        let body = lines[(start + 1)...].prefix { $0 != "}" }.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(body == failure.swiftCode.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
        for fixture in StoreFixture.writable { try lockStepExample(on: fixture) }
        withKnownIssue { try lockStepExample(on: faulty) }
    }
}
