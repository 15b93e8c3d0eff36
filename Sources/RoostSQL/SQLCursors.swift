internal import RoostCore

/// The records that one SELECT gives.
final class SQLRecordCursor: RecordCursor {
    private let snapshot: SQLSnapshot
    private let lease: SQLLease
    private let plan: SQLReadPlan
    private var isAtEnd = false
    /// The error of a row that waits until the records before it were handed out.
    private var pendingError: StoreError?

    init(_ snapshot: SQLSnapshot, _ lease: SQLLease, plan: SQLReadPlan) {
        self.snapshot = snapshot
        self.lease = lease
        self.plan = plan
    }

    deinit { snapshot.end(lease) }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        _ = try snapshot.open()
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
    /// By entity number.
    private var leases: [Int: SQLLease] = [:]
    private var pendingError: StoreError?

    init(_ snapshot: SQLSnapshot, _ ids: [ObjectID]) {
        self.snapshot = snapshot
        self.ids = ids
    }

    deinit { for lease in leases.values { snapshot.end(lease) } }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        _ = try snapshot.open()
        if let error = pendingError {
            pendingError = nil
            throw error
        }
        while index < ids.count, !batch.isFull {
            let id = ids[index]
            index += 1
            do throws(StoreError) {
                if let error = try read(id, into: &batch) { throw error }
            } catch {
                if error.damagedObject == nil { index = ids.count }
                guard !batch.isEmpty else { throw error }
                pendingError = error
                return true
            }
        }
        return !batch.isEmpty
    }

    /// Reads one record, if it exists; returns the error of a damaged one.
    private func read(_ id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> StoreError? {
        let schema = snapshot.schema
        // Snapshot.records(with:) made sure that the entity exists.
        guard let entity = schema.model.entity(id.entity) else { return nil }
        let plan = schema.reading[entity.number]
        if leases[entity.number] == nil {
            let table = schema.table(of: entity.number)
            let filter = schema.entityFilter(entity.selfAndSubentities, in: table).map { " AND \($0)" } ?? ""
            leases[entity.number] = try snapshot.lease(
                "SELECT \(plan.columnList) FROM \(table.quotedName) WHERE _id = \(schema.dialect.parameter(1))\(filter)",
                [])
        }
        guard let statement = leases[entity.number]?.statement else { return nil }
        try statement.bind(.integer(id.key), at: 1)
        defer { statement.reset() }
        // A full batch takes no row: make sure that this one is asked for.
        if case .damaged(let error) = try statement.fill(&batch, plan: plan) { return error }
        return nil
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
        _ = try snapshot.open()
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
