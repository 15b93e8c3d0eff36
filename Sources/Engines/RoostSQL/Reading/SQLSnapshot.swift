package import RoostCore
internal import RoostQuery

/// A read transaction: a consistent view of the store at the creation of the snapshot.
package final class SQLSnapshot: GroupedLinkSnapshot, GraphProvidingSnapshot, ViewSharingSnapshot {
    let store: SQLStore
    /// Whether rows that do not match their checksums are read without an error.
    let acceptsChanges: Bool
    /// Whether closing the snapshot ends the connection's transaction.
    private let ownsConnection: Bool
    private var connection: (any SQLConnection)?
    /// The statements that cursors use.
    ///
    /// Closing the snapshot returns them to the connection, even if cursors are still open.
    private var leases: [ObjectIdentifier: SQLLease] = [:]
    /// The statements that look up one record, by entity number.
    private var lookups: [SQLLookup?]
    /// The last used lookup, which most calls need again.
    private var lastLookup: SQLLookup?
    /// The SQL that reads the links of one object, by relationship number.
    ///
    /// Each entry is valid only for the entity with the number `source`.
    private var linkQueries: [(source: Int, sql: String)?]

    package var model: ManagedObjectModel { store.schema.model }
    var schema: SQLSchema { store.schema }

    /// Creates a snapshot that reads in a connection's open transaction.
    ///
    /// If `acceptsChanges` is nil, the store's setting applies.
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

    package func shareView() throws(StoreError) -> (@Sendable () throws(StoreError) -> any StoreSnapshot)? {
        let connection = try open()
        guard let database = store.database as? any SQLViewSharing,
            let view = try database.exportView(of: connection)
        else { return nil }
        return { [store, acceptsChanges] () throws(StoreError) in
            try store.requireOpen()
            return SQLSnapshot(
                store: store, connection: try database.beginReading(view: view), acceptsChanges: acceptsChanges)
        }
    }

    package func recordedTally() throws(StoreError) -> StoreTally? { try SQLTallies.read(try open(), store: store) }

    package func userMetadata() throws(StoreError) -> [String: MetadataValue] {
        try SQLMetadata.userMetadata(try open(), storeName: store.database.name, schema: schema)
    }

    package func lastKey(of entity: EntityName) throws(StoreError) -> Int64 {
        let connection = try open()
        return try SQLStore.lastKey(try model.requireEntity(entity).root, connection: connection, store: store)
    }

    /// Returns the connection; throws `closed` if the snapshot, the store or the transaction ended.
    func open() throws(StoreError) -> any SQLConnection {
        guard let connection else { throw wasClosed }
        try store.requireOpen()
        // Outside the transaction, the connection would read another state.
        guard connection.isInTransaction else {
            throw StoreError(
                .closed, "An earlier read failed and ended the snapshot of '\(store.location)'; take a new one.")
        }
        return connection
    }

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

    func linkQuery(
        _ relationship: ManagedObjectModel.Relationship, from source: ManagedObjectModel.Entity
    ) throws(StoreError) -> String {
        if let known = linkQueries[relationship.number], known.source == source.number { return known.sql }
        let sql = try schema.linkQuery(relationship, from: source)
        linkQueries[relationship.number] = (source.number, sql)
        return sql
    }

    /// Returns a statement for a cursor, which gives it back by ``end(_:)``.
    ///
    /// `isRepeated` is true for a statement that runs many times, with few rows each time.
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

/// A lookup of one record by its key, among the objects of an entity and its subentities.
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

/// A cursor's use of a statement.
///
/// `statement` is nil after the cursor returned it or the snapshot was closed.
final class SQLLease {
    var statement: (any SQLStatement)? {
        didSet { if statement == nil { known = nil } }
    }
    private var known: SQLRecordAccess?

    var access: SQLRecordAccess? {
        if known == nil { known = statement.map { SQLRecordAccess($0) } }
        return known
    }

    init(_ statement: any SQLStatement) { self.statement = statement }
}
