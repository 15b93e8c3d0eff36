public import RoostCore
internal import RoostQuery

/// A connection to an SQL database.
///
/// Use it from one thread at a time. All members below are required.
public protocol SQLConnection: SQLConnectionAbilities {
    /// Prepares a statement.
    ///
    /// The caller returns the statement with ``SQLConnectionAbilities/recycle(_:)``. The text has
    /// parameters in the form of ``SQLDialect/parameter(_:)``, which may occur several times.
    func statement(_ sql: String) throws(StoreError) -> any SQLStatement

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    var changedRowCount: Int { get }

    /// Whether the current transaction is still open.
    ///
    /// A database may end a transaction when reading fails, for example on a full disk.
    var isInTransaction: Bool { get }
}

/// The optional abilities of a connection; each member has a default.
public protocol SQLConnectionAbilities: AnyObject {
    /// Resets a statement that the caller no longer uses.
    ///
    /// An implementation may cache the statement for its text, but must then clear its values. The
    /// default does not cache it.
    func recycle(_ statement: any SQLStatement)

    /// Prepares a SELECT that may have many rows.
    ///
    /// The caller may stop before the last row, and calls ``recycle(_:)`` at the end. The default,
    /// ``SQLConnection/statement(_:)``, suits databases that compute each row when it is read.
    func rows(_ sql: String) throws(StoreError) -> any SQLStatement

    /// Runs a statement without parameters and ignores its rows.
    func execute(_ sql: String) throws(StoreError)

    /// Runs `body`, and ends its statements with the error that `check` throws, if any.
    ///
    /// `check` is called from time to time while the statements run, on this thread. Its error must
    /// end neither a read transaction nor other open statements. The default never calls `check`.
    func ending<Result>(
        when check: @escaping () throws(StoreError) -> Void, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result

    /// Runs `body` so that the connection can still read in the transaction after an error.
    ///
    /// The default only runs `body`. If an error would end the transaction, the implementation must
    /// set a savepoint before `body` and roll back to it after the error.
    func attempting<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result
}

extension SQLConnection {
    /// Resets the statement.
    public func recycle(_ statement: any SQLStatement) { statement.reset() }

    /// Prepares the statement.
    public func rows(_ sql: String) throws(StoreError) -> any SQLStatement { try statement(sql) }

    /// Prepares the statement and runs it.
    public func execute(_ sql: String) throws(StoreError) { try run(sql) }

    /// Runs `body` to its end.
    public func ending<Result>(
        when check: @escaping () throws(StoreError) -> Void, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try body()
    }

    /// Runs `body`.
    public func attempting<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try body()
    }
}

extension SQLConnection {
    /// Runs `body`, and ends its statements with `cancelled` when the task is cancelled, if
    /// possible.
    package func endingWithTask<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try ending(when: FetchCancellation.check, body)
    }

    /// Runs `body` with a statement, and always recycles it.
    public func withStatement<Result>(
        _ sql: String, _ body: (any SQLStatement) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let statement = try statement(sql)
        defer { recycle(statement) }
        return try body(statement)
    }

    /// Runs `body` with a SELECT that may have many rows.
    func withRows<Result>(
        _ sql: String, _ body: (any SQLStatement) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let statement = try rows(sql)
        defer { recycle(statement) }
        return try body(statement)
    }

    /// Runs a statement with values and ignores its rows.
    public func run(_ sql: String, _ values: SQLValue...) throws(StoreError) {
        try withStatement(sql) { (statement) throws(StoreError) in
            try statement.bind(values)
            while try statement.step() {}
        }
    }

    /// Returns the integer in the first column of the first row; nil without a row or for null.
    public func integer(_ sql: String, _ values: SQLValue...) throws(StoreError) -> Int64? {
        try withStatement(sql) { (statement) throws(StoreError) -> Int64? in
            try statement.bind(values)
            guard try statement.step(), try !statement.isNull(at: 0) else { return nil }
            return try statement.integer(at: 0)
        }
    }
}
