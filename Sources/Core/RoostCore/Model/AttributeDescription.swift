/// An attribute of an entity: a named, typed value.
///
/// ```swift
/// let title = AttributeDescription.string("title", isOptional: false, maximumLength: 80)
/// let plays = AttributeDescription.integer32("plays", default: 0, minimum: 0)
/// let albumTitle = AttributeDescription.derived("albumTitle", type: .string, from: "album.title")
/// let track = EntityDescription("Track", attributes: [title, plays, albumTitle])
/// ```
public struct AttributeDescription: Hashable, Sendable, Adjustable {
    /// The attribute's name, unique among the properties of its entity and all superentities.
    public var name: String
    /// The type of the attribute's values.
    public var type: AttributeType
    /// Whether the attribute may be null.
    public var isOptional: Bool
    /// Whether the attribute is transient: stores do not save its values.
    public var isTransient: Bool = false
    /// The attribute's value in new objects, of the attribute's type; null for no default.
    public var defaultValue: Value
    /// The limits of a value.
    ///
    /// Contexts, batch requests and `Store` enforce the limits. ``PersistentStore/commit(_:)`` does
    /// not, but ``checkStore(_:limit:)`` reports values that violate the limits.
    public var validation: AttributeValidation = AttributeValidation()
    /// The elements of a composite attribute; empty for every other type.
    public var elements: [AttributeDescription]
    /// The expression of a derived attribute, such as `articles.@count`.
    package var derivationExpression: String? = nil
    /// The name of Core Data's value transformer, which Roost never applies.
    package var valueTransformerName: String? = nil
    /// The class of transformable values, only for generated code.
    package var attributeValueClassName: String? = nil
    /// Whether large data may be stored outside the record; Roost's own stores ignore this hint.
    package var allowsExternalBinaryDataStorage: Bool = false
    /// Whether the history preserves the value when the object is deleted.
    ///
    /// ``HistoryChange/preservedValues`` returns these values. They may be personal data, and stay
    /// in the store until the history is removed.
    public var preservesValueInHistoryOnDeletion: Bool = false
    /// Whether a system-wide search index should include the value; Roost only preserves this hint.
    package var isIndexedBySpotlight: Bool = false
    /// Whether a cloud mirror may encrypt the value; Roost only preserves this hint.
    package var allowsCloudEncryption: Bool = false
    /// The attribute's name in other versions of the model; nil if the name is the same.
    public var renamingIdentifier: String? = nil
    /// Text whose only effect is to change the version hash.
    package var versionHashModifier: String? = nil
    /// The user's own notes.
    public var userInfo: [String: String] = [:]

    /// Creates an attribute.
    public init(
        _ name: String, type: AttributeType, isOptional: Bool = true, defaultValue: Value = .null,
        elements: [AttributeDescription] = []
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.elements = elements
    }

    package var isStored: Bool { !isTransient && type != .undefined }
}

/// The limits of a value; nil and null mean no limit.
///
/// ```swift
/// var code = AttributeDescription("recordingCode", type: .string)
/// code.validation = AttributeValidation(maximumLength: 12, regularExpression: "[A-Z]{2}[A-Z0-9]*")
/// let track = EntityDescription("Track", attributes: [code])
/// ```
public struct AttributeValidation: Hashable, Sendable {
    /// The minimum number or date, of the attribute's type.
    public var minimum: Value
    /// The maximum number or date, of the attribute's type.
    public var maximum: Value
    /// The minimum length of a string in code points.
    public var minimumLength: Int?
    /// The maximum length of a string in code points.
    public var maximumLength: Int?
    /// The regular expression that the whole string must match.
    public var regularExpression: String?

    /// Creates limits; all are optional.
    public init(
        minimum: Value = .null, maximum: Value = .null, minimumLength: Int? = nil, maximumLength: Int? = nil,
        regularExpression: String? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.minimumLength = minimumLength
        self.maximumLength = maximumLength
        self.regularExpression = regularExpression
    }

    package var isEmpty: Bool { self == AttributeValidation() }
}
