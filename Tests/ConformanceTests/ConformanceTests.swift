import RoostConformance
import RoostCore
import Testing

@Suite("Conformance")
struct ConformanceTests {
    private static func fixture(_ name: String) -> StoreFixture? { StoreFixture.all.first { $0.name == name } }

    private func run(_ check: ConformanceCheck, on name: String) throws {
        let fixture = try #require(Self.fixture(name))
        if case .failed(let failure) = Results.shared.result(of: check, on: fixture).outcome { throw failure }
    }

    @Test(
        "an SQLite store passes every conformance check",
        .enabled(if: fixture("sqlite") != nil, "this type of store was left out of this build"),
        arguments: ConformanceCheck.all)
    func sqlite(check: ConformanceCheck) throws { try run(check, on: "sqlite") }

    @Test(
        "an LMDB store passes every conformance check",
        .enabled(if: fixture("lmdb") != nil, "this type of store was left out of this build"),
        arguments: ConformanceCheck.all)
    func lmdb(check: ConformanceCheck) throws { try run(check, on: "lmdb") }

    @Test(
        "a JSON store passes every conformance check",
        .enabled(if: fixture("json") != nil, "this type of store was left out of this build"),
        arguments: ConformanceCheck.all)
    func json(check: ConformanceCheck) throws { try run(check, on: "json") }

    @Test(
        "a store in memory passes every conformance check",
        .enabled(if: fixture("memory") != nil, "this type of store was left out of this build"),
        arguments: ConformanceCheck.all)
    func memory(check: ConformanceCheck) throws { try run(check, on: "memory") }

    @Test(
        "a Core Data store passes every conformance check",
        .enabled(if: fixture("coredata") != nil, "this type of store was left out of this build"),
        arguments: ConformanceCheck.all)
    func coreData(check: ConformanceCheck) throws { try run(check, on: "coredata") }

    @Test("each registered type of store without a server has a test of all checks")
    func types() {
        #expect(Set(StoreFixture.all.map(\.name)).isSubset(of: ["sqlite", "lmdb", "json", "memory", "coredata"]))
    }

    @Test("records copy between any two writable stores", arguments: StoreFixture.pairs)
    func copying(from source: StoreFixture, to target: StoreFixture) throws {
        try CrossStoreChecks.copy(from: source, to: target, seed: 2_026)
    }
}
