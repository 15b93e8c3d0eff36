internal import RoostCore

// Undo and redo of events.

extension GraphCore {
    /// A to-many relationship whose members or order change.
    struct ExchangedList: Hashable {
        let owner: ManagedObject
        let relationship: Int
    }

    struct ExchangedPair {
        let object: ManagedObject
        let relationship: Int
        /// The partner before the exchange.
        let former: ManagedObject?
    }

    struct ExchangeRest {
        /// The objects whose state must be recomputed.
        var affected: [ManagedObject] = []
        /// The ordered lists whose order must be recomputed.
        var lists: Set<ExchangedList> = []
        var pairs: [ExchangedPair] = []
        /// Whether the list of changed objects contains objects without changes.
        var hasUnchanged = false
        /// The number of rows whose exchange removed an object from the list of changed objects.
        var removedCount = 0
        /// The number of objects in ``UndoRecord/formerChanged`` that have changes again.
        var returnedCount = 0
        /// Whether an object may be in the list of changed objects twice.
        var hasRepeated = false
    }

    /// Exchanges the content of a record with the state of its objects.
    ///
    /// `others` receives the former state of other objects that must change too.
    func exchange(_ record: UndoRecord, others: UndoRecord) {
        let former = undoRecord
        undoRecord = nil
        defer { undoRecord = former }
        var rest = ExchangeRest()
        let isExact = record.commitCount == commitCount
        let order = Array(record.notes.indices)
        let indices = record.isReversed ? order : order.reversed()
        var kept: Set<ObjectIdentifier> = []

        let orders = presentOrders(record, isExact: isExact)
        let targets = indices.filter { record.notes[$0].presence != nil }.map { ($0, record.notes[$0].presence) }
        var returned: [ManagedObject] = []
        for (index, presence) in targets where presence == .present {
            guard bring(back: record.notes[index].object, note: &record.notes[index]) else { continue }
            returned.append(record.notes[index].object)
        }
        exchangeRows(record, isExact: isExact, rest: &rest, kept: &kept)
        for object in returned { joinLists(object, rest: &rest) }
        // `record.contents` has the members at the deletion. `record.links` has an older state, which is restored last.
        restoreContents(record, returned: Set(returned), rest: &rest)
        exchangeLinks(record, isExact: isExact, rest: &rest)
        show(returned)
        // Transient values are exchanged now, because objects that leave the context lose them.
        exchangeTransients(record)
        var gone: [ManagedObject] = []
        for (index, presence) in targets where presence != .present {
            takeAway(&record.notes[index], gone: &gone, rest: &rest)
        }
        let isAlone = isExact && record.outsideCount == outsideCount
        let taken = isAlone ? [] : gone + takenAway(record)
        let connections = connections(of: taken)
        keepContents(connections, in: record)
        expel(gone, rest: &rest)

        for (index, image) in record.orders.enumerated() {
            arrange(
                ExchangedList(owner: image.owner, relationship: image.relationship), order: image.order, rest: &rest)
            record.orders[index].order = orders[index]
        }
        for list in rest.lists { arrange(list, order: nil, rest: &rest) }
        undoRecord = others
        settlePairs(rest.pairs)
        endConnections(connections)
        if !taken.isEmpty { _ = latching { () throws(StoreError) in try clearReferences(to: taken) } }
        undoRecord = nil
        for index in indices {
            let object = record.notes[index].object
            rest.affected.append(object)
            if isExact, record.notes[index].wasChanged { kept.insert(ObjectIdentifier(object)) }
            record.notes[index].wasChanged = object.flags.contains(.changed)
        }
        noteForResults(record, affected: rest.affected)
        settle(record, rest: &rest, kept: kept)
        record.isReversed.toggle()
        (record.commitCount, record.outsideCount) = (commitCount, outsideCount)
        awake(record)
    }

    /// Returns the present orders of a record's lists, for the opposite step.
    private func presentOrders(_ record: UndoRecord, isExact: Bool) -> [Members.Order] {
        record.orders.map { image in
            // Read the members, because a save may have discarded their order.
            if !isExact || image.order.current != nil, !image.owner.flags.contains(.orphan) {
                _ = latching { () throws(StoreError) in
                    try memberKeys(of: image.owner, relationship: image.relationship)
                }
            }
            let state = image.owner.extra?.members.first { $0.relationship == image.relationship }?.state
            return state?.order ?? Members.Order(current: nil, appended: [])
        }
    }

    private func noteForResults(_ record: UndoRecord, affected: [ManagedObject]) {
        guard let results, !isPlanted(.overlooksUndo) else { return }
        record.forEachRow { object, _ in results.note(object) }
        for note in record.notes { results.note(note.object) }
        for link in record.links { results.note(link.owner) }
        for object in affected { results.note(object) }
    }

    /// Adds an object to the changes that observers receive after the exchange.
    func announce(_ object: ManagedObject) {
        guard !object.state.contains(.touched), context?.observers.isEmpty == false else { return }
        object.state.insert(.touched)
        touched.append(object)
    }

    private func exchangeTransients(_ record: UndoRecord) {
        let order = Array(record.transients.indices)
        for index in record.isReversed ? order : order.reversed() {
            let image = record.transients[index]
            guard !image.object.flags.contains(.orphan) else { continue }
            let extra = image.object.requireExtra()
            record.transients[index].value = extra.transients[image.name]
            extra.transients[image.name] = image.value
            observation?.note(image.object, property: .transient(image.name))
            announce(image.object)
        }
    }

    /// Updates the list of changed objects.
    private func settle(_ record: UndoRecord, rest: inout ExchangeRest, kept: Set<ObjectIdentifier>) {
        for object in rest.affected {
            guard object.flags.isDisjoint(with: [.orphan, .inserted, .deleted]) else { continue }
            if object.state.contains(.privateRow), !object.flags.contains(.inFlight), let row = object.row,
                let committed = PrivateRow.committed(row), !isDirtyMeanwhile(object)
            {
                object.row = committed
                object.byteCount = UInt32(truncatingIfNeeded: object.tail.byteCount(committed))
                object.state.remove(.privateRow)
                RowPage.release(row)
            }
            let isChanged =
                object.state.contains(.privateRow) || object.flags.contains(.detectsConflicts)
                || object.extra?.members.contains(where: \.state.hasDifferences) ?? false
                || kept.contains(ObjectIdentifier(object))
            if isChanged, !object.flags.contains(.changed) {
                noteChanges(of: object, rest: &rest)
            } else if !isChanged, object.flags.contains(.changed) {
                object.flags.remove(.changed)
                rest.hasUnchanged = true
            }
            announce(object)
        }
        guard rest.hasUnchanged else { return }
        let former = changed
        if rest.removedCount == former.count, !rest.hasRepeated {
            // The list has each object once, and each row removed a different object, so none is left.
            changed = []
            record.formerChanged = former
            return
        }
        changed = former.filterUncounted { $0.flags.contains(.changed) }
        if rest.hasRepeated {
            var seen: Set<ManagedObject> = []
            changed.removeAll { !seen.insert($0).inserted }
        }
        withExtendedLifetime(former) {}
    }

    func noteChanges(of object: ManagedObject, rest: inout ExchangeRest) {
        object.flags.insert(.changed)
        changed.append(object)
        if rest.hasUnchanged { rest.hasRepeated = true }
    }

    private func awake(_ record: UndoRecord) {
        let wasTracking = isTracking
        isTracking = false
        defer { isTracking = wasTracking }
        record.forEachRow { object, _ in
            if !object.flags.contains(.orphan) { object.awake(from: .undoUpdate) }
        }
        for note in record.notes where !note.object.flags.contains(.orphan) {
            note.object.awake(
                from: note.presence == nil ? .undoUpdate : note.isInsertion ? .undoInsertion : .undoDeletion)
        }
    }
}
