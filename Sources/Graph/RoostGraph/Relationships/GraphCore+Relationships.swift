internal import RoostCore
internal import RoostStores

// A change of a relationship immediately updates both sides. A to-many relationship records differences, so adding or
// removing a member does not read the other members.

extension GraphCore {
    /// The maximum number of members that one access by position reads.
    private static let blockCount = 256

    func destination(of object: ManagedObject, field: RecordLayout.Field) -> ManagedObject? {
        let row = object.firedRow
        guard let (entity, key) = RowAccess.reference(row, field: field) else { return nil }
        let root = table.root(entity)
        if let known = registry.find(root, key: key) { return known }
        let place = ObjectPlace(root: root, key: key)
        if readAhead[place] == nil {
            if let company { RowPage.release(company.row) }
            RowPage.retain(row)
            company = (place, row, field, Int(object.entityNumber))
        }
        return makeObject(entity, root: root, key: key)
    }

    /// Checks a new value of a to-one relationship, without reading the destination.
    func requireReference(_ value: Value, relationship: ManagedObjectModel.Relationship) throws(StoreError) {
        switch value {
        case .null: return
        case .objectID(let id):
            let destination = model.entities[relationship.destination]
            let entity = try model.requireEntity(id.entity)
            // An ID's entity can be a superentity of the object's entity.
            guard destination.includes(entity.number) || entity.includes(destination.number) else {
                throw StoreError(.invalidValue, "'\(relationship.name)' cannot refer to \(id).")
            }
        default:
            throw StoreError(
                .invalidValue, "'\(relationship.name)' needs an object ID or null, not \(value.kindDescription).")
        }
    }

    /// Returns the object with an ID, or throws `invalidValue` if a to-one relationship cannot
    /// refer to it.
    ///
    /// Reads the object if its entity is uncertain.
    func requireDestination(
        _ id: ObjectID, relationship: ManagedObjectModel.Relationship
    ) throws(StoreError) -> ManagedObject {
        let object = try objects([id.key], destination: try model.requireEntity(id.entity).number)[0]
        guard model.entities[relationship.destination].includes(Int(object.entityNumber)) else {
            throw StoreError(.invalidValue, "'\(relationship.name)' cannot refer to \(id).")
        }
        return object
    }

    /// Sets a to-one relationship, and updates the inverse.
    func setDestination(of object: ManagedObject, relationship: Int, to new: ManagedObject?) {
        let declared = model.relationships[relationship]
        guard !object.flags.contains(.orphan), let field = object.info.references[relationship] else { return }
        if let new {
            guard new.core === self || isPlanted(.connectsContexts) else {
                return refuse(object, other: new, relationship: declared)
            }
            guard model.entities[declared.destination].includes(Int(new.entityNumber)) else {
                return latch(
                    StoreError(
                        .invalidValue,
                        "\(new.objectID) cannot be the '\(declared.name.name)' of \(object.objectID): the relationship is to '\(model.entities[declared.destination].name)'."
                    ))
            }
        }
        guard touch(object), let row = object.row else { return }
        let old = RowAccess.reference(row, field: field)
        guard old?.key != new?.key else { return }
        setReference(of: object, relationship: relationship, to: new)
        guard isTracking, !isPlanted(.leavesInverse), let number = declared.inverse else { return }
        let inverse = model.relationships[number]
        let former = isPlanted(.leavesFormerInverse) ? nil : old.map { self.object($0.entity, key: $0.key) }
        if inverse.isToMany {
            if let former { removeMember(object.key, of: former, relationship: inverse) }
            if let new { addMember(object.key, to: new, relationship: inverse) }
        } else {
            if let former, former !== object || !inverse.isReflexive {
                clear(former, relationship: number, ifItIs: object.key)
            }
            guard let new else { return }
            // The destination's former partner loses its reference.
            if let partnerField = new.info.references[number],
                let partner = RowAccess.reference(new.firedRow, field: partnerField), partner.key != object.key,
                !isPlanted(.leavesFormerPartner)
            {
                clear(self.object(partner.entity, key: partner.key), relationship: relationship, ifItIs: new.key)
            }
            setReference(of: new, relationship: number, to: object)
        }
    }

    private func refuse(
        _ object: ManagedObject, other: ManagedObject, relationship: ManagedObjectModel.Relationship
    ) {
        latch(
            StoreError(
                .invalidRequest,
                "\(other.objectID) and \(object.objectID) are in different contexts, so '\(relationship.name.name)' cannot connect them. Pass the ID, and ask the other context for its object."
            ))
    }

    func clear(_ object: ManagedObject, relationship: Int, ifItIs key: Int64) {
        guard let field = object.info.references[relationship],
            RowAccess.reference(object.firedRow, field: field)?.key == key, !object.flags.contains(.inaccessible)
        else { return }
        setReference(of: object, relationship: relationship, to: nil)
    }

    /// Writes a reference, without updating the inverse.
    func setReference(of object: ManagedObject, relationship: Int, to new: ManagedObject?) {
        guard let field = object.info.references[relationship], touch(object), let row = object.row else { return }
        if let observation { observation.note(object, property: .field(field.index)) }
        let writable = UnsafeMutableRawPointer(mutating: row)
        RowAccess.setReference(new.map { (Int($0.entityNumber), $0.key) }, row: writable, field: field)
        guard let place = object.info.places[relationship] else { return }
        // Clear the object's position in the former list. The save assigns a position in the new list.
        RowAccess.setNull(true, row: writable, field: place.index)
        writable.storeBytes(of: 0, toByteOffset: place.byteOffset, as: Int64.self)
    }

    // MARK: To-many

    @inline(__always)
    func change(_ object: ManagedObject, relationship: Int, _ body: (inout Members) -> Void) {
        let extra = object.requireExtra()
        if let index = extra.members.firstIndex(where: { $0.relationship == relationship }) {
            body(&extra.members[index].state)
        } else {
            var members = Members()
            body(&members)
            extra.members.append((relationship, members))
        }
        if let observation { observation.note(object, property: .members(relationship)) }
        note(object)
    }

    /// Adds a member, without updating the inverse.
    func addMember(_ key: Int64, to owner: ManagedObject, relationship: ManagedObjectModel.Relationship) {
        let number = undoRecord?.number ?? 0
        change(owner, relationship: relationship.number) { state in
            if undoRecord != nil { noteMember(key, of: owner, relationship: relationship, state: state) }
            state.recordWithOrder = number
            state.add(key, isOrdered: relationship.isOrdered)
        }
    }

    /// Removes a member, without updating the inverse.
    func removeMember(_ key: Int64, of owner: ManagedObject, relationship: ManagedObjectModel.Relationship) {
        let number = undoRecord?.number ?? 0
        change(owner, relationship: relationship.number) { state in
            if undoRecord != nil { noteMember(key, of: owner, relationship: relationship, state: state) }
            state.recordWithOrder = number
            state.remove(key, isOrdered: relationship.isOrdered)
        }
    }

    /// Adds a member, and updates the inverse.
    func add(_ member: ManagedObject, to owner: ManagedObject, relationship: Int) {
        let declared = model.relationships[relationship]
        guard member.core === self, !owner.flags.contains(.orphan) else {
            return refuse(owner, other: member, relationship: declared)
        }
        guard model.entities[declared.destination].includes(Int(member.entityNumber)) else {
            return latch(
                StoreError(
                    .invalidValue,
                    "\(member.objectID) cannot be one of the '\(declared.name.name)' of \(owner.objectID): the relationship is to '\(model.entities[declared.destination].name)'."
                ))
        }
        checkIsolation()
        if case .derived(let inverse) = declared.storage {
            setDestination(of: member, relationship: inverse, to: owner)
        } else {
            if isPlanted(.readsToAppend) {
                _ = latching { () throws(StoreError) in try memberKeys(of: owner, relationship: relationship) }
            }
            addMember(member.key, to: owner, relationship: declared)
            guard isTracking, !isPlanted(.addsOneSide), let inverse = declared.inverse else { return }
            addMember(owner.key, to: member, relationship: model.relationships[inverse])
        }
    }

    /// Removes a member, and updates the inverse.
    func remove(_ member: ManagedObject, from owner: ManagedObject, relationship: Int) {
        let declared = model.relationships[relationship]
        guard member.core === self else { return }
        checkIsolation()
        if case .derived(let inverse) = declared.storage {
            guard let field = member.info.references[inverse],
                RowAccess.reference(member.firedRow, field: field)?.key == owner.key
            else { return }
            setDestination(of: member, relationship: inverse, to: nil)
        } else {
            removeMember(member.key, of: owner, relationship: declared)
            guard isTracking, !isPlanted(.removesOneSide), let inverse = declared.inverse else { return }
            removeMember(owner.key, of: member, relationship: model.relationships[inverse])
        }
    }

    /// Returns the keys of the members in their order, reading the keys if necessary.
    func memberKeys(of owner: ManagedObject, relationship: Int) throws(StoreError) -> [Int64] {
        let declared = model.relationships[relationship]
        let extra = owner.requireExtra()
        var index = extra.members.firstIndex { $0.relationship == relationship }
        if index == nil {
            extra.members.append((relationship, Members()))
            index = extra.members.count - 1
        }
        guard let index else { return [] }
        if extra.members[index].state.base == nil {
            var keys: [Int64] = []
            if owner.flags.contains(.orphan) {
                throw StoreError(
                    .closed, "\(owner.objectID) has left its context, so '\(declared.name.name)' cannot be read.")
            }
            // An object that is inserted again after a saved deletion may still be the destination
            // of stored references, but has no links.
            let canBeStored = if case .derived = declared.storage { extra.isReturning } else { false }
            if !owner.flags.contains(.inserted) || canBeStored, owner.key > 0 || parent != nil {
                try openReader().graph(ofEntity: Int(owner.entityNumber))
                    .appendDestinations(of: declared, from: owner.key, to: &keys)
            }
            extra.members[index].state.setBase(keys)
            withoutUndo { removeDeleted(keys, from: owner, relationship: declared) }
        }
        extra.members[index].state.settle(isOrdered: declared.isOrdered)
        return extra.members[index].state.current ?? []
    }

    /// Removes deleted objects from the newly read members of a relationship.
    ///
    /// The deletion could not remove them, because the members were not yet read.
    private func removeDeleted(
        _ keys: [Int64], from owner: ManagedObject, relationship: ManagedObjectModel.Relationship
    ) {
        guard hasPropagatedDeletes, !owner.flags.contains(.deleted), let inverse = relationship.inverse,
            [.nullify, .cascade].contains(model.relationships[inverse].declaration.deleteRule)
        else { return }
        observation?.isPaused = true
        defer { observation?.isPaused = false }
        let root = model.entities[relationship.destination].root
        for key in keys where registered(root, key: key)?.flags.isSuperset(of: [.deleted, .propagated]) ?? false {
            if undoStack != nil {
                hiddenMembers.append((owner, relationship.number, ObjectPlace(root: root, key: key)))
            }
            change(owner, relationship: relationship.number) { $0.remove(key, isOrdered: relationship.isOrdered) }
        }
    }

    func members(of owner: ManagedObject, relationship: Int) throws(StoreError) -> [ManagedObject] {
        let keys = try memberKeys(of: owner, relationship: relationship)
        return try objects(keys, destination: model.relationships[relationship].destination)
    }

    /// Returns the objects with the given keys, after reading objects whose entity is uncertain.
    func objects(_ keys: [Int64], destination: Int) throws(StoreError) -> [ManagedObject] {
        let root = model.entities[destination].root
        if isPolymorphic(destination) {
            let unread = keys.filter { !hasKnownEntity($0, root: root) }
            if !unread.isEmpty { try read(unread, root: root) }
        }
        return keys.map { makeMember($0, root: root, destination: destination) }
    }

    func isPolymorphic(_ destination: Int) -> Bool { model.entities[destination].selfAndSubentities.count > 1 }

    private func hasKnownEntity(_ key: Int64, root: Int) -> Bool {
        registry.find(root, key: key) != nil || readAhead[ObjectPlace(root: root, key: key)] != nil
    }

    /// Returns the registered object with a key, or a new fault.
    private func makeMember(_ key: Int64, root: Int, destination: Int) -> ManagedObject {
        if let known = registry.find(root, key: key) { return known }
        let entity = readAhead[ObjectPlace(root: root, key: key)].map { Self.entityNumber(of: $0.row) }
        return makeObject(entity ?? destination, root: root, key: key)
    }

    // MARK: Members as collections

    /// Returns the members of a relationship, and whether all of them could be read.
    ///
    /// An error becomes the pending error. An object without values or context replaces each
    /// unreadable member, because the number of elements must equal the count of the collection.
    func latchingMembers<Member: ManagedObject>(
        of owner: ManagedObject, relationship: Int
    ) -> (objects: [Member], isComplete: Bool) {
        let read = latching { () throws(StoreError) in try memberKeys(of: owner, relationship: relationship) }
        guard let keys = read else { return ([], false) }
        let destination = model.relationships[relationship].destination
        let found = latching { () throws(StoreError) in try objects(keys, destination: destination) }
        if let found { return (found.map { member($0, destination: destination) }, true) }
        let root = model.entities[destination].root
        let members: [Member] = keys.map { key in
            guard hasKnownEntity(key, root: root) else { return makeUnreadMember(key, destination: destination) }
            return member(makeMember(key, root: root, destination: destination), destination: destination)
        }
        return (members, false)
    }

    /// Returns the member of a relationship at a position.
    ///
    /// If the member's entity is uncertain, also reads its neighbors, to speed up loops over
    /// positions. After an error, which becomes the pending error, the result is an object without
    /// values or context.
    func latchingMember<Member: ManagedObject>(
        of owner: ManagedObject, relationship: Int, at position: Int
    ) -> Member {
        let destination = model.relationships[relationship].destination
        let read = latching { () throws(StoreError) in try memberKeys(of: owner, relationship: relationship) }
        guard let keys = read else { return makeUnreadMember(0, destination: destination) }
        let (key, root) = (keys[position], model.entities[destination].root)
        if isPolymorphic(destination), !hasKnownEntity(key, root: root) {
            let start = position - position % Self.blockCount
            let block = keys[start..<min(start + Self.blockCount, keys.count)]
            let unread = block.filter { !hasKnownEntity($0, root: root) }
            if latching({ () throws(StoreError) in try self.read(unread, root: root) }) == nil {
                return makeUnreadMember(key, destination: destination)
            }
        }
        return member(makeMember(key, root: root, destination: destination), destination: destination)
    }

    /// Casts an object to the class `Member`.
    ///
    /// If the object has another class, latches an error, and returns an object without values or
    /// context.
    private func member<Member: ManagedObject>(_ object: ManagedObject, destination: Int) -> Member {
        if let member = object as? Member { return member }
        latch(StoreError(.invalidRequest, "\(object.objectID) is not an object of the class \(Member.self)."))
        return makeUnreadMember(object.key, destination: destination)
    }

    /// Returns an object without a context, for a member that could not be read.
    private func makeUnreadMember<Member: ManagedObject>(_ key: Int64, destination: Int) -> Member {
        makeOrphan(destination, key: key, type: table.type(destination) as? Member.Type ?? Member.self)
    }

    func isMember(_ member: ManagedObject, of owner: ManagedObject, relationship: Int) throws(StoreError) -> Bool {
        guard member.core === self else { return false }
        if case .derived(let inverse) = model.relationships[relationship].storage {
            guard let field = member.info.references[inverse] else { return false }
            return RowAccess.reference(member.firedRow, field: field)?.key == owner.key
        }
        if let known = owner.extra?.members.first(where: { $0.relationship == relationship })?.state.knows(member.key) {
            return known
        }
        return try memberKeys(of: owner, relationship: relationship).contains(member.key)
    }

    /// Returns a predicate that finds the members of a relationship.
    func membership(in owner: ManagedObject, relationship: Int) throws(StoreError) -> FetchRequest.Predicate {
        guard let number = model.relationships[relationship].inverse else {
            let destination = model.entities[model.relationships[relationship].destination].name
            let keys = try memberKeys(of: owner, relationship: relationship)
            let ids = keys.map { FetchRequest.Expression.constant(.objectID(ObjectID(destination, key: $0))) }
            return .comparison(.init(left: .evaluatedObject, operator: .isIn, right: .aggregate(ids)))
        }
        let inverse = model.relationships[number]
        return .comparison(
            .init(
                left: .keyPath([inverse.name.name]), operator: .equal, right: .constant(.objectID(owner.objectID)),
                modifier: inverse.isToMany ? .any : .direct))
    }

    func setMembers(of owner: ManagedObject, relationship: Int, to objects: [ManagedObject]) {
        let declared = model.relationships[relationship]
        let isOrdered = declared.isOrdered
        // An object without a context may replace a member that could not be read. The list may then be incomplete, so
        // the relationship keeps its members.
        if !owner.flags.contains(.orphan), let unread = objects.first(where: { $0.flags.contains(.orphan) }) {
            return refuse(owner, other: unread, relationship: declared)
        }
        _ = latching { () throws(StoreError) in
            let new = Set(objects)
            // Remove members from the end, which is fastest.
            for former in try members(of: owner, relationship: relationship).reversed() where !new.contains(former) {
                remove(former, from: owner, relationship: relationship)
            }
            let former = Set(try memberKeys(of: owner, relationship: relationship))
            for object in objects where !former.contains(object.key) {
                add(object, to: owner, relationship: relationship)
            }
            if isOrdered {
                let accepted = Set(try memberKeys(of: owner, relationship: relationship))
                var seen: Set<Int64> = []
                let keys = objects.map(\.key).filter { accepted.contains($0) && seen.insert($0).inserted }
                if keys != (try memberKeys(of: owner, relationship: relationship)), !isPlanted(.forgetsOrder) {
                    let number = undoRecord?.number ?? 0
                    change(owner, relationship: relationship) { state in
                        noteOrder(of: owner, relationship: relationship, state: state)
                        state.recordWithOrder = number
                        state.reorder(keys)
                    }
                }
            }
        }
    }
}

extension ManagedObject {
    func readMembers<Member: ManagedObject>(of relationship: Int) -> (objects: [Member], isComplete: Bool) {
        noteAccess(.members(relationship))
        return core.latchingMembers(of: self, relationship: relationship)
    }
}
