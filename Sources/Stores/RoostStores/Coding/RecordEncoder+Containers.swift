internal import RoostCore

/// The encoder of an object, of a composite or of a single value.
struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let row: RowEncoding
    let scope: RowScope
    let property: CodedProperty

    var codingPath: [any CodingKey] { property.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let scope = property.kind == .composite ? scope.composite(property.name) : scope
        if let table = property.table {
            table.begin()
            row.beginKeys()
        } else {
            row.fail(row.noContainer("keys", property: property))
        }
        return KeyedEncodingContainer(RowContainer(row: row, scope: scope, property: property))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RowMemberContainer(row: row, property: property) }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws { try row.setNil(property, scope: scope) }

    func encode<T: StoredValue>(_ value: T) throws { try row.set(value, property: property, scope: scope) }

    func encode<T: Encodable>(_ value: T) throws {
        if property.kind == .object || property.kind == .composite { return try value.encode(to: self) }
        try row.encode(value, property: property, scope: scope)
    }
}

struct RowContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let row: RowEncoding
    let scope: RowScope
    /// The object or the composite.
    let property: CodedProperty

    var codingPath: [any CodingKey] { property.path }

    private func property(_ key: some CodingKey) throws(StoreError) -> CodedProperty {
        guard let table = property.table else { throw row.failure ?? row.noContainer("keys", property: property) }
        guard let property = table.property(key.stringValue) else { throw row.unknown(key, in: table) }
        return property
    }

    func encodeNil(forKey key: Key) throws { try row.setNil(try property(key), scope: scope) }

    func encode<T: StoredValue>(_ value: T, forKey key: Key) throws {
        try row.set(value, property: try property(key), scope: scope)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try row.encode(value, property: try property(key), scope: scope)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { failing(noSuperEncoder("superEncoder()")) }

    func superEncoder(forKey key: Key) -> any Encoder { failing(noSuperEncoder("superEncoder(forKey:)")) }

    private func noSuperEncoder(_ what: String) -> StoreError {
        property.table.map { row.noContainer(what, in: $0) } ?? row.noContainer(what, property: property)
    }

    private func nested(_ key: Key) -> ValueEncoder {
        do throws(StoreError) {
            return ValueEncoder(row: row, scope: scope, property: try property(key))
        } catch {
            return failing(error)
        }
    }

    /// Marks the row as failed, and returns an encoder that throws for every value.
    private func failing(_ error: StoreError) -> ValueEncoder {
        row.fail(error)
        return ValueEncoder(
            row: row, scope: RowScope(),
            property: CodedProperty("", kind: .unstored, label: property.label, reason: error.message))
    }
}

/// The destinations of a to-many relationship.
struct RowMemberContainer: UnkeyedEncodingContainer {
    let row: RowEncoding
    let property: CodedProperty

    init(row: RowEncoding, property: CodedProperty) {
        self.row = row
        self.property = property
        if property.kind == .toMany { row.members[property.name] = [] } else { row.fail(error("a list of values")) }
    }

    var codingPath: [any CodingKey] { property.path }
    var count: Int { row.members[property.name]?.count ?? 0 }

    private func error(_ what: String) -> StoreError { row.failure ?? row.noContainer(what, property: property) }

    mutating func encodeNil() throws { throw error("a list with nil") }

    mutating func encode<T: Encodable>(_ value: T) throws {
        guard property.kind == .toMany else { throw error("a list of values") }
        guard let id = value as? ObjectID else { throw row.mismatch([T].self, property: property) }
        row.members[property.name, default: []].append(id)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        failing("the properties of each object").container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        failing("a list of lists").unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { failing("superEncoder()") }

    private func failing(_ what: String) -> ValueEncoder {
        row.fail(error(what))
        return ValueEncoder(
            row: row, scope: RowScope(),
            property: CodedProperty("", kind: .unstored, label: property.label, reason: error(what).message))
    }
}
