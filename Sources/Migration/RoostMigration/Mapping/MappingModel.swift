internal import RoostCore

/// A mapping from the objects of one model to the objects of another: a list of entity mappings in
/// execution order.
///
/// A mapping model refers to entities and properties by name, and is checked against two models
/// when it is used with them. Objects without an entity mapping are dropped. Except in copies,
/// properties without a property mapping get the default values of a new object.
///
/// ```swift
/// let title = PropertyMapping("title", expression: .source("name"))
/// let mapping = MappingModel([
///     EntityMapping("Songs", type: .transform, from: "Song", to: "Track", attributes: [title])
/// ])
/// try mapping.requireValid(from: version1, to: version2)
/// let options = MigrationOptions(mapping: mapping)
/// ```
public struct MappingModel: Hashable, Sendable {
    /// The mappings, in execution order.
    ///
    /// Their names must be unique.
    public var entityMappings: [EntityMapping]
    /// The user's notes.
    public var userInfo: [String: String]

    /// Creates a mapping model.
    public init(_ entityMappings: [EntityMapping], userInfo: [String: String] = [:]) {
        self.entityMappings = entityMappings
        self.userInfo = userInfo
    }

    package func entityMapping(named name: String) -> EntityMapping? {
        entityMappings.first { $0.name == name }
    }
}
