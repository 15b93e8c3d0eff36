/// The objects that a batch request lets to-one relationships lead to, as one snapshot shows them.
struct BatchDestinations {
    /// An object that exists.
    struct Destination {
        /// The number of its own entity.
        let entity: Int
        let version: UInt32
    }

    /// The end of an ordered to-many relationship from one object.
    private struct End: Hashable {
        let relationship: Int
        let key: Int64
    }

    private var snapshot: any StoreSnapshot
    private let model: ManagedObjectModel
    /// Everything that was looked for; nil where there is no such object.
    private var found: [BatchPlace: Destination?] = [:]
    private var nextPlaces: [End: Int64] = [:]

    init(_ snapshot: any StoreSnapshot) {
        self.snapshot = snapshot
        model = snapshot.model
    }

    /// How many objects are remembered.
    var count: Int { found.count }

    /// The objects that exist, with the versions they have.
    var references: [ChangeSet.Reference] {
        found.sorted { $0.key < $1.key }.compactMap { place, destination in
            destination.map {
                ChangeSet.Reference(ObjectID(model.entities[$0.entity].name, place.key), version: $0.version)
            }
        }
    }

    /// Forgets which objects exist, but not the places it gave.
    mutating func forget() { found.removeAll(keepingCapacity: true) }

    /// Goes on with another snapshot: forgets which objects exist, but not the places it gave.
    mutating func go(on snapshot: any StoreSnapshot) {
        self.snapshot = snapshot
        forget()
    }

    /// Looks up the objects with these IDs that it does not know yet.
    mutating func look(up ids: [ObjectID]) throws(StoreError) {
        var missing: [ObjectID] = []
        for id in ids {
            let entity = try model.requireEntity(id.entity)
            let place = BatchPlace(root: entity.root, key: id.key)
            guard found[place] == nil else { continue }
            found[place] = .some(nil)
            missing.append(ObjectID(model.entities[entity.root].name, id.key))
        }
        guard !missing.isEmpty else { return }
        let cursor = try snapshot.records(with: missing)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            batch.forEachRecord { record in
                let entity = record.entityNumber
                found[BatchPlace(root: model.entities[entity].root, key: record.key)] = Destination(
                    entity: entity, version: record.version)
            }
        }
    }

    /// The ID, by its own entity, of the object that a to-one relationship is to lead to; it was looked up before.
    ///
    /// - Throws: `objectNotFound` where there is no such object; `invalidValue` where it is of an entity the relationship cannot lead to.
    func destination(
        _ id: ObjectID, of relationship: ManagedObjectModel.Relationship, _ owner: () -> String
    ) throws(StoreError) -> ObjectID {
        guard let known = found[try model.place(of: id)], let destination = known,
            try model.requireEntity(id.entity).includes(destination.entity)
        else {
            throw StoreError(
                .objectNotFound,
                "'\(relationship.name)' cannot lead to \(id), which does not exist; it was to be set for \(owner()).")
        }
        guard model.entities[relationship.destination].includes(destination.entity) else {
            throw StoreError(
                .invalidValue,
                "'\(relationship.name)' leads to objects of '\(model.entities[relationship.destination].name)', and \(id) is none; it was to be set for \(owner())."
            )
        }
        return ObjectID(model.entities[destination.entity].name, id.key)
    }

    /// A place behind all others in the ordered to-many relationship `relationship` of an object, a new one with each call.
    ///
    /// - Complexity: O(*n*) in the destinations the object has, the first time.
    mutating func nextPlace(
        in relationship: ManagedObjectModel.Relationship, of id: ObjectID
    ) throws(StoreError) -> Int64 {
        let end = End(relationship: relationship.number, key: id.key)
        var place: Int64 = 0
        if let next = nextPlaces[end] {
            place = next
        } else {
            var links = LinkBatch(relationship: relationship.number)
            let cursor = try snapshot.links(of: relationship.name, from: id)
            while try cursor.next(into: &links) {
                for link in links.links { place = max(place, link.order == .max ? .max : link.order + 1) }
            }
        }
        nextPlaces[end] = place == .max ? .max : place + 1
        return place
    }
}
