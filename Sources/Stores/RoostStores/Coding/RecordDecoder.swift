internal import Foundation
package import RoostCore

/// A decoder of records into a program's `Decodable` types.
///
/// A coding key is the name of a property, and `objectID` is the record's own ID:
///
/// ```swift
/// struct Row: Decodable { let objectID: ObjectID, title: String, plays: Int, album: ObjectID? }
/// let row = try decoder.decode(Row.self, from: record)
/// ```
///
/// - An attribute is an integer of any width, `Bool`, `Double`, `Float`, `Decimal`, `String`,
///   `Date`, `Data`, `UUID`, `URL` or `ObjectID`, or an enumeration with raw values of one of these
///   types. A number that the Swift type cannot represent exactly is an error.
/// - A to-one relationship is an `ObjectID`. A to-many relationship is `[ObjectID]` or
///   `Set<ObjectID>`.
/// - A composite attribute is a type whose coding keys are the names of the elements.
/// - An optional is nil if the value is null, or if only other entities of the hierarchy have the
///   property. Any other key that is not a stored property is an error.
///
/// Properties without a key are not read. A decoder keeps tables of names, so use one decoder for
/// many records, from one thread at a time.
package final class RecordDecoder {
    /// A function that returns the destinations of a to-many relationship of an object.
    package typealias Members = (ManagedObjectModel.Relationship, ObjectID) throws(StoreError) -> [ObjectID]

    /// The record that is being decoded, with information for messages.
    ///
    /// A type may retain a container longer than the record exists. So each container has the
    /// number of its record, and reads only while this record is current.
    private struct Current {
        var record: RecordReader?
        var number: UInt
        var members: Members?
        var type: any Any.Type
        /// The Swift type of the property being decoded, for messages.
        ///
        /// Nil after this type has requested a keyed container, because each key has its own type.
        var fieldType: (any Any.Type)?
        /// The property whose type failed to decode.
        var failedProperty: CodedProperty?
    }

    let model: ManagedObjectModel
    private var roots: [CodedProperty?]
    private var current: Current
    private var count: UInt = 0

    package init(model: ManagedObjectModel) {
        self.model = model
        roots = Array(repeating: nil, count: model.entities.count)
        current = Current(record: nil, number: 0, type: Never.self)
    }

    /// Decodes a record whose model is compatible with the decoder's model.
    ///
    /// `members` reads to-many relationships, and is nil for types without them.
    ///
    /// - Throws: `unknownProperty` for a transient property, and for an unknown key with the
    ///   nearest name; `invalidValue` for a property with the wrong Swift type, or with a type that
    ///   is not optional although the value is null; `invalidRequest` for a container that a record
    ///   cannot provide. An error of the type's own `init(from:)` becomes the `underlying` error,
    ///   but a `StoreError` is thrown unchanged.
    package func decode<T: Decodable>(
        _ type: T.Type, from record: RecordReader, members: Members? = nil
    ) throws(StoreError) -> T {
        count &+= 1
        // Calls can be nested, because `members` may decode other records.
        let outer = current
        current = Current(record: record, number: count, members: members, type: type)
        defer { current = outer }
        do {
            return try T(from: ValueDecoder(decoder: self, property: root(record.entityNumber), number: count))
        } catch {
            throw storeError(error)
        }
    }

    private func root(_ entity: Int) -> CodedProperty {
        if let root = roots[entity] { return root }
        let table = PropertyTable(model.entities[entity], model: model)
        let root = CodedProperty("", kind: .object, label: table.label, table: table)
        roots[entity] = root
        return root
    }
}

// MARK: Values

extension RecordDecoder {
    private func record(_ number: UInt) throws(StoreError) -> RecordReader {
        guard let record = current.record, number == current.number else {
            throw StoreError(
                .invalidRequest,
                "A decoder or a container was used after its record was decoded. Decode everything in init(from:).")
        }
        return record
    }

    func isNull(_ property: CodedProperty, number: UInt) throws(StoreError) -> Bool {
        let record = try record(number)
        if property.kind == .ofOtherEntity { return true }
        guard let field = property.field else { return false }
        return record.isNull(field)
    }

    func value<T: StoredValue>(
        _ type: T.Type, property: CodedProperty, number: UInt
    ) throws(StoreError) -> T? {
        let record = try record(number)
        guard property.kind == .field, let field = property.field else {
            return try fieldless(type, property: property, record: record)
        }
        guard T.accepts(field.kind) else { throw mismatch(T.self, property: property) }
        guard !record.isNull(field) else { return nil }
        guard let value = T.read(field, of: record) else { throw unfit(T.self, property: property, record: record) }
        return value
    }

    private func fieldless<T>(
        _ type: T.Type, property: CodedProperty, record: RecordReader
    ) throws(StoreError) -> T? {
        switch property.kind {
        case .objectID:
            guard let id = record.id as? T else { throw mismatch(T.self, property: property) }
            return id
        case .ofOtherEntity: return nil
        case .unstored: throw StoreError(.unknownProperty, property.reason)
        default: throw mismatch(T.self, property: property)
        }
    }

    @inline(__always)
    func required<T: StoredValue>(_ type: T.Type, property: CodedProperty, number: UInt) throws(StoreError) -> T {
        guard let value = try value(type, property: property, number: number) else {
            throw null(type, property: property, number: number)
        }
        return value
    }

    /// Decodes a property.
    ///
    /// A type that no kind of field stores, such as an enumeration, is decoded with its own
    /// `init(from:)`.
    func decode<T: Decodable>(_ type: T.Type, property: CodedProperty, number: UInt) throws -> T {
        switch property.kind {
        case .field:
            // Few Swift types fit each kind of field. Comparing with these types costs less than
            // casting.
            switch property.field?.kind {
            case .date where T.self == Date.self:
                return try required(Date.self, as: type, property: property, number: number)
            case .uuid where T.self == UUID.self:
                return try required(UUID.self, as: type, property: property, number: number)
            case .uri where T.self == URL.self:
                return try required(URL.self, as: type, property: property, number: number)
            default: break
            }
            if T.self == ObjectID.self {
                return try required(ObjectID.self, as: type, property: property, number: number)
            }
            if T.self == Decimal.self {
                return try required(Decimal.self, as: type, property: property, number: number)
            }
            if T.self == Data.self { return try required(Data.self, as: type, property: property, number: number) }
            // The `init(from:)` of these types expects another representation, such as a number for
            // a date.
            guard T.self != Date.self, T.self != UUID.self, T.self != URL.self else {
                throw mismatch(type, property: property)
            }
        case .toMany:
            if T.self == [ObjectID].self {
                return try identical(try members(property, number: number), property: property)
            }
            if T.self == Set<ObjectID>.self {
                return try identical(Set(try members(property, number: number)), property: property)
            }
        case .objectID where T.self == ObjectID.self:
            return try required(ObjectID.self, as: type, property: property, number: number)
        case .composite, .objectID, .object: break
        case .ofOtherEntity: throw null(type, property: property, number: number)
        case .unstored: throw StoreError(.unknownProperty, property.reason)
        }
        return try nested(type, property: property, number: number)
    }

    /// Returns a property's value of type `Known`, which must be the same type as `T`.
    @inline(__always)
    private func required<Known: StoredValue, T>(
        _ known: Known.Type, as type: T.Type, property: CodedProperty, number: UInt
    ) throws(StoreError) -> T {
        try identical(try required(known, property: property, number: number), property: property)
    }

    private func nested<T: Decodable>(_ type: T.Type, property: CodedProperty, number: UInt) throws -> T {
        let outer = current.fieldType
        current.fieldType = type
        defer { current.fieldType = outer }
        do {
            return try T(from: ValueDecoder(decoder: self, property: property, number: number))
        } catch {
            throw failure(error, of: type, property: property, number: number)
        }
    }

    func members(_ property: CodedProperty, number: UInt) throws(StoreError) -> [ObjectID] {
        let record = try record(number)
        guard let relationship = property.relationship else { throw mismatch([ObjectID].self, property: property) }
        guard let members = current.members else {
            throw StoreError(
                .invalidRequest,
                "'\(property.label)' refers to many objects, which this request does not read. Leave the property out of '\(current.type)'."
            )
        }
        return try members(relationship, record.id)
    }

    func table(of property: CodedProperty, number: UInt) throws(StoreError) -> PropertyTable {
        let record = try record(number)
        guard let table = property.table else {
            throw StoreError(
                .invalidValue,
                "'\(name(property))' has a Swift type with keys, but '\(property.label)' has type \(property.typeName) and is not a composite."
            )
        }
        if let field = property.field, record.isNull(field) {
            throw null(current.type, property: property, record: record)
        }
        // From here on, messages name the type of each key.
        current.fieldType = nil
        table.begin()
        return table
    }
}

// MARK: Errors

extension RecordDecoder {
    private func name(_ property: CodedProperty) -> String {
        ([String(describing: current.type)] + property.path.map(\.stringValue)).joined(separator: ".")
    }

    func unknown(_ key: some CodingKey, in table: PropertyTable) -> StoreError {
        table.unknown(key, of: current.type)
    }

    /// Returns an error for a Swift type that the property can never have.
    func mismatch(_ type: any Any.Type, property: CodedProperty) -> StoreError {
        guard property.kind != .object else {
            return StoreError(
                .invalidRequest,
                "'\(current.type)' asks for a single value, and an object has properties. Decode it with a key for each property."
            )
        }
        return StoreError(
            .invalidValue,
            "'\(name(property))' has the Swift type \(swiftType(type)), which does not fit '\(property.label)' (\(property.typeName))."
        )
    }

    private func unfit(_ type: any Any.Type, property: CodedProperty, record: RecordReader) -> StoreError {
        StoreError(
            .invalidValue,
            "'\(name(property))' has the Swift type \(swiftType(type)), which cannot represent the value of '\(property.label)' (\(property.typeName)) in \(record.id)."
        )
    }

    func null(_ type: any Any.Type, property: CodedProperty, number: UInt) -> StoreError {
        guard let record = current.record, number == current.number else { return mismatch(type, property: property) }
        return null(type, property: property, record: record)
    }

    private func null(_ type: any Any.Type, property: CodedProperty, record: RecordReader) -> StoreError {
        guard property.kind != .ofOtherEntity else {
            return StoreError(
                .invalidValue,
                "\(property.reason) Make '\(name(property))' optional to decode \(record.id) as '\(current.type)'.")
        }
        return StoreError(
            .invalidValue,
            "'\(name(property))' has the Swift type \(swiftType(type)), which is not optional, and '\(property.label)' (\(property.typeName)) is null in \(record.id). Make it optional."
        )
    }

    /// Returns the name of the Swift property's type, such as an enumeration instead of its raw
    /// type.
    private func swiftType(_ type: any Any.Type) -> String {
        "\(current.fieldType ?? type)"
    }

    func noContainer(_ what: String, property: CodedProperty) -> StoreError {
        StoreError(
            .invalidRequest,
            "'\(name(property))' asks for \(what), which '\(property.label)' (\(property.typeName)) does not have.")
    }

    /// Returns an error for a superclass decoder, which records do not have.
    func noContainer(_ what: String, in table: PropertyTable) -> StoreError {
        StoreError(
            .invalidRequest,
            "'\(current.type)' asks for \(what), which '\(table.label)' does not have. Pass the decoder of init(from:) to super.init(from:)."
        )
    }

    /// Returns the error to throw after the Swift type of a property has thrown `error`.
    private func failure(
        _ error: any Error, of type: any Any.Type, property: CodedProperty, number: UInt
    ) -> any Error {
        if property.kind == .field, type is any RawRepresentable.Type, error is DecodingError,
            let record = current.record, number == current.number
        {
            // The message of the standard library contains the stored value, which errors must not contain.
            return StoreError(
                .invalidValue,
                "'\(name(property))' has the Swift type \(type), which has no case for the value of '\(property.label)' (\(property.typeName)) in \(record.id)."
            )
        }
        if !(error is StoreError), current.failedProperty == nil { current.failedProperty = property }
        return error
    }

    private func storeError(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        var path = current.failedProperty?.path.map(\.stringValue) ?? []
        if let error = error as? DecodingError {
            let codingPath = error.codingPath.map(\.stringValue)
            if codingPath.count >= path.count { path = codingPath }
        }
        let id = current.record.map { " of \($0.id)" } ?? ""
        let name = ([String(describing: current.type)] + path).joined(separator: ".")
        return StoreError(
            .invalidValue, "'\(name)' cannot be decoded from the record\(id): its initializer threw an error.",
            underlying: error)
    }
}

extension DecodingError {
    fileprivate var codingPath: [any CodingKey] {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath
        case .keyNotFound(let key, let context): context.codingPath + [key]
        @unknown default: []
        }
    }
}
