#if PostgreSQL
    package import RoostCore

    /// A PostgreSQL database of another program, read in one transaction and never changed.
    ///
    /// Use it from one thread at a time. The search path contains only the system schema, so a
    /// statement must qualify all other names. Texts, dates and numbers have the same form on every
    /// server.
    package final class ForeignPostgreSQL {
        /// The maximum number of columns of a statement.
        ///
        /// The server allows 1664 columns in a result, and in each intermediate row of a join.
        package static let maximumColumnCount = 800

        /// The location for messages, without a password.
        package let name: String
        package let schema: String
        private let connection: PostgreSQLConnection
        private let namesSchema: Bool
        private let lockTimeout: Int
        /// Whether nested loops are turned off for joins.
        private var avoidsLoops = false

        /// Connects to a server.
        ///
        /// Without a schema in `path`, the schema is `public`. `checkCancellation` is called while
        /// a statement runs, and its error ends the statement.
        ///
        /// - Throws: `invalidRequest` for an invalid path, a path with a password, or a Roost
        ///   store; `notFound` for a missing database or schema; `ioFailure`, `permissionDenied`,
        ///   `busy`, `unsupported`; errors of `checkCancellation`.
        package init(
            _ path: String, timeoutSeconds: Double,
            checkCancellation: @escaping () throws(StoreError) -> Void
        ) throws(StoreError) {
            let location = try PostgreSQLLocation(foreign: path)
            (name, schema, namesSchema) = (location.name, location.schema, location.namesSchema)
            var settings = try PostgreSQLSettings(StoreOptions(timeoutSeconds: timeoutSeconds))
            // The server may sort a large table before it sends the first row.
            settings.responseTimeout = .seconds(86_400)
            lockTimeout = settings.lockTimeout
            connection = try PostgreSQLConnection(unprepared: location, settings: settings)
            connection.endStatements(when: checkCancellation)
            guard connection.serverVersion >= 120_000 else {
                throw StoreError(
                    .unsupported,
                    "The server of '\(name)' has version \(connection.serverVersion / 10_000); an import needs PostgreSQL 12 or later."
                )
            }
            // With an empty search path, a name such as `pg_class` always refers to the system schema.
            try run("SELECT pg_catalog.set_config('search_path', '', false)")
            try requireForeign()
        }

        private func requireForeign() throws(StoreError) {
            switch try PostgreSQLCatalog.kind(of: schema, on: connection) {
            case .foreign, .empty: break
            case .missing:
                throw StoreError(
                    .notFound, "The schema of '\(name)' does not exist. Check the name\(try otherSchemas()).")
            case .store:
                throw StoreError(
                    .invalidRequest,
                    "'\(name)' is a Roost store, which needs no import. Use 'roost convert' to copy it to another type."
                )
            }
        }

        /// Begins the transaction.
        ///
        /// Tables are locked before the first read, as in pg_dump. Otherwise another session could
        /// truncate or change a table whose old rows are still to be read. The lock does not block
        /// other readers and writers of rows.
        ///
        /// - Parameter tables: A SELECT for the oids, schemas and names of the tables to lock.
        /// - Throws: `busy` if another session has locked a table or keeps changing tables.
        package func begin(locking tables: String) throws(StoreError) {
            for attempt in 1... {
                let listed = try query(tables)
                let names = try listed.map { (row) throws(StoreError) in
                    "\(try quoted(row.count > 1 ? row[1] ?? "" : "")).\(try quoted(row.count > 2 ? row[2] ?? "" : ""))"
                }
                let lock = names.isEmpty ? "" : "; LOCK TABLE \(names.joined(separator: ", ")) IN ACCESS SHARE MODE"
                do throws(StoreError) {
                    try run(
                        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL lock_timeout = \(lockTimeout)\(lock)"
                    )
                    try prepareSession()
                    guard try query(tables) != listed else { return }
                    throw changed
                } catch {
                    // The caller gets the first error, not that of the ROLLBACK.
                    if connection.isSound { _ = try? connection.query("ROLLBACK") }
                    // Another attempt is made only if a session changed the tables before they were locked.
                    guard error.code == .busy, error.message == changed.message, attempt < 10 else { throw error }
                }
            }
        }

        /// Sets the server's options for the transaction, such as the forms of values.
        ///
        /// If row security would hide rows, a statement fails. The server joins tables in the order
        /// of the statement, because comparing other orders takes long.
        private func prepareSession() throws(StoreError) {
            let settings = [
                ("search_path", ""), ("standard_conforming_strings", "on"), ("statement_timeout", "0"),
                ("idle_in_transaction_session_timeout", "0"), ("row_security", "off"), ("DateStyle", "ISO, YMD"),
                ("IntervalStyle", "postgres"), ("TimeZone", "UTC"), ("extra_float_digits", "1"),
                ("bytea_output", "hex"), ("cursor_tuple_fraction", "1"), ("jit", "off"),
                ("join_collapse_limit", "1"),
                ("from_collapse_limit", "1"),
            ]
            let calls = settings.map { "set_config('\($0.0)', '\($0.1)', true)" }
            try run("SELECT \(calls.joined(separator: ", "))")
            if connection.serverVersion >= 170_000 { try run("SET LOCAL transaction_timeout = 0") }
            // SQL_ASCII allows bytes of any encoding. With another client encoding, the server
            // would refuse bytes that are invalid in that encoding.
            guard try query("SELECT current_setting('server_encoding')") == [["SQL_ASCII"]] else { return }
            try run("SET LOCAL client_encoding = 'SQL_ASCII'")
        }

        /// Closes the connection, which ends the transaction.
        package func close() { connection.close() }

        // MARK: Statements

        package func query(_ sql: String) throws(StoreError) -> [[String?]] {
            let result = try run(sql)
            return (0..<result.rowCount).map { row in
                (0..<result.columnCount).map { result.text(row, column: $0) }
            }
        }

        @discardableResult
        private func run(_ sql: String) throws(StoreError) -> PostgreSQLResult {
            do throws(StoreError) { return try connection.query(sql, what: "Reading") } catch {
                throw explained(error)
            }
        }

        /// Returns the rows of a SELECT, read with a cursor; the first step moves to the first row.
        ///
        /// `hasLargeValues` is true if a row may have more than a few kilobytes.
        package func rows(_ sql: String, hasLargeValues: Bool) throws(StoreError) -> ForeignPostgreSQLRows {
            try connection.requireText(sql)
            if !avoidsLoops {
                // A wrong estimate must not make a join compare each row with all rows of another
                // table.
                try run("SET LOCAL enable_nestloop = off")
                avoidsLoops = true
            }
            let mostRows = hasLargeValues ? 16 : PostgreSQLCursor.mostRows
            return ForeignPostgreSQLRows(
                PostgreSQLCursor(connection, sql: sql, mostRows: mostRows, isBinary: false), of: self)
        }

        /// Returns a name as an SQL identifier.
        package func quoted(_ name: String) throws(StoreError) -> String { try connection.identifier(name) }

        package func literal(_ text: String) throws(StoreError) -> String { try connection.literal(text) }

        /// Returns a hint with the other schemas that have tables, or an empty text.
        package func otherSchemas() throws(StoreError) -> String {
            let found = try query(
                "SELECT n.nspname, bool_or(c.relname = '_roost_metadata') FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p') WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND n.nspname <> \(try literal(schema)) GROUP BY n.nspname ORDER BY 2, 1 LIMIT 10"
            )
            func names(isStore: Bool) -> [String] {
                found.filter { ($0.last == "t") == isStore }.compactMap { $0.first ?? nil }.map { "'\($0)'" }
            }
            let (foreign, stores) = (names(isStore: false), names(isStore: true))
            if !foreign.isEmpty {
                let hint = "these schemas have tables: \(foreign.joined(separator: ", "))"
                return namesSchema ? "; \(hint)" : "; add schema=NAME to the location to read another schema; \(hint)"
            }
            guard let store = stores.first else { return "" }
            return "; schema \(store) is a Roost store, which 'roost convert' copies"
        }

        // MARK: Errors

        private var changed: StoreError {
            StoreError(
                .busy, "Another program changed the tables of '\(name)' while the import began. Run it again.")
        }

        /// Returns an error whose message does not assume that only Roost changes the tables.
        func explained(_ error: StoreError) -> StoreError {
            guard let state = (error.underlying as? PostgreSQLError)?.state else { return error }
            switch state {
            case "3F000", "42P01", "42703", "42704", "42883": return error.withMessage(changed.message, code: .busy)
            case "55P03":
                return error.withMessage(
                    "Another session has locked a table of '\(name)'. Try again later, or wait longer with --timeout.",
                    code: .busy)
            case "40001":
                return error.withMessage(
                    "The server of '\(name)' ended the transaction of the import. If it is a standby, increase max_standby_streaming_delay.",
                    code: .busy)
            case "42501":
                return error.withMessage(
                    "The user may not read a table of '\(name)'. Ask its owner for the right to read it.",
                    code: .permissionDenied)
            case "22P05", "22021":
                return error.withMessage(
                    "A text of '\(name)' has a character that UTF-8 cannot represent. Correct it in the database.",
                    code: .invalidValue)
            case "XX001", "XX002":
                return error.withMessage(
                    "The server reports damage in a table of '\(name)'. Restore it from a backup.", code: .corrupted)
            case "53100", "53200", "53400":
                return error.withMessage(
                    "The server of '\(name)' has no memory or space left to sort a table. Make room on its disk.")
            default: return error
            }
        }
    }

    /// The rows of a SELECT, as the server's texts, which are valid until the next step.
    package final class ForeignPostgreSQLRows {
        private let cursor: PostgreSQLCursor
        private let database: ForeignPostgreSQL

        init(_ cursor: PostgreSQLCursor, of database: ForeignPostgreSQL) {
            (self.cursor, self.database) = (cursor, database)
        }

        /// Moves to the next row, or returns false at the end.
        package func step() throws(StoreError) -> Bool {
            do throws(StoreError) { return try cursor.step() } catch { throw database.explained(error) }
        }

        /// Runs `body` with the text of a value, or with nil for null.
        package func withText<Result>(
            _ column: Int32, _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Result
        ) throws(StoreError) -> Result {
            let (result, row) = try cursor.current()
            guard column >= 0, column < result.columnCount else {
                throw StoreError(.internalInconsistency, "A statement on '\(database.name)' has no column \(column).")
            }
            return try body(result.isNull(row, column: column) ? nil : result.bytes(row, column: column))
        }
    }
#endif
