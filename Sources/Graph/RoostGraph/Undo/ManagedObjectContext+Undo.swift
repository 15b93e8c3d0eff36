extension ManagedObjectContext {
    /// The undo stack, or nil to record nothing (default).
    ///
    /// Setting the stack ends the event. A stack that is set on a second context is removed from
    /// the first context and loses its steps.
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
