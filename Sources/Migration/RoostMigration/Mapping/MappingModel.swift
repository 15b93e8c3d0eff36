internal import RoostCore

/// A mapping from the objects of one model to those of another: entity mappings, in the order in
/// which they are run.
///
/// A plain value that names entities and properties; it is checked against models when it is used
/// with two of them. Objects that no mapping takes are dropped. Properties that no
/// mapping fills have the values of a new object.
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
    /// The mappings, in the order in which they are run; their names are unique.
    public var entityMappings: [EntityMapping]
    /// The user's own notes.
    public var userInfo: [String: String]

    /// Makes a mapping model.
    public init(_ entityMappings: [EntityMapping], userInfo: [String: String] = [:]) {
        self.entityMappings = entityMappings
        self.userInfo = userInfo
    }

    /// The entity mapping with this name.
    package func entityMapping(named name: String) -> EntityMapping? {
        entityMappings.first { $0.name == name }
    }
}
