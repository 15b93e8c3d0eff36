import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

@Suite("Random queries")
struct QueryCampaignTests {
    /// Every backend that can be written, with files in memory if the system supports that.
    private static let fixtures = StoreFixture.writable.map { fixture in
        let (type, directory) = (fixture.name, "/dev/shm")
        guard FileManager.default.isWritableFile(atPath: directory) else { return fixture }
        return StoreFixture(fixture.type, keepsClosedStores: fixture.keepsClosedStores).with {
            $0.makeLocation = { bench, name in
                StoreLocation(type: type, path: "\(directory)/\(URL(fileURLWithPath: bench).lastPathComponent)-\(name)")
            }
        }
    }

    /// A failure names the seed and the smallest failing case.
    ///
    /// `ROOST_QUERY_SEED` repeats a run; `ROOST_QUERY_CASES` sets the number of cases.
    @Test("every store answers random requests as the reference implementation does", arguments: 0..<4)
    func campaign(part: UInt64) throws {
        let environment = ProcessInfo.processInfo.environment
        // A run with a given number of cases has a random seed. The normal run has a fixed seed, so that a failure
        // comes from the latest change.
        let isLong = environment["ROOST_QUERY_CASES"] != nil
        let seed = (isLong || environment["ROOST_QUERY_SEED"] != nil ? RandomSeed.named("ROOST_QUERY_SEED") : 1) &+ part
        let count = environment["ROOST_QUERY_CASES"].flatMap { Int($0) } ?? 3_200
        let summary = try QueryCampaign.run(on: Self.fixtures, seed: seed, caseCount: count / 4)
        print("random queries on \(Self.fixtures.map(\.name)), seed \(seed): \(summary)")
        #expect(summary.caseCount == count / 4)
        // If most requests matched all objects or none, the run would prove little.
        #expect(count < 1000 || summary.dividingCount * 7 > summary.caseCount)
        #expect(count < 1000 || summary.refusedCount * 40 > summary.caseCount)
    }

    @Test(
        "a query campaign finds a faulty store and shrinks the failure to a few objects",
        arguments: [
            FaultyStoreType.Fault.followsThreeValuedLogic, .ignoresQuantifiers, .dividesWholeNumbers, .foldsASCIIOnly,
            .takesPatternsLiterally, .breaksTiesBackwards, .ignoresOrder,
        ])
    func noticing(_ fault: FaultyStoreType.Fault) throws {
        let memory = try #require(StoreFixture.writable.first { $0.name == "memory" })
        let failure = try #require(throws: QueryFailure.self) {
            try QueryCampaign.run(on: [memory.faulty(fault)], seed: 7, caseCount: 4000)
        }
        #expect(failure.objectCount <= 3, "\(failure)")
        #expect(failure.description.contains("ROOST_QUERY_SEED=7"))
        #expect(failure.swiftCode.contains("try store.commit(changes)"))
    }
}
