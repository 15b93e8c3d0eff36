import RoostCore
import RoostModelCode
import Testing

/// Models and shortcuts that several tests use.
enum Samples {
    static func music() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Album", attributes: [.string("title", isOptional: false), .integer16("year"), .double("rating")],
                relationships: [.toMany("tracks", to: "Track", inverse: "album", isOrdered: true)]),
            EntityDescription(
                "Track", attributes: [.string("title")],
                relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
        ])
    }

    /// Returns a model with two levels of inheritance.
    static func people() throws -> ManagedObjectModel {
        var person = EntityDescription(
            "Person", attributes: [.string("name", isOptional: false), .date("born")],
            relationships: [.toMany("friends", to: "Person", inverse: "friends")])
        person.isAbstract = true
        return try ManagedObjectModel(entities: [
            person,
            EntityDescription("Employee", superentity: "Person", attributes: [.integer32("age", isOptional: false)]),
            EntityDescription(
                "Boss", superentity: "Employee", attributes: [.boolean("isKind")],
                relationships: [.toOne("deputy", to: "Employee")]),
        ])
    }

    /// Returns a model with an entity whose attributes have all types, optional and mandatory.
    static func types(superentity: Bool) throws -> ManagedObjectModel {
        var attributes: [AttributeDescription] = []
        for type in AttributeType.allCases {
            for isOptional in [true, false] {
                let name = "\(type.name)\(isOptional ? "Optional" : "Mandatory")"
                var attribute = AttributeDescription(name, type: type, isOptional: isOptional)
                if type == .composite { attribute.elements = [.double("x"), .string("y")] }
                if type != .undefined { attributes.append(attribute) }
                attribute.name += "Transient"
                attribute.isTransient = true
                attributes.append(attribute)
            }
        }
        var coded = AttributeDescription("cover", type: .transformable)
        coded.attributeValueClassName = "[String: [Int]]"
        attributes.append(coded)
        var archived = AttributeDescription("archived", type: .transformable)
        archived.attributeValueClassName = "NSArray"
        attributes.append(archived)
        attributes.append(.derived("count", type: .integer64, from: "others.@count"))
        var weak = RelationshipDescription.toOne("weakOther", to: "Thing")
        weak.isTransient = true
        var thing = EntityDescription(
            "Thing", superentity: superentity ? "Base" : nil, attributes: attributes,
            relationships: [
                .toOne("one", to: "Thing", inverse: "others"), .toMany("others", to: "Thing", inverse: "one"),
                .toMany("ordered", to: "Thing", isOrdered: true), weak,
            ])
        thing.fetchedProperties = [FetchedPropertyDescription("found", entity: "Thing")]
        return try ManagedObjectModel(
            entities: superentity ? [EntityDescription("Base", attributes: [.string("own")]), thing] : [thing])
    }

    static func texts(
        _ model: ManagedObjectModel, source: String = "Music.roostmodel.json",
        access: ModelCode.AccessLevel = .internal, layout: ModelCode.Layout = .perEntity
    ) throws -> [String] {
        try ModelCode(model, source: source, access: access).files(layout).map(\.text)
    }

    static func message(_ model: ManagedObjectModel, source: String = "Music.roostmodel.json") throws -> String {
        let error = try #require(throws: StoreError.self) { try texts(model, source: source) }
        #expect(error.code == .invalidModel)
        return error.message
    }

    static func attribute(_ name: String, of entity: String = "Thing") throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [EntityDescription(entity, attributes: [.string(name)])])
    }
}
