public import RoostCore
internal import RoostSystem

/// A persistent store in an SQL database: the engine of all SQL backends.
///
/// The database has a table for each entity hierarchy, with a column for each attribute and each
/// to-one relationship. Users and other tools can thus read the data. A row that another tool
/// changed does not match its checksum. It counts as damaged unless `acceptsChanges` is true.
public final class SQLStore: StructureCheckingStore, IntegrityCheckingStore, NoticeGivingStore, CommitReportingStore {
    /// The registered type of the store.
    public let type: any PersistentStoreType
    /// The location of the store.
    public let location: StoreLocation
    /// The model of the store.
    public var model: ManagedObjectModel { schema.model }
    /// Whether all changes throw `readOnly`.
    public let isReadOnly: Bool

    package let commitFeed: CommitFeed
    /// The signal that notifies other processes of commits, or nil.
    package let commitSignal: (any CommitSignal)?
    let database: any SQLDatabase
    /// The database if several transactions can write at once; otherwise nil.
    private let parallelDatabase: (any SQLParallelDatabase)?
    let schema: SQLSchema
    let storeUUID: StoreUUID
    let isUnpublished: Bool
    let historyClock: (@Sendable () -> Int64)?
    /// The time during which a transaction is repeated after a conflict with another writer.
    private let timeoutSeconds: Double
    /// The difference from the old tables while the model is being changed; otherwise nil.
    let difference: SQLSchemaDifference?
    let state: Mutex<State>
    /// Whether objects that another program changed are read and updated without an error.
    package let acceptsChanges: Bool

    struct State {
        var isClosed = false
        /// The error that made the database unusable, or nil.
        var failure: StoreError?
        /// Keys that are reserved in the database but not yet given to callers, by object table.
        var reservedKeys: [Range<Int64>]
        /// The number of keys to reserve next, by object table.
        var nextBlockCount: [Int64]
        /// Lower bounds of the last keys in the database, by object table; they never decrease.
        var recordedLastKeys: [Int64]
        /// The tally rows as this store last wrote them.
        var knownTallies: SQLKnownTallies
    }

    /// Creates a store for a database whose tables the caller has compared with `schema`.
    ///
    /// The store closes the database. `storeUUID` is the identity in the database's metadata.
    public convenience init(
        _ database: any SQLDatabase, schema: SQLSchema, storeUUID: StoreUUID, type: any PersistentStoreType,
        description: PersistentStoreDescription
    ) {
        self.init(database, schema: schema, storeUUID: storeUUID, type: type, description: description, difference: nil)
    }

    init(
        _ database: any SQLDatabase, schema: SQLSchema, storeUUID: StoreUUID, type: any PersistentStoreType,
        description: PersistentStoreDescription, difference: SQLSchemaDifference?
    ) {
        self.database = database
        parallelDatabase = database as? any SQLParallelDatabase
        commitSignal = (database as? any CommitSignaling)?.commitSignal
        commitFeed = .of(commitSignal)
        commitFeed.setAddsGenerations(schema.writerPlaceCount > 1)
        self.schema = schema
        self.storeUUID = storeUUID
        self.type = type
        location = description.location
        isReadOnly = description.options.isReadOnly
        isUnpublished = description.options.isUnpublished
        historyClock = description.options.historyClock
        timeoutSeconds = description.options.timeoutSeconds
        acceptsChanges = description.options.acceptsChanges
        self.difference = difference
        state = Mutex(
            State(
                reservedKeys: schema.objectTables.map { _ in 1..<1 },
                nextBlockCount: schema.objectTables.map { _ in 64 },
                recordedLastKeys: schema.objectTables.map { _ in 0 },
                knownTallies: SQLKnownTallies(model: schema.model)))
    }

    deinit { try? close() }

    /// Returns the store's metadata after the latest commit.
    public func metadata() throws(StoreError) -> StoreMetadata {
        try reading { (connection) throws(StoreError) in
            StoreMetadata(
                type: type.name, formatVersion: schema.formatVersion, storeUUID: storeUUID, model: model,
                userMetadata: try SQLMetadata.userMetadata(connection, storeName: database.name, schema: schema))
        }
    }

    /// Returns a consistent view of the store's current state.
    ///
    /// Never waits for a writer.
    public func snapshot() throws(StoreError) -> any StoreSnapshot {
        try requireOpen()
        return SQLSnapshot(store: self, connection: try database.beginReading())
    }

    /// Returns the number of bytes that the store uses on disk.
    public func byteCount() throws(StoreError) -> Int {
        try requireOpen()
        return try database.byteCount()
    }

    /// Closes the store and its database.
    ///
    /// Locks and files are released when open transactions end. Another call does nothing.
    public func close() throws(StoreError) {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        if !wasClosed { try database.close() }
    }

    func requireOpen() throws(StoreError) {
        let (isClosed, failure) = state.withLock { ($0.isClosed, $0.failure) }
        guard !isClosed else { throw StoreError(.closed, "The store '\(location)' was closed before.") }
        if let failure { throw .abandonedLoadRemains(in: location, after: failure) }
    }

    func requireWritable() throws(StoreError) {
        try requireOpen()
        guard !isReadOnly else {
            throw StoreError(
                .readOnly, "The store '\(location)' was opened read-only; open it for writing to change it.")
        }
    }

    func reading<Result>(_ body: (any SQLConnection) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try requireOpen()
        let connection = try database.beginReading()
        defer { database.endReading(connection) }
        return try body(connection)
    }

    /// Runs `body` in a write transaction that excludes other writers.
    ///
    /// On return, all changes are durable. If an error other than `outcomeUnknown` is thrown, all
    /// changes are undone. `body` runs again if another transaction prevented the commit.
    func writing<Result>(_ body: (any SQLConnection) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try repeating(after: [.busy]) { (_) throws(StoreError) in
            try requireWritable()
            return try finishing(try database.beginWriting(), body)
        }
    }

    /// Runs `body` in a write transaction during which other transactions may write.
    ///
    /// On return, all changes are durable. If an error other than `outcomeUnknown` is thrown, all
    /// changes are undone. `body` must lock the rows on which its changes depend, and runs again if
    /// it failed because of concurrent writes. A store with one writer at a time uses
    /// ``writing(_:)`` instead.
    func writingBesideOthers<Result>(
        _ body: (SQLWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard schema.writerPlaceCount > 1, let database = parallelDatabase else {
            return try writing { (connection) throws(StoreError) in
                try body(SQLWriter(connection: connection))
            }
        }
        return try repeating(after: nil) { (isRepeated) throws(StoreError) in
            try requireWritable()
            let (connection, place) = try database.beginWritingBesideOthers()
            return try finishing(connection) { (connection) throws(StoreError) in
                try body(
                    SQLWriter(
                        connection: connection, place: place, locks: schema.parallelDialect, isRepeated: isRepeated))
            }
        }
    }

    /// The number of times that a failed transaction is repeated even after the timeout.
    private static let minimumRepetitionCount = 20

    /// Runs a transaction, and repeats it if it failed because of concurrent writes.
    ///
    /// Repeats until the store's timeout, but at least ``minimumRepetitionCount`` times. A count
    /// alone would not suffice: a slow program can fail any number of times while other writers
    /// change one row. If `codes` is not nil, repeats only after errors with these codes.
    private func repeating<Result>(
        after codes: Set<StoreError.Code>?, _ transaction: (_ isRepeated: Bool) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard let database = parallelDatabase else { return try transaction(false) }
        var attempt = 0
        let start = ContinuousClock.now
        func hasTime() -> Bool { start.duration(to: .now) < .seconds(min(timeoutSeconds, 1e9)) }
        while true {
            do throws(StoreError) {
                return try transaction(attempt > 0)
            } catch
                where (attempt < Self.minimumRepetitionCount || hasTime())
                && codes?.contains(error.code) ?? true
                && database.isTransient(error)
            {
                attempt += 1
                // A random wait makes another collision less likely.
                usleep(.random(in: 0...1000 << UInt32(min(attempt, 6))))
            }
        }
    }

    private func finishing<Result>(
        _ connection: any SQLConnection, _ body: (any SQLConnection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let result: Result
        do throws(StoreError) {
            result = try body(connection)
        } catch {
            database.rollBackWriting(connection)
            throw error
        }
        try database.commitWriting(connection)
        return result
    }
}
