internal import RoostCore

/// One object of a change set: its table and its key.
struct SQLObjectKey: Hashable {
    let table: Int
    let key: Int64
}

/// What a row says about itself, without its values.
struct SQLRowHead {
    let version: UInt32
    let entity: Int
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
    /// The positions of the updates in the order of their tables and keys, in which rows that lie together are reached together.
    private(set) var updateOrder: [Int] = []
    /// The heads of the rows that are updated, by position in the updates.
    private(set) var updateHeads: [SQLRowHead?] = []
    /// The heads of the rows that are deleted, by position in the deletes.
    private(set) var deleteHeads: [SQLRowHead?] = []
    var inserted: Set<SQLObjectKey> = []
    var updated: Set<SQLObjectKey> = []
    var deleted: Set<SQLObjectKey> = []
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
    }

    /// Does all of it; returns the generation, which is a new one if anything changed.
    ///
    /// After an error the transaction must be rolled back.
    mutating func run() throws(StoreError) -> UInt64 {
        try collect()
        try requireNoDuplicates()
        try requireCurrentVersions()
        try checkConstraints()
        try deleteObjects()
        try writeUpdates()
        try writeInserts()
        try writeLinks()
        if !changes.userMetadata.isEmpty {
            var metadata = try SQLMetadata.userMetadata(connection, storeName: store.database.name)
            let old = metadata
            for (name, value) in changes.userMetadata { metadata[name] = value }
            if metadata != old {
                try SQLMetadata.setUserMetadata(metadata, connection, schema.dialect)
                hasChanged = true
            }
        }
        guard hasChanged else { return try SQLTallies.read(connection, store).generation }
        return try SQLTallies.apply(tally, connection, store)
    }

    /// The highest keys of inserted objects, by position in the schema's object tables.
    func lastKeys() -> [Int64?] {
        var last = [Int64?](repeating: nil, count: schema.objectTables.count)
        for object in inserted { last[object.table] = max(last[object.table] ?? 0, object.key) }
        return last
    }

    // MARK: Checking

    private mutating func collect() throws(StoreError) {
        inserted.reserveCapacity(changes.inserts.count)
        updated.reserveCapacity(changes.updates.count)
        for index in 0..<changes.inserts.count {
            guard changes.inserts.version(at: index) <= 1 else {
                throw StoreError(
                    .invalidRequest,
                    "New object \(changes.inserts.id(at: index)) carries a version above 1; is it an update?")
            }
            let key = SQLObjectKey(
                table: schema.tableOfEntity[changes.inserts.entityNumber(at: index)],
                key: changes.inserts.key(at: index))
            guard inserted.insert(key).inserted else { throw duplicate(changes.inserts.id(at: index)) }
        }
        for index in 0..<changes.updates.count {
            let key = SQLObjectKey(
                table: schema.tableOfEntity[changes.updates.entityNumber(at: index)],
                key: changes.updates.key(at: index))
            guard !inserted.contains(key) else { throw duplicate(changes.updates.id(at: index)) }
            guard updated.insert(key).inserted else { throw twice(changes.updates.id(at: index)) }
        }
        for batch in changes.addedLinks + changes.removedLinks { try batch.requirePositiveKeys(model) }
        for reference in changes.deletes {
            let key = SQLObjectKey(
                table: schema.tableOfEntity[try model.requireEntity(reference.id.entity).number], key: reference.id.key)
            guard !inserted.contains(key) else { throw duplicate(reference.id) }
            guard deleted.insert(key).inserted, !updated.contains(key) else { throw twice(reference.id) }
        }
    }

    private func duplicate(_ id: ObjectID) -> StoreError {
        StoreError(
            .duplicateObject, "An object with the key of \(id) exists already in its hierarchy; nothing was written.")
    }

    private func twice(_ id: ObjectID) -> StoreError {
        StoreError(.invalidRequest, "The change set changes \(id) more than once; nothing was written.")
    }

    /// Looks up the inserted keys; of a table whose keys all lie below them, the highest is enough.
    private func requireNoDuplicates() throws(StoreError) {
        var highest: [Int: Int64] = [:]
        for index in 0..<changes.inserts.count {
            let key = changes.inserts.key(at: index)
            let number = schema.tableOfEntity[changes.inserts.entityNumber(at: index)]
            let plan = schema.objectTables[number].writing
            if highest[number] == nil { highest[number] = try connection.integer(plan.highestKeySQL) ?? 0 }
            guard let last = highest[number], key <= last else { continue }
            if try connection.integer(plan.existsSQL, .integer(key)) != nil {
                throw duplicate(changes.inserts.id(at: index))
            }
        }
    }

    mutating func requireCurrentVersions() throws(StoreError) {
        var conflicts: [(position: Int, conflict: ObjectConflict)] = []
        try readUpdateHeads(&conflicts)
        for reference in changes.deletes { deleteHeads.append(try head(reference, &conflicts)) }
        for reference in changes.unchanged { _ = try head(reference, &conflicts) }
        // As the change set has them.
        let all = conflicts.sorted { $0.position < $1.position }.map(\.conflict)
        guard all.isEmpty else {
            throw StoreError(
                .conflict,
                "\(all.count) of the objects to change, \(all[0].id) first, were changed by somebody else since they were read; nothing was written.",
                conflicts: all)
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
            try connection.withStatement(plan.headSQL) { (statement) throws(StoreError) in
                for index in updateOrder[start..<end] {
                    let entity = updates.entityNumber(at: index)
                    let object = SQLObjectKey(table: table, key: updates.key(at: index))
                    let version = updates.version(at: index)
                    var head = try head(object, statement)
                    if let found = head, found.entity == entity, found.version == version {
                        if let steps = plan.indexed[entity] {
                            head?.keepsIndexedColumns = try updates.withRecord(at: index) {
                                (record) throws(StoreError) in try statement.holds(record, in: steps)
                            }
                        }
                        updateHeads[index] = head
                    } else {
                        let isThere = head?.entity == entity
                        statement.reset()
                        let conflict = ObjectConflict(
                            id: updates.id(at: index), expectedVersion: version,
                            current: isThere ? try record(object) : nil)
                        conflicts.append((index, conflict))
                    }
                    statement.reset()
                }
            }
            start = end
        }
    }

    private func head(
        _ reference: ChangeSet.Reference, _ conflicts: inout [(position: Int, conflict: ObjectConflict)]
    ) throws(StoreError) -> SQLRowHead? {
        let entity = try model.requireEntity(reference.id.entity)
        let key = SQLObjectKey(table: schema.tableOfEntity[entity.number], key: reference.id.key)
        let position = changes.updates.count + conflicts.count
        guard let head = try head(key), head.entity == entity.number else {
            conflicts.append(
                (position, ObjectConflict(id: reference.id, expectedVersion: reference.version, current: nil)))
            return nil
        }
        if head.version != reference.version {
            let current = try record(key)
            conflicts.append(
                (position, ObjectConflict(id: reference.id, expectedVersion: reference.version, current: current)))
        }
        return head
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
        return SQLRowHead(
            version: version, entity: entity, contentHash: UInt64(bitPattern: try statement.integer(at: 2)))
    }

    private func record(_ object: SQLObjectKey) throws(StoreError) -> Record? {
        let table = schema.objectTables[object.table]
        let sql = schema.lookupSQL[table.root]
        return try connection.withStatement(sql) { (statement) throws(StoreError) -> Record? in
            var batch = RecordBatch(model: model)
            if let error = try statement.look(up: object.key, into: &batch, plan: schema.reading[table.root]) {
                throw error
            }
            return batch.isEmpty ? nil : batch.record(at: 0)
        }
    }
}
