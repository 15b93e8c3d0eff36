import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration

/// The effect of a mapping model on the content of a store, computed object by object over
/// dictionaries.
///
/// Layouts and batches are ignored.
struct PlainMigration {
    struct Place: Hashable {
        var root: Int
        var key: Int64
    }

    /// An object and one destination of its relationship.
    struct Pair: Hashable {
        var from: Place
        var to: Place
    }

    /// The positions of a pair: `there` in the list of `from`, and `back` in the list of `to`.
    ///
    /// A position is nil if its list has no order.
    struct Order {
        var there: Int64?
        var back: Int64?
    }

    private let mapping: MappingModel
    private let old: ManagedObjectModel
    private let new: ManagedObjectModel
    private var objects: [ObjectID: (version: UInt32, values: [String: Value])] = [:]
    private let links: [Int: [Link]]
    /// The ID of each source object, by its place in the old model.
    private var ids: [Place: ObjectID] = [:]
    /// The new object of each source object.
    private var made: [ObjectID: ObjectID] = [:]
    private var values: [ObjectID: [String: Value]] = [:]
    private var pairs: [Int: [Pair: Order]] = [:]
    /// Whether the migration must fail, because a mandatory value is empty.
    private(set) var fails = false

    init(_ mapping: MappingModel, of contents: StoreContents, from old: ManagedObjectModel, to new: ManagedObjectModel)
    {
        self.mapping = mapping
        self.old = old
        self.new = new
        links = contents.links
        for object in contents.objects.values.joined() {
            objects[object.id] = (object.version, object.values)
            ids[place(of: object.id, in: old)] = object.id
        }
        makeObjects()
        makePairs()
    }

    private func place(of id: ObjectID, in model: ManagedObjectModel) -> Place {
        Place(root: model.entity(id.entity)?.root ?? -1, key: id.key)
    }

    // MARK: Objects

    private mutating func makeObjects() {
        for (id, object) in objects {
            guard
                let mapping = mapping.entityMappings.first(where: {
                    $0.sourceEntity == id.entity && $0.destinationEntity != nil
                }),
                let name = mapping.destinationEntity, let entity = new.entity(name)
            else { continue }
            let new = ObjectID(name, key: id.key)
            made[id] = new
            var values: [String: Value] = [:]
            for attribute in entity.attributes where attribute.isStored {
                let value = value(of: attribute, path: attribute.name, mapping: mapping, source: object.values)
                if !value.isNull { values[attribute.name] = value }
                if value.isNull, !attribute.isOptional { fails = true }
            }
            self.values[new] = values
        }
    }

    private func value(
        of attribute: AttributeDescription, path: String, mapping: EntityMapping, source: [String: Value]
    ) -> Value {
        var value = attribute.defaultValue
        let expression = mapping.attributeMappings.first { $0.name == path }?.valueExpression
        let taken = mapping.type == .copy ? .source(path) : expression
        if case .path(of: .variable("source"), let names)? = taken {
            value = source[names[0]] ?? .null
            for name in names.dropFirst() {
                guard case .composite(let elements) = value else { return .null }
                value = elements[name] ?? .null
            }
            if value.isNull, !attribute.isOptional { value = attribute.defaultValue }
        }
        guard attribute.type == .composite, case .composite(let elements) = value else {
            return converted(value, to: attribute.type)
        }
        guard mapping.attributeMappings.contains(where: { $0.name.hasPrefix(path + ".") }) else { return value }
        var new: [String: Value] = [:]
        for element in attribute.elements {
            new[element.name] = self.value(
                of: element, path: "\(path).\(element.name)", mapping: mapping, source: source)
        }
        _ = elements
        return .composite(new)
    }

    private func converted(_ value: Value, to type: AttributeType) -> Value {
        switch (value, type) {
        case (.bool(let flag), .integer16), (.bool(let flag), .integer32), (.bool(let flag), .integer64):
            .int(flag ? 1 : 0)
        case (.int(let number), .decimal): .decimal(Decimal(number))
        case (.int(let number), .double), (.int(let number), .float): .double(Double(number))
        case (.objectID(let id), .objectID):
            // An object-ID attribute gets the ID that the object would have, even if no such object exists.
            mapping.entityMappings.first { $0.sourceEntity == id.entity && $0.destinationEntity != nil }
                .flatMap(\.destinationEntity).map { .objectID(ObjectID($0, key: id.key)) } ?? .null
        default: value
        }
    }

    // MARK: Relationships

    /// Returns the pairs of a relationship of the old model, with their orders.
    private func oldPairs(_ relationship: ManagedObjectModel.Relationship) -> [(Pair, Order)] {
        func flipped(_ pairs: [(Pair, Order)]) -> [(Pair, Order)] {
            pairs.map { (Pair(from: $0.to, to: $0.from), Order(there: $1.back, back: $1.there)) }
        }
        let name = relationship.name.name
        let roots = (old.entities[relationship.source].root, old.entities[relationship.destination].root)
        switch relationship.storage {
        case .field:
            var pairs: [(Pair, Order)] = []
            for (id, object) in objects {
                guard let entity = old.entity(id.entity), old.entities[relationship.source].includes(entity.number),
                    case .objectID(let target)? = object.values[name]
                else { continue }
                var order = Order()
                if case .int(let place)? = object.values[RecordLayout.orderFieldName(of: name)] { order.back = place }
                pairs.append((Pair(from: place(of: id, in: old), to: place(of: target, in: old)), order))
            }
            return pairs
        case .derived(let inverse): return flipped(oldPairs(old.relationships[inverse]))
        case .links(let owner, let isFlipped):
            let relationship = old.relationships[owner]
            let roots =
                isFlipped
                ? (roots.1, roots.0) : roots
            let stored = (links[owner] ?? []).map { link in
                (
                    Pair(
                        from: Place(root: roots.0, key: link.source), to: Place(root: roots.1, key: link.target)),
                    Order(
                        there: relationship.isOrdered ? link.order : nil,
                        back: relationship.inverseIsOrdered ? link.inverseOrder : nil)
                )
            }
            if relationship.isReflexive { return stored + flipped(stored) }
            return isFlipped ? flipped(stored) : stored
        }
    }

    private mutating func makePairs() {
        for mapping in mapping.entityMappings {
            guard let from = mapping.sourceEntity.flatMap(old.entity),
                let to = mapping.destinationEntity.flatMap(new.entity)
            else { continue }
            for relationship in to.relationships {
                let name = relationship.name.name
                var origin = mapping.type == .copy ? name : nil
                let expression = mapping.relationshipMappings.first { $0.name == name }?.valueExpression
                if case .registered(_, let arguments)? = expression, case .constant(.string(let old)) = arguments[1] {
                    origin = old
                }
                guard let source = origin.flatMap(from.relationship) else { continue }
                for (pair, order) in oldPairs(source) where ids[pair.from]?.entity == from.name {
                    add(pair, order: order, to: relationship)
                }
            }
        }
    }

    private mutating func add(_ pair: Pair, order: Order, to relationship: ManagedObjectModel.Relationship) {
        guard let from = ids[pair.from].flatMap({ made[$0] }), let to = ids[pair.to].flatMap({ made[$0] }),
            new.entity(from.entity).map({ new.entities[relationship.source].includes($0.number) }) ?? false,
            new.entity(to.entity).map({ new.entities[relationship.destination].includes($0.number) }) ?? false
        else { return }
        let newPair = Pair(from: place(of: from, in: new), to: place(of: to, in: new))
        let places = Order(there: order.there ?? to.key, back: order.back ?? from.key)
        pairs[relationship.number, default: [:]][newPair] = places
        if let inverse = relationship.inverse {
            pairs[inverse, default: [:]][Pair(from: newPair.to, to: newPair.from)] = Order(
                there: places.back, back: places.there)
        }
    }

    // MARK: The result

    mutating func contents() throws -> StoreContents {
        let newIDs = Dictionary(uniqueKeysWithValues: values.keys.map { (place(of: $0, in: new), $0) })
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: new)
        for relationship in new.relationships where relationship.storage == .field {
            let name = relationship.name.name
            for (pair, order) in pairs[relationship.number] ?? [:] {
                guard let from = newIDs[pair.from], let to = newIDs[pair.to] else { continue }
                values[from]?[name] = .objectID(to)
                if relationship.inverseIsOrdered {
                    values[from]?[RecordLayout.orderFieldName(of: name)] = order.back.map { .int($0) }
                }
            }
        }
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: new)
        for (id, newID) in made.sorted(by: { $0.key.key < $1.key.key }) {
            try batch.append(newID, version: objects[id]?.version ?? 0, values: values[newID] ?? [:])
            judgeRelationships(of: newID, from: id)
        }
        try loader.append(batch)
        for relationship in new.linkRelationships {
            let links = (pairs[relationship.number] ?? [:]).map { pair, order in
                relationship.normalized(
                    Link(pair.from.key, pair.to.key, order: order.there ?? 0, inverseOrder: order.back ?? 0))
            }
            try loader.append(LinkBatch(relationship: relationship.number, links: Array(Set(links))))
        }
        _ = try loader.finish()
        return try store.contents()
    }

    /// Sets `fails` if a mandatory reference is empty, and was optional or had a value before.
    private mutating func judgeRelationships(of id: ObjectID, from old: ObjectID) {
        guard let entity = new.entity(id.entity), let origin = self.old.entity(old.entity) else { return }
        for relationship in entity.relationships
        where relationship.storage == .field && !relationship.declaration.isOptional {
            guard values[id]?[relationship.name.name] == nil else { continue }
            let mapping = mapping.entityMappings.first { $0.sourceEntity == old.entity }
            var name = mapping?.type == .copy ? relationship.name.name : nil
            if case .registered(_, let arguments)? = mapping?.relationshipMappings
                .first(where: { $0.name == relationship.name.name })?.valueExpression,
                case .constant(.string(let text)) = arguments[1]
            {
                name = text
            }
            guard let name, let before = origin.relationship(name) else { continue }
            if objects[old]?.values[name] != nil || before.declaration.isOptional { fails = true }
        }
    }
}
