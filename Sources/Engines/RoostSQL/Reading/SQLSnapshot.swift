package import RoostCore
internal import RoostQuery

/// A read transaction: a consistent view of the store as it was when the snapshot was made.
package final class SQLSnapshot: GroupedLinkSnapshot, GraphProvidingSnapshot {
    let store: SQLStore
    /// Whether rows that do not match their checksums are read as they are.
    let acceptsChanges: Bool
    /// Whether the connection is given back at the end.
    private let ownsConnection: Bool
    private var connection: (any SQLConnection)?
    /// The statements that cursors hold; taken from them when the snapshot closes, because the
    /// connection goes to others.
    private var leases: [ObjectIdentifier: SQLLease] = [:]
    /// By entity number, the statement that looks up one record; all lookups of the snapshot share
    /// it, one record at a time.
    private var lookups: [SQLLookup?]
    /// The last lookup used, because most calls need the same one again.
    private var lastLookup: SQLLookup?
    /// By relationship number, the statement that reads the links of one object, and the entity it
    /// was last made for.
    private var linkQueries: [(source: Int, sql: String)?]

    /// The model of the store.
    package var model: ManagedObjectModel { store.schema.model }
    var schema: SQLSchema { store.schema }

    /// Creates a view of the state that a connection in a transaction reads.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - connection: The connection.
    ///   - acceptsChanges: Whether rows that do not match their checksums are read as they are; nil
    ///     for the store's own setting.
    ///   - ownsConnection: Whether the end of the snapshot gives the connection back.
    init(
        store: SQLStore, connection: any SQLConnection, acceptsChanges: Bool? = nil, ownsConnection: Bool = true
    ) {
        self.store = store
        self.connection = connection
        self.acceptsChanges = acceptsChanges ?? store.acceptsChanges
        self.ownsConnection = ownsConnection
        lookups = [SQLLookup?](repeating: nil, count: store.schema.reading.count)
        linkQueries = [(source: Int, sql: String)?](repeating: nil, count: store.schema.model.relationships.count)
    }

    deinit { close() }

    /// Ends the view.
    ///
    /// Calling it again does nothing.
    package func close() {
        guard let connection else { return }
        self.connection = nil
        for lease in leases.values {
            if let statement = lease.statement { connection.recycle(statement) }
            lease.statement = nil
        }
        leases = [:]
        for case let lookup? in lookups { connection.recycle(lookup.access.statement) }
        (lookups, lastLookup) = ([], nil)
        if ownsConnection { store.database.endReading(connection) }
    }

    /// Counts and digests, as the last commit recorded them.
    package func recordedTally() throws(StoreError) -> StoreTally? { try SQLTallies.read(try open(), store: store) }

    /// The user's metadata, as the last commit left them.
    package func userMetadata() throws(StoreError) -> [String: MetadataValue] {
        try SQLMetadata.userMetadata(try open(), storeName: store.database.name, schema: schema)
    }

    /// The highest key ever used or reserved in the hierarchy of `entity`; 0 if none was.
    package func lastKey(of entity: EntityName) throws(StoreError) -> Int64 {
        let connection = try open()
        return try SQLStore.lastKey(try model.requireEntity(entity).root, connection: connection, store: store)
    }

    /// The connection; throws code `closed` after the snapshot's or the store's end.
    func open() throws(StoreError) -> any SQLConnection {
        guard let connection else { throw wasClosed }
        try store.requireOpen()
        // Outside the transaction, the connection would read another state.
        guard connection.isInTransaction else {
            throw StoreError(
                .closed, "The snapshot of '\(store.location)' ended when reading failed before; take a new one.")
        }
        return connection
    }

    /// Throws code `closed` after the snapshot's or the store's end.
    func requireOpen() throws(StoreError) { _ = try open() }

    private var wasClosed: StoreError { StoreError(.closed, "The snapshot of '\(store.location)' was closed before.") }

    /// Returns the lookup for records of an entity; valid until the snapshot closes.
    func lookup(_ name: EntityName) throws(StoreError) -> SQLLookup {
        if let lastLookup, lastLookup.name == name { return lastLookup }
        let number = try model.requireEntity(name).number
        let lookup: SQLLookup
        if let known = lookups[number] {
            lookup = known
        } else {
            let statement = try open().statement(schema.reading.lookupSQL(number))
            lookup = SQLLookup(name: name, statement: statement, plan: schema.reading[number])
            lookups[number] = lookup
        }
        lastLookup = lookup
        return lookup
    }

    /// The SQL that ``links(of:from:)`` runs.
    func linkQuery(
        _ relationship: ManagedObjectModel.Relationship, from source: ManagedObjectModel.Entity
    ) throws(StoreError) -> String {
        if let known = linkQueries[relationship.number], known.source == source.number { return known.sql }
        let sql = try schema.linkQuery(relationship, from: source)
        linkQueries[relationship.number] = (source.number, sql)
        return sql
    }

    /// A statement for a cursor, which gives it back with ``end(_:)``.
    ///
    /// - Parameters:
    ///   - sql: A SELECT.
    ///   - values: Its parameters.
    ///   - isRepeated: Whether it is run again and again, for few rows each time.
    /// - Returns: The statement.
    /// - Throws: Errors of the database.
    func lease(_ sql: String, values: [SQLValue], isRepeated: Bool = false) throws(StoreError) -> SQLLease {
        let connection = try open()
        let statement = isRepeated ? try connection.statement(sql) : try connection.rows(sql)
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

/// A lookup, by key, of one record of an entity or its subentities.
final class SQLLookup {
    let name: EntityName
    let access: SQLRecordAccess
    let plan: SQLReadPlan

    init(name: EntityName, statement: any SQLStatement, plan: SQLReadPlan) {
        self.name = name
        access = SQLRecordAccess(statement)
        self.plan = plan
    }
}

/// A statement in the hands of a cursor; nil once it was given back or taken away.
final class SQLLease {
    var statement: (any SQLStatement)? {
        didSet { if statement == nil { known = nil } }
    }
    private var known: SQLRecordAccess?

    /// The statement as one whose rows are records.
    var access: SQLRecordAccess? {
        if known == nil { known = statement.map { SQLRecordAccess($0) } }
        return known
    }

    init(_ statement: any SQLStatement) { self.statement = statement }
}
