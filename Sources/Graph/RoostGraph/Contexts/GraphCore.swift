internal import RoostCore
internal import RoostQuery
internal import RoostStores

/// The implementation of a context: its objects, their rows and their changes.
///
/// The registry does not keep objects alive, but the lists of changes do.
@usableFromInline
final class GraphCore {
    let classes: ModelClasses
    let table: EntityTable
    /// The stores, or nil for the core of objects that have left their context.
    let stores: StoreSet?
    // SAFETY: when the context is deallocated, it sets this property to nil.
    unowned(unsafe) var context: ManagedObjectContext?

    // Properties with `@exclusivity(unchecked)` need no check of exclusive access: a core stays in one
    // isolation, and no code of the program runs while such a property is being modified. The check
    // at run time would take a third of the time of a write.

    @exclusivity(unchecked) var registry = Registry()
    /// The objects with changes, in the order of their first change.
    @exclusivity(unchecked) var changed: [ManagedObject] = []
    /// The objects that changed in the current event.
    @exclusivity(unchecked) var touched: ContiguousArray<ManagedObject> = []
    /// The number of objects in ``touched`` that observers already know.
    var notifiedCount = 0
    /// The deleted objects whose delete rules were not yet applied.
    var undeleted: [ManagedObject] = []
    /// Whether delete rules were applied since the context last had no changes.
    var hasPropagatedDeletes = false
    private(set) var latched: StoreError?
    @exclusivity(unchecked) private(set) var reader: EventReader?
    /// The reader for all reads while the context is pinned.
    @exclusivity(unchecked) var pinned: EventReader?
    @exclusivity(unchecked) var isTracking = true
    var deletesInaccessibleFaults = true
    /// Called at an event's first change, and when ``reader`` is opened before that change.
    @exclusivity(unchecked) var onEventStart: (() -> Void)?
    /// The isolation check, or nil if checks are inactive.
    @exclusivity(unchecked) var isolation: IsolationCheck?
    /// The unused reserved keys, by root entity.
    var reservedKeys: [Int: (next: Int64, end: Int64, size: Int)] = [:]
    var nextTemporaryKey: Int64 = -1

    @exclusivity(unchecked) var undoStack: UndoStack?
    /// The state at the beginning of the event, or nil if undo is not recording.
    @exclusivity(unchecked) var undoRecord: UndoRecord?
    /// The number of undo records that all undo stacks have created.
    var undoRecordCount = 0
    @exclusivity(unchecked) var observation: ObjectObservation? {
        didSet { newState = observation == nil ? [] : .observed }
    }
    /// The tracker for results that follow changes, or nil without such results.
    @exclusivity(unchecked) var results: ResultsTracker?
    @exclusivity(unchecked) private(set) var newState: ManagedObject.State = []
    var parent: ManagedObjectContext?
    @exclusivity(unchecked) var children: [WeakCore] = []
    var commitCount = 0
    /// The number of merges, refreshes and resets so far.
    var refreshCount = 0
    /// The number of events that are in no undo step because undo was disabled.
    var outsideCount = 0
    /// The changed objects that another context deleted.
    var deletedElsewhere: Set<ObjectPlace> = []
    /// The members that were removed from newly read lists because this context deleted them.
    var hiddenMembers: [(owner: ManagedObject, relationship: Int, member: ObjectPlace)] = []

    @exclusivity(unchecked) var fetchedRows = RowPage.Pool(isFetched: true)
    @exclusivity(unchecked) var privateRows = RowPage.Pool(
        isFetched: false, prefixByteCount: PrivateRow.prefixByteCount)
    /// The number of rows fetched since ``emptySparsePages()`` last searched for sparse pages.
    @exclusivity(unchecked) var fetchedRowCount = 0
    /// The rows that the current event has read, for faults or in advance.
    @exclusivity(unchecked) var readAhead: [ObjectPlace: (row: UnsafeRawPointer, byteCount: Int)] = [:]
    /// The prefetched objects, which are kept until the end of the event.
    var prefetched: [ManagedObject] = []
    /// The newest fault created through a reference, with the row, field and entity of the
    /// referring object.
    @exclusivity(unchecked) var company:
        (fault: ObjectPlace, row: UnsafeRawPointer, field: RecordLayout.Field, entity: Int)?

    /// The objects that the current save changed, if the context has observers.
    var saveChanges = SaveChanges()
    /// The former core of this core's objects, which have left their context.
    private weak var former: GraphCore?
    private weak var knownOrphanage: GraphCore?
    var survey = SaveSurvey()
    /// The rows that the current resolution of conflicts has read, or nil.
    var currentRows: CurrentRows?
    /// The last stored position in each ordered list to which the save assigns new positions.
    var expectedPlaces: [ChangeSet.LastPlace] = []
    /// A row of nulls by entity number, for objects that cannot be read.
    var nullRows: [Int: UnsafeRawPointer] = [:]

    init(_ classes: ModelClasses, stores: StoreSet?) {
        self.classes = classes
        table = classes.table
        self.stores = stores
    }

    deinit {
        dropReadAhead()
        for (_, row) in nullRows { RowPage.release(row) }
    }

    var model: ManagedObjectModel { classes.model }

    // MARK: Errors

    /// Stores the first error of a call that cannot throw, until ``throwLatched()`` throws it.
    ///
    /// For an object that has left its context, the former context stores the error.
    func latch(_ error: StoreError) {
        if let former { return former.latch(error) }
        if latched == nil { latched = error }
    }

    func throwLatched() throws(StoreError) {
        guard let error = latched else { return }
        latched = nil
        if isPlanted(.dropsLatched) { return }
        throw error
    }

    func clearLatched() { latched = nil }

    /// Runs `body` and returns its result, or stores its error and returns nil.
    func latching<Result>(_ body: () throws(StoreError) -> Result) -> Result? {
        do throws(StoreError) { return try body() } catch {
            latch(error)
            return nil
        }
    }

    // MARK: Reading

    func openReader() throws(StoreError) -> EventReader {
        if let pinned, !isPlanted(.ignoresPins) { return pinned }
        if let reader { return reader }
        guard let stores else {
            throw StoreError(.closed, "The object has left its context, so it cannot be read. Fetch it again.")
        }
        let fresh = EventReader(stores, parent: parent)
        reader = fresh
        // An event begins even in a context that only reads. Otherwise the context's snapshot would never be released.
        if touched.isEmpty { onEventStart?() }
        return fresh
    }

    var isReading: Bool { reader != nil }

    /// Closes the event's reader, so that an unpinned context next reads the newest state.
    func closeReader() {
        reader = nil
        dropReadAhead()
        prefetched.removeAll()
        forEachChild { $0.closeReader() }
    }

    /// Moves the rows of nearly empty pages, so that few objects do not keep many pages alive.
    ///
    /// To limit the cost, this method acts only after many rows were fetched.
    func emptySparsePages() {
        guard fetchedRowCount > 4 * registry.count + 8_192 else { return }
        fetchedRowCount = 0
        for object in registry.all() {
            guard let row = object.row else { continue }
            if object.state.contains(.privateRow) {
                guard let committed = PrivateRow.committed(row), RowPage.isSparse(committed) else { continue }
                let copy = fetchedRows.copy(committed, byteCount: object.tail.byteCount(committed))
                PrivateRow.setCommitted(UnsafeRawPointer(copy), of: UnsafeMutableRawPointer(mutating: row))
                RowPage.release(committed)
            } else if RowPage.isSparse(row) {
                object.row = UnsafeRawPointer(fetchedRows.copy(row, byteCount: Int(object.byteCount)))
                RowPage.release(row)
            }
        }
    }

    func dropReadAhead() {
        for (_, entry) in readAhead { RowPage.release(entry.row) }
        readAhead.removeAll()
        if let company { RowPage.release(company.row) }
        company = nil
    }

    // MARK: Objects

    @inline(__always)
    func registered(_ root: Int, key: Int64) -> ManagedObject? { registry.find(root, key: key) }

    /// Returns the registered object with a key, or a new fault.
    ///
    /// `entity` may be the number of a superentity.
    func object(_ entity: Int, key: Int64) -> ManagedObject {
        let root = table.root(entity)
        return registry.find(root, key: key) ?? makeObject(entity, root: root, key: key)
    }

    @inline(__always)
    func makeObject(_ entity: Int, root: Int, key: Int64) -> ManagedObject {
        let object = table.type(entity).init(
            place: ObjectSeat(core: self, entity: UInt16(truncatingIfNeeded: entity), key: key))
        registry.insert(object, root: root)
        return object
    }

    @inline(__always)
    func forget(_ object: ManagedObject) {
        registry.remove(object, root: table.root(Int(object.entityNumber)))
        if let observation { observation.forget(object) }
    }

    /// The core of objects that have left the context.
    ///
    /// Only these objects keep the core alive.
    var orphanage: GraphCore {
        if let known = knownOrphanage { return known }
        let fresh = GraphCore(classes, stores: nil)
        fresh.former = self
        knownOrphanage = fresh
        return fresh
    }

    /// Moves an object to the core of objects that have left the context.
    ///
    /// The row stays readable. The caller removes the object from the registry.
    func orphan(_ object: ManagedObject, orphanage: GraphCore) {
        guard !object.flags.contains(.orphan) else { return }
        if let observation {
            observation.noteAll(object)
            observation.forget(object)
        }
        object.flags = [.orphan]
        object.state.remove(.touched)
        object.extra = nil
        object.core = orphanage
        // The object's `deinit` releases the new core.
        _ = Unmanaged.passRetained(orphanage)
    }

    /// Returns a new object that is in no context and has no values.
    func makeOrphan(_ entity: Int, key: Int64) -> ManagedObject {
        makeOrphan(entity, key: key, type: table.type(entity))
    }

    func makeOrphan<Object: ManagedObject>(_ entity: Int, key: Int64, type: Object.Type) -> Object {
        let orphanage = stores == nil ? self : orphanage
        let object = type.init(
            place: ObjectSeat(core: orphanage, entity: UInt16(truncatingIfNeeded: entity), key: key))
        object.flags = [.orphan]
        // The object's `deinit` releases the core.
        _ = Unmanaged.passRetained(orphanage)
        return object
    }

    func orphanAll() {
        undoRecord = nil
        undoStack?.removeAll()
        if let results, !isPlanted(.overlooksReset) {
            for object in changed { results.note(object) }
            results.noteAll()
        }
        let orphanage = orphanage
        for object in registry.all() { orphan(object, orphanage: orphanage) }
        registry.removeAll()
        changed.removeAll()
        touched.removeAll()
        undeleted.removeAll()
        hasPropagatedDeletes = false
        hiddenMembers.removeAll()
        deletedElsewhere.removeAll()
        beginRefresh()
    }

    func expel(_ object: ManagedObject) {
        results?.note(object)
        observation?.noteAll(object)
        forget(object)
        orphan(object, orphanage: orphanage)
    }

    // MARK: Changes

    /// Prepares an object for a change of its row.
    ///
    /// - Returns: False if the object has left its context or cannot be read.
    @inline(never)
    func touch(_ object: ManagedObject) -> Bool {
        guard !object.flags.contains(.orphan) else { return false }
        checkIsolation()
        let row = object.firedRow
        guard object.row != nil else { return false }
        let count = Int(object.byteCount)
        if object.flags.contains(.inFlight), object.row == object.extra?.rowInFlight {
            if isTracking, let undoRecord, !object.state.contains(.touched) { noteRow(of: object, in: undoRecord) }
            leaveFlight(object)
        } else if !object.state.contains(.privateRow) {
            let copy = privateRows.copy(row, byteCount: count)
            PrivateRow.setCommitted(row, of: copy)
            if isTracking, let undoRecord {
                RowPage.retain(row)
                undoRecord.note(row, of: object, isPrivate: false)
            }
            object.row = UnsafeRawPointer(copy)
            object.state.insert(.privateRow)
        } else if isTracking, !object.state.contains(.touched) {
            if let undoRecord { noteRow(of: object, in: undoRecord) }
            if !object.flags.contains(.inserted) {
                // Keep the values before this event for `changedValuesForCurrentEvent`.
                let copy = privateRows.copy(row, byteCount: count)
                PrivateRow.setCommitted(nil, of: copy)
                let extra = object.requireExtra()
                if let old = extra.eventRow { RowPage.release(old) }
                extra.eventRow = UnsafeRawPointer(copy)
            }
        }
        if isTracking { noteChange(object) }
        return true
    }

    /// Replaces a row being saved with a private copy, so that the save ignores later changes.
    private func leaveFlight(_ object: ManagedObject) {
        guard let row = object.row, row == object.extra?.rowInFlight else { return }
        let copy = privateRows.copy(row, byteCount: Int(object.byteCount))
        // The copy takes over the reference to the committed row.
        PrivateRow.setCommitted(PrivateRow.committed(row), of: copy)
        PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: row))
        RowPage.release(row)
        object.row = UnsafeRawPointer(copy)
    }

    private func noteRow(of object: ManagedObject, in record: UndoRecord) {
        guard let row = object.row else { return }
        let copy = privateRows.copy(row, byteCount: Int(object.byteCount))
        PrivateRow.setCommitted(nil, of: copy)
        record.note(copy, of: object, isPrivate: true)
    }

    /// Records an object's change in this event, and the object's previous state for undo.
    func note(_ object: ManagedObject) {
        guard isTracking else { return }
        if let undoRecord, !object.state.contains(.touched), !object.flags.contains(.orphan) {
            // After this call, setters write directly into a private row and do not record the previous value.
            if object.state.contains(.privateRow) {
                noteRow(of: object, in: undoRecord)
            } else {
                undoRecord.note(object)
            }
        }
        noteChange(object)
    }

    func noteChange(_ object: ManagedObject) {
        guard !object.flags.contains(.orphan) else { return }
        if !object.flags.contains(.changed) {
            object.flags.insert(.changed)
            changed.append(object)
        }
        guard !object.state.contains(.touched) else { return }
        // Setters of a touched object write directly into its row, so the object must not use the row being saved.
        if object.flags.contains(.inFlight) { leaveFlight(object) }
        object.state.insert(.touched)
        if !children.isEmpty { forEachChild { $0.closeReader() } }
        if touched.isEmpty { onEventStart?() }
        touched.append(object)
    }

    func replaceTail(
        of object: ManagedObject, row: UnsafeRawPointer, field: Int, offset: Int,
        with bytes: UnsafeRawBufferPointer?
    ) {
        let layout = object.tail
        let (start, end) = RowAccess.tailRange(row, byteOffset: offset, layout: layout)
        let count = Int(object.byteCount) + (bytes?.count ?? 0) - (end - start)
        guard count <= RecordLayout.maximumByteCount else {
            return latch(
                StoreError(
                    .limitExceeded,
                    "The record of \(object.objectID) would become larger than \(RecordLayout.maximumByteCount) bytes, so the value was not set."
                ))
        }
        let copy = privateRows.allocate(count)
        RowAccess.replaceTail(of: row, field: field, byteOffset: offset, layout: layout, with: bytes, into: copy)
        PrivateRow.setCommitted(PrivateRow.committed(row), of: copy)
        object.row = UnsafeRawPointer(copy)
        object.byteCount = UInt32(truncatingIfNeeded: count)
        RowPage.release(row)
    }

    /// Replaces all values of an object, in a private row.
    ///
    /// Does not update the other sides of relationships.
    func setPrivateRow(of object: ManagedObject, to bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, touch(object), let old = object.row else { return }
        let copy = privateRows.copy(base, byteCount: bytes.count)
        PrivateRow.setCommitted(PrivateRow.committed(old), of: copy)
        object.row = UnsafeRawPointer(copy)
        object.byteCount = UInt32(truncatingIfNeeded: bytes.count)
        object.extra?.decoded.removeAll()
        RowPage.release(old)
    }

    /// Replaces an object's row with a committed row, and discards the changes in the former row.
    func setCommittedRow(of object: ManagedObject, to bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        results?.suspect(object)
        let copy = fetchedRows.copy(base, byteCount: bytes.count)
        object.replaceRow(by: UnsafeRawPointer(copy))
        object.byteCount = UInt32(truncatingIfNeeded: bytes.count)
        object.extra?.decoded.removeAll()
    }
}

extension ManagedObject {
    final func releaseRow() {
        guard let row else { return }
        if state.contains(.privateRow) {
            if let committed = PrivateRow.committed(row) { RowPage.release(committed) }
            state.remove(.privateRow)
        }
        RowPage.release(row)
        self.row = nil
    }

    /// Releases the row, and stores a row that is not private.
    final func replaceRow(by new: UnsafeRawPointer) {
        let old = row
        let committed = state.contains(.privateRow) ? old.flatMap { PrivateRow.committed($0) } : nil
        state.remove(.privateRow)
        row = new
        if let committed { RowPage.release(committed) }
        if let old { RowPage.release(old) }
    }

    /// The row as last read or saved, or nil for a new object or a fault.
    final var committedRow: UnsafeRawPointer? {
        guard let row else { return nil }
        return state.contains(.privateRow) ? PrivateRow.committed(row) : row
    }

    final func requireExtra() -> Extra {
        if let extra { return extra }
        let fresh = Extra()
        extra = fresh
        return fresh
    }
}
