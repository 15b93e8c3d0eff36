/// An entity as its author declares it: its own properties, without inherited ones.
///
/// ``ManagedObjectModel/Entity`` is the same entity inside a built model, with everything resolved.
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
    /// The entity it inherits from.
    public var superentityName: String?
    /// Whether the entity has no objects of its own.
    public var isAbstract: Bool = false
    /// The attributes it declares itself.
    public var attributes: [AttributeDescription]
    /// The relationships it declares itself.
    public var relationships: [RelationshipDescription]
    /// The fetched properties it declares itself.
    public var fetchedProperties: [FetchedPropertyDescription] = []
    /// Groups of attributes, or to-one relationships, whose values no two objects of the entity may
    /// share.
    ///
    /// A group with a null never collides.
    public var uniquenessConstraints: [[String]]
    /// The indexes that stores keep for fetches.
    public var fetchIndexes: [FetchIndexDescription] = []
    /// The class of the entity's objects; nil for the base class.
    package var managedObjectClassName: String? = nil
    /// The display name's expression for a system-wide search index.
    ///
    /// A hint, kept for round trips.
    package var coreSpotlightDisplayNameExpression: String? = nil
    /// The name the entity is known by across model versions; nil for its own name.
    public var renamingIdentifier: String? = nil
    /// Text that changes the version hash and nothing else.
    package var versionHashModifier: String? = nil
    /// The user's own notes.
    public var userInfo: [String: String] = [:]

    /// Describes an entity.
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

/// A fetched property: the objects that a fetch request finds for an object.
///
/// The model keeps it; no store and no context evaluates it.
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
    /// The entity that is fetched.
    public var entityName: String
    /// The predicate in format syntax; it may use `$FETCH_SOURCE` and `$FETCHED_PROPERTY`.
    public var predicateFormat: String?
    /// Whether the property may be empty.
    ///
    /// Kept for round trips.
    public var isOptional: Bool
    /// The user's own notes.
    public var userInfo: [String: String]

    /// Describes a fetched property.
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

/// An index that a store keeps so that fetches find objects without reading all of them.
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
        /// The kinds of index.
        public enum Collation: String, Sendable, CaseIterable, Codable {
            /// Ordered by value.
            case binary
            /// Spatial; numbers only.
            ///
            /// Kept in the model, not yet by any store.
            case rTree
        }

        /// An attribute, a to-one relationship, or an element of a composite by its dotted path.
        public var property: String
        /// The kind of index.
        public var collation: Collation
        /// Whether values ascend.
        public var isAscending: Bool
        /// An expression instead of a property, as text.
        ///
        /// Kept in the model, not yet by any store.
        public var expression: String?

        /// Makes an element.
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
    /// The properties that it orders by, the most significant first.
    public var elements: [Element]
    /// A predicate that limits the index to some objects, as text.
    ///
    /// Kept in the model; stores index every object.
    public var partialIndexPredicateFormat: String?

    /// Describes an index.
    public init(_ name: String, elements: [Element], partialIndexPredicateFormat: String? = nil) {
        self.name = name
        self.elements = elements
        self.partialIndexPredicateFormat = partialIndexPredicateFormat
    }

    /// Describes an index over properties, ascending.
    public init(_ name: String, on properties: String...) {
        self.init(name, elements: properties.map { Element($0) })
    }
}

/// A fetch request that is stored in the model under a name.
///
/// The model keeps it; no store and no context executes it.
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
    /// The entity that is fetched.
    public var entityName: String
    /// The predicate in format syntax, with `$VARIABLES`.
    public var predicateFormat: String?
    /// Everything else the model file says about it (limits, result type), as text.
    public var options: [String: String]

    /// Describes a template.
    public init(_ name: String, entity: String, predicateFormat: String? = nil, options: [String: String] = [:]) {
        self.name = name
        self.entityName = entity
        self.predicateFormat = predicateFormat
        self.options = options
    }
}
