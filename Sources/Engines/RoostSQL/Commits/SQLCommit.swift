internal import RoostCore

/// A commit in progress.
struct SQLCommit {
    let store: SQLStore
    let change: PreparedChange
    let writer: SQLWriter
    /// The changes that the commit makes to the store's tallies.
    var tally: StoreTally
    private(set) var knownTallies: SQLKnownTallies
    /// The highest keys of inserted objects, by position in the schema's object tables.
    let lastKeys: [Int64?]
    /// The heads of the rows to update, one for each prepared update; nil after a conflict.
    var updateHeads: [SQLRowHead?] = []
    var deleteHeads: [SQLRowHead?] = []
    var hasChanged = false
    /// The numbers of constraints whose values pass from an updated object to another object.
    ///
    /// The old values must be removed before the new values are written.
    var constraintsToRelease: Set<Int> = []
    var history: HistoryRecorder?
    /// Deletes that are denied because remaining objects refer to the deleted objects.
    var denials = DeleteDenials()

    var schema: SQLSchema { store.schema }
    var model: ManagedObjectModel { schema.model }
    var changes: ChangeSet { change.changes }

    var connection: any SQLConnection { writer.connection }

    /// Creates a commit that only runs checks.
    init(_ change: PreparedChange, store: SQLStore, connection: any SQLConnection) {
        self.init(change, store: store, writer: SQLWriter(connection: connection))
    }

    init(_ change: PreparedChange, store: SQLStore, writer: SQLWriter) {
        self.change = change
        self.store = store
        self.writer = writer
        var lastKeys = [Int64?](repeating: nil, count: store.schema.objectTables.count)
        // The inserts are in key order.
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
        // The transaction may be repeated because another transaction has taken a key. The database would refuse the
        // key again without naming it.
        if writer.isRepeated { try requireNoDuplicates() }
        try lockListOwners()
        try requireCurrentVersions()
        try requireLastPlaces()
        try checkConstraints()
        // A removed link does not deny a delete.
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

    /// Throws `duplicateObject` with the first inserted key that exists in the store.
    ///
    /// The database refuses such a key too, but does not name it.
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
