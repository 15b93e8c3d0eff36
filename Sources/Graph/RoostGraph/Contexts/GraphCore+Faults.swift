internal import RoostCore
internal import RoostStores

extension GraphCore {
    /// The maximum number of rows whose destinations are read together with a fault.
    private static let companyCount = 256
    /// The number of rows in ``readAhead`` above which the next read first drops all rows.
    private static let readAheadCount = 16_384

    /// Reads the row of a fault, perhaps together with other rows.
    ///
    /// - Returns: The row, or a row of nulls if the row is missing or cannot be read. An error
    ///   becomes the context's pending error. A missing row is an error only if
    ///   ``deletesInaccessibleFaults`` is false.
    @inline(never)
    func fire(_ object: ManagedObject) -> UnsafeRawPointer {
        if let row = object.row { return row }
        guard !object.flags.contains(.orphan) else {
            latch(StoreError(.closed, "\(object.objectID) has left its context, so it cannot be read. Fetch it again."))
            return nullRow(of: object)
        }
        checkIsolation()
        if isPlanted(.recordsReading) { undoRecord?.note(object) }
        do throws(StoreError) {
            try readRow(of: object)
        } catch {
            latch(error.withMessage("\(object.objectID) could not be read: \(error.message)"))
            return nullRow(of: object)
        }
        if let row = object.row { return row }
        object.flags.insert(.inaccessible)
        results?.suspect(object)
        observation?.note(object, property: .deletion)
        if !deletesInaccessibleFaults { latch(Self.missing(object)) }
        let row = nullRow(of: object)
        RowPage.retain(row)
        object.row = row
        object.byteCount = UInt32(truncatingIfNeeded: object.tail.tail)
        return row
    }

    static func missing(_ object: ManagedObject) -> StoreError {
        StoreError(
            .objectNotFound,
            "\(object.objectID) does not exist in the state of the store that this event reads. Another context deleted it, or inserted it after the event began. Call processPendingChanges() to read the newest state."
        ).with { $0.missingObjects = [object.objectID] }
    }

    /// Returns a row of nulls that lives as long as the core.
    private func nullRow(of object: ManagedObject) -> UnsafeRawPointer {
        let number = Int(object.entityNumber)
        if let row = nullRows[number] { return row }
        let template = object.info.entity.layout.template
        let row = UnsafeRawPointer(fetchedRows.allocate(template.count))
        UnsafeMutableRawPointer(mutating: row).copyMemory(from: template, byteCount: template.count)
        nullRows[number] = row
        return row
    }

    /// Reads an object's row, or leaves the object a fault if the store lacks the row.
    private func readRow(of object: ManagedObject) throws(StoreError) {
        let root = object.root
        let place = ObjectPlace(root: root, key: object.key)
        if let entry = readAhead[place] {
            RowPage.retain(entry.row)
            put(entry.row, byteCount: entry.byteCount, in: object)
            wake(object)
            return
        }
        var keys = [object.key]
        if let company, company.fault == place, !isPlanted(.readsOneByOne) { appendCompany(of: company, to: &keys) }
        try read(keys, root: root)
    }

    /// Appends the keys of objects that the program probably reads after the fault.
    ///
    /// In the page of `company.row`, the rows after this row refer to these objects through
    /// `company.field`.
    private func appendCompany(
        of company: (fault: ObjectPlace, row: UnsafeRawPointer, field: RecordLayout.Field, entity: Int),
        to keys: inout [Int64]
    ) {
        var known: Set<Int64> = [company.fault.key]
        let table = table
        var found: [Int64] = []
        RowPage.forEachRow(
            after: company.row, limit: Self.companyCount,
            length: { row in table.tail(Self.entityNumber(of: row)).byteCount(row) }
        ) { row in
            guard Self.entityNumber(of: row) == company.entity,
                let (_, key) = RowAccess.reference(row, field: company.field), known.insert(key).inserted
            else { return }
            found.append(key)
        }
        for key in found {
            let place = ObjectPlace(root: company.fault.root, key: key)
            guard readAhead[place] == nil, registered(company.fault.root, key: key)?.row == nil else { continue }
            keys.append(key)
        }
    }

    func isReadAhead(_ object: ManagedObject) -> Bool {
        readAhead[ObjectPlace(root: object.root, key: object.key)] != nil
    }

    static func entityNumber(of row: UnsafeRawPointer) -> Int {
        Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: RecordLayout.Header.entity, as: UInt16.self)))
    }

    /// Reads rows of one hierarchy.
    ///
    /// Faults get their rows. ``readAhead`` keeps the rows for objects that are requested later.
    func read(_ keys: [Int64], root: Int) throws(StoreError) {
        // A parent can resolve temporary keys of its new objects.
        let stored = parent == nil ? keys.filter { $0 > 0 } : keys
        guard !stored.isEmpty else { return }
        if readAhead.count > Self.readAheadCount { dropReadAhead() }
        var batch = RecordBatch(model: model)
        try openReader().graph(ofEntity: root).read(stored, inHierarchyOf: root, into: &batch)
        fetchedRowCount += batch.count
        var awake: [ManagedObject] = []
        batch.forEachRecord { record in
            guard let base = record.bytes.baseAddress else { return }
            let object = registered(root, key: record.key)
            if let object, object.row != nil { return }
            let place = ObjectPlace(root: root, key: record.key)
            guard object != nil || readAhead[place] == nil else { return }
            let row = UnsafeRawPointer(fetchedRows.copy(base, byteCount: record.bytes.count))
            // Keep the row, because a loop may release each object and request it again.
            if let old = readAhead.updateValue((row, record.bytes.count), forKey: place) { RowPage.release(old.row) }
            guard let object else { return }
            RowPage.retain(row)
            put(row, byteCount: record.bytes.count, in: object)
            awake.append(object)
        }
        for object in awake { wake(object) }
    }

    private func put(_ row: UnsafeRawPointer, byteCount: Int, in object: ManagedObject) {
        object.row = row
        object.byteCount = UInt32(truncatingIfNeeded: byteCount)
        // A fault may have a superentity until its row is read.
        object.entityNumber = UInt16(truncatingIfNeeded: Self.entityNumber(of: row))
    }

    func wake(_ object: ManagedObject) {
        let wasTracking = isTracking
        isTracking = isPlanted(.tracksAwaking)
        object.awakeFromFetch()
        isTracking = wasTracking
        guard !object.flags.contains(.changed), object.state.contains(.privateRow), let row = object.row
        else { return }
        // Values that the hook set become part of the committed row.
        if let committed = PrivateRow.committed(row) { RowPage.release(committed) }
        PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: row))
        object.state.remove(.privateRow)
    }

    /// Calls `awake(from:)` of objects whose values were changed by something other than a setter.
    func awake(_ objects: [ManagedObject], from events: SnapshotEvents) {
        let wasTracking = isTracking
        isTracking = false
        defer { isTracking = wasTracking }
        for object in objects where !object.flags.contains(.orphan) { object.awake(from: events) }
    }

    func turnIntoFault(_ object: ManagedObject) {
        guard object.row != nil else { return }
        object.willTurnIntoFault()
        results?.suspect(object)
        observation?.noteAll(object)
        object.releaseRow()
        object.extra = nil
        object.flags.remove(.inaccessible)
        object.didTurnIntoFault()
    }
}
