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
}

/// One commit under way: checks everything first, then writes.
struct SQLCommit {
    let store: SQLStore
    let changes: ChangeSet
    let connection: any SQLConnection
    /// What changes in the store's tallies.
    var tally: StoreTally
    /// The heads of the rows that are updated or deleted.
    var heads: [SQLObjectKey: SQLRowHead] = [:]
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
        for index in 0..<changes.inserts.count {
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
            let table = schema.objectTables[number].quotedName
            if highest[number] == nil {
                highest[number] = try connection.integer("SELECT MAX(_id) FROM \(table)") ?? 0
            }
            guard let last = highest[number], key <= last else { continue }
            let sql = "SELECT 1 FROM \(table) WHERE _id = \(schema.dialect.parameter(1))"
            if try connection.integer(sql, .integer(key)) != nil { throw duplicate(changes.inserts.id(at: index)) }
        }
    }

    mutating func requireCurrentVersions() throws(StoreError) {
        var conflicts: [ObjectConflict] = []
        for index in 0..<changes.updates.count {
            try check(changes.updates.id(at: index), changes.updates.version(at: index), &conflicts)
        }
        for reference in changes.deletes { try check(reference.id, reference.version, &conflicts) }
        for reference in changes.unchanged { try check(reference.id, reference.version, &conflicts) }
        guard conflicts.isEmpty else {
            throw StoreError(
                .conflict,
                "\(conflicts.count) of the objects to change, \(conflicts[0].id) first, were changed by somebody else since they were read; nothing was written.",
                conflicts: conflicts)
        }
    }

    private mutating func check(
        _ id: ObjectID, _ version: UInt32, _ conflicts: inout [ObjectConflict]
    ) throws(StoreError) {
        let entity = try model.requireEntity(id.entity)
        let key = SQLObjectKey(table: schema.tableOfEntity[entity.number], key: id.key)
        guard let head = try head(key), head.entity == entity.number else {
            conflicts.append(ObjectConflict(id: id, expectedVersion: version, current: nil))
            return
        }
        heads[key] = head
        guard head.version != version else { return }
        conflicts.append(ObjectConflict(id: id, expectedVersion: version, current: try record(key)))
    }

    func head(_ object: SQLObjectKey) throws(StoreError) -> SQLRowHead? {
        let table = schema.objectTables[object.table]
        return try connection.withStatement(table.headSQL) { (statement) throws(StoreError) -> SQLRowHead? in
            try statement.bind(.integer(object.key), at: 1)
            guard try statement.step() else { return nil }
            let entity = try statement.integer(at: 1)
            guard let version = UInt32(exactly: try statement.integer(at: 0)), let entity = Int(exactly: entity),
                model.entities.indices.contains(entity), model.entities[table.root].includes(entity)
            else {
                throw schema.reading[table.root].damaged(
                    key: object.key, entity: nil, "its version or its entity is not a possible one")
            }
            return SQLRowHead(
                version: version, entity: entity, contentHash: UInt64(bitPattern: try statement.integer(at: 2)))
        }
    }

    private func record(_ object: SQLObjectKey) throws(StoreError) -> Record? {
        let table = schema.objectTables[object.table]
        let plan = schema.reading[table.root]
        let sql = "SELECT \(plan.columnList) FROM \(table.quotedName) WHERE _id = \(schema.dialect.parameter(1))"
        return try connection.withStatement(sql) { (statement) throws(StoreError) -> Record? in
            try statement.bind(.integer(object.key), at: 1)
            var batch = RecordBatch(model: model)
            if case .damaged(let error) = try statement.fill(&batch, plan: plan) { throw error }
            return batch.isEmpty ? nil : batch.record(at: 0)
        }
    }
}
