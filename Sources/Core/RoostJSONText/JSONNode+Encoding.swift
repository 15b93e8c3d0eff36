extension JSONNode {
    /// Creates the tree of an `Encodable` value.
    ///
    /// Members are ordered by the bytes of their keys. A double without a fraction is written
    /// without `.0`.
    ///
    /// - Throws: `EncodingError` for NaN and infinities; the errors of the value's `encode(to:)`.
    package init(encoding value: some Encodable) throws {
        let place = EncodedPlace()
        try place.encode(value, path: [])
        self = place.node
    }
}

/// The place of one value in a tree that is being encoded.
///
/// Encoding containers add content to their places.
private final class EncodedPlace {
    private enum Content {
        case value(JSONNode.Content)
        case array([EncodedPlace])
        case object([String: EncodedPlace])
    }

    // A value without encoded content becomes an empty object.
    private var content = Content.object([:])

    var count: Int {
        if case .array(let places) = content { return places.count }
        return 0
    }

    var node: JSONNode {
        switch content {
        case .value(let content): JSONNode(content)
        case .array(let places): JSONNode(.array(places.map(\.node)))
        case .object(let places):
            JSONNode(
                .object(
                    places.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                        .map { JSONMember($0.key, $0.value.node) }))
        }
    }

    func encodeNull() { content = .value(.null) }

    func encode<T: Encodable>(_ value: T, path: [any CodingKey]) throws {
        switch value {
        case let text as String: content = .value(.string(text))
        case let flag as Bool: content = .value(.bool(flag))
        case let number as any FixedWidthInteger: content = .value(.number("\(number)"))
        case let number as Double: content = .value(try Self.number(number, isFinite: number.isFinite, path: path))
        case let number as Float: content = .value(try Self.number(number, isFinite: number.isFinite, path: path))
        default: try value.encode(to: EncodedPlaceEncoder(place: self, codingPath: path))
        }
    }

    private static func number<T: CustomStringConvertible>(
        _ number: T, isFinite: Bool, path: [any CodingKey]
    ) throws -> JSONNode.Content {
        guard isFinite else {
            throw EncodingError.invalidValue(
                number, EncodingError.Context(codingPath: path, debugDescription: "JSON has no NaN or infinity."))
        }
        let text = number.description
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    func beginArray() { if case .array = content {} else { content = .array([]) } }

    func beginObject() { if case .object = content {} else { content = .object([:]) } }

    /// Appends an element to the array, and returns its place.
    func element() -> EncodedPlace {
        let place = EncodedPlace()
        guard case .array(var places) = content else { return place }
        content = .array([])
        places.append(place)
        content = .array(places)
        return place
    }

    /// Adds a member to the object, and returns the place of its value.
    func member(_ key: String) -> EncodedPlace {
        let place = EncodedPlace()
        guard case .object(var places) = content else { return place }
        content = .object([:])
        places[key] = place
        content = .object(places)
        return place
    }
}

private struct EncodedPlaceEncoder: Encoder, SingleValueEncodingContainer {
    let place: EncodedPlace
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        place.beginObject()
        return KeyedEncodingContainer(EncodedObject(place: place, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        place.beginArray()
        return EncodedArray(place: place, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { place.encodeNull() }
    func encode<T: Encodable>(_ value: T) throws { try place.encode(value, path: codingPath) }
}

private struct EncodedObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: EncodedPlace
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { place.member(key.stringValue).encodeNull() }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try place.member(key.stringValue).encode(value, path: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { EncodedPlaceEncoder(place: place.member("super"), codingPath: codingPath) }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: Key) -> EncodedPlaceEncoder {
        EncodedPlaceEncoder(place: place.member(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct EncodedArray: UnkeyedEncodingContainer {
    let place: EncodedPlace
    let codingPath: [any CodingKey]
    var count: Int { place.count }

    func encodeNil() { place.element().encodeNull() }

    func encode<T: Encodable>(_ value: T) throws { try place.element().encode(value, path: codingPath) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        EncodedPlaceEncoder(place: place.element(), codingPath: codingPath).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        EncodedPlaceEncoder(place: place.element(), codingPath: codingPath).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { EncodedPlaceEncoder(place: place.element(), codingPath: codingPath) }
}
