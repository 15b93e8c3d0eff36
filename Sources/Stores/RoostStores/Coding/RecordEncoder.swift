internal import Foundation
package import RoostCore

/// The values of an encoded object.
package struct EncodedRow: Sendable {
    /// Attributes and to-one relationships by name, in the form of a batch insert's row.
    package var values: [String: Value] = [:]
    /// The destinations of to-many relationships by name.
    package var members: [String: [ObjectID]] = [:]
    package var objectID: ObjectID?
}

/// An encoder of a program's `Encodable` types into rows of an entity.
///
/// An encoder supports the same keys and types as ``RecordDecoder``:
///
/// ```swift
/// struct NewTrack: Encodable { var title: String, plays = 0, album: ObjectID? }
/// let row = try encoder.encode(NewTrack(title: "So What"), for: "Track")
/// ```
///
/// If a type encodes nil for a key, the property is null. If a type does not encode a key, the
/// property is missing in the row, so that its default value applies. A synthesized `encode(to:)`
/// does not encode optionals that are nil. The row omits derived attributes, because the store
/// computes them. An encoder keeps tables of names, so use one encoder for many values, from one
/// thread at a time.
package final class RecordEncoder {
    let model: ManagedObjectModel
    private var roots: [CodedProperty?]

    package init(model: ManagedObjectModel) {
        self.model = model
        roots = Array(repeating: nil, count: model.entities.count)
    }

    /// Encodes a value as an object of an entity.
    ///
    /// - Throws: `unknownEntity`; `unknownProperty` for a transient property, and for an unknown
    ///   key with the nearest name; `invalidValue` for a property with the wrong Swift type or an
    ///   invalid value; `invalidRequest` for a container that a row cannot have. An error of the
    ///   type's own `encode(to:)` becomes the `underlying` error, but a `StoreError` is thrown
    ///   unchanged.
    package func encode<T: Encodable>(_ value: T, for entity: EntityName) throws(StoreError) -> EncodedRow {
        let entity = try model.requireEntity(entity)
        let row = RowEncoding(type: T.self)
        do {
            try value.encode(to: ValueEncoder(row: row, scope: row.scope, property: root(entity)))
        } catch {
            throw row.storeError(error)
        }
        if let failure = row.failure { throw failure }
        return EncodedRow(values: row.scope.values(), members: row.members, objectID: row.objectID)
    }

    private func root(_ entity: ManagedObjectModel.Entity) -> CodedProperty {
        if let root = roots[entity.number] { return root }
        let table = PropertyTable(entity, model: model)
        let root = CodedProperty("", kind: .object, label: table.label, table: table)
        roots[entity.number] = root
        return root
    }
}

/// The values of one object or one composite during encoding.
final class RowScope {
    private var own: [String: Value] = [:]
    private var composites: [String: RowScope] = [:]

    func set(_ value: Value, for name: String) {
        own[name] = value
        if !composites.isEmpty { composites[name] = nil }
    }

    /// Returns the values of a composite, to which the caller adds elements.
    func composite(_ name: String) -> RowScope {
        if let scope = composites[name] { return scope }
        let scope = RowScope()
        composites[name] = scope
        own[name] = nil
        return scope
    }

    func values() -> [String: Value] {
        guard !composites.isEmpty else { return own }
        var values = own
        for (name, scope) in composites { values[name] = .composite(scope.values()) }
        return values
    }
}

final class RowEncoding {
    let type: any Any.Type
    let scope = RowScope()
    var members: [String: [ObjectID]] = [:]
    var objectID: ObjectID?
    /// The first error of a method that cannot throw.
    private(set) var failure: StoreError?
    /// The Swift type of the property being encoded, for messages.
    ///
    /// Nil after this type has requested a keyed container, because each key has its own type.
    private var fieldType: (any Any.Type)?
    /// The property whose type failed to encode.
    private var failedProperty: CodedProperty?

    init(type: any Any.Type) { self.type = type }

    func beginKeys() { fieldType = nil }

    func fail(_ error: StoreError) { if failure == nil { failure = error } }

    // MARK: Values

    func set<T: StoredValue>(_ value: T, property: CodedProperty, scope: RowScope) throws(StoreError) {
        switch property.kind {
        case .field:
            guard let field = property.field, T.accepts(field.kind) else { throw mismatch(T.self, property: property) }
            guard let stored = value.value(for: field.kind) else { throw unfit(T.self, property: property) }
            if !property.isDerived { scope.set(stored, for: property.name) }
        case .objectID:
            guard let id = value as? ObjectID else { throw mismatch(T.self, property: property) }
            objectID = id
        case .unstored, .ofOtherEntity: throw StoreError(.unknownProperty, property.reason)
        case .composite, .toMany, .object: throw mismatch(T.self, property: property)
        }
    }

    /// Sets a property to null, or a to-many relationship to an empty list.
    func setNil(_ property: CodedProperty, scope: RowScope) throws(StoreError) {
        switch property.kind {
        case .field, .composite: if !property.isDerived { scope.set(.null, for: property.name) }
        case .toMany: members[property.name] = []
        case .objectID: objectID = nil
        case .unstored, .ofOtherEntity: throw StoreError(.unknownProperty, property.reason)
        case .object: throw mismatch(Never?.self, property: property)
        }
    }

    /// Sets a property to a value of any type.
    func encode<T: Encodable>(_ value: T, property: CodedProperty, scope: RowScope) throws {
        if property.kind == .toMany {
            // A cast alone is not enough, because it also accepts an empty array of another element type.
            if T.self == [ObjectID].self, let ids = value as? [ObjectID] {
                members[property.name] = ids
                return
            }
            if T.self == Set<ObjectID>.self, let ids = value as? Set<ObjectID> {
                // The IDs are sorted, so that equal sets give equal rows.
                members[property.name] = ids.sorted { ($0.key, $0.entity) < ($1.key, $1.entity) }
                return
            }
        }
        switch value {
        case let value as Date: try set(value, property: property, scope: scope)
        case let value as UUID: try set(value, property: property, scope: scope)
        case let value as Data: try set(value, property: property, scope: scope)
        case let value as Decimal: try set(value, property: property, scope: scope)
        case let value as URL: try set(value, property: property, scope: scope)
        case let value as ObjectID: try set(value, property: property, scope: scope)
        default: try encodeItself(value, property: property, scope: scope)
        }
    }

    private func encodeItself<T: Encodable>(_ value: T, property: CodedProperty, scope: RowScope) throws {
        if property.kind == .unstored || property.kind == .ofOtherEntity {
            throw StoreError(.unknownProperty, property.reason)
        }
        let outer = fieldType
        fieldType = T.self
        defer { fieldType = outer }
        do {
            try value.encode(to: ValueEncoder(row: self, scope: scope, property: property))
        } catch {
            if !(error is StoreError), failedProperty == nil { failedProperty = property }
            throw error
        }
    }

    // MARK: Errors

    private func name(_ property: CodedProperty) -> String {
        ([String(describing: type)] + property.path.map(\.stringValue)).joined(separator: ".")
    }

    private func swiftType(_ type: any Any.Type) -> String {
        "\(fieldType ?? type)"
    }

    func unknown(_ key: some CodingKey, in table: PropertyTable) -> StoreError {
        table.unknown(key, of: type)
    }

    func mismatch(_ type: any Any.Type, property: CodedProperty) -> StoreError {
        guard property.kind != .object else {
            return StoreError(
                .invalidRequest,
                "'\(self.type)' encodes a single value, and an object has properties. Encode it with a key for each property."
            )
        }
        return StoreError(
            .invalidValue,
            "'\(name(property))' has the Swift type \(swiftType(type)), which does not fit '\(property.label)' (\(property.typeName))."
        )
    }

    private func unfit(_ type: any Any.Type, property: CodedProperty) -> StoreError {
        StoreError(
            .invalidValue,
            "'\(name(property))' has the Swift type \(swiftType(type)) and a value that '\(property.label)' (\(property.typeName)) cannot hold."
        )
    }

    func noContainer(_ what: String, property: CodedProperty) -> StoreError {
        StoreError(
            .invalidRequest,
            "'\(name(property))' asks for \(what), which '\(property.label)' (\(property.typeName)) does not have.")
    }

    /// Returns an error for a superclass encoder, which rows do not have.
    func noContainer(_ what: String, in table: PropertyTable) -> StoreError {
        StoreError(
            .invalidRequest,
            "'\(type)' asks for \(what), which '\(table.label)' does not have. Pass the encoder of encode(to:) to super.encode(to:)."
        )
    }

    func storeError(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        var path = failedProperty?.path.map(\.stringValue) ?? []
        var underlying: (any Error)? = error
        if let error = error as? EncodingError, case .invalidValue(_, let context) = error {
            let codingPath = context.codingPath.map(\.stringValue)
            if codingPath.count >= path.count { path = codingPath }
            // Errors must not contain values, but an `EncodingError` does. So only the underlying
            // error in its context is used.
            underlying = context.underlyingError
        }
        let name = ([String(describing: type)] + path).joined(separator: ".")
        return StoreError(
            .invalidValue, "'\(name)' cannot be encoded: its encode(to:) threw an error.", underlying: underlying)
    }
}
