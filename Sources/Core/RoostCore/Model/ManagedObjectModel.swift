/// The schema of a store: entities with their attributes and relationships.
///
/// A model is immutable. The numbers of entities and stored relationships depend only on their
/// names, so compatible models have the same numbers and record layouts.
///
/// ```swift
/// let title = AttributeDescription.string("title", isOptional: false)
/// let tracks = RelationshipDescription.toMany("tracks", to: "Track", inverse: "album")
/// let album = RelationshipDescription.toOne("album", to: "Album", inverse: "tracks")
/// let model = try ManagedObjectModel(entities: [
///     EntityDescription("Album", attributes: [title], relationships: [tracks]),
///     EntityDescription("Track", attributes: [title], relationships: [album]),
/// ])
/// let store = try Store.open(.sqlite("music.sqlite"), model: model)
/// ```
public struct ManagedObjectModel: Sendable {
    /// The data that is computed once, when the model is built.
    @usableFromInline
    final class Resolved: Sendable {
        let descriptions: [EntityDescription]
        let configurations: [String: [String]]
        let fetchRequestTemplates: [FetchRequestTemplate]
        let versionIdentifiers: [String]
        let userInfo: [String: String]
        let entities: [Entity]
        // Proof: `shapeMemory` owns the memory of this pointer. The memory never changes after its
        // creation.
        /// The shapes by entity number, for reading records without reference counting.
        @usableFromInline nonisolated(unsafe) let shapes: UnsafeMutableBufferPointer<RecordShapes.Shape>
        private let shapeMemory: RecordShapes
        let relationships: [Relationship]
        /// Entity numbers, ordered by the symbol of each entity's name.
        ///
        /// A symbol is the number of an interned name. A binary search costs less than hashing.
        private let numbers: [(symbol: UInt32, number: Int)]
        /// The version hashes of older recipes, by recipe and entity number; filled on first use.
        let olderHashes = Mutex<[VersionHash.Recipe: [VersionHash]]>([:])

        init(
            descriptions: [EntityDescription], configurations: [String: [String]],
            fetchRequestTemplates: [FetchRequestTemplate], versionIdentifiers: [String], userInfo: [String: String],
            entities: [Entity], relationships: [Relationship]
        ) {
            self.descriptions = descriptions
            self.configurations = configurations
            self.fetchRequestTemplates = fetchRequestTemplates
            self.versionIdentifiers = versionIdentifiers
            self.userInfo = userInfo
            self.entities = entities
            shapeMemory = RecordShapes(entities)
            shapes = shapeMemory.shapes
            self.relationships = relationships
            numbers = entities.map { ($0.name.symbol, $0.number) }.sorted { $0.symbol < $1.symbol }
        }

        func number(_ name: EntityName) -> Int? {
            var (low, high) = (0, numbers.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[middle].symbol < name.symbol { low = middle + 1 } else { high = middle }
            }
            return low < numbers.count && numbers[low].symbol == name.symbol ? numbers[low].number : nil
        }
    }

    @usableFromInline let resolved: Resolved

    @inlinable
    init(resolved: Resolved) { self.resolved = resolved }

    /// Builds and validates a model.
    ///
    /// - Parameters:
    ///   - entities: The entities in any order.
    ///   - configurations: Named groups of entities.
    ///   - fetchRequestTemplates: Stored fetch requests.
    ///   - versionIdentifiers: Free text that identifies the version; not used for compatibility.
    ///   - userInfo: The user's own notes.
    /// - Throws: ``StoreError`` with code `invalidModel`, whose message lists the problems, one per
    ///   line.
    public init(
        entities: [EntityDescription], configurations: [String: [String]] = [:],
        fetchRequestTemplates: [FetchRequestTemplate] = [], versionIdentifiers: [String] = [],
        userInfo: [String: String] = [:]
    ) throws(StoreError) {
        let problems = ModelValidator.problems(
            entities: entities, configurations: configurations, fetchRequestTemplates: fetchRequestTemplates)
        guard problems.isEmpty else { throw .invalidModel(problems) }
        resolved = ModelResolver.resolve(
            entities: entities, configurations: configurations, fetchRequestTemplates: fetchRequestTemplates,
            versionIdentifiers: versionIdentifiers, userInfo: userInfo)
    }

    /// The entities as declared, ordered by the bytes of their names.
    public var entityDescriptions: [EntityDescription] { resolved.descriptions }
    /// Named groups of entities.
    public var configurations: [String: [String]] { resolved.configurations }
    /// Stored fetch requests, ordered by name.
    public var fetchRequestTemplates: [FetchRequestTemplate] { resolved.fetchRequestTemplates }
    /// Free text that identifies the version; not used for compatibility.
    public var versionIdentifiers: [String] { resolved.versionIdentifiers }
    /// The user's own notes.
    public var userInfo: [String: String] { resolved.userInfo }

    /// The resolved entities; an entity's position is its number.
    public var entities: [Entity] { resolved.entities }
    /// The resolved stored relationships that entities declare; a relationship's position is its
    /// number.
    public var relationships: [Relationship] { resolved.relationships }

    /// Returns the entity with this name, or nil.
    public func entity(_ name: EntityName) -> Entity? {
        resolved.number(name).map { resolved.entities[$0] }
    }

    /// Returns the entity with this name.
    ///
    /// - Throws: `unknownEntity`; the message suggests a similar name if the model has one.
    public func requireEntity(_ name: EntityName) throws(StoreError) -> Entity {
        guard let entity = entity(name) else {
            let hint = ModelValidator.hint(name.text, among: entities.map(\.name.text))
            throw StoreError(.unknownEntity, "The model has no entity '\(name)'\(hint)")
        }
        return entity
    }

    /// Returns the stored relationship with this name, declared or inherited, or nil.
    public func relationship(_ name: RelationshipName) -> Relationship? {
        entity(name.entity)?.relationship(name.name)
    }
}

extension ManagedObjectModel: Hashable {
    /// Returns whether both models have equal declarations, in any order.
    public static func == (left: Self, right: Self) -> Bool {
        left.resolved === right.resolved
            || (left.resolved.descriptions == right.resolved.descriptions
                && left.resolved.configurations == right.resolved.configurations
                && left.resolved.fetchRequestTemplates == right.resolved.fetchRequestTemplates
                && left.resolved.versionIdentifiers == right.resolved.versionIdentifiers
                && left.resolved.userInfo == right.resolved.userInfo)
    }

    /// Hashes consistently with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(resolved.descriptions) }
}
