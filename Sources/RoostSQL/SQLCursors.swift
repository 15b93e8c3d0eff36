internal import RoostCore

/// The records that one SELECT gives.
final class SQLRecordCursor: RecordCursor {
    private let snapshot: SQLSnapshot
    private let lease: SQLLease
    private let plan: SQLReadPlan
    private var isAtEnd = false
    /// The error of a row that waits until the records before it were handed out.
    private var pendingError: StoreError?

    /// Whether it ends when its task is cancelled: the statement may look at much for a row.
    private let endsWithTask: Bool

    init(_ snapshot: SQLSnapshot, _ lease: SQLLease, plan: SQLReadPlan, endsWithTask: Bool = false) {
        self.snapshot = snapshot
        self.lease = lease
        self.plan = plan
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
            switch try statement.fill(&batch, plan: plan) {
            case .full: break
            case .end: finish()
            case .damaged(let error):
                guard !batch.isEmpty else { throw error }
                pendingError = error
            }
        } catch {
            batch.removeAll()
            if error.damagedObject == nil { finish() }
            throw error
        }
        return !batch.isEmpty
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
                if let error = try lookup.statement.look(up: id.key, into: &batch, plan: lookup.plan) { throw error }
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
    private var isAtEnd = false

    /// Makes a cursor over what the lease's statement gives; without a lease, one without links.
    init(_ snapshot: SQLSnapshot, _ lease: SQLLease?, relationship: Int) {
        self.snapshot = snapshot
        self.lease = lease
        self.relationship = relationship
    }

    deinit { if let lease { snapshot.end(lease) } }

    func next(into batch: inout LinkBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        batch.relationship = relationship
        try snapshot.requireOpen()
        guard !isAtEnd, let lease, let statement = lease.statement else { return false }
        do throws(StoreError) {
            if try !statement.fill(&batch) { finish(lease) }
        } catch {
            batch.removeAll()
            finish(lease)
            throw error
        }
        return !batch.isEmpty
    }

    private func finish(_ lease: SQLLease) {
        isAtEnd = true
        snapshot.end(lease)
    }
}
