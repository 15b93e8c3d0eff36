import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration
import Testing

// Places of objects in ordered relationships.
extension RelationshipChangeTests {
    /// Creates a store of two pairs of entities with ordered inverses, and a mapping.
    ///
    /// The mapping merges the pairs of entities into one, so the objects get new keys.
    private static func merged(_ count: Int64) throws -> (
        source: any PersistentStore, model: ManagedObjectModel, mapping: MappingModel
    ) {
        func pair(_ suffix: String, back: String) -> [EntityDescription] {
            [
                EntityDescription("A\(suffix)", relationships: [.toOne("b", to: "B\(suffix)", inverse: back)]),
                EntityDescription(
                    "B\(suffix)", relationships: [.toMany(back, to: "A\(suffix)", inverse: "b", isOrdered: true)]),
            ]
        }
        let old = try ManagedObjectModel(entities: pair("1", back: "as") + pair("2", back: "as"))
        let new = try ManagedObjectModel(entities: pair("", back: "as"))
        var objects = [Scenario.Object("B1", key: 1, values: [:]), Scenario.Object("B1", key: 2, values: [:])]
        objects += [Scenario.Object("A2", key: 1, values: [:]), Scenario.Object("B2", key: 1, values: [:])]
        for key in 1...count {
            objects.append(
                Scenario.Object(
                    "A1", key: key,
                    values: ["b": .objectID(ObjectID("B1", key: key % 2 + 1)), "b#order": .int(count - key)]))
        }
        let mappings = ["1", "2"].flatMap { suffix in
            [
                EntityMapping(
                    "A\(suffix)", type: .transform, from: EntityName("A\(suffix)"), to: "A"
                ).with {
                    $0.relationshipMappings = [
                        PropertyMapping("b", expression: .relatedInstances(ofSourceRelationship: "b"))
                    ]
                },
                EntityMapping("B\(suffix)", type: .transform, from: EntityName("B\(suffix)"), to: "B"),
            ]
        }
        return (try Scenario.store("memory", at: "", model: old, objects: objects), new, MappingModel(mappings))
    }

    @Test("objects with new keys keep their places and are written in batches")
    func keepsPlacesOfNewKeys() throws {
        let (source, model, mapping) = try Self.merged(2000)
        let (store, _) = try Self.migrate(
            source, to: model, path: .threePasses, options: MigrationOptions(mapping: mapping, allowsLoss: true))
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let all = try Scenario.objects("A", in: store)
        let lists = try Scenario.objects("B", in: store).map {
            try snapshot.targets(of: RelationshipName("B", name: "as"), from: $0.id)
        }
        #expect(all.count == 2001 && lists.map(\.count).sorted() == [0, 1000, 1000])
        // Each old list begins with its highest key, and new keys have the order of the old keys.
        for list in lists { #expect(list == list.sorted(by: >)) }
        // Each commit adds a generation.
        let tally = try #require(try snapshot.recordedTally())
        #expect(tally.generation.number < 40)
    }

    @Test("a policy that fills ordered relationships needs no commit for each object")
    func placesByPolicy() throws {
        let old = try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [AttributeDescription("n", type: .integer64)]),
            EntityDescription("B", attributes: [AttributeDescription("n", type: .integer64)]),
        ])
        let new = try ManagedObjectModel(entities: [
            EntityDescription(
                "A", attributes: [AttributeDescription("n", type: .integer64)],
                relationships: [.toOne("b", to: "B", inverse: "as")]),
            EntityDescription(
                "B", attributes: [AttributeDescription("n", type: .integer64)],
                relationships: [.toMany("as", to: "A", inverse: "b", isOrdered: true)]),
        ])
        let source = try Scenario.store(
            "memory", at: "", model: old,
            objects: (1...1000).map { Scenario.Object("A", key: $0, values: ["n": .int($0)]) }
                + (1...2).map { Scenario.Object("B", key: $0, values: ["n": .int($0)]) })
        var mapping = try MappingModel.inferred(from: old, to: new)
        for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntity == "A" {
            mapping.entityMappings[index].policyName = "P"
        }
        let policy: @Sendable () -> EntityMigrationPolicy = {
            ClosurePolicy {
                $0.onRelate = { object, session, standard in
                    let owners = session.userInfo["owners"] as? [DestinationObject]
                    let all = try owners ?? session.destinationObjects(FetchRequest("B"))
                    session.userInfo["owners"] = all
                    try object.setObject(all[Int(object.id.key % 2)], for: "b")
                }
            }
        }
        let (store, _) = try Self.migrate(
            source, to: new, path: .threePasses,
            options: MigrationOptions(mapping: mapping, policies: ["P": policy], allowsLoss: true))
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let odd = try snapshot.targets(of: RelationshipName("B", name: "as"), from: ObjectID("B", key: 2))
        #expect(odd == Array(stride(from: 1, to: 1_000, by: 2)))
        let tally = try #require(try snapshot.recordedTally())
        #expect(tally.generation.number < 40)
    }
}
