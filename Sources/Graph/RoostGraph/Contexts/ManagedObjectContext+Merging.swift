public import RoostCore
internal import RoostStores

extension ManagedObjectContext {
    /// Applies the changes of another context's save.
    ///
    /// Objects get the new values, except for properties that this context changed. Objects that
    /// the save deleted count as deleted, unless this context changed them. Relationships show
    /// their new members.
    ///
    /// - Throws: Errors from reading, and from combining changes.
    public func mergeChanges(_ notice: SaveNotice) throws(StoreError) {
        try mergeChanges(inserted: notice.inserted, updated: notice.updated, deleted: notice.deleted)
    }

    private func noteForResults(_ ids: [ObjectID], deleted: [ObjectID]) {
        guard let results = core.results, !isPlanted(.overlooksMerged) else { return }
        func place(_ id: ObjectID) -> ObjectPlace? {
            model.entity(id.entity).map { ObjectPlace(root: $0.root, key: id.key) }
        }
        for place in ids.compactMap(place) { results.note(place) }
        for place in deleted.compactMap(place) { results.noteDeletedElsewhere(place) }
    }

    /// Applies changes that another context or a batch request made.
    ///
    /// - Throws: The same errors as ``mergeChanges(_:)``.
    public func mergeChanges(
        inserted: [ObjectID] = [], updated: [ObjectID] = [], deleted: [ObjectID] = []
    ) throws(StoreError) {
        try takeOverChanges(inserted: inserted, updated: updated, deleted: deleted)
        core.reportChanges()
        core.updateResults()
    }

    /// Merges changes; then the caller must call `reportChanges()` and `updateResults()`.
    func takeOverChanges(
        inserted: [ObjectID], updated: [ObjectID], deleted: [ObjectID]
    ) throws(StoreError) {
        core.checkIsolation()
        noteForResults(inserted + updated, deleted: deleted)
        let (stale, gone) = try core.withoutUndo { () throws(StoreError) in
            try takeOver(inserted: inserted, updated: updated, deleted: deleted)
        }
        core.awake(stale, from: .refresh)
        if retainsRegisteredObjects || !observers.isEmpty {
            let new = inserted.compactMap { id in
                core.latching { () throws(StoreError) in try requireObject(id) }
            }
            mergedInserts += new
            if retainsRegisteredObjects { retained.formUnion(new) }
        }
        refreshed += stale
        invalidated += gone
        notifyObservers()
    }

    private func takeOver(
        inserted: [ObjectID], updated: [ObjectID], deleted: [ObjectID]
    ) throws(StoreError) -> (stale: [ManagedObject], gone: [ManagedObject]) {
        core.pinned = nil
        core.beginRefresh()
        var stale: [ManagedObject] = []
        for id in inserted + updated {
            guard let object = registeredObject(for: id), !object.flags.contains(.inserted) else { continue }
            stale.append(object)
        }
        // An object that was inserted again since the deletion is not deleted.
        let named = deleted.compactMap { registeredObject(for: $0) }.filter { !$0.flags.contains(.inserted) }
        let present = try core.storedObjects(among: named)
        stale += named.filter { present.contains($0) }
        let gone = named.filter { !present.contains($0) }
        for object in gone { core.forgetRemovals(of: object) }
        for object in gone where !object.flags.contains(.changed) && !isPlanted(.keepsDeletedThere) {
            object.flags.insert(.inaccessible)
            core.observation?.noteAll(object)
            retained.remove(object)
        }
        for object in gone where object.flags.contains(.changed) { core.noteDeletedElsewhere(object) }
        core.forgetBases()
        try core.reread(stale)
        core.forgetReferences(to: gone.filter { !$0.flags.contains(.changed) })
        return (stale, gone)
    }

    /// Returns the current generation of each store, or nil for a store without generations.
    func currentGenerations() throws(StoreError) -> [Generation?] {
        var generations: [Generation?] = []
        for store in base.storeSet.stores {
            let snapshot = try store.persistentStore.snapshot()
            defer { snapshot.close() }
            generations.append(try snapshot.recordedTally()?.generation)
        }
        return generations
    }

    /// Records that the context has merged the commits between two generations of a store.
    ///
    /// If another writer has also committed, the recorded generation differs from the store's
    /// generation, so the next merge finds that commit.
    func noteGeneration(at position: Int, from previous: Generation, to next: Generation) {
        guard let seen = seenGenerations[position] else { return }
        if seen == previous {
            seenGenerations[position] = next
        } else if base.storeSet.stores[position].addsGenerations {
            // Several overlapping commits can start at the same generation, so each commit's difference is added.
            seenGenerations[position] = seen.adding(from: previous, to: next)
        }
    }

    /// Merges commits with a missing or incomplete notice, for example other processes' commits.
    ///
    /// Reads all objects again, because the changed objects are unknown.
    func mergeForeignCommits() throws(StoreError) {
        let generations = try currentGenerations()
        guard generations != seenGenerations, !isPlanted(.ignoresForeignCommits) else { return }
        let former = seenGenerations
        seenGenerations = generations
        core.pinned = nil
        core.beginRefresh()
        core.results?.noteAll()
        core.forgetBases()
        let objects = core.registry.all().filter { $0.row != nil && !$0.flags.contains(.inserted) }
        let changed: [ManagedObject]
        do throws(StoreError) {
            changed = try core.withoutUndo { () throws(StoreError) in try core.reread(objects) }
        } catch {
            // The next merge reads the objects again.
            seenGenerations = former
            throw error
        }
        core.awake(changed.filter { !$0.flags.contains(.inaccessible) }, from: .refresh)
        refreshed += changed.filter { !$0.flags.contains(.inaccessible) }
        invalidated += changed.filter { $0.flags.contains(.inaccessible) }
        notifyObservers()
        for (position, store) in base.storeSet.stores.enumerated() where former[position] != generations[position] {
            guard let generation = generations[position] else { continue }
            commits.put(
                SaveNotice(
                    store: store.location, generations: (former[position] ?? generation, generation), lists: nil))
        }
    }
}

extension GraphCore {
    /// Discards the members that were read from the store, but keeps pending differences.
    func forgetBases() {
        for object in registry.all() { forgetBases(of: object) }
    }

    func forgetBases(of object: ManagedObject) {
        guard let extra = object.extra else { return }
        observation?.noteForgotten(object)
        for index in extra.members.indices { extra.members[index].state.forgetBase() }
    }

    /// Records that another context deleted an object that this context changed.
    ///
    /// The object becomes inaccessible when its changes are discarded.
    func noteDeletedElsewhere(_ object: ManagedObject) {
        guard !object.flags.contains(.inserted) else { return }
        deletedElsewhere.insert(ObjectPlace(root: object.root, key: object.key))
    }

    /// Removes the given objects, which another context deleted, from to-many relationships.
    func forgetReferences(to gone: [ManagedObject]) {
        guard !gone.isEmpty else { return }
        for relationship in model.relationships where relationship.isToMany {
            let keys = gone.filter { model.entities[relationship.destination].includes(Int($0.entityNumber)) }.map(
                \.key)
            guard !keys.isEmpty else { continue }
            for object in changed {
                guard let extra = object.extra else { continue }
                for index in extra.members.indices where extra.members[index].relationship == relationship.number {
                    for key in keys where extra.members[index].state.knows(key) == true {
                        observation?.note(object, property: .members(relationship.number))
                        extra.members[index].state.remove(key, isOrdered: relationship.isOrdered)
                    }
                }
            }
        }
    }

    func storedObjects(among objects: [ManagedObject]) throws(StoreError) -> Set<ManagedObject> {
        var found: Set<ManagedObject> = []
        for (root, group) in Dictionary(grouping: objects.filter { $0.key > 0 || parent != nil }, by: \.root) {
            var batch = RecordBatch(model: model)
            try openReader().graph(ofEntity: root).read(group.map(\.key), inHierarchyOf: root, into: &batch)
            for index in 0..<batch.count {
                if let object = registered(root, key: batch.key(at: index)) { found.insert(object) }
            }
        }
        return found
    }

    /// Discards the changes of an object that another context deleted, if they have no effect.
    ///
    /// Removed members, list positions from a failed save and values that equal the committed
    /// values have no effect.
    func forgetRemovals(of object: ManagedObject) {
        guard object.flags.contains(.changed),
            object.flags.isDisjoint(with: [.deleted, .inserted, .inFlight, .detectsConflicts]),
            !hasOwnChanges(object),
            object.extra?.members.allSatisfy(\.state.added.isEmpty) ?? true
        else { return }
        discardChanges(of: object)
    }

    /// Returns whether a value other than a position in a list differs from the committed value.
    private func hasOwnChanges(_ object: ManagedObject) -> Bool {
        guard object.state.contains(.privateRow), isDirtyMeanwhile(object) else { return false }
        guard let committed = object.committedRow else { return true }
        let base = RecordReader(
            row: committed, byteCount: object.tail.byteCount(committed), key: object.key, model: model)
        return object.info.entity.layout.fields.contains { field in
            field.kind != .order && object.value(of: field) != base.value(field)
        }
    }

    /// Reads the current rows of objects, which keep their changes.
    ///
    /// Skips faults and objects that are being saved.
    ///
    /// - Returns: The objects whose stored rows have changed. Also objects without unsaved changes,
    ///   if their stored rows are missing.
    @discardableResult
    func reread(_ objects: [ManagedObject]) throws(StoreError) -> [ManagedObject] {
        try perform([.read(objects, isReported: true)])
    }

    /// Reports a replaced committed row to undo, and releases the former row.
    func noteForeignRow(of object: ManagedObject, former: UnsafeRawPointer?) {
        guard let former else { return }
        if let row = object.committedRow, row != former { undoStack?.rebase(object, from: former, to: row) }
        RowPage.release(former)
    }

    /// Replaces the committed row of an object with a record, and keeps the object's changes.
    ///
    /// - Returns: Whether the record replaced the committed row, and the remaining merge steps for
    ///   the object's references.
    func take(
        _ record: Record, object: ManagedObject
    ) throws(StoreError) -> (isChanged: Bool, steps: [MergeStep]) {
        guard !object.flags.contains(.inFlight) else { return (false, []) }
        let isMissing = object.flags.contains(.inaccessible)
        object.flags.remove(.inaccessible)
        if !deletedElsewhere.isEmpty { deletedElsewhere.remove(ObjectPlace(root: object.root, key: object.key)) }
        if isMissing { observation?.note(object, property: .deletion) }
        forgetBases(of: object)
        if isPlanted(.reusesStaleRows) { return (false, []) }
        // If an object was deleted and inserted again, its version is 1 again. So the content is compared, too.
        if !isMissing, let committed = object.committedRow, RowAccess.version(committed) == record.version,
            record.bytes.withUnsafeBytes({ bytes in
                bytes.baseAddress.map {
                    RowAccess.haveEqualContent(
                        committed, leftCount: object.tail.byteCount(committed), right: $0, rightCount: bytes.count)
                } ?? false
            })
        {
            return (false, [])
        }
        let before = undoStack == nil ? nil : object.committedRow
        if let before { RowPage.retain(before) }
        defer { noteForeignRow(of: object, former: before) }
        guard object.state.contains(.privateRow), !object.flags.contains(.deleted), let row = object.row,
            let committed = PrivateRow.committed(row)
        else {
            record.bytes.withUnsafeBytes { setCommittedRow(of: object, to: $0) }
            wake(object)
            return (true, [])
        }
        // Keep values that this context changed.
        let former = RecordReader(
            row: committed, byteCount: object.tail.byteCount(committed), key: object.key, model: model)
        var values: [String: Value] = [:]
        var places: [(field: RecordLayout.Field, value: Value)] = []
        for field in object.info.entity.layout.fields where !field.name.contains(".") || field.kind == .order {
            let (here, there) = (object.value(of: field), record.withReader { $0.value(field) })
            let old = former.value(field)
            if field.kind == .order {
                if here == old { places.append((field, there)) }
            } else {
                values[field.name] = here != old && !isPlanted(.refreshesOverChanges) ? here : there
            }
        }
        let wasTouched = object.state.contains(.touched)
        let partners = pairPartners(of: object)
        try setContent(of: object, to: values, merging: record)
        for (field, value) in places { try object.set(value, for: field) }
        // Replace the committed row last: if merging fails, the next save still detects the conflict.
        rebase(object, on: record)
        let steps = [MergeStep.settle(object, record, former: partners, from: 0)]
        return (true, wasTouched ? steps : steps + [.forgetTouch(object)])
    }
}
