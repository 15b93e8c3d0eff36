internal import RoostCore

/// What a row says about itself, without its values.
struct SQLRowHead {
    let version: UInt32
    let entity: Int
    /// The content hash that the row's checksum stands for.
    ///
    /// The tallies count this hash.
    let contentHash: UInt64
    /// Whether the columns that indexes have hold what the record that is to replace the row has.
    var keepsIndexedColumns = false
}

/// One commit under way: checks everything first, then writes.
struct SQLCommit {
    let store: SQLStore
    let changes: ChangeSet
    let connection: any SQLConnection
    /// What changes in the store's tallies.
    var tally: StoreTally
    /// What is known of the tallies before, then after the commit.
    private(set) var knownTallies: SQLKnownTallies
    /// The positions of the updates in the order of their tables and keys, in which rows that lie together are reached together.
    private(set) var updateOrder: [Int] = []
    /// The heads of the rows that are updated, by position in the updates.
    private(set) var updateHeads: [SQLRowHead?] = []
    /// The heads of the rows that are deleted, by position in the deletes.
    private(set) var deleteHeads: [SQLRowHead?] = []
    private(set) var inserted = SQLObjectSet()
    private(set) var updated = SQLObjectSet()
    private(set) var deleted = SQLObjectSet()
    /// The highest keys of inserted objects, by position in the schema's object tables.
    private(set) var lastKeys: [Int64?] = []
    /// Whether anything in the store is different afterwards.
    var hasChanged = false
    /// Constraints whose values move between updated objects: the old ones must go before the new ones come.
    var constraintsToRelease: Set<Int> = []

    var schema: SQLSchema { store.schema }
    var model: ManagedObjectModel { schema.model }

    init(_ changes: ChangeSet, store: SQLStore, connection: any SQLConnection) {
        self.changes = changes
        self.store = store
        self.connection = connection
        tally = StoreTally(model: store.model)
        knownTallies = store.state.withLock { $0.knownTallies }
    }

    /// Does all of it; returns the generation, which is a new one if anything changed.
    ///
    /// After an error the transaction must be rolled back.
    mutating func run() throws(StoreError) -> UInt64 {
        try collect()
        try requireCurrentVersions()
        try requireLastPlaces()
        try checkConstraints()
        try deleteObjects()
        try writeUpdates()
        try writeInserts()
        try writeLinks()
        if !changes.userMetadata.isEmpty {
            var metadata = try SQLMetadata.userMetadata(connection, storeName: store.database.name, schema)
            let old = metadata
            for (name, value) in changes.userMetadata { metadata[name] = value }
            if metadata != old {
                try SQLMetadata.setUserMetadata(metadata, connection, schema)
                hasChanged = true
            }
        }
        guard hasChanged else { return try SQLTallies.read(connection, store).generation }
        return try SQLTallies.apply(tally, known: &knownTallies, connection, store)
    }

    // MARK: Checking

    private mutating func collect() throws(StoreError) {
        for index in 0..<changes.inserts.count where changes.inserts.version(at: index) > 1 {
            throw StoreError(
                .invalidRequest,
                "New object \(changes.inserts.id(at: index)) carries a version above 1; is it an update?")
        }
        inserted = SQLObjectSet(changes.inserts, schema)
        if let object = inserted.repeated { throw duplicate(id(object, changes.inserts)) }
        updated = SQLObjectSet(changes.updates, schema)
        for object in updated.objects where inserted.contains(object) { throw duplicate(id(object, changes.updates)) }
        if let object = updated.repeated { throw twice(id(object, changes.updates)) }
        for batch in changes.addedLinks + changes.removedLinks { try batch.requirePositiveKeys(model) }
        var gone: [SQLObjectKey] = []
        for reference in changes.deletes {
            let object = try schema.object(reference)
            if inserted.contains(object) { throw duplicate(reference.id) }
            if updated.contains(object) { throw twice(reference.id) }
            gone.append(object)
        }
        deleted = SQLObjectSet(gone)
        if let object = deleted.repeated {
            throw twice(gone.lastIndex(of: object).map { changes.deletes[$0].id } ?? id(object))
        }
        lastKeys = [Int64?](repeating: nil, count: schema.objectTables.count)
        for object in inserted.objects { lastKeys[object.table] = object.key }
    }

    /// The identity of an object of a batch.
    private func id(_ object: SQLObjectKey, _ records: RecordBatch) -> ObjectID {
        let index = (0..<records.count).last { schema.object(records, at: $0) == object }
        return index.map(records.id) ?? id(object)
    }

    /// The identity of an object whose own entity is not known, by the root of its hierarchy.
    private func id(_ object: SQLObjectKey) -> ObjectID {
        ObjectID(model.entities[schema.objectTables[object.table].root].name, object.key)
    }

    private func duplicate(_ id: ObjectID) -> StoreError {
        StoreError(
            .duplicateObject, "An object with the key of \(id) exists already in its hierarchy; nothing was written.")
    }

    private func twice(_ id: ObjectID) -> StoreError {
        StoreError(.invalidRequest, "The change set changes \(id) more than once; nothing was written.")
    }

    /// Looks the inserted keys up in the store; throws code `duplicateObject`, naming the first that is there.
    ///
    /// The database itself refuses such a key, without naming it.
    func requireNoDuplicates() throws(StoreError) {
        for index in 0..<changes.inserts.count {
            let object = schema.object(changes.inserts, at: index)
            let sql = schema.objectTables[object.table].writing.existsSQL
            if try connection.integer(sql, .integer(object.key)) != nil {
                throw duplicate(changes.inserts.id(at: index))
            }
        }
    }

    mutating func requireCurrentVersions() throws(StoreError) {
        guard !changes.updates.isEmpty || !changes.deletes.isEmpty || !changes.unchanged.isEmpty else { return }
        var conflicts: [(position: Int, conflict: ObjectConflict)] = []
        try readUpdateHeads(&conflicts)
        var old = RecordBatch(model: model)
        for reference in changes.deletes { deleteHeads.append(try head(deleting: reference, &old, &conflicts)) }
        for reference in changes.unchanged { try requireUnchanged(reference, &conflicts) }
        // As the change set has them.
        let all = conflicts.sorted { $0.position < $1.position }.map(\.conflict)
        guard all.isEmpty else {
            throw StoreError(
                .conflict,
                "\(all.count) of the objects to change, \(all[0].id) first, were changed by somebody else since they were read; nothing was written.",
                conflicts: all)
        }
    }

    /// Throws code `conflict` where a place was taken after the last one that was read.
    func requireLastPlaces() throws(StoreError) {
        for last in changes.lastPlaces {
            let relationship = try last.requireOrdered(model)
            guard relationship.storage != .field else { continue }
            let p = schema.dialect.parameter(2)
            let links = try schema.linkQuery(relationship, from: nil)
            let condition = last.place == nil ? "\(p) IS NULL" : "l.place > \(p)"
            let sql =
                "WITH l(source, target, place, inverse_place) AS (\(links)) SELECT 1 FROM l WHERE \(condition) LIMIT 1"
            let isTaken = try connection.withStatement(sql) { (statement) throws(StoreError) -> Bool in
                try statement.bind([.integer(last.id.key), last.place.map { .integer($0) } ?? .null])
                return try statement.step()
            }
            guard !isTaken else { throw last.conflict }
        }
    }

    private mutating func readUpdateHeads(
        _ conflicts: inout [(position: Int, conflict: ObjectConflict)]
    ) throws(StoreError) {
        let updates = changes.updates
        updateHeads = [SQLRowHead?](repeating: nil, count: updates.count)
        updateOrder = updates.positionsByKey(in: schema.tableOfEntity)
        var start = 0
        while start < updateOrder.count {
            let table = schema.tableOfEntity[updates.entityNumber(at: updateOrder[start])]
            var end = start + 1
            while end < updateOrder.count, schema.tableOfEntity[updates.entityNumber(at: updateOrder[end])] == table {
                end += 1
            }
            let plan = schema.updating[table]
            let root = schema.objectTables[table].root
            var old = RecordBatch(model: model)
            try connection.withStatement(schema.reading.lookupSQL(root)) { (statement) throws(StoreError) in
                for index in updateOrder[start..<end] {
                    let entity = updates.entityNumber(at: index)
                    let object = SQLObjectKey(table: table, key: updates.key(at: index))
                    let version = updates.version(at: index)
                    old.removeAll()
                    // What the new record takes the place of is verified: damage is refused, not signed.
                    let error = try statement.look(
                        up: object.key, into: &old, plan: schema.reading[root], accepting: store.acceptsChanges)
                    if let error { throw error }
                    let isThere = !old.isEmpty && old.entityNumber(at: 0) == entity
                    guard isThere, old.version(at: 0) == version else {
                        let conflict = ObjectConflict(
                            id: updates.id(at: index), expectedVersion: version,
                            current: isThere ? old.record(at: 0) : nil)
                        conflicts.append((index, conflict))
                        continue
                    }
                    var head = try old.withRecord(at: 0) { (record) throws(StoreError) in try self.head(of: record) }
                    if !store.acceptsChanges, let indexed = plan.indexed[entity] {
                        head.keepsIndexedColumns = old.withRecord(at: 0) { old in
                            updates.withRecord(at: index) { indexed.holds(old, $0) }
                        }
                    }
                    updateHeads[index] = head
                }
            }
            start = end
        }
    }

    /// Returns the head of the row of a record that was just read.
    private func head(of record: RecordReader) throws(StoreError) -> SQLRowHead {
        var hash = record.storedContentHash
        if store.acceptsChanges {
            // Of a row that another program changed the tallies count what its checksum still stands for.
            let object = SQLObjectKey(table: schema.tableOfEntity[record.entityNumber], key: record.key)
            if let stored = try head(object) { hash = stored.contentHash }
        }
        return SQLRowHead(version: record.version, entity: record.entityNumber, contentHash: hash)
    }

    /// Returns the head of the row of an object to delete, after verifying its values.
    ///
    /// - Returns: Nil, with a conflict, if the object does not have the version of the reference.
    private func head(
        deleting reference: ChangeSet.Reference, _ old: inout RecordBatch,
        _ conflicts: inout [(position: Int, conflict: ObjectConflict)]
    ) throws(StoreError) -> SQLRowHead? {
        let entity = try model.requireEntity(reference.id.entity)
        let root = entity.root
        old.removeAll()
        let error = try connection.withStatement(schema.reading.lookupSQL(root)) {
            (statement) throws(StoreError) -> StoreError? in
            try statement.look(
                up: reference.id.key, into: &old, plan: schema.reading[root], accepting: store.acceptsChanges)
        }
        if let error { throw error }
        let isThere = !old.isEmpty && old.entityNumber(at: 0) == entity.number
        guard isThere, old.version(at: 0) == reference.version else {
            note(reference, current: isThere ? old.record(at: 0) : nil, &conflicts)
            return nil
        }
        return try old.withRecord(at: 0) { (record) throws(StoreError) in try head(of: record) }
    }

    /// Notes a conflict if an object does not have the version of a reference.
    private func requireUnchanged(
        _ reference: ChangeSet.Reference, _ conflicts: inout [(position: Int, conflict: ObjectConflict)]
    ) throws(StoreError) {
        let entity = try model.requireEntity(reference.id.entity)
        let key = SQLObjectKey(table: schema.tableOfEntity[entity.number], key: reference.id.key)
        guard let head = try head(key), head.entity == entity.number else {
            return note(reference, current: nil, &conflicts)
        }
        if head.version != reference.version { note(reference, current: try record(key), &conflicts) }
    }

    private func note(
        _ reference: ChangeSet.Reference, current: Record?,
        _ conflicts: inout [(position: Int, conflict: ObjectConflict)]
    ) {
        let position = changes.updates.count + conflicts.count
        conflicts.append(
            (position, ObjectConflict(id: reference.id, expectedVersion: reference.version, current: current)))
    }

    func head(_ object: SQLObjectKey) throws(StoreError) -> SQLRowHead? {
        try connection.withStatement(schema.updating[object.table].headSQL) {
            (statement) throws(StoreError) -> SQLRowHead? in try head(object, statement)
        }
    }

    /// Reads what a row says about itself; the statement then stands at the row.
    private func head(_ object: SQLObjectKey, _ statement: any SQLStatement) throws(StoreError) -> SQLRowHead? {
        try statement.bind(.integer(object.key), at: 1)
        guard try statement.step() else { return nil }
        let root = schema.objectTables[object.table].root
        let entity = try statement.integer(at: 1)
        guard let version = UInt32(exactly: try statement.integer(at: 0)), let entity = Int(exactly: entity),
            model.entities.indices.contains(entity), model.entities[root].includes(entity)
        else {
            throw schema.reading[root].damaged(
                key: object.key, entity: nil, "its version or its entity is not a possible one")
        }
        let checksum = UInt64(bitPattern: try statement.integer(at: 2))
        return SQLRowHead(
            version: version, entity: entity,
            contentHash: schema.checksum.contentHash(checksum: checksum, version: version))
    }

    private func record(_ object: SQLObjectKey) throws(StoreError) -> Record? {
        let table = schema.objectTables[object.table]
        let sql = schema.reading.lookupSQL(table.root)
        return try connection.withStatement(sql) { (statement) throws(StoreError) -> Record? in
            var batch = RecordBatch(model: model)
            if let error = try statement.look(
                up: object.key, into: &batch, plan: schema.reading[table.root], accepting: store.acceptsChanges)
            {
                throw error
            }
            return batch.isEmpty ? nil : batch.record(at: 0)
        }
    }
}
