public import Foundation

/// The decoded value of a property.
///
/// Values of one case are equal if and only if their stored bytes are equal. A floating-point
/// NaN equals only a NaN with the same bits, 0.0 differs from −0.0, and the decimals 1.0 and 1.00
/// are equal. Predicates compare numerically instead; see `FetchRequest.Predicate`.
///
/// ```swift
/// let row: [String: Value] = ["title": "Amelia", "plays": 4, "album": .objectID(album)]
/// try store.insert("Track", rows: [row])
/// for track in try store.fetch("Track", where: "plays > 3") {
///     if case .string(let title) = track["title"] { print(title) }
/// }
/// ```
public enum Value: Sendable {
    /// No value.
    case null
    /// A boolean.
    case bool(Bool)
    /// An integer attribute of any width.
    case int(Int64)
    /// A double or float attribute.
    case double(Double)
    /// A decimal of at most 38 digits.
    case decimal(Decimal)
    /// Text, which may contain U+0000.
    case string(String)
    /// Bytes: binary data, or the stored form of a transformable value.
    case data(Data)
    /// A point in time, stored exactly as seconds since 2001-01-01 00:00:00 UTC.
    case date(Date)
    /// A UUID.
    case uuid(UUID)
    /// The text of a URI, which Foundation need not accept as a URL.
    case uri(String)
    /// The destination of a to-one relationship, or the value of an object-ID attribute.
    case objectID(ObjectID)
    /// The elements of a composite attribute by name; a missing element is null.
    case composite([String: Value])

    /// Whether the value is ``null``.
    public var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

extension Value: Hashable {
    /// Compares the stored form; see ``Value``.
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int(let a), .int(let b)): a == b
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.decimal(let a), .decimal(let b)): a == b || (a.isNaN && b.isNaN)
        // Compares bytes, because `String` considers canonically equivalent texts equal.
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.data(let a), .data(let b)): a == b
        case (.date(let a), .date(let b)):
            a.timeIntervalSinceReferenceDate.bitPattern == b.timeIntervalSinceReferenceDate.bitPattern
        case (.uuid(let a), .uuid(let b)): a == b
        case (.uri(let a), .uri(let b)): a.utf8.elementsEqual(b.utf8)
        case (.objectID(let a), .objectID(let b)): a == b
        case (.composite(let a), .composite(let b)):
            a.filter { !$0.value.isNull } == b.filter { !$0.value.isNull }
        default: false
        }
    }

    /// Hashes consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.bitPattern)
        case .decimal(let value): hasher.combine(value.isNaN ? Decimal.nan.description : value.description)
        case .string(let value), .uri(let value):
            for byte in value.utf8 { hasher.combine(byte) }
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let value): hasher.combine(value)
        case .objectID(let value): hasher.combine(value)
        case .composite(let elements):
            // A null element equals an absent element.
            hasher.combine(elements.filter { !$0.value.isNull })
        }
    }
}

extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByNilLiteral
{
    /// Creates a boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer value.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// Creates a floating-point value.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a text value.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates the null value.
    public init(nilLiteral: ()) { self = .null }
}

extension Value {
    /// The kind of this value, for messages, which never contain the value itself.
    package var kindDescription: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .int: "an integer"
        case .double: "a floating-point number"
        case .decimal: "a decimal"
        case .string: "a string"
        case .data: "data"
        case .date: "a date"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .objectID: "an object ID"
        case .composite: "a composite"
        }
    }
}

extension Value: CustomStringConvertible, CustomDebugStringConvertible {
    /// A description for debugging, not for storage or error messages.
    ///
    /// Dates are printed as seconds, because Foundation's description of a `Date` traps on NaN and
    /// infinities.
    public var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .decimal(let value): "\(value) (decimal)"
        case .string(let value): value.debugDescription
        case .data(let value): "\(value.count) bytes"
        case .date(let value): "date \(value.timeIntervalSinceReferenceDate)"
        case .uuid(let value): value.uuidString
        case .uri(let value): "<\(value)>"
        case .objectID(let value): "\(value)"
        case .composite(let value):
            "{"
                + value.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
        }
    }

    /// The ``description``.
    public var debugDescription: String { description }
}

extension Value: CustomReflectable {
    /// A mirror without children, because Foundation's description of some dates traps.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
