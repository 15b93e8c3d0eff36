internal import RoostCore
internal import RoostQuery

/// The state of a scan in key order, which can continue after an unreadable row.
struct SQLScan {
    /// The SELECT of the records whose keys are above parameter 1.
    let restSQL: String
    /// The SELECT of the lowest key above parameter 1.
    let nextKeySQL: String
    /// The key of the last record that was read or skipped as too large.
    var lastKey: Int64
    /// The keys of the damaged rows that were reported after ``lastKey``.
    var damagedKeys: Set<Int64> = []
}

/// The records of a SELECT.
final class SQLRecordCursor: FillingRecordCursor {
    private let snapshot: SQLSnapshot
    private var lease: SQLLease
    private let plan: SQLReadPlan
    /// The state of the scan; nil for a SELECT that is not a scan.
    private var scan: SQLScan?
    /// Whether the cursor ends when its task is cancelled.
    ///
    /// True for a statement that may read many rows before it returns a record.
    private let endsWithTask: Bool

    init(
        _ snapshot: SQLSnapshot, lease: SQLLease, plan: SQLReadPlan, scan: SQLScan? = nil, endsWithTask: Bool = false
    ) {
        self.snapshot = snapshot
        self.lease = lease
        self.plan = plan
        self.scan = scan
        self.endsWithTask = endsWithTask
        super.init(model: snapshot.model)
    }

    deinit { snapshot.end(lease) }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }
    override func finish() { snapshot.end(lease) }

    override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        guard endsWithTask else { return try read(&batch) }
        try FetchCancellation.check()
        return try snapshot.open().endingWithTask { () throws(StoreError) in try read(&batch) }
    }

    private func read(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        guard let access = lease.access else { return false }
        let end: SQLFill
        do throws(StoreError) {
            end = try access.fill(&batch, plan: plan, accepting: snapshot.acceptsChanges)
        } catch {
            guard error.code == .limitExceeded, error.damagedObject == nil, scan != nil else { throw error }
            guard isInOrder(&batch) else { return false }
            throw try passing(error)
        }
        guard isInOrder(&batch) else { return false }
        switch end {
        case .full: return true
        case .end: return false
        case .damaged(let error):
            if let key = error.damagedObject?.key { scan?.damagedKeys.insert(key) }
            throw error
        }
    }

    /// Ends a scan before a key that is not above the preceding key, as in a file with exchanged
    /// pages.
    ///
    /// Returns false if it ended the scan.
    private func isInOrder(_ batch: inout RecordBatch) -> Bool {
        guard !batch.isEmpty, var lastKey = scan?.lastKey else { return true }
        for index in 0..<batch.count {
            let key = batch.key(at: index)
            guard key > lastKey else {
                let id = batch.id(at: index)
                var sound = RecordBatch(model: batch.model)
                for index in 0..<index { sound.append(batch, at: index) }
                batch = sound
                end(
                    with: StoreError(
                        .corrupted,
                        "The rows of '\(snapshot.store.database.name)' are not in key order: \(id) comes after key \(lastKey). The file is damaged; restore it from a backup."
                    ))
                return false
            }
            lastKey = key
        }
        scan?.lastKey = lastKey
        scan?.damagedKeys.removeAll()
        return true
    }

    /// Skips a row with a value that is too large, and returns the error with the ID of the row's
    /// object.
    private func passing(_ error: StoreError) throws(StoreError) -> StoreError {
        guard var scan else { throw error }
        var key = scan.lastKey
        repeat {
            guard let next = try snapshot.open().integer(scan.nextKeySQL, .integer(key)) else { throw error }
            key = next
        } while scan.damagedKeys.contains(key)
        (scan.lastKey, scan.damagedKeys) = (key, [])
        self.scan = scan
        snapshot.end(lease)
        lease = try snapshot.lease(scan.restSQL, values: [.integer(key)])
        return plan.tooLarge(key: key, error: error)
    }
}

/// The records with given IDs, in the given order.
final class SQLRecordLookup: FillingRecordCursor {
    private let snapshot: SQLSnapshot
    private let ids: [ObjectID]
    private var index = 0
    /// The lookup for the previous ID, because consecutive IDs often have the same entity.
    private var lookup: SQLLookup?

    init(_ snapshot: SQLSnapshot, ids: [ObjectID]) {
        self.snapshot = snapshot
        self.ids = ids
        super.init(model: snapshot.model)
    }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        while index < ids.count, !batch.isFull {
            let id = ids[index]
            index += 1
            let lookup: SQLLookup
            if let last = self.lookup, last.name == id.entity {
                lookup = last
            } else {
                lookup = try snapshot.lookup(id.entity)
                self.lookup = lookup
            }
            try look(up: id.key, by: lookup, into: &batch)
        }
        return index < ids.count
    }

    /// Appends the record with a key, if it exists.
    ///
    /// The error for a value that is too large names the object, so that the cursor can continue.
    private func look(up key: Int64, by lookup: SQLLookup, into batch: inout RecordBatch) throws(StoreError) {
        let damage: StoreError?
        do throws(StoreError) {
            damage = try lookup.access.look(
                up: key, into: &batch, plan: lookup.plan, accepting: snapshot.acceptsChanges)
        } catch {
            guard error.code == .limitExceeded, error.damagedObject == nil else { throw error }
            throw lookup.plan.tooLarge(key: key, error: error)
        }
        if let damage { throw damage }
    }
}

/// The links of a SELECT.
final class SQLLinkCursor: FillingLinkCursor {
    private let snapshot: SQLSnapshot
    private let lease: SQLLease?
    /// Whether the SELECT returns the links of all objects, in order.
    private let isScan: Bool
    private var last: Link?

    /// Creates a cursor over the rows of the lease's statement; without a lease, it has no links.
    init(_ snapshot: SQLSnapshot, lease: SQLLease?, relationship: Int, isScan: Bool = false) {
        self.snapshot = snapshot
        self.lease = lease
        self.isScan = isScan
        super.init(relationship: relationship)
    }

    deinit { finish() }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }
    override func finish() { if let lease { snapshot.end(lease) } }

    override func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        guard let statement = lease?.statement else { return false }
        let isMore = try statement.fill(&batch)
        if isScan { try requireOrder(batch) }
        return isMore
    }

    /// Throws `corrupted` if a link does not come after the preceding link.
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
}

/// The links of many objects, read by a statement that runs once for each object.
final class SQLGroupedLinkCursor: FillingLinkCursor {
    private let snapshot: SQLSnapshot
    private let description: ManagedObjectModel.Relationship
    private let ids: [ObjectID]
    private var index = 0
    /// The statement for objects of `entity`.
    private var lease: SQLLease?
    private var entity: EntityName?
    /// Whether objects of `entity` can have the relationship.
    private var canHaveLinks = false
    /// Whether the statement may have more rows of the current object, `ids[index - 1]`.
    private var isUnderWay = false

    init(_ snapshot: SQLSnapshot, relationship: ManagedObjectModel.Relationship, ids: [ObjectID]) {
        (self.snapshot, description, self.ids) = (snapshot, relationship, ids)
        super.init(relationship: relationship.number)
    }

    deinit { finish() }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }
    override func finish() { if let lease { snapshot.end(lease) } }

    override func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        while !batch.isFull {
            if !isUnderWay { guard try begin() else { return false } }
            guard let statement = lease?.statement else { return false }
            isUnderWay = try statement.fill(&batch)
            if !isUnderWay { statement.reset() }
        }
        return true
    }

    /// Binds the statement to the next object that can have links; returns false if none is left.
    private func begin() throws(StoreError) -> Bool {
        while index < ids.count {
            let id = ids[index]
            index += 1
            if id.entity != entity { try prepare(id.entity) }
            guard canHaveLinks, let statement = lease?.statement else { continue }
            try statement.bind(.integer(id.key), at: 1)
            return true
        }
        return false
    }

    private func prepare(_ name: EntityName) throws(StoreError) {
        let source = try snapshot.model.requireEntity(name)
        if let lease { snapshot.end(lease) }
        (lease, entity) = (nil, name)
        canHaveLinks = snapshot.model.entities[description.source].includes(source.number)
        if canHaveLinks {
            lease = try snapshot.lease(try snapshot.linkQuery(description, from: source), values: [], isRepeated: true)
        }
    }
}
