internal import RoostCore

/// The destinations of relationships in a batch request, as one snapshot shows them.
struct BatchDestinations {
    /// An object that exists in the snapshot.
    struct Destination {
        /// The number of the object's own entity.
        let entity: Int
        let version: UInt32
    }

    /// An ordered to-many relationship of one object.
    private struct End: Hashable {
        let relationship: Int
        let place: ObjectPlace
    }

    private var snapshot: any StoreSnapshot
    private let model: ManagedObjectModel
    /// The result of each lookup; nil for an object that does not exist.
    private var found: [ObjectPlace: Destination?] = [:]
    /// For each end, the last position in the snapshot, and the last position that the batch
    /// assigned.
    private var places: [End: (read: Int64?, given: Int64)] = [:]

    init(_ snapshot: any StoreSnapshot, model: ManagedObjectModel) {
        self.snapshot = snapshot
        self.model = model
    }

    var count: Int { found.count }

    var references: [ChangeSet.Reference] {
        found.sorted { $0.key < $1.key }.compactMap { place, destination in
            destination.map {
                ChangeSet.Reference(ObjectID(model.entities[$0.entity].name, key: place.key), version: $0.version)
            }
        }
    }

    /// Forgets which objects exist, but keeps the assigned positions.
    mutating func forget() { found.removeAll(keepingCapacity: true) }

    /// Forgets which objects exist, and continues with another snapshot.
    mutating func go(on snapshot: any StoreSnapshot) {
        self.snapshot = snapshot
        forget()
    }

    /// The last positions in the snapshot for all ends with assigned positions.
    var lastPlaces: [ChangeSet.LastPlace] {
        places.sorted { ($0.key.place, $0.key.relationship) < ($1.key.place, $1.key.relationship) }.map { end, places in
            ChangeSet.LastPlace(
                ObjectID(model.entities[end.place.root].name, key: end.place.key),
                in: model.relationships[end.relationship].name, place: places.read)
        }
    }

    /// Changes the assigned positions so that they follow the last positions in the current
    /// snapshot.
    ///
    /// - Returns: The moves whose distance is not zero.
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
            "Cannot append to '\(relationship.name)': an object already has the highest possible position. Give the objects lower positions first."
        )
    }

    /// Looks up objects by ID, except objects with a known result.
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

    /// Returns a destination's ID, with the destination's own entity.
    ///
    /// `id` must have been looked up, and may name a superentity.
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

    /// Returns a new last position in an ordered to-many relationship of an object.
    ///
    /// - Complexity: At the first call for an object and relationship, O(*n*) in the destinations;
    ///   later O(1).
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

/// The distance by which a batch's positions in one object's ordered relationship move.
struct PlaceMove {
    let relationship: Int
    let place: ObjectPlace
    let distance: Int64
}
