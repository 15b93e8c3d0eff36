public import RoostCore

extension SQLStore {
    /// Writes a change set, all or nothing.
    ///
    /// On return, the commit is as durable as the database's options require.
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        try requireWritable()
        let change = try PreparedChange(changes, model: model, location: location)
        guard !change.isEmpty else { return try verify(change) }
        return try reporting { () throws(StoreError) in try write(change) }
    }

    private func write(_ change: PreparedChange) throws(StoreError) -> CommitReceipt {
        typealias Done = (
            generations: (previous: Generation, now: Generation), lastKeys: [Int64?], tallies: SQLKnownTallies
        )
        let done: Done
        do throws(StoreError) {
            done = try writingBesideOthers { (writer) throws(StoreError) -> Done in
                var commit = SQLCommit(change, store: self, writer: writer)
                let generations = try commit.run()
                return (generations, commit.lastKeys, commit.knownTallies)
            }
        } catch  where [.duplicateObject, .constraintViolation].contains(error.code) && error.underlying != nil {
            // For a duplicate key together with a duplicate unique value, the database may report either error.
            throw namingDuplicate(in: change, original: error)
        } catch {
            forgetReservedKeys(after: error)
            throw error
        }
        noteUsedKeys(done.lastKeys)
        state.withLock { $0.knownTallies = done.tallies }
        return CommitReceipt(
            change.changes, generation: done.generations.now, previousGeneration: done.generations.previous)
    }

    /// Returns an error with the ID of an inserted object whose key the store contains; `original`
    /// if the search fails or finds nothing.
    private func namingDuplicate(in change: PreparedChange, original: StoreError) -> StoreError {
        do throws(StoreError) {
            try reading { (connection) throws(StoreError) in
                try SQLCommit(change, store: self, connection: connection).requireNoDuplicates()
            }
            return original
        } catch {
            return error.code == .duplicateObject ? error : original
        }
    }

    /// Checks the requirements of a change set that writes nothing.
    private func verify(_ change: PreparedChange) throws(StoreError) -> CommitReceipt {
        try reading { (connection) throws(StoreError) in
            var commit = SQLCommit(change, store: self, connection: connection)
            try commit.requireCurrentVersions()
            try commit.requireLastPlaces()
            try commit.requireObjects()
            let generation = try SQLTallies.read(connection, store: self).generation
            return CommitReceipt(change.changes, generation: generation, previousGeneration: generation)
        }
    }
}
