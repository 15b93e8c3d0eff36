public import RoostCore
internal import RoostPredicates
internal import RoostStores

/// A graph of objects that is read from stores, changed in memory and saved as a unit.
///
/// A context is not `Sendable`. The context and its objects stay in one isolation: the main actor
/// (``PersistentContainer/viewContext``), one call of ``PersistentContainer/perform(_:)``, an actor
/// of the program, or a task. In language mode 6, the compiler enforces this. A context has at most
/// one object for each ID.
///
/// ```swift
/// let context = container.makeContext()
/// for album in try context.fetch(FetchRequest("Album", where: "year > 1970")) {
///     album["plays"] = 0
/// }
/// try context.save()
/// ```
///
/// All reads within one event see the same state of the stores. `save`,
/// ``processPendingChanges()`` and the end of `perform` end an event. The view context and the
/// context of an attached actor also end an event soon after its first change or read. In all other
/// contexts, each fetch and count begins a new event. After a merge, refresh, rollback or reset,
/// the next read uses the newest state, even within the event.
public final class ManagedObjectContext {
    let core: GraphCore
    let inbox: Inbox
    let base: ContainerBase
    /// The container that created the context, or nil after the container is deallocated.
    public private(set) weak var container: PersistentContainer?
    /// A name, for notices and history.
    public var name: String?
    /// The author of the changes, for notices and history.
    public var author: String?
    /// The rule for resolving conflicts between a save and the saves of other contexts.
    public var mergePolicy: MergePolicy = .error
    /// Whether the context merges other contexts' saves at the end of each event.
    ///
    /// By default, true only for the view context and contexts of attached actors.
    ///
    /// The context also merges commits of other containers and processes. The view context and
    /// contexts of attached actors merge such a commit even while the program does not use them,
    /// after the delay that `Store.changes` documents. If a notice does not list the changed
    /// objects, the context reads all objects again. A child instead merges the saved and unsaved
    /// changes of its parent.
    public var mergesChangesAutomatically = false {
        didSet {
            guard core.parent == nil else { return followParent() }
            inbox.setOpen(mergesChangesAutomatically)
            guard mergesChangesAutomatically, !oldValue else { return }
            _ = core.latching { () throws(StoreError) in
                if !isPlanted(.ignoresForeignCommits) { try base.follow() }
                seenGenerations = try currentGenerations()
            }
        }
    }
    /// Whether a fault whose row is missing in the store counts as deleted.
    ///
    /// If true (default), the fault's properties are null, zero or empty, and a save does not
    /// validate the fault. Values that were already read stay readable. If false, reading the fault
    /// is an error that the next save, fetch or count throws.
    public var deletesInaccessibleFaults: Bool {
        get { core.deletesInaccessibleFaults }
        set { core.deletesInaccessibleFaults = newValue }
    }
    /// Whether delete rules apply at the next fetch, save or end of the event instead of at once.
    public var propagatesDeletesAtEndOfEvent = true
    /// Whether the context keeps inserted, fetched and merged objects alive, not only objects with
    /// changes.
    public var retainsRegisteredObjects = false {
        didSet { if !retainsRegisteredObjects { retained.removeAll() } }
    }
    var retained: Set<ManagedObject> = []
    /// For each store, the generation up to which the context has merged commits.
    ///
    /// Nil if the generation is unknown or if the store has no generations.
    var seenGenerations: [Generation?]
    var parentToken: ObservationToken?
    var observers: [(id: Int, body: (ObjectsChange) -> Void)] = []
    let commits = CommitSequences()
    var saveObservers: [(id: Int, body: (SaveNotice) -> Void)] = []
    var nextObserver = 0
    var isNotifying = false
    /// The objects that other contexts inserted since observers were last notified.
    var mergedInserts: [ManagedObject] = []
    /// The objects that other contexts deleted since observers were last notified.
    var invalidated: [ManagedObject] = []
    var refreshed: [ManagedObject] = []
    var isSaving = false
    var saveWaiters: [CheckedContinuation<Void, Never>] = []
    /// Whether the end of the event is scheduled.
    private var isEventEnding = false

    init(_ container: PersistentContainer, name: String? = nil) {
        self.container = container
        base = container.base
        self.name = name
        core = GraphCore(container.base.classes, stores: container.base.storeSet)
        seenGenerations = Array(repeating: nil, count: container.base.storeSet.stores.count)
        inbox = container.base.hub.makeInbox()
        core.context = self
    }

    init(childOf parent: ManagedObjectContext, name: String?) {
        container = parent.container
        base = parent.base
        self.name = name
        author = parent.author
        core = GraphCore(parent.base.classes, stores: parent.base.storeSet)
        seenGenerations = Array(repeating: nil, count: parent.base.storeSet.stores.count)
        inbox = parent.base.hub.makeInbox()
        core.context = self
        core.parent = parent
        core.isolation = parent.core.isolation
        core.deletesInaccessibleFaults = parent.core.deletesInaccessibleFaults
        parent.core.children.append(WeakCore(core: core))
        isObservable = parent.isObservable
    }

    deinit {
        core.undoStack?.detach()
        core.orphanAll()
        core.context = nil
    }

    /// Sets the home of the context: the isolation that ends its events.
    ///
    /// `endEventLater` schedules a call of ``endEventOfHome()`` in the home's isolation.
    func setHome(_ check: IsolationCheck, endEventLater: @escaping () -> Void) {
        hasHome = true
        requireIsolation(check)
        core.onEventStart = { [weak self] in
            guard let self, !isEventEnding else { return }
            isEventEnding = true
            endEventLater()
        }
    }

    func requireIsolation(_ check: IsolationCheck) {
        if IsolationCheck.isActive, core.isolation == nil { core.isolation = check }
    }

    func endEventOfHome() {
        isEventEnding = false
        processPendingChanges()
    }

    /// Whether an isolation ends the context's events; see ``setHome(_:endEventLater:)``.
    private(set) var hasHome = false

    var model: ManagedObjectModel { core.model }

    /// The error that the next save, fetch or count will throw, or nil.
    public var pendingError: StoreError? { core.latched }

    // MARK: Objects

    /// Inserts a new object of an entity, with the defaults of the model.
    ///
    /// The object immediately has its final ID. If the store cannot reserve an ID, the save assigns
    /// the ID.
    ///
    /// - Throws: `unknownEntity`; `invalidRequest` for an abstract entity.
    public func insert(_ entity: EntityName) throws(StoreError) -> ManagedObject {
        try insertObject(of: try model.requireEntity(entity))
    }

    private func insertObject(of entity: ManagedObjectModel.Entity) throws(StoreError) -> ManagedObject {
        guard !entity.isAbstract else {
            throw StoreError(.invalidRequest, "Entity '\(entity.name)' is abstract and has no objects of its own.")
        }
        core.checkIsolation()
        let object = core.makeObject(entity.number, root: entity.root, key: core.newKey(entity))
        let bytes = core.table.info(entity.number).newRow
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let row = core.privateRows.copy(base, byteCount: bytes.count)
            PrivateRow.setCommitted(nil, of: row)
            object.row = UnsafeRawPointer(row)
        }
        object.byteCount = UInt32(truncatingIfNeeded: bytes.count)
        object.state.insert(.privateRow)
        object.flags = .inserted
        if core.isTracking {
            core.undoRecord?.note(.absent, of: object)
            core.noteChange(object)
        }
        if retainsRegisteredObjects { retained.insert(object) }
        object.awakeFromInsert()
        if isPlanted(.awakesTwice) { object.awakeFromInsert() }
        return object
    }

    /// Inserts a new object of a class.
    ///
    /// - Throws: `unknownEntity`; `invalidRequest` for a class of an abstract entity;
    ///   `invalidModel` for a class that is not in the container.
    public func insert<Object: ManagedObjectClass>(_ type: Object.Type = Object.self) throws(StoreError) -> Object {
        let entity = try model.requireEntity(Object.entityName)
        // The class is checked first, so that an error inserts no object.
        let known = core.table.type(entity.number)
        guard known == Object.self || known is Object.Type else { throw Self.unknownClass(Object.self) }
        return try typed(try insertObject(of: entity))
    }

    static func unknownClass(_ type: ManagedObject.Type) -> StoreError {
        StoreError(
            .invalidModel, "The container does not know the class '\(type)'. Pass it to the container's initializer.")
    }

    /// Returns the object for an ID: the registered object, or a new fault.
    ///
    /// Reads only if the ID's entity has subentities. If the ID's entity is unknown or the read
    /// fails, the result is an object without a context, and the next save, fetch or count throws
    /// an error.
    public func object(with id: ObjectID) -> ManagedObject {
        let found = core.latching { () throws(StoreError) in try requireObject(id) }
        return found ?? core.makeOrphan(model.entity(id.entity)?.number ?? 0, key: id.key)
    }

    func requireObject(_ id: ObjectID) throws(StoreError) -> ManagedObject {
        let entity = try model.requireEntity(id.entity)
        if let known = core.registered(entity.root, key: id.key) { return known }
        guard entity.selfAndSubentities.count > 1 else {
            return core.makeObject(entity.number, root: entity.root, key: id.key)
        }
        let objects = try core.objects([id.key], destination: entity.number)
        return objects[0]
    }

    /// Returns the object for an ID, like ``object(with:)-(ObjectID)``, or nil if the object has
    /// another class.
    public func object<Object: ManagedObjectClass>(_ id: ManagedObjectID<Object>) -> Object? {
        object(with: id.objectID) as? Object
    }

    /// Returns the object for an ID if it is already in the context, without reading.
    public func registeredObject(for id: ObjectID) -> ManagedObject? {
        model.entity(id.entity).flatMap { core.registered($0.root, key: id.key) }
    }

    /// Reads and returns the object for an ID.
    ///
    /// - Throws: The context's ``pendingError``; `objectNotFound` if the object does not exist;
    ///   `unknownEntity`; errors from reading.
    public func existingObject(with id: ObjectID) throws(StoreError) -> ManagedObject {
        try core.throwLatched()
        let object = try requireObject(id)
        if object.isFault {
            let wasDeleting = core.deletesInaccessibleFaults
            core.deletesInaccessibleFaults = true
            _ = object.firedRow
            core.deletesInaccessibleFaults = wasDeleting
            try core.throwLatched()
        }
        guard !object.flags.contains(.inaccessible) else { throw GraphCore.missing(object) }
        return object
    }

    /// Reads and returns the object for an ID.
    ///
    /// - Throws: The same errors as ``existingObject(with:)``; `invalidRequest` if the object has
    ///   another class.
    public func existingObject<Object: ManagedObjectClass>(
        _ id: ManagedObjectID<Object>
    ) throws(StoreError) -> Object {
        guard let object = try existingObject(with: id.objectID) as? Object else {
            throw StoreError(
                .invalidRequest, "\(id.objectID) is not an object of class '\(Object.self)' in this container.")
        }
        return object
    }

    private func objects(where isIncluded: (ManagedObject) -> Bool) -> Set<ManagedObject> {
        Set(core.changed.filter(isIncluded))
    }

    /// The objects that the next save inserts.
    public var insertedObjects: Set<ManagedObject> { objects(where: \.isInserted) }
    /// The objects that changed since the last save, without new and deleted objects.
    public var updatedObjects: Set<ManagedObject> { objects(where: \.isUpdated) }
    /// The objects that the next save deletes.
    public var deletedObjects: Set<ManagedObject> { objects { $0.flags.contains(.deleted) } }
    /// All objects of the context.
    public var registeredObjects: Set<ManagedObject> { Set(core.registry.all()) }
    /// Whether a save would write or check any object.
    public var hasChanges: Bool { !core.changed.isEmpty }

    // MARK: Deleting

    /// Marks an object for deletion.
    ///
    /// By default, delete rules apply later; see ``propagatesDeletesAtEndOfEvent``. If a rule
    /// denies the deletion, the save fails. If the object was never saved, it leaves the context
    /// when the delete rules apply.
    public func delete(_ object: ManagedObject) {
        guard object.core === core else { return }
        core.checkIsolation()
        object.prepareForDeletion()
        core.markDeleted(object)
        if !propagatesDeletesAtEndOfEvent { core.propagateDeletes() }
        core.reportChanges()
    }

    // MARK: Events

    /// Ends the event.
    ///
    /// Applies delete rules and calls observers. Then merges other contexts' saves if the context
    /// merges automatically.
    public func processPendingChanges() {
        core.checkIsolation()
        core.propagateDeletes()
        notifyObservers()
        core.endEvent()
        core.reportChanges()
        mergeInbox()
        core.updateResults()
    }

    func beginEvent() {
        mergeInbox()
        core.updateResults()
    }

    func mergeInbox() {
        guard mergesChangesAutomatically, !isSaving, core.parent == nil, core.pinned == nil || inbox.hasNotices,
            !isPlanted(.mergesNothing)
        else { return }
        _ = core.latching { () throws(StoreError) in
            for notice in inbox.take() {
                // An incomplete notice does not list its objects, so all objects are read again below.
                guard notice.isComplete else { continue }
                try takeOverChanges(inserted: notice.inserted, updated: notice.updated, deleted: notice.deleted)
                commits.put(notice)
                let position = base.storeSet.stores.firstIndex { $0.location == notice.store }
                if let position {
                    noteGeneration(at: position, from: notice.previousGeneration, to: notice.generation)
                }
            }
            try mergeForeignCommits()
        }
        core.reportChanges()
    }

    /// Runs `body` without tracking its changes.
    ///
    /// The changes do not update inverses, send no notices, and do not make a save write the
    /// changed objects. Use this method for derived state in `awakeFromFetch` and `willSave`.
    public func withoutTracking<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let wasTracking = core.isTracking
        core.isTracking = false
        defer { core.isTracking = wasTracking }
        return try body()
    }

    // MARK: Discarding

    /// Discards all inserts, changes, deletes and undo steps, without reading.
    public func rollback() {
        core.clearLatched()
        let objects = core.changed
        // Read the flags first, because the rollback clears them.
        let children = core.children.isEmpty ? [] : objects.map { ($0.objectID, $0.flags.contains(.inserted)) }
        core.rollback()
        core.awake(objects, from: .rollback)
        core.passOnRollback(children)
        core.reportChanges()
        core.updateResults()
    }

    /// Removes all objects from the context.
    ///
    /// Values that were read remain readable; see ``ManagedObject/context``.
    public func reset() {
        core.clearLatched()
        retained.removeAll()
        core.pinned = nil
        if isPlanted(.resetsNothing) { return }
        core.orphanAll()
        core.reportChanges()
        core.updateResults()
    }

    /// Discards an object's changes and turns the object into a fault, or keeps the changes and
    /// reads the object's current row.
    ///
    /// Does nothing for a new object. Changes of other objects remain, even if they change the
    /// object's to-many relationships.
    ///
    /// - Parameters:
    ///   - object: An object of the context.
    ///   - mergingChanges: Whether the object keeps its changes.
    /// - Throws: Errors from reading.
    public func refresh(_ object: ManagedObject, mergingChanges: Bool) throws(StoreError) {
        guard object.core === core, !object.flags.contains(.inserted) else { return }
        refreshed.append(object)
        core.results?.note(object)
        core.beginRefresh()
        defer {
            core.reportChanges()
            core.updateResults()
        }
        guard mergingChanges else {
            let cleared = core.withoutUndo { core.takeBackReferences(of: object) }
            core.discardChanges(of: object)
            core.turnIntoFault(object)
            core.withoutUndo {
                core.restoreMembers(of: object)
                for (relationship, key) in cleared { core.clear(object, relationship: relationship, ifItIs: key) }
            }
            return
        }
        // `reread` skips faults, but a fault may have members from an earlier read.
        core.forgetBases(of: object)
        try core.withoutUndo { () throws(StoreError) in _ = try core.reread([object]) }
        core.awake([object], from: .refresh)
    }

    /// Refreshes all objects, which keep their changes.
    ///
    /// - Throws: Errors from reading.
    public func refreshAllObjects() throws(StoreError) {
        core.beginRefresh()
        defer {
            core.reportChanges()
            core.updateResults()
        }
        // Faults may have members from an earlier read.
        core.forgetBases()
        for object in core.registry.all() where !object.flags.contains(.changed) {
            core.turnIntoFault(object)
            refreshed.append(object)
        }
        let objects = core.changed.filter { !$0.flags.contains(.inserted) }
        try core.withoutUndo { () throws(StoreError) in _ = try core.reread(objects) }
        core.awake(objects, from: .refresh)
    }

    /// Makes the next save check the object for conflicts with other contexts' changes, even if
    /// this context does not change the object.
    public func detectConflicts(for object: ManagedObject) {
        guard object.core === core, !object.flags.contains(.inserted) else { return }
        _ = object.firedRow
        object.flags.insert(.detectsConflicts)
        if !object.flags.contains(.changed) {
            object.flags.insert(.changed)
            core.changed.append(object)
        }
    }

    // MARK: Query generations

    /// Pins all reads to the current state of the stores, until the next save, merge, reset or
    /// ``unpin()``.
    ///
    /// A pinned state prevents the store from reusing old pages, so unpin it soon.
    ///
    /// - Throws: `invalidRequest` for a child; errors from opening a snapshot.
    public func pin() throws(StoreError) {
        guard core.parent == nil else {
            throw StoreError(
                .invalidRequest, "A child context cannot be pinned, because it reads from its parent. Pin the parent.")
        }
        let reader = EventReader(base.storeSet)
        try reader.openAll()
        core.closeReader()
        core.pinned = reader
    }

    /// Ends a pin, so that reads use the current state of the stores.
    ///
    /// Objects keep their values until they are refreshed.
    public func unpin() {
        core.pinned = nil
        core.closeReader()
    }
}
