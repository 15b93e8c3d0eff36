internal import RoostCore

#if SQLite
    internal import CSQLite
    internal import RoostSystem

    /// A connection to somebody else's SQLite file that changes neither the file nor anything beside it.
    ///
    /// Use it from one thread at a time. The schema of the file is not trusted: its triggers, views and functions never run.
    final class ReadOnlyDatabase {
        /// How the file may be read.
        enum Mode {
            /// No other file belongs to it: `immutable=1`, so that SQLite looks for none.
            case immutable
            /// It has a write-ahead log: the index of the log is kept in memory (exclusive mode), and no lock or `-shm` file is made.
            case writeAheadLog
            /// A private copy, in which SQLite may roll a journal back.
            case privateCopy
        }

        private let handle: OpaquePointer
        /// The path of the store, for messages.
        let path: String

        /// Opens the file `file`, which messages call `path`.
        ///
        /// - Throws: `notAStore`, `corrupted`, `permissionDenied`, `ioFailure`, `outOfResources`.
        init(file: String, path: String, mode: Mode) throws(StoreError) {
            let (query, access) =
                switch mode {
                case .immutable: ("?mode=ro&immutable=1", SQLITE_OPEN_READONLY)
                // The VFS without locks has no shared memory either, so that exclusive mode works on a read-only handle.
                case .writeAheadLog: ("?mode=ro&vfs=unix-none", SQLITE_OPEN_READONLY)
                case .privateCopy: ("?mode=rw", SQLITE_OPEN_READWRITE)
                }
            var opened: OpaquePointer?
            let code = sqlite3_open_v2(
                "file:" + Hexadecimal.percentEncoded(file) + query, &opened,
                access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nil)
            guard let opened else {
                throw StoreError(.outOfResources, "SQLite has no memory to open '\(path)'.")
            }
            guard code == SQLITE_OK else {
                let error = Self.error(opened, code, path)
                _ = sqlite3_close_v2(opened)
                throw error
            }
            handle = opened
            self.path = path
            _ = sqlite3_extended_result_codes(handle, 1)
            // Without this, closing would try to move the log into the file.
            try check(
                roost_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, mode == .privateCopy ? 0 : 1))
            try check(roost_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1))
            try check(roost_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
            try check(roost_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0))
            try check(roost_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0))
            // What a hostile file may make SQLite do is bounded; the record limit is that of a Roost record.
            for (limit, value) in [
                (SQLITE_LIMIT_LENGTH, Int32(1 << 30)), (SQLITE_LIMIT_SQL_LENGTH, 1 << 20), (SQLITE_LIMIT_COLUMN, 4000),
                (SQLITE_LIMIT_EXPR_DEPTH, 500), (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
                (SQLITE_LIMIT_WORKER_THREADS, 0),
            ] { _ = sqlite3_limit(handle, limit, value) }
            if mode == .writeAheadLog { try execute("PRAGMA locking_mode=EXCLUSIVE") }
            try execute("PRAGMA mmap_size=0")
            try execute("PRAGMA cell_size_check=ON")
            if mode != .privateCopy { try execute("PRAGMA query_only=ON") }
        }

        deinit { _ = sqlite3_close_v2(handle) }

        /// Prepares one statement.
        func prepare(_ sql: String) throws(StoreError) -> ReadOnlyStatement {
            var statement: OpaquePointer?
            let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
            guard code == SQLITE_OK, let statement else { throw error(code) }
            return ReadOnlyStatement(statement, of: self)
        }

        /// Runs a statement to its end.
        func execute(_ sql: String) throws(StoreError) {
            let statement = try prepare(sql)
            while try statement.step() {}
        }

        func error(_ code: Int32) -> StoreError { Self.error(handle, code, path) }

        private func check(_ code: Int32) throws(StoreError) {
            guard code == SQLITE_OK else { throw error(code) }
        }

        /// A name as an SQL identifier.
        static func quoted(_ name: String) -> String {
            "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }

        /// SQLite's result codes in terms of ours (https://sqlite.org/rescode.html).
        ///
        /// Its message may name tables, never values.
        private static func error(_ handle: OpaquePointer, _ code: Int32, _ path: String) -> StoreError {
            let text = sqlite3_errmsg(handle).map { String(cString: $0) } ?? "error \(code)"
            let underlying = SQLiteFailure(code: sqlite3_extended_errcode(handle), message: text)
            let (kind, message): (StoreError.Code, String) =
                switch code & 0xFF {
                case SQLITE_NOTADB: (.notAStore, "'\(path)' is not an SQLite database; check the path.")
                case SQLITE_CORRUPT: (.corrupted, "'\(path)' is a damaged SQLite file; restore it from a backup.")
                case SQLITE_CANTOPEN: (.ioFailure, "'\(path)' could not be opened by SQLite; check its permissions.")
                case SQLITE_BUSY, SQLITE_LOCKED: (.busy, "'\(path)' is locked by another connection; try again.")
                case SQLITE_PERM, SQLITE_AUTH: (.permissionDenied, "'\(path)' may not be read; check its permissions.")
                case SQLITE_NOMEM:
                    (.outOfResources, "SQLite has no memory left to read '\(path)'; try again with more.")
                case SQLITE_FULL:
                    (.noSpace, "There is no space for SQLite's temporary files while '\(path)' is read; make room.")
                case SQLITE_TOOBIG: (.limitExceeded, "'\(path)' holds a value of more than 1 GiB.")
                case SQLITE_IOERR: (.ioFailure, "'\(path)' could not be read; check the disk.")
                case SQLITE_ERROR:
                    (.corrupted, "'\(path)' does not have the tables of a Core Data store; restore it from a backup.")
                default:
                    (.ioFailure, "'\(path)' could not be read by SQLite (code \(code)); check the disk and the file.")
                }
            return StoreError(kind, message, underlying: underlying)
        }
    }

    /// SQLite's own account of a failure.
    struct SQLiteFailure: Error, CustomStringConvertible {
        let code: Int32
        let message: String
        var description: String { "SQLite \(code): \(message)" }
    }
#endif
