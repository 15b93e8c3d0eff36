import Foundation
import Roost
import RoostCore
import RoostStores
import Testing

@Suite("Decoding records")
struct RecordDecoderTests {
    private static func failure<T: Decodable>(
        _ type: T.Type, values: [String: Value] = CodingSample.values, entity: EntityName = "Thing",
        hasMembers: Bool = true
    ) -> StoreError? {
        do throws(StoreError) {
            _ = try CodingSample.decode(type, values: values, entity: entity, hasMembers: hasMembers)
            return nil
        } catch {
            return error
        }
    }

    @Test("a Codable type receives the value of every attribute and relationship of a record") func everything() throws
    {
        let thing = try CodingSample.decode(Thing.self)
        #expect(thing.objectID == ObjectID("Thing", key: 5))
        #expect((thing.small, thing.middle, thing.large) == (-7, 70_000, .max))
        #expect((thing.flag, thing.double, thing.float) == (true, 0.1, 0.5))
        #expect(thing.decimal == CodingSample.decimal)
        #expect(thing.text.unicodeScalars.elementsEqual("e\u{301}, \0 and 🎷".unicodeScalars))
        #expect((thing.date, thing.uuid) == (CodingSample.date, CodingSample.uuid))
        #expect((thing.data, thing.stored) == (Data([0, 1, 255]), Data([7])))
        #expect(thing.uri.absoluteString == "https://example.org/a?b=c")
        #expect(thing.other == ObjectID("Person", key: 9))
        #expect(thing.place == .init(city: "Oslo", zip: 150, point: .init(x: 1.5, y: -2.5, note: nil)))
        #expect((thing.owner, thing.next) == (ObjectID("Company", key: 3), ObjectID("Thing", key: 8)))
        #expect(thing.tags == CodingSample.tags)
        #expect(thing.previous == [])
    }

    @Test("an optional property is decoded as nil from a null value") func optionals() throws {
        #expect(
            try CodingSample.decode(OptionalThing.self, values: [:])
                == OptionalThing(objectID: ObjectID("Thing", key: 5), tags: CodingSample.tags))
        let full = try CodingSample.decode(OptionalThing.self)
        #expect((full.small, full.large, full.flag) == (-7, UInt64(Int64.max), true))
        #expect(
            (full.text, full.date, full.other) == ("e\u{301}, \0 and 🎷", CodingSample.date, ObjectID("Person", key: 9)))
        #expect(full.place == .init(city: "Oslo", point: .init(x: 1.5, y: -2.5)))
        #expect(try CodingSample.decode(OptionalThing.self, values: ["place": .composite([:])]).place == .init())
    }

    // MARK: Types

    struct Field<T: Decodable & Sendable>: Decodable, Sendable { let value: T }

    /// A type with one property, whose key differs between tests.
    struct Single<Name: PropertyNamed, T: Decodable>: Decodable {
        let value: T
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        init(from decoder: any Decoder) throws {
            value = try decoder.container(keyedBy: Key.self).decode(T.self, forKey: Key(stringValue: Name.name))
        }
    }
    protocol PropertyNamed { static var name: String { get } }
    enum Small: PropertyNamed { static let name = "small" }
    enum Middle: PropertyNamed { static let name = "middle" }
    enum Large: PropertyNamed { static let name = "large" }
    enum Double_: PropertyNamed { static let name = "double" }
    enum Float_: PropertyNamed { static let name = "float" }
    enum Decimal_: PropertyNamed { static let name = "decimal" }
    enum Text: PropertyNamed { static let name = "text" }
    enum Flag: PropertyNamed { static let name = "flag" }
    enum URI: PropertyNamed { static let name = "uri" }
    enum Tags: PropertyNamed { static let name = "tags" }
    enum Owner: PropertyNamed { static let name = "owner" }
    enum PlaceName: PropertyNamed { static let name = "place" }
    enum ID: PropertyNamed { static let name = "objectID" }
    enum DateName: PropertyNamed { static let name = "date" }

    @Test("a number is decoded into another numeric type that represents it exactly") func exactNumbers() throws {
        #expect(try CodingSample.decode(Single<Small, Double>.self).value == -7)
        #expect(try CodingSample.decode(Single<Small, Decimal>.self).value == -7)
        #expect(try CodingSample.decode(Single<Middle, UInt>.self).value == 70_000)
        #expect(try CodingSample.decode(Single<Float_, Double>.self).value == 0.5)
        #expect(try CodingSample.decode(Single<Double_, Float>.self, values: ["double": 0.25]).value == 0.25)
        #expect(try CodingSample.decode(Single<Double_, Float>.self, values: ["double": .double(.nan)]).value.isNaN)
        #expect(try CodingSample.decode(Single<URI, String>.self).value == "https://example.org/a?b=c")
    }

    @Test("decode(_:forKey:) with an optional type returns nil for a null value") func explicitOptional()
        throws
    {
        #expect(try CodingSample.decode(Single<DateName, Date?>.self, values: [:]).value == nil)
        #expect(try CodingSample.decode(Single<DateName, Date?>.self).value == CodingSample.date)
        #expect(try CodingSample.decode(Single<Small, Int?>.self).value == -7)
        #expect(try CodingSample.decode(Single<PlaceName, Thing.Place?>.self, values: [:]).value == nil)
    }

    @Test("decoding a value that the Swift type cannot represent fails without showing the value") func unfitNumbers()
        throws
    {
        let error = try #require(Self.failure(Single<Middle, Int16>.self))
        #expect(error.code == .invalidValue)
        #expect(
            error.message
                == "'Single<Middle, Int16>.middle' has the Swift type Int16, which cannot represent the value of 'Thing.middle' (integer32) in Thing/p5."
        )
        #expect(Self.failure(Single<Small, UInt64>.self)?.code == .invalidValue)
        #expect(Self.failure(Single<Large, Double>.self)?.code == .invalidValue)
        #expect(Self.failure(Single<Double_, Float>.self)?.code == .invalidValue)
        #expect(Self.failure(Single<URI, URL>.self, values: ["uri": .uri("")])?.code == .invalidValue)
    }

    @Test(
        "decoding an attribute as an incompatible Swift type names both types",
        arguments: [
            Wrong(Single<Small, String>.self, name: "small", swiftType: "String", attributeType: "integer16"),
            Wrong(Single<Text, Int>.self, name: "text", swiftType: "Int", attributeType: "string"),
            Wrong(Single<Flag, Int>.self, name: "flag", swiftType: "Int", attributeType: "boolean"),
            Wrong(Single<Small, Bool>.self, name: "small", swiftType: "Bool", attributeType: "integer16"),
            Wrong(Single<Double_, Int>.self, name: "double", swiftType: "Int", attributeType: "double"),
            Wrong(Single<Decimal_, Double>.self, name: "decimal", swiftType: "Double", attributeType: "decimal"),
            Wrong(Single<Text, Date>.self, name: "text", swiftType: "Date", attributeType: "string"),
            Wrong(Single<Double_, Date>.self, name: "double", swiftType: "Date", attributeType: "double"),
            Wrong(Single<Text, UUID>.self, name: "text", swiftType: "UUID", attributeType: "string"),
            Wrong(Single<Text, URL>.self, name: "text", swiftType: "URL", attributeType: "string"),
            Wrong(Single<Text, Data>.self, name: "text", swiftType: "Data", attributeType: "string"),
            Wrong(Single<Text, ObjectID>.self, name: "text", swiftType: "ObjectID", attributeType: "string"),
            Wrong(Single<DateName, Double>.self, name: "date", swiftType: "Double", attributeType: "date"),
            Wrong(Single<Text, Decimal>.self, name: "text", swiftType: "Decimal", attributeType: "string"),
            Wrong(Single<Owner, String>.self, name: "owner", swiftType: "String", attributeType: "to-one relationship"),
            Wrong(Single<Owner, Int>.self, name: "owner", swiftType: "Int", attributeType: "to-one relationship"),
            Wrong(Single<Tags, String>.self, name: "tags", swiftType: "String", attributeType: "to-many relationship"),
            Wrong(
                Single<Tags, ObjectID>.self, name: "tags", swiftType: "ObjectID", attributeType: "to-many relationship"),
            Wrong(Single<ID, String>.self, name: "objectID", swiftType: "String", attributeType: "ID of the object"),
            Wrong(Single<ID, Date>.self, name: "objectID", swiftType: "Date", attributeType: "ID of the object"),
            Wrong(Single<PlaceName, String>.self, name: "place", swiftType: "String", attributeType: "composite"),
        ] as [Wrong])
    func mismatches(wrong: Wrong) throws {
        for values in [CodingSample.values, [:]] where wrong.name != "place" || !values.isEmpty {
            let error = try #require(wrong.failure(values))
            #expect(error.code == .invalidValue)
            #expect(
                error.message.hasSuffix(
                    ".\(wrong.name)' has the Swift type \(wrong.swiftType), which does not fit 'Thing.\(wrong.name)' (\(wrong.attributeType))."
                ), "\(error.message)")
        }
    }

    struct Wrong: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let failure: @Sendable ([String: Value]) -> StoreError?
        var name = ""
        var swiftType = ""
        var attributeType = ""

        init<T: Decodable & SendableMetatype>(
            _ type: T.Type, name: String, swiftType: String, attributeType: String
        ) {
            self.init(type)
            (self.name, self.swiftType, self.attributeType) = (name, swiftType, attributeType)
        }

        init<T: Decodable & SendableMetatype>(_ type: T.Type) {
            testDescription = "\(type)"
            failure = { RecordDecoderTests.failure(type, values: $0) }
        }
    }

    enum Kind: String, Codable { case jazz, blues }
    enum Rank: Int16, Codable { case low = 1, high = 5 }
    struct Wrapped<T: Codable>: Codable {
        let value: T
        init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(T.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    @Test("an enumeration is decoded from its raw value; errors hide unknown raw values") func enumerations() throws {
        struct Row: Decodable { let text: Kind, small: Rank?, middle: Rank? }
        let row = try CodingSample.decode(Row.self, values: ["text": "blues", "small": 5])
        #expect((row.text, row.small, row.middle) == (.blues, .high, nil))
        let error = try #require(Self.failure(Row.self, values: ["text": "secret"]))
        #expect(error.code == .invalidValue)
        #expect(
            error.message
                == "'Row.text' has the Swift type Kind, which has no case for the value of 'Thing.text' (string) in Thing/p5."
        )
        #expect(!"\(error)".contains("secret"))
    }

    @Test("a type with a single value container is decoded from its attribute") func wrappers() throws {
        struct Row: Decodable {
            let text: Wrapped<String>, date: Wrapped<Date>, small: Wrapped<Int8>, flag: Wrapped<Bool?>
            let place: Wrapped<Thing.Place>, tags: Wrapped<[ObjectID]>, owner: Wrapped<ObjectID>
        }
        let row = try CodingSample.decode(Row.self)
        #expect((row.date.value, row.small.value, row.flag.value) == (CodingSample.date, -7, true))
        #expect((row.place.value.city, row.tags.value) == ("Oslo", CodingSample.tags))
        #expect(row.owner.value == ObjectID("Company", key: 3))
    }

    // MARK: Null, unknown keys

    @Test("decoding null for a property that is not optional names the property") func nulls() throws {
        let error = try #require(Self.failure(Single<Text, String>.self, values: [:]))
        #expect(error.code == .invalidValue)
        #expect(
            error.message
                == "'Single<Text, String>.text' has the Swift type String, which is not optional, and 'Thing.text' (string) is null in Thing/p5. Make it optional."
        )
        #expect(
            Self.failure(Single<DateName, Date>.self, values: [:])?.message.contains(
                "Swift type Date, which is not optional")
                == true)
        #expect(
            Self.failure(Single<Owner, ObjectID>.self, values: [:])?.message.contains("(to-one relationship) is null")
                == true)
        #expect(
            Self.failure(Single<Text, Kind>.self, values: [:])?.message.contains(
                "Swift type Kind, which is not optional")
                == true)
        #expect(
            Self.failure(Single<PlaceName, Thing.Place>.self, values: [:])?.message.contains(
                "Swift type Place, which is not")
                == true)
        let nested = Self.failure(
            Single<PlaceName, Thing.Place>.self, values: ["place": .composite(["city": "x", "point": .composite([:])])])
        #expect(nested?.message.contains(".place.point.x' has the Swift type Double, which is not optional") == true)
    }

    @Test("decoding a key that no entity of the hierarchy has suggests the nearest name") func unknownKeys() throws {
        struct Row: Decodable { let text: String, smal: Int? }
        let error = try #require(Self.failure(Row.self))
        #expect(error.code == .unknownProperty)
        #expect(error.message == "Entity 'Thing' has no property 'smal', a key of 'Row'; did you mean 'small'?")
        struct Nested: Decodable {
            struct Place: Decodable { let town: String? }
            let place: Place
        }
        #expect(
            Self.failure(Nested.self)?.message == "Composite 'Thing.place' has no property 'town', a key of 'Nested'.")
    }

    @Test("an optional property that only a sibling entity has is decoded as nil") func hierarchies() throws {
        struct Row: Decodable { let name: String, age: Int?, worth: Decimal? }
        let person = try CodingSample.decode(Row.self, values: ["name": "Ada", "age": 36], entity: "Person")
        #expect((person.name, person.age, person.worth) == ("Ada", 36, nil))
        struct Strict: Decodable { let worth: Decimal }
        let error = try #require(Self.failure(Strict.self, values: [:], entity: "Person"))
        #expect(error.code == .invalidValue)
        #expect(error.message.hasPrefix("Entity 'Person' has no property 'worth'; entity 'Company' has one."))
    }

    @Test("decoding a transient attribute fails, even into an optional") func transient() {
        struct Row: Decodable { let scratch: String? }
        #expect(Self.failure(Row.self)?.code == .unknownProperty)
        #expect(Self.failure(Row.self)?.message == "'Thing.scratch' is transient, so no store has its value.")
    }

    @Test("decoding a to-many relationship fails if the request reads no members") func noMembers() {
        let error = Self.failure(Thing.self, hasMembers: false)
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("'Thing.tags' refers to many objects") == true)
    }

    // MARK: Containers

    @Test("a custom initializer can use nested containers, lists of objects and all keys") func containers() throws {
        struct Row: Decodable {
            var city = "", x = 0.0, ids: [ObjectID] = [], names: Set<String> = [], isNull = false, hasNote = false
            enum Key: String, CodingKey, CaseIterable { case place, tags, text, nothing, age, scratch, objectID }
            enum PlaceKey: String, CodingKey { case city, point }
            enum PointKey: String, CodingKey { case x, note }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                names = Set(container.allKeys.map(\.rawValue))
                isNull = try container.decodeNil(forKey: .text)
                let place = try container.nestedContainer(keyedBy: PlaceKey.self, forKey: .place)
                #expect(place.codingPath.map(\.stringValue) == ["place"])
                city = try place.decode(String.self, forKey: .city)
                let point = try place.nestedContainer(keyedBy: PointKey.self, forKey: .point)
                #expect(point.codingPath.map(\.stringValue) == ["place", "point"])
                x = try point.decode(Double.self, forKey: .x)
                hasNote = point.contains(.note)
                var tags = try container.nestedUnkeyedContainer(forKey: .tags)
                while !tags.isAtEnd { ids.append(try tags.decode(ObjectID.self)) }
                #expect(!container.contains(.nothing) && !container.contains(.scratch) && container.contains(.objectID))
            }
        }
        let row = try CodingSample.decode(Row.self)
        #expect((row.city, row.x, row.ids) == ("Oslo", 1.5, CodingSample.tags))
        #expect(row.names == ["place", "tags", "text"])
        #expect((row.isNull, row.hasNote) == (false, true))
    }

    @Test("a composite with elements of several types cannot be decoded into a dictionary of strings")
    func dictionaries() throws {
        struct Row: Decodable {
            struct Place: Decodable { let city: String }
            let place: Place
        }
        struct Point: Decodable { let place: [String: String] }
        #expect(try CodingSample.decode(Row.self).place.city == "Oslo")
        let message = Self.failure(Point.self)?.message ?? ""
        #expect(
            message.contains("'Point.place.point' has the Swift type String")
                || message.contains("'Point.place.zip' has"))
    }

    struct Lists: Decodable { let text: [String] }
    struct Dictionaries: Decodable { let text: [String: Int] }
    struct NestedLists: Decodable { let place: [Int] }
    struct RelatedValues: Decodable { let owner: Thing }
    struct Bytes: Decodable { let data: [UInt8] }
    struct Numbers: Decodable { let tags: [Int] }
    class Base: Decodable { let text: String }
    final class Derived: Base {
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: RecordDecoderTests.Single<Text, Int>.Key.self)
            try super.init(from: container.superDecoder())
        }
    }
    final class WellDerived: Base {
        let small: Int
        enum Key: String, CodingKey { case small }
        required init(from decoder: any Decoder) throws {
            small = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .small)
            try super.init(from: decoder)
        }
    }

    @Test(
        "decoding from a container that a record does not have fails and names the property",
        arguments: [
            (Wrong(Lists.self), "'Lists.text' asks for a list of values, which 'Thing.text' (string) does not have."),
            (
                Wrong(NestedLists.self),
                "'NestedLists.place' asks for a list of values, which 'Thing.place' (composite) does not have."
            ),
            (
                Wrong(Bytes.self),
                "'Bytes.data' asks for a list of values, which 'Thing.data' (binaryData) does not have."
            ),
            (
                Wrong(Dictionaries.self),
                "'Dictionaries.text' has a Swift type with keys, but 'Thing.text' has type string and is not a composite."
            ),
            (
                Wrong(RelatedValues.self),
                "'RelatedValues.owner' has a Swift type with keys, but 'Thing.owner' has type to-one relationship and is not a composite."
            ),
            (
                Wrong(Numbers.self),
                "'Numbers.tags' has the Swift type Array<Int>, which does not fit 'Thing.tags' (to-many relationship)."
            ),
            (
                Wrong(Derived.self),
                "'Derived' asks for superDecoder(), which 'Thing' does not have. Pass the decoder of init(from:) to super.init(from:)."
            ),
            (Wrong([Int].self), "'Array<Int>' asks for a list of values, which 'Thing' (object) does not have."),
            (
                Wrong(Int.self),
                "'Int' asks for a single value, and an object has properties. Decode it with a key for each property."
            ),
            (
                Wrong(Date.self),
                "'Date' asks for a single value, and an object has properties. Decode it with a key for each property."
            ),
            (
                Wrong(ObjectID.self),
                "'ObjectID' asks for a single value, and an object has properties. Decode it with a key for each property."
            ),
        ] as [(Wrong, String)])
    func wrongContainers(wrong: Wrong, message: String) {
        #expect(wrong.failure(CodingSample.values)?.message == message)
    }

    @Test("a class that gives its decoder to its superclass decodes the properties of both") func classes() throws {
        let object = try CodingSample.decode(WellDerived.self)
        #expect((object.small, object.text) == (-7, "e\u{301}, \0 and 🎷"))
    }

    // MARK: Errors of programs

    struct Odd: Error, Equatable { let number: Int }
    struct Checked: Decodable {
        let value: Int
        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Int.self)
            guard value > 0 else { throw Odd(number: value) }
        }
    }

    @Test("an error of a program's initializer is kept in an error that names the property") func ownErrors()
        throws
    {
        struct Row: Decodable { let small: Checked }
        let error = try #require(Self.failure(Row.self))
        #expect(error.code == .invalidValue)
        #expect(
            error.message
                == "'Row.small' cannot be decoded from the record of Thing/p5: its initializer threw an error.")
        #expect(error.underlying as? Odd == Odd(number: -7))
    }

    @Test("a program's initializer can catch a decoding error and continue") func caughtErrors() throws {
        struct Row: Decodable {
            var small = 0, text = ""
            enum Key: String, CodingKey { case small, text }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                do { small = try container.decode(Checked.self, forKey: .small).value } catch let error as Odd {
                    small = error.number
                }
                text = (try? container.decode(String.self, forKey: .small)) ?? "none"
            }
        }
        let row = try CodingSample.decode(Row.self)
        #expect((row.small, row.text) == (-7, "none"))
    }

    @Test("a program's DecodingError is kept in an error that names the property") func decodingErrors()
        throws
    {
        struct Row: Decodable {
            enum Key: String, CodingKey { case text }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                throw DecodingError.dataCorruptedError(forKey: .text, in: container, debugDescription: "never right")
            }
        }
        let error = try #require(Self.failure(Row.self))
        #expect(error.code == .invalidValue)
        #expect(error.message.hasPrefix("'Row.text' cannot be decoded from the record of Thing/p5"))
        #expect(error.underlying is DecodingError)
    }

    @Test("a StoreError thrown by a program's initializer keeps its code") func storeErrors() {
        struct Row: Decodable {
            init(from decoder: any Decoder) throws { throw StoreError(.cancelled, "mine") }
        }
        #expect(Self.failure(Row.self)?.code == .cancelled)
    }

    // MARK: Lifetimes

    final class Keeper: Decodable {
        enum Key: String, CodingKey { case small, text }
        let decoder: any Decoder
        let container: KeyedDecodingContainer<Key>
        init(from decoder: any Decoder) throws {
            self.decoder = decoder
            container = try decoder.container(keyedBy: Key.self)
        }
    }

    @Test("a decoding container that outlives its record can read no record") func staleContainers()
        throws
    {
        let model = try CodingSample.model()
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Thing", key: 1), values: ["small": 1])
        let decoder = RecordDecoder(model: model)
        let kept = try batch.withRecord(at: 0) { (record) throws(StoreError) in
            try decoder.decode(Keeper.self, from: record)
        }
        #expect(throws: StoreError.self) { try kept.container.decode(Int.self, forKey: .small) }
        #expect(throws: StoreError.self) { try kept.container.decodeIfPresent(String.self, forKey: .text) }
        #expect(throws: StoreError.self) { try kept.decoder.container(keyedBy: Keeper.Key.self) }
        struct Prober: Decodable {
            nonisolated(unsafe) static var kept: Keeper?
            init(from decoder: any Decoder) throws {
                #expect(throws: StoreError.self) { try Self.kept?.container.decode(Int.self, forKey: .small) }
            }
        }
        Prober.kept = kept
        _ = try batch.withRecord(at: 0) { (record) throws(StoreError) in try decoder.decode(Prober.self, from: record) }
        Prober.kept = nil
    }

    @Test("one decoder decodes many entities and types, even while it reads members") func reuse() throws {
        let model = try CodingSample.model()
        var batch = RecordBatch(model: model)
        for key in 1...9 {
            try batch.append(
                ObjectID(key % 2 == 0 ? "Person" : "Company", key: Int64(key)), values: ["name": .string("n\(key)")])
        }
        try batch.append(ObjectID("Thing", key: 1), values: ["text": "t", "small": 2])
        struct Party: Decodable { let name: String, age: Int?, objectID: ObjectID }
        struct Backwards: Decodable { let worth: Decimal?, objectID: ObjectID, age: Int?, name: String }
        struct Small: Decodable { let tags: [ObjectID], small: Int, text: String }
        let decoder = RecordDecoder(model: model)
        for index in 0..<9 {
            try batch.withRecord(at: index) { (record) throws(StoreError) in
                let (party, backwards) = (
                    try decoder.decode(Party.self, from: record), try decoder.decode(Backwards.self, from: record)
                )
                #expect((party.name, party.objectID.key) == ("n\(index + 1)", Int64(index + 1)))
                #expect((backwards.name, backwards.objectID) == (party.name, party.objectID))
            }
        }
        let thing = try batch.withRecord(at: 9) { (record) throws(StoreError) in
            try decoder.decode(Small.self, from: record) { _, _ throws(StoreError) in
                try batch.withRecord(at: 0) { (other) throws(StoreError) in
                    [try decoder.decode(Party.self, from: other).objectID]
                }
            }
        }
        #expect((thing.tags, thing.small, thing.text) == ([ObjectID("Company", key: 1)], 2, "t"))
    }

    @Test("decoded members of an ordered relationship have the snapshot's order and entities", arguments: Sample.types)
    func snapshots(type: String) throws {
        let folder = try Folder()
        let model = try CodingSample.model()
        let store = try StoreRegistry.standard.create(folder.location(type), model: model)
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("Person", key: 1), values: [:])
        for (key, place) in [(1, 3), (2, 1), (3, 2)] as [(Int64, Int64)] {
            try changes.insert(
                ObjectID("Thing", key: key),
                values: ["owner": .objectID(ObjectID("Person", key: 1)), "owner#order": .int(place)])
        }
        _ = try store.commit(changes)
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        struct Owner: Decodable { let things: [ObjectID] }
        var batch = RecordBatch(model: model)
        #expect(try snapshot.record(with: ObjectID("Person", key: 1), into: &batch))
        let owner = try batch.withRecord(at: 0) { (record) throws(StoreError) in
            try RecordDecoder(model: model).decode(Owner.self, from: record) { relationship, id throws(StoreError) in
                try snapshot.destinations(of: relationship, from: id)
            }
        }
        #expect(owner.things == [2, 3, 1].map { ObjectID("Thing", key: $0) })
    }
}
