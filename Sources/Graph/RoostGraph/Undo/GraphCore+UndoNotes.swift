internal import RoostCore

// The state before each change of the current event is recorded here. See `UndoRecord`.

extension GraphCore {
    /// Records whether an object is a member of a relationship, and the order of the members.
    ///
    /// If the inverse is to-one, only the order is recorded, because the membership is in the
    /// members' rows, which are recorded too.
    func noteMember(
        _ key: Int64, of owner: ManagedObject, relationship: ManagedObjectModel.Relationship, state: Members
    ) {
        guard isTracking, let undoRecord else { return }
        noteOrder(of: owner, relationship: relationship.number, state: state)
        guard case .links = relationship.storage else { return }
        undoRecord.links.append(
            UndoRecord.LinkImage(
                owner: owner, relationship: relationship.number, key: key,
                wasMember: isMember(key, of: owner, state: state), difference: state.difference(of: key)))
    }

    /// Returns whether `owner` has a link to an object, or nil if only the store knows.
    func isMember(_ key: Int64, of owner: ManagedObject, state: Members?) -> Bool? {
        // A new object has no stored links.
        state?.knows(key) ?? (owner.flags.contains(.inserted) ? false : nil)
    }

    /// Reads the members and the orders of relationships that were changed before being read.
    ///
    /// Called before a save, which replaces the former members and orders in the store.
    func resolveMembers(in record: UndoRecord) throws(StoreError) {
        for index in record.links.indices where record.links[index].wasMember == nil {
            let link = record.links[index]
            guard !link.owner.flags.contains(.orphan) else { continue }
            _ = try memberKeys(of: link.owner, relationship: link.relationship)
            let state = link.owner.extra?.members.first { $0.relationship == link.relationship }?.state
            record.links[index].wasMember = state?.isStored(link.key)
        }
        for index in record.orders.indices where record.orders[index].order.current == nil {
            let image = record.orders[index]
            guard image.owner.flags.isDisjoint(with: [.orphan, .deleted, .inaccessible]),
                let state = image.owner.extra?.members.first(where: { $0.relationship == image.relationship })?.state,
                // Without removed members, the stored order stays, so it is not read.
                !state.removed.isEmpty
            else { continue }
            _ = try memberKeys(of: image.owner, relationship: image.relationship)
            let read = image.owner.extra?.members.first { $0.relationship == image.relationship }?.state
            record.orders[index].order.current = read?.base
        }
    }

    /// Records the order of a relationship at its first change in the event.
    func noteOrder(of owner: ManagedObject, relationship: Int, state: Members) {
        guard isTracking, let undoRecord, state.recordWithOrder != undoRecord.number,
            model.relationships[relationship].isOrdered
        else { return }
        undoRecord.orders.append(
            UndoRecord.OrderImage(owner: owner, relationship: relationship, order: state.order))
    }

    /// Records the members and transient values of a deleted object, because no store has them
    /// after a save.
    func noteContents(of object: ManagedObject) throws(StoreError) {
        guard isTracking, let undoRecord else { return }
        for name in (object.extra?.transients ?? [:]).keys { noteTransient(name, of: object) }
        for relationship in object.info.relationships where relationship.isToMany {
            let isLinks = if case .links = relationship.storage { true } else { false }
            guard isLinks || relationship.isOrdered else { continue }
            let keys = try memberKeys(of: object, relationship: relationship.number)
            guard !keys.isEmpty else { continue }
            undoRecord.contents.append(
                UndoRecord.Contents(owner: object, relationship: relationship.number, keys: keys))
        }
    }

    func noteTransient(_ name: String, of object: ManagedObject) {
        guard isTracking, let undoRecord else { return }
        undoRecord.transients.append(
            UndoRecord.TransientImage(object: object, name: name, value: object.extra?.transients[name]))
    }

    /// Runs `body` without recording for undo.
    ///
    /// `take` and `accept` still report replaced rows to ``UndoStack/rebase(_:from:to:)``.
    func withoutUndo<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard undoStack != nil else { return try body() }
        let (record, start) = (undoRecord, touched.count)
        undoRecord = nil
        defer {
            undoRecord = record
            // Clear `touched`, so that the program's next change of these objects is recorded.
            if start < touched.count { for object in touched[start...] { object.state.remove(.touched) } }
        }
        return try body()
    }
}
