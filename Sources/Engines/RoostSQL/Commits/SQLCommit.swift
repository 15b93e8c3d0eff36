internal import RoostCore

/// One commit under way: checks everything first, then writes.
struct SQLCommit {
    let store: SQLStore
    let change: PreparedChange
    /// The transaction.
    let writer: SQLWriter
    /// The changes of the store's tallies.
    var tally: StoreTally
    /// The known tallies before the commit, then after it.
    private(set) var knownTallies: SQLKnownTallies
    /// The highest keys of inserted objects, by position in the schema's object tables.
    let lastKeys: [Int64?]
    /// The heads of the rows that are updated, one for each of the prepared updates.
    var updateHeads: [SQLRowHead?] = []
    /// The heads of the rows that are deleted, one for each of the prepared deletes.
    var deleteHeads: [SQLRowHead?] = []
    /// Whether anything in the store is different afterwards.
    var hasChanged = false
    /// Constraints whose values move between updated objects.
    ///
    /// The old values must be removed before the new ones are written.
    var constraintsToRelease: Set<Int> = []
    /// Records the changes; nil if the store records no history.
    var history: HistoryRecorder?
    /// Objects that stay and refer to deleted ones, where the change set asks for them.
    var denials = DeleteDenials()

    var schema: SQLSchema { store.schema }
    var model: ManagedObjectModel { schema.model }
    var changes: ChangeSet { change.changes }

    var connection: any SQLConnection { writer.connection }

    /// Creates a commit for checks in a transaction that writes nothing.
    init(_ change: PreparedChange, store: SQLStore, connection: any SQLConnection) {
        self.init(change, store: store, writer: SQLWriter(connection: connection))
    }

    init(_ change: PreparedChange, store: SQLStore, writer: SQLWriter) {
        self.change = change
        self.store = store
        self.writer = writer
        var lastKeys = [Int64?](repeating: nil, count: store.schema.objectTables.count)
        // In the order of their keys, so the last one of a table has the highest.
        for item in change.inserts { lastKeys[store.schema.tableOfEntity[item.place.root]] = item.place.key }
        self.lastKeys = lastKeys
        tally = StoreTally(model: store.model)
        knownTallies = store.state.withLock { $0.knownTallies }
        history = store.historyRecorder(
            .commit, author: change.changes.author, contextName: change.changes.contextName)
    }

    /// Does all of it.
    ///
    /// After an error the transaction must be rolled back.
    ///
    /// - Returns: The generations before and after it, which differ if anything changed.
    mutating func run() throws(StoreError) -> (previous: Generation, now: Generation) {
        // Another transaction may have taken a key. It is named before the database refuses it
        // again.
        if writer.isRepeated { try requireNoDuplicates() }
        try lockListOwners()
        try requireCurrentVersions()
        try requireLastPlaces()
        try checkConstraints()
        // Before the deletes: a link that the change set removes does not prevent a delete.
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

    /// Looks the inserted keys up in the store.
    ///
    /// Throws code `duplicateObject`, naming the first key that exists.
    ///
    /// The database itself refuses such a key, without naming it.
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
