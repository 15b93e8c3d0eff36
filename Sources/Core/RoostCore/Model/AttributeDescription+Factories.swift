public import Foundation

/// Factory methods for attributes, for models written in Swift:
///
/// ```swift
/// let model = try ManagedObjectModel(entities: [
///     EntityDescription("Album",
///         attributes: [
///             .string("title", isOptional: false, maximumLength: 200),
///             .date("releasedOn"),
///             .derived("trackCount", type: .integer64, from: "tracks.@count"),
///         ],
///         relationships: [
///             .toMany(
///                 "tracks", to: "Track", inverse: "album", isOrdered: true, deleteRule: .cascade)
///         ],
///         uniquenessConstraints: [["title"]]),
///     EntityDescription("Track",
///         attributes: [
///             .string("title").renamed(from: "name"),
///             .integer64("playCount", default: 0, minimum: 0),
///             .composite("recordedAt", elements: [.double("latitude"), .double("longitude")]),
///         ],
///         relationships: [.toOne("album", to: "Album", inverse: "tracks")]
///     ).with { $0.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")] },
/// ])
/// ```
///
/// For settings without a parameter here, use ``Adjustable/with(_:)``.
extension AttributeDescription {
    /// Returns a text attribute.
    ///
    /// Lengths are in Unicode code points.
    public static func string(
        _ name: String, isOptional: Bool = true, default value: String? = nil, minimumLength: Int? = nil,
        maximumLength: Int? = nil
    ) -> Self {
        Self(name, type: .string, isOptional: isOptional, defaultValue: value.map { .string($0) } ?? .null).with {
            ($0.validation.minimumLength, $0.validation.maximumLength) = (minimumLength, maximumLength)
        }
    }

    /// Returns an attribute for a whole number of 16 bits.
    public static func integer16(
        _ name: String, isOptional: Bool = true, default value: Int16? = nil, minimum: Int16? = nil,
        maximum: Int16? = nil
    ) -> Self {
        integer(
            name, type: .integer16, isOptional: isOptional, value: value.map { Int64($0) },
            minimum: minimum.map { Int64($0) }, maximum: maximum.map { Int64($0) })
    }

    /// Returns an attribute for a whole number of 32 bits.
    public static func integer32(
        _ name: String, isOptional: Bool = true, default value: Int32? = nil, minimum: Int32? = nil,
        maximum: Int32? = nil
    ) -> Self {
        integer(
            name, type: .integer32, isOptional: isOptional, value: value.map { Int64($0) },
            minimum: minimum.map { Int64($0) }, maximum: maximum.map { Int64($0) })
    }

    /// Returns an attribute for a whole number of 64 bits.
    public static func integer64(
        _ name: String, isOptional: Bool = true, default value: Int64? = nil, minimum: Int64? = nil,
        maximum: Int64? = nil
    ) -> Self {
        integer(name, type: .integer64, isOptional: isOptional, value: value, minimum: minimum, maximum: maximum)
    }

    /// Returns an attribute for a decimal number of at most 38 digits.
    public static func decimal(
        _ name: String, isOptional: Bool = true, default value: Decimal? = nil, minimum: Decimal? = nil,
        maximum: Decimal? = nil
    ) -> Self {
        limited(name, type: .decimal, isOptional: isOptional, value: value, minimum: minimum, maximum: maximum) {
            .decimal($0)
        }
    }

    /// Returns an attribute for a floating-point number of 64 bits.
    public static func double(
        _ name: String, isOptional: Bool = true, default value: Double? = nil, minimum: Double? = nil,
        maximum: Double? = nil
    ) -> Self {
        limited(name, type: .double, isOptional: isOptional, value: value, minimum: minimum, maximum: maximum) {
            .double($0)
        }
    }

    /// Returns an attribute for a floating-point number of 32 bits.
    public static func float(
        _ name: String, isOptional: Bool = true, default value: Float? = nil, minimum: Float? = nil,
        maximum: Float? = nil
    ) -> Self {
        limited(name, type: .float, isOptional: isOptional, value: value, minimum: minimum, maximum: maximum) {
            .double(Double($0))
        }
    }

    /// Returns a boolean attribute.
    public static func boolean(_ name: String, isOptional: Bool = true, default value: Bool? = nil) -> Self {
        Self(name, type: .boolean, isOptional: isOptional, defaultValue: value.map { .bool($0) } ?? .null)
    }

    /// Returns an attribute for a point in time.
    public static func date(
        _ name: String, isOptional: Bool = true, default value: Date? = nil, minimum: Date? = nil, maximum: Date? = nil
    ) -> Self {
        limited(name, type: .date, isOptional: isOptional, value: value, minimum: minimum, maximum: maximum) {
            .date($0)
        }
    }

    /// Returns an attribute for bytes.
    public static func binaryData(_ name: String, isOptional: Bool = true) -> Self {
        Self(name, type: .binaryData, isOptional: isOptional)
    }

    /// Returns an attribute for a UUID.
    public static func uuid(_ name: String, isOptional: Bool = true) -> Self {
        Self(name, type: .uuid, isOptional: isOptional)
    }

    /// Returns an attribute for a URI.
    public static func uri(_ name: String, isOptional: Bool = true) -> Self {
        Self(name, type: .uri, isOptional: isOptional)
    }

    /// Returns an attribute for the bytes of an encoded value.
    ///
    /// Contexts encode a `Codable` value as JSON. Roost preserves the name of Core Data's value
    /// transformer (`transformer`), but never applies the transformer.
    public static func transformable(
        _ name: String, isOptional: Bool = true, transformer: String? = nil, valueClass: String? = nil
    ) -> Self {
        Self(name, type: .transformable, isOptional: isOptional).with {
            ($0.valueTransformerName, $0.attributeValueClassName) = (transformer, valueClass)
        }
    }

    /// Returns a composite attribute, a named tuple of attributes.
    public static func composite(_ name: String, isOptional: Bool = true, elements: [AttributeDescription]) -> Self {
        Self(name, type: .composite, isOptional: isOptional, elements: elements)
    }

    /// Returns a derived attribute; contexts and batch requests compute its values.
    ///
    /// Examples of the expression are `author.name`, `canonical:(title)`, `tracks.@count` and
    /// `now()`.
    public static func derived(_ name: String, type: AttributeType, from expression: String) -> Self {
        Self(name, type: type).with { $0.derivationExpression = expression }
    }

    /// Returns the attribute with `oldName` as its name in the previous version of the model.
    public func renamed(from oldName: String) -> Self {
        var result = self
        result.renamingIdentifier = oldName
        return result
    }

    /// Returns the attribute as a transient attribute, which stores do not save.
    public func transient() -> Self {
        var result = self
        result.isTransient = true
        return result
    }

    private static func integer(
        _ name: String, type: AttributeType, isOptional: Bool, value: Int64?, minimum: Int64?, maximum: Int64?
    ) -> Self {
        limited(name, type: type, isOptional: isOptional, value: value, minimum: minimum, maximum: maximum) { .int($0) }
    }

    private static func limited<Wrapped>(
        _ name: String, type: AttributeType, isOptional: Bool, value: Wrapped?, minimum: Wrapped?,
        maximum: Wrapped?, _ wrap: (Wrapped) -> Value
    ) -> Self {
        Self(name, type: type, isOptional: isOptional, defaultValue: value.map(wrap) ?? .null).with {
            ($0.validation.minimum, $0.validation.maximum) = (minimum.map(wrap) ?? .null, maximum.map(wrap) ?? .null)
        }
    }
}
