import Roost
import RoostConformance
import RoostCore
import Testing

@Suite("The conformance suite notices")
struct FaultTests {
    /// For each fault, checks that must fail on a store with it; others may fail too.
    private static let noticed: [FaultyStoreType.Fault: [String]] = [
        .dropsLastLink: ["links.many-to-many", "links.after", "bulk.links-any-order"],
        .losesLastRecord: ["values.integer64.extremes", "inheritance.scan", "cursors.after"],
        .ignoresVersions: [
            "versions.conflict.all-listed", "versions.conflict.second-writer", "versions.unchanged.stale",
        ],
        .writesHalf: ["changes.atomic.every-part"],
        .reusesKeys: ["identity.reserve.disjoint", "identity.deleted-keys"],
        .showsLaterCommits: ["snapshots.unchanged", "bulk.invisible"],
        .forgetsMetadata: ["metadata.user.commit"],
        .miscounts: ["fetch.limit-and-offset"],
        .ignoresOrder: ["fetch.sort.several-keys", "fetch.type.string"],
        .forgetsPlaces: ["links.order", "links.order-both-ends"],
        .recordsOldDigest: ["digest.recorded-is-computed"],
        .leaksValues: ["errors.no-values"],
    ]

    @Test("every fault that a store can be given", arguments: FaultyStoreType.Fault.allCases)
    func notices(_ fault: FaultyStoreType.Fault) throws {
        registerBuiltInStores()
        let fixture = StoreFixture(
            FaultyStoreType(try StoreRegistry.shared.type(named: "memory"), fault), keepsClosedStores: true)
        let ids = try #require(Self.noticed[fault])
        for id in ids {
            let check = try #require(ConformanceCheck.named(id))
            #expect(throws: ConformanceFailure.self, "\(id)") { try check.run(on: fixture) }
        }
    }

    @Test(
        "most faults in random change sets",
        arguments: [
            FaultyStoreType.Fault.dropsLastLink, .losesLastRecord, .ignoresVersions, .forgetsMetadata, .forgetsPlaces,
        ])
    func noticesAtRandom(_ fault: FaultyStoreType.Fault) throws {
        registerBuiltInStores()
        let fixture = StoreFixture(
            FaultyStoreType(try StoreRegistry.shared.type(named: "memory"), fault), keepsClosedStores: true)
        #expect(throws: ConformanceFailure.self) { try LockStep.run(on: fixture, seed: 1, commitCount: 120) }
    }
}
