import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

/// Reproducible content: objects of every concrete entity of a model, with values and links.
enum GeneratedContent {
    static func store(_ location: StoreLocation, model: ManagedObjectModel, perEntity: Int = 12) throws
        -> any PersistentStore
    {
        let objects = Self.objects(of: model, perEntity: perEntity)
        let ids = model.entities.flatMap { objects[$0.number] ?? [] }
        var values = attributes(of: ids, in: model)
        var links: [Int: [Link]] = [:]
        for relationship in model.relationships {
            let sources = model.entities[relationship.source].selfAndSubentities.flatMap { objects[$0] ?? [] }
            let targets = model.entities[relationship.destination].selfAndSubentities.flatMap { objects[$0] ?? [] }
            guard !targets.isEmpty else { continue }
            if relationship.storage == .field {
                addReferences(relationship, of: model, from: sources, to: targets, in: &values)
            } else if relationship.ownsLinks {
                links[relationship.number] = pairs(relationship, from: sources, to: targets)
            }
        }
        let store = try StoreRegistry.standard.create(location, model: model)
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: model)
        for id in ids { try batch.append(id, values: values[id] ?? [:]) }
        try loader.append(batch)
        for (number, links) in links.sorted(by: { $0.key < $1.key }) {
            try loader.append(LinkBatch(relationship: number, links: links))
        }
        _ = try loader.finish()
        return store
    }

    /// Returns new IDs by entity number, for each entity that is not abstract.
    ///
    /// The keys have gaps.
    private static func objects(of model: ManagedObjectModel, perEntity: Int) -> [Int: [ObjectID]] {
        var generator = SeededGenerator(seed: 5)
        var objects: [Int: [ObjectID]] = [:]
        var lastKeys: [Int: Int64] = [:]
        for entity in model.entities where !entity.isAbstract {
            for _ in 0..<perEntity {
                let key = (lastKeys[entity.root] ?? 0) + Int64(1 + generator.below(3))
                lastKeys[entity.root] = key
                objects[entity.number, default: []].append(ObjectID(entity.name, key: key))
            }
        }
        return objects
    }

    /// Returns values of the attributes; some optional ones are null.
    private static func attributes(
        of ids: [ObjectID], in model: ManagedObjectModel
    ) -> [ObjectID: [String: Value]] {
        var values: [ObjectID: [String: Value]] = [:]
        for (index, id) in ids.enumerated() {
            for attribute in model.entity(id.entity)?.attributes ?? [] where attribute.isStored {
                if attribute.isOptional, index % 5 == 0 { continue }
                values[id, default: [:]][attribute.name] = value(of: attribute, at: index)
            }
        }
        return values
    }

    /// Adds destinations to a to-one relationship, and to its inverse if that is to-one too.
    private static func addReferences(
        _ relationship: ManagedObjectModel.Relationship, of model: ManagedObjectModel, from sources: [ObjectID],
        to targets: [ObjectID], in values: inout [ObjectID: [String: Value]]
    ) {
        let name = relationship.name.name
        if let inverse = relationship.inverse.map({ model.relationships[$0] }), !inverse.isToMany {
            // The relationship with the lower number sets the values of both relationships.
            guard inverse.number > relationship.number else { return }
            for (source, target) in zip(sources, targets) {
                values[source, default: [:]][name] = .objectID(target)
                values[target, default: [:]][inverse.name.name] = .objectID(source)
            }
            return
        }
        for (index, source) in sources.enumerated() {
            values[source, default: [:]][name] = .objectID(targets[(index * 7) % targets.count])
            if relationship.inverseIsOrdered {
                values[source, default: [:]][RecordLayout.orderFieldName(of: name)] = .int(Int64(100 - index))
            }
        }
    }

    /// Returns at most two links for each source, or one if the relationship has no inverse.
    private static func pairs(
        _ relationship: ManagedObjectModel.Relationship, from sources: [ObjectID], to targets: [ObjectID]
    ) -> [Link] {
        var links: Set<Link> = []
        for (index, source) in sources.enumerated() {
            // A later version may add a to-one inverse, so each target has only one source.
            if relationship.inverse == nil {
                guard index < targets.count else { continue }
                links.insert(relationship.normalized(Link(source.key, targets[index].key)))
                continue
            }
            for step in 0..<2 {
                let target = targets[(index * 3 + step) % targets.count]
                links.insert(
                    relationship.normalized(Link(source.key, target.key, order: Int64(step), inverseOrder: 0)))
            }
        }
        var pairs: Set<[Int64]> = []
        return links.sorted { ($0.source, $0.target, $0.order) < ($1.source, $1.target, $1.order) }
            .filter { pairs.insert([$0.source, $0.target]).inserted }
    }

    private static func value(of attribute: AttributeDescription, at index: Int) -> Value {
        switch attribute.type {
        case .undefined: .null
        case .integer16, .integer32, .integer64: .int(Int64(index % 30_000))
        case .decimal: .decimal(Decimal(index) / 8)
        case .double, .float: .double(Double(index) / 4)
        case .string: .string("\(attribute.name) \(index)")
        case .boolean: .bool(index % 2 == 0)
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(index) * 1000))
        case .binaryData, .transformable: .data(Data("\(attribute.name)\(index)".utf8))
        case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(index % 250))))
        case .uri: .uri("x:\(index)")
        case .objectID: .null
        case .composite:
            .composite(Dictionary(uniqueKeysWithValues: attribute.elements.map { ($0.name, value(of: $0, at: index)) }))
        }
    }
}
