internal import RoostCore
internal import RoostStores

extension GraphCore {
    /// Stops the program if checks are active and the context is used outside of its isolation.
    @inline(__always)
    func checkIsolation() {
        if let isolation { isolation.check(context?.name) }
    }

    // MARK: Keys

    /// Returns a key for a new object, or a negative temporary key if the store cannot reserve one.
    func newKey(_ entity: ManagedObjectModel.Entity) -> Int64 {
        if let parent { return parent.core.newKey(entity) }
        if var block = reservedKeys[entity.root], block.next < block.end {
            defer { reservedKeys[entity.root] = block }
            block.next += 1
            return block.next - 1
        }
        let size = min(4096, (reservedKeys[entity.root]?.size ?? 4) * 4)
        do throws(StoreError) {
            let range = try reserve(size, entity: entity)
            reservedKeys[entity.root] = (range.lowerBound + 1, range.upperBound, size)
            return range.lowerBound
        } catch {
            // The save tries again, and throws if the reservation fails again.
            defer { nextTemporaryKey -= 1 }
            return nextTemporaryKey
        }
    }

    private func reserve(_ count: Int, entity: ManagedObjectModel.Entity) throws(StoreError) -> Range<Int64> {
        guard let stores else {
            throw StoreError(.closed, "The object has left its context, so no key can be reserved.")
        }
        return try stores.store(ofEntity: entity.number).persistentStore.reserveKeys(
            count, for: model.entities[entity.root].name)
    }

    func replaceTemporaryKeys() throws(StoreError) {
        let temporary = changed.filterUncounted { $0.key < 0 && !$0.flags.contains(.deleted) }
        guard !temporary.isEmpty else { return }
        // All keys are reserved first, so that an error changes no object.
        var reserved: [(root: Int, objects: [ManagedObject], keys: Range<Int64>)] = []
        for (root, objects) in Dictionary(grouping: temporary, by: \.root) {
            let keys = try reserve(objects.count, entity: model.entities[root])
            reserved.append((root, objects, keys))
        }
        var new: [ObjectPlace: Int64] = [:]
        for (root, objects, keys) in reserved {
            for (object, key) in zip(objects, keys) {
                new[ObjectPlace(root: root, key: object.key)] = key
                registry.remove(object, root: root)
                object.key = key
                registry.insert(object, root: root)
            }
        }
        replaceKeys(new)
    }

    /// Replaces temporary keys in the references, relationships and undo steps of this context and
    /// its children.
    private func replaceKeys(_ new: [ObjectPlace: Int64]) {
        if let results, !isPlanted(.overlooksLastingIDs) {
            for (place, key) in new {
                results.note(place)
                results.note(ObjectPlace(root: place.root, key: key))
            }
            for object in registry.all() where object.state.contains(.privateRow) { results.suspect(object) }
        }
        for object in registry.all() {
            let isPrivate = object.state.contains(.privateRow)
            // Rows that a child has read may refer to new objects of its parent.
            if isPrivate || parent != nil, let row = object.row {
                object.info.replaceKeys(new, in: UnsafeMutableRawPointer(mutating: row), model: model)
                if isPrivate, parent != nil, let committed = PrivateRow.committed(row) {
                    object.info.replaceKeys(new, in: UnsafeMutableRawPointer(mutating: committed), model: model)
                }
            }
            guard let extra = object.extra else { continue }
            for index in extra.members.indices {
                let destination = model.relationships[extra.members[index].relationship].destination
                let root = model.entities[destination].root
                for (place, key) in new where place.root == root {
                    extra.members[index].state.replace(place.key, by: key)
                }
            }
            if parent != nil { forgetBases(of: object) }
        }
        undoStack?.replaceKeys(new)
        forEachChild { child in
            for (place, key) in new {
                guard let object = child.registered(place.root, key: place.key) else { continue }
                child.registry.remove(object, root: place.root)
                object.key = key
                child.registry.insert(object, root: place.root)
            }
            child.replaceKeys(new)
        }
    }

    // MARK: Ending events

    func endEvent() {
        undoStack?.closeEvent()
        // Deallocating an object can run code of the program, so the list is replaced first and
        // released last.
        let former = touched
        touched = []
        notifiedCount = 0
        if let results, !isPlanted(.overlooksOwnChanges) { former.forEachUncounted { results.note($0) } }
        defer { withExtendedLifetime(former) {} }
        former.forEachUncounted { object in
            object.state.remove(.touched)
            if let extra = object.extra, let row = extra.eventRow {
                RowPage.release(row)
                extra.eventRow = nil
            }
        }
        closeReader()
        emptySparsePages()
    }

    // MARK: Deletes

    /// Marks an object as deleted, without applying its delete rules.
    func markDeleted(_ object: ManagedObject) {
        guard !object.flags.contains(.deleted), !object.flags.contains(.orphan) else { return }
        observation?.noteAll(object)
        undoRecord?.note(.present, of: object)
        note(object)
        object.flags.insert(.deleted)
        undeleted.append(object)
    }

    /// Applies the delete rules of deleted objects, until no rule deletes another object.
    func propagateDeletes() {
        guard !undeleted.isEmpty else { return }
        hasPropagatedDeletes = true
        var (deleted, failed): ([ManagedObject], [ManagedObject]) = ([], [])
        while !undeleted.isEmpty {
            let objects = undeleted
            undeleted.removeAll()
            for object in objects where object.flags.contains(.deleted) && !object.flags.contains(.propagated) {
                object.flags.insert(.propagated)
                deleted.append(object)
                if latching({ () throws(StoreError) in try propagate(object) }) == nil { failed.append(object) }
            }
        }
        if latching({ () throws(StoreError) in try clearReferences(to: deleted) }) == nil { failed = deleted }
        // After a read error, the delete rules are applied again later.
        for object in failed where !object.flags.contains(.inserted) {
            object.flags.remove(.propagated)
            undeleted.append(object)
        }
        // Objects that were never saved, and are not being saved, leave the context.
        let unsaved = deleted.filter { $0.flags.contains(.inserted) && !$0.flags.contains(.inFlight) }
        guard !unsaved.isEmpty else { return }
        let gone = Set(unsaved)
        changed.removeAll { gone.contains($0) }
        touched.removeAll { gone.contains($0) }
        for object in unsaved { expel(object) }
    }

    private func propagate(_ object: ManagedObject) throws(StoreError) {
        _ = object.firedRow
        guard object.row != nil else {
            throw latched
                ?? StoreError(.ioFailure, "\(object.objectID) could not be read, so its delete rules were not applied.")
        }
        try noteContents(of: object)
        for relationship in object.info.relationships {
            let rule = relationship.declaration.deleteRule
            guard rule != .noAction else { continue }
            if rule == .nullify, relationship.inverse == nil { continue }
            let keys = try destinationKeys(of: object, relationship: relationship)
            guard !keys.isEmpty else { continue }
            let root = model.entities[relationship.destination].root
            try read(keys.filter { registered(root, key: $0)?.row == nil }, root: root)
            for member in try objects(keys, destination: relationship.destination) {
                if rule == .cascade, !member.flags.contains(.deleted), !isPlanted(.cascadesNot) {
                    member.prepareForDeletion()
                    markDeleted(member)
                }
                if rule != .deny || member.flags.contains(.deleted) {
                    disconnect(object, from: member, relationship: relationship)
                }
            }
        }
    }

    func destinationKeys(
        of object: ManagedObject, relationship: ManagedObjectModel.Relationship
    ) throws(StoreError) -> [Int64] {
        guard !relationship.isToMany else { return try memberKeys(of: object, relationship: relationship.number) }
        guard let field = object.info.references[relationship.number],
            let (_, key) = RowAccess.reference(object.firedRow, field: field)
        else { return [] }
        return [key]
    }

    /// Removes a deleted object from the inverse relationship of `member`.
    func disconnect(
        _ object: ManagedObject, from member: ManagedObject, relationship: ManagedObjectModel.Relationship
    ) {
        guard let number = relationship.inverse, !member.flags.contains(.deleted), !isPlanted(.nullifiesNot) else {
            return
        }
        let inverse = model.relationships[number]
        if inverse.isToMany {
            // If undo repeats a deletion, the inverse may already lack the object.
            let state = member.extra?.members.first { $0.relationship == number }?.state
            if state?.difference(of: object.key) == .removed { return }
            removeMember(object.key, of: member, relationship: inverse)
        } else {
            clear(member, relationship: number, ifItIs: object.key)
        }
    }

    /// Removes deleted objects from relationships without an inverse.
    func clearReferences(to objects: [ManagedObject]) throws(StoreError) {
        for relationship in model.relationships where relationship.inverse == nil && !isPlanted(.keepsOneWayReferences)
        {
            let targets = objects.filter { model.entities[relationship.destination].includes(Int($0.entityNumber)) }
            guard !targets.isEmpty else { continue }
            let keys = Set(targets.map(\.key))
            if relationship.isToMany {
                // The store itself removes links of deleted objects, so only members in memory are removed here.
                for object in registry.all() {
                    guard let extra = object.extra else { continue }
                    for index in extra.members.indices where extra.members[index].relationship == relationship.number {
                        for key in keys where extra.members[index].state.knows(key) == true {
                            noteMember(key, of: object, relationship: relationship, state: extra.members[index].state)
                            observation?.note(object, property: .members(relationship.number))
                            extra.members[index].state.remove(key, isOrdered: relationship.isOrdered)
                            extra.members[index].state.recordWithOrder = undoRecord?.number ?? 0
                        }
                    }
                }
                continue
            }
            for object in changed {
                guard let field = object.info.references[relationship.number], !object.flags.contains(.deleted),
                    let row = object.row, let (_, key) = RowAccess.reference(row, field: field), keys.contains(key)
                else { continue }
                clear(object, relationship: relationship.number, ifItIs: key)
            }
            let stored = keys.filter { $0 > 0 }.sorted()
            var start = 0
            while start < stored.count {
                let part = stored[start..<min(stored.count, start + 500)]
                start += part.count
                try clearStoredReferences(relationship, keys: Array(part))
            }
        }
    }

    private func clearStoredReferences(
        _ relationship: ManagedObjectModel.Relationship, keys: [Int64]
    ) throws(StoreError) {
        let destination = model.entities[relationship.destination].name
        let list = keys.map { Value.objectID(ObjectID(destination, key: $0)) }
        let request = FetchRequest(
            model.entities[relationship.source].name,
            where: .isIn(relationship.name.name, values: list))
        let reader = try openReader()
        // `awakeFromFetch` can end the event, so a `FetchCursor` keeps the snapshot open.
        let cursor = FetchCursor(
            try reader.snapshot(ofEntity: relationship.source).fetch(request), reader: reader, core: self)
        var batch = RecordBatch(model: model)
        let gone = Set(keys)
        while try cursor.next(into: &batch) {
            for object in receive(batch, refreshing: false) {
                guard let field = object.info.references[relationship.number], !object.flags.contains(.deleted),
                    let (_, key) = RowAccess.reference(object.firedRow, field: field), gone.contains(key)
                else { continue }
                clear(object, relationship: relationship.number, ifItIs: key)
            }
        }
    }

    // MARK: Discarding

    /// Discards the changes of a previously saved object, without reading.
    func discardChanges(of object: ManagedObject) {
        results?.noteDiscarded(object)
        if object.state.contains(.privateRow), let row = object.row {
            let committed = PrivateRow.committed(row)
            object.state.remove(.privateRow)
            object.row = committed
            if let committed {
                object.byteCount = UInt32(truncatingIfNeeded: object.tail.byteCount(committed))
            }
            RowPage.release(row)
        }
        if let observation {
            observation.noteDiscarded(object)
            if object.flags.contains(.deleted) { observation.note(object, property: .deletion) }
        }
        let rowInFlight = object.flags.contains(.inFlight) ? object.extra?.rowInFlight : nil
        object.extra?.rowInFlight = nil
        object.extra = nil
        if let rowInFlight { object.requireExtra().rowInFlight = rowInFlight }
        object.state.remove(.touched)
        object.flags.subtract(
            isPlanted(.keepsDeletes) ? [.changed] : [.changed, .deleted, .propagated, .detectsConflicts])
        if !deletedElsewhere.isEmpty, !isPlanted(.revivesDeleted),
            deletedElsewhere.remove(ObjectPlace(root: object.root, key: object.key)) != nil
        {
            object.flags.insert(.inaccessible)
        }
        changed.removeAll { $0 === object }
        touched.removeAll { $0 === object }
        undeleted.removeAll { $0 === object }
    }

    func rollback() {
        if !isPlanted(.keepsUndoSteps) { undoStack?.removeAll() }
        let objects = changed
        if let results { for object in objects { results.noteDiscarded(object) } }
        changed.removeAll()
        touched.removeAll()
        undeleted.removeAll()
        hasPropagatedDeletes = false
        hiddenMembers.removeAll()
        for object in objects {
            if object.flags.contains(.inserted) { expel(object) } else { discardChanges(of: object) }
        }
        closeReader()
    }
}
