import RoostConformance
import RoostCore
import Testing

@Suite("Conformance")
struct ConformanceTests {
    /// Each check on each backend is a test case; if the backend lacks a needed capability, the
    /// opposite is checked.
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
