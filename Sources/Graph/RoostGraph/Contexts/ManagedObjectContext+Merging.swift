public import RoostCore
internal import RoostStores

extension ManagedObjectContext {
    /// Takes over what a save of another context changed.
    ///
    /// Objects that are unchanged here get the new values. Objects that are changed here keep their
    /// changes on top of them. Objects that were deleted there count as deleted. Relationships show
    /// their new members.
    ///
    /// - Throws: What reading throws.
    public func mergeChanges(_ notice: SaveNotice) throws(StoreError) {
        try mergeChanges(inserted: notice.inserted, updated: notice.updated, deleted: notice.deleted)
    }

    /// Takes over changes that another context or a batch request made.
    ///
    /// - Throws: As ``mergeChanges(_:)``.
    public func mergeChanges(
        inserted: [ObjectID] = [], updated: [ObjectID] = [], deleted: [ObjectID] = []
    ) throws(StoreError) {
        core.checkIsolation()
        core.pinned = nil
        core.closeReader()
        var stale: [ManagedObject] = []
        for id in inserted + updated {
            guard let object = registeredObject(for: id), !object.flags.contains(.inserted) else { continue }
            stale.append(object)
        }
        var gone: [ManagedObject] = []
        for id in deleted {
            guard let object = registeredObject(for: id), !object.flags.contains(.inserted) else { continue }
            gone.append(object)
        }
        for object in gone where !object.flags.contains(.changed) {
            object.flags.insert(.inaccessible)
            retained.remove(object)
        }
        core.forgetBases()
        try core.reread(stale)
        core.forgetReferences(to: gone.filter { !$0.flags.contains(.changed) })
        if retainsRegisteredObjects || !observers.isEmpty {
            let new = inserted.map { object(with: $0) }
            mergedInserts += new
            if retainsRegisteredObjects { retained.formUnion(new) }
        }
        refreshed += stale
        invalidated += gone
        notifyObservers()
    }
}

extension GraphCore {
    /// Forgets what stores have in all to-many relationships that were read; differences stay.
    func forgetBases() {
        for object in registry.all() { forgetBases(of: object) }
    }

    func forgetBases(of object: ManagedObject) {
        guard let extra = object.extra else { return }
        for index in extra.members.indices { extra.members[index].state.forgetBase() }
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
                        extra.members[index].state.remove(key, isOrdered: relationship.isOrdered)
                    }
                }
            }
        }
    }

    /// Reads the current rows of objects.
    ///
    /// Their changes stay, on top of the new rows.
    func reread(_ objects: [ManagedObject]) throws(StoreError) {
        for (root, group) in Dictionary(grouping: objects, by: \.root) {
            let keys = group.filter { $0.row != nil && $0.key > 0 }.map(\.key)
            guard !keys.isEmpty else { continue }
            var batch = RecordBatch(model: model)
            try openReader().graph(ofEntity: root).read(keys, inHierarchyOf: root, into: &batch)
            var found: Set<Int64> = []
            for index in 0..<batch.count {
                guard let object = registered(root, batch.key(at: index)) else { continue }
                found.insert(object.key)
                try take(batch.record(at: index), object)
            }
            for object in group where object.row != nil && !found.contains(object.key) {
                if !object.flags.contains(.changed) { object.flags.insert(.inaccessible) }
            }
        }
    }

    /// Makes a record the committed row of an object, below its changes.
    private func take(_ record: Record, _ object: ManagedObject) throws(StoreError) {
        object.flags.remove(.inaccessible)
        forgetBases(of: object)
        guard object.state.contains(.privateRow), let row = object.row, let committed = PrivateRow.committed(row) else {
            record.bytes.withUnsafeBytes { setCommittedRow(of: object, to: $0) }
            wake(object)
            return
        }
        guard RowAccess.version(committed) != record.version else { return }
        // What changed there and not here is taken over; what changed here stays.
        let former = RecordReader(
            row: committed, byteCount: object.info.tail.byteCount(committed), key: object.key, model: model
        ).values()
        var values: [String: Value] = [:]
        for field in object.info.entity.layout.fields where !field.name.contains(".") && field.kind != .order {
            let (here, there) = (object.value(of: field), try record.value(field.name))
            let old = former[field.name] ?? .null
            values[field.name] = here != old ? here : there
        }
        let wasTouched = object.state.contains(.touched)
        rebase(object, on: record)
        try setContent(of: object, to: values)
        if !wasTouched { object.state.remove(.touched) }
    }
}
