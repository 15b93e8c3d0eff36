import Roost
import RoostConformance
import RoostCore
import Testing

@Suite("Faults that the conformance suite finds")
struct FaultTests {
    /// Faults are tested with stores in memory, which are fast, and with files if necessary.
    @Test(
        "the conformance check listed for a fault fails on a store with the fault",
        arguments: FaultyStoreType.Fault.allCases)
    func notices(fault: FaultyStoreType.Fault) throws {
        let needsFile: Set<FaultyStoreType.Fault> = [
            .readsDamage, .signsDamage, .hidesOtherOpenings, .signalsFailures,
        ]
        let name = needsFile.contains(fault) ? "sqlite" : "memory"
        try expectCaught(fault, around: try #require(StoreFixture.writable.first { $0.name == name }))
    }

    @Test(
        "conformance checks catch a fault of each kind in every type of store",
        arguments: StoreFixture.writable,
        [
            FaultyStoreType.Fault.narrowsIntegers, .losesRecordsBetweenBatches, .leavesLinks, .forgetsUsedKeys,
            .showsUnfinishedLoads, .leaksCursors, .losesLastCommit, .writesReadOnly, .staysOpen,
        ])
    func noticesAround(base: StoreFixture, fault: FaultyStoreType.Fault) throws {
        try expectCaught(fault, around: base)
    }

    private func expectCaught(_ fault: FaultyStoreType.Fault, around base: StoreFixture) throws {
        let result = try #require(ConformanceSelfTest.run([fault], on: base).first)
        guard case .caught = result.outcome else {
            Issue.record("\(result.text)")
            return
        }
        #expect(result.check == fault.caughtBy)
        #expect(!result.isFailure)
    }

    @Test("a self-test reports a fault that is missed, an unsound check and a skipped check")
    func selfTestCanFail() throws {
        let type = MaskingType(base: try StoreRegistry.standard.type(named: "memory"))
        let fixture = StoreFixture(type, keepsClosedStores: true)
        let masked = ConformanceSelfTest.run([.swallowsOptions, .roundsDates], on: fixture)
        #expect(masked.map(\.isFailure) == [true, false])
        #expect(masked.first?.text.hasPrefix("MISSED  swallows-options  opening.options.unknown") == true)
        #expect(
            ConformanceSelfTest.summary(of: masked, on: fixture) == "memory: 2 faults, 1 caught, 1 missed, 0 skipped")

        let unsound = ConformanceSelfTest.run([.roundsDates], on: fixture.faulty(.roundsDates))
        #expect(unsound.map(\.isFailure) == [true])
        #expect(unsound.first?.text.hasPrefix("UNSOUND  rounds-dates  values.date.extremes") == true)

        let unable = ConformanceSelfTest.run([.losesLastCommit], on: StoreFixture(type))
        #expect(unable.map(\.text) == ["skipped  loses-last-commit  changes.durable  needs capability 'persistence'"])
        #expect(
            ConformanceSelfTest.summary(of: unable, on: fixture) == "memory: 1 fault, 0 caught, 0 missed, 1 skipped")
    }

    /// A sound type that lists an option but refuses it.
    ///
    /// The fault `swallowsOptions` drops only unlisted options, so the check of unknown options
    /// misses it on this type.
    private struct MaskingType: PersistentStoreType {
        let base: any PersistentStoreType
        var name: String { base.name }
        var capabilities: StoreCapabilities { base.capabilities }
        let optionDescriptions = [
            StoreOptionDescription(
                "no-such-option", values: .integer(0...1), standard: "0", summary: "Refused all the same.")
        ]
        func recognizes(fileAt path: String) -> Bool { base.recognizes(fileAt: path) }
        func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
            try base.open(location, options: options)
        }
        func create(
            _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
        ) throws(StoreError) -> any PersistentStore { try base.create(location, model: model, options: options) }
        func destroy(_ location: StoreLocation) throws(StoreError) { try base.destroy(location) }
        func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError) {
            try base.replace(destination, with: source, overwriting: overwriting)
        }
    }
}
