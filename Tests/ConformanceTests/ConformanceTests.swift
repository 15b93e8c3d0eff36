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

    /// A trait that skips a test if the type of store was left out of this build.
    private static func requires(_ name: String) -> ConditionTrait {
        .enabled(if: fixture(name) != nil, "this type of store was left out of this build")
    }

    @Test("an SQLite store passes every check of contents", requires("sqlite"), arguments: ConformanceCheck.ofContents)
    func sqliteContents(check: ConformanceCheck) throws { try run(check, on: "sqlite") }

    @Test("an SQLite store passes every check of reads", requires("sqlite"), arguments: ConformanceCheck.ofReads)
    func sqliteReads(check: ConformanceCheck) throws { try run(check, on: "sqlite") }

    @Test("an SQLite store passes every check of queries", requires("sqlite"), arguments: ConformanceCheck.ofQueries)
    func sqliteQueries(check: ConformanceCheck) throws { try run(check, on: "sqlite") }

    @Test(
        "an SQLite store passes every check of operations", requires("sqlite"), arguments: ConformanceCheck.ofOperations
    )
    func sqliteOperations(check: ConformanceCheck) throws { try run(check, on: "sqlite") }

    @Test("an LMDB store passes every check of contents", requires("lmdb"), arguments: ConformanceCheck.ofContents)
    func lmdbContents(check: ConformanceCheck) throws { try run(check, on: "lmdb") }

    @Test("an LMDB store passes every check of reads", requires("lmdb"), arguments: ConformanceCheck.ofReads)
    func lmdbReads(check: ConformanceCheck) throws { try run(check, on: "lmdb") }

    @Test("an LMDB store passes every check of queries", requires("lmdb"), arguments: ConformanceCheck.ofQueries)
    func lmdbQueries(check: ConformanceCheck) throws { try run(check, on: "lmdb") }

    @Test("an LMDB store passes every check of operations", requires("lmdb"), arguments: ConformanceCheck.ofOperations)
    func lmdbOperations(check: ConformanceCheck) throws { try run(check, on: "lmdb") }

    @Test("a JSON store passes every check of contents", requires("json"), arguments: ConformanceCheck.ofContents)
    func jsonContents(check: ConformanceCheck) throws { try run(check, on: "json") }

    @Test("a JSON store passes every check of reads", requires("json"), arguments: ConformanceCheck.ofReads)
    func jsonReads(check: ConformanceCheck) throws { try run(check, on: "json") }

    @Test("a JSON store passes every check of queries", requires("json"), arguments: ConformanceCheck.ofQueries)
    func jsonQueries(check: ConformanceCheck) throws { try run(check, on: "json") }

    @Test("a JSON store passes every check of operations", requires("json"), arguments: ConformanceCheck.ofOperations)
    func jsonOperations(check: ConformanceCheck) throws { try run(check, on: "json") }

    @Test(
        "a store in memory passes every check of contents", requires("memory"), arguments: ConformanceCheck.ofContents)
    func memoryContents(check: ConformanceCheck) throws { try run(check, on: "memory") }

    @Test("a store in memory passes every check of reads", requires("memory"), arguments: ConformanceCheck.ofReads)
    func memoryReads(check: ConformanceCheck) throws { try run(check, on: "memory") }

    @Test("a store in memory passes every check of queries", requires("memory"), arguments: ConformanceCheck.ofQueries)
    func memoryQueries(check: ConformanceCheck) throws { try run(check, on: "memory") }

    @Test(
        "a store in memory passes every check of operations", requires("memory"),
        arguments: ConformanceCheck.ofOperations)
    func memoryOperations(check: ConformanceCheck) throws { try run(check, on: "memory") }

    @Test(
        "a Core Data store passes every check of contents", requires("coredata"), arguments: ConformanceCheck.ofContents
    )
    func coreDataContents(check: ConformanceCheck) throws { try run(check, on: "coredata") }

    @Test("a Core Data store passes every check of reads", requires("coredata"), arguments: ConformanceCheck.ofReads)
    func coreDataReads(check: ConformanceCheck) throws { try run(check, on: "coredata") }

    @Test(
        "a Core Data store passes every check of queries", requires("coredata"), arguments: ConformanceCheck.ofQueries)
    func coreDataQueries(check: ConformanceCheck) throws { try run(check, on: "coredata") }

    @Test(
        "a Core Data store passes every check of operations", requires("coredata"),
        arguments: ConformanceCheck.ofOperations)
    func coreDataOperations(check: ConformanceCheck) throws { try run(check, on: "coredata") }

    @Test("each registered type of store without a server has a test of all checks")
    func types() {
        #expect(Set(StoreFixture.all.map(\.name)).isSubset(of: ["sqlite", "lmdb", "json", "memory", "coredata"]))
    }

    @Test("records copy between any two writable stores", arguments: StoreFixture.pairs)
    func copying(from source: StoreFixture, to target: StoreFixture) throws {
        try CrossStoreChecks.copy(from: source, to: target, seed: 2_026)
    }
}
