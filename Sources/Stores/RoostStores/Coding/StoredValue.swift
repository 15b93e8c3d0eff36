internal import Foundation
internal import RoostCore

/// A Swift type that corresponds to the value of an attribute or of a to-one relationship.
protocol StoredValue: Codable {
    /// Returns whether fields of a kind can be read and set as values of this type.
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool
    /// Returns the value of a field that has an accepted kind and is not null.
    ///
    /// The result is nil if this type cannot represent the value.
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> Self?
    /// Returns the value for a field of an accepted kind, or nil if the field cannot hold it.
    func value(for kind: RecordLayout.Field.Kind) -> Value?
}

extension RecordLayout.Field.Kind {
    fileprivate var isInteger: Bool {
        switch self {
        case .integer64, .integer32, .integer16, .order: true
        default: false
        }
    }

    /// Returns a number as the value of an integer field of this kind, or nil if the field is too
    /// narrow.
    fileprivate func value(_ number: some BinaryInteger) -> Value? {
        switch self {
        case .integer32: Int32(exactly: number).map { .int(Int64($0)) }
        case .integer16: Int16(exactly: number).map { .int(Int64($0)) }
        default: Int64(exactly: number).map { .int($0) }
        }
    }
}

extension StoredValue where Self: FixedWidthInteger {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { kind.isInteger }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> Self? {
        Self(exactly: record.integer(field))
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? { kind.value(self) }
}

extension Int: StoredValue {}
extension Int64: StoredValue {}
extension Int32: StoredValue {}
extension Int16: StoredValue {}
extension Int8: StoredValue {}
extension UInt: StoredValue {}
extension UInt64: StoredValue {}
extension UInt32: StoredValue {}
extension UInt16: StoredValue {}
extension UInt8: StoredValue {}

extension Bool: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { kind == .boolean }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> Bool? { record.boolean(field) }
    func value(for kind: RecordLayout.Field.Kind) -> Value? { .bool(self) }
}

extension Double: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { kind == .double || kind == .float || kind.isInteger }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> Double? {
        field.kind.isInteger ? Double(exactly: record.integer(field)) : record.double(field)
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? {
        switch kind {
        case .double: .double(self)
        // The attribute stores the nearest `Float`. A finite number that rounding makes infinite
        // does not fit.
        case .float: Float(self).isFinite || !isFinite ? .double(self) : nil
        default: Int64(exactly: self).flatMap(kind.value)
        }
    }
}

extension Float: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { Double.accepts(kind) }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> Float? {
        if field.kind == .float { return Float(bitPattern: record.floatBits(field)) }
        guard let double = Double.read(field, of: record) else { return nil }
        return double.isNaN ? Float(double) : Float(exactly: double)
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? { Double(self).value(for: kind) }
}

extension Decimal: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { kind == .decimal || kind.isInteger }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> Decimal? {
        field.kind == .decimal ? record.decimal(field)?.decimal : Decimal(record.integer(field))
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? {
        guard kind != .decimal else { return DecimalNumber(self).map { _ in .decimal(self) } }
        return Value.decimal(self).converted(to: .integer64).flatMap { value in
            if case .int(let number) = value { kind.value(number) } else { nil }
        }
    }
}

extension String: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { kind == .string || kind == .uri }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> String? {
        String(decoding: record.bytes(field), as: UTF8.self)
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? { kind == .uri ? .uri(self) : .string(self) }
}

extension Date: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { kind == .date }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> Date? {
        Date(timeIntervalSinceReferenceDate: record.double(field))
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? { .date(self) }
}

extension Data: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { kind == .data || kind == .transformable }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> Data? {
        Data(record.bytes(field))
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? { .data(self) }
}

extension UUID: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { kind == .uuid }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> UUID? {
        if case .uuid(let uuid) = record.value(copy field) { uuid } else { nil }
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? { .uuid(self) }
}

extension URL: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool { kind == .uri }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> URL? {
        String.read(field, of: record).flatMap { URL(string: $0) }
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? { .uri(absoluteString) }
}

extension ObjectID: StoredValue {
    static func accepts(_ kind: RecordLayout.Field.Kind) -> Bool {
        kind == .reference || kind == .polymorphicReference || kind == .objectID
    }
    static func read(_ field: borrowing RecordLayout.Field, of record: RecordReader) -> ObjectID? {
        if case .objectID(let id) = record.value(copy field) { id } else { nil }
    }
    func value(for kind: RecordLayout.Field.Kind) -> Value? { .objectID(self) }
}
