package import RoostCore

/// The models that checks use.
package enum ConformanceModel {
    /// A model with everything the contract speaks of.
    package static let standard: Result<ManagedObjectModel, StoreError> = build(standardEntities)

    /// `standard` with one attribute more: not compatible with it.
    package static let changed: Result<ManagedObjectModel, StoreError> = build(changedEntities)

    private static let unconstrained = build(standardEntities.map(withoutConstraints))
    private static let changedUnconstrained = build(changedEntities.map(withoutConstraints))

    /// ``standard``, or the same without uniqueness constraints where one of the fixtures cannot keep them.
    package static func standard(for fixtures: [StoreFixture]) throws(StoreError) -> ManagedObjectModel {
        try (fixtures.allSatisfy(\.keepsConstraints) ? standard : unconstrained).get()
    }

    /// ``changed``, or the same without uniqueness constraints where the fixture cannot keep them.
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
        entities[0].attributes.append(.init("added", .integer64))
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

    /// An attribute of every stored type, each optional and named after it.
    static let everyAttribute: [AttributeDescription] = [
        .init("i16", .integer16), .init("i32", .integer32), .init("i64", .integer64), .init("dec", .decimal),
        .init("dbl", .double), .init("flt", .float), .init("str", .string), .init("flag", .boolean),
        .init("day", .date),
        .init("blob", .binaryData), .init("ident", .uuid), .init("link", .uri), .init("coded", .transformable),
        .init("oid", .objectID),
        .init(
            "place", .composite,
            elements: [
                .init("street", .string), .init("number", .integer32),
                .init("position", .composite, elements: [.init("north", .double), .init("east", .double)]),
            ]),
    ]

    private static let standardEntities: [EntityDescription] = [
        EntityDescription("Everything", attributes: everyAttribute),
        // The same with an index on everything that can have one: fetches must answer alike.
        EntityDescription(
            "Indexed", attributes: everyAttribute, relationships: [.toOne("owner", "Being")],
            fetchIndexes: ["i16", "i32", "i64", "dec", "dbl", "flt", "str", "flag", "day", "ident", "link", "owner"].map
            {
                FetchIndexDescription("by_\($0)", on: $0)
            } + [
                FetchIndexDescription("by_pair", on: "flag", "str"),
                FetchIndexDescription(
                    "by_falling", elements: [.init("dbl", isAscending: false), .init("i64")]),
            ]),

        // Inheritance, three levels, two branches.
        EntityDescription(
            "Being", isAbstract: true, attributes: [.init("name", .string), .init("age", .integer64)],
            fetchIndexes: [FetchIndexDescription("by_age", on: "age")]),
        EntityDescription("Animal", superentity: "Being", attributes: [.init("legs", .integer32)]),
        EntityDescription("Dog", superentity: "Animal", attributes: [.init("trait", .string)]),
        EntityDescription("Robot", superentity: "Being", attributes: [.init("trait", .integer64)]),

        // Uniqueness.
        EntityDescription(
            "Account",
            attributes: [
                .init("email", .string), .init("first", .string), .init("last", .string), .init("number", .integer64),
                .init("token", .uuid),
            ],
            uniquenessConstraints: [["email"], ["first", "last"], ["number"], ["token"]]),
        EntityDescription(
            "Admin", superentity: "Account", attributes: [.init("badge", .integer32)],
            uniquenessConstraints: [["badge"]]),

        // Every kind of relationship.
        EntityDescription(
            "Track", attributes: [.init("title", .string)],
            relationships: [
                .toOne("album", "Album", inverse: "songs"),
                .toMany("playlists", "Playlist", inverse: "tracks"),
                .toMany("tags", "Tag", inverse: "tagged"),
                .toMany("queues", "Queue", inverse: "members", isOrdered: true),
            ]),
        EntityDescription(
            "Album", attributes: [.init("title", .string)],
            relationships: [
                .toMany("songs", "Track", inverse: "album", isOrdered: true),
                .toOne("shelf", "Shelf", inverse: "albums"),
            ]),
        EntityDescription(
            "Shelf", relationships: [.toMany("albums", "Album", inverse: "shelf"), .toMany("extras", "Track")]),
        EntityDescription(
            "Playlist", attributes: [.init("title", .string)],
            relationships: [.toMany("tracks", "Track", inverse: "playlists", isOrdered: true)]),
        EntityDescription("Tag", relationships: [.toMany("tagged", "Track", inverse: "tags")]),
        EntityDescription("Queue", relationships: [.toMany("members", "Track", inverse: "queues", isOrdered: true)]),
        EntityDescription(
            "Node", attributes: [.init("name", .string)],
            relationships: [
                .toMany("friends", "Node", inverse: "friends"), .toOne("parent", "Node", inverse: "children"),
                .toMany("children", "Node", inverse: "parent"), .toMany("owned", "Being", inverse: "keepers"),
            ]),
    ].map { entity in
        guard entity.name == "Being" else { return entity }
        var entity = entity
        entity.relationships.append(.toMany("keepers", "Node", inverse: "owned"))
        return entity
    }
}
