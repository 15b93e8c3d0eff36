internal import RoostCore

extension DestinationContent {
    typealias Relationship = ManagedObjectModel.Relationship

    // MARK: Reading

    /// Returns the destinations of a relationship, by position if it is ordered, otherwise by key.
    func destinations(of name: String, from object: DestinationObject) throws(StoreError) -> [DestinationObject] {
        let relationship = try relationship(name, of: object)
        try relationshipBuilder?.willRead(relationship, of: object)
        if relationship.isToMany { return try members(of: relationship, from: object).map(\.object) }
        let field = try model.entities[object.entityNumber].layout.requireField(name)
        return try reference(field, of: object).map { [$0] } ?? []
    }

    private func relationship(_ name: String, of object: DestinationObject) throws(StoreError) -> Relationship {
        try model.requireRelationship(RelationshipName(model.entities[object.entityNumber].name, name: name))
    }

    /// Returns the destinations of a to-many relationship, each with its link as seen from the
    /// object.
    ///
    /// First writes the objects in memory.
    private func members(
        of relationship: Relationship, from object: DestinationObject
    ) throws(StoreError) -> [(object: DestinationObject, link: Link)] {
        try open()
        try write()
        let snapshot = try output.snapshot()
        var links: [Link] = []
        var batch = LinkBatch(relationship: relationship.number)
        let cursor = try snapshot.links(of: relationship.name, from: object.id)
        while try cursor.next(into: &batch) { links += batch.links }
        // With subentities, a destination's entity is known only from its record.
        guard model.entities[relationship.destination].hasSubentities else {
            return links.map {
                (DestinationObject(content: self, entityNumber: relationship.destination, key: $0.target), $0)
            }
        }
        let name = model.entities[relationship.destination].name
        var entities: [Int64: Int] = [:]
        var found = RecordBatch(model: model)
        let records = try snapshot.records(with: links.map { ObjectID(name, key: $0.target) })
        while try records.next(into: &found) {
            for index in 0..<found.count { entities[found.key(at: index)] = found.entityNumber(at: index) }
        }
        return links.compactMap { link in
            entities[link.target].map { (DestinationObject(content: self, entityNumber: $0, key: link.target), link) }
        }
    }

    // MARK: Setting

    func setDestinations(
        _ destinations: [DestinationObject], of name: String, from object: DestinationObject, isToMany: Bool
    ) throws(StoreError) {
        let relationship = try relationship(name, of: object)
        guard relationship.isToMany == isToMany else {
            throw StoreError(
                .invalidRequest,
                "Relationship '\(relationship.name)' is to-\(relationship.isToMany ? "many; set it with setObjects" : "one; set it with setObject")."
            )
        }
        let entity = model.entities[relationship.destination]
        for destination in destinations where !entity.includes(destination.entityNumber) {
            throw StoreError(
                .invalidRequest,
                "Relationship '\(relationship.name)' refers to objects of '\(entity.name)', but \(destination.id) is not one of them."
            )
        }
        try relationshipBuilder?.willSet(relationship, of: object)
        policies.note(relationship)
        policies.isSetting = true
        defer { policies.isSetting = false }
        try set(relationship, of: object, to: destinations.uniqued())
    }

    /// A treatment of existing pairs when a relationship of an object is set.
    enum Manner {
        /// Existing pairs of the object are removed.
        ///
        /// If the inverse is to-one, existing pairs of the new destinations are removed too.
        case replacing
        /// Existing pairs remain, because the mapping of the inverse may have created them.
        ///
        /// If an existing pair excludes a new pair, the migration fails. Pairs that a policy set
        /// are replaced.
        case adding
    }

    /// Sets a relationship to valid, distinct destinations.
    ///
    /// `place` is the position in the ordered inverse of a to-one relationship, or nil for the next
    /// free position.
    ///
    /// - Throws: `migrationFailed` if another pair excludes the new pair.
    func set(
        _ relationship: Relationship, of object: DestinationObject, to destinations: [DestinationObject],
        manner: Manner = .replacing, place: Int64? = nil
    ) throws(StoreError) {
        switch relationship.storage {
        case .field:
            if manner == .adding {
                guard try hasRoom(relationship, of: object, for: destinations.first) else { return }
            }
            try setField(relationship, of: object, to: destinations.first, place: place)
        case .derived(let inverse):
            let inverse = model.relationships[inverse]
            try setMembers(relationship, inverse: inverse, of: object, to: destinations, manner: manner)
        case .links(let owner, let isFlipped):
            try setLinks(
                relationship, owner: model.relationships[owner], isFlipped: isFlipped, of: object, to: destinations,
                manner: manner)
        }
    }

    // MARK: Conflicting pairs

    /// Returns whether to set a to-one relationship, or throws if another pair excludes the new
    /// pair.
    ///
    /// Without a destination, the relationship is cleared only if a policy set it. Otherwise, the
    /// mapping of the inverse may have set it.
    private func hasRoom(
        _ relationship: Relationship, of object: DestinationObject, for destination: DestinationObject?
    ) throws(StoreError) -> Bool {
        let isGiven = try isSetByPolicy(relationship, of: object)
        guard let destination else { return isGiven }
        guard let inverse = relationship.inverse.map({ model.relationships[$0] }), !inverse.isToMany else {
            return true
        }
        if !isGiven, let other = try reference(field(relationship, of: object), of: object), other != destination {
            throw .noRoom(
                relationship.name, inverse: inverse.name, from: object.id, to: destination.id,
                other: "\(other.id) refers to \(object.id)")
        }
        try requireRoom(relationship, inverse: inverse, from: object, to: destination)
        return true
    }

    /// Throws if the to-one `inverse` of a destination refers to another object, unless a policy
    /// set this reference.
    private func requireRoom(
        _ relationship: Relationship, inverse: Relationship, from object: DestinationObject,
        to destination: DestinationObject
    ) throws(StoreError) {
        guard let other = try reference(field(inverse, of: destination), of: destination), other != object,
            try !isSetByPolicy(inverse, of: destination)
        else { return }
        throw .noRoom(
            relationship.name, inverse: inverse.name, from: object.id, to: destination.id, other: "\(other.id) does")
    }

    private func isSetByPolicy(_ relationship: Relationship, of object: DestinationObject) throws(StoreError) -> Bool {
        try policies.includes(relationship, of: object.place)
    }

    // MARK: Storage forms

    private func field(_ relationship: Relationship, of object: DestinationObject) throws(StoreError)
        -> RecordLayout.Field
    {
        try model.entities[object.entityNumber].layout.requireField(relationship.name.name)
    }

    private func setField(
        _ relationship: Relationship, of object: DestinationObject, to destination: DestinationObject?, place: Int64?
    ) throws(StoreError) {
        let field = try field(relationship, of: object)
        let old = try reference(field, of: object)
        try policies.noteField(relationship, of: object.place)
        let inverse = relationship.inverse.map { model.relationships[$0] }
        if let inverse, !inverse.isToMany, let destination { try policies.noteField(inverse, of: destination.place) }
        guard old != destination else { return }
        if let inverse, !inverse.isToMany {
            // One-to-one: the previous partners of both objects lose their references.
            if let old { try clear(inverse, of: old) }
            if let destination {
                let back = try self.field(inverse, of: destination)
                if let partner = try reference(back, of: destination), partner != object {
                    try clear(relationship, of: partner)
                }
                try set(back, of: destination, to: .objectID(object.id))
            }
        }
        try set(field, of: object, to: destination.map { .objectID($0.id) } ?? .null)
        guard let inverse, inverse.isToMany else { return }
        if let order = model.entities[object.entityNumber].layout.field(RecordLayout.orderFieldName(of: field.name)) {
            var taken = Value.null
            if let destination { taken = .int(try takePlace(in: inverse, of: destination, wanted: place)) }
            try set(order, of: object, to: taken)
        } else if let destination {
            places.touch(End(relationship: inverse.number, key: destination.key))
        }
    }

    /// Clears a to-one field of an object that may not exist.
    private func clear(_ relationship: Relationship, of object: DestinationObject) throws(StoreError) {
        do throws(StoreError) {
            try set(try field(relationship, of: object), of: object, to: .null)
        } catch  where error.code == .objectNotFound {
            return
        }
    }

    /// Returns `wanted`, or the next free position in an ordered relationship if `wanted` is nil.
    private func takePlace(
        in relationship: Relationship, of object: DestinationObject, wanted: Int64? = nil
    ) throws(StoreError) -> Int64 {
        let end = End(relationship: relationship.number, key: object.key)
        let known = places[end]
        if let wanted {
            // A stored object's unknown last position is not looked up, because `wanted` does not depend on it.
            guard known != nil || isOnlyInMemory(object) else { return wanted }
            places.note(max(known ?? 0, Self.next(wanted)), at: end)
            return wanted
        }
        let place: Int64
        if let known {
            place = known
        } else if isOnlyInMemory(object) {
            place = 0
        } else {
            place = try lastPlace(in: relationship, of: object).map(Self.next) ?? 0
        }
        places.note(Self.next(place), at: end)
        return place
    }

    /// Returns the last position in an ordered relationship.
    ///
    /// First writes the objects in memory.
    private func lastPlace(in relationship: Relationship, of object: DestinationObject) throws(StoreError) -> Int64? {
        try open()
        try write()
        var last: Int64?
        var batch = LinkBatch(relationship: relationship.number)
        let cursor = try output.snapshot().links(of: relationship.name, from: object.id)
        while try cursor.next(into: &batch) { last = batch.links.last?.order ?? last }
        return last
    }

    /// Returns the next position; at the maximum, the same position, so that keys determine the
    /// order.
    private static func next(_ place: Int64) -> Int64 { place == .max ? .max : place + 1 }

    /// Returns the destinations of a to-many relationship.
    ///
    /// A new object whose relationship was not set has none.
    private func current(
        _ relationship: Relationship, of object: DestinationObject
    ) throws(StoreError) -> [(object: DestinationObject, link: Link)] {
        if isOnlyInMemory(object), !places.isTouched(End(relationship: relationship.number, key: object.key)) {
            return []
        }
        return try members(of: relationship, from: object)
    }

    private func setMembers(
        _ relationship: Relationship, inverse: Relationship, of object: DestinationObject,
        to members: [DestinationObject], manner: Manner
    ) throws(StoreError) {
        let wanted = Set(members)
        var first: Int64 = 0
        for (member, link) in try current(relationship, of: object) where !wanted.contains(member) {
            if manner == .adding, try !isSetByPolicy(inverse, of: member) {
                first = max(first, Self.next(link.order))
                continue
            }
            try policies.noteField(inverse, of: member.place)
            try set(try field(inverse, of: member), of: member, to: .null)
            if let order = orderField(inverse, of: member) { try set(order, of: member, to: .null) }
        }
        var place = first
        for member in members {
            if manner == .adding { try requireRoom(relationship, inverse: inverse, from: object, to: member) }
            try policies.noteField(inverse, of: member.place)
            try set(try field(inverse, of: member), of: member, to: .objectID(object.id))
            if let order = orderField(inverse, of: member) { try set(order, of: member, to: .int(place)) }
            place = Self.next(place)
        }
        places.note(place, at: End(relationship: relationship.number, key: object.key))
    }

    private func orderField(_ relationship: Relationship, of object: DestinationObject) -> RecordLayout.Field? {
        model.entities[object.entityNumber].layout.field(RecordLayout.orderFieldName(of: relationship.name.name))
    }

    private func setLinks(
        _ relationship: Relationship, owner: Relationship, isFlipped: Bool, of object: DestinationObject,
        to destinations: [DestinationObject], manner: Manner
    ) throws(StoreError) {
        var known: [Int64: (place: Int64, inverse: Int64)] = [:]
        var first: Int64 = 0
        let wanted = Set(destinations.map(\.key))
        for (member, link) in try current(relationship, of: object) {
            if manner == .adding {
                // A pair that the mapping of the inverse created keeps its position.
                known[member.key] = (link.order, link.inverseOrder)
                first = max(first, Self.next(link.order))
                continue
            }
            if wanted.contains(member.key) { known[member.key] = (link.order, link.inverseOrder) }
            guard !wanted.contains(member.key) || relationship.isOrdered else { continue }
            // In an ordered relationship, wanted links are removed and then added again with new positions.
            remove(isFlipped ? link.flipped : link, from: owner)
        }
        let end = End(relationship: relationship.number, key: object.key)
        var next = first
        for destination in destinations {
            if !relationship.isOrdered || manner == .adding, known[destination.key] != nil { continue }
            var link = Link(object.key, destination.key, order: relationship.isOrdered ? next : 0)
            next = Self.next(next)
            if relationship.inverseIsOrdered, let inverse = relationship.inverse {
                if let place = known[destination.key] {
                    link.inverseOrder = place.inverse
                } else {
                    link.inverseOrder = try takePlace(in: model.relationships[inverse], of: destination)
                }
            } else if let inverse = relationship.inverse {
                places.touch(End(relationship: inverse, key: destination.key))
            }
            add(isFlipped ? link.flipped : link, to: owner)
        }
        places.note(next, at: end)
    }
}
