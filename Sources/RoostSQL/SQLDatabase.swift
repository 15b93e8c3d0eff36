public import RoostCore

/// What the SQL engine needs from a database: connections in transactions, and what stands around them.
///
/// Implement this together with ``SQLConnection``, ``SQLStatement`` and ``SQLDialect`` to get a whole `PersistentStore`
/// out of ``SQLStore``.
public protocol SQLDatabase: AnyObject, Sendable {
    /// How this database wants its SQL written.
    var dialect: any SQLDialect { get }
    /// What messages call the database: a path, or a host and name.
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

    /// Prepares to load a store that nobody can see yet without a journal; nil where that is not possible.
    ///
    /// The connection is in a transaction that cannot be undone: after an error call `abandonLoading`, which leaves an empty
    /// database. `isEmpty` is called on the connection first and must say whether there is nothing to lose.
    func beginLoading(
        ifEmpty isEmpty: (any SQLConnection) throws(StoreError) -> Bool
    ) throws(StoreError) -> (any SQLConnection)?

    /// Tells that all rows are in and that indexes follow.
    func beginIndexing(_ connection: any SQLConnection) throws(StoreError)

    /// Ends a load that ``beginLoading(ifEmpty:)`` began and makes everything durable.
    func commitLoading(_ connection: any SQLConnection) throws(StoreError)

    /// Empties the database after a failed load and calls `recreate` in a transaction to make the tables again.
    func abandonLoading(
        _ connection: any SQLConnection, recreate: (any SQLConnection) throws(StoreError) -> Void
    ) throws(StoreError)

    /// The writing connection, in a transaction that may drop tables, while nobody else has the store open or can open it.
    ///
    /// That lasts to the end of the store: after the transaction the caller closes it. Readers that begin now see what was there before.
    /// - Returns: The connection; nil where something that is not Roost's has a name that is needed.
    /// - Throws: `busy` when somebody else has the store open, or writes, for longer than the timeout.
    func beginRebuilding(_ difference: SQLSchemaDifference) throws(StoreError) -> (any SQLConnection)?

    /// Throws code `corrupted` when the structure of the database's file is damaged, as a connection in a transaction sees it.
    ///
    /// Reads the whole file.
    func requireSoundStructure(_ connection: any SQLConnection) throws(StoreError)

    /// Messages for people about the database's files, one sentence each; empty by default.
    var notices: [String] { get }

    /// What the database finds wrong with its own file: pages, indexes against tables.
    func integrityFindings() throws(StoreError) -> [StoreFinding]

    /// The bytes the database takes on disk.
    func byteCount() throws(StoreError) -> Int

    /// Closes what is idle; open read transactions keep the file until they end.
    ///
    /// Calling it again does nothing.
    func close() throws(StoreError)
}

extension SQLDatabase {
    /// An empty list.
    public var notices: [String] { [] }
}

/// One connection.
///
/// Use it from one thread at a time.
public protocol SQLConnection: AnyObject {
    /// A statement for this text, from the connection's cache if one is idle there.
    ///
    /// Give it back with ``recycle(_:)``.
    func statement(_ sql: String) throws(StoreError) -> any SQLStatement

    /// Resets a statement, forgets its values and keeps it for the next ``statement(_:)`` with its text.
    func recycle(_ statement: any SQLStatement)

    /// Runs a statement that has no parameters and whose rows, if any, do not matter.
    func execute(_ sql: String) throws(StoreError)

    /// Inserts those records of a batch that belong to the plan's table, in their order, several rows a statement.
    ///
    /// - Parameters:
    ///   - records: Records with sound structure and right content hashes.
    ///   - plan: Where values go.
    ///   - version: The version to store; nil for the one each record carries.
    /// - Throws: `duplicateObject`, `constraintViolation`, `noSpace`, and what else the database reports.
    func insert(_ records: RecordBatch, plan: SQLWritePlan, version: UInt32?) throws(StoreError)

    /// How many rows the last INSERT, UPDATE or DELETE touched.
    var changedRowCount: Int { get }

    /// Whether the transaction that was begun is still open; a database may end one when reading fails (SQLite: full disk, I/O error).
    var isInTransaction: Bool { get }

    /// Runs `body`, whose statements end with the error that `check` throws; while they run it is asked now and then, on this thread.
    ///
    /// The default runs it to its end: for a database that cannot be stopped.
    func ending<Result>(
        when check: @escaping () throws(StoreError) -> Void, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result
}

extension SQLConnection {
    /// Runs `body` to its end.
    public func ending<Result>(
        when check: @escaping () throws(StoreError) -> Void, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try body()
    }

    /// Runs `body`, whose statements end with code `cancelled` soon after the task in which they run was cancelled.
    public func endingWithTask<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try ending(when: FetchCancellation.check, body)
    }

    /// Runs `body` with a statement and gives it back, whatever happens.
    public func withStatement<Result>(
        _ sql: String, _ body: (any SQLStatement) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let statement = try statement(sql)
        defer { recycle(statement) }
        return try body(statement)
    }

    /// Runs a statement with values; its rows, if any, do not matter.
    public func run(_ sql: String, _ values: SQLValue...) throws(StoreError) {
        try withStatement(sql) { (statement) throws(StoreError) in
            try statement.bind(values)
            while try statement.step() {}
        }
    }

    /// The integer in the first column of the first row; nil when there is no row or it is null.
    public func integer(_ sql: String, _ values: SQLValue...) throws(StoreError) -> Int64? {
        try withStatement(sql) { (statement) throws(StoreError) -> Int64? in
            try statement.bind(values)
            guard try statement.step(), try !statement.isNull(at: 0) else { return nil }
            return try statement.integer(at: 0)
        }
    }
}

/// A value that crosses to or from a statement one at a time, outside the hot paths.
public enum SQLValue: Sendable, Equatable {
    /// NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A floating-point number; never NaN, which many databases do not store.
    case real(Double)
    /// Text.
    case text(String)
    /// Bytes.
    case blob([UInt8])
    /// A string operator with its right side, for ``SQLDialect/matches(_:_:)``.
    case matcher(StringMatcher)

    /// Whether both are the same; matchers are when they are the same object.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.real(let a), .real(let b)): a == b
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.blob(let a), .blob(let b)): a == b
        case (.matcher(let a), .matcher(let b)): a === b
        default: false
        }
    }
}

/// A prepared statement.
///
/// Parameters count from 1, columns from 0.
public protocol SQLStatement: AnyObject {
    /// Sets a parameter.
    func bind(_ value: SQLValue, at position: Int) throws(StoreError)

    /// Sets the parameters of one row: key, entity, version, content hash, then the columns.
    ///
    /// The record's bytes are not copied: step and reset the statement before they go.
    func bind(
        _ record: RecordReader, version: UInt32, columns: SQLRowColumns, at position: Int
    ) throws(StoreError)

    /// Sets a parameter to the value of one field, as the field's first column holds it.
    ///
    /// Copies the bytes.
    func bind(_ field: RecordLayout.Field, of record: RecordReader, at position: Int) throws(StoreError)

    /// Goes to the next row; false when there is none.
    func step() throws(StoreError) -> Bool

    /// Makes the statement ready to run again; parameters keep their values.
    func reset()

    /// Whether the column of the current row is null.
    func isNull(at column: Int) throws(StoreError) -> Bool

    /// The integer in a column; throws code `corrupted` when the column holds anything else.
    func integer(at column: Int) throws(StoreError) -> Int64

    /// The value in a column.
    ///
    /// Text that is not UTF-8 throws code `corrupted`.
    func value(at column: Int) throws(StoreError) -> SQLValue

    /// Adds the records of the next rows to a batch until it is full.
    ///
    /// The columns are those of ``SQLReadPlan/columnList``. After an error the batch has the
    /// records of the rows before it.
    ///
    /// - Parameters:
    ///   - batch: Where the records go.
    ///   - plan: How rows become records.
    ///   - accepting: Whether rows that do not match their checksums are added too, instead of
    ///     ending the call as damaged.
    /// - Returns: Why the call ended.
    /// - Throws: What the database reports.
    func fill(_ batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool) throws(StoreError) -> SQLFill

    /// Adds the record of the one row that the statement gives for a key, and makes it ready to run again.
    ///
    /// The key is parameter 1, the columns are those of ``SQLReadPlan/columnList``. No row adds nothing.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - batch: Where the record goes.
    ///   - plan: How rows become records.
    ///   - accepting: Whether a row that does not match its checksum is added too.
    /// - Returns: What is wrong with a row that is not added; else nil.
    /// - Throws: What the database reports.
    func look(
        up key: Int64, into batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
    ) throws(StoreError) -> StoreError?

    /// Adds links until the batch is full; false when there are no more rows.
    ///
    /// Columns: source, target, order, inverse order.
    func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool
}

extension SQLStatement {
    /// Sets the first parameters.
    public func bind(_ values: [SQLValue]) throws(StoreError) {
        for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
    }
}

/// How filling a batch ended.
public enum SQLFill {
    /// The batch is full; there may be more rows.
    case full
    /// There are no more rows.
    case end
    /// A row does not match its checksum, or holds what no record can; the batch has all rows
    /// before it, and the next call continues after it.
    case damaged(StoreError)
}
