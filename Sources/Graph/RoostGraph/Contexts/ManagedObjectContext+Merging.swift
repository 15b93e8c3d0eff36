public import RoostCore
internal import RoostStores

extension ManagedObjectContext {
    /// Takes over what a save of another context changed.
    ///
    /// Objects that are unchanged here get the new values. Objects that are changed here keep their
    /// changes on top of them. Objects that were deleted there count as deleted. Relationships show
    /// their new members.
    ///
    /// - Throws: Errors from reading.
    public func mergeChanges(_ notice: SaveNotice) throws(StoreError) {
        try mergeChanges(inserted: notice.inserted, updated: notice.updated, deleted: notice.deleted)
    }

    /// Notes objects that another context changed, for results that follow.
    private func noteForResults(_ ids: [ObjectID], deleted: [ObjectID]) {
        guard let results = core.results, !isPlanted(.overlooksMerged) else { return }
        func place(_ id: ObjectID) -> ObjectPlace? {
            model.entity(id.entity).map { ObjectPlace(root: $0.root, key: id.key) }
        }
        for place in ids.compactMap(place) { results.note(place) }
        for place in deleted.compactMap(place) { results.noteDeletedElsewhere(place) }
    }

    /// Takes over changes that another context or a batch request made.
    ///
    /// - Throws: The same errors as ``mergeChanges(_:)``.
    public func mergeChanges(
        inserted: [ObjectID] = [], updated: [ObjectID] = [], deleted: [ObjectID] = []
    ) throws(StoreError) {
        try takeOverChanges(inserted: inserted, updated: updated, deleted: deleted)
        core.reportChanges()
        core.updateResults()
    }

    /// Merges, without updating results: several merges make one difference.
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
            let new = inserted.map { object(with: $0) }
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
        core.closeReader()
        var stale: [ManagedObject] = []
        for id in inserted + updated {
            guard let object = registeredObject(for: id), !object.flags.contains(.inserted) else { continue }
            stale.append(object)
        }
        // What was inserted again since then, by a save of this context for example, is not gone.
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

    /// Returns the generation of each store now, or nil for a store that records none.
    func currentGenerations() throws(StoreError) -> [Generation?] {
        var generations: [Generation?] = []
        for store in base.storeSet.stores {
            let snapshot = try store.persistentStore.snapshot()
            defer { snapshot.close() }
            generations.append(try snapshot.recordedTally()?.generation)
        }
        return generations
    }

    /// Notes that the context knows the commits between two generations of a store.
    ///
    /// If others committed too, the generations of the store and the context differ, and the next
    /// merge finds their commits.
    func noteGeneration(at position: Int, from previous: Generation, to next: Generation) {
        guard let seen = seenGenerations[position] else { return }
        if seen == previous {
            seenGenerations[position] = next
        } else if base.storeSet.stores[position].addsGenerations {
            // Commits that overlap have the same one before them.
            seenGenerations[position] = seen.adding(from: previous, to: next)
        }
    }

    /// Takes over commits that no notice reported: those of other containers and processes.
    ///
    /// A commit does not say which objects it changed, so the versions of all objects of the
    /// context are compared.
    func mergeForeignCommits() throws(StoreError) {
        let generations = try currentGenerations()
        guard generations != seenGenerations, !isPlanted(.ignoresForeignCommits) else { return }
        let former = seenGenerations
        seenGenerations = generations
        core.closeReader()
        core.results?.noteAll()
        core.forgetBases()
        let objects = core.registry.all().filter { $0.row != nil && !$0.flags.contains(.inserted) }
        let changed = try core.withoutUndo { () throws(StoreError) in try core.reread(objects) }
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
    /// Forgets the stored members of all to-many relationships that were read; differences stay.
    func forgetBases() {
        for object in registry.all() { forgetBases(of: object) }
    }

    func forgetBases(of object: ManagedObject) {
        guard let extra = object.extra else { return }
        observation?.noteForgotten(object)
        for index in extra.members.indices { extra.members[index].state.forgetBase() }
    }

    /// Notes that another context deleted an object that is changed here.
    ///
    /// It is inaccessible as soon as its changes are discarded.
    func noteDeletedElsewhere(_ object: ManagedObject) {
        guard !object.flags.contains(.inserted) else { return }
        deletedElsewhere.insert(ObjectPlace(root: object.root, key: object.key))
    }

    /// Takes objects that another context deleted out of pending relationships.
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

    /// Returns the objects that the store has.
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

    /// Forgets changes that mean nothing after another context deleted the object.
    ///
    /// - Members that were removed from its lists.
    /// - Its places in the lists of others, which a failed save may have given.
    /// - Properties that were set to the values that they had.
    ///
    /// An object with other changes keeps all of them.
    func forgetRemovals(of object: ManagedObject) {
        guard object.flags.contains(.changed),
            object.flags.isDisjoint(with: [.deleted, .inserted, .inFlight, .detectsConflicts]),
            !hasOwnChanges(object),
            object.extra?.members.allSatisfy(\.state.added.isEmpty) ?? true
        else { return }
        discardChanges(of: object)
    }

    /// Whether any value differs from the committed one, places in lists aside.
    private func hasOwnChanges(_ object: ManagedObject) -> Bool {
        guard object.state.contains(.privateRow), isDirtyMeanwhile(object) else { return false }
        guard let committed = object.committedRow else { return true }
        let base = RecordReader(
            row: committed, byteCount: object.tail.byteCount(committed), key: object.key, model: model)
        return object.info.entity.layout.fields.contains { field in
            field.kind != .order && object.value(of: field) != base.value(field)
        }
    }

    /// Reads the current rows of objects.
    ///
    /// Their changes stay, on top of the new rows. An object that is being saved is left alone: the
    /// version that it has decides.
    ///
    /// - Parameter objects: Objects of the context.
    /// - Returns: The objects that have other rows now, or whose rows are missing.
    /// - Throws: Errors from reading.
    @discardableResult
    func reread(_ objects: [ManagedObject]) throws(StoreError) -> [ManagedObject] {
        try perform([.read(objects, isReported: true)])
    }

    /// Lets undo know that an object has another committed row than before; releases the former
    /// one.
    func noteForeignRow(of object: ManagedObject, former: UnsafeRawPointer?) {
        guard let former else { return }
        if let row = object.committedRow, row != former { undoStack?.rebase(object, from: former, to: row) }
        RowPage.release(former)
    }

    /// Makes a record the committed row of an object, below its changes.
    ///
    /// - Returns: Whether the object had another version, and what remains to be done about its
    ///   references.
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
        // An object that was deleted and inserted again begins with version 1, so that its content
        // counts too.
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
        // What changed there and not here is taken over; what changed here stays.
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
        // Last, so that the next save still meets the conflict if the values could not be merged.
        rebase(object, on: record)
        let steps = [MergeStep.settle(object, record, former: partners, from: 0)]
        return (true, wasTouched ? steps : steps + [.forgetTouch(object)])
    }
}
