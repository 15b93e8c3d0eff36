public import RoostCore
public import RoostQuery
internal import RoostStores

extension ManagedObjectContext {
    /// Returns the objects of a request, with unsaved changes applied.
    ///
    /// Objects that are already in the context keep their values. Without sort descriptors, or with
    /// equal sort values, objects are in the order of their IDs' keys.
    ///
    /// - Throws: The context's ``pendingError``; `unknownEntity`, `unknownProperty`,
    ///   `invalidRequest`; errors from reading.
    /// - Complexity: The complexity of the store's fetch. The context also matches each changed
    ///   object of the entity with the request. If the request follows relationships to an entity
    ///   with unsaved changes, it also matches each object that refers to a changed object. If many
    ///   objects do, or such a relationship has no inverse, it matches all objects of the entity.
    public func fetch(_ request: FetchRequest) throws(StoreError) -> [ManagedObject] {
        try fetch(request, includesPendingChanges: true, refreshes: false)
    }

    /// Returns the objects of a typed request, like ``fetch(_:)-(FetchRequest)``.
    public func fetch<Object: ManagedObjectClass>(_ request: Fetch<Object>) throws(StoreError) -> [Object] {
        let objects = try fetch(
            request.request, includesPendingChanges: request.includesPendingChanges,
            refreshes: request.refreshesObjects)
        if !request.prefetching.isEmpty { try load(objects, prefetching: request.prefetching) }
        var typedObjects: [Object] = []
        typedObjects.reserveCapacity(objects.count)
        for object in objects { typedObjects.append(try typed(object)) }
        return typedObjects
    }

    func typed<Object: ManagedObjectClass>(_ object: ManagedObject) throws(StoreError) -> Object {
        // Nearly all objects have exactly this class, and comparing classes is faster than a cast.
        if type(of: object) == Object.self { return unsafeDowncast(object, to: Object.self) }
        guard let typed = object as? Object else { throw Self.unknownClass(Object.self) }
        return typed
    }

    private func fetch(
        _ request: FetchRequest, includesPendingChanges: Bool, refreshes: Bool
    ) throws(StoreError) -> [ManagedObject] {
        var objects: [ManagedObject] = []
        let cursor = try cursor(request, includesPendingChanges: includesPendingChanges)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) { objects += core.receive(batch, refreshing: refreshes) }
        if retainsRegisteredObjects { retained.formUnion(objects) }
        return objects
    }

    private func cursor(
        _ request: FetchRequest, includesPendingChanges: Bool
    ) throws(StoreError) -> any RecordCursor {
        let fetch = try pendingFetch(request, includesPendingChanges: includesPendingChanges)
        let reader = try core.openReader()
        guard let pending = fetch.pending else {
            return FetchCursor(try fetch.snapshot.fetch(request), reader: reader, core: core)
        }
        return FetchCursor(try pending.cursor(), reader: reader, core: core)
    }

    func pendingFetch(
        _ request: FetchRequest, includesPendingChanges: Bool
    ) throws(StoreError) -> (snapshot: any StoreSnapshot, pending: PendingFetch?) {
        try prepareFetch()
        return try combined(request, includesPendingChanges: includesPendingChanges)
    }

    /// Throws a pending error and applies delete rules; without a home, also ends the event.
    func prepareFetch() throws(StoreError) {
        core.checkIsolation()
        try core.throwLatched()
        core.propagateDeletes()
        if !hasHome { processPendingChanges() }
        try core.throwLatched()
    }

    /// Prepares a fetch of the context's current state, without ending the event.
    func combined(
        _ request: FetchRequest, includesPendingChanges: Bool = true
    ) throws(StoreError) -> (snapshot: any StoreSnapshot, pending: PendingFetch?) {
        let entity = try model.requireEntity(request.entity)
        let reader = try core.openReader()
        let snapshot = try reader.snapshot(ofEntity: entity.number)
        guard includesPendingChanges, !core.changed.isEmpty else { return (snapshot, nil) }
        let reach = RequestReach(request, entity: entity, model: model)
        let position = base.storeSet.storeOfEntity[entity.number]
        let pending = try core.pendingChanges(store: position, in: reach)
        guard !pending.changes.isEmpty else { return (snapshot, nil) }
        // A changed link can change the result, even if the records at both ends are unchanged.
        let hasLinks = !pending.changes.addedLinks.isEmpty || !pending.changes.removedLinks.isEmpty
        let isStoreRight =
            reach.followedRoots.isEmpty || !hasLinks && !core.changed.contains { reach.followedRoots.contains($0.root) }
        let fetch = try PendingFetch(
            request, entity: entity, changes: pending.changes, isStoreRight: isStoreRight, following: reach.followed,
            snapshot: snapshot,
            graph: try reader.graph(ofEntity: entity.number))
        return (snapshot, fetch.concernsStoreOnly ? nil : fetch)
    }

    // MARK: For children

    func combinedCursor(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        core.propagateDeletes()
        let fetch = try combined(request)
        guard let pending = fetch.pending else { return try fetch.snapshot.fetch(request) }
        return try pending.cursor()
    }

    func combinedCount(_ request: FetchRequest) throws(StoreError) -> Int {
        core.propagateDeletes()
        let fetch = try combined(request)
        guard let pending = fetch.pending else { return try fetch.snapshot.count(request) }
        return try pending.count()
    }

    func combinedIDs(_ request: FetchRequest) throws(StoreError) -> [ObjectID] {
        let cursor = try combinedCursor(request)
        var (ids, batch) = ([ObjectID](), RecordBatch(model: model))
        while try cursor.next(into: &batch) { ids += (0..<batch.count).map { batch.id(at: $0) } }
        return ids
    }

    // MARK: Counting

    /// Returns the number of objects of a request, with unsaved changes applied.
    ///
    /// - Throws: The same errors as ``fetch(_:)-(FetchRequest)``.
    public func count(_ request: FetchRequest) throws(StoreError) -> Int {
        try count(request, includesPendingChanges: true)
    }

    private func count(_ request: FetchRequest, includesPendingChanges: Bool) throws(StoreError) -> Int {
        let fetch = try pendingFetch(request, includesPendingChanges: includesPendingChanges)
        if let pending = fetch.pending, !isPlanted(.countsSaved) { return try pending.count() }
        return try fetch.snapshot.count(request)
    }

    /// Returns the number of objects of a typed request, like ``count(_:)-(FetchRequest)``.
    public func count<Object: ManagedObjectClass>(_ request: Fetch<Object>) throws(StoreError) -> Int {
        try count(request.request, includesPendingChanges: request.includesPendingChanges)
    }

    /// Returns the IDs of the objects of a request, without creating the objects.
    ///
    /// - Throws: The same errors as ``fetch(_:)-(FetchRequest)``.
    public func fetchIDs(_ request: FetchRequest) throws(StoreError) -> [ObjectID] {
        try fetchIDs(request, includesPendingChanges: true)
    }

    private func fetchIDs(
        _ request: FetchRequest, includesPendingChanges: Bool
    ) throws(StoreError) -> [ObjectID] {
        let fetch = try pendingFetch(request, includesPendingChanges: includesPendingChanges)
        guard let pending = fetch.pending else { return try fetch.snapshot.objectIDs(request) }
        let cursor = try pending.cursor()
        var (ids, batch) = ([ObjectID](), RecordBatch(model: model))
        while try cursor.next(into: &batch) { ids += (0..<batch.count).map { batch.id(at: $0) } }
        return ids
    }

    /// Calls `body` for each object of a request, in one pass and in bounded memory.
    ///
    /// The context may release an object after `body` has returned. `body` can fetch and save. The
    /// objects and their order are fixed before the first call of `body`. If `body` deletes a later
    /// object and saves, that object is skipped.
    ///
    /// - Throws: The same errors as ``fetch(_:)-(FetchRequest)``; `invalidModel` for a class that
    ///   is not in the container; errors from `body`.
    public func forEach<Object: ManagedObjectClass>(
        _ request: Fetch<Object>, _ body: (Object) throws -> Void
    ) throws {
        let cursor = try cursor(request.request, includesPendingChanges: request.includesPendingChanges)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            for received in core.receive(batch, refreshing: request.refreshesObjects) {
                guard let object = try present(received) else { continue }
                try body(try typed(object) as Object)
            }
        }
    }

    /// Returns the object, or nil if it was deleted.
    ///
    /// If the object has left the context, returns a new instance.
    private func present(_ object: ManagedObject) throws(StoreError) -> ManagedObject? {
        guard object.flags.contains(.orphan) else { return object }
        let id = object.objectID
        do throws(StoreError) { return try existingObject(with: id) } catch {
            guard error.code == .objectNotFound, error.missingObjects == [id] else { throw error }
            return nil
        }
    }

    /// Returns a collection that reads a page of objects when one of them is accessed.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - count: The number of objects in a page.
    /// - Returns: The collection.
    /// - Throws: The same errors as ``fetch(_:)-(FetchRequest)``.
    public func pages<Object: ManagedObjectClass>(
        _ request: Fetch<Object>, of count: Int
    ) throws(StoreError) -> PagedObjects<Object> {
        let ids = try fetchIDs(request.request, includesPendingChanges: request.includesPendingChanges)
        return PagedObjects(self, ids: ids, pageCount: max(1, count))
    }

    /// Reads the rows of all faults among the objects together, then the related objects on each
    /// path.
    ///
    /// Each relationship of a path is read for all objects together.
    ///
    /// - Parameters:
    ///   - objects: Objects of the context.
    ///   - paths: Paths of relationships, such as `tracks.genre`. The context keeps the related
    ///     objects alive until the end of the event.
    /// - Throws: `unknownProperty` for an invalid path; errors from reading.
    public func load(
        _ objects: some Collection<ManagedObject>, prefetching paths: [String] = []
    ) throws(StoreError) {
        let own = objects.filter { $0.core === core }
        for (root, faults) in Dictionary(grouping: own.filter(\.isFault), by: \.root) {
            try core.read(faults.map(\.key), root: root)
        }
        for path in paths {
            var current = Array(own)
            for name in path.split(separator: ".").map(String.init) {
                current = try core.prefetch(name, of: current)
                core.prefetched += current
            }
        }
    }
}

extension GraphCore {
    /// Returns the objects for the records of a batch, in order.
    func receive(_ batch: RecordBatch, refreshing: Bool) -> [ManagedObject] {
        var objects: [ManagedObject] = []
        objects.reserveCapacity(batch.count)
        emptySparsePages()
        fetchedRowCount += batch.count
        var fresh: [ManagedObject] = []
        batch.forEachRecord { record in
            guard let base = record.bytes.baseAddress else { return }
            let (root, count) = (record.root, record.bytes.count)
            let known = isPlanted(.makesSecondObject) ? nil : registry.find(root, key: record.key)
            let object = known ?? makeObject(record.entityNumber, root: root, key: record.key)
            objects.append(object)
            if let row = object.row {
                // If an earlier read did not find the object, its row has only nulls, and version 0.
                let wasMissing = object.flags.contains(.inaccessible) && RowAccess.version(row) == 0
                guard
                    isPlanted(.fetchesOverChanges)
                        || (refreshing || wasMissing) && !object.state.contains(.privateRow)
                            && !object.flags.contains(.changed)
                else { return }
                if wasMissing {
                    forgetBases(of: object)
                    observation?.note(object, property: .deletion)
                }
                results?.suspect(object)
                object.extra?.decoded.removeAll()
                object.replaceRow(by: UnsafeRawPointer(fetchedRows.copy(base, byteCount: count)))
            } else {
                object.row = UnsafeRawPointer(fetchedRows.copy(base, byteCount: count))
            }
            object.byteCount = UInt32(truncatingIfNeeded: count)
            // A fault may have a superentity until its row is read.
            object.entityNumber = UInt16(truncatingIfNeeded: record.entityNumber)
            object.flags.remove(.inaccessible)
            fresh.append(object)
        }
        for object in fresh { wake(object) }
        reportChanges()
        return objects
    }

    /// Reads and returns the objects to which the relationship `name` of the given objects refers.
    func prefetch(_ name: String, of objects: [ManagedObject]) throws(StoreError) -> [ManagedObject] {
        var found: [ManagedObject] = []
        var seen: Set<ObjectIdentifier> = []
        var keys: [Int: (destination: Int, keys: [Int64])] = [:]
        for object in objects {
            let relationship = try model.requireRelationship(RelationshipName(object.info.entity.name, name: name))
            let root = model.entities[relationship.destination].root
            if relationship.isToMany {
                keys[root, default: (relationship.destination, [])].keys += try memberKeys(
                    of: object, relationship: relationship.number)
            } else if let field = object.info.references[relationship.number],
                let (_, key) = RowAccess.reference(object.firedRow, field: field)
            {
                keys[root, default: (relationship.destination, [])].keys.append(key)
            }
        }
        for (root, entry) in keys {
            var known: Set<Int64> = []
            let unique = entry.keys.filter { known.insert($0).inserted }
            try read(
                unique.filter {
                    registered(root, key: $0)?.row == nil && readAhead[ObjectPlace(root: root, key: $0)] == nil
                },
                root: root)
            for object in try self.objects(unique, destination: entry.destination)
            where seen.insert(ObjectIdentifier(object)).inserted {
                if object.row == nil { _ = object.firedRow }
                found.append(object)
            }
        }
        return found
    }
}

/// A request's result that reads its objects in pages.
///
/// Later changes do not affect the count or the order.
public struct PagedObjects<Object: ManagedObjectClass>: RandomAccessCollection {
    private let context: ManagedObjectContext
    private let ids: [ObjectID]
    private let pageCount: Int

    init(_ context: ManagedObjectContext, ids: [ObjectID], pageCount: Int) {
        (self.context, self.ids, self.pageCount) = (context, ids, pageCount)
    }

    /// The position of the first object.
    public var startIndex: Int { 0 }
    /// The position after the last object.
    public var endIndex: Int { ids.count }

    /// The object at a position, or nil if its class is not `Object`.
    ///
    /// If the object is a fault, its page is read. If a fault was deleted since the fetch, its
    /// properties are null, zero or empty.
    public subscript(position: Int) -> Object? {
        let object = context.object(with: ids[position])
        if object.isFault, context.core.isReadAhead(object) {
            _ = object.firedRow
        } else if object.isFault {
            let start = position / pageCount * pageCount
            let page = ids[start..<Swift.min(ids.count, start + pageCount)]
            let core = context.core
            _ = core.latching { () throws(StoreError) in
                try core.read(
                    page.filter {
                        core.registered(object.root, key: $0.key)?.row == nil
                            && core.readAhead[ObjectPlace(root: object.root, key: $0.key)] == nil
                    }.map(\.key), root: object.root)
            }
        }
        return object as? Object
    }
}

extension ManagedObjectContext {
    /// Returns the objects of a request, and reads them on a thread of Roost.
    ///
    /// In these cases, executes the request in the caller's isolation instead:
    ///
    /// - The context is pinned or a child.
    /// - The request includes unsaved changes, and the context has unsaved changes before or after
    ///   the read.
    /// - The context saves, merges or refreshes objects during the read.
    ///
    /// - Throws: The same errors as ``fetch(_:)-(FetchRequest)``.
    public nonisolated(nonsending) func fetchInBackground<Object: ManagedObjectClass>(
        _ request: Fetch<Object>
    ) async throws(StoreError) -> [Object] {
        let entity = try model.requireEntity(request.request.entity)
        guard core.changed.isEmpty || !request.includesPendingChanges, core.pinned == nil, core.parent == nil else {
            return try fetch(request)
        }
        try core.throwLatched()
        let store = base.storeSet.store(ofEntity: entity.number)
        let inner = request.request
        let updateCount = core.updateCount
        let batches = try await Store.onStoreThread { () throws(StoreError) in
            let snapshot = try store.persistentStore.snapshot()
            defer { snapshot.close() }
            let cursor = try snapshot.fetch(inner)
            var batches: [RecordBatch] = []
            var batch = RecordBatch(model: snapshot.model)
            while try cursor.next(into: &batch) {
                batches.append(batch)
                batch = RecordBatch(model: snapshot.model)
            }
            return batches
        }
        // The records lack changes that the program made during the read. So the request is executed again.
        guard core.changed.isEmpty || !request.includesPendingChanges, core.updateCount == updateCount,
            core.pinned == nil
        else { return try fetch(request) }
        var objects: [Object] = []
        for batch in batches {
            for object in core.receive(batch, refreshing: request.refreshesObjects) {
                objects.append(try typed(object))
            }
        }
        if retainsRegisteredObjects { retained.formUnion(objects) }
        if !request.prefetching.isEmpty { try load(objects, prefetching: request.prefetching) }
        return objects
    }

    /// Returns columns, groups and aggregates of saved data.
    ///
    /// - Throws: The same errors as ``fetch(_:)-(FetchRequest)``.
    public func rows(_ request: RowRequest) throws(StoreError) -> [RowBatch] {
        if let parent { return try parent.rows(request) }
        try core.throwLatched()
        let entity = try model.requireEntity(request.fetchRequest.entity)
        let cursor = try core.openReader().snapshot(ofEntity: entity.number).rows(request)
        var batches: [RowBatch] = []
        var batch = RowBatch()
        while try cursor.next(into: &batch) { batches.append(batch) }
        return batches
    }
}
