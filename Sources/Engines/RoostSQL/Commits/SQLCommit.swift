internal import RoostCore

/// A commit in progress: the checks before the writes, the writes, and the checks of written rows.
struct SQLCommit {
    let store: SQLStore
    let change: PreparedChange
    /// The transaction.
    let writer: SQLWriter
    /// The changes that the commit makes to the store's tallies.
    var tally: StoreTally
    /// The known tallies of the store; ``run()`` updates them.
    private(set) var knownTallies: SQLKnownTallies
    /// The highest keys of inserted objects, by position in the schema's object tables.
    let lastKeys: [Int64?]
    /// The heads of the rows to update, one for each prepared update.
    var updateHeads: [SQLRowHead?] = []
    /// The heads of the rows to delete, one for each prepared delete.
    var deleteHeads: [SQLRowHead?] = []
    /// Whether the commit changes the store.
    var hasChanged = false
    /// The constraints in which an updated or inserted object gets a value of another updated
    /// object.
    ///
    /// The old values must be removed before the new values are written.
    var constraintsToRelease: Set<Int> = []
    /// The recorder of the changes; nil if the store records no history.
    var history: HistoryRecorder?
    /// Deletes that the change set denies, because remaining objects refer to the deleted objects.
    var denials = DeleteDenials()

    var schema: SQLSchema { store.schema }
    var model: ManagedObjectModel { schema.model }
    var changes: ChangeSet { change.changes }

    var connection: any SQLConnection { writer.connection }

    /// Creates a commit that only runs checks, on a connection for reading.
    init(_ change: PreparedChange, store: SQLStore, connection: any SQLConnection) {
        self.init(change, store: store, writer: SQLWriter(connection: connection))
    }

    init(_ change: PreparedChange, store: SQLStore, writer: SQLWriter) {
        self.change = change
        self.store = store
        self.writer = writer
        var lastKeys = [Int64?](repeating: nil, count: store.schema.objectTables.count)
        // The inserts are in key order, so the last insert of a table has the highest key.
        for item in change.inserts { lastKeys[store.schema.tableOfEntity[item.place.root]] = item.place.key }
        self.lastKeys = lastKeys
        tally = StoreTally(model: store.model)
        knownTallies = store.state.withLock { $0.knownTallies }
        history = store.historyRecorder(
            .commit, author: change.changes.author, contextName: change.changes.contextName)
    }

    /// Does all checks and writes all changes.
    ///
    /// After an error, the transaction must be rolled back.
    ///
    /// - Returns: The generations before and after the commit, which differ if anything changed.
    mutating func run() throws(StoreError) -> (previous: Generation, now: Generation) {
        // A transaction may be repeated because another transaction has taken a key. This check
        // names the key before the database refuses it again.
        if writer.isRepeated { try requireNoDuplicates() }
        try lockListOwners()
        try requireCurrentVersions()
        try requireLastPlaces()
        try checkConstraints()
        // Links are removed first, because a removed link does not deny a delete.
        try removeLinks()
        try deleteObjects()
        try writeUpdates()
        try writeInserts()
        try requireObjects()
        try addLinks()
        if changes.requiresUnreferencedDeletes { try findReferences() }
        try denials.throwIfAny()
        if !changes.userMetadata.isEmpty {
            try SQLMetadata.lockUserMetadata(writer, storeName: store.database.name)
            var metadata = try SQLMetadata.userMetadata(connection, storeName: store.database.name, schema: schema)
            let old = metadata
            for (name, value) in changes.userMetadata { metadata[name] = value }
            if metadata != old {
                try SQLMetadata.setUserMetadata(metadata, connection: connection, schema: schema)
                hasChanged = true
            }
        }
        guard hasChanged else {
            let generation = try SQLTallies.read(connection, store: store).generation
            return (generation, generation)
        }
        let generations = try SQLTallies.apply(
            tally, at: writer.place, known: &knownTallies, connection: connection, store: store)
        try store.finish(history, from: generations.previous, to: generations.now, connection: connection)
        return generations
    }

    // MARK: Checking

    /// Looks up the inserted keys in the store.
    ///
    /// Throws `duplicateObject` with the first key that exists.
    ///
    /// The database itself also refuses such a key, but does not name it.
    func requireNoDuplicates() throws(StoreError) {
        for index in 0..<changes.inserts.count {
            let place = model.place(of: changes.inserts, at: index)
            let sql = schema.table(of: place.root).writing.existsSQL
            if try connection.integer(sql, .integer(place.key)) != nil {
                throw .takenKey(changes.inserts.id(at: index))
            }
        }
    }
}
