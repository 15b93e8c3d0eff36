import RoostConformance
import RoostCore
import Testing

@Suite("Log-structured stores")
struct AppendedFileTests {
    private static func fixture(_ fault: AppendedFileFault? = nil) -> StoreFixture {
        StoreFixture(AppendedFileStoreType(fault: fault))
    }

    /// The checks of files and commits.
    ///
    /// The other checks test the engine, which other types of stores share.
    private static let checks = ConformanceCheck.all.filter {
        ["opening", "damage", "changes", "close", "destroy", "replace", "metadata"].contains($0.group)
    }

    @Test("a log-structured store passes every check of files and commits", arguments: checks)
    func check(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture()) }

    @Test(
        "a faulty log-structured store fails the check that looks for its fault",
        arguments: [
            (AppendedFileFault.stopsAtDamage, "damage.flipped-bytes"), (.stopsAtDamage, "damage.zeroed-blocks"),
            (.readsHalfCommits, "opening.open.truncated"), (.forgetsAllCommits, "opening.open.truncated"),
            (.appendsToTornEnd, "opening.open.truncated"),
        ])
    func faults(fault: AppendedFileFault, id: String) throws {
        let check = try #require(ConformanceCheck.named(id))
        #expect(throws: ConformanceFailure.self) { try check.run(on: Self.fixture(fault)) }
    }
}
