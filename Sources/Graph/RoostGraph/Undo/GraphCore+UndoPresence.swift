internal import RoostCore

// Objects that undo and redo add to the context or remove from it.

extension GraphCore {
    private func presence(of object: ManagedObject) -> UndoRecord.Presence {
        object.flags.contains(.orphan) ? .absent : object.flags.contains(.deleted) ? .deleted : .present
    }

    /// Restores an object that was deleted, or whose insertion was undone.
    ///
    /// - Returns: False if the object was already present.
    func bring(back object: ManagedObject, note: inout UndoRecord.Note) -> Bool {
        let now = presence(of: object)
        note.presence = now
        switch now {
        case .present: return false
        case .deleted:
            object.flags.subtract([.deleted, .propagated])
            // The save in progress may delete the object from the store.
            if object.flags.contains(.inFlight) { object.requireExtra().isReturning = true }
            undeleted.removeAll { $0 === object }
        case .absent:
            if isPlanted(.undoForgetsSavedDeletes), !note.isInsertion { return false }
            readmit(object)
        }
        observation?.noteAll(object)
        announce(object)
        return true
    }

    /// Shows restored objects again in the lists that were read while the objects were deleted.
    func show(_ objects: [ManagedObject]) {
        guard !hiddenMembers.isEmpty, !objects.isEmpty else { return }
        let places = Set(objects.map { ObjectPlace(root: $0.root, key: $0.key) })
        var hidden: [ExchangedList: Set<Int64>] = [:]
        for (owner, relationship, member) in hiddenMembers where places.contains(member) {
            hidden[ExchangedList(owner: owner, relationship: relationship), default: []].insert(member.key)
        }
        hiddenMembers.removeAll { places.contains($0.member) }
        for (list, keys) in hidden {
            guard let extra = list.owner.extra,
                let index = extra.members.firstIndex(where: { $0.relationship == list.relationship })
            else { continue }
            // The exchange may already have restored some of the members.
            let removed = keys.filter { extra.members[index].state.difference(of: $0) == .removed }
            guard !removed.isEmpty else { continue }
            extra.members[index].state.retract(removed)
            observation?.note(list.owner, property: .members(list.relationship))
        }
    }

    /// Inserts an object that had left the context, with its former key.
    private func readmit(_ object: ManagedObject) {
        guard object.flags.contains(.orphan), object.row != nil else { return }
        let left = object.core
        object.core = self
        Unmanaged.passUnretained(left).release()
        object.flags = .inserted
        becomeNew(object)
        // A fault with the same key may exist by now.
        if let other = registered(object.root, key: object.key) { leave(other) }
        registry.insert(object, root: object.root)
    }

    /// Marks an object as new, because no store contains it.
    func becomeNew(_ object: ManagedObject) {
        guard let row = object.row else { return }
        if !object.state.contains(.privateRow) {
            let copy = privateRows.copy(row, byteCount: Int(object.byteCount))
            PrivateRow.setCommitted(nil, of: copy)
            object.row = UnsafeRawPointer(copy)
            RowPage.release(row)
            object.requireExtra().isReturning = true
        } else if let committed = PrivateRow.committed(row) {
            RowPage.release(committed)
            PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: row))
            object.requireExtra().isReturning = true
        }
        object.state.remove(.touched)
        object.state.insert(.privateRow)
        object.flags.remove(.inFlight)
        object.flags.insert(.inserted)
        guard !object.flags.contains(.changed) else { return }
        object.flags.insert(.changed)
        changed.append(object)
    }

    func takeAway(
        _ note: inout UndoRecord.Note, gone: inout [ManagedObject], rest: inout ExchangeRest
    ) {
        let object = note.object
        let now = presence(of: object)
        note.presence = now
        guard now == .present else { return }
        if object.flags.contains(.inserted), !object.flags.contains(.inFlight) {
            gone.append(object)
            return
        }
        object.flags.insert([.deleted, .propagated])
        hasPropagatedDeletes = true
        if !object.flags.contains(.changed) {
            object.flags.insert(.changed)
            changed.append(object)
        }
        observation?.noteAll(object)
        joinLists(object, rest: &rest)
        announce(object)
    }

    /// Returns a record's objects that are now marked as deleted.
    func takenAway(_ record: UndoRecord) -> [ManagedObject] {
        record.notes.filter { $0.presence != nil }.map(\.object)
            .filter { $0.flags.contains(.deleted) && !$0.flags.contains(.inaccessible) }
    }

    /// Returns the objects that are still connected to removed objects, for each relationship.
    ///
    /// Such connections can come from other contexts, or from changes while undo was disabled.
    func connections(
        of objects: [ManagedObject]
    ) -> [(object: ManagedObject, relationship: ManagedObjectModel.Relationship, member: ManagedObject)] {
        var found: [(object: ManagedObject, relationship: ManagedObjectModel.Relationship, member: ManagedObject)] = []
        for object in objects {
            for relationship in object.info.relationships
            where relationship.declaration.deleteRule != .noAction {
                // `joinLists` updates the to-many inverse of a to-one relationship.
                guard let inverse = relationship.inverse,
                    relationship.isToMany || !model.relationships[inverse].isToMany
                else { continue }
                let members = latching { () throws(StoreError) in
                    try self.objects(
                        try destinationKeys(of: object, relationship: relationship),
                        destination: relationship.destination)
                }
                found += (members ?? []).map { (object, relationship, $0) }
            }
        }
        return found
    }

    func endConnections(
        _ connections: [(object: ManagedObject, relationship: ManagedObjectModel.Relationship, member: ManagedObject)]
    ) {
        for (object, relationship, member) in connections {
            let state = member.extra?.members.first { $0.relationship == relationship.inverse }?.state
            if state?.knows(object.key) != false { disconnect(object, from: member, relationship: relationship) }
        }
    }

    /// Records the members of removed objects, for the opposite step.
    func keepContents(
        _ connections: [(object: ManagedObject, relationship: ManagedObjectModel.Relationship, member: ManagedObject)],
        in record: UndoRecord
    ) {
        var keys: [ExchangedList: [Int64]] = [:]
        for (object, relationship, member) in connections where relationship.isToMany {
            keys[ExchangedList(owner: object, relationship: relationship.number), default: []].append(member.key)
        }
        guard !keys.isEmpty else { return }
        record.contents.removeAll { keys[ExchangedList(owner: $0.owner, relationship: $0.relationship)] != nil }
        record.contents += keys.map {
            UndoRecord.Contents(owner: $0.key.owner, relationship: $0.key.relationship, keys: $0.value)
        }
    }

    func expel(_ objects: [ManagedObject], rest: inout ExchangeRest) {
        guard !objects.isEmpty else { return }
        let gone = Set(objects)
        changed.removeAll { gone.contains($0) }
        touched.removeAll { gone.contains($0) }
        for object in objects { expel(object) }
        for object in objects { joinLists(object, rest: &rest) }
    }
}
