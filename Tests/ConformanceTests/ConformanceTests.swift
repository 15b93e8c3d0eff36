import RoostConformance
import RoostCore
import Testing

@Suite("Conformance")
struct ConformanceTests {
    /// Each check and backend is a named case; a check of a missing capability runs as its
    /// opposite.
    @Test("a built-in store passes every conformance check", arguments: ConformanceCheck.all, StoreFixture.all)
    func check(_ check: ConformanceCheck, on fixture: StoreFixture) async throws {
        let result = await Results.shared.result(of: check, on: fixture)
        if case .failed(let failure) = result.outcome { throw failure }
    }

    @Test("records copy between any two writable stores", arguments: StoreFixture.pairs)
    func copying(from source: StoreFixture, to target: StoreFixture) throws {
        try CrossStoreChecks.copy(from: source, to: target, seed: 2_026)
    }
}
