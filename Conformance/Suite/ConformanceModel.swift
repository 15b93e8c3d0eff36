package import RoostCore

/// Models for checks.
package enum ConformanceModel {
    /// A model with every type of stored attribute, inheritance, uniqueness constraints and most
    /// kinds of relationships.
    package static let standard: Result<ManagedObjectModel, StoreError> = build(standardEntities)

    /// The standard model with one more attribute; the two models are incompatible.
    package static let changed: Result<ManagedObjectModel, StoreError> = build(changedEntities)

    private static let unconstrained = build(standardEntities.map(withoutConstraints))
    private static let changedUnconstrained = build(changedEntities.map(withoutConstraints))

    /// Returns ``standard``, without uniqueness constraints if a fixture does not support them.
    package static func standard(for fixtures: [StoreFixture]) throws(StoreError) -> ManagedObjectModel {
        try (fixtures.allSatisfy(\.keepsConstraints) ? standard : unconstrained).get()
    }

    /// Returns ``changed``, without uniqueness constraints if the fixture does not support them.
    static func changed(for fixture: StoreFixture) throws(StoreError) -> ManagedObjectModel {
        try (fixture.keepsConstraints ? changed : changedUnconstrained).get()
    }

    static func withoutConstraints(_ entity: EntityDescription) -> EntityDescription {
        var entity = entity
        entity.uniquenessConstraints = []
        return entity
    }

    private static let changedEntities: [EntityDescription] = {
        var entities = standardEntities
        entities[0].attributes.append(.init("added", type: .integer64))
        return entities
    }()

    private static func build(_ entities: [EntityDescription]) -> Result<ManagedObjectModel, StoreError> {
        do throws(StoreError) {
            return .success(
                try ManagedObjectModel(
                    entities: entities, configurations: ["people": ["Account", "Admin"]],
                    versionIdentifiers: ["conformance 1"], userInfo: ["purpose": "conformance"]))
        } catch {
            return .failure(error)
        }
    }

    /// An optional attribute of every stored type.
    static let everyAttribute: [AttributeDescription] = [
        .init("i16", type: .integer16), .init("i32", type: .integer32), .init("i64", type: .integer64),
        .init("dec", type: .decimal),
        .init("dbl", type: .double), .init("flt", type: .float), .init("str", type: .string),
        .init("flag", type: .boolean),
        .init("day", type: .date),
        .init("blob", type: .binaryData), .init("ident", type: .uuid), .init("link", type: .uri),
        .init("coded", type: .transformable),
        .init("oid", type: .objectID),
        .init(
            "place", type: .composite,
            elements: [
                .init("street", type: .string), .init("number", type: .integer32),
                .init(
                    "position", type: .composite,
                    elements: [.init("north", type: .double), .init("east", type: .double)]),
            ]),
    ]

    private static let standardEntities: [EntityDescription] = [
        EntityDescription("Everything", attributes: everyAttribute),
        // The attributes of `Everything`, most of them indexed. Fetches of both entities must agree.
        EntityDescription(
            "Indexed", attributes: everyAttribute, relationships: [.toOne("owner", to: "Being")]
        ).with {
            $0.fetchIndexes =
                ["i16", "i32", "i64", "dec", "dbl", "flt", "str", "flag", "day", "ident", "link", "owner"].map {
                    FetchIndexDescription("by_\($0)", on: $0)
                } + [
                    FetchIndexDescription("by_pair", on: "flag", "str"),
                    FetchIndexDescription(
                        "by_falling", elements: [.init("dbl", isAscending: false), .init("i64")]),
                ]
        },

        // Inheritance with three levels and two branches.
        EntityDescription(
            "Being", attributes: [.init("name", type: .string), .init("age", type: .integer64)]
        ).with {
            $0.isAbstract = true
            $0.fetchIndexes = [FetchIndexDescription("by_age", on: "age")]
        },
        EntityDescription("Animal", superentity: "Being", attributes: [.init("legs", type: .integer32)]),
        EntityDescription("Dog", superentity: "Animal", attributes: [.init("trait", type: .string)]),
        EntityDescription("Robot", superentity: "Being", attributes: [.init("trait", type: .integer64)]),

        EntityDescription(
            "Account",
            attributes: [
                .init("email", type: .string), .init("first", type: .string), .init("last", type: .string),
                .init("number", type: .integer64),
                .init("token", type: .uuid),
            ],
            uniquenessConstraints: [["email"], ["first", "last"], ["number"], ["token"]]),
        EntityDescription(
            "Admin", superentity: "Account", attributes: [.init("badge", type: .integer32)],
            uniquenessConstraints: [["badge"]]),

        // Most kinds of relationships.
        EntityDescription(
            "Track", attributes: [.init("title", type: .string)],
            relationships: [
                .toOne("album", to: "Album", inverse: "songs"),
                .toMany("playlists", to: "Playlist", inverse: "tracks"),
                .toMany("tags", to: "Tag", inverse: "tagged"),
                .toMany("queues", to: "Queue", inverse: "members", isOrdered: true),
            ]),
        EntityDescription(
            "Album", attributes: [.init("title", type: .string)],
            relationships: [
                .toMany("songs", to: "Track", inverse: "album", isOrdered: true),
                .toOne("shelf", to: "Shelf", inverse: "albums"),
            ]),
        EntityDescription(
            "Shelf", relationships: [.toMany("albums", to: "Album", inverse: "shelf"), .toMany("extras", to: "Track")]),
        EntityDescription(
            "Playlist", attributes: [.init("title", type: .string)],
            relationships: [.toMany("tracks", to: "Track", inverse: "playlists", isOrdered: true)]),
        EntityDescription("Tag", relationships: [.toMany("tagged", to: "Track", inverse: "tags")]),
        EntityDescription(
            "Queue", relationships: [.toMany("members", to: "Track", inverse: "queues", isOrdered: true)]),
        EntityDescription(
            "Node", attributes: [.init("name", type: .string)],
            relationships: [
                .toMany("friends", to: "Node", inverse: "friends"), .toOne("parent", to: "Node", inverse: "children"),
                .toMany("children", to: "Node", inverse: "parent"), .toMany("owned", to: "Being", inverse: "keepers"),
            ]),
    ].map { entity in
        guard entity.name == "Being" else { return entity }
        var entity = entity
        entity.relationships.append(.toMany("keepers", to: "Node", inverse: "owned"))
        return entity
    }
}
