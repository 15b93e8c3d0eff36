package import RoostCore

/// The entries of a history in the table `_roost_history`.
struct SQLHistory: HistoryEntryWriter {
    /// The name of the table, which has one row for each part of a transaction.
    static let table = "_roost_history"

    let connection: any SQLConnection
    let schema: SQLSchema
    let storeName: String

    private func parameters(_ count: Int) -> [String] { (1...count).map { schema.dialect.parameter($0) } }

    private static func value(_ position: UInt64) -> SQLValue { .integer(Int64(bitPattern: position)) }

    // MARK: Reading

    func historySettings() throws(StoreError) -> [UInt8]? {
        guard schema.hasHistory else { return nil }
        return try SQLMetadata.historySettings(connection, storeName: storeName, schema: schema)
    }

    func historyBytes(at place: HistoryPlace) throws(StoreError) -> [UInt8]? {
        guard schema.hasHistory else { return nil }
        let p = parameters(2)
        return try connection.withStatement(
            "SELECT body FROM \(Self.table) WHERE position = \(p[0]) AND part = \(p[1])"
        ) { (statement) throws(StoreError) -> [UInt8]? in
            try statement.bind([Self.value(place.position), .integer(Int64(place.part))])
            guard try statement.step() else { return nil }
            guard case .blob(let bytes) = try statement.value(at: 0) else {
                throw StoreError(
                    .corrupted,
                    "A row of '\(Self.table)' in '\(storeName)' holds no bytes. Restore the store from a backup.")
            }
            return bytes
        }
    }

    func historyPlace(from place: HistoryPlace) throws(StoreError) -> HistoryPlace? {
        guard schema.hasHistory else { return nil }
        let p = parameters(2)
        let one = schema.dialect.limit("1", offset: nil)
        return try connection.withStatement(
            "SELECT position, part FROM \(Self.table) WHERE position >= \(p[0]) AND (position > \(p[0]) OR part >= \(p[1])) ORDER BY position, part \(one)"
        ) { (statement) throws(StoreError) -> HistoryPlace? in
            try statement.bind([Self.value(place.position), .integer(Int64(place.part))])
            guard try statement.step() else { return nil }
            let position = UInt64(bitPattern: try statement.integer(at: 0))
            guard let part = UInt32(exactly: try statement.integer(at: 1)) else {
                throw StoreError(
                    .corrupted,
                    "A row of '\(Self.table)' in '\(storeName)' has an invalid part number. Restore the store from a backup."
                )
            }
            return HistoryPlace(position, part: part)
        }
    }

    func lastHistoryPosition() throws(StoreError) -> UInt64? {
        guard schema.hasHistory else { return nil }
        return try connection.integer("SELECT max(position) FROM \(Self.table)").map { UInt64(bitPattern: $0) }
    }

    // MARK: Writing

    func setHistorySettings(_ bytes: [UInt8]?) throws(StoreError) {
        try SQLMetadata.setHistorySettings(bytes, connection: connection, schema: schema)
    }

    func putHistory(_ bytes: [UInt8], at place: HistoryPlace) throws(StoreError) {
        let p = parameters(3).joined(separator: ", ")
        try connection.run(
            "INSERT INTO \(Self.table) (position, part, body) VALUES (\(p))", Self.value(place.position),
            .integer(Int64(place.part)), .blob(bytes))
    }

    func removeHistory(before place: HistoryPlace, limit: Int) throws(StoreError) -> Int {
        let p = parameters(1)[0]
        // The deletion ends at the start of a transaction, so that no transaction is split.
        let last = schema.dialect.limit("1", offset: String(min(limit, 1 << 20)))
        let position = Self.value(min(place.position, UInt64(Int64.max)))
        let end =
            try connection.integer(
                "SELECT position FROM \(Self.table) WHERE position < \(p) ORDER BY position \(last)", position
            )
            .map { SQLValue.integer($0) } ?? position
        try connection.run("DELETE FROM \(Self.table) WHERE position < \(p)", end)
        let count = connection.changedRowCount
        // A transaction with more parts than the limit is removed as a whole.
        guard count == 0, end != position, case .integer(let number) = end else { return count }
        try connection.run("DELETE FROM \(Self.table) WHERE position <= \(p)", .integer(number))
        return connection.changedRowCount
    }
}

extension SQLStore: HistoryKeepingStore {
    func history(_ connection: any SQLConnection) -> SQLHistory {
        SQLHistory(connection: connection, schema: schema, storeName: database.name)
    }

    func historyRecorder(
        _ kind: HistoryTransaction.Kind, author: String?, contextName: String?
    ) -> HistoryRecorder? {
        guard schema.hasHistory else { return nil }
        return HistoryRecorder(
            kind, model: model, author: author, contextName: contextName, clock: historyClock)
    }

    /// Writes the recorded changes at the end of a transaction.
    func finish(
        _ recorder: HistoryRecorder?, from previous: Generation, to now: Generation,
        connection: any SQLConnection
    ) throws(StoreError) {
        guard var recorder else { return }
        let entries = history(connection)
        guard let settings = try entries.historySettings() else {
            throw StoreError(
                .corrupted, "The settings of the history of '\(location)' are missing. Restore the store from a backup."
            )
        }
        try recorder.finish(settings, from: previous, to: now, in: entries)
    }

    /// Replaces the store's history and generation with those of another store, in one transaction.
    package func importHistory(_ entries: any HistoryEntries, at generation: Generation) throws(StoreError) {
        guard let settings = try entries.historySettings() else { return }
        guard schema.hasHistory else { throw .recordsNoHistory }
        try writing { (connection) throws(StoreError) in
            let history = history(connection)
            try connection.run("DELETE FROM \(SQLHistory.table)")
            try history.setHistorySettings(settings)
            try entries.forEachHistoryPart { (parts) throws(StoreError) in
                for part in parts { try history.putHistory(part.bytes, at: part.place) }
            }
            let p = schema.dialect.parameter(1)
            try connection.run(
                "UPDATE _roost_tallies SET count = \(p) WHERE kind = '\(SQLTallyKind.generation.rawValue)' AND number = 0",
                .integer(Int64(bitPattern: generation.number)))
        }
        state.withLock { $0.knownTallies = SQLKnownTallies(model: model) }
    }

    /// Removes the entries within a bound, in write transactions of limited size.
    package func removeHistory(_ bound: HistoryBound) throws(StoreError) {
        var isDone = false
        while !isDone {
            isDone = try writing { (connection) throws(StoreError) in
                let generation = try SQLTallies.read(connection, store: self).generation
                return try HistoryMaintenance.remove(
                    bound, model: model, storeUUID: storeUUID, at: generation, in: history(connection))
            }
        }
    }
}

extension SQLSnapshot: HistorySnapshot {
    package var canRecordHistory: Bool { store.type.capabilities.contains(.history) }

    package func withHistory<Result>(
        _ body: (any HistoryEntries, StoreUUID, Generation) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let connection = try open()
        return try body(
            store.history(connection), store.storeUUID, try SQLTallies.read(connection, store: store).generation)
    }
}

/// Turns the history of a database on or off, inside a write transaction.
///
/// No other program may have the database open.
package enum SQLHistorySwitch {
    /// Creates and starts a history, or changes the limits of an existing history.
    ///
    /// If `makesTable` is false, the table must already exist.
    package static func turnOn(
        _ old: SQLSchema, retention: HistoryRetention?, storeName: String, makesTable: Bool = true,
        on connection: any SQLConnection
    ) throws(StoreError) -> SQLSchema {
        if old.hasHistory {
            let entries = SQLHistory(connection: connection, schema: old, storeName: storeName)
            try HistoryMaintenance.begin(retention, at: .initial, in: entries)
            return old
        }
        guard old.formatVersion == SQLSchema.formatVersion else {
            throw StoreError(
                .unsupported,
                "'\(storeName)' has format version \(old.formatVersion), whose stores record no history. Convert it into a new store."
            )
        }
        let new = try SQLSchema(old.model, dialect: old.dialect, formatVersion: SQLSchema.featureVersion)
        if makesTable { try connection.execute(SQLSchema.historyTable(old.dialect).sql) }
        try SQLMetadata.setVersion(of: new, connection: connection)
        guard let tally = try SQLTallies.generationAndMark(connection) else {
            throw StoreError(
                .corrupted, "The recorded counts in '\(storeName)' are missing. Restore the store from a backup.")
        }
        let generation = SQLTallies.generation(sum: tally.generation, writerPlaceCount: old.writerPlaceCount)
        try SQLTallies.setPlaces(of: new, generation: generation, mark: tally.mark, on: connection)
        try HistoryMaintenance.begin(
            retention, at: generation, in: SQLHistory(connection: connection, schema: new, storeName: storeName))
        return new
    }

    /// Removes the history, and its table if `dropsTable` is true.
    package static func turnOff(
        _ old: SQLSchema, dropsTable: Bool = true, on connection: any SQLConnection
    ) throws(StoreError) -> SQLSchema {
        let new = try SQLSchema(old.model, dialect: old.dialect)
        if dropsTable { try connection.execute("DROP TABLE \(old.dialect.quote(SQLHistory.table))") }
        try SQLMetadata.setHistorySettings(nil, connection: connection, schema: old)
        try SQLMetadata.setVersion(of: new, connection: connection)
        if let tally = try SQLTallies.generationAndMark(connection) {
            let generation = SQLTallies.generation(sum: tally.generation, writerPlaceCount: old.writerPlaceCount)
            try SQLTallies.setPlaces(of: new, generation: generation, mark: tally.mark, on: connection)
        }
        return new
    }

    package static func settings(
        _ schema: SQLSchema, storeName: String, on connection: any SQLConnection
    ) throws(StoreError) -> [UInt8]? {
        try SQLHistory(connection: connection, schema: schema, storeName: storeName).historySettings()
    }
}
