/// The effect of deleting an object on the destinations of its relationship.
///
/// Contexts and batch deletes (``BatchDeleteRequest``) apply delete rules, but commits do not.
///
/// ```swift
/// let tracks = RelationshipDescription.toMany(
///     "tracks", to: "Track", inverse: "album", deleteRule: .cascade)
/// let label = RelationshipDescription.toOne("label", to: "Label", inverse: "albums")
/// let album = EntityDescription("Album", relationships: [tracks, label])
/// // Deleting an album deletes its tracks, and removes the album from its label.
/// ```
public enum DeleteRule: String, Sendable, CaseIterable, Codable {
    /// Leaves the destinations unchanged; their to-one references to the object become dangling.
    case noAction
    /// Removes the references to the object from the destinations.
    case nullify
    /// Deletes the destinations too.
    case cascade
    /// Refuses to delete the object if it has a destination that is not deleted too.
    case deny
}

/// A relationship of an entity.
///
/// ```swift
/// let tracks = RelationshipDescription.toMany(
///     "tracks", to: "Track", inverse: "album", isOrdered: true)
/// let album = RelationshipDescription.toOne("album", to: "Album", inverse: "tracks")
/// let entities = [
///     EntityDescription("Album", relationships: [tracks]),
///     EntityDescription("Track", relationships: [album]),
/// ]
/// ```
public struct RelationshipDescription: Hashable, Sendable, Adjustable {
    /// The relationship's name, unique among the properties of its entity and all superentities.
    public var name: String
    /// The entity of the destinations; objects of its subentities are allowed.
    public var destinationEntityName: String
    /// The name of the inverse, which the destination entity declares or inherits; nil for none.
    public var inverseName: String?
    /// The minimum number of destinations; an optional relationship may also be empty.
    public var minCount: Int
    /// The maximum number of destinations; nil for no limit.
    ///
    /// A relationship is to-one if and only if this is 1.
    public var maxCount: Int?
    /// Whether the destinations of a to-many relationship have an order.
    public var isOrdered: Bool = false
    /// Whether the relationship may be empty.
    public var isOptional: Bool = true
    /// Whether stores do not save the relationship.
    public var isTransient: Bool = false
    /// The effect of deleting an object on its destinations.
    public var deleteRule: DeleteRule = DeleteRule.nullify
    /// Whether a system search should index the relationship; Roost only preserves this hint.
    package var isIndexedBySpotlight: Bool = false
    /// The relationship's name in other versions of the model; nil if the name is the same.
    public var renamingIdentifier: String? = nil
    /// Text that only changes the version hash.
    package var versionHashModifier: String? = nil
    /// The user's own notes.
    public var userInfo: [String: String] = [:]

    /// Creates a relationship.
    ///
    /// ``toOne(_:to:inverse:isOptional:deleteRule:)`` and
    /// ``toMany(_:to:inverse:isOrdered:deleteRule:)`` are shorter alternatives.
    public init(
        _ name: String, destination: String, inverse: String?, minCount: Int = 0, maxCount: Int?
    ) {
        self.name = name
        self.destinationEntityName = destination
        self.inverseName = inverse
        self.minCount = minCount
        self.maxCount = maxCount
    }

    /// Returns a relationship to at most one object.
    public static func toOne(
        _ name: String, to destination: String, inverse: String? = nil, isOptional: Bool = true,
        deleteRule: DeleteRule = .nullify
    ) -> RelationshipDescription {
        RelationshipDescription(
            name, destination: destination, inverse: inverse, minCount: isOptional ? 0 : 1, maxCount: 1
        ).with {
            $0.isOptional = isOptional
            $0.deleteRule = deleteRule
        }
    }

    /// Returns a relationship to any number of objects.
    public static func toMany(
        _ name: String, to destination: String, inverse: String? = nil, isOrdered: Bool = false,
        deleteRule: DeleteRule = .nullify
    ) -> RelationshipDescription {
        RelationshipDescription(
            name, destination: destination, inverse: inverse, maxCount: nil
        ).with {
            $0.isOrdered = isOrdered
            $0.deleteRule = deleteRule
        }
    }

    /// Whether there can be more than one destination.
    public var isToMany: Bool { maxCount != 1 }
}
