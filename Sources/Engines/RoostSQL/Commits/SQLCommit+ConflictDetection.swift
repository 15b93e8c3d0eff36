internal import RoostCore

struct SQLRowHead {
    let version: UInt32
    let entity: Int
    /// The content hash in the row's checksum.
    ///
    /// The tallies contain this hash, even if another program changed the values of the row.
    let contentHash: UInt64
    /// Whether the update is known to leave the values in all indexed columns unchanged.
    var keepsIndexedColumns = false
}

// Optimistic conflict detection compares the versions in the store with the versions that the caller read.

extension SQLCommit {
    /// Throws `conflict` if an object does not have the version and entity that the change set
    /// names.
    mutating func requireCurrentVersions() throws(StoreError) {
        guard !changes.updates.isEmpty || !changes.deletes.isEmpty || !changes.unchanged.isEmpty else { return }
        var conflicts = ChangeConflicts()
        try readUpdateHeads(&conflicts)
        var old = RecordBatch(model: model)
        for item in change.deletes { deleteHeads.append(try head(deleting: item, old: &old, conflicts: &conflicts)) }
        for item in inLockOrder(change.unchanged) { try requireUnchanged(item, old: &old, conflicts: &conflicts) }
        try conflicts.throwIfAny()
    }

    /// Locks the objects whose ordered lists the change set extends.
    ///
    /// A concurrent commit that extends one of these lists waits, and then finds that the place is
    /// taken. Call this method before ``requireCurrentVersions()``, because an unchanged object may
    /// own such a list and gets a weaker lock there.
    func lockListOwners() throws(StoreError) {
        guard writer.locks != nil, !change.lastPlaces.isEmpty else { return }
        let owners = change.lastPlaces.map { last in
            ObjectPlace(root: model.entities[last.relationship.source].root, key: last.expected.id.key)
        }
        for owner in owners.sorted(by: <) { _ = try head(owner, locking: .change) }
    }

    /// Throws `conflict` if an ordered list has a place after the last place that the caller read.
    func requireLastPlaces() throws(StoreError) {
        for last in change.lastPlaces {
            let (relationship, place) = (last.relationship, last.expected.place)
            guard relationship.storage != .field else { continue }
            let links = try schema.linkQuery(relationship, from: nil)
            let condition = place == nil ? "" : " WHERE l.place > \(schema.dialect.parameter(2))"
            let sql =
                "WITH l(source, target, place, inverse_place) AS (\(links)) SELECT 1 FROM l\(condition) \(schema.dialect.limit("1", offset: nil))"
            let isTaken = try connection.withStatement(sql) { (statement) throws(StoreError) -> Bool in
                try statement.bind([.integer(last.expected.id.key)] + (place.map { [.integer($0)] } ?? []))
                return try statement.step()
            }
            guard !isTaken else { throw last.expected.conflict }
        }
    }

    /// Returns the items, sorted by hierarchy and key if the commit locks rows.
    func inLockOrder(_ items: [PreparedChange.Item]) -> [PreparedChange.Item] {
        writer.locks == nil ? items : items.sorted { $0.place < $1.place }
    }

    private mutating func readUpdateHeads(_ conflicts: inout ChangeConflicts) throws(StoreError) {
        let updates = changes.updates
        updateHeads = [SQLRowHead?](repeating: nil, count: updates.count)
        var start = 0
        while start < change.updates.count {
            let end = endOfTable(start)
            let root = change.updates[start].place.root
            let plan = schema.updating[schema.tableOfEntity[root]]
            var old = RecordBatch(model: model)
            let lookup =
                writer.locks == nil ? schema.reading.lookupSQL(root) : schema.reading.changingLookupSQL(root)
            try connection.withStatement(lookup) { (statement) throws(StoreError) in
                let access = SQLRecordAccess(statement)
                for order in start..<end {
                    let item = change.updates[order]
                    old.removeAll()
                    // The old record is verified, so that a damaged row does not get a valid checksum.
                    let error = try access.look(
                        up: item.place.key, into: &old, plan: schema.reading[root], accepting: store.acceptsChanges)
                    if let error { throw error }
                    let version = updates.version(at: item.position)
                    guard Self.holds(old, item: item, version: version) else {
                        note(
                            item, version: version, found: old, rank: change.rank(ofUpdate: item), conflicts: &conflicts
                        )
                        continue
                    }
                    var head = try old.withRecord(at: 0) { (record) throws(StoreError) in try self.head(of: record) }
                    if !store.acceptsChanges, let indexed = plan.indexed[item.entity] {
                        head.keepsIndexedColumns = old.withRecord(at: 0) { old in
                            updates.withRecord(at: item.position) { indexed.holds(old, $0) }
                        }
                    }
                    updateHeads[order] = head
                    if history != nil {
                        old.withRecord(at: 0) { old in
                            updates.withRecord(at: item.position) { history?.update(old, to: $0) }
                        }
                    }
                }
            }
            start = end
        }
    }

    /// Returns the end of the run of updates that begins at `start` and belongs to one table.
    func endOfTable(_ start: Int) -> Int {
        let updates = change.updates
        var end = start + 1
        while end < updates.count, updates[end].place.root == updates[start].place.root { end += 1 }
        return end
    }

    private static func holds(_ found: RecordBatch, item: PreparedChange.Item, version: UInt32) -> Bool {
        !found.isEmpty && found.entityNumber(at: 0) == item.entity && found.version(at: 0) == version
    }

    private func note(
        _ item: PreparedChange.Item, version: UInt32, found: RecordBatch, rank: Int,
        conflicts: inout ChangeConflicts
    ) {
        guard !found.isEmpty else {
            return conflicts.append(item, version: version, stored: nil, in: change, rank: rank)
        }
        found.withRecord(at: 0) { conflicts.append(item, version: version, stored: $0, in: change, rank: rank) }
    }

    private func head(of record: RecordReader) throws(StoreError) -> SQLRowHead {
        var hash = record.storedContentHash
        if store.acceptsChanges {
            // If another program changed the row, the tallies contain the hash in the row's checksum, not the hash of
            // the new values.
            let place = ObjectPlace(root: model.entities[record.entityNumber].root, key: record.key)
            if let stored = try head(place) { hash = stored.contentHash }
        }
        return SQLRowHead(version: record.version, entity: record.entityNumber, contentHash: hash)
    }

    /// Verifies the row of an object to delete, and returns its head.
    ///
    /// Returns nil after adding a conflict if the version or entity differs from the change set.
    private mutating func head(
        deleting item: PreparedChange.Item, old: inout RecordBatch, conflicts: inout ChangeConflicts
    ) throws(StoreError) -> SQLRowHead? {
        let version = changes.deletes[item.position].version
        try read(item, into: &old, locking: .removal)
        guard Self.holds(old, item: item, version: version) else {
            note(item, version: version, found: old, rank: change.rank(ofDelete: item), conflicts: &conflicts)
            return nil
        }
        return try old.withRecord(at: 0) { (record) throws(StoreError) in
            try history?.delete(record)
            return try head(of: record)
        }
    }

    /// Adds a conflict if the version or entity of an object differs from the change set.
    private func requireUnchanged(
        _ item: PreparedChange.Item, old: inout RecordBatch, conflicts: inout ChangeConflicts
    ) throws(StoreError) {
        let version = changes.unchanged[item.position].version
        if let head = try head(item.place, locking: .version), head.entity == item.entity, head.version == version {
            return
        }
        try read(item, into: &old)
        note(item, version: version, found: old, rank: change.rank(ofUnchanged: item), conflicts: &conflicts)
    }

    /// Reads the record at an item's place; the record's entity may differ from the item's.
    private func read(
        _ item: PreparedChange.Item, into batch: inout RecordBatch, locking lock: SQLRowLock? = nil
    ) throws(StoreError) {
        let root = item.place.root
        batch.removeAll()
        let lookup = schema.reading.lookupSQL(root)
        let error = try connection.withStatement(lock.map { writer.locking(lookup, lock: $0) } ?? lookup) {
            (statement) throws(StoreError) -> StoreError? in
            try SQLRecordAccess(statement).look(
                up: item.place.key, into: &batch, plan: schema.reading[root], accepting: store.acceptsChanges)
        }
        if let error { throw error }
    }

    func head(_ place: ObjectPlace, locking lock: SQLRowLock? = nil) throws(StoreError) -> SQLRowHead? {
        let sql = schema.updating[schema.tableOfEntity[place.root]].headSQL
        return try connection.withStatement(lock.map { writer.locking(sql, lock: $0) } ?? sql) {
            (statement) throws(StoreError) -> SQLRowHead? in try head(place, statement: statement)
        }
    }

    /// Leaves the statement at the row.
    private func head(_ place: ObjectPlace, statement: any SQLStatement) throws(StoreError) -> SQLRowHead? {
        try statement.bind(.integer(place.key), at: 1)
        guard try statement.step() else { return nil }
        let entity = try statement.integer(at: 1)
        guard let version = UInt32(exactly: try statement.integer(at: 0)), let entity = Int(exactly: entity),
            model.entities.indices.contains(entity), model.entities[place.root].includes(entity)
        else {
            throw schema.reading[place.root].damaged(
                key: place.key, entity: nil, reason: "its version or entity is invalid")
        }
        let checksum = UInt64(bitPattern: try statement.integer(at: 2))
        return SQLRowHead(
            version: version, entity: entity,
            contentHash: schema.checksum.contentHash(checksum: checksum, version: version))
    }
}
