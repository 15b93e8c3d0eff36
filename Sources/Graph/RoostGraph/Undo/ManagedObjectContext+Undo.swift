extension ManagedObjectContext {
    /// The undo stack, or nil to record nothing (default).
    ///
    /// Setting the stack ends the event. A stack belongs to one context. If the stack is set on a
    /// second context, it is removed from the first context and loses its steps.
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
