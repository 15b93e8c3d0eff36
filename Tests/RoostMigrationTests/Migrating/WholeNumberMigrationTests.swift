import Foundation
import Roost
import RoostConformance
import RoostMigration
import Testing

@Suite("Whole numbers that become floating-point numbers")
struct WholeNumberMigrationTests {
    private static func model(_ type: AttributeType, elements: AttributeType? = nil) throws -> ManagedObjectModel {
        let price = elements.map {
            AttributeDescription("price", type: .composite, elements: [AttributeDescription("sum", type: $0)])
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Card", attributes: [AttributeDescription("amount", type: type)] + [price].compactMap(\.self)),
            EntityDescription("Gift", superentity: "Card"),
        ])
    }

    private static func store(
        _ model: ManagedObjectModel, amounts: [Int64?], type: String = "memory", at path: String = ""
    ) throws -> any PersistentStore {
        try Scenario.store(
            type, at: path, model: model,
            objects: amounts.enumerated().map { index, amount in
                Scenario.Object(
                    index == amounts.count - 1 ? "Gift" : "Card", key: Int64(index) + 1,
                    values: amount.map { ["amount": .int($0)] } ?? [:])
            })
    }

    private static func withPolicy(_ old: ManagedObjectModel, to new: ManagedObjectModel) throws -> MigrationOptions {
        var mapping = try MappingModel.inferred(from: old, to: new)
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "P" }
        return MigrationOptions(mapping: mapping, policies: ["P": { EntityMigrationPolicy() }])
    }

    private static let manager = MigrationManager(registry: .standard)

    private static func amounts(_ store: any PersistentStore) throws -> [Value?] {
        try Scenario.objects("Card", in: store).sorted { $0.id.key < $1.id.key }.map { $0.values["amount"] }
    }

    @Test(
        "exact whole numbers become floating-point in one pass, by a policy and in place",
        arguments: Sample.writingTypes, [AttributeType.double, .float])
    func exact(type: String, to: AttributeType) throws {
        let (old, new) = (try Self.model(.integer64), try Self.model(to))
        let directory = try TemporaryDirectory()
        let power: Int64 = to == .float ? 1 << 24 : 1 << 53
        // Just above `power`, every second number is exact; so is every greater power of two.
        let exact: [Int64?] = [1, nil, 0, -1, power, -power, power + 2, .min, 1 << 62]
        let source = try Self.store(old, amounts: exact, type: type, at: directory.file("old"))
        let expected = exact.map { $0.map { Value.double(Double($0)) } }
        for options in [MigrationOptions(), try Self.withPolicy(old, to: new)] {
            let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: new)
            let report = try Self.manager.migrate(
                from: .store(source), to: .store(store), model: new, options: options)
            #expect(report.path == (options.mapping == nil ? .onePass : .threePasses))
            #expect(try Self.amounts(store) == expected)
            #expect(try checkStore(store) == [])
        }
        try source.close()
        guard type != "memory" else { return }
        let location = StoreLocation(type: type, path: directory.file("old"))
        _ = try Self.manager.migrateInPlace(location, model: new)
        let migrated = try StoreRegistry.standard.open(location)
        defer { try? migrated.close() }
        #expect(try Self.amounts(migrated) == expected)
    }

    /// Triples of an old type, a new type and a number.
    ///
    /// Only the number 2^53 is exact in its new type.
    private static let numbers: [(AttributeType, AttributeType, Int64)] = [
        (.integer64, .double, 9_007_199_254_740_993), (.integer64, .double, -9_007_199_254_740_993),
        (.integer64, .double, .max), (.integer32, .float, 16_777_217), (.integer64, .float, 9_007_199_254_740_992),
        (.integer64, .float, 16_777_217),
    ]

    @Test(
        "an inexact whole number ends the migration, and a dry run without a policy forecasts it",
        arguments: numbers, [true, false])
    func inexact(_ change: (AttributeType, AttributeType, Int64), hasPolicy: Bool) throws {
        let (oldType, newType, number) = change
        let fails = Double(exactly: number) == nil || newType == .float && Float(exactly: number) == nil
        #expect(fails == (number != 9_007_199_254_740_992))
        let (old, new) = (try Self.model(oldType), try Self.model(newType))
        let source = try Self.store(old, amounts: [3, number, 4])
        let options = hasPolicy ? try Self.withPolicy(old, to: new) : MigrationOptions()
        let plan = try Self.manager.planMigration(
            from: .store(source), to: .location(StoreLocation(type: "memory", path: "")), model: new, options: options)
        #expect(plan.warnings.contains { $0.contains("The type changes from \(oldType.name)") } == !hasPolicy)
        let refusal =
            "'Card.amount' of Card/p2 has type \(newType.name) in the new model, which cannot hold its number exactly; give the mapping an expression for it, or change the object."
        #expect(plan.refusals == (fails && !hasPolicy ? [refusal] : []))
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: new)
        func migrate() throws {
            _ = try Self.manager.migrate(from: .store(source), to: .store(store), model: new, options: options)
        }
        guard fails else { return try migrate() }
        let error = #expect(throws: StoreError.self) { try migrate() }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message == refusal)
    }

    @Test(
        "an in-place migration that fails at an inexact whole number leaves the store unchanged",
        arguments: ["sqlite", "lmdb", "json"])
    func inPlace(type: String) throws {
        let (old, new) = (try Self.model(.integer64), try Self.model(.double))
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("store"))
        try Self.store(old, amounts: [1, .max, 2], type: type, at: location.path).close()
        let error = #expect(throws: StoreError.self) { try Self.manager.migrateInPlace(location, model: new) }
        #expect(error?.message.contains("Card/p2") ?? false)
        let store = try StoreRegistry.standard.open(location, options: StoreOptions(model: old))
        defer { try? store.close() }
        #expect(try Self.amounts(store) == [.int(1), .int(.max), .int(2)])
    }

    @Test("an inexact whole number in a composite ends the migration")
    func elements() throws {
        let (old, new) = (try Self.model(.string, elements: .integer64), try Self.model(.string, elements: .double))
        func store(_ number: Int64) throws -> any PersistentStore {
            try Scenario.store(
                "memory", at: "", model: old,
                objects: [
                    Scenario.Object("Card", key: 1, values: [:]),
                    Scenario.Object("Card", key: 2, values: ["price": .composite(["sum": .int(number)])]),
                ])
        }
        let good = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: new)
        _ = try Self.manager.migrate(from: .store(try store(7)), to: .store(good), model: new)
        #expect(
            try Scenario.objects("Card", in: good).first { $0.id.key == 2 }?.values["price"]
                == .composite(["sum": .double(7)]))
        let bad = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: new)
        let error = #expect(throws: StoreError.self) {
            try Self.manager.migrate(from: .store(try store(.max)), to: .store(bad), model: new)
        }
        #expect(error?.message.contains("'Card.price.sum' of Card/p2") ?? false)
    }
}
