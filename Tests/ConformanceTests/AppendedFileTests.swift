import RoostConformance
import RoostCore
import Testing

@Suite("A log-structured store, which opens without a torn last commit")
struct AppendedFileTests {
    private static func fixture(_ fault: AppendedFileFault? = nil) -> StoreFixture {
        StoreFixture(AppendedFileStoreType(fault: fault), exclusions: [])
    }

    /// Checks of several processes need a program of their own for this type; its stores are for one process at a time.
    private static let checks = ConformanceCheck.all.filter { $0.group != "processes" }

    @Test("passes every check", arguments: checks)
    func check(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture()) }

    @Test(
        "fails with wrong content, whatever it opens",
        arguments: [
            (AppendedFileFault.stopsAtDamage, "damage.flipped-bytes"), (.passesDamageOver, "damage.flipped-bytes"),
            (.readsHalfCommits, "opening.open.truncated"), (.readsHalfCommits, "damage.cut-anywhere"),
            (.opensAsEmpty, "opening.open.truncated"), (.appendsToTornEnd, "opening.open.truncated"),
        ])
    func faults(fault: AppendedFileFault, id: String) throws {
        let check = try #require(ConformanceCheck.named(id))
        #expect(throws: ConformanceFailure.self) { try check.run(on: Self.fixture(fault)) }
    }
}
