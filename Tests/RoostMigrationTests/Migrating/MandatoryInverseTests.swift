import Roost
import RoostMigration
import Testing

/// Migrations that make a to-many relationship to-one and mandatory, filled from its inverse.
@Suite("Mandatory relationships filled by their inverse")
struct MandatoryInverseTests {
    private typealias R = RelationshipDescription

    private static func model(_ a: R, _ b: R) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [.string("x")], relationships: [a]),
            EntityDescription("B", attributes: [.string("x")], relationships: [b]), EntityDescription("Tag"),
        ])
    }

    /// Creates a store with two objects of `A`; each object of `B` refers to one of them.
    private static func source(_ owners: [Int64]) throws -> any PersistentStore {
        try Scenario.store(
            "memory", at: "", model: model(.toMany("bs", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "bs")),
            objects: [.init("A", key: 1, values: [:]), .init("A", key: 2, values: [:])]
                + owners.enumerated().map {
                    .init("B", key: Int64($0.offset + 1), values: ["a": .objectID(ObjectID("A", key: $0.element))])
                })
    }

    private static func new() throws -> ManagedObjectModel {
        var b = R.toOne("b", to: "B", inverse: "a", isOptional: false)
        b.renamingIdentifier = "bs"
        return try model(b, .toOne("a", to: "A", inverse: "b"))
    }

    /// Returns options with an inferred mapping; three passes have a policy for `Tag`.
    private static func options(
        _ source: any PersistentStore, path: MigrationPath, conversion: ConversionOptions = ConversionOptions()
    ) throws -> MigrationOptions {
        var mapping = try MappingModel.inferred(from: source.model, to: new())
        let index = try #require(mapping.entityMappings.firstIndex { $0.sourceEntity == "Tag" })
        if path == .threePasses {
            mapping.entityMappings[index] = EntityMapping("T", type: .custom, from: "Tag", to: "Tag").with {
                $0.policyName = "P"
            }
        }
        return MigrationOptions(
            conversion: conversion, mapping: mapping, policies: ["P": { EntityMigrationPolicy() }])
    }

    private static let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
    private let manager = MigrationManager(registry: .standard)

    @Test(
        "a migration refuses an object without a reference for its new mandatory relationship",
        arguments: [MigrationPath.onePass, .threePasses])
    func missing(path: MigrationPath) throws {
        let source = try Self.source([1])
        let options = try Self.options(source, path: path)
        let error = #expect(throws: StoreError.self) {
            _ = try manager.migrate(from: .store(source), to: Self.memory, model: Self.new(), options: options)
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message.contains("'A.b' is mandatory in the new model, and A/p2 has no value") == true)
        let plan = try manager.planMigration(
            from: .store(source), to: Self.memory, model: Self.new(), options: options)
        #expect(plan.path == path)
        if path == .onePass { #expect(plan.refusals == [error?.message]) }
        #expect(plan.warnings.contains { $0.hasPrefix("A.b: ") && $0.contains("mandatory") }, "\(plan.warnings)")
    }

    @Test(
        "a new mandatory relationship is filled from the references of its inverse",
        arguments: [MigrationPath.onePass, .threePasses])
    func complete(path: MigrationPath) throws {
        let source = try Self.source([2, 1])
        let options = try Self.options(source, path: path)
        let plan = try manager.planMigration(
            from: .store(source), to: Self.memory, model: Self.new(), options: options)
        #expect(plan.refusals == [])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: Self.new())
        let report = try manager.migrate(from: .store(source), to: .store(store), model: Self.new(), options: options)
        #expect(report.path == path && report.warnings == [])
        let found = try Scenario.objects("A", in: store).map { $0.values["b"] }
        #expect(found == [.objectID(ObjectID("B", key: 2)), .objectID(ObjectID("B", key: 1))])
    }

    @Test("a dry run that checks a new mandatory relationship stops when cancelled")
    func cancelledDryRun() throws {
        let source = try Self.source([2, 1])
        let cancellation = ConversionCancellation()
        cancellation.cancel()
        let cancelled = try Self.options(
            source, path: .onePass, conversion: ConversionOptions(cancellation: cancellation))
        let error = #expect(throws: StoreError.self) {
            _ = try manager.planMigration(
                from: .store(source), to: Self.memory, model: Self.new(), options: cancelled)
        }
        #expect(error?.code == .cancelled)
    }

    @Test("a dry run that checks a new mandatory relationship skips damaged objects as the migration does")
    func damagedDryRun() throws {
        let base = try Self.source([2, 1, 1])
        let damaged = FaultyStore(base, faults: Faults(damaged: [ObjectID("B", key: 3)]))
        let skipping = try Self.options(base, path: .onePass, conversion: ConversionOptions(skipsDamaged: true))
        let plan = try manager.planMigration(
            from: .store(damaged), to: Self.memory, model: Self.new(), options: skipping)
        #expect(plan.refusals == [])
        #expect(
            try manager.migrate(from: .store(damaged), to: Self.memory, model: Self.new(), options: skipping).skipped
                == ["B/p3"])
    }
}
