package import RoostCore

// Access for tools that read the state of a context in the same way as a store.

extension ManagedObjectContext {
    /// Returns the state that the context shows, unsaved changes included, as a snapshot of a
    /// store.
    ///
    /// The snapshot is valid until the end of the event. Later changes of the context can appear in
    /// the snapshot.
    ///
    /// - Throws: The error of a getter since the last call; errors from reading.
    package func snapshotWithChanges() throws(StoreError) -> any StoreSnapshot {
        core.checkIsolation()
        core.propagateDeletes()
        try core.throwLatched()
        return ParentSnapshot(self, reader: try core.openReader(), store: 0)
    }

    /// Calls `body` with each object that the next save writes.
    ///
    /// Objects whose values equal the saved values are left out. So are objects that only gained or
    /// lost members of a relationship that is stored with the members.
    package func forEachWrittenObject(_ body: (ManagedObject) -> Void) {
        for object in core.changed where core.isWritten(object) { body(object) }
    }

    /// The number of objects that the next save writes.
    ///
    /// See ``forEachWrittenObject(_:)``.
    package var writtenObjectCount: Int { core.changed.count { core.isWritten($0) } }

    /// Ends the event, and forgets the values of unchanged objects, which are read again when they
    /// are needed.
    ///
    /// Other processes can have changed them. Does not read.
    package func forgetUnchangedObjects() {
        processPendingChanges()
        core.closeReader()
        core.forgetBases()
        for object in core.registry.all() where !object.flags.contains(.changed) { core.turnIntoFault(object) }
    }
}

extension GraphCore {
    /// Whether a save writes a changed object, or links of it.
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
