import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

/// Objects of every entity of any model, with values in every attribute and objects in every
/// relationship, by seed.
enum GeneratedContent {
    static func store(_ location: StoreLocation, model: ManagedObjectModel, perEntity: Int = 12) throws
        -> any PersistentStore
    {
        let store = try StoreRegistry.standard.create(location, model: model)
        var generator = SeededGenerator(seed: 5)
        var keys: [Int: [Int64]] = [:]
        var ids: [ObjectID] = []
        var lastKeys: [Int: Int64] = [:]
        for entity in model.entities where !entity.isAbstract {
            for _ in 0..<perEntity {
                let key = (lastKeys[entity.root] ?? 0) + Int64(1 + generator.below(3))
                lastKeys[entity.root] = key
                keys[entity.number, default: []].append(key)
                ids.append(ObjectID(entity.name, key: key))
            }
        }
        func objects(_ entity: Int) -> [ObjectID] {
            model.entities[entity].selfAndSubentities.flatMap { number in
                (keys[number] ?? []).map { ObjectID(model.entities[number].name, key: $0) }
            }
        }
        var values: [ObjectID: [String: Value]] = [:]
        for (index, id) in ids.enumerated() {
            for attribute in model.entity(id.entity)?.attributes ?? [] where attribute.isStored {
                // Some of what may be null is.
                if attribute.isOptional, index % 5 == 0 { continue }
                values[id, default: [:]][attribute.name] = value(attribute, index)
            }
        }
        var links: [Int: [Link]] = [:]
        for relationship in model.relationships {
            let (sources, targets) = (objects(relationship.source), objects(relationship.destination))
            guard !targets.isEmpty else { continue }
            let inverse = relationship.inverse.map { model.relationships[$0] }
            if relationship.storage == .field {
                if let inverse, !inverse.isToMany, inverse.number < relationship.number { continue }
                for (index, source) in sources.enumerated() {
                    if let inverse, !inverse.isToMany {
                        guard index < targets.count, inverse.number != relationship.number else { continue }
                        values[source, default: [:]][relationship.name.name] = .objectID(targets[index])
                        values[targets[index], default: [:]][inverse.name.name] = .objectID(source)
                        continue
                    }
                    values[source, default: [:]][relationship.name.name] = .objectID(
                        targets[(index * 7) % targets.count])
                    if relationship.inverseIsOrdered {
                        values[source, default: [:]][RecordLayout.orderFieldName(of: relationship.name.name)] =
                            .int(Int64(100 - index))
                    }
                }
            } else if relationship.ownsLinks {
                var seen: Set<Link> = []
                for (index, source) in sources.enumerated() {
                    // Without an inverse, an object may get a to-one one in a later version: it is in one list only.
                    if relationship.inverse == nil {
                        guard index < targets.count else { continue }
                        seen.insert(relationship.normalized(Link(source.key, targets[index].key)))
                        continue
                    }
                    for step in 0..<2 {
                        seen.insert(
                            relationship.normalized(
                                Link(
                                    source.key, targets[(index * 3 + step) % targets.count].key,
                                    order: Int64(step), inverseOrder: 0)))
                    }
                }
                var pairs: Set<[Int64]> = []
                links[relationship.number] = seen.sorted {
                    ($0.source, $0.target, $0.order) < ($1.source, $1.target, $1.order)
                }
                .filter { pairs.insert([$0.source, $0.target]).inserted }
            }
        }
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

    private static func value(_ attribute: AttributeDescription, _ index: Int) -> Value {
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
            .composite(Dictionary(uniqueKeysWithValues: attribute.elements.map { ($0.name, value($0, index)) }))
        }
    }
}
