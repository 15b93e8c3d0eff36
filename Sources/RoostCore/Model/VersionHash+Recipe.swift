extension VersionHash {
    /// The version hashes of entities in the order of their numbers; `parents` holds the numbers of their superentities.
    ///
    /// The recipe is in MODEL-FORMAT.md. It must never change: stores hold its results.
    static func hashes(of entities: [EntityDescription], parents: [Int?]) -> [VersionHash] {
        var hashes: [VersionHash?] = entities.map { _ in nil }
        for number in entities.indices {
            // Superentities first; without recursion, since the depth of a hierarchy is unlimited.
            var open = [number]
            while let last = open.last, let parent = parents[last], hashes[parent] == nil, open.count <= entities.count
            {
                open.append(parent)
            }
            for number in open.reversed() where hashes[number] == nil {
                let parent = parents[number].flatMap { hashes[$0] }
                hashes[number] = hash(of: HashSerialisation(of: entities[number], superentity: parent).bytes)
            }
        }
        return hashes.map { $0 ?? VersionHash(high: 0, low: 0) }
    }

    private static func hash(of bytes: [UInt8]) -> VersionHash {
        let (high, low) = RecordHash.wide(bytes)
        return VersionHash(high: high, low: low)
    }
}

/// The bytes that an entity's version hash is the hash of.
struct HashSerialisation {
    private(set) var bytes: [UInt8] = []

    init(of entity: EntityDescription, superentity: VersionHash?) {
        append("roost entity 1")
        append(entity.name)
        append(entity.isAbstract)
        append(entity.versionHashModifier)
        append(superentity != nil)
        if let superentity { append(superentity.description) }
        append(entity.attributes.sorted { ModelResolver.precedes($0.name, $1.name) }) { $0.append($1) }
        append(entity.relationships.sorted { ModelResolver.precedes($0.name, $1.name) }) { $0.append($1) }
        append(entity.uniquenessConstraints) { $0.append($1) { $0.append($1) } }
    }

    private mutating func append(_ attribute: AttributeDescription) {
        append(attribute.name)
        append(attribute.type.rawValue)
        append(attribute.isOptional)
        append(attribute.isTransient)
        append(attribute.versionHashModifier)
        append(attribute.allowsExternalBinaryDataStorage)
        append(attribute.preservesValueInHistoryOnDeletion)
        append(attribute.derivationExpression)
        append(attribute.elements.sorted { ModelResolver.precedes($0.name, $1.name) }) { $0.append($1) }
    }

    private mutating func append(_ relationship: RelationshipDescription) {
        append(relationship.name)
        append(relationship.isOptional)
        append(relationship.isTransient)
        append(relationship.isOrdered)
        append(relationship.minCount)
        append(relationship.maxCount ?? 0)
        append(relationship.versionHashModifier)
        append(relationship.destinationEntityName)
        append(relationship.inverseName)
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
