public import RoostCore

extension SQLStore {
    /// Starts a bulk load; see ``PersistentStore/bulkLoader(_:)``.
    ///
    /// A load into an empty, unpublished store writes no journal if the database supports this. Any
    /// other load is one transaction.
    public func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        try requireWritable()
        return try SQLBulkLoader(self, options: options)
    }

    func isEmpty(_ connection: any SQLConnection) throws(StoreError) -> Bool {
        for table in schema.objectTables {
            if try connection.integer("SELECT 1 FROM \(table.quotedName) \(schema.dialect.limit("1", offset: nil))")
                != nil
            {
                return false
            }
        }
        for case let table? in schema.linkTables {
            if try connection.integer("SELECT 1 FROM \(table.quotedName) \(schema.dialect.limit("1", offset: nil))")
                != nil
            {
                return false
            }
        }
        return true
    }
}

/// A loader that creates the indexes of an empty store last, if the dialect allows this.
final class SQLBulkLoader: BulkLoader {
    private enum Mode {
        case transaction
        /// A load without a journal: to undo it, the database must be emptied.
        case unpublished
    }

    private let store: SQLStore
    private let connection: any SQLConnection
    private let mode: Mode
    /// The indexes to create at the end.
    private var missingIndexes: [SQLSchema.Item] = []
    /// Whether the database may report duplicate unique values before the end of the load.
    private var canViolate = true
    private let linkSorter: SQLLinkSorter
    private let checkCancellation: (@Sendable () throws(StoreError) -> Void)?
    private let userMetadata: [String: MetadataValue]
    /// The last keys at the start of the load, by object table.
    private var initialLastKeys: [Int64] = []
    private var change: StoreTally
    /// The highest loaded keys, by object table.
    private var lastKeys: [Int64?]
    private var isActive = true
    private var recorder: HistoryRecorder?
    /// The generation before the load, if the load is recorded.
    private var previous = Generation.initial

    private var schema: SQLSchema { store.schema }

    init(_ store: SQLStore, options: BulkLoadOptions) throws(StoreError) {
        var lastKeys = [Int64?](repeating: nil, count: store.schema.objectTables.count)
        for (name, key) in options.lastKeys {
            let table = store.schema.tableOfEntity[try store.model.requireEntity(name).number]
            lastKeys[table] = max(lastKeys[table] ?? 0, key)
        }
        self.store = store
        self.lastKeys = lastKeys
        userMetadata = try store.metadata().userMetadata
        checkCancellation = options.checkCancellation
        linkSorter = SQLLinkSorter(
            relationshipCount: store.model.relationships.count, directories: store.spillDirectories)
        change = StoreTally(model: store.model)
        let loading =
            store.isUnpublished
            ? try store.database.beginLoading { (connection) throws(StoreError) in try store.isEmpty(connection) } : nil
        if let loading {
            (connection, mode) = (loading, .unpublished)
        } else {
            (connection, mode) = (try store.database.beginWriting(), .transaction)
        }
        do throws(StoreError) {
            for table in store.schema.objectTables {
                initialLastKeys.append(try SQLStore.lastKey(table.root, connection: connection, store: store))
            }
            recorder = store.historyRecorder(.wholeLoad, author: options.author, contextName: nil)
            if recorder != nil { previous = try SQLTallies.read(connection, store: store).generation }
            if let difference = store.difference {
                missingIndexes = difference.newIndexes
            } else if try store.isEmpty(connection) {
                let keepsIndexes =
                    store.schema.parallelDialect?.makesIndexesWithTables == true
                    || store.schema.dialect.locksReadersToDropIndexes && !store.isUnpublished
                missingIndexes = keepsIndexes ? [] : store.schema.indexes
                for index in missingIndexes {
                    try connection.execute(store.schema.dialect.dropIndex(index.name))
                }
            } else {
                recorder?.kind = .load
            }
            canViolate = store.difference != nil || missingIndexes.isEmpty && !schema.constraints.isEmpty
        } catch {
            abandon()
            throw error
        }
    }

    deinit { abandon() }

    func append(_ records: RecordBatch) throws(StoreError) {
        try perform { () throws(StoreError) in
            try records.requireStorable(in: store.location, of: store.model)
            // The highest key of the batch, by object table.
            var highest = [Int64?](repeating: nil, count: schema.objectTables.count)
            let tables = schema.tableOfEntity
            for index in 0..<records.count {
                let table = tables[records.entityNumber(at: index)]
                highest[table] = max(highest[table] ?? 0, records.key(at: index))
            }
            for case let (table, key?) in highest.enumerated() {
                lastKeys[table] = max(lastKeys[table] ?? 0, key)
                guard store.difference?.keptTables.contains(table) != true else { continue }
                let plan = schema.objectTables[table].writing
                guard canViolate else {
                    try connection.insertRecords(records, plan: plan, version: nil)
                    continue
                }
                do throws(StoreError) {
                    try connection.attempting { () throws(StoreError) in
                        try connection.insertRecords(records, plan: plan, version: nil)
                    }
                } catch  where error.code == .constraintViolation {
                    throw SQLViolations(schema, connection: connection).error(loading: records, original: error)
                }
            }
            change.add(records)
            guard recorder?.kind == .load else { return }
            for index in 0..<records.count {
                recorder?.insert(records.key(at: index), entity: records.entityNumber(at: index))
            }
            try recorder?.writeFullParts(after: previous, in: store.history(connection))
        }
    }

    func append(_ links: LinkBatch) throws(StoreError) {
        try perform { () throws(StoreError) in
            var batch = try links.stored(in: store.model)
            change.add(batch)
            guard store.difference?.keptLinkTables.contains(links.relationship) != true else { return }
            try linkSorter.sort(&batch)
            try insert(batch)
            try record(batch)
        }
    }

    /// Adds links to the history, if the store had content before the load.
    private func record(_ batch: LinkBatch) throws(StoreError) {
        guard recorder?.kind == .load else { return }
        for link in batch.links { recorder?.link(link, of: batch.relationship, isAdded: true) }
        try recorder?.writeFullParts(after: previous, in: store.history(connection))
    }

    /// Inserts sorted links into their table.
    private func insert(_ batch: LinkBatch) throws(StoreError) {
        guard let table = schema.linkTables[batch.relationship] else { return }
        do throws(StoreError) {
            if let fast = connection as? any SQLLinkInserting, fast.insertsLinks {
                let target = "\(table.quotedName) (\(SQLLinkColumns(isFlipped: false).list))"
                return try fast.insert(batch.links, into: target)
            }
            let rowsPerInsert = max(1, min(64, schema.dialect.maximumParameterCount / 4))
            func insertAll() throws(StoreError) {
                var start = 0
                while start < batch.count {
                    let count = batch.count - start >= rowsPerInsert ? rowsPerInsert : 1
                    try insert(batch.links[start..<start + count], into: table)
                    start += count
                }
            }
            guard let connection = connection as? any SQLDeferringConnection else { return try insertAll() }
            try connection.deferringRuns(insertAll)
        } catch  where error.code == .duplicateObject {
            throw error.withMessage(
                "Two links of '\(table.relationship.name)' have the same source and the same destination.")
        }
    }

    private func insert(_ links: ArraySlice<Link>, into table: SQLSchema.LinkTable) throws(StoreError) {
        let rows = (0..<links.count).map { row in
            "(" + (1...4).map { schema.dialect.parameter(row * 4 + $0) }.joined(separator: ", ") + ")"
        }
        let sql =
            "\(schema.dialect.insertMany(into: table.quotedName)) (\(SQLLinkColumns(isFlipped: false).list)) VALUES \(rows.joined(separator: ", "))"
        try connection.withStatement(sql) { (statement) throws(StoreError) in
            var position = 1
            for link in links {
                try statement.bind(.integer(link.source), at: position)
                try statement.bind(.integer(link.target), at: position + 1)
                try statement.bind(.integer(link.order), at: position + 2)
                try statement.bind(.integer(link.inverseOrder), at: position + 3)
                position += 4
            }
            while try statement.step() {}
        }
    }

    func finish() throws(StoreError) -> StoreTally {
        do throws(StoreError) {
            return try store.reportingAll { () throws(StoreError) in
                let (previous, tally) = try commit()
                return (previous, tally.generation, tally)
            }
        } catch {
            store.forgetReservedKeys(after: error)
            throw error
        }
    }

    private func commit() throws(StoreError) -> (previous: Generation, tally: StoreTally) {
        var (previous, tally) = (Generation.initial, StoreTally(model: store.model))
        try perform { () throws(StoreError) in
            try linkSorter.drain { (batch) throws(StoreError) in
                try checkCancellation?()
                try insert(batch)
                try record(batch)
            }
            if !missingIndexes.isEmpty { try makeIndexes() }
            // Without partial indexes, no index enforces the constraints of subentities.
            if !schema.dialect.hasPartialIndexes {
                try SQLViolations(schema, connection: connection).requireUnique(
                    schema.constraints.filter { $0.scope != nil })
            }
            try store.raiseLastKeys(lastKeys, writer: SQLWriter(connection: connection))
            previous = try SQLTallies.read(connection, store: store).generation
            if change != StoreTally(model: store.model) {
                var nothing = SQLKnownTallies(model: store.model)
                let now = try SQLTallies.apply(change, known: &nothing, connection: connection, store: store).now
                try store.finish(recorder, from: previous, to: now, connection: connection)
            }
            tally = try SQLTallies.read(connection, store: store)
            isActive = false
            switch mode {
            case .transaction: try store.database.commitWriting(connection)
            case .unpublished:
                do throws(StoreError) {
                    try store.database.commitLoading(connection)
                } catch {
                    isActive = true
                    throw error
                }
            }
        }
        store.noteUsedKeys(lastKeys)
        return (previous, tally)
    }

    private func makeIndexes() throws(StoreError) {
        try store.database.beginIndexing(connection)
        for index in missingIndexes {
            try checkCancellation?()
            do throws(StoreError) {
                try connection.ending(when: checkCancellation ?? {}) { () throws(StoreError) in
                    try connection.attempting { () throws(StoreError) in try connection.execute(index.sql) }
                }
            } catch  where error.code == .constraintViolation {
                throw try SQLViolations(schema, connection: connection).errorInTables(error)
            }
        }
    }

    func abandon() {
        guard isActive else { return }
        isActive = false
        switch mode {
        case .transaction: store.database.rollBackWriting(connection)
        case .unpublished:
            do throws(StoreError) {
                try store.database.abandonLoading(connection) { (connection) throws(StoreError) in
                    try SQLMetadata.create(schema, uuid: store.storeUUID, userMetadata: userMetadata, on: connection)
                    // Keys that were reserved before the load must not be reserved again.
                    for (table, key) in zip(schema.objectTables, initialLastKeys) {
                        try SQLStore.setLastKey(key, root: table.root, connection: connection, schema: schema)
                    }
                }
            } catch {
                // This method cannot throw. The database may be incomplete, so later reads and writes
                // throw `corrupted`.
                store.state.withLock { $0.failure = error }
            }
        }
    }

    /// Runs a part of the load, and abandons the whole load after an error.
    ///
    /// Other writers then need not wait until the loader is released.
    private func perform(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        guard isActive else { throw .loadIsOver(store.location) }
        do throws(StoreError) {
            try store.requireOpen()
            try body()
        } catch {
            abandon()
            throw error
        }
    }
}
