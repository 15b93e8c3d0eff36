internal import RoostCore

// Exchange of rows by undo and redo.

extension GraphCore {
    func exchangeRows(
        _ record: UndoRecord, isExact: Bool, rest: inout ExchangeRest, kept: inout Set<ObjectIdentifier>
    ) {
        // Neighboring rows usually have the same entity, so its information is kept for the next row.
        var known: (entity: UInt16, hasLinks: Bool, hasDerived: Bool)?
        let isObserved = context?.observers.isEmpty == false
        let former = record.formerChanged
        record.formerChanged = []
        let usesFormer = changed.isEmpty && !former.isEmpty
        if usesFormer { changed = former }
        record.forEachRow(readsRows: true) { object, image in
            let isListed = usesFormer && image.pointee.wasRemoved
            image.pointee.wasRemoved = false
            if known?.entity != object.entityNumber {
                let info = object.info
                known = (object.entityNumber, !info.linkOffsets.isEmpty, !info.derivedFields.isEmpty)
            }
            guard let known else { return }
            let row = image.pointee.row
            guard let current = object.row, object.extra == nil || object.extra?.hasRowOnly ?? true,
                object.flags.isDisjoint(with: [.orphan, .inaccessible, .inFlight, .deleted]), !known.hasDerived,
                !known.hasLinks || table.haveEqualLinks(row, right: current, number: Int(object.entityNumber))
            else {
                if isExact, image.pointee.wasChanged { kept.insert(ObjectIdentifier(object)) }
                return exchangeSlowly(object, image: &image.pointee, info: object.info, rest: &rest)
            }
            let isPrivate = object.state.contains(.privateRow)
            let committed = isPrivate ? PrivateRow.committed(current) : current
            let isClean = isEqual(row, byteCount: Int(image.pointee.byteCount), to: committed, of: object)
            if isClean, !isPrivate { return }
            swapRows(of: object, current: current, committed: committed, isClean: isClean, image: &image.pointee)
            if object.extra != nil { object.extra?.decoded.removeAll() }
            let isUnchanged = isClean && !(isExact && image.pointee.wasChanged)
            noteExchange(
                of: object, isUnchanged: isUnchanged && !object.flags.contains(.detectsConflicts), isListed: isListed,
                image: &image.pointee, rest: &rest)
            if isObserved { announce(object) }
        }
        if usesFormer, rest.returnedCount != former.count || changed.count != former.count {
            (rest.hasUnchanged, rest.hasRepeated) = (true, true)
        }
    }

    /// Exchanges an image's row with the present row of its object.
    ///
    /// `isClean` means that the image's row equals the committed row.
    @inline(__always)
    private func swapRows(
        of object: ManagedObject, current: UnsafeRawPointer, committed: UnsafeRawPointer?, isClean: Bool,
        image: inout UndoRecord.RowImage
    ) {
        let (row, count, isPrivate) = (image.row, image.byteCount, object.state.contains(.privateRow))
        // The record gets a use of the present row, and gives up its use of the image's former row.
        image.row = current
        image.byteCount = object.byteCount
        if isPrivate {
            PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: current))
        } else {
            RowPage.retain(current)
        }
        if isClean, let committed {
            object.row = committed
            object.state.remove(.privateRow)
            RowPage.release(row)
        } else {
            var fresh = UnsafeMutableRawPointer(mutating: row)
            if !image.isPrivate {
                fresh = privateRows.copy(row, byteCount: Int(count))
                RowPage.release(row)
            }
            PrivateRow.setCommitted(committed, of: fresh)
            object.row = UnsafeRawPointer(fresh)
            object.state.insert(.privateRow)
        }
        object.byteCount = count
        image.isPrivate = isPrivate
    }

    private func isEqual(
        _ row: UnsafeRawPointer, byteCount: Int, to committed: UnsafeRawPointer?, of object: ManagedObject
    ) -> Bool {
        guard let committed else { return false }
        return committed == row
            || RowAccess.haveEqualContent(
                row, leftCount: byteCount, right: committed, rightCount: object.tail.byteCount(committed))
    }

    /// Updates the list of changed objects after the exchange of an object's row.
    ///
    /// If `isListed` is true, the list already contains the object.
    @inline(__always)
    private func noteExchange(
        of object: ManagedObject, isUnchanged: Bool, isListed: Bool, image: inout UndoRecord.RowImage,
        rest: inout ExchangeRest
    ) {
        let wasChanged = object.flags.contains(.changed)
        image.wasChanged = wasChanged
        if isUnchanged, wasChanged {
            object.flags.remove(.changed)
            image.wasRemoved = true
            rest.removedCount += 1
            rest.hasUnchanged = true
        } else if !isUnchanged, !wasChanged {
            guard isListed else { return noteChanges(of: object, rest: &rest) }
            object.flags.insert(.changed)
            rest.returnedCount += 1
        }
    }

    /// Exchanges the row of an object with changed references, derived attributes or a special
    /// state.
    private func exchangeSlowly(
        _ object: ManagedObject, image: inout UndoRecord.RowImage, info: EntityInfo, rest: inout ExchangeRest
    ) {
        let row = image.row
        guard !object.flags.contains(.orphan) else { return }
        if object.row == nil { _ = fire(object) }
        guard let current = object.row, !object.flags.contains(.inaccessible) else { return }
        let wasChanged = object.flags.contains(.changed)
        let copy = privateRows.copy(current, byteCount: Int(object.byteCount))
        PrivateRow.setCommitted(nil, of: copy)
        let (former, formerCount) = (UnsafeRawPointer(copy), object.byteCount)
        let target = privateRows.copy(row, byteCount: Int(image.byteCount))
        PrivateRow.setCommitted(nil, of: target)
        keepPlaces(of: object, info: info, current: current, in: target)
        let bytes = UnsafeRawBufferPointer(start: target, count: Int(image.byteCount))
        setPrivateRow(of: object, to: bytes)
        RowPage.release(UnsafeRawPointer(target))
        // Keep the present derived values, because only a save computes new ones.
        if !info.derivedFields.isEmpty {
            let reader = RecordReader(row: former, byteCount: Int(formerCount), key: object.key, model: model)
            for field in info.derivedFields {
                let value = reader.value(field)
                guard value != object.value(of: field) else { continue }
                _ = latching { () throws(StoreError) in try object.set(value, for: field) }
            }
        }
        object.extra?.decoded.removeAll()
        for field in info.referenceFields {
            guard let relationship = field.relationship, let now = object.row else { continue }
            let (old, new) = (RowAccess.reference(former, field: field), RowAccess.reference(now, field: field))
            guard old?.key != new?.key, let inverse = model.relationships[relationship].inverse else { continue }
            if model.relationships[inverse].isToMany {
                for owner in [old, new] {
                    if let owner { settleMember(object, field: field, of: owner, list: inverse, rest: &rest) }
                }
            } else {
                let former = old.map { self.object($0.entity, key: $0.key) }
                rest.pairs.append(ExchangedPair(object: object, relationship: relationship, former: former))
            }
        }
        RowPage.release(row)
        image.row = former
        image.byteCount = formerCount
        image.isPrivate = true
        rest.affected.append(object)
        image.wasChanged = wasChanged
    }

    /// Copies the present positions in ordered lists into a row, because only saves assign
    /// positions.
    private func keepPlaces(
        of object: ManagedObject, info: EntityInfo, current: UnsafeRawPointer, in row: UnsafeMutableRawPointer
    ) {
        for field in info.referenceFields {
            guard let relationship = field.relationship, let place = info.places[relationship] else { continue }
            let key = RowAccess.reference(row, field: field)?.key
            let sources = key == nil ? [] : [current, object.committedRow].compactMap { $0 }
            let source = sources.first { RowAccess.reference($0, field: field)?.key == key }
            let isNull = source.map { RowAccess.isNull($0, field: place.index) } ?? true
            RowAccess.setNull(isNull, row: row, field: place.index)
            row.storeBytes(
                of: isNull ? 0 : source?.loadUnaligned(fromByteOffset: place.byteOffset, as: Int64.self) ?? 0,
                toByteOffset: place.byteOffset, as: Int64.self)
        }
    }

    /// Copies the values of `new` that differ from `old` into a recorded row.
    ///
    /// Recorded values that already differ from `old` are kept.
    func rebase(
        _ image: inout UndoRecord.RowImage, from old: UnsafeRawPointer, to new: UnsafeRawPointer
    ) throws(StoreError) {
        let (row, object) = (image.row, image.object)
        func reader(_ row: UnsafeRawPointer, count: Int) -> RecordReader {
            RecordReader(row: row, byteCount: count, key: object.key, model: model)
        }
        let before = reader(old, count: object.tail.byteCount(old))
        let after = reader(new, count: object.tail.byteCount(new))
        let mine = reader(row, count: Int(image.byteCount))
        var replacements: [(field: RecordLayout.Field, value: Value)] = []
        for field in object.info.entity.layout.fields where field.kind != .order {
            let (old, new) = (before.value(field), after.value(field))
            if old != new, mine.value(field) == old { replacements.append((field, new)) }
        }
        guard !replacements.isEmpty else { return }
        var batch = RecordBatch(model: model)
        try batch.append(mine, replacing: replacements)
        batch.withRecord(at: 0) { record in
            guard let base = record.bytes.baseAddress else { return }
            let fresh = privateRows.copy(base, byteCount: record.bytes.count)
            PrivateRow.setCommitted(nil, of: fresh)
            image.row = UnsafeRawPointer(fresh)
            image.byteCount = UInt32(truncatingIfNeeded: record.bytes.count)
            image.isPrivate = true
            RowPage.release(row)
        }
    }
}
