package import RoostCore

// Access for tools that read a context like a store.

extension ManagedObjectContext {
    /// Returns the context's current state, including unsaved changes, as a snapshot of the first
    /// store.
    ///
    /// The snapshot is valid until the end of the event. It may show later changes of the context.
    ///
    /// - Throws: The context's ``pendingError``; errors from reading.
    package func snapshotWithChanges() throws(StoreError) -> any StoreSnapshot {
        core.checkIsolation()
        core.propagateDeletes()
        try core.throwLatched()
        return ParentSnapshot(self, reader: try core.openReader(), store: 0)
    }

    /// Calls `body` with each object that the next save writes.
    ///
    /// Excludes objects whose values equal the saved values, and objects whose only changes are in
    /// to-many relationships that the members' records store.
    package func forEachWrittenObject(_ body: (ManagedObject) -> Void) {
        for object in core.changed where core.isWritten(object) { body(object) }
    }

    package var writtenObjectCount: Int { core.changed.count { core.isWritten($0) } }

    /// Ends the event, and discards the values of unchanged objects.
    ///
    /// Use this method if other processes may have changed the objects.
    package func forgetUnchangedObjects() {
        processPendingChanges()
        core.beginRefresh()
        core.forgetBases()
        for object in core.registry.all() where !object.flags.contains(.changed) { core.turnIntoFault(object) }
    }
}

extension GraphCore {
    fileprivate func isWritten(_ object: ManagedObject) -> Bool {
        if !object.flags.isDisjoint(with: [.inserted, .deleted]) { return true }
        let hasLinks = object.extra?.members.contains { member in
            guard member.state.hasDifferences, case .links = model.relationships[member.relationship].storage
            else { return false }
            return true
        }
        if hasLinks ?? false { return true }
        guard object.state.contains(.privateRow), let row = object.row else { return false }
        guard let committed = PrivateRow.committed(row) else { return true }
        return !RowAccess.haveEqualContent(
            row, leftCount: Int(object.byteCount), right: committed, rightCount: object.tail.byteCount(committed))
    }
}
