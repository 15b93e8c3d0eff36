public import RoostCore

extension SQLStore {
    /// Reserves keys for new objects in the hierarchy of `entity`.
    ///
    /// Most calls take their keys from a block in memory, without a transaction.
    public func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try requireWritable()
        let table = schema.tableOfEntity[try model.requireEntity(entity).number]
        guard count > 0 else {
            throw StoreError(
                .invalidRequest, "The number of keys to reserve for '\(entity)' must be positive, not \(count).")
        }
        if let keys = takeReserved(count, table: table) { return keys }
        let blockCount = state.withLock { state in
            defer { state.nextBlockCount[table] = min(4096, state.nextBlockCount[table] * 4) }
            return max(state.nextBlockCount[table], Int64(count))
        }
        let root = schema.objectTables[table].root
        let block = try writingBesideOthers { (writer) throws(StoreError) -> Range<Int64> in
            let last = try Self.lastKey(root, writer: writer, store: self)
            let (end, overflow) = last.addingReportingOverflow(blockCount)
            guard !overflow, end < Int64.max else {
                throw StoreError(.limitExceeded, "The keys of '\(model.entities[root].name)' are used up.")
            }
            try Self.setLastKey(end, root: root, connection: writer.connection, schema: schema)
            return last + 1..<end + 1
        }
        return state.withLock { state in
            // Another thread may have reserved a block at the same time. Only the block with more remaining keys is
            // kept.
            let rest = block.lowerBound + Int64(count)..<block.upperBound
            state.recordedLastKeys[table] = max(state.recordedLastKeys[table], block.upperBound - 1)
            if rest.count > state.reservedKeys[table].count { state.reservedKeys[table] = rest }
            return block.lowerBound..<block.lowerBound + Int64(count)
        }
    }

    private func takeReserved(_ count: Int, table: Int) -> Range<Int64>? {
        state.withLock { state in
            let available = state.reservedKeys[table]
            guard available.count >= count else { return nil }
            let end = available.lowerBound + Int64(count)
            state.reservedKeys[table] = end..<available.upperBound
            return available.lowerBound..<end
        }
    }

    /// Records the highest keys of a commit, and drops reserved keys that are not above them.
    ///
    /// Call this method when the commit is durable.
    func noteUsedKeys(_ lastKeys: [Int64?]) {
        state.withLock { state in
            for (table, key) in lastKeys.enumerated() {
                guard let key else { continue }
                state.recordedLastKeys[table] = max(state.recordedLastKeys[table], key)
                let available = state.reservedKeys[table]
                if available.lowerBound <= key {
                    state.reservedKeys[table] =
                        (key < available.upperBound ? key + 1 : available.upperBound)..<available.upperBound
                }
            }
        }
    }

    /// Drops the keys that are reserved in memory if the outcome of a commit is unknown, because the
    /// commit may have used some of them.
    func forgetReservedKeys(after error: StoreError) {
        guard error.code == .outcomeUnknown else { return }
        state.withLock { state in state.reservedKeys = state.reservedKeys.map { $0.upperBound..<$0.upperBound } }
    }

    /// Returns the last reserved or used key, and locks it for a writer that may change it.
    static func lastKey(_ root: Int, writer: SQLWriter, store: SQLStore) throws(StoreError) -> Int64 {
        let select = writer.locking(store.schema.lastKeySQL.select, lock: .change)
        return try lastKey(root, connection: writer.connection, store: store, select: select)
    }

    /// Returns the last reserved or used key.
    static func lastKey(
        _ root: Int, connection: any SQLConnection, store: SQLStore, select: String? = nil
    ) throws(StoreError) -> Int64 {
        let hasChecksum = store.schema.formatVersion >= 3
        return try connection.withStatement(select ?? store.schema.lastKeySQL.select) {
            (statement) throws(StoreError) -> Int64 in
            try statement.bind(.integer(Int64(root)), at: 1)
            func damaged(_ reason: String) -> StoreError {
                StoreError(
                    .corrupted,
                    "The last key of '\(store.model.entities[root].name)' \(reason) in '\(store.database.name)'. Restore the store from a backup."
                )
            }
            guard try statement.step() else { throw damaged("is missing") }
            let last = try statement.integer(at: 0)
            if hasChecksum, try statement.integer(at: 1) != checksum(ofLastKey: last, root: root) {
                throw damaged("is damaged")
            }
            guard last >= 0 else { throw damaged("is damaged") }
            return last
        }
    }

    private static func checksum(ofLastKey key: Int64, root: Int) -> Int64 {
        SQLChecksum.row("keys", name: "\(root)", value: "\(key)")
    }

    static func setLastKey(
        _ key: Int64, root: Int, connection: any SQLConnection, schema: SQLSchema
    ) throws(StoreError) {
        let checksum = schema.formatVersion >= 3 ? [SQLValue.integer(checksum(ofLastKey: key, root: root))] : []
        try schema.lastKeySQL.set.run([.integer(Int64(root)), .integer(key)] + checksum, on: connection)
    }

    /// Raises each recorded last key that is lower than its value in `lastKeys`.
    func raiseLastKeys(_ lastKeys: [Int64?], writer: SQLWriter) throws(StoreError) {
        let recorded = state.withLock { $0.recordedLastKeys }
        for (table, key) in lastKeys.enumerated() {
            guard let key, key > recorded[table] else { continue }
            let root = schema.objectTables[table].root
            if try Self.lastKey(root, writer: writer, store: self) < key {
                try Self.setLastKey(key, root: root, connection: writer.connection, schema: schema)
            }
        }
    }
}
