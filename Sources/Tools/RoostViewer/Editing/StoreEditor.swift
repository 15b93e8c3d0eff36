#if Interactive
    internal import RoostCore
    internal import RoostGraph
    internal import RoostJSONText
    internal import RoostStores
    internal import RoostSystem

    /// An editor of the objects of one store, which saves each change at once and can undo it.
    ///
    /// One context makes the changes, with delete rules and validation. Changes by other programs
    /// are never overwritten: a conflicting edit fails.
    final class StoreEditor: Sendable {
        private struct Steps {
            var canUndo = false
            var canRedo = false
            var undoName: String?
            var redoName: String?
            /// For each step that can be undone, the states of its objects after the step.
            var done: [ObjectStates] = []
            /// For each step that can be redone, the states of its objects after the undo.
            var undone: [ObjectStates] = []
            /// The total number of steps that were done, undone or redone.
            var revision: Int64 = 0

            /// Updates the states of all steps after a change by the page itself.
            mutating func expect(_ states: ObjectStates, insteadOf former: ObjectStates) {
                for index in done.indices { done[index].replace(former, by: states) }
                for index in undone.indices { undone[index].replace(former, by: states) }
            }
        }

        private static let author = "roost browse"
        private static let stepLimit = 1000

        private let store: Store
        private let container: PersistentContainer
        private let thread: ContextThread
        private let steps = Mutex(Steps())

        init(_ store: Store) throws(StoreError) {
            self.store = store
            container = try PersistentContainer(store)
            thread = try ContextThread { [container] in
                let context = container.makeContext("roost browse")
                context.author = Self.author
                context.undo = UndoStack(limit: Self.stepLimit)
                return context
            }
        }

        deinit { thread.end() }

        /// The next steps to undo and to redo, for the page.
        var undoState: JSONNode {
            steps.withLock { steps in
                JSONNode([
                    "canUndo": JSONNode(steps.canUndo), "canRedo": JSONNode(steps.canRedo),
                    "undoName": JSONNode(steps.undoName), "redoName": JSONNode(steps.redoName),
                    "revision": JSONNode(steps.revision),
                ])
            }
        }

        /// Makes a change and saves it, as one step that can be undone.
        ///
        /// After the save, `saved` converts the value of `body` to the result.
        ///
        /// - Throws: Errors of `body`, of reading the store and of the save. After an error,
        ///   nothing is changed.
        func change<Change, Result: Sendable>(
            _ name: String, by body: @escaping @Sendable (ManagedObjectContext) throws -> Change,
            saved: @escaping @Sendable (Change) -> Result
        ) throws -> Result {
            try thread.run { [self] context in
                let undo = try Self.undo(of: context)
                try context.refreshAllObjects()
                undo.beginGroup(name)
                var touched: Set<ManagedObject> = []
                var former = ObjectStates()
                let result = Swift.Result {
                    let change = try body(context)
                    touched = Self.changedObjects(of: context)
                    former = try ObjectStates(touched.map(\.objectID), in: store)
                    try context.save()
                    return saved(change)
                }
                undo.endGroup()
                if case .failure = result {
                    // Without changes, no step was recorded, and undone steps can still be redone.
                    guard context.hasChanges else { return try result.get() }
                    takeBack(context) { undo.undo() }
                    steps.withLock { $0.undone = [] }
                } else if !touched.isEmpty, let states = savedStates(of: touched.map(\.objectID), undo: undo) {
                    steps.withLock { steps in
                        steps.expect(states, insteadOf: former)
                        steps.done.append(states)
                        steps.undone = []
                        steps.revision += 1
                    }
                }
                note(undo)
                return try result.get()
            }
        }

        /// Makes a change and saves it, and returns the result of `body`.
        @discardableResult
        func change<Result: Sendable>(
            _ name: String, _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
        ) throws -> Result {
            try change(name, by: body, saved: { $0 })
        }

        /// Undoes the last step, or redoes the step that was undone last, and saves.
        ///
        /// - Throws: A conflict if no such step exists, if `revision` is outdated, or if another
        ///   program changed one of the objects; errors of reading the store and of the save. After
        ///   an error, nothing is changed.
        func undo(redoing: Bool, revision: Int64?) throws {
            try thread.run { [self] context in
                let undo = try Self.undo(of: context)
                try context.refreshAllObjects()
                let known = steps.withLock { $0 }
                guard redoing ? known.canRedo : known.canUndo, let expected = (redoing ? known.undone : known.done).last
                else {
                    throw ViewerError(
                        .conflict, code: "nothingToUndo", message: "There is nothing to \(redoing ? "redo" : "undo").")
                }
                guard revision == nil || revision == known.revision else {
                    throw ViewerError(
                        .conflict, code: "otherStep",
                        message:
                            "Another change was made meanwhile. Reload the page, then \(redoing ? "redo" : "undo").")
                }
                if let changed = try expected.firstDifference(in: store) {
                    throw ViewerError(
                        .conflict, code: "conflict",
                        message:
                            "Another program has changed \(changed). That change would be lost, so nothing was done."
                    )
                }
                if redoing { undo.redo() } else { undo.undo() }
                let touched = Self.changedObjects(of: context)
                let ids = expected.ids + touched.map(\.objectID)
                var former = ObjectStates()
                let result = Swift.Result {
                    former = try ObjectStates(ids, in: store)
                    try context.save()
                }
                if case .failure = result, context.hasChanges {
                    takeBack(context) { if redoing { undo.undo() } else { undo.redo() } }
                } else if let states = savedStates(of: ids, undo: undo) {
                    steps.withLock { steps in
                        steps.expect(states, insteadOf: former)
                        if redoing {
                            steps.undone.removeLast()
                            steps.done.append(states)
                        } else {
                            steps.done.removeLast()
                            steps.undone.append(states)
                        }
                        steps.revision += 1
                    }
                }
                note(undo)
                try result.get()
            }
        }

        /// Returns the states of objects after a save.
        ///
        /// If the states cannot be read, removes all steps and returns nil, because undo could not
        /// detect changes by other programs.
        private func savedStates(of ids: [ObjectID], undo: UndoStack) -> ObjectStates? {
            do { return try ObjectStates(ids, in: store) } catch {
                // The change is saved, so the caller must not report an error.
                undo.removeAll()
                steps.withLock { steps in
                    (steps.done, steps.undone) = ([], [])
                    steps.revision += 1
                }
                return nil
            }
        }

        /// Reverts the changes of the context after an error, by undoing or redoing a step.
        ///
        /// Rolls the context back only if this fails, because a rollback removes all undo steps.
        private func takeBack(_ context: ManagedObjectContext, _ step: () -> Void) {
            step()
            // The caller reports the first error instead.
            try? context.save()
            guard context.hasChanges else { return }
            context.rollback()
            steps.withLock { ($0.done, $0.undone) = ([], []) }
        }

        private static func changedObjects(of context: ManagedObjectContext) -> Set<ManagedObject> {
            context.processPendingChanges()
            return context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
        }

        /// Runs `body` in a separate context that is not saved.
        func attempt<Result: Sendable>(
            _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
        ) throws -> Result {
            try container.performAndWait { context in try body(context) }
        }

        private static func undo(of context: ManagedObjectContext) throws(StoreError) -> UndoStack {
            guard let undo = context.undo else {
                throw StoreError(.internalInconsistency, "The context of the page has lost its steps.")
            }
            return undo
        }

        /// Records whether there are steps to undo and to redo.
        private func note(_ undo: UndoStack) {
            steps.withLock { steps in
                steps.done.removeFirst(max(0, steps.done.count - undo.depth))
                (steps.canUndo, steps.undoName) = (undo.canUndo && !steps.done.isEmpty, undo.undoName)
                steps.canRedo = undo.canRedo && !steps.undone.isEmpty
                steps.redoName = steps.canRedo ? undo.redoName : nil
            }
        }
    }
#endif
