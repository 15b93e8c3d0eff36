public import RoostCore

/// A mapping from objects of one source entity to objects of one destination entity.
///
/// It takes the objects of exactly its source entity, not those of subentities. Several mappings
/// may share a source (a split) or a destination (a merge).
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
        /// A policy decides; ``EntityMapping/policyName`` names it.
        case custom
        /// The entity is new; a policy may make objects of it.
        case add
        /// The objects are dropped.
        case remove
        /// Each object is taken over as it is: the entity has the same version hash in both models.
        ///
        /// Property mappings are not needed; existing ones must say the same.
        case copy
        /// Each object becomes one object, with the values of the property mappings.
        case transform
    }

    /// The name by which others find what this mapping made; unique in the mapping model.
    public var name: String
    /// The kind of this mapping.
    public var type: MappingType
    /// The entity of the objects that it takes; nil for type `add`.
    public var sourceEntity: EntityName?
    /// The entity of the objects that it makes; nil for type `remove`.
    public var destinationEntity: EntityName?
    /// The version hash that the source entity must have; nil for any.
    package var sourceVersionHash: VersionHash? = nil
    /// The version hash that the destination entity must have; nil for any.
    package var destinationVersionHash: VersionHash? = nil
    /// The predicate that selects objects of the source entity; nil for all objects.
    public var sourcePredicate: FetchRequest.Predicate? = nil
    /// The values for attributes of the destination.
    ///
    /// An attribute without a mapping, or with one without an expression, gets its default.
    public var attributeMappings: [PropertyMapping]
    /// The values for relationships of the destination.
    ///
    /// A relationship without a mapping stays empty, except for what its inverse gives it.
    public var relationshipMappings: [PropertyMapping] = []
    /// The name under which the policy to use is registered; nil for the standard behavior.
    public var policyName: String? = nil
    /// The user's own notes, which policies can read.
    public var userInfo: [String: String] = [:]

    /// Makes a mapping.
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
