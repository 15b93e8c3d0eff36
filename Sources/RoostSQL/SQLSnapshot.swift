public import RoostCore

/// A read transaction: a consistent view of the store as it was when the snapshot was made.
public final class SQLSnapshot: StoreSnapshot {
    let store: SQLStore
    private var connection: (any SQLConnection)?
    /// The statements that cursors hold; taken from them when the snapshot closes, because the connection goes to others.
    private var leases: [ObjectIdentifier: SQLLease] = [:]
    /// By entity number, the statement that looks up one record; all lookups of the snapshot share it, one record at a time.
    private var lookups: [(any SQLStatement)?]

    /// The model of the store.
    public var model: ManagedObjectModel { store.schema.model }
    var schema: SQLSchema { store.schema }

    init(store: SQLStore, connection: any SQLConnection) {
        self.store = store
        self.connection = connection
        lookups = [(any SQLStatement)?](repeating: nil, count: store.schema.reading.count)
    }

    deinit { close() }

    /// Ends the view.
    ///
    /// Calling it again does nothing.
    public func close() {
        guard let connection else { return }
        self.connection = nil
        for lease in leases.values {
            if let statement = lease.statement { connection.recycle(statement) }
            lease.statement = nil
        }
        leases = [:]
        for case let statement? in lookups { connection.recycle(statement) }
        lookups = []
        store.database.endReading(connection)
    }

    /// Counts and digests, as the last commit recorded them.
    public func recordedTally() throws(StoreError) -> StoreTally? { try SQLTallies.read(try open(), store) }

    /// The user's metadata, as the last commit left them.
    public func userMetadata() throws(StoreError) -> [String: MetadataValue] {
        try SQLMetadata.userMetadata(try open(), storeName: store.database.name)
    }

    /// The highest key ever used or reserved in the hierarchy of `entity`; 0 if none was.
    public func lastKey(of entity: EntityName) throws(StoreError) -> Int64 {
        let connection = try open()
        return try SQLStore.lastKey(try model.requireEntity(entity).root, connection, store)
    }

    /// The connection; throws code `closed` after the snapshot's or the store's end.
    func open() throws(StoreError) -> any SQLConnection {
        guard let connection else { throw StoreError(.closed, "The snapshot of '\(store.url)' was closed before.") }
        try store.requireOpen()
        return connection
    }

    /// Reads the record with a key, if it is of the entity with this number or a subentity; returns the error of a damaged one.
    func look(up key: Int64, entity: Int, into batch: inout RecordBatch) throws(StoreError) -> StoreError? {
        guard let connection else { return nil }
        guard let statement = lookups[entity] else {
            lookups[entity] = try connection.statement(schema.lookupSQL[entity])
            return try look(up: key, entity: entity, into: &batch)
        }
        return try statement.look(up: key, into: &batch, plan: schema.reading[entity])
    }

    /// A statement for a cursor, which gives it back with ``end(_:)``.
    func lease(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> SQLLease {
        let statement = try open().statement(sql)
        let lease = SQLLease(statement)
        leases[ObjectIdentifier(lease)] = lease
        do throws(StoreError) {
            try statement.bind(values)
        } catch {
            end(lease)
            throw error
        }
        return lease
    }

    func end(_ lease: SQLLease) {
        guard let statement = lease.statement else { return }
        lease.statement = nil
        leases[ObjectIdentifier(lease)] = nil
        connection?.recycle(statement)
    }
}

/// A statement in the hands of a cursor; nil once it was given back or taken away.
final class SQLLease {
    var statement: (any SQLStatement)?

    init(_ statement: any SQLStatement) { self.statement = statement }
}
