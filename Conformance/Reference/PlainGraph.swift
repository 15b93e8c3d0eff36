internal import RoostCore

/// The objects of a store and the destinations of their relationships, for ``PlainPredicate``.
struct PlainGraph {
    struct Object {
        let id: ObjectID
        let entity: ManagedObjectModel.Entity
        let values: [String: Value]
    }

    let model: ManagedObjectModel
    /// The objects by the number of the root entity, then by key.
    private var objects: [Int: [Int64: Object]] = [:]
    /// The destinations by the number of a to-many relationship, then by the source's key, in
    /// order.
    private var destinations: [Int: [Int64: [ObjectID]]] = [:]

    init(_ store: ReferenceStore) throws(StoreError) {
        model = store.model
        for (root, records) in store.objects {
            for (key, record) in records {
                objects[root, default: [:]][key] = Object(
                    id: record.id, entity: try model.requireEntity(record.id.entity), values: record.values())
            }
        }
        for relationship in model.relationships where relationship.isToMany {
            destinations[relationship.number] = try Self.destinations(of: relationship, in: store, objects: objects)
        }
    }

    /// Creates a graph of objects without links.
    init(model: ManagedObjectModel, list: [(id: ObjectID, values: [String: Value])]) throws(StoreError) {
        self.model = model
        for (id, values) in list {
            let entity = try model.requireEntity(id.entity)
            objects[entity.root, default: [:]][id.key] = Object(id: id, entity: entity, values: values)
        }
    }

    private static func destinations(
        of relationship: ManagedObjectModel.Relationship, in store: ReferenceStore, objects: [Int: [Int64: Object]]
    ) throws(StoreError) -> [Int64: [ObjectID]] {
        let model = store.model
        var found: [Int64: [(place: Int64, key: Int64)]] = [:]
        switch relationship.storage {
        case .field: break
        case .derived(let inverse):
            let back = model.relationships[inverse]
            let entity = model.entities[back.source]
            for (key, object) in objects[entity.root] ?? [:] where entity.includes(object.entity.number) {
                guard case .objectID(let target)? = object.values[back.name.name] else { continue }
                var place: Int64 = 0
                if relationship.isOrdered,
                    case .int(let order)? = try store.record(object.id)?
                        .value(RecordLayout.orderFieldName(of: back.name.name))
                {
                    place = order
                }
                found[target.key, default: []].append((place, key))
            }
        case .links(let owner, let isFlipped):
            for link in (store.links[owner] ?? [:]).values {
                if !isFlipped { found[link.source, default: []].append((link.order, link.target)) }
                if isFlipped || relationship.isReflexive, !(relationship.isReflexive && link.source == link.target) {
                    found[link.target, default: []].append((link.inverseOrder, link.source))
                }
            }
        }
        let targets = objects[model.entities[relationship.destination].root] ?? [:]
        return found.mapValues { list in list.sorted { $0 < $1 }.compactMap { targets[$0.key]?.id } }
    }

    /// Returns the object with the hierarchy and key of an ID.
    func object(_ id: ObjectID) -> Object? {
        model.entity(id.entity).flatMap { objects[$0.root]?[id.key] }
    }

    /// Returns the destinations of an object's to-many relationship, in order.
    func destinations(of relationship: ManagedObjectModel.Relationship, from id: ObjectID) -> [ObjectID] {
        destinations[relationship.number]?[id.key] ?? []
    }

    /// Returns the objects of an entity in the order of keys.
    func objects(of entity: ManagedObjectModel.Entity, includingSubentities: Bool) -> [Object] {
        (objects[entity.root] ?? [:]).values
            .filter { includingSubentities ? entity.includes($0.entity.number) : $0.entity.number == entity.number }
            .sorted { $0.id.key < $1.id.key }
    }
}
