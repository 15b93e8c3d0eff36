internal import RoostCore
internal import RoostStores

extension ManagedObjectContext {
    /// Returns a child context, which saves to this context.
    ///
    /// The child shows the state of this context, including unsaved changes, and the child's own
    /// changes. For each object, the child has a separate instance with the same ID. The child's
    /// unsaved changes are lost when the child is deallocated.
    ///
    /// ```swift
    /// let pad = context.makeChild("Edit album")
    /// guard let copy = pad.object(album.id) else { return }
    /// copy.title = "Blue"
    /// try pad.save()  // The album of the context has the title now; the store does not.
    /// try context.save()
    /// ```
    ///
    /// - Saving the child validates the child's objects, and applies the child's changes to this
    ///   context as one event. This context can undo the event. If both contexts changed a
    ///   property, the child's value wins. The save fails if this context has deleted an object
    ///   that the child changed and did not delete.
    /// - A child reads through this context. After this context changes or ends its event, the
    ///   child's next read sees the new state. Objects that the child has already read keep their
    ///   values until they are refreshed. If the child's ``mergesChangesAutomatically`` is true,
    ///   the child's objects are updated when this context reports changes.
    /// - The child keeps this context alive and belongs to the same isolation.
    ///
    /// The undo steps of this context that contain the child's saves have the name `name`.
    public func makeChild(_ name: String? = nil) -> ManagedObjectContext {
        ManagedObjectContext(childOf: self, name: name)
    }

    /// The context to which this context saves, or nil for a context that saves to stores.
    public var parent: ManagedObjectContext? { core.parent }

    /// Starts or stops merging the parent's changes, depending on ``mergesChangesAutomatically``.
    func followParent() {
        guard let parent else { return }
        parentToken = nil
        guard mergesChangesAutomatically else { return }
        parentToken = parent.observe { [weak self] change in
            guard let self, !self.isSaving else { return }
            _ = core.latching { () throws(StoreError) in
                // `takeOverChanges` does not update the child's results. The end of the parent's event updates them.
                try takeOverChanges(
                    inserted: change.inserted.map(\.objectID),
                    updated: (change.updated + change.refreshed).map(\.objectID),
                    deleted: (change.deleted + change.invalidated).map(\.objectID))
            }
            core.reportChanges()
        }
    }

    func save(to parent: ManagedObjectContext) throws(StoreError) {
        guard !isSaving else {
            throw StoreError(.invalidRequest, "The context is already being saved. Do not save from its hooks.")
        }
        isSaving = true
        defer {
            isSaving = false
            reportSave()
            parent.core.reportChanges()
            core.reportChanges()
            parent.core.updateResults()
            core.updateResults()
        }
        try checkChanges()
        guard !core.changed.isEmpty else { return core.endEvent() }
        // Earlier changes of the parent become a separate undo step.
        parent.processPendingChanges()
        let present = try parent.core.prepareTaking(core)
        try parent.undoingErrors(name) { () throws(StoreError) in try parent.core.take(core, present: present) }
        let changed = core.changed
        core.finishSaveToParent()
        // Collected first, because `didSave` can delete an object that this save keeps.
        let deleted = changed.filter { $0.flags.contains(.deleted) }
        for object in changed where object.flags.isDisjoint(with: [.orphan, .deleted]) { object.didSave() }
        for object in deleted where object.flags.contains(.deleted) {
            object.flags.subtract([.changed, .deleted])
            object.didSave()
            core.expel(object)
        }
        core.endEvent()
        if isPlanted(.childSavesThrough) { try parent.save() }
    }

    /// Runs `body` as one event, and reverts its changes after an error.
    ///
    /// Throws the error that `body` throws, or that a getter stores while `body` runs.
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
