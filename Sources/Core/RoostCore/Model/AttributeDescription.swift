/// An attribute of an entity: a named, typed value.
///
/// ```swift
/// let title = AttributeDescription.string("title", isOptional: false, maximumLength: 80)
/// let plays = AttributeDescription.integer32("plays", default: 0, minimum: 0)
/// let albumTitle = AttributeDescription.derived("albumTitle", type: .string, from: "album.title")
/// let track = EntityDescription("Track", attributes: [title, plays, albumTitle])
/// ```
public struct AttributeDescription: Hashable, Sendable, Adjustable {
    /// The attribute's name, unique in its entity and all superentities.
    public var name: String
    /// The type of its values.
    public var type: AttributeType
    /// Whether the attribute may be null.
    public var isOptional: Bool
    /// Whether the attribute is left out of every store.
    public var isTransient: Bool = false
    /// The value of new objects, in the attribute's own type; null for none.
    public var defaultValue: Value
    /// The limits of a value.
    ///
    /// Batch requests and `Store` enforce them. ``PersistentStore/commit(_:)`` does not;
    /// ``checkStore(_:limit:)`` reports values that break them.
    public var validation: AttributeValidation = AttributeValidation()
    /// The elements of a composite attribute; empty for every other type.
    public var elements: [AttributeDescription]
    /// The expression of a derived attribute (`articles.@count`); nil for an ordinary one.
    package var derivationExpression: String? = nil
    /// The name of Core Data's value transformer, which is kept and not applied.
    package var valueTransformerName: String? = nil
    /// The class of a transformable value, as a hint to people.
    package var attributeValueClassName: String? = nil
    /// Whether large data may be kept outside the record.
    ///
    /// A hint; Roost's own stores keep it inside.
    package var allowsExternalBinaryDataStorage: Bool = false
    /// Whether the value is kept in the history when the object is deleted.
    ///
    /// Such values are often personal data: they stay in stores that record their history until it
    /// is removed; see ``HistoryChange/preservedValues``.
    public var preservesValueInHistoryOnDeletion: Bool = false
    /// Whether a system-wide search index should hold the value.
    ///
    /// A hint, kept for round trips.
    package var isIndexedBySpotlight: Bool = false
    /// Whether the value may be encrypted by a cloud mirror.
    ///
    /// A hint, kept for round trips.
    package var allowsCloudEncryption: Bool = false
    /// The name the attribute is known by across model versions; nil for its own name.
    public var renamingIdentifier: String? = nil
    /// Text that changes the version hash and nothing else.
    package var versionHashModifier: String? = nil
    /// The user's own notes.
    public var userInfo: [String: String] = [:]

    /// Describes an attribute.
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

    /// Whether a store keeps the attribute.
    package var isStored: Bool { !isTransient && type != .undefined }
}

/// The limits that ``checkStore(_:limit:)`` compares a value with; nil and null mean no limit.
///
/// ```swift
/// var code = AttributeDescription("recordingCode", type: .string)
/// code.validation = AttributeValidation(maximumLength: 12, regularExpression: "[A-Z]{2}[A-Z0-9]*")
/// let track = EntityDescription("Track", attributes: [code])
/// ```
public struct AttributeValidation: Hashable, Sendable {
    /// The minimum number or date, in the attribute's own type.
    public var minimum: Value
    /// The maximum number or date, in the attribute's own type.
    public var maximum: Value
    /// The minimum length of a string, in code points as the predicate function `length` counts
    /// them.
    public var minimumLength: Int?
    /// The maximum length of a string, in code points as the predicate function `length` counts
    /// them.
    public var maximumLength: Int?
    /// The pattern a string must match as a whole.
    public var regularExpression: String?

    /// Makes limits; without arguments, none.
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

    /// Whether nothing is limited.
    package var isEmpty: Bool { self == AttributeValidation() }
}
