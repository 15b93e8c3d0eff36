internal import RoostCore

/// A reference to the core of a child context, weak because the child keeps its parent alive.
struct WeakCore {
    weak var core: GraphCore?
}

extension GraphCore {
    /// Reads and returns this context's instances of the objects that a child changed.
    ///
    /// Runs before any change is applied, because an error must leave this context unchanged. The
    /// result omits new objects, and objects that no longer exist in this context.
    ///
    /// - Throws: `objectNotFound` if an object that the child changed, but did not delete, no
    ///   longer exists in this context; errors from reading.
    func prepareTaking(_ child: GraphCore) throws(StoreError) -> [ManagedObject: ManagedObject] {
        var present: [ManagedObject: ManagedObject] = [:]
        var missing: [ObjectID] = []
        for object in child.changed where !object.flags.contains(.inserted) && !object.flags.contains(.inaccessible) {
            let own = self.object(Int(object.entityNumber), key: object.key)
            _ = own.firedRow
            try throwLatched()
            let isHere = own.flags.isDisjoint(with: [.deleted, .inaccessible])
            if isHere {
                present[object] = own
            } else if !object.flags.contains(.deleted) {
                missing.append(object.objectID)
            }
        }
        guard let first = missing.first else { return present }
        let (subject, object) =
            missing.count == 1
            ? ("\(first) was", "it") : ("\(missing.count) objects, such as \(first), were", "them")
        throw StoreError(
            .objectNotFound,
            "\(subject) changed in the child context and deleted in its parent; nothing was saved. Refresh \(object), or delete \(object) in the child too."
        ).with { $0.missingObjects = missing }
    }

    /// Applies a child's changes to this context, after ``prepareTaking(_:)``.
    ///
    /// After an error, some changes may have been applied.
    func take(_ child: GraphCore, present: [ManagedObject: ManagedObject]) throws(StoreError) {
        let objects = child.changed.filter { !$0.flags.contains(.inaccessible) }
        var own = present
        for object in objects where object.flags.contains(.inserted) && !object.flags.contains(.deleted) {
            own[object] = takeInsertion(object)
        }
        for object in objects where object.flags.contains(.inserted) && !object.flags.contains(.deleted) {
            if let here = own[object] { joinOwners(here) }
        }
        for object in objects where object.flags.isDisjoint(with: [.inserted, .deleted]) {
            if let here = present[object], !isPlanted(.losesChildChanges) { try takeValues(object, here: here) }
        }
        for object in objects where !object.flags.contains(.deleted) {
            guard let here = own[object], let extra = object.extra else { continue }
            try takeLinks(extra, here: here)
            for (name, value) in extra.transients where here.extra?.transients[name] != value {
                noteTransient(name, of: here)
                note(here)
                here.requireExtra().transients[name] = value
                observation?.note(here, property: .transient(name))
            }
        }
        for object in objects where !object.flags.contains(.deleted) {
            guard let here = own[object], let extra = object.extra else { continue }
            try takeOrders(extra, here: here, object: object, child: child)
        }
        for object in objects where object.flags.contains(.deleted) {
            if let here = present[object], !isPlanted(.keepsChildDeletes) { markDeleted(here) }
        }
    }

    /// Inserts a copy of a child's new object into this context.
    private func takeInsertion(_ object: ManagedObject) -> ManagedObject? {
        guard let row = object.row else { return nil }
        let bytes = UnsafeRawBufferPointer(start: row, count: Int(object.byteCount))
        let known = registered(object.root, key: object.key)
        // Reading a fault shows whether the object exists.
        if let known { _ = known.firedRow }
        if let here = known, here.flags.isDisjoint(with: [.orphan, .inaccessible]) {
            // If the object is deleted in this context, the child's insertion restores it.
            if here.flags.contains(.deleted) {
                undoRecord?.note(.deleted, of: here)
                note(here)
                here.flags.subtract([.deleted, .propagated])
                observation?.note(here, property: .deletion)
                undeleted.removeAll { $0 === here }
            }
            setPrivateRow(of: here, to: bytes)
            return here
        }
        if let known { leave(known) }
        let here = makeObject(Int(object.entityNumber), root: object.root, key: object.key)
        let copy = privateRows.copy(row, byteCount: bytes.count)
        PrivateRow.setCommitted(nil, of: copy)
        here.row = UnsafeRawPointer(copy)
        here.byteCount = object.byteCount
        here.state.insert(.privateRow)
        here.flags = .inserted
        if object.extra?.isReturning ?? false { here.requireExtra().isReturning = true }
        undoRecord?.note(.absent, of: here)
        noteChange(here)
        return here
    }

    /// Adds an object to the to-many inverses of its references, and clears references to deleted
    /// objects.
    private func joinOwners(_ object: ManagedObject) {
        guard let row = object.row else { return }
        for field in object.info.referenceFields {
            guard let relationship = field.relationship, let (entity, key) = RowAccess.reference(row, field: field)
            else { continue }
            if isRemoved(entity, key: key) {
                setReference(of: object, relationship: relationship, to: nil)
                continue
            }
            guard let number = model.relationships[relationship].inverse, model.relationships[number].isToMany
            else { continue }
            addMember(object.key, to: self.object(entity, key: key), relationship: model.relationships[number])
        }
    }

    private func isRemoved(_ entity: Int, key: Int64) -> Bool {
        guard let object = registered(table.root(entity), key: key) else { return false }
        return !object.flags.isDisjoint(with: [.deleted, .inaccessible])
    }

    private func takeValues(_ object: ManagedObject, here: ManagedObject) throws(StoreError) {
        guard object.state.contains(.privateRow), let row = object.row, let committed = PrivateRow.committed(row)
        else { return }
        func reader(_ row: UnsafeRawPointer) -> RecordReader {
            RecordReader(row: row, byteCount: object.tail.byteCount(row), key: object.key, model: model)
        }
        let (old, new) = (reader(committed), reader(row))
        let derived = Set(object.info.derivedFields.map(\.index))
        // The object counts as changed in this context even if the new values equal the former ones.
        note(here)
        for field in object.info.entity.layout.fields
        where field.kind != .order && !field.name.contains(".") && !derived.contains(field.index) {
            let value = new.value(field)
            guard old.value(field) != value else { continue }
            guard let relationship = field.relationship else {
                try here.set(value, for: field)
                continue
            }
            let reference = RowAccess.reference(row, field: field).flatMap {
                isRemoved($0.entity, key: $0.key) ? nil : $0
            }
            let destination = reference.map { self.object($0.entity, key: $0.key) }
            setDestination(of: here, relationship: relationship, to: destination)
        }
    }

    /// Applies the child's changes of members in relationships that are stored as links.
    private func takeLinks(_ extra: Extra, here: ManagedObject) throws(StoreError) {
        for (number, state) in extra.members where state.hasDifferences {
            let relationship = model.relationships[number]
            guard case .links = relationship.storage else { continue }
            let removed = try objects(Array(state.removed), destination: relationship.destination)
            for member in removed
            where here.extra?.members.first(where: { $0.relationship == number })?.state.knows(member.key) ?? true {
                remove(member, from: here, relationship: number)
            }
            let added = try objects(state.added.sorted(), destination: relationship.destination)
            for member in added where member.flags.isDisjoint(with: [.deleted, .inaccessible]) {
                add(member, to: here, relationship: number)
            }
        }
    }

    /// Applies the order of lists that a child reordered.
    private func takeOrders(
        _ extra: Extra, here: ManagedObject, object: ManagedObject, child: GraphCore
    ) throws(StoreError) {
        for (number, state) in extra.members where state.isReordered && model.relationships[number].isOrdered {
            let keys = try child.memberKeys(of: object, relationship: number)
            _ = try memberKeys(of: here, relationship: number)
            let recordNumber = undoRecord?.number ?? 0
            change(here, relationship: number) { state in
                noteOrder(of: here, relationship: number, state: state)
                state.recordWithOrder = recordNumber
                state.arrange(Members.Order(current: keys, appended: keys))
            }
        }
    }

    // MARK: In the child

    /// Copies the parent's current rows to this context as committed rows, and clears the changes.
    func finishSaveToParent() {
        commitCount += 1
        let objects = changed
        for object in objects where !object.flags.contains(.deleted) && !object.flags.contains(.orphan) {
            if let own = parent?.core.registered(object.root, key: object.key), let row = own.row {
                let bytes = UnsafeRawBufferPointer(start: row, count: Int(own.byteCount))
                setCommittedRow(of: object, to: bytes)
            }
            object.state.remove([.touched, .privateRow])
            object.flags.subtract([.inserted, .changed, .detectsConflicts])
            guard let extra = object.extra else { continue }
            observation?.noteForgotten(object)
            for index in extra.members.indices {
                extra.members[index].state.commit()
                extra.members[index].state.forgetBase()
            }
        }
        // Deallocating an object can run code of the program, so the lists are released last.
        let former = touched
        if let results { former.forEachUncounted { results.note($0) } }
        (changed, touched) = ([], [])
        defer { withExtendedLifetime((objects, former)) {} }
        hasPropagatedDeletes = false
        hiddenMembers.removeAll()
        closeReader()
    }

    /// Applies a rollback of objects to the children that merge changes automatically.
    func passOnRollback(_ objects: [(id: ObjectID, wasInserted: Bool)]) {
        guard !objects.isEmpty, !isPlanted(.childMissesRollback) else { return }
        let inserted = objects.filter(\.wasInserted).map(\.id)
        let others = objects.filter { !$0.wasInserted }.map(\.id)
        forEachChild { child in
            guard let context = child.context, context.mergesChangesAutomatically else { return }
            _ = child.latching { () throws(StoreError) in
                try context.takeOverChanges(inserted: [], updated: others, deleted: inserted)
            }
            child.reportChanges()
        }
    }

    func forEachChild(_ body: (GraphCore) -> Void) {
        guard !children.isEmpty else { return }
        children.removeAll { $0.core == nil }
        for child in children { if let core = child.core { body(core) } }
    }
}
