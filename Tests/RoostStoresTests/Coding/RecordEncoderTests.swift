import Foundation
import RoostCore
import RoostStores
import Testing

@Suite("Encoding rows")
struct RecordEncoderTests {
    private func failure(_ value: some Encodable, entity: EntityName = "Thing") -> StoreError? {
        do throws(StoreError) {
            _ = try CodingSample.encode(value, entity: entity)
            return nil
        } catch {
            return error
        }
    }

    @Test("a decoded value is encoded to the same row, without computed attributes") func roundTrip() throws {
        let thing = try CodingSample.decode(Thing.self)
        let row = try CodingSample.encode(thing)
        var expected = CodingSample.values
        expected["copy"] = nil
        #expect(row.values == expected)
        #expect(row.members == ["tags": CodingSample.tags, "previous": []])
        #expect(row.objectID == ObjectID("Thing", key: 5))
        #expect(
            try CodingSample.decode(Thing.self, values: row.values.merging(["copy": "e"]) { old, _ in old }) == thing)
    }

    @Test("an omitted nil is absent from the encoded row, and an explicit nil is null") func nils() throws {
        let row = try CodingSample.encode(OptionalThing(text: "x"))
        #expect(row.values == ["text": "x"])
        #expect((row.members, row.objectID) == ([:], nil))
        struct Explicit: Encodable {
            enum Key: String, CodingKey { case text, tags, place, owner, objectID, date }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                for key in [Key.text, .tags, .place, .owner, .objectID] { try container.encodeNil(forKey: key) }
                try container.encode(nil as Date?, forKey: .date)
            }
        }
        let explicit = try CodingSample.encode(Explicit())
        #expect(explicit.values == ["text": .null, "place": .null, "owner": .null, "date": .null])
        #expect(explicit.members == ["tags": []])
    }

    @Test("a set of objects is encoded in the order of their keys") func sets() throws {
        struct Row: Encodable { let tags: Set<ObjectID> }
        #expect(
            try CodingSample.encode(Row(tags: Set(CodingSample.tags))).members == ["tags": CodingSample.tags.reversed()]
        )
    }

    @Test("enumerations and single value wrappers are encoded as their raw values") func wrappers() throws {
        struct Row: Encodable {
            let text = RecordDecoderTests.Kind.jazz, small = RecordDecoderTests.Rank.high
            let place: RecordDecoderTests.Wrapped<Thing.Place>, date: RecordDecoderTests.Wrapped<Date?>
        }
        let place: Value = .composite(["city": "x", "point": .composite(["x": 1.0, "y": 2.0])])
        let wrapped = try CodingSample.decode(Single.self, values: ["place": place])
        let row = try CodingSample.encode(Row(place: wrapped.place, date: wrapped.date))
        #expect(row.values == ["text": "jazz", "small": 5, "place": place, "date": .null])
        struct Single: Decodable {
            let place: RecordDecoderTests.Wrapped<Thing.Place>, date: RecordDecoderTests.Wrapped<Date?>
        }
    }

    @Test("nested containers fill the elements of an encoded composite in any order") func containers() throws {
        struct Row: Encodable {
            enum Key: String, CodingKey { case place, tags, text }
            enum PlaceKey: String, CodingKey { case city, zip, point }
            enum PointKey: String, CodingKey { case x }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                var place = container.nestedContainer(keyedBy: PlaceKey.self, forKey: .place)
                var point = place.nestedContainer(keyedBy: PointKey.self, forKey: .point)
                var tags = container.nestedUnkeyedContainer(forKey: .tags)
                for tag in CodingSample.tags { try tags.encode(tag) }
                #expect(tags.count == 2)
                try container.encode("later", forKey: .text)
                try point.encode(1.0, forKey: .x)
                try place.encode("Oslo", forKey: .city)
                #expect(point.codingPath.map(\.stringValue) == ["place", "point"])
            }
        }
        let row = try CodingSample.encode(Row())
        #expect(
            row.values == ["text": "later", "place": .composite(["city": "Oslo", "point": .composite(["x": 1.0])])])
        #expect(row.members == ["tags": CodingSample.tags])
    }

    // MARK: Errors

    struct Single<Name: RecordDecoderTests.PropertyNamed, T: Encodable & Sendable>: Encodable, Sendable {
        let value: T
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: RecordDecoderTests.Single<RecordDecoderTests.Text, Int>.Key.self)
            try container.encode(value, forKey: .init(stringValue: Name.name))
        }
    }
    typealias Small<T: Encodable & Sendable> = Single<RecordDecoderTests.Small, T>
    typealias Text<T: Encodable & Sendable> = Single<RecordDecoderTests.Text, T>

    @Test(
        "encoding a value that its attribute cannot hold fails without showing the value",
        arguments: [
            (Small(value: 40_000), "small", "Int", "integer16"),
            (Small(value: UInt64.max), "small", "UInt64", "integer16"),
            (Small(value: 0.5), "small", "Double", "integer16"),
            (Small(value: Decimal(40_000)), "small", "Decimal", "integer16"),
            (Single<RecordDecoderTests.Large, UInt>(value: .max), "large", "UInt", "integer64"),
            (Single<RecordDecoderTests.Float_, Double>(value: 1e300), "float", "Double", "float"),
        ] as [(any Encodable & Sendable, String, String, String)])
    func unfit(value: any Encodable & Sendable, name: String, swiftType: String, attributeType: String) throws {
        let found = failure(value)
        let error = try #require(found)
        #expect(error.code == .invalidValue)
        #expect(
            error.message.hasSuffix(
                ".\(name)' has the Swift type \(swiftType) and a value that 'Thing.\(name)' (\(attributeType)) cannot hold."
            ),
            "\(error.message)")
    }

    @Test("a number of another type is encoded if its attribute holds it exactly") func numbers() throws {
        #expect(try CodingSample.encode(Small(value: 7.0)).values == ["small": 7])
        #expect(try CodingSample.encode(Small(value: Decimal(7))).values == ["small": 7])
        #expect(
            try CodingSample.encode(Single<RecordDecoderTests.Double_, Float>(value: 0.5)).values == ["double": 0.5])
        #expect(
            try CodingSample.encode(Single<RecordDecoderTests.URI, String>(value: "x:y")).values == ["uri": .uri("x:y")]
        )
    }

    @Test(
        "encoding an incompatible Swift type names both types",
        arguments: [
            (Small(value: "7"), "small", "String", "integer16"), (Small(value: true), "small", "Bool", "integer16"),
            (Text(value: 7), "text", "Int", "string"), (Text(value: CodingSample.date), "text", "Date", "string"),
            (Text(value: CodingSample.uuid), "text", "UUID", "string"), (Text(value: Data()), "text", "Data", "string"),
            (Single<RecordDecoderTests.DateName, Double>(value: 0), "date", "Double", "date"),
            (Single<RecordDecoderTests.Owner, Int>(value: 3), "owner", "Int", "to-one relationship"),
            (
                Single<RecordDecoderTests.Tags, ObjectID>(value: ObjectID("Tag", key: 1)), "tags", "ObjectID",
                "to-many relationship"
            ),
            (Single<RecordDecoderTests.Tags, [Int]>(value: [1]), "tags", "Array<Int>", "to-many relationship"),
            (Single<RecordDecoderTests.PlaceName, String>(value: ""), "place", "String", "composite"),
            (Single<RecordDecoderTests.ID, String>(value: ""), "objectID", "String", "ID of the object"),
        ] as [(any Encodable & Sendable, String, String, String)])
    func mismatches(value: any Encodable & Sendable, name: String, swiftType: String, attributeType: String) throws {
        let found = failure(value)
        let error = try #require(found)
        #expect(error.code == .invalidValue)
        #expect(
            error.message.hasSuffix(
                ".\(name)' has the Swift type \(swiftType), which does not fit 'Thing.\(name)' (\(attributeType))."),
            "\(error.message)")
    }

    @Test("encoding a key that is not a property suggests the nearest name") func unknownKeys() {
        struct Row: Encodable { let smal = 1 }
        #expect(failure(Row())?.code == .unknownProperty)
        #expect(
            failure(Row())?.message == "Entity 'Thing' has no property 'smal', a key of 'Row'; did you mean 'small'?")
        struct Other: Encodable { let worth = 1 }
        #expect(
            failure(Other(), entity: "Person")?.message
                == "Entity 'Person' has no property 'worth'; entity 'Company' has one.")
        struct Transient: Encodable { let scratch = "" }
        #expect(failure(Transient())?.code == .unknownProperty)
        #expect(failure(Row(), entity: "Thong")?.code == .unknownEntity)
    }

    struct Lists: Encodable, Sendable { let text = ["a"] }
    struct Dictionaries: Encodable, Sendable { let text = ["a": 1] }
    struct Empty: Encodable, Sendable { let text: [String: Int] = [:] }
    struct Bytes: Encodable, Sendable { let data: [UInt8] = [1] }
    struct Super: Encodable, Sendable {
        enum Key: String, CodingKey { case text }
        func encode(to encoder: any Encoder) throws {
            try "x".encode(to: encoder.container(keyedBy: Key.self).superEncoderCopy())
        }
    }

    @Test(
        "encoding into a container that a row does not have fails and names the property",
        arguments: [
            (Lists(), "'Lists.text' asks for a list of values, which 'Thing.text' (string) does not have."),
            (Bytes(), "'Bytes.data' asks for a list of values, which 'Thing.data' (binaryData) does not have."),
            (Dictionaries(), "'Dictionaries.text' asks for keys, which 'Thing.text' (string) does not have."),
            (Empty(), "'Empty.text' asks for keys, which 'Thing.text' (string) does not have."),
            (
                Super(),
                "'Super' asks for superEncoder(), which 'Thing' does not have. Pass the encoder of encode(to:) to super.encode(to:)."
            ),
            ([1], "'Array<Int>' asks for a list of values, which 'Thing' (object) does not have."),
            (5, "'Int' encodes a single value, and an object has properties. Encode it with a key for each property."),
            (
                ObjectID("Thing", key: 1),
                "'ObjectID' encodes a single value, and an object has properties. Encode it with a key for each property."
            ),
        ] as [(any Encodable & Sendable, String)])
    func wrongContainers(value: any Encodable & Sendable, message: String) {
        let found = failure(value)
        #expect(found?.message == message)
    }

    struct Odd: Error, Equatable {}

    @Test("an error of a program's encode(to:) is kept in an error that names the property") func ownErrors()
        throws
    {
        struct Checked: Encodable {
            func encode(to encoder: any Encoder) throws { throw Odd() }
        }
        struct Row: Encodable { let text = Checked() }
        let error = try #require(failure(Row()))
        #expect(error.message == "'Row.text' cannot be encoded: its encode(to:) threw an error.")
        #expect(error.underlying as? Odd == Odd())
    }

    @Test("the error for a program's EncodingError hides the value") func encodingErrors() throws {
        struct Row: Encodable {
            enum Key: String, CodingKey { case text }
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(
                    "secret", .init(codingPath: [Key.text], debugDescription: "no", underlyingError: Odd()))
            }
        }
        let error = try #require(failure(Row()))
        #expect(error.message == "'Row.text' cannot be encoded: its encode(to:) threw an error.")
        #expect(error.underlying as? Odd == Odd())
        #expect(!"\(error)".contains("secret"))
    }
}

extension KeyedEncodingContainer {
    fileprivate func superEncoderCopy() -> any Encoder {
        var container = self
        return container.superEncoder()
    }
}

@Suite("Object IDs as text")
struct ObjectIDCodingTests {
    struct Row: Codable, Equatable { let album: ObjectID, tags: [ObjectID] }

    @Test("an object ID is encoded in JSON as its description, and decoded from it") func json() throws {
        let row = Row(album: ObjectID("Album", key: 5), tags: [ObjectID("Odd/Name", key: .max)])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(row)
        #expect(
            String(decoding: data, as: UTF8.self) == #"{"album":"Album/p5","tags":["Odd/Name/p9223372036854775807"]}"#)
        #expect(try JSONDecoder().decode(Row.self, from: data) == row)
    }

    @Test(
        "decoding an object ID from malformed text is a decoding error",
        arguments: [
            "", "Album", "Album/", "Album/p", "Album/5", "Album/p0", "Album/p-1", "Album/p+1", "/p5",
            "Album/p9223372036854775808", "Album/p5 ", "Album/p٥",
        ])
    func malformed(text: String) throws {
        let data = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ObjectID].self, from: data) }
    }
}
