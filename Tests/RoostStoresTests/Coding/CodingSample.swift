import Foundation
import RoostCore
import RoostStores

/// A model and values for tests of decoders and encoders; a thing has each type of attribute.
enum CodingSample {
    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing",
                attributes: [
                    .integer16("small"), .integer32("middle"), .integer64("large"), .boolean("flag"), .double("double"),
                    .float("float"), .decimal("decimal"), .string("text"), .date("date"),
                    AttributeDescription("data", type: .binaryData), AttributeDescription("uuid", type: .uuid),
                    AttributeDescription("uri", type: .uri), AttributeDescription("stored", type: .transformable),
                    AttributeDescription("other", type: .objectID),
                    AttributeDescription("scratch", type: .string).with { $0.isTransient = true },
                    AttributeDescription("copy", type: .string).with { $0.derivationExpression = "canonical:(text)" },
                    AttributeDescription(
                        "place", type: .composite,
                        elements: [
                            .string("city"), .integer16("zip"),
                            AttributeDescription(
                                "point", type: .composite, elements: [.double("x"), .double("y"), .string("note")]),
                        ]),
                ],
                relationships: [
                    .toOne("owner", to: "Party", inverse: "things"), .toOne("next", to: "Thing", inverse: "previous"),
                    .toMany("previous", to: "Thing", inverse: "next"), .toMany("tags", to: "Tag", inverse: "things"),
                ]),
            EntityDescription(
                "Party", attributes: [.string("name")],
                relationships: [.toMany("things", to: "Thing", inverse: "owner", isOrdered: true)]),
            EntityDescription("Person", superentity: "Party", attributes: [.integer16("age")]),
            EntityDescription("Company", superentity: "Party", attributes: [.decimal("worth")]),
            EntityDescription("Tag", relationships: [.toMany("things", to: "Thing", inverse: "tags")]),
        ])
    }

    static let date = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
    static let uuid = UUID()
    static let decimal = Decimal(string: "12345678901234567890.123456789") ?? 0

    static let values: [String: Value] = [
        "small": -7, "middle": 70_000, "large": .int(.max), "flag": true, "double": 0.1, "float": 0.5,
        "decimal": .decimal(decimal), "text": "e\u{301}, \0 and 🎷", "date": .date(date),
        "data": .data(Data([0, 1, 255])),
        "uuid": .uuid(uuid), "uri": .uri("https://example.org/a?b=c"), "stored": .data(Data([7])),
        "other": .objectID(ObjectID("Person", key: 9)), "copy": "e",
        "place": .composite([
            "city": "Oslo", "zip": 150, "point": .composite(["x": 1.5, "y": -2.5, "note": .null]),
        ]),
        "owner": .objectID(ObjectID("Company", key: 3)), "next": .objectID(ObjectID("Thing", key: 8)),
    ]

    static let tags = [ObjectID("Tag", key: 4), ObjectID("Tag", key: 2)]

    static func decode<T: Decodable>(
        _ type: T.Type, values: [String: Value] = values, entity: EntityName = "Thing", hasMembers: Bool = true
    ) throws(StoreError) -> T {
        let model: ManagedObjectModel
        do { model = try Self.model() } catch { throw StoreError(.invalidModel, "\(error)") }
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID(entity, key: 5), values: values)
        let decoder = RecordDecoder(model: model)
        return try batch.withRecord(at: 0) { (record) throws(StoreError) in
            guard hasMembers else { return try decoder.decode(type, from: record) }
            return try decoder.decode(type, from: record) { relationship, id in
                relationship.name.name == "tags" && id == ObjectID("Thing", key: 5) ? tags : []
            }
        }
    }

    static func encode(_ value: some Encodable, entity: EntityName = "Thing") throws(StoreError) -> EncodedRow {
        let model: ManagedObjectModel
        do { model = try Self.model() } catch { throw StoreError(.invalidModel, "\(error)") }
        return try RecordEncoder(model: model).encode(value, for: entity)
    }
}

/// A type with a property for each attribute and relationship.
struct Thing: Codable, Equatable {
    struct Place: Codable, Equatable {
        struct Point: Codable, Equatable {
            var x: Double
            var y: Double
            var note: String?
        }
        var city: String
        var zip: Int16?
        var point: Point
    }
    var objectID: ObjectID
    var small: Int8
    var middle: UInt32
    var large: Int
    var flag: Bool
    var double: Double
    var float: Float
    var decimal: Decimal
    var text: String
    var date: Date
    var data: Data
    var uuid: UUID
    var uri: URL
    var stored: Data
    var other: ObjectID
    var copy: String?
    var place: Place
    var owner: ObjectID
    var next: ObjectID?
    var tags: [ObjectID]
    var previous: Set<ObjectID>
}

/// A type with an optional property for most attributes and relationships.
struct OptionalThing: Codable, Equatable {
    struct Place: Codable, Equatable {
        var city: String?
        var point: Thing.Place.Point?
    }
    var objectID: ObjectID?
    var small: Int?
    var large: UInt64?
    var flag: Bool?
    var double: Double?
    var float: Float?
    var decimal: Decimal?
    var text: String?
    var date: Date?
    var data: Data?
    var uuid: UUID?
    var uri: URL?
    var other: ObjectID?
    var place: Place?
    var owner: ObjectID?
    var tags: [ObjectID]?
}
