/// The declaration of an entity, without inherited properties.
///
/// `ManagedObjectModel.Entity` includes the inherited properties.
///
/// ```swift
/// let album = EntityDescription(
///     "Album",
///     attributes: [.string("title", isOptional: false), .integer16("year", minimum: 1900)],
///     relationships: [.toMany("tracks", to: "Track", inverse: "album", deleteRule: .cascade)],
///     uniquenessConstraints: [["title"]])
/// ```
public struct EntityDescription: Hashable, Sendable, Adjustable {
    /// The entity's name, unique in the model.
    public var name: String
    /// The entity that this entity inherits from; nil for none.
    public var superentityName: String?
    /// Whether the entity is abstract: only its subentities have objects.
    public var isAbstract: Bool = false
    /// The attributes that the entity itself declares.
    public var attributes: [AttributeDescription]
    /// The relationships that the entity itself declares.
    public var relationships: [RelationshipDescription]
    /// The fetched properties that the entity itself declares.
    public var fetchedProperties: [FetchedPropertyDescription] = []
    /// The names of the properties in each uniqueness constraint.
    ///
    /// The combined values of these attributes and to-one relationships must be unique among the
    /// entity's objects. An object with a null among the values never violates the constraint.
    public var uniquenessConstraints: [[String]]
    /// The indexes that stores maintain for fetches.
    public var fetchIndexes: [FetchIndexDescription] = []
    /// The class of the entity's objects; nil for the base class.
    package var managedObjectClassName: String? = nil
    /// The display name in a system-wide search index; Roost only preserves this hint.
    package var coreSpotlightDisplayNameExpression: String? = nil
    /// The entity's name in other versions of the model; nil if the name is the same.
    public var renamingIdentifier: String? = nil
    /// Text whose only effect is to change the version hash.
    package var versionHashModifier: String? = nil
    /// The user's own notes.
    public var userInfo: [String: String] = [:]

    /// Creates an entity.
    public init(
        _ name: String, superentity: String? = nil, attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [], uniquenessConstraints: [[String]] = []
    ) {
        self.name = name
        self.superentityName = superentity
        self.attributes = attributes
        self.relationships = relationships
        self.uniquenessConstraints = uniquenessConstraints
    }
}

/// A fetched property: a fetch request that finds other objects for an object.
///
/// The model preserves the fetched property, but neither stores nor contexts evaluate it.
///
/// ```swift
/// var album = EntityDescription("Album", attributes: [.string("title"), .integer16("year")])
/// album.fetchedProperties = [
///     FetchedPropertyDescription(
///         "sameYear", entity: "Album", predicateFormat: "year == $FETCH_SOURCE.year")
/// ]
/// ```
public struct FetchedPropertyDescription: Hashable, Sendable {
    /// The property's name.
    public var name: String
    /// The entity of the fetched objects.
    public var entityName: String
    /// The predicate in format syntax; it may use `$FETCH_SOURCE` and `$FETCHED_PROPERTY`.
    public var predicateFormat: String?
    /// Whether the property may be empty.
    ///
    /// Roost only preserves this setting.
    public var isOptional: Bool
    /// The user's own notes.
    public var userInfo: [String: String]

    /// Creates a fetched property.
    public init(
        _ name: String, entity: String, predicateFormat: String? = nil, isOptional: Bool = true,
        userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.entityName = entity
        self.predicateFormat = predicateFormat
        self.isOptional = isOptional
        self.userInfo = userInfo
    }
}

/// An index that a store maintains, so that fetches find objects without reading all of them.
///
/// ```swift
/// var album = EntityDescription("Album", attributes: [.string("title"), .integer16("year")])
/// album.fetchIndexes = [
///     FetchIndexDescription("byTitle", on: "title"),
///     FetchIndexDescription("newest", elements: [.init("year", isAscending: false)]),
/// ]
/// ```
public struct FetchIndexDescription: Hashable, Sendable {
    /// One property of an index.
    public struct Element: Hashable, Sendable {
        /// The kind of an index.
        public enum Collation: String, Sendable, CaseIterable, Codable {
            /// Ordered by value.
            case binary
            /// Spatial; numbers only.
            ///
            /// The model preserves this kind, but no store supports it yet.
            case rTree
        }

        /// The name of an attribute or to-one relationship, or the dotted path of a composite's
        /// element.
        public var property: String
        /// The kind of index.
        public var collation: Collation
        /// Whether the index orders the property's values from low to high.
        public var isAscending: Bool
        /// The text of an expression to index instead of a property.
        ///
        /// The model preserves the expression, but no store supports it yet.
        public var expression: String?

        /// Creates an element.
        public init(
            _ property: String, collation: Collation = .binary, isAscending: Bool = true, expression: String? = nil
        ) {
            self.property = property
            self.collation = collation
            self.isAscending = isAscending
            self.expression = expression
        }
    }

    /// The index's name, unique in its entity.
    public var name: String
    /// The properties that the index is ordered by, most significant first.
    public var elements: [Element]
    /// The text of a predicate that limits the index to some objects.
    ///
    /// The model preserves the predicate, but stores index every object.
    public var partialIndexPredicateFormat: String?

    /// Creates an index.
    public init(_ name: String, elements: [Element], partialIndexPredicateFormat: String? = nil) {
        self.name = name
        self.elements = elements
        self.partialIndexPredicateFormat = partialIndexPredicateFormat
    }

    /// Creates an ascending index over properties.
    public init(_ name: String, on properties: String...) {
        self.init(name, elements: properties.map { Element($0) })
    }
}

/// A named fetch request of a model.
///
/// The model preserves the template, but neither stores nor contexts execute it.
///
/// ```swift
/// let model = try ManagedObjectModel(
///     entities: entities,
///     fetchRequestTemplates: [
///         FetchRequestTemplate("since", entity: "Album", predicateFormat: "year >= $YEAR")
///     ])
/// for template in model.fetchRequestTemplates { print(template.name, template.entityName) }
/// ```
public struct FetchRequestTemplate: Hashable, Sendable {
    /// The template's name.
    public var name: String
    /// The entity of the fetched objects.
    public var entityName: String
    /// The predicate in format syntax, with `$VARIABLES`.
    public var predicateFormat: String?
    /// The text of the template's other settings, such as limits, by the setting's name.
    public var options: [String: String]

    /// Creates a template.
    public init(_ name: String, entity: String, predicateFormat: String? = nil, options: [String: String] = [:]) {
        self.name = name
        self.entityName = entity
        self.predicateFormat = predicateFormat
        self.options = options
    }
}
