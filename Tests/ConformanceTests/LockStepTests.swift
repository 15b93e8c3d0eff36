import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

@Suite("Lock-step")
struct LockStepTests {
    /// A failure names the seed, and tells the shortest sequence it found as Swift code; `ROOST_LOCKSTEP_SEED` repeats a run.
    @Test("random operations leave all stores as they leave a plain model")
    func lockStep() throws {
        let seed = RandomSeed.named("ROOST_LOCKSTEP_SEED")
        let count = ProcessInfo.processInfo.environment["ROOST_LOCKSTEP_OPERATIONS"].flatMap { Int($0) } ?? 20_000
        let fixtures = StoreFixture.writable
        print("lock-step on \(fixtures.map(\.name)): ROOST_LOCKSTEP_SEED=\(seed)")
        let summary = try LockStep.run(on: fixtures, seed: seed, operationCount: count)
        print("lock-step: \(summary)")
        #expect(summary.operationCount == count)
        // Were most of the commits refused, or none, little would be tried.
        #expect(summary.writtenCount > summary.refusedCount)
        #expect(count < 1000 || summary.refusedCount * 20 > summary.writtenCount)
    }
}
