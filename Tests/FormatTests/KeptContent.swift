import Foundation
import Roost
import RoostCore
import RoostMigration

/// The content of the stores in `Tests/Fixtures`.
///
/// This content never changes, because stores of older programs are compared with it. New features
/// need other content.
enum KeptContent {
    static let storeUUID = StoreUUID("0F1E2D3C-4B5A-4697-8879-6A5B4C3D2E1F")

    /// Returns a model with every type of attribute and every kind of relationship, index and
    /// constraint.
    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: entities, configurations: ["people": ["Band", "Person"]],
            fetchRequestTemplates: [
                FetchRequestTemplate(
                    "named", entity: "Person", predicateFormat: "name == $NAME", options: ["limit": "5"])
            ],
            versionIdentifiers: ["kept 1"], userInfo: ["purpose": "fixtures"])
    }

    /// Returns a changed model, the destination of ``mapping()``.
    static func nextModel() throws -> ManagedObjectModel {
        var entities = entities
        for index in entities.indices {
            switch entities[index].name {
            case "Person":
                entities[index].attributes.removeAll { $0.name == "email" }
                entities[index].attributes.append(
                    AttributeDescription("mail", type: .string).with { $0.renamingIdentifier = "email" })
                entities[index].uniquenessConstraints = [["mail"], ["first", "last"]]
            case "Tag":
                entities[index].attributes.append(.string("label", default: "none"))
            default: break
            }
        }
        return try ManagedObjectModel(entities: entities, versionIdentifiers: ["kept 2"])
    }

    static func mapping() throws -> MappingModel {
        var mapping = try MappingModel.inferred(from: try model(), to: try nextModel())
        for index in mapping.entityMappings.indices where mapping.entityMappings[index].destinationEntity == "Tag" {
            mapping.entityMappings[index].sourcePredicate = try FetchRequest.Predicate(format: "number > 0")
            mapping.entityMappings[index].userInfo = ["note": "the label is made from the number"]
            mapping.entityMappings[index].attributeMappings = [
                PropertyMapping(
                    "label", expression: try FetchRequest.Expression(format: "CAST($source.number, \"NSString\")")),
                PropertyMapping("number", expression: .source("number"), userInfo: ["note": "as it is"]),
            ]
        }
        mapping.userInfo = ["purpose": "fixtures"]
        return mapping
    }

    private static let thing: [AttributeDescription] = [
        AttributeDescription(
            "i16", type: .integer16, defaultValue: .int(7)
        ).with { $0.validation = AttributeValidation(minimum: .int(-32768)) },
        AttributeDescription("i32", type: .integer32), AttributeDescription("i64", type: .integer64),
        AttributeDescription("dec", type: .decimal).with {
            $0.validation = AttributeValidation(maximum: .decimal(Decimal(10)))
        },
        AttributeDescription("dbl", type: .double), AttributeDescription("flt", type: .float),
        AttributeDescription(
            "str", type: .string
        ).with {
            $0.validation = AttributeValidation(minimumLength: 0, maximumLength: 9000, regularExpression: "(?s).*")
        },
        AttributeDescription("flag", type: .boolean, defaultValue: .bool(true)),
        AttributeDescription("day", type: .date),
        AttributeDescription("blob", type: .binaryData).with { $0.allowsExternalBinaryDataStorage = true },
        AttributeDescription("ident", type: .uuid), AttributeDescription("link", type: .uri),
        AttributeDescription(
            "coded", type: .transformable
        ).with {
            $0.valueTransformerName = "Secret"
            $0.attributeValueClassName = "NSObject"
        },
        AttributeDescription("oid", type: .objectID),
        AttributeDescription("passing", type: .undefined).with { $0.isTransient = true },
        AttributeDescription("shadow", type: .string).with { $0.isTransient = true },
        AttributeDescription("upper", type: .string).with { $0.derivationExpression = "uppercase:(str)" },
        AttributeDescription(
            "place", type: .composite,
            elements: [
                AttributeDescription("street", type: .string), AttributeDescription("number", type: .integer32),
                AttributeDescription(
                    "position", type: .composite,
                    elements: [
                        AttributeDescription("north", type: .double), AttributeDescription("east", type: .double),
                    ]),
            ]
        ).with { $0.userInfo = ["note": "composite"] },
    ]

    private static let entities: [EntityDescription] = [
        EntityDescription(
            "Thing", attributes: thing, relationships: [.toOne("owner", to: "Party")]
        ).with {
            $0.fetchedProperties = [
                FetchedPropertyDescription("alike", entity: "Thing", predicateFormat: "i16 == $FETCH_SOURCE.i16")
            ]
            $0.fetchIndexes = [
                FetchIndexDescription("by_text", on: "str"), FetchIndexDescription("by_owner", on: "owner"),
                FetchIndexDescription(
                    "by_two", elements: [.init("dbl", isAscending: false), .init("place.number")]),
                FetchIndexDescription("by_place", elements: [.init("dbl", collation: .rTree)]),
                FetchIndexDescription(
                    "by_part", elements: [.init("i64")], partialIndexPredicateFormat: "i64 > 5"),
                FetchIndexDescription("by_length", elements: [.init("length", expression: "length:(str)")]),
            ]
        },
        EntityDescription(
            "Party", attributes: [.init("name", type: .string, isOptional: false)]
        ).with {
            $0.isAbstract = true
            $0.fetchIndexes = [FetchIndexDescription("by_name", on: "name")]
        },
        EntityDescription(
            "Band", superentity: "Party", attributes: [.init("founded", type: .integer16)],
            relationships: [.toMany("albums", to: "Album", inverse: "band", deleteRule: .cascade)]
        ).with {
            $0.renamingIdentifier = "Group"
            $0.versionHashModifier = "second"
        },
        EntityDescription(
            "Person", superentity: "Party",
            attributes: [.init("email", type: .string), .init("first", type: .string), .init("last", type: .string)],
            relationships: [
                .toMany("friends", to: "Person", inverse: "friends"),
                .toOne("passport", to: "Passport", inverse: "holder"),
                .toOne("parent", to: "Person", inverse: "children"),
                .toMany("children", to: "Person", inverse: "parent"),
            ], uniquenessConstraints: [["email"], ["first", "last"]]),
        EntityDescription("Passport", relationships: [.toOne("holder", to: "Person", inverse: "passport")]),
        EntityDescription(
            "Album", attributes: [.init("title", type: .string)],
            relationships: [
                .toOne("band", to: "Band", inverse: "albums"),
                .toMany("tracks", to: "Track", inverse: "album", isOrdered: true),
            ]),
        EntityDescription(
            "Track", attributes: [.init("title", type: .string)],
            relationships: [
                .toOne("album", to: "Album", inverse: "tracks"), .toMany("tags", to: "Tag", inverse: "tagged"),
                .toMany("lists", to: "Playlist", inverse: "entries", isOrdered: true),
            ]),
        EntityDescription(
            "Playlist",
            relationships: [
                .toMany("entries", to: "Track", inverse: "lists", isOrdered: true), .toMany("extras", to: "Track"),
            ]),
        EntityDescription(
            "Tag", attributes: [.init("number", type: .integer64)],
            relationships: [.toMany("tagged", to: "Track", inverse: "tags")]),
        EntityDescription("Vacancy", attributes: [.init("reason", type: .string)]),
    ]

    /// Returns the commits; the last two are in the log of an unclosed store.
    static func commits(_ model: ManagedObjectModel) throws -> [ChangeSet] {
        [try inserts(model), try links(model), try laterChanges(model)]
    }

    private static func inserts(_ model: ManagedObjectModel) throws -> ChangeSet {
        var changes = ChangeSet(model: model)
        try insertThings(into: &changes)
        try insertParties(into: &changes)
        for key in Int64(1)...3 {
            try changes.insert(
                ObjectID("Album", key: key),
                values: [
                    "title": .string("Album \(key)"), "band": key == 3 ? .null : .objectID(ObjectID("Band", key: key)),
                ])
        }
        for key in Int64(1)...20 {
            var values: [String: Value] = ["title": key % 6 == 0 ? .null : .string("Track \(key)")]
            if key % 5 != 0 {
                values["album"] = .objectID(ObjectID("Album", key: key % 3 + 1))
                values["album#order"] = .int((20 - key) * 16)
            }
            try changes.insert(ObjectID("Track", key: key * 3), values: values)
        }
        for key in Int64(1)...4 { try changes.insert(ObjectID("Tag", key: key), values: ["number": .int(key * 10)]) }
        for key in Int64(1)...2 { try changes.insert(ObjectID("Playlist", key: key), values: [:]) }
        changes.userMetadata = [
            "title": .string("kept"), "number": .int(-42), "real": .double(0.1), "yes": .bool(true),
            "when": .date(Date(timeIntervalSinceReferenceDate: 1.5)), "bytes": .data(Data([0, 1, 255])),
            "list": .array([.string("one"), .dictionary(["two": .int(2)])]), "gone": .string("soon"),
        ]
        return changes
    }

    /// Inserts objects with values of every type: minimums, maximums, nulls and large values.
    private static func insertThings(into changes: inout ChangeSet) throws {
        try changes.insert(
            ObjectID("Thing", key: 1),
            values: [
                "i16": .int(-32768), "i32": .int(Int64(Int32.min)), "i64": .int(.min),
                "dec": .decimal(try decimal("-12345678901234567890123456789012345678e-127")),
                "dbl": .double(-0.0), "flt": .double(Double(Float.leastNonzeroMagnitude)), "str": .string(""),
                "flag": .bool(false), "day": .date(Date(timeIntervalSinceReferenceDate: -63_114_076_800.125)),
                "blob": .data(Data()), "ident": .uuid(uuid(0)), "link": .uri(""), "coded": .data(Data()),
                "oid": .objectID(ObjectID("Tag", key: 1)), "upper": .string(""),
                "owner": .objectID(ObjectID("Band", key: 1)),
                "place": .composite(["street": .string(""), "position": .composite(["north": .double(-90)])]),
            ])
        try changes.insert(
            ObjectID("Thing", key: 2),
            values: [
                "i16": .int(32767), "i32": .int(Int64(Int32.max)), "i64": .int(.max),
                "dec": .decimal(try decimal("99999999999999999999999999999999999999e90")),
                "dbl": .double(.infinity), "flt": .double(Double(Float.greatestFiniteMagnitude)),
                "str": .string("a\u{0}b cafe\u{301} café Straße 夜 🎷 'quoted' \"twice\" 100% \\ \n\t\u{7F}\u{2028}"),
                "flag": .bool(true), "day": .date(Date(timeIntervalSinceReferenceDate: 0.1)),
                "blob": .data(Data((0...255).map { UInt8($0) })), "ident": .uuid(uuid(255)),
                "link": .uri("not a URI: %%"), "coded": .data(Data([1, 2, 3])),
                "oid": .objectID(ObjectID("Person", key: 3)),
                "upper": .string("UPPER"), "owner": .objectID(ObjectID("Person", key: 3)),
                "place": .composite([
                    "street": .string("1 Way"), "number": .int(-1),
                    "position": .composite(["north": .double(1e-300), "east": .double(.nan)]),
                ]),
            ])
        try changes.insert(ObjectID("Thing", key: 3), values: [:])
        // Values that are longer than a page of any store.
        try changes.insert(
            ObjectID("Thing", key: 1_000_000_007),
            values: [
                "str": .string(String(repeating: "long é ", count: 800)), "dec": .decimal(.nan),
                "dbl": .double(Double(bitPattern: 0x7FF8_0000_0000_1234)), "flt": .double(-.infinity),
                "blob": .data(Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ $0 >> 3) })),
                "day": .date(Date(timeIntervalSinceReferenceDate: .infinity)),
            ])
    }

    private static func insertParties(into changes: inout ChangeSet) throws {
        for key in Int64(1)...2 {
            try changes.insert(
                ObjectID("Band", key: key), values: ["name": .string("Band \(key)"), "founded": .int(1960 + key)])
        }
        for key in Int64(3)...9 {
            var values: [String: Value] = [
                "name": .string("Person \(key)"), "email": key == 5 ? .null : .string("p\(key)@example.org"),
                "first": .string("F\(key % 3)"), "last": key % 3 == 0 ? .null : .string("L\(key)"),
            ]
            if key > 4 { values["parent"] = .objectID(ObjectID("Person", key: key - 2)) }
            if key < 6 { values["passport"] = .objectID(ObjectID("Passport", key: key)) }
            try changes.insert(ObjectID("Person", key: key), values: values)
        }
        for key in Int64(3)...6 {
            try changes.insert(
                ObjectID("Passport", key: key),
                values: key < 6 ? ["holder": .objectID(ObjectID("Person", key: key))] : [:])
        }
    }

    private static func links(_ model: ManagedObjectModel) throws -> ChangeSet {
        var changes = ChangeSet(model: model)
        for track in Int64(1)...20 {
            for tag in Int64(1)...4 where (track + tag) % 3 == 0 {
                try changes.add(Link(track * 3, tag), to: RelationshipName("Track", name: "tags"))
            }
        }
        for place in Int64(0)..<10 {
            try changes.add(
                Link(1 + place % 2, (place * 7 % 20 + 1) * 3, order: 1000 - place * 3, inverseOrder: place % 4),
                to: RelationshipName("Playlist", name: "entries"))
        }
        try changes.add(Link(2, 9), to: RelationshipName("Playlist", name: "extras"))
        for (one, other) in [(3, 4), (5, 3), (9, 8), (7, 7)] as [(Int64, Int64)] {
            try changes.add(Link(one, other), to: RelationshipName("Person", name: "friends"))
        }
        changes.userMetadata.updateValue(nil, forKey: "gone")
        return changes
    }

    /// Returns changes that raise versions above 1, and delete objects.
    private static func laterChanges(_ model: ManagedObjectModel) throws -> ChangeSet {
        var changes = ChangeSet(model: model)
        try changes.update(ObjectID("Tag", key: 2), version: 1, values: ["number": .int(-20)])
        try changes.update(
            ObjectID("Person", key: 9), version: 1,
            values: ["name": .string("Renamed"), "email": .string("new@example.org")])
        changes.delete(ObjectID("Passport", key: 6), version: 1)
        changes.delete(ObjectID("Track", key: 60), version: 1)
        try changes.insert(ObjectID("Tag", key: 90), values: ["number": .null])
        changes.delete(ObjectID("Tag", key: 4), version: 1)
        try changes.remove(Link(3, 4), from: RelationshipName("Person", name: "friends"))
        changes.userMetadata = ["number": .int(43)]
        return changes
    }

    private static func uuid(_ first: UInt8) -> UUID {
        UUID(uuid: (first, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11, 12, 13, 14, first))
    }

    private static func decimal(_ text: String) throws -> Decimal {
        guard let decimal = Decimal(string: text) else { throw StoreError(.invalidValue, "no decimal number") }
        return decimal
    }
}
