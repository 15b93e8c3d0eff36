internal import RoostCore

/// A walk through all rows of an entity in key order, which can continue after a row that cannot be
/// read.
struct SQLScan {
    /// SELECT of the records whose keys are above parameter 1.
    let restSQL: String
    /// SELECT of the first of these keys.
    let nextKeySQL: String
    /// The key of the last record that was read.
    var lastKey: Int64
    /// The keys of damaged rows that were reported since then.
    var damagedKeys: Set<Int64> = []
}

/// The records that one SELECT gives.
final class SQLRecordCursor: RecordCursor {
    private let snapshot: SQLSnapshot
    private var lease: SQLLease
    private let plan: SQLReadPlan
    /// Nil unless the rows are to come in key order.
    private var scan: SQLScan?
    private var isAtEnd = false
    /// The error of a row that waits until the records before it were handed out.
    private var pendingError: StoreError?

    /// Whether it ends when its task is cancelled: the statement may look at much for a row.
    private let endsWithTask: Bool

    init(
        _ snapshot: SQLSnapshot, _ lease: SQLLease, plan: SQLReadPlan, scan: SQLScan? = nil, endsWithTask: Bool = false
    ) {
        self.snapshot = snapshot
        self.lease = lease
        self.plan = plan
        self.scan = scan
        self.endsWithTask = endsWithTask
    }

    deinit { snapshot.end(lease) }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try batch.requireModel(snapshot.model)
        guard endsWithTask else { return try fill(&batch) }
        if !isAtEnd, Task.isCancelled {
            batch.removeAll()
            pendingError = nil
            finish()
            throw FetchCancellation.error
        }
        return try snapshot.open().endingWithTask { () throws(StoreError) in try fill(&batch) }
    }

    private func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        try snapshot.requireOpen()
        if let error = pendingError {
            pendingError = nil
            throw error
        }
        guard !isAtEnd, let statement = lease.statement else { return false }
        do throws(StoreError) {
            switch try statement.fill(&batch, plan: plan, accepting: snapshot.acceptsChanges) {
            case .full: break
            case .end: finish()
            case .damaged(let error): pendingError = error
            }
            requireOrder(&batch)
            if let key = pendingError?.damagedObject?.key { scan?.damagedKeys.insert(key) }
        } catch {
            do throws(StoreError) {
                pendingError = try passing(error, &batch)
            } catch {
                batch.removeAll()
                finish()
                throw error
            }
        }
        if batch.isEmpty, let error = pendingError {
            pendingError = nil
            throw error
        }
        return !batch.isEmpty
    }

    /// Ends a scan before the first record whose key is not above that of the record before it, as
    /// in a file with exchanged pages.
    private func requireOrder(_ batch: inout RecordBatch) {
        guard !batch.isEmpty, var lastKey = scan?.lastKey else { return }
        for index in 0..<batch.count {
            let key = batch.key(at: index)
            guard key > lastKey else {
                let id = batch.id(at: index)
                var sound = RecordBatch(model: batch.model)
                for index in 0..<index { sound.append(batch, at: index) }
                batch = sound
                pendingError = StoreError(
                    .corrupted,
                    "The rows of '\(snapshot.store.database.name)' are not in key order: \(id) comes after key \(lastKey). The file is damaged; restore it from a backup."
                )
                return finish()
            }
            lastKey = key
        }
        scan?.lastKey = lastKey
        scan?.damagedKeys.removeAll()
    }

    /// Passes a row with a value that is too large to be read; throws any other error.
    ///
    /// - Returns: The error that names the object of the row.
    private func passing(_ error: StoreError, _ batch: inout RecordBatch) throws(StoreError) -> StoreError {
        guard error.code == .limitExceeded, error.damagedObject == nil, scan != nil else { throw error }
        requireOrder(&batch)
        if let pendingError { return pendingError }
        guard var scan else { throw error }
        var key = scan.lastKey
        repeat {
            guard let next = try snapshot.open().integer(scan.nextKeySQL, .integer(key)) else { throw error }
            key = next
        } while scan.damagedKeys.contains(key)
        (scan.lastKey, scan.damagedKeys) = (key, [])
        self.scan = scan
        snapshot.end(lease)
        lease = try snapshot.lease(scan.restSQL, [.integer(key)])
        return plan.tooLarge(key: key, error)
    }

    private func finish() {
        isAtEnd = true
        snapshot.end(lease)
    }
}

/// The records with given IDs, in the order of the IDs.
final class SQLRecordLookup: RecordCursor {
    private let snapshot: SQLSnapshot
    private let ids: [ObjectID]
    private var index = 0
    /// The lookup of the ID before; most IDs of a call are of one entity.
    private var lookup: SQLLookup?
    private var pendingError: StoreError?

    init(_ snapshot: SQLSnapshot, _ ids: [ObjectID]) {
        self.snapshot = snapshot
        self.ids = ids
    }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try batch.requireModel(snapshot.model)
        batch.removeAll()
        try snapshot.requireOpen()
        if let error = pendingError {
            pendingError = nil
            throw error
        }
        while index < ids.count, !batch.isFull {
            let id = ids[index]
            index += 1
            do throws(StoreError) {
                let lookup: SQLLookup
                if let last = self.lookup, last.name == id.entity {
                    lookup = last
                } else {
                    lookup = try snapshot.lookup(id.entity)
                    self.lookup = lookup
                }
                if let error = try lookup.statement.look(
                    up: id.key, into: &batch, plan: lookup.plan, accepting: snapshot.acceptsChanges)
                {
                    throw error
                }
            } catch {
                if error.damagedObject == nil { index = ids.count }
                guard !batch.isEmpty else { throw error }
                pendingError = error
                return true
            }
        }
        return !batch.isEmpty
    }
}

/// The links that one SELECT gives.
final class SQLLinkCursor: LinkCursor {
    private let snapshot: SQLSnapshot
    private let lease: SQLLease?
    private let relationship: Int
    /// Whether the links are those of all objects, in order.
    private let isScan: Bool
    private var last: Link?
    private var isAtEnd = false

    /// Makes a cursor over what the lease's statement gives; without a lease, one without links.
    init(_ snapshot: SQLSnapshot, _ lease: SQLLease?, relationship: Int, isScan: Bool = false) {
        self.snapshot = snapshot
        self.lease = lease
        self.relationship = relationship
        self.isScan = isScan
    }

    deinit { if let lease { snapshot.end(lease) } }

    func next(into batch: inout LinkBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        batch.relationship = relationship
        try snapshot.requireOpen()
        guard !isAtEnd, let lease, let statement = lease.statement else { return false }
        do throws(StoreError) {
            if try !statement.fill(&batch) { finish(lease) }
            if isScan { try requireOrder(batch) }
        } catch {
            batch.removeAll()
            finish(lease)
            throw error
        }
        return !batch.isEmpty
    }

    /// Throws code `corrupted` for a link that does not come after the one before it, as in a file
    /// with exchanged pages.
    private func requireOrder(_ batch: LinkBatch) throws(StoreError) {
        for link in batch.links {
            if let last, (last.source, last.order, last.target) >= (link.source, link.order, link.target) {
                throw StoreError(
                    .corrupted,
                    "The links of '\(snapshot.model.relationships[relationship].name)' in '\(snapshot.store.database.name)' are not in order. The file is damaged; restore it from a backup."
                )
            }
            last = link
        }
    }

    private func finish(_ lease: SQLLease) {
        isAtEnd = true
        snapshot.end(lease)
    }
}
