public import RoostCore
public import RoostStores
internal import RoostSystem

/// A model, the stores of its objects, and the contexts that use them.
///
/// Each entity hierarchy is in exactly one of the container's stores.
///
/// ```swift
/// let container = try PersistentContainer(.sqlite("music.sqlite"), model: model)
/// let context = container.makeContext()
/// let album = try context.insert("Album")
/// album["title"] = "Blue"
/// try context.save()
/// ```
public final class PersistentContainer: Sendable {
    let base: ContainerBase
    private let view = ViewContextHolder()

    /// Creates a container for stores that are already open.
    ///
    /// - Parameters:
    ///   - stores: The stores, all with compatible models. Each store has the hierarchies of the
    ///     configuration at the same index in `configurations`.
    ///   - model: The program's model, with the validation rules; nil for the first store's model.
    ///   - types: The classes of the entities. An entity without a class uses the class of its
    ///     nearest superentity that has one, or ``ManagedObject``.
    ///   - configurations: The model's configurations, one for each store; a single store needs
    ///     none.
    /// - Throws: `invalidModel` if a class does not match its entity, if a hierarchy is in no store
    ///   or in two, or if a relationship connects two stores; `invalidRequest` if `stores` is
    ///   empty, if a configuration is unknown, or if the number of configurations for several
    ///   stores is wrong; `unknownEntity`; `modelMismatch`.
    public init(
        _ stores: [Store], model: ManagedObjectModel? = nil, types: [any ManagedObjectClass.Type] = [],
        configurations: [String] = []
    ) throws(StoreError) {
        guard let first = stores.first else {
            throw StoreError(.invalidRequest, "A container needs at least one store.")
        }
        let model = model ?? first.model
        for store in stores where !model.hasVersionHashes(of: store.model) {
            throw .modelMismatch("\(store.location)", has: store.model, expected: model)
        }
        base = ContainerBase(
            try ModelClasses(model, types: types),
            storeSet: StoreSet(
                stores, storeOfEntity: try Self.assign(stores, model: model, configurations: configurations)))
    }

    /// Creates a container for one store that is already open.
    ///
    /// - Throws: The same errors as ``init(_:model:types:configurations:)``.
    public convenience init(
        _ store: Store, model: ManagedObjectModel? = nil, types: [any ManagedObjectClass.Type] = []
    ) throws(StoreError) {
        try self.init([store], model: model, types: types)
    }

    /// Returns the index of each entity's store, by entity number.
    private static func assign(
        _ stores: [Store], model: ManagedObjectModel, configurations: [String]
    ) throws(StoreError) -> [Int] {
        for name in configurations where model.configurations[name] == nil {
            throw StoreError(.invalidRequest, "The model has no configuration '\(name)'.")
        }
        guard stores.count > 1 else { return Array(repeating: 0, count: model.entities.count) }
        guard configurations.count == stores.count else {
            throw StoreError(
                .invalidRequest, "\(stores.count) stores need \(stores.count) configurations, one for each.")
        }
        var storeOfRoot: [Int: Int] = [:]
        for (position, name) in configurations.enumerated() {
            for name in model.configurations[name] ?? [] {
                let root = try model.requireEntity(EntityName(name)).root
                if let other = storeOfRoot[root], other != position {
                    throw StoreError(
                        .invalidModel,
                        "The hierarchy of '\(model.entities[root].name)' is in two stores. Put it into one configuration."
                    )
                }
                storeOfRoot[root] = position
            }
        }
        var result: [Int] = []
        for entity in model.entities {
            guard let position = storeOfRoot[entity.root] else {
                throw StoreError(
                    .invalidModel,
                    "Entity '\(entity.name)' is in no store. Put it into one of the configurations.")
            }
            result.append(position)
        }
        for relationship in model.relationships where result[relationship.source] != result[relationship.destination] {
            throw StoreError(
                .invalidModel,
                "Relationship '\(relationship.name)' connects two stores. Keep both hierarchies in one configuration, or keep an ID as an attribute."
            )
        }
        return result
    }

    /// The program's model, which has the validation rules, defaults and transient attributes.
    public var model: ManagedObjectModel { base.classes.model }
    /// The open stores, in the order in which they were given.
    public var stores: [Store] { base.storeSet.stores }

    // MARK: Contexts

    /// The main actor's context, which merges other contexts' saves automatically.
    @MainActor
    public var viewContext: ManagedObjectContext {
        if let context = view.context { return context }
        let context = ManagedObjectContext(self, name: "view")
        context.mergesChangesAutomatically = true
        context.setHome(.mainActor) { [weak self] in
            Task { @MainActor in self?.view.context?.endEventOfHome() }
        }
        context.inbox.setWakeUp { [weak self] in
            Task { @MainActor in self?.view.context?.processPendingChanges() }
        }
        view.context = context
        return context
    }

    /// Returns a new context in its own isolation region, for an actor, a task or a function.
    ///
    /// Objects do not keep their context alive. After the context is deallocated, only values that
    /// were already read are available.
    public func makeContext(_ name: String? = nil) -> sending ManagedObjectContext {
        ManagedObjectContext(self, name: name)
    }

    /// Runs `body` with a new context on a thread of the container.
    ///
    /// Several calls can use one thread, one after the other. Unsaved changes are discarded.
    ///
    /// ```swift
    /// let id = try await container.perform { context in
    ///     let album = try context.insert("Album")
    ///     try context.save()
    ///     return album.objectID
    /// }
    /// ```
    public func perform<Result, Failure: Error>(
        _ body: sending @escaping (ManagedObjectContext) throws(Failure) -> sending Result
    ) async throws(Failure) -> sending Result {
        let executor = base.executors.take()
        defer { base.executors.put(executor) }
        return try await BackgroundContext(self, name: nil, executor: executor).perform(body)
    }

    /// Runs `body` with a new context on the calling thread.
    ///
    /// Unsaved changes are discarded.
    public func performAndWait<Result, Failure: Error>(
        _ body: (ManagedObjectContext) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try body(makeContext())
    }

    /// Connects an actor with its context.
    ///
    /// The context merges other contexts' saves automatically, and the actor ends the context's
    /// events. Call this method in the actor's initializer.
    public func attach<Owner: ContextActor>(_ actor: Owner) {
        Task { await actor.becomeHome() }
    }

    /// Returns a long-lived context with a separate thread.
    public func makeBackgroundContext(_ name: String? = nil) -> BackgroundContext {
        BackgroundContext(self, name: name)
    }

    /// The commits to all stores of the container from now on, including other processes' commits.
    ///
    /// The notices of some commits list each changed object; see `Store.changes`.
    ///
    /// - Throws: `closed`, and errors from reading the stores.
    public var saves: SaveNotices {
        get throws(StoreError) { try SaveNotices(of: stores) }
    }

    // MARK: Batch requests

    /// Executes a request that inserts objects, and notifies contexts that merge automatically.
    ///
    /// - Throws: The same errors as `Store.execute(_:)-(BatchInsertRequest)`.
    @discardableResult
    public func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchResult {
        try base.storeSet.store(ofEntity: try model.requireEntity(request.entity).number).execute(request)
    }

    /// Executes a request that updates objects, and notifies contexts that merge automatically.
    ///
    /// - Throws: The same errors as `Store.execute(_:)-(BatchUpdateRequest)`.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchResult {
        try base.storeSet.store(ofEntity: try model.requireEntity(request.entity).number).execute(request)
    }

    /// Executes a request that deletes objects, and notifies contexts that merge automatically.
    ///
    /// - Throws: `invalidRequest` if the request has IDs of objects in several stores; the same
    ///   errors as `Store.execute(_:)-(BatchDeleteRequest)`.
    @discardableResult
    public func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchResult {
        try base.storeSet.stores[try storeIndex(for: request)].execute(request)
    }

    private func storeIndex(for request: BatchDeleteRequest) throws(StoreError) -> Int {
        let ids: [ObjectID]
        switch request.selection {
        case .fetched(let fetch):
            return base.storeSet.storeOfEntity[try model.requireEntity(fetch.entity).number]
        case .objectIDs(let given): ids = given
        }
        guard stores.count > 1, let first = ids.first else { return 0 }
        func index(_ id: ObjectID) throws(StoreError) -> Int {
            base.storeSet.storeOfEntity[try model.requireEntity(id.entity).number]
        }
        let found = try index(first)
        for id in ids where try index(id) != found {
            throw StoreError(
                .invalidRequest,
                "\(first) and \(id) are in different stores; delete the objects of each store with a separate request.")
        }
        return found
    }

    // MARK: IDs as text

    /// Returns an ID as a URI that a program can store, or nil if the ID is temporary.
    ///
    /// - Throws: `unknownEntity`, and errors from reading the store's metadata.
    public func uri(of id: ObjectID) throws(StoreError) -> String? {
        guard id.key > 0 else { return nil }
        let store = base.storeSet.store(ofEntity: try model.requireEntity(id.entity).number)
        return id.uriRepresentation(storeUUID: try store.metadata().storeUUID)
    }

    /// Returns the ID for a URI, or nil if the URI is invalid or refers to another store or an
    /// unknown entity.
    ///
    /// - Throws: Errors from reading the stores' metadata.
    public func objectID(uri: String) throws(StoreError) -> ObjectID? {
        guard let (uuid, id) = ObjectID.parse(uri: uri), let entity = model.entity(id.entity) else { return nil }
        return try base.storeSet.store(ofEntity: entity.number).metadata().storeUUID == uuid ? id : nil
    }

    /// Closes all stores.
    ///
    /// Contexts then throw `closed`. A store from which a context has read stays in use until the
    /// context's event and pin have ended, or until the context is reset.
    ///
    /// - Throws: The first error from closing. All stores are closed even after an error.
    public func close() throws(StoreError) {
        var first: StoreError?
        for store in stores {
            do throws(StoreError) { try store.close() } catch { first = first ?? error }
        }
        if let first { throw first }
    }
}

/// The state that a container and its contexts share.
///
/// The container keeps the view context alive. A reference from a context to the container could
/// form a cycle, so contexts refer to this state.
final class ContainerBase: Sendable {
    let classes: ModelClasses
    let storeSet: StoreSet
    let hub = NoticeHub()
    let executors = ExecutorPool()
    /// The subscriptions to other writers' commits, which start when a context first merges
    /// automatically.
    private let subscriptions = Mutex<[CommitSubscription]>([])

    /// The identifier of the container as the origin of commits.
    var origin: ObjectIdentifier { ObjectIdentifier(self) }

    /// Subscribes to the commits that no context of the container made.
    func follow() throws(StoreError) {
        let hub = hub
        try subscriptions.withLock { (subscriptions) throws(StoreError) in
            guard subscriptions.isEmpty else { return }
            // After an error, the next call subscribes to all stores.
            var started: [CommitSubscription] = []
            for store in storeSet.stores {
                started.append(
                    try CommitSubscription(to: store, ignoring: origin, listener: { hub.post($0, from: nil) }, end: {}))
            }
            subscriptions = started
        }
    }

    init(_ classes: ModelClasses, storeSet: StoreSet) { (self.classes, self.storeSet) = (classes, storeSet) }
}

/// A holder that keeps the main actor's context alive.
@MainActor
private final class ViewContextHolder {
    var context: ManagedObjectContext?

    nonisolated init() {}
}
