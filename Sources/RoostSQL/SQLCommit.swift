internal import RoostCore

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
            var metadata = try SQLMetadata.userMetadata(connection, storeName: store.database.name)
            let old = metadata
            for (name, value) in changes.userMetadata { metadata[name] = value }
            if metadata != old {
                try SQLMetadata.setUserMetadata(metadata, connection, schema.dialect)
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
