#if SQLite
    import RoostCore
    import RoostSQL
    import RoostSQLite

    /// A connection with only the required members, over a connection to SQLite.
    final class PlainConnection: SQLConnection {
        let base: SQLiteConnection
        /// Whether a transaction ends with its first error, as in some databases.
        private let endsWithErrors: Bool
        private var hasFailed = false
        /// Whether the transaction has ended, so that another transaction may use `base`.
        var isOver = false

        init(_ base: SQLiteConnection, endsWithErrors: Bool) {
            self.base = base
            self.endsWithErrors = endsWithErrors
        }

        func statement(_ sql: String) throws(StoreError) -> any SQLStatement {
            PlainStatement(try trying { () throws(StoreError) in try base.prepare(sql) }, connection: self)
        }

        var changedRowCount: Int { base.changedRowCount }
        var isInTransaction: Bool { base.isInTransaction }

        /// Runs a call of SQLite, unless an earlier error has ended the transaction.
        func trying<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
            guard !hasFailed else {
                throw StoreError(.internalInconsistency, "The transaction of '\(base.path)' failed before.")
            }
            do throws(StoreError) { return try body() } catch {
                hasFailed = endsWithErrors
                throw error
            }
        }

        /// Runs `body`, in a savepoint if its error would end the transaction.
        func attempting<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
            guard endsWithErrors else { return try body() }
            try base.run("SAVEPOINT plain")
            do throws(StoreError) {
                let result = try body()
                try base.run("RELEASE plain")
                return result
            } catch {
                try base.run("ROLLBACK TO plain")
                try base.run("RELEASE plain")
                hasFailed = false
                throw error
            }
        }
    }

    final class PlainStatement: SQLStatement {
        private let base: SQLiteStatement
        private let connection: PlainConnection

        init(_ base: SQLiteStatement, connection: PlainConnection) {
            self.base = base
            self.connection = connection
        }

        // A statement can outlive its snapshot. Closing the snapshot has then already reset the statement.
        deinit { if !connection.isOver { connection.base.recycle(base) } }

        func bind(_ value: SQLValue, at position: Int) throws(StoreError) {
            if case .matcher = value {
                throw StoreError(.internalInconsistency, "A matcher was bound, which a plain database cannot call.")
            }
            try base.bind(value, at: position)
        }

        func step() throws(StoreError) -> Bool { try connection.trying { () throws(StoreError) in try base.step() } }
        func reset() { base.reset() }
        func value(at column: Int) throws(StoreError) -> SQLValue { try base.value(at: column) }
    }
#endif
