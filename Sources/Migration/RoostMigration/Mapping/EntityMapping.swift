public import RoostCore

/// A mapping from objects of one source entity to objects of one destination entity.
///
/// A mapping reads objects of exactly its source entity, not of subentities. Several mappings may
/// share a source (a split) or a destination (a merge).
///
/// ```swift
/// let songs = EntityMapping(
///     "SongToTrack", type: .transform, from: "Song", to: "Track",
///     attributes: [
///         PropertyMapping("title", expression: .source("name")),
///         PropertyMapping("seconds", expression: "$source.minutes * 60"),
///     ])
/// ```
public struct EntityMapping: Hashable, Sendable, Adjustable {
    /// The kinds of entity mappings.
    public enum MappingType: String, Sendable, CaseIterable, Codable {
        /// The policy ``EntityMapping/policyName`` defines the mapping.
        case custom
        /// The entity is new; a policy may create its objects.
        case add
        /// The objects are dropped.
        case remove
        /// Each object is copied unchanged.
        ///
        /// The entity has the same version hash in both models. Property mappings are optional, and
        /// must be equivalent to the copy.
        case copy
        /// Each object becomes one object, with the values of the property mappings.
        case transform
    }

    /// The name, unique in the mapping model.
    ///
    /// Other mappings use it to refer to the objects that this mapping creates.
    public var name: String
    /// The kind of this mapping.
    public var type: MappingType
    /// The source entity, or nil if the mapping reads no objects, as for type `add`.
    public var sourceEntity: EntityName?
    /// The destination entity, or nil if the mapping creates no objects, as for type `remove`.
    public var destinationEntity: EntityName?
    /// The required version hash of the source entity, or nil for any.
    package var sourceVersionHash: VersionHash? = nil
    package var destinationVersionHash: VersionHash? = nil
    /// The predicate that selects objects of the source entity, or nil for all objects.
    public var sourcePredicate: FetchRequest.Predicate? = nil
    /// The values for attributes of the destination.
    ///
    /// Unless the type is `copy`, an attribute without an expression gets its default.
    public var attributeMappings: [PropertyMapping]
    /// The values for relationships of the destination.
    ///
    /// Unless the type is `copy`, a relationship without an expression stays empty, except for
    /// links from its inverse.
    public var relationshipMappings: [PropertyMapping] = []
    /// The registered name of the policy, or nil for the standard behavior.
    public var policyName: String? = nil
    /// The user's notes, which policies can read.
    public var userInfo: [String: String] = [:]

    /// Creates a mapping.
    public init(
        _ name: String, type: MappingType, from source: EntityName? = nil, to destination: EntityName? = nil,
        attributes: [PropertyMapping] = []
    ) {
        self.name = name
        self.type = type
        self.sourceEntity = source
        self.destinationEntity = destination
        self.attributeMappings = attributes
    }
}
