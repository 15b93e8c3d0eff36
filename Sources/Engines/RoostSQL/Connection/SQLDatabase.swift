public import RoostCore

/// The interface that the engine requires of an SQL database: connections in transactions.
///
/// Implement this protocol together with ``SQLConnection``, ``SQLStatement`` and ``SQLDialect`` to
/// get a complete `PersistentStore` from ``SQLStore``. All members below are required. The members
/// of the inherited protocols have defaults.
public protocol SQLDatabase: SQLUnjournaledLoading, SQLStructureChecking {
    /// The dialect of this database.
    var dialect: any SQLDialect { get }
    /// The name of the database in messages: a path, or a host and name.
    ///
    /// It must not contain secrets.
    var name: String { get }

    /// Returns a connection in a read transaction whose view is fixed on return.
    ///
    /// Never waits for a writer.
    func beginReading() throws(StoreError) -> any SQLConnection

    /// Ends a read transaction and takes back its connection.
    func endReading(_ connection: any SQLConnection)

    /// Returns the writing connection in a transaction that holds the writer lock.
    ///
    /// - Throws: `busy` if another writer held the lock for longer than the timeout.
    func beginWriting() throws(StoreError) -> any SQLConnection

    /// Commits durably and takes back the connection.
    ///
    /// After an error other than `outcomeUnknown`, nothing was written.
    func commitWriting(_ connection: any SQLConnection) throws(StoreError)

    /// Rolls back the transaction and takes back the connection.
    func rollBackWriting(_ connection: any SQLConnection)

    /// Returns the number of bytes that the database uses on disk.
    func byteCount() throws(StoreError) -> Int

    /// Closes idle connections.
    ///
    /// Open read transactions keep the database open until they end. Further calls do nothing.
    func close() throws(StoreError)
}

/// A database that can load an unpublished store without a journal.
///
/// Other databases load such a store in one transaction.
public protocol SQLUnjournaledLoading: AnyObject, Sendable {
    /// Prepares to load an unpublished store without a journal; returns nil if that is not
    /// possible.
    ///
    /// The connection is in a transaction that cannot be rolled back. After an error, call
    /// `abandonLoading`, which leaves an empty database. First calls `isEmpty`, and returns nil if
    /// the database has content.
    func beginLoading(
        ifEmpty isEmpty: (any SQLConnection) throws(StoreError) -> Bool
    ) throws(StoreError) -> (any SQLConnection)?

    /// Prepares for creating the indexes of a load, after all its rows are inserted.
    func beginIndexing(_ connection: any SQLConnection) throws(StoreError)

    /// Ends a load that ``beginLoading(ifEmpty:)`` began, and makes all changes durable.
    func commitLoading(_ connection: any SQLConnection) throws(StoreError)

    /// Empties the database after a failed load.
    ///
    /// Calls `recreate` in a transaction to create the tables again.
    func abandonLoading(
        _ connection: any SQLConnection, recreate: (any SQLConnection) throws(StoreError) -> Void
    ) throws(StoreError)
}

/// A database in which several connections can read the same view.
package protocol SQLViewSharing: SQLDatabase {
    /// Returns a name for the view of a read transaction; nil if the view cannot be shared.
    ///
    /// The name is valid until the transaction ends. An error may end the transaction.
    func exportView(of connection: any SQLConnection) throws(StoreError) -> String?

    /// Returns a connection in a read transaction with an exported view.
    ///
    /// - Throws: `invalidRequest` if the view's transaction has ended; `busy` if no connection is
    ///   free.
    func beginReading(view name: String) throws(StoreError) -> any SQLConnection
}

/// A database whose tables can be replaced in place when the model of a store changes.
///
/// In other databases, a change of the model copies the content into a new store.
package protocol SQLRebuilding: SQLDatabase {
    /// Whether the database can change tables and rows in one transaction.
    var canRebuild: Bool { get }

    /// Returns the writing connection in a transaction in which the new tables can be created.
    ///
    /// Until the transaction ends, no other process has the store open or can open it. Afterwards,
    /// the caller closes the store. Readers that begin during the transaction see the old content.
    ///
    /// - Returns: The connection; nil if a required name is in use, or if the change exceeds a
    ///   limit.
    /// - Throws: `busy` if, for longer than the timeout, the store is open elsewhere or another
    ///   writer is active.
    func beginRebuilding(_ difference: SQLSchemaDifference) throws(StoreError) -> (any SQLConnection)?

    /// Completes a transaction of ``beginRebuilding(_:)``, before the caller commits it.
    ///
    /// Call this method when all new rows and indexes exist. Afterwards, the database has exactly
    /// the tables and indexes of the new schema.
    func finishRebuilding(
        _ difference: SQLSchemaDifference, to schema: SQLSchema, on connection: any SQLConnection
    ) throws(StoreError)
}

/// A database that can examine its own structure.
///
/// The defaults find no problems. The engine always compares rows with their checksums.
public protocol SQLStructureChecking: AnyObject, Sendable {
    /// Throws `corrupted` if the structure of the database's file is damaged.
    ///
    /// Reads the whole file. The connection is in a transaction.
    func requireSoundStructure(_ connection: any SQLConnection) throws(StoreError)

    /// Messages for users about the database's files, one sentence each.
    var notices: [String] { get }

    /// Examines the database's own file: its pages, and its indexes against the tables.
    func integrityFindings() throws(StoreError) -> [StoreFinding]
}

extension SQLDatabase {
    /// Returns nil.
    public func beginLoading(
        ifEmpty isEmpty: (any SQLConnection) throws(StoreError) -> Bool
    ) throws(StoreError) -> (any SQLConnection)? { nil }

    /// Does nothing.
    public func beginIndexing(_ connection: any SQLConnection) throws(StoreError) {}

    /// Throws `internalInconsistency`, because no load has begun.
    public func commitLoading(_ connection: any SQLConnection) throws(StoreError) { throw noLoad }

    /// Throws `internalInconsistency`, because no load has begun.
    public func abandonLoading(
        _ connection: any SQLConnection, recreate: (any SQLConnection) throws(StoreError) -> Void
    ) throws(StoreError) { throw noLoad }

    private var noLoad: StoreError {
        StoreError(.internalInconsistency, "No load has begun on '\(name)'; please report this.")
    }

    /// Does nothing.
    public func requireSoundStructure(_ connection: any SQLConnection) throws(StoreError) {}

    /// The default, an empty list.
    public var notices: [String] { [] }

    /// Returns an empty list.
    public func integrityFindings() throws(StoreError) -> [StoreFinding] { [] }
}
