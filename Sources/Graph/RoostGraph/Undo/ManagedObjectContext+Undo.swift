extension ManagedObjectContext {
    /// The undo stack, or nil, which is the default, to record nothing.
    ///
    /// Setting it ends the event. A stack belongs to one context: another one loses it, with its
    /// steps.
    ///
    /// ```swift
    /// context.undo = UndoStack(limit: 100)
    /// ```
    public var undo: UndoStack? {
        get { core.undoStack }
        set {
            guard newValue !== core.undoStack else { return }
            processPendingChanges()
            core.undoStack?.detach()
            newValue?.leaveContext()
            core.undoStack = newValue
            newValue?.attach(self)
        }
    }
}
