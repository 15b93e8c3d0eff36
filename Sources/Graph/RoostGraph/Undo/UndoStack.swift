package import RoostCore

/// A record of a context's events, for undo and redo.
///
/// ```swift
/// let undo = UndoStack()
/// context.undo = undo
/// album.title = "Blue"
/// context.processPendingChanges()
/// undo.undo()  // The title is what it was.
/// undo.redo()  // It is "Blue" again.
/// ```
///
/// Each event or group of events is one step. Undo restores values and relationships, including the
/// order of members, and reverts insertions and deletions. Undo keeps later saves of other
/// contexts, except for properties that the step itself changed.
///
/// A save ends an event and does not clear the stack. Undoing a saved change sets the old value as
/// a pending change. Undoing a saved deletion inserts the object again, with its ID. Undoing a
/// saved insertion deletes the object. References to that object become null, even if other
/// contexts or unrecorded changes set them.
///
/// The stack records neither reads nor merges of other contexts' saves. A rollback or a reset
/// empties it. An event whose only changes are inside of
/// ``ManagedObjectContext/withoutTracking(_:)`` forms no step.
///
/// - Complexity: An event keeps one copy of the row of each object that it changes. Undo exchanges
///   rows. It reads the store only for faults and, after a save, for relationships.
public final class UndoStack {
    private struct Step {
        var records: [UndoRecord] = []
        var name: String?
    }

    /// An object's row before and after a change that no step contains.
    private struct Rebase {
        let object: ManagedObject
        let old: UnsafeRawPointer
        let new: UnsafeRawPointer
    }

    /// The maximum number of steps to keep, or nil for all.
    public let limit: Int?
    private weak var context: ManagedObjectContext?
    private var undoSteps: [Step] = []
    private var redoSteps: [Step] = []
    private var group: Step?
    private var groupDepth = 0
    private var disabledCount = 0
    private var isExchanging = false
    private var clearCount = 0
    private var rebases: [Rebase] = []
    /// The records that may lack the former members of relationships.
    private var unresolved: [UndoRecord] = []

    /// Creates an empty stack, to be set as ``ManagedObjectContext/undo``.
    ///
    /// - Parameter limit: The maximum number of steps to keep, at least 1, or nil for all. Older
    ///   steps are dropped.
    public init(limit: Int? = nil) { self.limit = limit.map { max(1, $0) } }

    deinit { for rebase in rebases { Self.release(rebase) } }

    // MARK: State

    /// Whether there is a step to undo.
    ///
    /// The changes of the current event count as a step, too.
    public var canUndo: Bool { !undoSteps.isEmpty || hasOpenChanges }
    /// Whether there is a step to redo.
    ///
    /// A new step removes all steps to redo.
    public var canRedo: Bool { !redoSteps.isEmpty && !hasOpenChanges }
    /// The number of steps to undo, including the current event or group.
    public var depth: Int { undoSteps.count + (hasOpenChanges ? 1 : 0) }
    /// The name of the next step to undo, if its group has one.
    public var undoName: String? { hasOpenChanges ? group?.name : undoSteps.last?.name }
    /// The name of the next step to redo, if its group has one.
    public var redoName: String? { canRedo ? redoSteps.last?.name : nil }
    /// Whether changes become steps.
    public var isEnabled: Bool { disabledCount == 0 }

    private var hasOpenChanges: Bool {
        if let group, !group.records.isEmpty { return true }
        guard isEnabled, let record = context?.core.undoRecord else { return false }
        return !record.isEmpty
    }

    // MARK: Undo and redo

    /// Ends the event and all groups, and undoes the last step, if any.
    ///
    /// Does nothing if ``ManagedObject/awake(from:)`` calls this method during undo or redo. If
    /// undo cannot read the store, the next save, fetch or count throws the error.
    public func undo() {
        apply(\.undoSteps, to: \.redoSteps)
    }

    /// Ends the event and all groups, and redoes the step that was undone last, if any.
    public func redo() {
        apply(\.redoSteps, to: \.undoSteps)
    }

    private func apply(
        _ source: ReferenceWritableKeyPath<UndoStack, [Step]>, to target: ReferenceWritableKeyPath<UndoStack, [Step]>
    ) {
        guard let context, !isExchanging else { return }
        context.processPendingChanges()
        closeGroups()
        applyRebases()
        guard let step = self[keyPath: source].popLast() else { return }
        let number = clearCount
        let opposite = exchange(step, context: context)
        // A hook may have emptied the stack.
        if number == clearCount { self[keyPath: target].append(opposite) }
        finishExchange(context)
        context.core.reportChanges()
        context.core.updateResults()
    }

    private func finishExchange(_ context: ManagedObjectContext) {
        context.notifyObservers()
        context.core.endEvent()
        // An observer may have set the stack on another context.
        if self.context === context { begin(context.core) }
    }

    private func exchange(_ step: Step, context: ManagedObjectContext) -> Step {
        let core = context.core
        isExchanging = true
        defer { isExchanging = false }
        core.undoRecord = nil
        var opposite = Step(name: step.name)
        for record in step.records.reversed() {
            // For objects that must change too, because other contexts changed the data after the step.
            let others = makeRecord(core)
            core.exchange(record, others: others)
            if !others.isEmpty { opposite.records.append(others) }
            opposite.records.append(record)
            if record.isUnresolved { unresolved.append(record) }
        }
        return opposite
    }

    // MARK: Groups

    /// Ends the event, and starts a group.
    ///
    /// All events up to the matching ``endGroup()`` are one step. A nested group is part of the
    /// outer group.
    ///
    /// - Parameter name: A name for the step.
    public func beginGroup(_ name: String? = nil) {
        context?.processPendingChanges()
        if groupDepth == 0 { group = Step(name: name) }
        groupDepth += 1
    }

    /// Ends the event and the group.
    ///
    /// A group without changes creates no step.
    public func endGroup() {
        guard groupDepth > 0 else { return }
        context?.processPendingChanges()
        // An observer may have ended the group.
        guard groupDepth > 0 else { return }
        groupDepth -= 1
        if groupDepth == 0 { closeGroups() }
    }

    /// Runs `body` as one group, which ends even if `body` throws.
    public func group<Result, Failure: Error>(
        _ name: String? = nil, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        beginGroup(name)
        defer { endGroup() }
        return try body()
    }

    /// Runs `body`, and reverts its changes if it throws.
    ///
    /// The changes form one step or a part of the open group, or no step if the stack is disabled.
    /// If `context` has another stack or none, this method only runs `body`.
    package func transaction(
        _ name: String?, in context: ManagedObjectContext, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        context.processPendingChanges()
        guard self.context === context else { return try body() }
        let (outerGroup, outerDepth, outerCount, redo) = (group, groupDepth, disabledCount, redoSteps)
        (group, groupDepth, disabledCount) = (Step(name: name), 1, 0)
        begin(context.core)
        /// Ends and returns the step, or returns nil if the stack has left the context.
        func close() -> Step? {
            guard self.context === context else { return nil }
            let own = group
            (group, groupDepth, disabledCount) = (outerGroup, outerDepth, outerCount)
            return own
        }
        do throws(StoreError) { try body() } catch {
            context.core.endEvent()
            if let own = close() {
                restoreRedo(redo)
                _ = exchange(own, context: context)
                finishExchange(context)
            }
            throw error
        }
        context.processPendingChanges()
        guard let own = close() else { return }
        if !isEnabled {
            restoreRedo(redo)
            own.records.forEach(keepChanges)
        } else if group != nil {
            group?.records += own.records
        } else if !own.records.isEmpty {
            push(own)
        }
        begin(context.core)
    }

    private func restoreRedo(_ steps: [Step]) {
        redoSteps = steps
        let known = Set(unresolved.map(ObjectIdentifier.init))
        unresolved += steps.flatMap(\.records).filter { $0.isUnresolved && !known.contains(ObjectIdentifier($0)) }
    }

    private func closeGroups() {
        groupDepth = 0
        if let group, !group.records.isEmpty { push(group) }
        group = nil
    }

    private func push(_ step: Step) {
        undoSteps.append(step)
        guard let limit, undoSteps.count > limit else { return }
        let former = undoSteps.prefix(undoSteps.count - limit)
        undoSteps = Array(undoSteps.suffix(limit))
        forget(former)
    }

    /// Removes the records of dropped steps from ``unresolved``.
    private func forget(_ steps: some Collection<Step>) {
        // Deallocating an object can run code of the program, so the steps are released last.
        defer { withExtendedLifetime(steps) {} }
        guard !unresolved.isEmpty, !steps.isEmpty else { return }
        let gone = Set(steps.flatMap(\.records).map(ObjectIdentifier.init))
        unresolved = unresolved.filter { !gone.contains(ObjectIdentifier($0)) }
    }

    // MARK: Recording

    /// Ends the event, and creates no steps until the matching ``enable()``.
    public func disable() {
        context?.processPendingChanges()
        disabledCount += 1
        if let core = context?.core { begin(core) }
    }

    /// Ends the event, and creates steps again once each ``disable()`` has a matching ``enable()``.
    public func enable() {
        guard disabledCount > 0 else { return }
        context?.processPendingChanges()
        disabledCount -= 1
        if let core = context?.core { begin(core) }
    }

    /// Removes all steps.
    public func removeAll() {
        forgetSteps()
        rebases.forEach(Self.release)
        rebases.removeAll()
        guard let core = context?.core else { return }
        // The recorded changes of the current event are discarded, too.
        for object in core.touched { object.state.remove(.touched) }
        begin(core)
    }

    private func forgetSteps() {
        // As in `forget(_:)`, the steps are released last.
        let former = (undoSteps, redoSteps, group, unresolved)
        clearCount += 1
        (undoSteps, redoSteps, unresolved) = ([], [], [])
        if let name = group.map(\.name) { group = Step(name: name) }
        withExtendedLifetime(former) {}
    }

    func attach(_ context: ManagedObjectContext) {
        self.context = context
        begin(context.core)
    }

    func leaveContext() { if let context { context.undo = nil } }

    func detach() {
        context?.core.undoRecord = nil
        context = nil
        forgetSteps()
        (group, groupDepth) = (nil, 0)
    }

    private func makeRecord(_ core: GraphCore) -> UndoRecord {
        core.undoRecordCount += 1
        return UndoRecord(number: core.undoRecordCount, commitCount: core.commitCount, outsideCount: core.outsideCount)
    }

    private func begin(_ core: GraphCore) {
        // Changes made while undo is disabled are recorded only if there are steps.
        let isNeeded = isEnabled || !undoSteps.isEmpty || !redoSteps.isEmpty
        core.undoRecord = isNeeded ? makeRecord(core) : nil
    }

    /// Creates a step from the changes of the event.
    func closeEvent() {
        guard let core = context?.core, let record = core.undoRecord else { return }
        guard !record.isEmpty else {
            // There may have been a save since the previous event.
            (record.commitCount, record.outsideCount) = (core.commitCount, core.outsideCount)
            return
        }
        record.forEachRow { object, _ in object.state.remove(.touched) }
        for note in record.notes { note.object.state.remove(.touched) }
        if isEnabled || isPlanted(.recordsDisabled) {
            if !record.links.isEmpty || record.isUnresolved { unresolved.append(record) }
            if group != nil { group?.records.append(record) } else { push(Step(records: [record])) }
            let former = redoSteps
            redoSteps = []
            forget(former)
        } else {
            keepChanges(record)
        }
        begin(core)
    }

    /// Makes undo preserve changes that were made while undo was disabled.
    private func keepChanges(_ record: UndoRecord) {
        context?.core.outsideCount += 1
        for image in record.rows {
            if let current = image.object.row { rebase(image.object, from: image.row, to: current) }
        }
    }

    /// Closes the event before a save, and reads the stored state that the steps need.
    func prepareSave() throws(StoreError) {
        closeEvent()
        guard let core = context?.core else { return }
        for record in unresolved { try core.resolveMembers(in: record) }
        unresolved.removeAll()
    }

    func replaceKeys(_ new: [ObjectPlace: Int64], areTemporary: Bool = true) {
        guard let core = context?.core else { return }
        for record in allRecords + [core.undoRecord].compactMap({ $0 }) {
            record.replaceKeys(new, model: core.model, areTemporary: areTemporary, isOfChild: core.parent != nil)
        }
    }

    private var allRecords: [UndoRecord] {
        (undoSteps + redoSteps + [group].compactMap { $0 }).flatMap(\.records)
    }

    // MARK: Changes outside the steps

    private static func release(_ rebase: Rebase) {
        RowPage.release(rebase.old)
        RowPage.release(rebase.new)
    }

    /// Records a change of an object's row that no step contains.
    func rebase(_ object: ManagedObject, from old: UnsafeRawPointer, to new: UnsafeRawPointer) {
        if isPlanted(.undoesOthers) { return }
        guard !undoSteps.isEmpty || !redoSteps.isEmpty || !(group?.records.isEmpty ?? true) else { return }
        RowPage.retain(old)
        let count = object.tail.byteCount(new)
        // A row that can still change is copied.
        if object.state.contains(.privateRow), new == object.row {
            let copy = object.core.privateRows.copy(new, byteCount: count)
            PrivateRow.setCommitted(nil, of: copy)
            rebases.append(Rebase(object: object, old: old, new: UnsafeRawPointer(copy)))
        } else {
            RowPage.retain(new)
            rebases.append(Rebase(object: object, old: old, new: new))
        }
    }

    /// Copies changes that no step contains into the recorded rows, so that undo and redo preserve
    /// these changes.
    private func applyRebases() {
        guard !rebases.isEmpty else { return }
        let list = rebases
        rebases.removeAll()
        defer { list.forEach(Self.release) }
        guard let core = context?.core else { return }
        let byObject = Dictionary(grouping: list) { ObjectIdentifier($0.object) }
        for record in allRecords {
            for index in record.rows.indices {
                for change in byObject[ObjectIdentifier(record.rows[index].object)] ?? [] {
                    _ = core.latching { () throws(StoreError) in
                        try core.rebase(&record.rows[index], from: change.old, to: change.new)
                    }
                }
            }
        }
    }
}
