extension VersionHash {
    /// An algorithm for version hashes.
    ///
    /// A recipe never changes; MODEL-FORMAT.md specifies it. Stores contain their model but no
    /// hashes, so each recipe can be applied to every store.
    package enum Recipe: Int, Sendable, CaseIterable, Codable {
        /// The first recipe, which includes transient properties.
        case v1 = 1
        /// The current recipe, which includes only properties that stores save.
        case v2 = 2

        /// The recipe of ``ManagedObjectModel/Entity/versionHash``, which determines compatibility.
        package static let current = Recipe.v2
    }

    /// Returns the version hashes of entities, by entity number.
    ///
    /// `parents` contains the number of each entity's superentity.
    static func hashes(
        of entities: [EntityDescription], parents: [Int?], relationships: [ManagedObjectModel.Relationship],
        recipe: Recipe
    ) -> [VersionHash] {
        var inverses = entities.map { _ in [String: String]() }
        for relationship in relationships {
            inverses[relationship.source][relationship.declaration.name] = relationship.inverse.map {
                relationships[$0].declaration.name
            }
        }
        var hashes: [VersionHash?] = entities.map { _ in nil }
        for number in entities.indices {
            // Hashes superentities first, without recursion, because a hierarchy can be very deep.
            var open = [number]
            while let last = open.last, let parent = parents[last], hashes[parent] == nil, open.count <= entities.count
            {
                open.append(parent)
            }
            for number in open.reversed() where hashes[number] == nil {
                let parent = parents[number].flatMap { hashes[$0] }
                let serialization = HashSerialization(
                    of: entities[number], superentity: parent, storedInverses: inverses[number], recipe: recipe)
                hashes[number] = hash(of: serialization.bytes)
            }
        }
        return hashes.map { $0 ?? VersionHash(high: 0, low: 0) }
    }

    private static func hash(of bytes: [UInt8]) -> VersionHash {
        let (high, low) = RecordHash.wide(bytes)
        return VersionHash(high: high, low: low)
    }
}

extension ManagedObjectModel {
    /// Returns the version hashes of all entities by a recipe.
    ///
    /// To compare them with hashes that a program saved, use the recipe of the saved hashes.
    package func versionHashes(by recipe: VersionHash.Recipe) -> [EntityName: VersionHash] {
        Dictionary(
            entities.map { ($0.name, versionHash(of: $0, by: recipe)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns an entity's version hash by a recipe.
    ///
    /// The first use of an older recipe computes the hashes of the whole model.
    package func versionHash(of entity: Entity, by recipe: VersionHash.Recipe) -> VersionHash {
        guard recipe != .current else { return entity.versionHash }
        return resolved.olderHashes.withLock { known in
            let hashes =
                known[recipe]
                ?? VersionHash.hashes(
                    of: entityDescriptions, parents: entities.map(\.superentity), relationships: relationships,
                    recipe: recipe)
            known[recipe] = hashes
            return hashes.indices.contains(entity.number) ? hashes[entity.number] : entity.versionHash
        }
    }
}

/// The serialized form of an entity, from which its version hash is computed.
struct HashSerialization {
    private(set) var bytes: [UInt8] = []
    private let recipe: VersionHash.Recipe

    /// Serializes an entity.
    ///
    /// `storedInverses` contains the name of each relationship's stored inverse, by the
    /// relationship's name.
    init(
        of entity: EntityDescription, superentity: VersionHash?, storedInverses: [String: String],
        recipe: VersionHash.Recipe
    ) {
        self.recipe = recipe
        append("roost entity \(recipe.rawValue)")
        append(entity.name)
        append(entity.isAbstract)
        append(entity.versionHashModifier)
        append(superentity != nil)
        if let superentity { append(superentity.description) }
        let attributes = entity.attributes.filter { recipe == .v1 || $0.isStored }
        append(attributes.sorted { ModelResolver.precedes($0.name, $1.name) }) { $0.append($1) }
        let relationships = entity.relationships.filter { recipe == .v1 || !$0.isTransient }
        append(relationships.sorted { ModelResolver.precedes($0.name, $1.name) }) {
            $0.append($1, inverse: recipe == .v1 ? $1.inverseName : storedInverses[$1.name])
        }
        append(entity.uniquenessConstraints) { $0.append($1) { $0.append($1) } }
    }

    private mutating func append(_ attribute: AttributeDescription) {
        append(attribute.name)
        append(attribute.type.rawValue)
        append(attribute.isOptional)
        if recipe == .v1 { append(attribute.isTransient) }
        append(attribute.versionHashModifier)
        append(attribute.allowsExternalBinaryDataStorage)
        append(attribute.preservesValueInHistoryOnDeletion)
        append(attribute.derivationExpression)
        append(attribute.elements.sorted { ModelResolver.precedes($0.name, $1.name) }) { $0.append($1) }
    }

    private mutating func append(_ relationship: RelationshipDescription, inverse: String?) {
        append(relationship.name)
        append(relationship.isOptional)
        if recipe == .v1 { append(relationship.isTransient) }
        append(relationship.isOrdered)
        append(relationship.minCount)
        append(relationship.maxCount ?? 0)
        append(relationship.versionHashModifier)
        append(relationship.destinationEntityName)
        append(inverse)
    }

    private mutating func append(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    private mutating func append(_ number: Int) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private mutating func append(_ text: String) {
        append(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(_ text: String?) {
        append(text != nil)
        if let text { append(text) }
    }

    private mutating func append<Item>(_ items: [Item], _ append: (inout Self, Item) -> Void) {
        self.append(items.count)
        for item in items { append(&self, item) }
    }
}
