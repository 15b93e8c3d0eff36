internal import RoostCore
internal import RoostStores

extension GraphCore {
    // MARK: After the commit

    /// Applies a commit to the context: private rows become committed rows.
    func finish(_ pending: PendingChanges, changes: ChangeSet, copiesRows: Bool, isInFlight: Bool) {
        commitCount += 1
        pending.inserted.forEachWithPosition { index, object in
            finish(object, index: index, isInsert: true, derived: copiesRows ? changes.inserts : nil)
        }
        pending.updated.forEachWithPosition { index, object in
            finish(object, index: index, isInsert: false, derived: copiesRows ? changes.updates : nil)
        }
        // The model's rules added the remaining records.
        let count = pending.updated.count
        for index in count..<max(count, changes.updates.count) {
            changes.updates.withRecord(at: index) { record in
                guard let object = registered(record.root, key: record.key), object.row != nil else { return }
                guard object.state.contains(.privateRow), isDirtyMeanwhile(object) else {
                    // This branch includes objects whose properties were set to their saved values.
                    return setRow(of: object, to: record, version: record.version &+ 1)
                }
                guard let committed = object.committedRow, RowAccess.version(committed) == record.version else {
                    return
                }
                adoptDerived(object, saved: record, version: record.version &+ 1)
            }
        }
        if pending.hasExtras || isInFlight {
            for objects in [pending.inserted, pending.updated, pending.unwritten] {
                commitMembers(of: objects, isInFlight: isInFlight)
            }
        }
        // If undo reverted the deletion during the save, the object is inserted again.
        pending.deleted.forEach { object in
            guard !object.flags.contains(.deleted), object.extra?.isReturning ?? false else { return }
            becomeNew(object)
        }
    }

    /// Makes the row of an inserted or updated object its committed row.
    ///
    /// `derived` contains the committed records, if they have derived attributes that the rows
    /// lack.
    @inline(__always)
    private func finish(_ object: ManagedObject, index: Int, isInsert: Bool, derived: RecordBatch?) {
        if object.flags.contains(.inFlight) {
            let inFlight = object.extra?.rowInFlight
            if let inFlight, inFlight != object.row, !isPlanted(.forgetsMeanwhile) {
                // The object changed during the save, so it keeps its private row, and the saved row becomes the
                // committed row.
                commitUnderChanges(object, saved: inFlight, isInsert: isInsert)
                derived?.withRecord(at: index) { adoptDerived(object, saved: $0) }
                return
            }
            endFlight(object)
        }
        if !deletedElsewhere.isEmpty { deletedElsewhere.remove(ObjectPlace(root: object.root, key: object.key)) }
        guard let row = object.row, object.state.contains(.privateRow) else { return }
        let committed = PrivateRow.committed(row)
        let old = committed.map { RowAccess.version($0) } ?? 0
        let version = isInsert ? 1 : isPlanted(.keepsVersions) ? old : old &+ 1
        RowAccess.setVersion(version, row: UnsafeMutableRawPointer(mutating: row))
        if let committed { RowPage.release(committed) }
        PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: row))
        object.state.remove([.touched, .privateRow])
        object.flags.subtract([.inserted, .changed, .detectsConflicts])
        if object.flags.contains(.deleted) { object.flags.insert(.changed) }
        derived?.withRecord(at: index) { setRow(of: object, to: $0, version: version) }
    }

    private func setRow(of object: ManagedObject, to record: RecordReader, version: UInt32) {
        setCommittedRow(of: object, to: record.bytes)
        if let row = object.row { RowAccess.setVersion(version, row: UnsafeMutableRawPointer(mutating: row)) }
    }

    /// Marks the current members of to-many relationships as stored.
    ///
    /// If `isInFlight` is true, differences that were made during the save stay pending.
    func commitMembers(of objects: UncountedObjects, isInFlight: Bool) {
        objects.forEach { if $0.extra != nil { commitMembers($0, isInFlight: isInFlight) } }
    }

    private func commitMembers(_ object: ManagedObject, isInFlight: Bool) {
        guard let extra = object.extra else { return }
        for index in extra.members.indices {
            if isInFlight, !isPlanted(.forgetsMeanwhile) {
                observation?.noteForgotten(object)
                extra.members[index].state.land()
            } else {
                extra.members[index].state.commit()
            }
        }
    }

    /// Removes objects without remaining changes from the list of changed objects.
    ///
    /// If `position` is not nil, removes only objects of the store at this position.
    func dropUnchanged(store position: Int? = nil) {
        // Deallocating an object can run code of the program. So the lists are replaced first and
        // released at the end.
        let (formerChanged, formerTouched) = (changed, touched)
        if let results { formerTouched.forEachUncounted { results.note($0) } }
        defer { withExtendedLifetime((formerChanged, formerTouched)) {} }
        var gone: [ManagedObject] = []
        changed = formerChanged.filterUncounted { object in
            // After a save, most objects have no state left to check.
            if object.flags.isEmpty, object.state.isEmpty, object.extra == nil { return false }
            if let position, !object.flags.contains(.orphan),
                stores?.storeOfEntity[Int(object.entityNumber)] != position
            {
                return true
            }
            return hasChangesLeft(object, gone: &gone)
        }
        // Objects that a hook changed after their save are in the list twice.
        if changed.count > 1 {
            var seen: Set<ObjectIdentifier> = []
            changed.removeAll { !seen.insert(ObjectIdentifier($0)).inserted }
        }
        touched =
            changed.isEmpty ? [] : ContiguousArray(formerTouched.filterUncounted { $0.flags.contains(.changed) })
        for object in gone { leave(object) }
        if changed.isEmpty {
            hasPropagatedDeletes = false
            hiddenMembers.removeAll()
        }
    }

    /// Returns whether an object stays in the list of changed objects; if not, clears its changes.
    ///
    /// `gone` receives the object if both this context and another context deleted it.
    private func hasChangesLeft(_ object: ManagedObject, gone: inout [ManagedObject]) -> Bool {
        if object.flags.contains(.orphan) { return false }
        if object.flags.isSuperset(of: [.deleted, .inaccessible]) {
            gone.append(object)
            return false
        }
        if object.flags.contains(.deleted) || object.flags.contains(.inserted) { return true }
        // If another context deleted the object, no save can write its changes.
        let isRemoved = object.flags.contains(.inaccessible)
        if isRemoved {
            observation?.noteAll(object)
            object.extra = nil
        }
        if object.extra?.members.contains(where: \.state.hasDifferences) ?? false {
            object.flags.insert(.changed)
            return true
        }
        if object.state.contains(.privateRow), let row = object.row, let committed = PrivateRow.committed(row) {
            guard isRemoved || !isDirtyMeanwhile(object) else { return true }
            // The object uses its committed row again.
            object.row = committed
            object.byteCount = UInt32(truncatingIfNeeded: object.tail.byteCount(committed))
            RowPage.release(row)
        }
        object.state.remove([.touched, .privateRow])
        object.flags.subtract([.changed, .detectsConflicts])
        return false
    }

    /// Returns whether the row of an object differs from its committed row.
    func isDirtyMeanwhile(_ object: ManagedObject) -> Bool {
        guard let row = object.row, let committed = PrivateRow.committed(row) else { return true }
        return !RowAccess.haveEqualContent(
            row, leftCount: Int(object.byteCount), right: committed, rightCount: object.tail.byteCount(committed))
    }

    // MARK: Saves in the background

    /// Marks the rows and members that are being saved.
    func beginFlight(_ pending: PendingChanges) {
        for objects in [pending.inserted, pending.updated] {
            objects.forEach { object in
                guard let row = object.row else { return }
                RowPage.retain(row)
                object.requireExtra().rowInFlight = row
                object.flags.insert(.inFlight)
                // The next change must go through `touch`, which copies the row.
                object.state.remove(.touched)
            }
        }
        pending.deleted.forEach { $0.flags.insert(.inFlight) }
        for objects in [pending.inserted, pending.updated, pending.unwritten] {
            objects.forEach { object in
                guard let extra = object.extra else { return }
                for index in extra.members.indices { extra.members[index].state.takeOff() }
            }
        }
    }

    /// Marks rows as not saved, so that their changes stay pending.
    func endFlight(_ pending: PendingChanges) {
        for objects in [pending.inserted, pending.updated, pending.deleted] { objects.forEach { endFlight($0) } }
        for objects in [pending.inserted, pending.updated, pending.unwritten] {
            objects.forEach { object in
                guard let extra = object.extra else { return }
                for index in extra.members.indices { extra.members[index].state.abort() }
            }
        }
        // New objects that were deleted during the failed save were never stored, so they leave the context.
        for object in pending.inserted.all where object.flags.isSuperset(of: [.inserted, .propagated]) {
            leave(object)
        }
    }

    private func endFlight(_ object: ManagedObject) {
        guard object.flags.contains(.inFlight) else { return }
        object.flags.remove(.inFlight)
        if let row = object.extra?.rowInFlight {
            RowPage.release(row)
            object.extra?.rowInFlight = nil
        }
    }

    /// Copies the saved derived attributes into an object that changed during its save.
    private func adoptDerived(_ object: ManagedObject, saved: RecordReader, version: UInt32? = nil) {
        guard !object.flags.contains(.orphan), let committed = object.committedRow else { return }
        let version = version ?? RowAccess.version(committed)
        guard object.state.contains(.privateRow) else { return setRow(of: object, to: saved, version: version) }
        for attribute in object.info.entity.attributes where attribute.derivationExpression != nil {
            guard let field = object.info.entity.layout.field(attribute.name) else { continue }
            _ = latching { () throws(StoreError) in try object.set(saved.value(field), for: field) }
        }
        guard let base = saved.bytes.baseAddress, let row = object.row else { return }
        let fresh = fetchedRows.copy(base, byteCount: saved.bytes.count)
        RowAccess.setVersion(version, row: fresh)
        let old = PrivateRow.committed(row)
        PrivateRow.setCommitted(UnsafeRawPointer(fresh), of: UnsafeMutableRawPointer(mutating: row))
        if let old { RowPage.release(old) }
    }

    private func commitUnderChanges(_ object: ManagedObject, saved: UnsafeRawPointer, isInsert: Bool) {
        defer { endFlight(object) }
        guard let row = object.row, !object.flags.contains(.orphan) else { return }
        guard object.state.contains(.privateRow) else {
            // During the save, the program rolled back the changes, but the store now has the saved row.
            RowAccess.setVersion(RowAccess.version(row) &+ 1, row: UnsafeMutableRawPointer(mutating: saved))
            PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: saved))
            RowPage.retain(saved)
            object.row = saved
            object.byteCount = UInt32(truncatingIfNeeded: object.tail.byteCount(saved))
            RowPage.release(row)
            return
        }
        let old = PrivateRow.committed(row)
        let version = isInsert ? 1 : (old.map { RowAccess.version($0) } ?? 0) &+ 1
        RowAccess.setVersion(version, row: UnsafeMutableRawPointer(mutating: saved))
        RowPage.retain(saved)
        PrivateRow.setCommitted(saved, of: UnsafeMutableRawPointer(mutating: row))
        if let old { RowPage.release(old) }
        object.flags.remove(.inserted)
    }
}
