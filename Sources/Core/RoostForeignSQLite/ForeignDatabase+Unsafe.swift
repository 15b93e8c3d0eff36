#if SQLite
    internal import CSQLite
    package import RoostCore
    internal import RoostSystem

    /// A connection that reads an SQLite database of another program and never changes it.
    ///
    /// Use it from one thread at a time. The schema is not trusted: views and triggers never run,
    /// and expressions in the schema can call only harmless functions.
    package final class ForeignDatabase {
        package enum Mode: Sendable {
            /// With SQLite's locks, so that a transaction reads one state.
            case locked
            /// Without a log and without locks; SQLite opens no other file.
            case immutable
            /// With a write-ahead log, but without locks.
            ///
            /// SQLite keeps the log's index in memory and creates no file.
            case logInMemory
            /// For a private copy, which SQLite may change by rolling back a journal.
            case privateCopy
        }

        private let handle: OpaquePointer
        /// The path for messages.
        package let path: String
        private let interruption: Interruption?
        /// The error for a statement that does not fit the tables; nil for SQLite's own message.
        private let structureError: StoreError?

        /// Opens a file.
        ///
        /// `checkCancellation` is called while a statement runs. An error that it throws ends the
        /// statement.
        package init(
            file: String, path: String? = nil, mode: Mode, structureError: StoreError? = nil,
            checkCancellation: (@Sendable () throws(StoreError) -> Void)? = nil
        ) throws(StoreError) {
            let (query, access) =
                switch mode {
                case .locked: ("?mode=ro", SQLITE_OPEN_READONLY)
                case .immutable: ("?mode=ro&immutable=1", SQLITE_OPEN_READONLY)
                // This VFS has no locks, so a read-only handle can use exclusive mode, which needs
                // no shared memory.
                case .logInMemory: ("?mode=ro&vfs=unix-none", SQLITE_OPEN_READONLY)
                case .privateCopy: ("?mode=rw", SQLITE_OPEN_READWRITE)
                }
            let path = path ?? file
            var opened: OpaquePointer?
            let code = sqlite3_open_v2(
                "file:" + Hexadecimal.percentEncoded(file) + query, &opened,
                access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nil)
            guard let opened else {
                throw StoreError(.outOfResources, "SQLite has no memory to open '\(path)'.")
            }
            guard code == SQLITE_OK else {
                let error = Self.error(opened, code: code, path: path, structureError: structureError)
                _ = sqlite3_close_v2(opened)
                throw error
            }
            handle = opened
            self.path = path
            self.structureError = structureError
            interruption = checkCancellation.map { Interruption($0) }
            _ = sqlite3_extended_result_codes(handle, 1)
            try harden(mode)
            if let interruption {
                // SAFETY: the pointer is valid while the connection is open, because this object
                // owns both.
                sqlite3_progress_handler(
                    handle, 100_000, { Interruption.from($0).isInterrupted ? 1 : 0 },
                    Unmanaged.passUnretained(interruption).toOpaque())
            }
            if mode == .locked { try check(sqlite3_busy_timeout(handle, 2000)) }
            if mode == .logInMemory { try execute("PRAGMA locking_mode=EXCLUSIVE") }
            try execute("PRAGMA mmap_size=0")
            try execute("PRAGMA cell_size_check=ON")
        }

        deinit {
            sqlite3_progress_handler(handle, 0, nil, nil)
            _ = sqlite3_close_v2(handle)
        }

        /// Disables features that a hostile schema could abuse, and sets limits.
        private func harden(_ mode: Mode) throws(StoreError) {
            for (option, isOn) in [
                // Closing must not move the log into the file, except in a private copy.
                (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, mode == .privateCopy ? 0 : 1), (SQLITE_DBCONFIG_DEFENSIVE, 1),
                (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
                (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_DQS_DML, 0),
            ] as [(Int32, Int32)] { try check(roost_sqlite3_db_config_flag(handle, option, isOn)) }
            // `SQLITE_LIMIT_LENGTH` equals the size limit of Roost's records.
            for (limit, value) in [
                (SQLITE_LIMIT_LENGTH, Int32(1 << 30)), (SQLITE_LIMIT_SQL_LENGTH, 16 << 20), (SQLITE_LIMIT_COLUMN, 4000),
                (SQLITE_LIMIT_EXPR_DEPTH, 500), (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
                (SQLITE_LIMIT_WORKER_THREADS, 0),
            ] { _ = sqlite3_limit(handle, limit, value) }
        }

        // MARK: Statements

        /// The maximum number of columns in a result.
        package var maximumColumnCount: Int { Int(sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, -1)) }

        package func prepare(_ sql: String) throws(StoreError) -> ForeignStatement {
            var statement: OpaquePointer?
            let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
            guard code == SQLITE_OK else { throw error(code) }
            guard let statement else {
                throw StoreError(.internalInconsistency, "An empty statement was given to SQLite.")
            }
            return ForeignStatement(statement, of: self)
        }

        /// Whether a statement fits the schema.
        package func canPrepare(_ sql: String) throws(StoreError) -> Bool {
            var statement: OpaquePointer?
            let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
            _ = sqlite3_finalize(statement)
            guard code == SQLITE_OK || code & 0xFF == SQLITE_ERROR || code & 0xFF == SQLITE_AUTH else {
                throw error(code)
            }
            return code == SQLITE_OK
        }

        package func execute(_ sql: String) throws(StoreError) {
            let statement = try prepare(sql)
            while try statement.step() {}
        }

        /// Returns the first value in the first row of a result; nil for null and for an empty
        /// result.
        package func integer(_ sql: String) throws(StoreError) -> Int64? {
            let statement = try prepare(sql)
            guard try statement.step(), !statement.isNull(0) else { return nil }
            return statement.integer(0)
        }

        /// Returns the collation of a column of `table`, in capital letters.
        package func collation(ofColumn column: String, in table: String) throws(StoreError) -> String {
            var name: UnsafePointer<CChar>?
            let code = sqlite3_table_column_metadata(handle, "main", table, column, nil, &name, nil, nil, nil)
            guard code == SQLITE_OK else { throw error(code) }
            return name.map { String(cString: $0).uppercased() } ?? "BINARY"
        }

        /// Returns a name as an SQL identifier.
        package static func quoted(_ name: String) -> String {
            "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }

        // MARK: Errors

        /// Returns the error for a result code; for an interrupted statement, the error that
        /// stopped it.
        package func error(_ code: Int32) -> StoreError {
            if code & 0xFF == SQLITE_INTERRUPT, let reason = interruption?.reason { return reason }
            return Self.error(handle, code: code, path: path, structureError: structureError)
        }

        private func check(_ code: Int32) throws(StoreError) {
            guard code == SQLITE_OK else { throw error(code) }
        }

        /// Converts SQLite's result codes to store errors (https://sqlite.org/rescode.html).
        ///
        /// SQLite's message may contain names of tables, but never values.
        private static func error(
            _ handle: OpaquePointer, code: Int32, path: String, structureError: StoreError?
        ) -> StoreError {
            let text = sqlite3_errmsg(handle).map { String(cString: $0) } ?? "error \(code)"
            let underlying = ForeignDatabaseFailure(code: sqlite3_extended_errcode(handle), message: text)
            let (kind, message): (StoreError.Code, String) =
                switch code & 0xFF {
                case SQLITE_NOTADB:
                    (.notAStore, "'\(path)' is not an SQLite database, or it is encrypted. Check the path.")
                case SQLITE_CORRUPT:
                    (.corrupted, "'\(path)' is a damaged SQLite file: \(text). Restore it from a backup.")
                case SQLITE_CANTOPEN:
                    (.ioFailure, "SQLite cannot open '\(path)'. Check the permissions of the file and its directory.")
                case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
                    (.busy, "'\(path)' is locked by another program. Try again after it has finished.")
                case SQLITE_PERM, SQLITE_AUTH:
                    (.permissionDenied, "SQLite has no permission to read '\(path)'. Check the file's permissions.")
                case SQLITE_READONLY:
                    (
                        .permissionDenied,
                        "'\(path)' has an unfinished change by another program. Open it once with a program that can write to it."
                    )
                case SQLITE_NOMEM: (.outOfResources, "SQLite has no memory left to read '\(path)'.")
                case SQLITE_FULL:
                    (
                        .noSpace,
                        "The disk has no space for SQLite's temporary files, which it needs to read '\(path)'. Make room."
                    )
                case SQLITE_TOOBIG:
                    (.limitExceeded, "'\(path)' has a value or a table definition that is too large to read.")
                case SQLITE_IOERR: (.ioFailure, "SQLite cannot read '\(path)': \(text). Check the disk.")
                case SQLITE_ERROR where structureError != nil:
                    (structureError?.code ?? .corrupted, structureError?.message ?? "")
                default: (.invalidRequest, "SQLite cannot read '\(path)': \(text).")
                }
            return StoreError(kind, message, underlying: underlying)
        }
    }

    /// A check that runs during long statements, and the error that stopped a statement.
    private final class Interruption {
        private let check: @Sendable () throws(StoreError) -> Void
        private(set) var reason: StoreError?

        init(_ check: @escaping @Sendable () throws(StoreError) -> Void) { self.check = check }

        var isInterrupted: Bool {
            do throws(StoreError) {
                try check()
                return false
            } catch {
                reason = error
                return true
            }
        }

        static func from(_ pointer: UnsafeMutableRawPointer?) -> Interruption {
            guard let pointer else { preconditionFailure("SQLite lost the pointer of its progress handler") }
            // SAFETY: the pointer refers to an object of this class, which exists longer than the
            // connection.
            return Unmanaged<Interruption>.fromOpaque(pointer).takeUnretainedValue()
        }
    }

    struct ForeignDatabaseFailure: Error, CustomStringConvertible {
        let code: Int32
        let message: String
        var description: String { "SQLite \(code): \(message)" }
    }
#endif
