internal import RoostCore
internal import RoostStores

extension ManagedObjectContext {
    /// Returns a context whose saves change only this one: a scratch pad.
    ///
    /// The child shows what this context shows, unsaved changes included, and its own changes on
    /// top. Its objects are other instances with the same IDs. Without a save its changes are lost.
    ///
    /// ```swift
    /// let pad = context.makeChild("Edit album")
    /// guard let copy = pad.object(album.id) else { return }
    /// copy.title = "Blue"
    /// try pad.save()  // The album of the context has the title now; the store does not.
    /// try context.save()
    /// ```
    ///
    /// - A save of the child checks its objects, and makes its changes one event of this context, which
    ///   this context can undo. Where both changed a property, the child's value holds. It is an error
    ///   to change an object that this context has deleted meanwhile.
    /// - A child reads nothing by itself, and its events end no later than those of this context.
    ///   Objects that it has keep their values until they are refreshed, or at once if
    ///   ``mergesChangesAutomatically`` is set for the child.
    /// - The child keeps this context alive and stays in its isolation.
    ///
    /// - Parameter name: A name for the child, which is also that of the undo step of a save.
    /// - Returns: The child.
    public func makeChild(_ name: String? = nil) -> ManagedObjectContext {
        ManagedObjectContext(childOf: self, name: name)
    }

    /// The context to which a save goes; nil for a context that saves to stores.
    public var parent: ManagedObjectContext? { core.parent }

    /// Starts or stops merging the changes of the parent, as ``mergesChangesAutomatically`` says.
    func followParent() {
        guard let parent else { return }
        parentToken = nil
        guard mergesChangesAutomatically else { return }
        parentToken = parent.observe { [weak self] change in
            guard let self, !self.isSaving else { return }
            _ = core.latching { () throws(StoreError) in
                // The end of the parent's event updates results of the child, too.
                try takeOverChanges(
                    inserted: change.inserted.map(\.objectID),
                    updated: (change.updated + change.refreshed).map(\.objectID),
                    deleted: (change.deleted + change.invalidated).map(\.objectID))
            }
            core.reportChanges()
        }
    }

    /// Makes the changes of this context changes of its parent.
    func save(to parent: ManagedObjectContext) throws(StoreError) {
        guard !isSaving else {
            throw StoreError(.invalidRequest, "The context is being saved already. Do not save from its hooks.")
        }
        isSaving = true
        defer {
            isSaving = false
            parent.core.reportChanges()
            core.reportChanges()
            parent.core.updateResults()
            core.updateResults()
        }
        try checkChanges()
        guard !core.changed.isEmpty else { return core.endEvent() }
        // What the parent changed before is a step of its own.
        parent.processPendingChanges()
        let present = try parent.core.prepareTaking(core)
        try parent.undoingErrors(name) { () throws(StoreError) in try parent.core.take(core, present: present) }
        let changed = core.changed
        core.finishSaveToParent()
        for object in changed where !object.flags.contains(.orphan) { object.didSave() }
        for object in changed where object.flags.contains(.deleted) {
            object.flags.subtract([.changed, .deleted])
            object.didSave()
            core.expel(object)
        }
        core.endEvent()
        if isPlanted(.childSavesThrough) { try parent.save() }
    }

    /// Runs `body` as one event, and takes its changes back after an error.
    ///
    /// An error is one that `body` throws, or one of a getter that waits afterwards.
    private func undoingErrors(_ name: String?, _ body: () throws(StoreError) -> Void) throws(StoreError) {
        let former = undo
        let stack = former ?? UndoStack()
        undo = stack
        defer { if former == nil, undo === stack { undo = nil } }
        let waiting = core.latched
        core.clearLatched()
        defer { if let waiting { core.latch(waiting) } }
        do throws(StoreError) {
            try stack.transaction(name, in: self) { () throws(StoreError) in
                try body()
                core.propagateDeletes()
                try core.throwLatched()
            }
        } catch {
            core.clearLatched()
            throw error
        }
    }
}
