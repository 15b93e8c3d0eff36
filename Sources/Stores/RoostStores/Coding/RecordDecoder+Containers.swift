internal import RoostCore

/// The decoder of an object, of a composite or of a single value.
struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    // This structure fits in three words, so an existential stores it without an allocation.
    let decoder: RecordDecoder
    let property: CodedProperty
    let number: UInt

    var codingPath: [any CodingKey] { property.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(
            PropertyContainer(decoder: decoder, table: try decoder.table(of: property, number: number), number: number))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard property.kind == .toMany else { throw decoder.noContainer("a list of values", property: property) }
        return MemberContainer(
            decoder: decoder, property: property, members: try decoder.members(property, number: number))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { (try? decoder.isNull(property, number: number)) ?? false }

    @inline(__always)
    func decode<T: StoredValue>(_ type: T.Type) throws -> T {
        try decoder.required(type, property: property, number: number)
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if property.kind == .object || property.kind == .composite { return try T(from: self) }
        return try decoder.decode(type, property: property, number: number)
    }
}

/// The properties of an object or the elements of a composite, by coding key.
struct PropertyContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: RecordDecoder
    let table: PropertyTable
    let number: UInt

    var codingPath: [any CodingKey] { table.path }
    var allKeys: [Key] {
        table.properties.filter { $0.kind != .objectID && contains($0) }.compactMap { Key(stringValue: $0.name) }
    }

    private func contains(_ property: CodedProperty) -> Bool {
        property.kind != .ofOtherEntity && property.kind != .unstored
    }

    private func property(_ key: Key) throws(StoreError) -> CodedProperty {
        guard let property = table.property(key.stringValue) else { throw decoder.unknown(key, in: table) }
        return property
    }

    func contains(_ key: Key) -> Bool { table.property(key.stringValue).map { contains($0) } ?? false }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNull(try property(key), number: number) }

    // The protocol requires one method for each standard type. Inlining gives each of them specialized code.
    @inline(__always)
    func decode<T: StoredValue>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.required(type, property: try property(key), number: number)
    }

    @inline(__always)
    func optional<T: StoredValue>(_ type: T.Type, key: Key) throws(StoreError) -> T? {
        try decoder.value(type, property: try property(key), number: number)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.decode(type, property: try property(key), number: number)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        let property = try property(key)
        return try decoder.isNull(property, number: number)
            ? nil : try decoder.decode(type, property: property, number: number)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try ValueDecoder(decoder: decoder, property: try property(key), number: number).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try ValueDecoder(decoder: decoder, property: try property(key), number: number).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        throw decoder.noContainer("superDecoder()", in: table)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        throw decoder.noContainer("superDecoder(forKey:)", property: try property(key))
    }
}

/// The destinations of a to-many relationship.
struct MemberContainer: UnkeyedDecodingContainer {
    let decoder: RecordDecoder
    let property: CodedProperty
    let members: [ObjectID]
    private(set) var currentIndex = 0

    init(decoder: RecordDecoder, property: CodedProperty, members: [ObjectID]) {
        self.decoder = decoder
        self.property = property
        self.members = members
    }

    var codingPath: [any CodingKey] { property.path }
    var count: Int? { members.count }
    var isAtEnd: Bool { currentIndex == members.count }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard !isAtEnd else { throw decoder.noContainer("another object after the last one", property: property) }
        guard let id = members[currentIndex] as? T else { throw decoder.mismatch(T.self, property: property) }
        currentIndex += 1
        return id
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        throw decoder.noContainer("the properties of each object", property: property)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw decoder.noContainer("a list of lists", property: property)
    }

    mutating func superDecoder() throws -> any Decoder {
        throw decoder.noContainer("superDecoder()", property: property)
    }
}
