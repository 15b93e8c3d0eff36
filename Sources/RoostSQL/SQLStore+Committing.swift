public import RoostCore

extension SQLStore {
    /// Writes a change set, all or nothing.
    ///
    /// On return it is durable, as far as the database's options say.
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        try requireWritable()
        try changes.requireStorable(in: url, of: model)
        guard !changes.isEmpty || !changes.unchanged.isEmpty || !changes.lastPlaces.isEmpty else {
            return try reading { (connection) throws(StoreError) in
                CommitReceipt(generation: try SQLTallies.read(connection, self).generation)
            }
        }
        guard !changes.isEmpty else { return try verifyUnchanged(changes) }
        let done: (generation: UInt64, lastKeys: [Int64?], tallies: SQLKnownTallies)
        do throws(StoreError) {
            done = try writing { (connection) throws(StoreError) in
                var commit = SQLCommit(changes, store: self, connection: connection)
                let generation = try commit.run()
                return (generation, commit.lastKeys, commit.knownTallies)
            }
        } catch  where error.code == .duplicateObject && error.underlying != nil {
            throw namingDuplicate(in: changes, error)
        }
        noteUsedKeys(done.lastKeys)
        state.withLock { $0.knownTallies = done.tallies }
        return CommitReceipt(generation: done.generation)
    }

    /// The error for an insert that the database refused, naming the object; the database's own where the key has become free meanwhile.
    private func namingDuplicate(in changes: ChangeSet, _ original: StoreError) -> StoreError {
        do throws(StoreError) {
            try reading { (connection) throws(StoreError) in
                try SQLCommit(changes, store: self, connection: connection).requireNoDuplicates()
            }
            return original
        } catch {
            return error.code == .duplicateObject ? error : original
        }
    }

    /// Compares versions without writing anything.
    private func verifyUnchanged(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        try reading { (connection) throws(StoreError) in
            var commit = SQLCommit(changes, store: self, connection: connection)
            try commit.requireCurrentVersions()
            try commit.requireLastPlaces()
            return CommitReceipt(generation: try SQLTallies.read(connection, self).generation)
        }
    }
}
