/// The description of what a store holds: entities, their properties and relationships.
///
/// A model is immutable once built, and building it validates it; every problem is reported at once
/// (``ModelProblem``). Entities and relationships have numbers that follow from their names alone,
/// so two compatible models number alike and lay out records alike.
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
    /// Everything that is computed once, when the model is built.
    @usableFromInline
    final class Resolved: Sendable {
        let descriptions: [EntityDescription]
        let configurations: [String: [String]]
        let fetchRequestTemplates: [FetchRequestTemplate]
        let versionIdentifiers: [String]
        let userInfo: [String: String]
        let entities: [Entity]
        // Proof: `shapeMemory` holds the memory that this points to, which does not change after it
        // was made.
        /// By entity number; outside of the entities because every record read needs one.
        @usableFromInline nonisolated(unsafe) let shapes: UnsafeMutableBufferPointer<RecordShapes.Shape>
        private let shapeMemory: RecordShapes
        let relationships: [Relationship]
        /// Names and numbers by the symbols of the names: every request asks for some, and a few
        /// comparisons cost less than hashing one.
        private let numbers: [(symbol: UInt32, number: Int)]
        /// By recipe and entity number: the version hashes of older recipes, computed on first use.
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

        /// Returns the number of the entity with this name, or nil.
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

    /// The model as it was built.
    @inlinable
    init(resolved: Resolved) { self.resolved = resolved }

    /// Builds and validates a model.
    ///
    /// - Parameters:
    ///   - entities: The entities in any order.
    ///   - configurations: Named groups of entities.
    ///   - fetchRequestTemplates: Stored fetch requests.
    ///   - versionIdentifiers: Free text that names the version; never used for compatibility.
    ///   - userInfo: The user's own notes.
    /// - Throws: ``StoreError`` with code `invalidModel`, whose message lists every problem, one a
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
    /// Free text that names the version; never used for compatibility.
    public var versionIdentifiers: [String] { resolved.versionIdentifiers }
    /// The user's own notes.
    public var userInfo: [String: String] { resolved.userInfo }

    /// The entities, resolved.
    ///
    /// The position of each is its number.
    public var entities: [Entity] { resolved.entities }
    /// The stored relationships that entities declare, resolved.
    ///
    /// The position of each is its number.
    public var relationships: [Relationship] { resolved.relationships }

    /// The entity with this name, or nil.
    public func entity(_ name: EntityName) -> Entity? {
        resolved.number(name).map { resolved.entities[$0] }
    }

    /// The entity with this name; throws code `unknownEntity`, naming the nearest one.
    public func requireEntity(_ name: EntityName) throws(StoreError) -> Entity {
        guard let entity = entity(name) else {
            let hint = ModelValidator.hint(name.text, among: entities.map(\.name.text))
            throw StoreError(.unknownEntity, "The model has no entity '\(name)'\(hint)")
        }
        return entity
    }

    /// Returns the stored relationship with this name, declared or inherited by the entity, or nil.
    public func relationship(_ name: RelationshipName) -> Relationship? {
        entity(name.entity)?.relationship(name.name)
    }
}

extension ManagedObjectModel: Hashable {
    /// Whether both models declare the same; the order of declarations does not matter.
    public static func == (left: Self, right: Self) -> Bool {
        left.resolved === right.resolved
            || (left.resolved.descriptions == right.resolved.descriptions
                && left.resolved.configurations == right.resolved.configurations
                && left.resolved.fetchRequestTemplates == right.resolved.fetchRequestTemplates
                && left.resolved.versionIdentifiers == right.resolved.versionIdentifiers
                && left.resolved.userInfo == right.resolved.userInfo)
    }

    /// Hashes in agreement with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(resolved.descriptions) }
}
