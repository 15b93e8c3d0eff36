import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration

/// A random model, a randomly changed version of it, and random content of the old model.
///
/// Every change can be inferred.
struct RandomEvolution {
    let old: ManagedObjectModel
    let new: ManagedObjectModel
    /// `old` and later versions, each inferable from the previous version, usually up to `new`.
    let versions: [ManagedObjectModel]
    private var generator: SeededGenerator

    init(seed: Int) throws {
        var draft = ModelDraft(SeededGenerator(seed: UInt64(seed) &* 7919 + 13))
        draft.makeModel()
        old = try ManagedObjectModel(entities: draft.entities)
        var current = old
        var versions = [old]
        for _ in 0..<draft.generator.below(7) + 1 {
            let before = draft.entities
            draft.change()
            if let next = try? ManagedObjectModel(entities: draft.entities),
                (try? MappingModel.inferred(from: old, to: next)) != nil
            {
                current = next
                if (try? MappingModel.inferred(from: versions[versions.count - 1], to: next)) != nil {
                    versions.append(next)
                }
            } else {
                draft.entities = before
            }
        }
        new = current
        self.versions = versions
        generator = draft.generator
    }

    // MARK: Content

    mutating func store() throws -> any PersistentStore {
        var values: [ObjectID: [String: Value]] = [:]
        for root in old.roots {
            var key: Int64 = 0
            for number in old.entities[root].selfAndSubentities where !old.entities[number].isAbstract {
                for _ in 0..<generator.below(12) {
                    // Keys have gaps, and the entities of a hierarchy have interleaved keys.
                    key += Int64(1 + (generator.oneIn(4) ? generator.below(200) : 0))
                    let entity = generator.pick(
                        old.entities[root].selfAndSubentities.filter { !old.entities[$0].isAbstract })
                    values[ObjectID(old.entities[entity].name, key: key)] = attributes(of: old.entities[entity])
                }
            }
        }
        let ids = values.keys.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) }
        func objects(_ entity: Int) -> [ObjectID] {
            ids.filter { id in old.entity(id.entity).map { old.entities[entity].includes($0.number) } ?? false }
        }
        var links: [Int: [Link]] = [:]
        for relationship in old.relationships {
            let (sources, targets) = (objects(relationship.source), objects(relationship.destination))
            switch relationship.storage {
            case .derived, .links(_, isFlipped: true): continue
            case .links: links[relationship.number] = pairs(of: sources, with: targets, by: relationship)
            case .field: connect(sources, to: targets, by: relationship, in: &values)
            }
        }
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: old)
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: old)
        for id in ids { try batch.append(id, version: UInt32(generator.below(5) + 1), values: values[id] ?? [:]) }
        try loader.append(batch)
        for (number, links) in links.sorted(by: { $0.key < $1.key }) {
            try loader.append(LinkBatch(relationship: number, links: links))
        }
        _ = try loader.finish()
        return store
    }

    private mutating func pairs(
        of sources: [ObjectID], with targets: [ObjectID], by relationship: ManagedObjectModel.Relationship
    ) -> [Link] {
        guard !sources.isEmpty, !targets.isEmpty else { return [] }
        var links: [Link] = []
        var seen: Set<[Int64]> = []
        for _ in 0..<generator.below(20) {
            let link = relationship.normalized(
                Link(
                    generator.pick(sources).key, generator.pick(targets).key, order: Int64(generator.below(9)),
                    inverseOrder: Int64(generator.below(9))))
            if seen.insert([link.source, link.target]).inserted { links.append(link) }
        }
        return links
    }

    private mutating func connect(
        _ sources: [ObjectID], to targets: [ObjectID], by relationship: ManagedObjectModel.Relationship,
        in values: inout [ObjectID: [String: Value]]
    ) {
        let name = relationship.name.name
        let inverse = relationship.inverse.map { old.relationships[$0] }
        if let inverse, !inverse.isToMany {
            // In a one-to-one relationship, both sides refer to each other.
            guard inverse.number >= relationship.number else { return }
            var (sources, targets) = (sources.shuffled(using: &generator), targets.shuffled(using: &generator))
            while let source = sources.popLast(), let target = targets.popLast() {
                if relationship.isReflexive {
                    guard values[source]?[name] == nil, values[target]?[name] == nil else { continue }
                } else if generator.oneIn(4) {
                    continue
                }
                values[source]?[name] = .objectID(target)
                values[target]?[inverse.name.name] = .objectID(source)
            }
            return
        }
        for source in sources where !targets.isEmpty && !generator.oneIn(5) {
            values[source]?[name] = .objectID(generator.pick(targets))
            if relationship.inverseIsOrdered {
                values[source]?[RecordLayout.orderFieldName(of: name)] = .int(Int64(generator.below(9)))
            }
        }
    }

    private mutating func attributes(of entity: ManagedObjectModel.Entity) -> [String: Value] {
        var values: [String: Value] = [:]
        for attribute in entity.attributes where attribute.isStored {
            if let value = value(of: attribute) { values[attribute.name] = value }
        }
        return values
    }

    private mutating func value(of attribute: AttributeDescription) -> Value? {
        if attribute.isOptional, generator.oneIn(3) { return nil }
        switch attribute.type {
        case .undefined: return nil
        case .integer16: return .int(generator.pick([0, 1, -1, 32767, -32768, 400]))
        case .integer32: return .int(generator.pick([0, 7, 2_147_483_647, -2_147_483_648]))
        case .integer64: return .int(generator.pick([0, 5, .max, .min, 1 << 53]))
        case .decimal: return .decimal(Decimal(generator.below(100_000)) / 100)
        case .double: return .double(generator.pick([0, -0.0, 1.5, .infinity, .nan, 1e300]))
        case .float: return .double(generator.pick([0, 1.5, -.infinity, 0.25]))
        case .string: return .string(generator.pick(["", "a", "é\u{0}b", String(repeating: "x", count: 300)]))
        case .boolean: return .bool(generator.oneIn(2))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(generator.below(1_000_000)) / 8))
        case .binaryData, .transformable:
            return .data(Data((0..<generator.below(40)).map { UInt8(truncatingIfNeeded: $0 * 7) }))
        case .uuid:
            return .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(generator.below(250)))))
        case .uri: return .uri("roost:\(generator.below(50))")
        case .objectID:
            return .objectID(
                ObjectID(
                    generator.pick(old.entities.filter { !$0.isAbstract }).name, key: Int64(1 + generator.below(50))))
        case .composite:
            var elements: [String: Value] = [:]
            for element in attribute.elements { if let value = value(of: element) { elements[element.name] = value } }
            return .composite(elements)
        }
    }
}

/// Entities that grow and change at random.
private struct ModelDraft {
    var generator: SeededGenerator
    var entities: [EntityDescription] = []
    private var counter = 0

    init(_ generator: SeededGenerator) { self.generator = generator }

    mutating func makeModel() {
        for index in 0..<3 + generator.below(4) {
            var entity = EntityDescription("E\(index)")
            if index > 0, generator.oneIn(2) { entity.superentityName = "E\(generator.below(index))" }
            entities.append(entity)
            for _ in 0..<1 + generator.below(4) { addAttribute(to: index) }
        }
        for index in entities.indices where generator.oneIn(4) {
            if entities.contains(where: { $0.superentityName == entities[index].name }) {
                entities[index].isAbstract = true
            }
        }
        for _ in 0..<2 + generator.below(5) { addRelationship() }
    }

    private mutating func newName(_ prefix: String) -> String {
        counter += 1
        // Names do not sort in the order of creation.
        return "\(prefix)\(generator.below(90) + 10)n\(counter)"
    }

    // MARK: Making

    private mutating func addAttribute(to index: Int) {
        var attribute = AttributeDescription(
            newName("a"), type: generator.pick(AttributeType.allCases.filter { $0 != .undefined }))
        if attribute.type == .composite {
            attribute.elements = [
                AttributeDescription(newName("c"), type: .integer16), AttributeDescription(newName("c"), type: .string),
            ]
        }
        attribute.isOptional = !generator.oneIn(4)
        entities[index].attributes.append(attribute)
    }

    private mutating func addRelationship() {
        let (a, b) = (generator.below(entities.count), generator.below(entities.count))
        func relationship(_ name: String, to other: Int, inverse: String?, isToMany: Bool, isOrdered: Bool)
            -> RelationshipDescription
        {
            RelationshipDescription(
                name, destination: entities[other].name, inverse: inverse, maxCount: isToMany ? nil : 1
            ).with { $0.isOrdered = isOrdered }
        }
        let (many, ordered) = (generator.oneIn(2), generator.oneIn(2))
        let name = newName("r")
        switch generator.below(4) {
        case 0:
            entities[a].relationships.append(
                relationship(name, to: b, inverse: nil, isToMany: many, isOrdered: many && ordered))
        case 1 where a == b:
            entities[a].relationships.append(
                relationship(name, to: a, inverse: name, isToMany: many, isOrdered: many && ordered))
        default:
            let (back, manyBack) = (newName("r"), generator.oneIn(2))
            entities[a].relationships.append(
                relationship(name, to: b, inverse: back, isToMany: many, isOrdered: many && ordered))
            entities[b].relationships.append(
                relationship(
                    back, to: a, inverse: name, isToMany: manyBack, isOrdered: manyBack && generator.oneIn(2)))
        }
        if generator.oneIn(6), !many {
            entities[a].relationships[entities[a].relationships.count - 1].isOptional = false
        }
    }

    // MARK: Changing

    mutating func change() {
        let index = generator.below(entities.count)
        switch generator.below(16) {
        case 0: renameEntity(index)
        case 1, 2:
            changeAttribute(index) { attribute, draft in
                attribute.renamingIdentifier = attribute.renamingIdentifier ?? attribute.name
                attribute.name = draft.newName("a")
            }
        case 3: if !entities[index].attributes.isEmpty { entities[index].attributes.removeFirst() }
        case 4:
            addAttribute(to: index)
            changeLastAttribute(index)
        case 5, 6:
            changeAttribute(index) { attribute, draft in
                let wider = AttributeType.allCases.filter { attribute.type.widens(to: $0) && $0 != attribute.type }
                if !wider.isEmpty { attribute.type = draft.generator.pick(wider) }
            }
        case 7:
            changeAttribute(index) { attribute, _ in
                guard let value = Self.defaultValue(of: attribute.type) else { return }
                attribute.isOptional = false
                attribute.defaultValue = value
            }
        case 8: renameRelationship(index)
        case 9: changeRelationship(index) { if $0.isToMany { $0.isOrdered.toggle() } }
        case 10: changeRelationship(index) { $0.maxCount = nil }
        case 11: removeRelationship(index)
        case 12: addRelationship()
        case 13: moveAttribute(index)
        case 14: changeParent(index)
        default: if generator.oneIn(2) { removeEntity(index) } else { addEntity() }
        }
    }

    private static func defaultValue(of type: AttributeType) -> Value? {
        switch type {
        case .integer16, .integer32, .integer64: 3
        case .decimal: .decimal(2.5)
        case .double, .float: 0.5
        case .string: "default"
        case .boolean: true
        default: nil
        }
    }

    private mutating func changeLastAttribute(_ index: Int) {
        let last = entities[index].attributes.count - 1
        let value = Self.defaultValue(of: entities[index].attributes[last].type)
        entities[index].attributes[last].isOptional = value == nil || generator.oneIn(2)
        entities[index].attributes[last].defaultValue = value ?? .null
    }

    private mutating func changeAttribute(_ index: Int, _ body: (inout AttributeDescription, inout Self) -> Void) {
        guard !entities[index].attributes.isEmpty else { return }
        let position = generator.below(entities[index].attributes.count)
        var attribute = entities[index].attributes[position]
        body(&attribute, &self)
        entities[index].attributes[position] = attribute
    }

    private mutating func changeRelationship(_ index: Int, _ body: (inout RelationshipDescription) -> Void) {
        guard !entities[index].relationships.isEmpty else { return }
        body(&entities[index].relationships[generator.below(entities[index].relationships.count)])
    }

    private mutating func renameEntity(_ index: Int) {
        let (old, new) = (entities[index].name, newName("E"))
        entities[index].renamingIdentifier = entities[index].renamingIdentifier ?? old
        entities[index].name = new
        for other in entities.indices {
            if entities[other].superentityName == old { entities[other].superentityName = new }
            for position in entities[other].relationships.indices
            where entities[other].relationships[position].destinationEntityName == old {
                entities[other].relationships[position].destinationEntityName = new
            }
        }
    }

    private mutating func renameRelationship(_ index: Int) {
        guard !entities[index].relationships.isEmpty else { return }
        let position = generator.below(entities[index].relationships.count)
        let (old, new) = (entities[index].relationships[position].name, newName("r"))
        entities[index].relationships[position].renamingIdentifier =
            entities[index].relationships[position].renamingIdentifier ?? old
        entities[index].relationships[position].name = new
        // Names of relationships are unique in these models.
        for other in entities.indices {
            for position in entities[other].relationships.indices
            where entities[other].relationships[position].inverseName == old {
                entities[other].relationships[position].inverseName = new
            }
        }
    }

    private mutating func removeRelationship(_ index: Int) {
        guard !entities[index].relationships.isEmpty else { return }
        let removed = entities[index].relationships.remove(at: generator.below(entities[index].relationships.count))
        forget(inverse: removed.name)
    }

    private mutating func forget(inverse name: String) {
        for other in entities.indices {
            for position in entities[other].relationships.indices
            where entities[other].relationships[position].inverseName == name {
                entities[other].relationships[position].inverseName = nil
            }
        }
    }

    private mutating func moveAttribute(_ index: Int) {
        guard let parent = entities.firstIndex(where: { $0.name == entities[index].superentityName }) else { return }
        let (from, to) = generator.oneIn(2) ? (index, parent) : (parent, index)
        guard let attribute = entities[from].attributes.last else { return }
        entities[from].attributes.removeLast()
        entities[to].attributes.append(attribute)
    }

    /// Makes an entity a root, or puts a new parent above it.
    private mutating func changeParent(_ index: Int) {
        guard generator.oneIn(2) else {
            entities[index].superentityName = nil
            return
        }
        let parent = EntityDescription(
            newName("E"), superentity: entities[index].superentityName
        ).with { $0.isAbstract = generator.oneIn(2) }
        entities[index].superentityName = parent.name
        entities.append(parent)
    }

    private mutating func removeEntity(_ index: Int) {
        let entity = entities.remove(at: index)
        for relationship in entity.relationships { forget(inverse: relationship.name) }
        for other in entities.indices where entities[other].superentityName == entity.name {
            entities[other].superentityName = entity.superentityName
        }
        for other in entities.indices {
            for relationship in entities[other].relationships
            where relationship.destinationEntityName == entity.name { forget(inverse: relationship.name) }
            entities[other].relationships.removeAll { $0.destinationEntityName == entity.name }
        }
    }

    private mutating func addEntity() {
        entities.append(
            EntityDescription(newName("E"), superentity: generator.oneIn(2) ? generator.pick(entities).name : nil))
        addAttribute(to: entities.count - 1)
    }
}
