internal import CSQLite
package import RoostCore
internal import RoostSQL

/// Limits for the effects of hostile or damaged files, and of faulty statements.
enum SQLiteGuards {
    /// Returns the limits of a connection; FORMAT.md lists them, some with their reasons.
    static func limits(maximumValueBytes: Int) -> [(limit: Int32, value: Int32)] {
        [
            (SQLITE_LIMIT_LENGTH, Int32(clamping: maximumValueBytes)), (SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
            (SQLITE_LIMIT_COLUMN, 2000), (SQLITE_LIMIT_EXPR_DEPTH, 500), (SQLITE_LIMIT_COMPOUND_SELECT, 10),
            (SQLITE_LIMIT_VDBE_OP, 1_000_000), (SQLITE_LIMIT_ATTACHED, 0),
            (SQLITE_LIMIT_VARIABLE_NUMBER, SQLiteConnection.maximumParameterCount), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
            (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000), (SQLITE_LIMIT_WORKER_THREADS, 0),
        ]
    }

    /// The functions that Roost's statements call.
    private static let functions: [StaticString] = [
        "coalesce", "count", "json_each", "max", "min", "roost_matches", "roost_sort_key", "sum", "typeof",
    ]

    /// The pragmas that Roost's connections use.
    private static let pragmas: [StaticString] = [
        "application_id", "auto_vacuum", "busy_timeout", "cache_size", "cell_size_check", "encoding",
        "integrity_check", "journal_mode", "journal_size_limit", "locking_mode", "mmap_size", "page_size", "query_only",
        "quick_check", "recursive_triggers", "synchronous", "trusted_schema", "user_version", "wal_autocheckpoint",
    ]

    /// Returns whether a statement may perform an action.
    ///
    /// <https://www.sqlite.org/c3ref/c_alter_table.html> lists the actions, with the meaning of
    /// `first` and `second`.
    static func allows(
        _ action: Int32, first: UnsafePointer<CChar>?, second: UnsafePointer<CChar>?,
        database: UnsafePointer<CChar>?, writing: Bool, dropping: Bool = false
    ) -> Bool {
        switch action {
        case SQLITE_SELECT, SQLITE_TRANSACTION: return true
        case SQLITE_READ: return database == nil || equals(database, constant: "main")
        case SQLITE_FUNCTION: return functions.contains { equals(second, constant: $0) }
        case SQLITE_PRAGMA: return pragmas.contains { equals(first, constant: $0) }
        // SQLite asks to update this table when it declares `json_each` internally. No statement can
        // really change the table, because connections are defensive.
        case SQLITE_UPDATE where equals(first, constant: "sqlite_master"): return true
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE, SQLITE_CREATE_TABLE, SQLITE_CREATE_INDEX, SQLITE_DROP_INDEX,
            SQLITE_REINDEX:
            return writing && equals(database, constant: "main")
        case SQLITE_DROP_TABLE: return dropping && equals(database, constant: "main")
        default: return false
        }
    }

    /// Returns whether a C string equals a constant, ignoring the case of ASCII letters.
    private static func equals(_ text: UnsafePointer<CChar>?, constant: StaticString) -> Bool {
        guard let text else { return false }
        return constant.withUTF8Buffer { expected in
            // SAFETY: SQLite passes texts that end with a zero byte, and no byte after the first
            // zero is read.
            for (index, byte) in expected.enumerated() {
                let found = UInt8(bitPattern: text[index])
                guard found != 0, found | 0x20 == byte | 0x20 else { return false }
            }
            return text[expected.count] == 0
        }
    }
}

/// The time limit of a statement for its next row.
///
/// SQLite calls ``look()`` after every ``stepCount`` steps of its virtual machine.
struct RowClock {
    /// The number of steps between two calls, about a millisecond of work.
    static let stepCount: Int32 = 100_000

    /// The maximum time for a row, or nil for no limit.
    var limit: Duration?
    /// The time of the first call for the current row; valid only if `hasStarted`.
    private var start = ContinuousClock.now
    private var hasStarted = false
    /// Whether the time limit stopped the statement since the last reset.
    var isOver = false
    /// A closure that stops the statement by throwing.
    var check: (() throws(StoreError) -> Void)?
    /// The last error of `check`, and whether it stopped the statement since the last reset.
    private(set) var checkError: StoreError?
    private(set) var wasCancelled = false

    /// Resets the clock without reading the time, because this runs for every row.
    mutating func reset() { (hasStarted, isOver, wasCancelled) = (false, false, false) }

    /// Calls `check` and reads the clock, and returns true if the statement must be stopped.
    mutating func look() -> Bool {
        do throws(StoreError) {
            try check?()
        } catch {
            (checkError, wasCancelled) = (error, true)
            return true
        }
        guard let limit else { return false }
        let now = ContinuousClock.now
        guard hasStarted else {
            (start, hasStarted) = (now, true)
            return false
        }
        isOver = now - start > limit
        return isOver
    }
}

extension SQLiteConnection {
    enum Authority {
        case reading
        /// Reading, writing rows, creating tables, and creating or dropping indexes.
        case writing
        /// The same as `writing`, and dropping tables.
        case dropping
        /// All operations, to rebuild a database.
        case everything
    }

    /// Restricts the statements that are prepared after this call to the given operations.
    func allow(_ authority: Authority) throws(StoreError) {
        let code =
            switch authority {
            case .everything: sqlite3_set_authorizer(handle, nil, nil)
            case .reading:
                sqlite3_set_authorizer(
                    handle,
                    { _, action, first, second, database, _ in
                        SQLiteGuards.allows(action, first: first, second: second, database: database, writing: false)
                            ? SQLITE_OK : SQLITE_DENY
                    }, nil)
            case .writing:
                sqlite3_set_authorizer(
                    handle,
                    { _, action, first, second, database, _ in
                        SQLiteGuards.allows(action, first: first, second: second, database: database, writing: true)
                            ? SQLITE_OK : SQLITE_DENY
                    }, nil)
            case .dropping:
                sqlite3_set_authorizer(
                    handle,
                    { _, action, first, second, database, _ in
                        SQLiteGuards.allows(
                            action, first: first, second: second, database: database, writing: true, dropping: true)
                            ? SQLITE_OK : SQLITE_DENY
                    }, nil)
            }
        try check(code, what: "Setting up")
    }

    func bound(maximumValueBytes: Int, rowTimeout: Duration?) {
        for (limit, value) in SQLiteGuards.limits(maximumValueBytes: maximumValueBytes) {
            sqlite3_limit(handle, limit, value)
        }
        clock.pointee.limit = rowTimeout
        // SAFETY: `clock` exists as long as the connection. Only its statements call back, on the
        // thread that uses the connection.
        sqlite3_progress_handler(
            handle, RowClock.stepCount,
            { context in
                context?.assumingMemoryBound(to: RowClock.self).pointee.look() == true ? 1 : 0
            }, clock)
    }

    /// Rebuilds the file, or empties it if `SQLITE_DBCONFIG_RESET_DATABASE` was set.
    ///
    /// Requires ``Authority/everything``. VACUUM attaches a temporary file, so this method allows
    /// one attached file.
    func vacuum() throws(StoreError) {
        let limit = sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
        defer { sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, limit) }
        try execute("VACUUM")
    }

    /// Runs `body`, and stops its statements if `check`, called about every millisecond, throws.
    package func ending<Result>(
        when check: @escaping () throws(StoreError) -> Void, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let outer = clock.pointee.check
        clock.pointee.check = check
        defer { clock.pointee.check = outer }
        return try body()
    }

    func withoutTimeLimit<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        let limit = clock.pointee.limit
        clock.pointee.limit = nil
        defer { clock.pointee.limit = limit }
        return try body()
    }
}
