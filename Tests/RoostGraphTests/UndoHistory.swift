import Dispatch
import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostGraph

/// Runs events, undo and redo on a context, and keeps a ``PlainGraph`` for each state.
@MainActor
final class UndoHistory {
    static let kinds: [Int] = {
        let events = Array(0..<Step.changeCount)
        let undo = Array(repeating: Step.changeCount, count: 14) + Array(repeating: Step.changeCount + 1, count: 8)
        return events + undo + Array(Step.changeCount + 2..<Step.changeCount + 14)
    }()

    let control: StoreMeter
    let container: PersistentContainer
    let context: ManagedObjectContext
    let other: ManagedObjectContext
    var undo = UndoStack()
    var notices: [SaveNotice] = []
    var token: Any?
    /// The content of the store.
    var saved = PlainGraph()
    /// The content that the context must show.
    var current = PlainGraph()
    /// The states that undo restores, the next one last.
    var undoStates: [PlainGraph] = []
    /// The states that redo restores, the next one last.
    var redoStates: [PlainGraph] = []

    init(_ container: PersistentContainer, control: StoreMeter, isObservable: Bool) {
        (self.container, self.control) = (container, control)
        context = container.makeContext("undo")
        other = container.makeContext("other")
        for context in [context, other] { context.isObservable = isObservable }
        context.undo = undo
        token = other.observeSaves { [weak self] notice in self?.notices.append(notice) }
    }

    /// Runs the first of `steps`, which can also use later steps.
    ///
    /// - Returns: The number of steps that were run.
    func run(_ steps: ArraySlice<Step>) async throws -> Int {
        guard let step = steps.first else { return 0 }
        let (a, b, c) = (step.a, step.b, step.c)
        switch step.kind - Step.changeCount {
        case ..<0:
            let count = 1 + (a + b + c) % 3
            try event(steps.prefix(count), isGroup: b % 4 == 0)
            return min(count, steps.count)
        case 0: for _ in 0...a % 3 { try undoOnce() }
        case 1: for _ in 0...a % 3 { try redoOnce() }
        case 2, 3:
            try context.save()
            saved = current
            guard !context.hasChanges else { throw Problem("changes after a save: \(context.updatedObjects)") }
        case 4:
            context.rollback()
            current = saved
            forget()
            guard !context.hasChanges else { throw Problem("changes after a rollback") }
        case 5:
            for object in context.registeredObjects where !object.hasChanges && (a + Int(object.objectID.key)) % 2 == 0
            {
                try context.refresh(object, mergingChanges: false)
            }
        case 6:
            guard a % 3 == 0 else { return 1 }
            context.reset()
            current = saved
            forget()
        case 7:
            control.failNextCommit()
            do throws(StoreError) {
                try context.save()
                saved = current
            } catch { guard error.code == StoreMeter.error.code else { throw error } }
            _ = control.endCommitFailure()
        case 8, 9: try changeElsewhere(step)
        case 10: try withoutUndo(steps.dropFirst().first)
        case 11: return try await fly(steps, fails: b % 3 == 0)
        default: return try child(steps, of: context, isSaved: b % 4 != 0)
        }
        return 1
    }

    private func forget() {
        (undoStates, redoStates) = ([], [])
    }

    private func change(_ step: Step) throws {
        var step = step
        // With an odd `c`, a deletion does not end the event.
        if step.kind == 21 { step.c |= 1 }
        if step.kind < Step.changeCount { try step.change(context, and: &current) }
    }

    private func event(_ steps: ArraySlice<Step>, isGroup: Bool) throws {
        let (depth, before) = (undo.depth, current)
        if isGroup { undo.beginGroup("group") }
        for step in steps {
            try change(step)
            if isGroup { context.processPendingChanges() }
        }
        if isGroup { undo.endGroup() } else { context.processPendingChanges() }
        guard undo.depth - depth == 1 || undo.depth == depth && PlainContent(current) == PlainContent(before) else {
            throw Problem("an event made \(undo.depth - depth) steps")
        }
        guard undo.depth > depth else { return }
        undoStates.append(before)
        redoStates.removeAll()
    }

    func undoOnce() throws {
        guard undo.canUndo == !undoStates.isEmpty else { throw Problem("canUndo is \(undo.canUndo)") }
        undo.undo()
        guard let state = undoStates.popLast() else { return }
        redoStates.append(current)
        current = state
        try expectChanges()
    }

    func redoOnce() throws {
        guard undo.canRedo == !redoStates.isEmpty else { throw Problem("canRedo is \(undo.canRedo)") }
        undo.redo()
        guard let state = redoStates.popLast() else { return }
        undoStates.append(current)
        current = state
        try expectChanges()
    }

    /// Throws if the context differs from the store, but reports no changes.
    private func expectChanges() throws {
        guard PlainContent(current) != PlainContent(saved), !context.hasChanges else { return }
        throw Problem("hasChanges is false")
    }

    /// Saves a value in another context, and merges the save into the context with the undo stack.
    ///
    /// Each recorded state with the previously saved value gets the new value.
    private func changeElsewhere(_ step: Step) throws {
        let entity = ["Album", "Track", "Passport", "Playlist"][step.b % 4]
        guard let id = saved.pick(entity, number: step.a), current.nodes[id] != nil else { return }
        let (old, new) = (saved.nodes[id]?.text, "elsewhere \(step.c) \(id.key)")
        let object = other.object(with: id)
        try other.refresh(object, mergingChanges: false)
        object[PlainGraph.names(entity).0] = .string(new)
        try other.save()
        let depth = undo.depth
        for notice in notices { try context.mergeChanges(notice) }
        notices.removeAll()
        guard undo.depth == depth else { throw Problem("a merge made a step") }
        func merge(_ graph: inout PlainGraph) {
            if graph.nodes[id]?.text == old { graph.nodes[id]?.text = new }
        }
        saved.nodes[id]?.text = new
        merge(&current)
        for index in undoStates.indices { merge(&undoStates[index]) }
        for index in redoStates.indices { merge(&redoStates[index]) }
    }

    /// Changes objects in a child, and in a grandchild.
    private func child(_ steps: ArraySlice<Step>, of parent: ManagedObjectContext, isSaved: Bool) throws -> Int {
        let (depth, before) = (undo.depth, current)
        var count = 1 + (steps.first?.a ?? 0) % 6
        let child = parent.makeChild("child")
        let stack = UndoStack()
        child.undo = stack
        let isNested = parent !== context
        var position = steps.startIndex + 1
        while position < min(steps.endIndex, steps.startIndex + 1 + count) {
            var step = steps[position]
            position += 1
            if step.kind == Step.changeCount + 13, !isNested {
                let taken = try self.child(steps[(position - 1)...], of: child, isSaved: step.b % 4 != 0)
                count += taken
                position += taken - 1
                continue
            }
            if step.kind == 21 { step.c |= 1 }
            guard step.kind < Step.changeCount else { continue }
            let state = current
            try step.change(child, and: &current)
            child.processPendingChanges()
            if step.c % 5 == 0, stack.canUndo, PlainContent(current) != PlainContent(state) {
                stack.undo()
                current = state
            }
        }
        var problems = try current.differences(from: child)
        guard problems.isEmpty else { throw Problem("in a child: \(problems.prefix(6).joined(separator: "; "))") }
        if isSaved {
            try child.save()
            guard !child.hasChanges else { throw Problem("a saved child has changes") }
            problems = try current.differences(from: child)
            guard problems.isEmpty else {
                throw Problem("in a saved child: \(problems.prefix(6).joined(separator: "; "))")
            }
        } else {
            current = before
        }
        let taken = min(position, steps.endIndex) - steps.startIndex
        guard !isNested else { return taken }
        guard undo.depth - depth == 1 || undo.depth == depth && PlainContent(current) == PlainContent(before) else {
            throw Problem("a child made \(undo.depth - depth) steps")
        }
        guard undo.depth > depth else { return taken }
        undoStates.append(before)
        redoStates.removeAll()
        return taken
    }

    private func withoutUndo(_ step: Step?) throws {
        guard let step, let id = current.pick("Track", number: step.a) else { return }
        let (old, new) = (current.nodes[id]?.text, "without \(step.b) \(id.key)")
        undo.disable()
        context.object(with: id)["title"] = .string(new)
        undo.enable()
        func merge(_ graph: inout PlainGraph) {
            if graph.nodes[id]?.text == old { graph.nodes[id]?.text = new }
        }
        current.nodes[id]?.text = new
        for index in undoStates.indices { merge(&undoStates[index]) }
        for index in redoStates.indices { merge(&redoStates[index]) }
    }

    /// Changes objects, and undoes changes, during a save in the background.
    private func fly(_ steps: ArraySlice<Step>, fails: Bool) async throws -> Int {
        let (context, count) = (context, 1 + (steps.first?.a ?? 0) % 4)
        // Without a change, the save would not commit.
        undoStates.append(current)
        redoStates.removeAll()
        let artist: Artist = try context.insert()
        artist.name = "in flight \(artist.objectID.key)"
        current.nodes[artist.objectID] = PlainGraph.Node(entity: "Artist", text: artist.name)
        context.processPendingChanges()
        let taken = current
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        if fails { control.failNextCommit() }
        control.beforeNextCommit {
            started.yield()
            gate.wait()
        }
        let save = Task { @MainActor () -> StoreError? in
            defer { started.finish() }
            do throws(StoreError) { try await context.saveInBackground() } catch { return error }
            return nil
        }
        for await _ in starts { break }
        let result = Result {
            for step in steps.dropFirst().prefix(count) {
                switch step.kind - Step.changeCount {
                case ..<0: try event([step], isGroup: false)
                case 0: try undoOnce()
                case 1: try redoOnce()
                default: continue
                }
                try check("during a flight, after \(step)", comparesStore: false)
            }
        }
        gate.signal()
        let error = await save.value
        try result.get()
        guard error?.code == (fails ? StoreMeter.error.code : nil) else {
            throw Problem("a save in the background gave \(error as Any)")
        }
        if !fails { saved = taken }
        return min(steps.count, count + 1)
    }

    func check(_ text: String, comparesStore: Bool = true) throws {
        var problems = try current.differences(from: context)
        if PlainContent(current) != PlainContent(saved), !context.hasChanges { problems.append("hasChanges is false") }
        if undo.depth != undoStates.count { problems.append("\(undo.depth) steps, not \(undoStates.count)") }
        if problems.isEmpty, comparesStore {
            problems = try saved.differences(from: container.makeContext()).map { "store: \($0)" }
        }
        guard problems.isEmpty else { throw Problem("\(text): \(problems.prefix(6).joined(separator: "; "))") }
    }

    /// Runs steps in a new store.
    ///
    /// - Returns: The problem, or nil.
    static func failure(
        of steps: [Step], in location: StoreLocation, isObservable: Bool
    ) async throws -> String? {
        let control = StoreMeter()
        let container = try control.makeContainer(location)
        defer { try? container.close() }
        let history = UndoHistory(container, control: control, isObservable: isObservable)
        var index = 0
        while index < steps.count {
            let first = steps[index]
            do {
                let watch = isObservable ? try ObservationWatch(history.context) : nil
                let count = try await history.run(steps[index...])
                try history.check("after step \(index) (\(first))")
                try watch?.check()
                index += max(1, count)
            } catch { return "step \(index) (\(first)): \(error)" }
        }
        do {
            while history.undo.canUndo {
                try history.undoOnce()
                try history.check("undoing all")
            }
            while history.undo.canRedo { try history.redoOnce() }
            try history.check("redoing all")
            try history.context.save()
            history.saved = history.current
            try history.check("saved at the end")
        } catch { return "at the end: \(error)" }
        return nil
    }
}
