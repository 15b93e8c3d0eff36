public import RoostCore

extension KeyValueStore {
    /// Writes a change set completely or not at all; see ``PersistentStore/commit(_:)``.
    ///
    /// The change set is compared with the store inside the write transaction. An error rolls the
    /// transaction back. If a change set contains only requirements, nothing is written.
    ///
    /// A change set without effect, such as the removal of a missing link, does not change the
    /// generation.
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        try requireWritable()
        let change = try PreparedChange(changes, model: model, location: location)
        if change.isEmpty {
            let reader = try read()
            defer { reader.close() }
            let requirements = ConflictDetection(change: change, reader: reader)
            try requirements.unchangedConflicts().throwIfAny()
            try requirements.requireLastPlaces()
            try requirements.requireObjects()
            let generation = try MetaSpace.readTally(model, reader: reader).generation
            return CommitReceipt(changes, generation: generation, previousGeneration: generation)
        }
        return try reporting { () throws(StoreError) in try write(change) }
    }

    private func write(_ change: PreparedChange) throws(StoreError) -> CommitReceipt {
        let generations = try write { [plan, clock = options.historyClock] (writer) throws(StoreError) in
            var application = try ChangeApplication(change, plan: plan, writer: writer, clock: clock)
            let result = try application.run()
            noteUsedKeys(change.highestInsertedKeys)
            return result
        }
        return CommitReceipt(change.changes, generation: generations.now, previousGeneration: generations.previous)
    }
}
