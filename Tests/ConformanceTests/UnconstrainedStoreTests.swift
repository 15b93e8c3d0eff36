import RoostConformance
import RoostCore
import Testing

/// A type of stores in memory without uniqueness constraints, like some third-party types.
struct UnconstrainedStoreType: PersistentStoreType {
    let base: any PersistentStoreType
    var capabilities = StoreCapabilities(.writing, .totalOrder, .digest, .fetchIndexes, .history)

    var name: String { base.name }
    var optionDescriptions: [StoreOptionDescription] { base.optionDescriptions }

    func recognizes(fileAt path: String) -> Bool { base.recognizes(fileAt: path) }

    func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try base.open(location, options: options)
    }

    func create(_ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions) throws(StoreError)
        -> any PersistentStore
    {
        guard model.uniquenessConstraints.isEmpty else {
            throw StoreError(.unsupported, "Stores of type '\(name)' keep no uniqueness constraints.")
        }
        return try base.create(location, model: model, options: options)
    }

    func destroy(_ location: StoreLocation) throws(StoreError) { try base.destroy(location) }

    func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError) {
        try base.replace(destination, with: source, overwriting: overwriting)
    }
}

@Suite("Stores without uniqueness constraints")
struct UnconstrainedStoreTests {
    private static func fixture() throws -> StoreFixture {
        let memory = try #require(StoreFixture.writable.first { $0.name == "memory" })
        return StoreFixture(UnconstrainedStoreType(base: memory.type), name: "unconstrained", keepsClosedStores: true)
    }

    @Test("a store without uniqueness constraints passes every conformance check", arguments: ConformanceCheck.all)
    func check(_ check: ConformanceCheck) throws { try check.run(on: try Self.fixture()) }

    @Test("on stores without constraints, checks of constraints run as opposites and most others run unchanged")
    func opposites() throws {
        let fixture = try Self.fixture()
        let missing = ConformanceCheck.all.map { $0.missingCapability(on: fixture) }
        #expect(missing.count { $0 == .uniquenessConstraints } > 10)
        #expect(missing.count { $0 == nil } > 150)
    }

    @Test("a store without uniqueness constraints matches a plain model after random operations")
    func lockStep() throws { try LockStep.run(on: [try Self.fixture()], seed: 3, operationCount: 500) }

    @Test("stores that support or lack uniqueness constraints match one plain model without constraints")
    func lockStepBesideOthers() throws {
        let memory = try #require(StoreFixture.writable.first { $0.name == "memory" })
        try LockStep.run(on: [memory, try Self.fixture()], seed: 3, operationCount: 500)
    }
}
