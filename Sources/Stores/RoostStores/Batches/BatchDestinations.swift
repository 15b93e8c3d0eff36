internal import RoostCore

/// The destinations that a batch request gives to-one relationships, as one snapshot shows them.
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
        let place: ObjectPlace
    }

    private var snapshot: any StoreSnapshot
    private let model: ManagedObjectModel
    /// Everything that was looked up; nil for an object that does not exist.
    private var found: [ObjectPlace: Destination?] = [:]
    /// By end: the last place that the snapshot shows, and the last one that was given.
    private var places: [End: (read: Int64?, given: Int64)] = [:]

    init(_ snapshot: any StoreSnapshot, model: ManagedObjectModel) {
        self.snapshot = snapshot
        self.model = model
    }

    /// The number of objects remembered.
    var count: Int { found.count }

    /// The objects that exist, with the versions they have.
    var references: [ChangeSet.Reference] {
        found.sorted { $0.key < $1.key }.compactMap { place, destination in
            destination.map {
                ChangeSet.Reference(ObjectID(model.entities[$0.entity].name, key: place.key), version: $0.version)
            }
        }
    }

    /// Forgets which objects exist, but not the places it gave.
    mutating func forget() { found.removeAll(keepingCapacity: true) }

    /// Continues with another snapshot: forgets which objects exist, but not the places it gave.
    mutating func go(on snapshot: any StoreSnapshot) {
        self.snapshot = snapshot
        forget()
    }

    /// The last places that were read where some were given.
    var lastPlaces: [ChangeSet.LastPlace] {
        places.sorted { ($0.key.place, $0.key.relationship) < ($1.key.place, $1.key.relationship) }.map { end, places in
            ChangeSet.LastPlace(
                ObjectID(model.entities[end.place.root].name, key: end.place.key),
                in: model.relationships[end.relationship].name, place: places.read)
        }
    }

    /// Reads the last places again, and moves the given ones after them.
    ///
    /// - Returns: By relationship and object: how far the given places move; places that
    ///   stay are left out.
    /// - Throws: `limitExceeded` where there are not enough places.
    mutating func movePlaces() throws(StoreError) -> [PlaceMove] {
        var moves: [PlaceMove] = []
        for (end, known) in places {
            let relationship = model.relationships[end.relationship]
            let read = try lastPlace(in: relationship, of: end.place)
            let distance = Self.first(after: read).subtractingReportingOverflow(Self.first(after: known.read))
            let given = known.given.addingReportingOverflow(distance.partialValue)
            guard read != .max, !distance.overflow, !given.overflow else { throw Self.noPlaces(relationship) }
            places[end] = (read, given.partialValue)
            if distance.partialValue != 0 {
                moves.append(
                    PlaceMove(relationship: end.relationship, place: end.place, distance: distance.partialValue))
            }
        }
        return moves
    }

    /// Returns the first place to give.
    private static func first(after last: Int64?) -> Int64 { last.map { $0 == .max ? .max : max(0, $0 + 1) } ?? 0 }

    private func lastPlace(
        in relationship: ManagedObjectModel.Relationship, of place: ObjectPlace
    ) throws(StoreError) -> Int64? {
        var links = LinkBatch(relationship: relationship.number)
        let cursor = try snapshot.links(
            of: relationship.name, from: ObjectID(model.entities[place.root].name, key: place.key))
        var last: Int64?
        while try cursor.next(into: &links) {
            for link in links.links { last = max(last ?? link.order, link.order) }
        }
        return last
    }

    private static func noPlaces(_ relationship: ManagedObjectModel.Relationship) -> StoreError {
        StoreError(
            .limitExceeded,
            "Cannot append to '\(relationship.name)': its last place is taken. Give its objects lower places first.")
    }

    /// Looks up the objects with these IDs that it does not know yet.
    mutating func look(up ids: [ObjectID]) throws(StoreError) {
        var missing: [ObjectID] = []
        for id in ids {
            let entity = try model.requireEntity(id.entity)
            let place = ObjectPlace(root: entity.root, key: id.key)
            guard found[place] == nil else { continue }
            found[place] = .some(nil)
            missing.append(ObjectID(model.entities[entity.root].name, key: id.key))
        }
        guard !missing.isEmpty else { return }
        let cursor = try snapshot.records(with: missing)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            batch.forEachRecord { record in
                let entity = record.entityNumber
                found[ObjectPlace(root: model.entities[entity].root, key: record.key)] = Destination(
                    entity: entity, version: record.version)
            }
        }
    }

    /// Returns the ID, by its own entity, of the destination of a to-one relationship, which was
    /// looked up before.
    ///
    /// - Throws: `objectNotFound` if the object does not exist; `invalidValue` if the relationship
    ///   cannot refer to its entity.
    func destination(
        _ id: ObjectID, of relationship: ManagedObjectModel.Relationship, _ owner: () -> String
    ) throws(StoreError) -> ObjectID {
        guard let known = found[try model.place(of: id)], let destination = known,
            try model.requireEntity(id.entity).includes(destination.entity)
        else {
            throw StoreError(
                .objectNotFound,
                "Cannot set '\(relationship.name)' of \(owner()) to \(id): the object does not exist."
            ).with { $0.missingObjects = [id] }
        }
        guard model.entities[relationship.destination].includes(destination.entity) else {
            throw StoreError(
                .invalidValue,
                "Cannot set '\(relationship.name)' of \(owner()) to \(id): the relationship refers to objects of '\(model.entities[relationship.destination].name)'."
            )
        }
        return ObjectID(model.entities[destination.entity].name, key: id.key)
    }

    /// Returns a new place after all others in an ordered to-many relationship of an object.
    ///
    /// - Throws: `limitExceeded` after the highest place.
    /// - Complexity: O(*n*) in the destinations the object has, the first time.
    mutating func nextPlace(
        in relationship: ManagedObjectModel.Relationship, of id: ObjectID
    ) throws(StoreError) -> Int64 {
        let end = End(relationship: relationship.number, place: try model.place(of: id))
        if let known = places[end] {
            guard known.given < .max else { throw Self.noPlaces(relationship) }
            places[end] = (known.read, known.given + 1)
            return known.given + 1
        }
        let read = try lastPlace(in: relationship, of: end.place)
        guard read != .max else { throw Self.noPlaces(relationship) }
        let first = Self.first(after: read)
        places[end] = (read, first)
        return first
    }
}

/// The distance by which a batch's places in an ordered relationship move.
struct PlaceMove {
    /// The number of the ordered relationship.
    let relationship: Int
    /// The object whose destinations move.
    let place: ObjectPlace
    let distance: Int64
}
