public import RoostCore
internal import RoostQuery

/// One connection to an SQL database.
///
/// Use it from one thread at a time. All members below are required.
public protocol SQLConnection: SQLConnectionAbilities {
    /// Prepares a statement.
    ///
    /// Give it back with ``SQLConnectionAbilities/recycle(_:)``. The text has numbered parameters
    /// as ``SQLDialect/parameter(_:)`` writes them; one of them may occur several times.
    func statement(_ sql: String) throws(StoreError) -> any SQLStatement

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    var changedRowCount: Int { get }

    /// Whether the transaction that was begun is still open.
    ///
    /// A database may end one when reading fails, as on a full disk.
    var isInTransaction: Bool { get }
}

/// The optional abilities of a connection; each member has a default.
public protocol SQLConnectionAbilities: AnyObject {
    /// Resets a statement, forgets its values and may keep it for the next one with its text.
    ///
    /// The default keeps none.
    func recycle(_ statement: any SQLStatement)

    /// Prepares a SELECT that may have many rows. The caller may stop before the last row.
    ///
    /// Give it back with ``recycle(_:)``. The default is ``SQLConnection/statement(_:)``, for a
    /// database that finds rows only as they are asked for.
    func rows(_ sql: String) throws(StoreError) -> any SQLStatement

    /// Runs a statement that has no parameters and whose rows, if any, do not matter.
    func execute(_ sql: String) throws(StoreError)

    /// Runs `body`, whose statements end with the error that `check` throws.
    ///
    /// `check` is called now and then while they run, on this thread.
    ///
    /// The default runs it to its end: for a database that cannot be stopped.
    func ending<Result>(
        when check: @escaping () throws(StoreError) -> Void, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result

    /// Runs `body`, after whose error the transaction can still be read.
    ///
    /// The default only runs it. A database whose transaction ends with the first error sets a
    /// savepoint before and goes back to it.
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
    /// Runs `body`; its statements end with code `cancelled` soon after the task was cancelled.
    package func endingWithTask<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try ending(when: FetchCancellation.check, body)
    }

    /// Runs `body` with a statement, and always returns the statement to the cache.
    public func withStatement<Result>(
        _ sql: String, _ body: (any SQLStatement) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let statement = try statement(sql)
        defer { recycle(statement) }
        return try body(statement)
    }

    /// Runs `body` with a SELECT that may have many rows, and always returns the statement to the
    /// cache.
    func withRows<Result>(
        _ sql: String, _ body: (any SQLStatement) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let statement = try rows(sql)
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

    /// Returns the integer in the first column of the first row, or nil.
    public func integer(_ sql: String, _ values: SQLValue...) throws(StoreError) -> Int64? {
        try withStatement(sql) { (statement) throws(StoreError) -> Int64? in
            try statement.bind(values)
            guard try statement.step(), try !statement.isNull(at: 0) else { return nil }
            return try statement.integer(at: 0)
        }
    }
}
