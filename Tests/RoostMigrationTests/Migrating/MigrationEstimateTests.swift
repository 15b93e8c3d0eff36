import Roost
import RoostCore
import Testing

@testable import RoostMigration

@Suite("Estimates of a migration's time")
struct MigrationEstimateTests {
    private func seconds(
        _ count: Int = 1000, from source: String = "sqlite", to destination: String = "sqlite",
        path: MigrationPath = .onePass, verifies: Bool = true
    ) -> Double {
        func costs(_ name: String) -> StoreCosts {
            (try? StoreRegistry.standard.type(named: name))?.estimatedCosts ?? UnmeasuredType().estimatedCosts
        }
        return MigrationEstimate.seconds(
            for: count, from: costs(source), to: costs(destination), path: path, verifies: verifies)
    }

    /// A store type without known costs.
    private struct UnmeasuredType: ReadOnlyPersistentStoreType {
        let name = "other"
        let capabilities = StoreCapabilities(.file)
        func recognizes(fileAt path: String) -> Bool { false }
        func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
            throw StoreError(.unsupported, "Stores of this type cannot be opened.")
        }
    }

    @Test("a time estimate grows with objects, passes, verification and the costs of both stores")
    func estimates() {
        #expect(seconds(0) == 0 && seconds(path: .nothing) == 0)
        #expect(seconds(2000) == 2 * seconds(1000))
        #expect(seconds(path: .threePasses) > 1.5 * seconds())
        #expect(seconds() > seconds(verifies: false))
        #expect(seconds(to: "sqlite") > seconds(to: "lmdb"))
        #expect(seconds(from: "coredata") > 1.5 * seconds())
        // A type without known costs is assumed to be slower than SQLite.
        #expect(seconds(to: "other") > seconds(to: "sqlite"))
        // A million objects take a few seconds.
        #expect((0.3...10).contains(seconds(1_000_000)))
    }

    @Test("a plan estimates the time of its path as the sum of its steps")
    func plans() throws {
        func plan(_ options: MigrationOptions, to model: ManagedObjectModel) throws -> MigrationPlan {
            let directory = try TemporaryDirectory()
            let old = try Notes.v1()
            let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: old)
            var changes = ChangeSet(model: old)
            for key in 1...1000 { try changes.insert(ObjectID("Note", key: Int64(key)), values: [:]) }
            _ = try store.commit(changes)
            return try MigrationManager(registry: .standard).planMigration(
                from: .store(store), to: .location(StoreLocation(type: "sqlite", path: directory.file("new"))),
                model: model,
                options: options)
        }
        let inferred = try plan(MigrationOptions(), to: Notes.v2())
        #expect(inferred.secondsNeeded == seconds(from: "memory"))
        var mapping = try MappingModel.inferred(from: Notes.v1(), to: Notes.v2())
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "P" }
        let policies: [String: @Sendable () -> EntityMigrationPolicy] = ["P": { EntityMigrationPolicy() }]
        let withPolicies = try plan(MigrationOptions(mapping: mapping, policies: policies), to: Notes.v2())
        #expect(withPolicies.secondsNeeded == seconds(from: "memory", path: .threePasses))
        // The second step reads the first step's store.
        let twoSteps = try plan(MigrationOptions(history: Notes.history()), to: Notes.v3())
        #expect(twoSteps.steps.count == 2)
        #expect(twoSteps.secondsNeeded == seconds(from: "memory") + seconds())
        var history = try Notes.inferredHistory()
        try history.add(mapping, from: "v1", to: "v2")
        let firstWithPolicies = try plan(MigrationOptions(history: history, policies: policies), to: Notes.v3())
        #expect(firstWithPolicies.secondsNeeded == seconds(from: "memory", path: .threePasses) + seconds())
        #expect(firstWithPolicies.description.contains("seconds   roughly"))
    }
}
