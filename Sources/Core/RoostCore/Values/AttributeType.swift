/// The type of an attribute, with Core Data's raw values.
public enum AttributeType: Int, Sendable, CaseIterable, Codable {
    /// No type; only allowed for transient attributes.
    case undefined = 0
    /// A whole number from −32 768 to 32 767.
    case integer16 = 100
    /// A whole number of 32 bits.
    case integer32 = 200
    /// A whole number of 64 bits.
    case integer64 = 300
    /// A decimal number of at most 38 digits.
    case decimal = 400
    /// A floating-point number of 64 bits.
    case double = 500
    /// A floating-point number of 32 bits.
    case float = 600
    /// Text in UTF-8.
    case string = 700
    /// True or false.
    case boolean = 800
    /// A point in time: the seconds since 2001-01-01 00:00:00 UTC, as a ``double``.
    case date = 900
    /// Bytes.
    case binaryData = 1000
    /// A UUID of sixteen bytes.
    case uuid = 1100
    /// A URI, stored as text.
    case uri = 1200
    /// A value stored as encoded bytes; contexts encode a `Codable` value as JSON.
    case transformable = 1800
    /// The ID of an object, without a relationship.
    case objectID = 2000
    /// A named tuple of attributes; each element is stored in a separate field.
    case composite = 2100

    /// The name used in model documents, for example `integer16`.
    public var name: String { "\(self)" }

    package init?(name: String) {
        guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }
}
