import Roost
import RoostCore
import RoostMigration

/// Cats and dogs in two hierarchies, which become pets in one hierarchy.
enum PetFixture {
    /// Creates a store of two cats and two dogs with homes and tags.
    static func store(_ type: String, at path: String) throws -> any PersistentStore {
        let tags = RelationshipDescription.toMany("tags", to: "Tag", inverse: nil)
        func owned(_ name: String) -> EntityDescription {
            EntityDescription(
                name, attributes: [.string("name")],
                relationships: [.toOne("home", to: "Home", inverse: name.lowercased() + "s"), tags])
        }
        return try Scenario.store(
            type, at: path,
            model: try ManagedObjectModel(entities: [
                owned("Cat"), owned("Dog"), EntityDescription("Tag", attributes: [.string("name")]),
                EntityDescription(
                    "Home", attributes: [.string("name")],
                    relationships: [
                        .toMany("cats", to: "Cat", inverse: "home"), .toMany("dogs", to: "Dog", inverse: "home"),
                    ]),
            ]),
            objects: [
                .init("Home", key: 1, values: ["name": "H"]), .init("Tag", key: 1, values: ["name": "t1"]),
                .init("Tag", key: 2, values: ["name": "t2"]),
                .init("Cat", key: 1, values: ["name": "cat1", "home": .objectID(ObjectID("Home", key: 1))]),
                .init("Cat", key: 2, values: ["name": "cat2"]),
                .init("Dog", key: 1, values: ["name": "dog1", "home": .objectID(ObjectID("Home", key: 1))]),
                .init("Dog", key: 9, values: ["name": "dog9", "home": .objectID(ObjectID("Home", key: 1))]),
            ],
            links: [
                (RelationshipName("Cat", name: "tags"), Link(1, 2)),
                (RelationshipName("Dog", name: "tags"), Link(1, 1)),
                (RelationshipName("Dog", name: "tags"), Link(1, 2)),
                (RelationshipName("Dog", name: "tags"), Link(9, 2)),
            ])
    }

    /// Returns a model in which a home has pets, and a favorite among them.
    static func mergedModel() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Pet", attributes: [.string("name")],
                relationships: [
                    .toOne("home", to: "Home", inverse: "pets"), .toMany("tags", to: "Tag", inverse: "pets"),
                ]),
            EntityDescription(
                "Tag", attributes: [.string("name")], relationships: [.toMany("pets", to: "Pet", inverse: "tags")]),
            EntityDescription(
                "Home", attributes: [.string("name")],
                relationships: [
                    .toMany("pets", to: "Pet", inverse: "home"), .toOne("favorite", to: "Pet"),
                ]),
        ])
    }

    /// Returns a mapping that turns cats and dogs into pets; the policy `P` sets the
    /// relationships of homes.
    static func mapping() -> MappingModel {
        let name = [PropertyMapping("name", expression: .source("name"))]
        func pets(_ entity: EntityName) -> EntityMapping {
            EntityMapping(
                "\(entity)ToPet", type: .transform, from: entity, to: "Pet", attributes: name
            ).with {
                $0.relationshipMappings = [
                    PropertyMapping("home", expression: .relatedInstances(ofSourceRelationship: "home")),
                    PropertyMapping("tags", expression: .relatedInstances(ofSourceRelationship: "tags")),
                ]
            }
        }
        return MappingModel([
            pets("Cat"), pets("Dog"), EntityMapping("Tags", type: .transform, from: "Tag", to: "Tag", attributes: name),
            EntityMapping("Homes", type: .transform, from: "Home", to: "Home", attributes: name).with {
                $0.policyName = "P"
            },
        ])
    }
}
