internal import RoostCore

extension DestinationContent {
    typealias Relationship = ManagedObjectModel.Relationship

    // MARK: Reading

    /// Where a relationship leads, in its order or by key.
    func destinations(of name: String, from object: DestinationObject) throws(StoreError) -> [DestinationObject] {
        let relationship = try relationship(name, of: object)
        try relationshipMaker?.willRead(relationship, of: object)
        if relationship.isToMany { return try members(of: relationship, from: object).map(\.object) }
        let field = try model.entities[object.entityNumber].layout.requireField(name)
        return try reference(field, of: object).map { [$0] } ?? []
    }

    private func relationship(_ name: String, of object: DestinationObject) throws(StoreError) -> Relationship {
        try model.requireRelationship(RelationshipName(model.entities[object.entityNumber].name, name))
    }

    /// What a to-many relationship leads to, each with the pair as it is seen from the object; what is in memory is written first.
    private func members(
        of relationship: Relationship, from object: DestinationObject
    ) throws(StoreError) -> [(object: DestinationObject, link: Link)] {
        try open()
        try write()
        let snapshot = try snapshot()
        var links: [Link] = []
        var batch = LinkBatch(relationship: relationship.number)
        let cursor = try snapshot.links(of: relationship.name, from: object.id)
        while try cursor.next(into: &batch) { links += batch.links }
        // The entity of a destination is known by its record only.
        guard model.entities[relationship.destination].hasSubentities else {
            return links.map {
                (DestinationObject(content: self, entityNumber: relationship.destination, key: $0.target), $0)
            }
        }
        let name = model.entities[relationship.destination].name
        var entities: [Int64: Int] = [:]
        var found = RecordBatch(model: model)
        let records = try snapshot.records(with: links.map { ObjectID(name, $0.target) })
        while try records.next(into: &found) {
            for index in 0..<found.count { entities[found.key(at: index)] = found.entityNumber(at: index) }
        }
        return links.compactMap { link in
            entities[link.target].map { (DestinationObject(content: self, entityNumber: $0, key: link.target), link) }
        }
    }

    // MARK: Setting

    /// Makes a relationship lead to these objects and to no others.
    func setDestinations(
        _ destinations: [DestinationObject], of name: String, from object: DestinationObject, isToMany: Bool
    ) throws(StoreError) {
        let relationship = try relationship(name, of: object)
        guard relationship.isToMany == isToMany else {
            throw StoreError(
                .invalidRequest,
                "Relationship '\(relationship.name)' is to-\(relationship.isToMany ? "many: setObjects sets it" : "one: setObject sets it")."
            )
        }
        let entity = model.entities[relationship.destination]
        for destination in destinations where !entity.includes(destination.entityNumber) {
            throw StoreError(
                .invalidRequest,
                "Relationship '\(relationship.name)' leads to objects of '\(entity.name)', and \(destination.id) is none."
            )
        }
        try relationshipMaker?.willSet(relationship, of: object)
        note(set: relationship)
        isSettingForPolicy = true
        defer { isSettingForPolicy = false }
        try set(relationship, of: object, to: destinations.uniqued())
    }

    /// The same, of checked destinations, each there once.
    func set(
        _ relationship: Relationship, of object: DestinationObject, to destinations: [DestinationObject]
    ) throws(StoreError) {
        switch relationship.storage {
        case .field: try setField(relationship, of: object, to: destinations.first)
        case .derived(let inverse):
            try setMembers(relationship, inverse: model.relationships[inverse], of: object, to: destinations)
        case .links(let owner, let isFlipped):
            try setLinks(relationship, model.relationships[owner], isFlipped: isFlipped, of: object, to: destinations)
        }
    }

    private func field(_ relationship: Relationship, of object: DestinationObject) throws(StoreError)
        -> RecordLayout.Field
    {
        try model.entities[object.entityNumber].layout.requireField(relationship.name.name)
    }

    private func setField(
        _ relationship: Relationship, of object: DestinationObject, to destination: DestinationObject?
    ) throws(StoreError) {
        let field = try field(relationship, of: object)
        let old = try reference(field, of: object)
        try noteField(relationship, of: object)
        let inverse = relationship.inverse.map { model.relationships[$0] }
        if let inverse, !inverse.isToMany, let destination { try noteField(inverse, of: destination) }
        guard old != destination else { return }
        if let inverse, !inverse.isToMany {
            // One to one: whoever had either of them has nothing now.
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
            let place: Value
            if let destination { place = .int(try takePlace(in: inverse, of: destination)) } else { place = .null }
            try set(order, of: object, to: place)
        } else if let destination {
            touched[End(relationship: inverse.number, key: destination.key)] = 0
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

    /// The place behind the last one in an ordered relationship.
    private func takePlace(in relationship: Relationship, of object: DestinationObject) throws(StoreError) -> Int64 {
        let end = End(relationship: relationship.number, key: object.key)
        let place: Int64
        if let known = touched[end] {
            place = known
        } else if isOnlyInMemory(object) {
            place = 0
        } else {
            place = try members(of: relationship, from: object).last.map { Self.next($0.link.order) } ?? 0
        }
        touched[end] = Self.next(place)
        return place
    }

    /// The place behind another one; behind the greatest possible one the key decides.
    private static func next(_ place: Int64) -> Int64 { place == .max ? .max : place + 1 }

    /// What a to-many relationship leads to now; what is only in memory and was not set leads nowhere, which needs no look.
    private func current(
        _ relationship: Relationship, of object: DestinationObject
    ) throws(StoreError) -> [(object: DestinationObject, link: Link)] {
        if isOnlyInMemory(object), touched[End(relationship: relationship.number, key: object.key)] == nil { return [] }
        return try members(of: relationship, from: object)
    }

    private func setMembers(
        _ relationship: Relationship, inverse: Relationship, of object: DestinationObject,
        to members: [DestinationObject]
    ) throws(StoreError) {
        let wanted = Set(members)
        for (member, _) in try current(relationship, of: object) where !wanted.contains(member) {
            try noteField(inverse, of: member)
            try set(try field(inverse, of: member), of: member, to: .null)
            if let order = orderField(inverse, of: member) { try set(order, of: member, to: .null) }
        }
        for (place, member) in members.enumerated() {
            try noteField(inverse, of: member)
            try set(try field(inverse, of: member), of: member, to: .objectID(object.id))
            if let order = orderField(inverse, of: member) { try set(order, of: member, to: .int(Int64(place))) }
        }
        touched[End(relationship: relationship.number, key: object.key)] = Int64(members.count)
    }

    private func orderField(_ relationship: Relationship, of object: DestinationObject) -> RecordLayout.Field? {
        model.entities[object.entityNumber].layout.field(RecordLayout.orderFieldName(of: relationship.name.name))
    }

    private func setLinks(
        _ relationship: Relationship, _ owner: Relationship, isFlipped: Bool, of object: DestinationObject,
        to destinations: [DestinationObject]
    ) throws(StoreError) {
        var places: [Int64: (place: Int64, inverse: Int64)] = [:]
        let wanted = Set(destinations.map(\.key))
        for (member, link) in try current(relationship, of: object) {
            if wanted.contains(member.key) { places[member.key] = (link.order, link.inverseOrder) }
            guard !wanted.contains(member.key) || relationship.isOrdered else { continue }
            // A link that stays at another place goes and comes back.
            remove(isFlipped ? link.flipped : link, from: owner)
        }
        let end = End(relationship: relationship.number, key: object.key)
        for (position, destination) in destinations.enumerated() {
            if !relationship.isOrdered, places[destination.key] != nil { continue }
            var link = Link(object.key, destination.key, order: relationship.isOrdered ? Int64(position) : 0)
            if relationship.inverseIsOrdered, let inverse = relationship.inverse {
                if let known = places[destination.key] {
                    link.inverseOrder = known.inverse
                } else {
                    link.inverseOrder = try takePlace(in: model.relationships[inverse], of: destination)
                }
            } else if let inverse = relationship.inverse {
                touched[End(relationship: inverse, key: destination.key)] = 0
            }
            add(isFlipped ? link.flipped : link, to: owner)
        }
        touched[end] = Int64(destinations.count)
    }
}
