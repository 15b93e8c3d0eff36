import Roost
import RoostCore
import RoostMigration

/// A model of notes in four versions.
enum Notes {
    /// Returns version 1: `Note(title, color, rating Int16)`.
    static func v1() throws(StoreError) -> ManagedObjectModel {
        try model(
            "v1",
            entities: [
                EntityDescription(
                    "Note", attributes: [.string("title", isOptional: false), .string("color"), .integer16("rating")],
                    relationships: [.toMany("tags", to: "Tag", inverse: "notes")]),
                EntityDescription(
                    "Tag", attributes: [.string("name")], relationships: [.toMany("notes", to: "Note", inverse: "tags")]
                ),
            ])
    }

    /// Returns version 2: `color` is renamed to `hexColor`, and notes have `isDone`.
    static func v2() throws(StoreError) -> ManagedObjectModel {
        try model(
            "v2",
            entities: [
                EntityDescription(
                    "Note",
                    attributes: [
                        .string("title", isOptional: false), .string("hexColor").renamed(from: "color"),
                        .integer16("rating"), .boolean("isDone", isOptional: false, default: false),
                    ], relationships: [.toMany("tags", to: "Tag", inverse: "notes")]),
                EntityDescription(
                    "Tag", attributes: [.string("name")], relationships: [.toMany("notes", to: "Note", inverse: "tags")]
                ),
            ])
    }

    /// Returns version 3: `hexColor` is renamed to `paint`, ratings have a larger type, and the
    /// default of `isDone` is true.
    ///
    /// A migration through version 2 sets `isDone` to false. One direct step from version 1 would
    /// set it to true.
    static func v3() throws(StoreError) -> ManagedObjectModel {
        try model(
            "v3",
            entities: [
                EntityDescription(
                    "Note",
                    attributes: [
                        .string("title", isOptional: false), .string("paint").renamed(from: "color"),
                        .integer32("rating"), .boolean("isDone", isOptional: false, default: true),
                    ], relationships: [.toMany("tags", to: "Tag", inverse: "notes")]),
                EntityDescription(
                    "Tag", attributes: [.string("name")], relationships: [.toMany("notes", to: "Note", inverse: "tags")]
                ),
            ])
    }

    /// Returns version 4: a rating is a date.
    ///
    /// This change cannot be inferred. With `index`, a title has an index, which requires no
    /// migration.
    static func v4(index: Bool = false) throws(StoreError) -> ManagedObjectModel {
        try model(
            index ? "v4 with an index" : "v4",
            entities: [
                EntityDescription(
                    "Note",
                    attributes: [
                        .string("title", isOptional: false), .string("paint"), .date("rating"),
                        .boolean("isDone", isOptional: false, default: false),
                    ], relationships: [.toMany("tags", to: "Tag", inverse: "notes")]
                ).with { $0.fetchIndexes = index ? [FetchIndexDescription("byTitle", on: "title")] : [] },
                EntityDescription(
                    "Tag", attributes: [.string("name")], relationships: [.toMany("notes", to: "Note", inverse: "tags")]
                ),
            ])
    }

    private static func model(_ name: String, entities: [EntityDescription]) throws(StoreError) -> ManagedObjectModel {
        try ManagedObjectModel(entities: entities, versionIdentifiers: [name])
    }

    /// Returns a mapping from ``v3()`` to ``v4(index:)``, without ratings.
    static func withoutRatings() throws(StoreError) -> MappingModel {
        MappingModel([
            EntityMapping(
                "NoteToNote", type: .transform, from: "Note", to: "Note",
                attributes: [
                    PropertyMapping("title", expression: .source("title")),
                    PropertyMapping("paint", expression: .source("paint")),
                    PropertyMapping("isDone", expression: .source("isDone")), PropertyMapping("rating"),
                ]
            ).with {
                $0.relationshipMappings = [
                    PropertyMapping("tags", expression: .relatedInstances(ofSourceRelationship: "tags"))
                ]
            },
            EntityMapping(
                "TagToTag", type: .transform, from: "Tag", to: "Tag",
                attributes: [PropertyMapping("name", expression: .source("name"))]
            ).with {
                $0.relationshipMappings = [
                    PropertyMapping("notes", expression: .relatedInstances(ofSourceRelationship: "notes"))
                ]
            },
        ])
    }

    /// Returns versions 1 to 3, with a mapping model between the first two, so that migrations pass
    /// through version 2.
    static func history() throws(StoreError) -> ModelHistory {
        var history = try inferredHistory()
        try history.add(MappingModel.inferred(from: v1(), to: v2()), from: "v1", to: "v2")
        return history
    }

    /// Returns versions 1 to 3 without mapping models.
    static func inferredHistory() throws(StoreError) -> ModelHistory {
        try ModelHistory([.init("v1", model: v1()), .init("v2", model: v2()), .init("v3", model: v3())])
    }

    /// Creates a store of ``v1()`` with notes `1…count`, each with two of three tags.
    static func store(
        _ location: StoreLocation, count: Int = 5, uuid: StoreUUID = StoreUUID()
    ) throws(StoreError) -> any PersistentStore {
        let store = try StoreRegistry.standard.create(
            location, model: v1(),
            options: StoreOptions().with {
                $0.storeUUID = uuid
                $0.userMetadata = ["by": .string("me")]
            })
        var changes = ChangeSet(model: store.model)
        for key in 1...3 {
            try changes.insert(ObjectID("Tag", key: Int64(key)), values: ["name": .string("tag \(key)")])
        }
        for key in 1...count {
            try changes.insert(
                ObjectID("Note", key: Int64(key)),
                values: [
                    "title": .string("note \(key)"), "color": .string("c\(key)"), "rating": .int(Int64(key * 10)),
                ])
        }
        for key in 1...count {
            for tag in [key % 3 + 1, (key + 1) % 3 + 1] {
                try changes.add(Link(Int64(key), Int64(tag)), to: RelationshipName("Note", name: "tags"))
            }
        }
        _ = try store.commit(changes)
        return store
    }
}
