public import RoostCore

/// An SQL database as the engine needs it: connections in transactions.
///
/// Implement this together with ``SQLConnection``, ``SQLStatement`` and ``SQLDialect`` to get a
/// whole `PersistentStore` out of ``SQLStore``. All members below are required. Optional abilities
/// are in the protocols that this one refines; each of their members has a default.
public protocol SQLDatabase: SQLUnjournaledLoading, SQLStructureChecking {
    /// The dialect in which this database expects its SQL.
    var dialect: any SQLDialect { get }
    /// The name of the database in messages: a path, or a host and name.
    ///
    /// Never a secret.
    var name: String { get }

    /// A connection in a read transaction whose view is fixed on return.
    ///
    /// Never waits for a writer.
    func beginReading() throws(StoreError) -> any SQLConnection

    /// Ends a read transaction and takes the connection back.
    func endReading(_ connection: any SQLConnection)

    /// The writing connection, in a transaction that holds the writer's place.
    ///
    /// - Throws: `busy` when another writer held on longer than the timeout.
    func beginWriting() throws(StoreError) -> any SQLConnection

    /// Commits, durably, and takes the connection back.
    ///
    /// After an error nothing was written.
    func commitWriting(_ connection: any SQLConnection) throws(StoreError)

    /// Undoes the transaction and takes the connection back.
    func rollBackWriting(_ connection: any SQLConnection)

    /// The bytes the database takes on disk.
    func byteCount() throws(StoreError) -> Int

    /// Closes idle connections; open read transactions keep the database until they end.
    ///
    /// Calling it again does nothing.
    func close() throws(StoreError)
}

/// A database that loads a store without a journal before the store is published.
///
/// Without it, such a load is one transaction.
public protocol SQLUnjournaledLoading: AnyObject, Sendable {
    /// Prepares to load an unpublished store without a journal; nil where that is not possible.
    ///
    /// The connection is in a transaction that cannot be undone. After an error call
    /// `abandonLoading`, which leaves an empty database. `isEmpty` is called on the connection
    /// first and must say whether the database has any content.
    func beginLoading(
        ifEmpty isEmpty: (any SQLConnection) throws(StoreError) -> Bool
    ) throws(StoreError) -> (any SQLConnection)?

    /// Prepares for making indexes, when all rows of a load are inserted.
    func beginIndexing(_ connection: any SQLConnection) throws(StoreError)

    /// Ends a load that ``beginLoading(ifEmpty:)`` began and makes everything durable.
    func commitLoading(_ connection: any SQLConnection) throws(StoreError)

    /// Empties the database after a failed load.
    ///
    /// Calls `recreate` in a transaction to make the tables again.
    func abandonLoading(
        _ connection: any SQLConnection, recreate: (any SQLConnection) throws(StoreError) -> Void
    ) throws(StoreError)
}

/// A database whose tables can be exchanged in place when the model of a store changes.
///
/// Without it, a change of the model copies the content into a new store.
package protocol SQLRebuilding: SQLDatabase {
    /// The writing connection, in a transaction that may drop tables.
    ///
    /// No other opener has the store open, or can open it, until the caller closes it after the
    /// transaction. Readers that begin now see the old content.
    /// - Returns: The connection; nil where something that is not Roost's has a name that is
    ///   needed.
    /// - Throws: `busy` when another opener has the store, or writes, for longer than the timeout.
    func beginRebuilding(_ difference: SQLSchemaDifference) throws(StoreError) -> (any SQLConnection)?
}

/// A database that can examine its own structure.
///
/// The default finds nothing: the engine compares all rows with their checksums in any case.
public protocol SQLStructureChecking: AnyObject, Sendable {
    /// Throws code `corrupted` when the structure of the database's file is damaged.
    ///
    /// The connection is in a transaction.
    ///
    /// Reads the whole file.
    func requireSoundStructure(_ connection: any SQLConnection) throws(StoreError)

    /// Messages for people about the database's files, one sentence each.
    var notices: [String] { get }

    /// Examines the database's own file: pages, indexes against tables.
    func integrityFindings() throws(StoreError) -> [StoreFinding]
}

extension SQLDatabase {
    /// Returns nil.
    public func beginLoading(
        ifEmpty isEmpty: (any SQLConnection) throws(StoreError) -> Bool
    ) throws(StoreError) -> (any SQLConnection)? { nil }

    /// Does nothing.
    public func beginIndexing(_ connection: any SQLConnection) throws(StoreError) {}

    /// Throws code `internalInconsistency`, because no such load was begun.
    public func commitLoading(_ connection: any SQLConnection) throws(StoreError) { throw noLoad }

    /// Throws code `internalInconsistency`, because no such load was begun.
    public func abandonLoading(
        _ connection: any SQLConnection, recreate: (any SQLConnection) throws(StoreError) -> Void
    ) throws(StoreError) { throw noLoad }

    private var noLoad: StoreError {
        StoreError(.internalInconsistency, "No load without a journal was begun on '\(name)'; please report this.")
    }

    /// Does nothing.
    public func requireSoundStructure(_ connection: any SQLConnection) throws(StoreError) {}

    /// Returns an empty list.
    public var notices: [String] { [] }

    /// Returns an empty list.
    public func integrityFindings() throws(StoreError) -> [StoreFinding] { [] }
}
