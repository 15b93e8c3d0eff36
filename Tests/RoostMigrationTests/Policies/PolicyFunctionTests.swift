import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

@Suite("Functions of migration policies")
struct PolicyFunctionTests {
    @Test("a policy function computes an element of a composite", arguments: Scenario.types)
    func compositeElements(type: String) throws {
        final class Shouting: EntityMigrationPolicy {
            override func value(
                of function: String, arguments: [Value], for source: SourceObject, property: PropertyMapping,
                in session: MigrationSession
            ) throws -> Value {
                guard case .string(let text)? = arguments.first else { return .null }
                return .string(text.uppercased())
            }
        }
        let directory = try TemporaryDirectory()
        let place = AttributeDescription("place", type: .composite, elements: [.string("city"), .string("street")])
        let old = try Scenario.store(
            type, at: directory.file("old"),
            model: try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: [.string("city"), place])
            ]),
            objects: [
                .init("Item", key: 1, values: ["city": "rome", "place": .composite(["city": "x", "street": "y"])]),
                .init("Item", key: 2, values: ["city": "oslo"]), .init("Item", key: 3, values: [:]),
            ])
        let model = try ManagedObjectModel(entities: [EntityDescription("Item", attributes: [place])])
        let mapping = MappingModel([
            EntityMapping(
                "Item", type: .custom, from: "Item", to: "Item",
                attributes: [
                    PropertyMapping("place", expression: .source("place")),
                    PropertyMapping("place.city", expression: .policy("shout", .source("city"))),
                ]
            ).with { $0.policyName = "P" }
        ])
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: model, mapping: mapping, policies: ["P": { Shouting() }])
        let places = try Scenario.objects("Item", in: new).map { $0.values["place"] }
        #expect(
            places == [
                .composite(["city": "ROME", "street": "y"]), .composite(["city": "OSLO"]), nil,
            ])
        try new.close()
        try old.close()
    }

    // MARK: Expressions around functions

    private final class Lengths: EntityMigrationPolicy {
        override func value(
            of function: String, arguments: [Value], for source: SourceObject, property: PropertyMapping,
            in session: MigrationSession
        ) throws -> Value {
            guard case .string(let text)? = arguments.first else { return .null }
            return function == "length:" ? .int(Int64(text.utf8.count)) : .string(text.uppercased())
        }
    }

    /// Creates a store with two items.
    ///
    /// The first item has the flag and two parts, of sizes 1 and 2. The second item has only the
    /// part of size 2.
    private static func items(_ path: String) throws -> any PersistentStore {
        let parts = RelationshipDescription.toMany("parts", to: "Part", inverse: nil, isOrdered: true)
        return try Scenario.store(
            "memory", at: path,
            model: try ManagedObjectModel(entities: [
                EntityDescription(
                    "Item", attributes: [.string("name"), AttributeDescription("flag", type: .boolean)],
                    relationships: [parts]),
                EntityDescription("Part", attributes: [AttributeDescription("size", type: .integer16)]),
            ]),
            objects: [
                .init("Item", key: 1, values: ["name": "ab", "flag": .bool(true)]),
                .init("Item", key: 2, values: ["name": "c", "flag": .bool(false)]),
                .init("Part", key: 1, values: ["size": .int(1)]), .init("Part", key: 2, values: ["size": .int(2)]),
            ],
            links: [
                (RelationshipName("Item", name: "parts"), Link(1, 1, order: 0)),
                (RelationshipName("Item", name: "parts"), Link(1, 2, order: 1)),
                (RelationshipName("Item", name: "parts"), Link(2, 2, order: 0)),
            ])
    }

    /// Migrates the items with one expression for each attribute, and returns the new values.
    private static func migrateItems(_ expressions: [String: String]) throws -> [[String: Value]] {
        let directory = try TemporaryDirectory()
        let old = try items(directory.file("old"))
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Item",
                attributes: [
                    .string("loud"), .string("origin"), AttributeDescription("larger", type: .integer32),
                    AttributeDescription("last", type: .integer32),
                ])
        ])
        let attributes = try expressions.sorted { $0.key < $1.key }.map {
            PropertyMapping($0.key, expression: try FetchRequest.Expression(format: $0.value))
        }
        let mapping = MappingModel([
            EntityMapping("Item", type: .transform, from: "Item", to: "Item", attributes: attributes).with {
                $0.policyName = "P"
            }
        ])
        let new = try Scenario.migrate(
            old, to: "memory", at: directory.file("new"), model: model, mapping: mapping,
            policies: ["P": { Lengths() }], allowsLoss: true)
        let values = try Scenario.objects("Item", in: new).map(\.values)
        try new.close()
        try old.close()
        return values
    }

    @Test("every part of an expression with a policy function can read the source object")
    func nestsFunctions() throws {
        let values = try Self.migrateItems([
            "loud": "TERNARY($source.flag == YES, FUNCTION($entityPolicy, 'upper:', $source.name), 'none')",
            "origin": "TERNARY($source.flag == YES, $entityMapping, $source.name)",
            "larger":
                "SUBQUERY($source.parts, $p, $p.size >= FUNCTION($entityPolicy, 'length:', $source.name)).@count",
            "last": "$source.parts[FUNCTION($entityPolicy, 'length:', $source.name) - 1].size",
        ])
        #expect(values.map { $0["loud"] } == ["AB", "none"])
        #expect(values.map { $0["origin"] } == ["Item", "c"])
        #expect(values.map { $0["larger"] } == [.int(1), .int(1)])
        #expect(values.map { $0["last"] } == [.int(2), .int(2)])
    }

    /// Policy functions run before the SUBQUERY is evaluated, so its variable has no value yet.
    @Test("a policy function with a SUBQUERY variable as its argument is refused")
    func refusesSubqueryVariable() throws {
        let error = try #require(throws: StoreError.self) {
            _ = try Self.migrateItems([
                "larger": "SUBQUERY($source.parts, $p, FUNCTION($entityPolicy, 'length:', $p.size) > 1).@count"
            ])
        }
        #expect(error.code == .invalidMappingModel && error.message.contains("'larger'"))
    }
}
