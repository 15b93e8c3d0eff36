internal import Roost
internal import RoostCore
internal import RoostGraph
internal import RoostStores

/// The state of a shell: its open store, uncommitted changes, variables and output format.
final class ShellSession {
    struct Variable {
        /// The entity of the objects, or one of its superentities.
        let entity: ManagedObjectModel.Entity
        var ids: [ObjectID]
    }

    static let undoLimit = 100

    let store: any PersistentStore
    let context: ManagedObjectContext
    /// The container, kept because ``context`` refers to it weakly.
    private let container: PersistentContainer
    let console: Console
    /// Whether a user types the statements.
    let isInteractive: Bool
    var format: RecordFormat = .table
    var variables: [String: Variable] = [:]
    /// The new objects by their temporary IDs, until a commit.
    private var newObjects: [ObjectID: ManagedObject] = [:]
    /// The files that `.read` is reading, the innermost last.
    var filesBeingRead: [String] = []
    /// Whether a statement is changing objects, so that its reads must use the context.
    var isChanging = false
    /// Whether `.quit` was given.
    var isEnded = false

    /// Creates a session of a store, which must stay open.
    init(_ store: any PersistentStore, console: Console, isInteractive: Bool) throws(StoreError) {
        (self.store, self.console, self.isInteractive) = (store, console, isInteractive)
        container = try PersistentContainer(try Store(store, registry: .standard))
        context = container.makeContext("roost shell")
        context.undo = UndoStack(limit: Self.undoLimit)
    }

    var model: ManagedObjectModel { store.model }

    var changeCount: Int { context.writtenObjectCount }

    var names: [String] { model.entities.map(\.name.text) + variables.keys.sorted() }

    var undo: UndoStack? { context.undo }

    /// Runs a statement.
    ///
    /// - Throws: `ShellSyntaxError`, `UsageError`, `StoreError` or `OutputError`; ``ShellFailure``
    ///   for a statement in a file.
    func run(_ text: String) throws {
        if text.hasPrefix(".") { return try runCommand(text) }
        // Other programs can change objects between statements.
        context.forgetUnchangedObjects()
        defer { context.processPendingChanges() }
        switch try ShellStatement(text, names: names) {
        case .fetch(let request): try fetch(request)
        case .count(let request): try count(request)
        case .explain(let request): try explain(request)
        case .assignFetch(let variable, let request): try assign(variable, request: request)
        case .assignInsert(let variable, let entity, let assignments):
            try requireFree(variable)
            let id = try insert(entity, assignments: assignments, text: text)
            variables[variable] = Variable(entity: try model.requireEntity(id.entity), ids: [id])
        case .insert(let entity, let assignments): _ = try insert(entity, assignments: assignments, text: text)
        case .update(let request): try update(request, text: text)
        case .delete(let request): try delete(request, text: text)
        case .undo: try takeBack()
        case .redo: try redo()
        case .changes: try printChanges()
        case .commit: try commit()
        case .rollback: try rollback()
        }
    }

    // MARK: State of the store

    /// Returns the state that statements see: the store with all uncommitted changes.
    ///
    /// If nothing is uncommitted and no statement is changing objects, this is the store's own
    /// snapshot, which can explain fetches and use indexes.
    func snapshot() throws(StoreError) -> any StoreSnapshot {
        context.hasChanges || isChanging ? try context.snapshotWithChanges() : try store.snapshot()
    }

    // MARK: Variables

    /// Refuses the name of an entity or a statement as the name of a variable.
    func requireFree(_ name: String) throws {
        guard model.entities.allSatisfy({ $0.name.text != name }), !ShellStatement.words.contains(name.lowercased())
        else { throw UsageError("'\(name)' has a meaning already; choose another name for the variable") }
    }

    /// Remembers a new object until its key is final.
    func note(_ object: ManagedObject) {
        if object.objectID.key < 0 { newObjects[object.objectID] = object }
    }

    /// Replaces temporary keys in variables after a commit.
    func replaceKeys() {
        guard !newObjects.isEmpty else { return }
        let final = newObjects.mapValues(\.objectID)
        newObjects.removeAll()
        for name in Array(variables.keys) {
            guard let ids = variables[name]?.ids, ids.contains(where: { $0.key < 0 }) else { continue }
            variables[name]?.ids = ids.map { final[$0] ?? $0 }
        }
    }

    /// Forgets the new objects after a rollback.
    func forgetNewObjects() { newObjects.removeAll() }

    /// Prints the effect of a statement, unless the output format is for programs.
    func tell(_ text: String) throws {
        if format == .table { try console.print(text) }
    }

    /// Returns a text such as `1 object`.
    static func objects(_ count: Int) -> String { count == 1 ? "1 object" : "\(count) objects" }
}
