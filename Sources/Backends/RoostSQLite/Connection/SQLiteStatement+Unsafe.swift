internal import CSQLite
package import RoostCore
package import RoostSQL

/// A prepared SQLite statement.
package final class SQLiteStatement: SQLRecordStatement {
    /// The text of a statement, which is its key in the connection's cache.
    ///
    /// For a text of a few hundred bytes, Swift's own hash costs as much as running a small
    /// statement.
    struct Text: Hashable {
        private let sql: String

        init(_ sql: String) { self.sql = sql }

        func hash(into hasher: inout Hasher) {
            var sql = sql
            hasher.combine(sql.withUTF8 { RecordHash.bytes(UnsafeRawBufferPointer($0)) })
        }
    }

    /// The idle statements with the same text.
    ///
    /// Each statement refers to its slot, so recycling does not look up the text again.
    final class Slot {
        var idle: [SQLiteStatement] = []
        /// Whether the connection's cache contains the slot.
        var isFiled = false
    }

    let sql: String
    let slot: Slot
    /// The connection while the statement is in use, or nil while it is idle.
    var connection: SQLiteConnection?
    private(set) var handle: OpaquePointer?
    /// The growing buffer in which rows become records.
    var scratch: UnsafeMutableRawPointer
    var scratchByteCount: Int

    init(_ handle: OpaquePointer, sql: String, slot: Slot, connection: SQLiteConnection) {
        self.handle = handle
        self.sql = sql
        self.slot = slot
        self.connection = connection
        scratchByteCount = 4096
        scratch = .allocate(byteCount: scratchByteCount, alignment: 16)
    }

    deinit { scratch.deallocate() }

    /// Frees the statement, which must not be used afterwards.
    func finalize() {
        // The returned code repeats the error of the last step, which was already reported.
        if let handle, connection?.isClosed != true { _ = sqlite3_finalize(handle) }
        handle = nil
    }

    /// Returns the handle; throws `closed` if the statement or its connection can no longer be
    /// used.
    func open() throws(StoreError) -> OpaquePointer {
        guard let handle, let connection, !connection.isClosed else {
            throw StoreError(.closed, "A statement was used after its connection was closed.")
        }
        return handle
    }

    // MARK: Running

    /// Moves to the next row; returns false at the end.
    package func step() throws(StoreError) -> Bool {
        let handle = try open()
        connection?.clock.pointee.reset()
        let code = sqlite3_step(handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw failure(code) }
        try connection?.verifyUnchanged()
        return code == SQLITE_ROW
    }

    /// Resets the statement; parameters keep their values.
    package func reset() {
        // The returned code repeats the error of the last step, which was already reported.
        if let handle, connection?.isClosed != true { _ = sqlite3_reset(handle) }
    }

    func clearBindings() {
        if let handle, connection?.isClosed != true { _ = sqlite3_clear_bindings(handle) }
    }

    @inline(never)
    func failure(_ code: Int32) -> StoreError {
        let what = sql.hasPrefix("SELECT") || sql.hasPrefix("PRAGMA") ? "Reading" : "Writing"
        return connection?.failure(code, what: what) ?? .sqlite(SQLiteError(code: code), what: what, path: "")
    }

    var path: String { connection?.path ?? "" }

    func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    // MARK: Columns

    package var columnCount: Int { handle.map { Int(sqlite3_column_count($0)) } ?? 0 }

    package func columnName(at column: Int) -> String {
        guard let handle, let name = sqlite3_column_name(handle, Int32(clamping: column)) else { return "" }
        return String(cString: name)
    }

    package func isNull(at column: Int) throws(StoreError) -> Bool {
        sqlite3_column_type(try open(), Int32(clamping: column)) == SQLITE_NULL
    }

    /// Returns the integer in a column; throws `corrupted` for any other value.
    package func integer(at column: Int) throws(StoreError) -> Int64 {
        let handle = try open()
        guard sqlite3_column_type(handle, Int32(clamping: column)) == SQLITE_INTEGER else {
            throw StoreError(.corrupted, "'\(path)' is damaged: a value that must be an integer is not one.")
        }
        return sqlite3_column_int64(handle, Int32(clamping: column))
    }

    /// Returns the value in a column; throws `corrupted` for a text that is not UTF-8.
    package func value(at column: Int) throws(StoreError) -> SQLValue {
        let (handle, index) = (try open(), Int32(clamping: column))
        switch sqlite3_column_type(handle, index) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
        case SQLITE_TEXT:
            guard let start = sqlite3_column_text(handle, index) else { throw failure(SQLITE_NOMEM) }
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))
            guard bytes.isValidUTF8 else {
                throw StoreError(.corrupted, "'\(path)' is damaged: a text is not valid UTF-8.")
            }
            return .text(String(decoding: bytes, as: UTF8.self))
        default: return .blob(try withBytes(at: column) { Array($0) })
        }
    }

    /// Runs `body` with the bytes of a text or blob, which are valid only during the call.
    ///
    /// The bytes of null are empty. A text has the database's encoding.
    package func withBytes<Result>(
        at column: Int, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let (handle, index) = (try open(), Int32(clamping: column))
        let start = sqlite3_column_blob(handle, index)
        let count = Int(sqlite3_column_bytes(handle, index))
        // A missing address means an empty value or exhausted memory; the length distinguishes
        // them.
        guard start != nil || count == 0 else { throw failure(SQLITE_NOMEM) }
        return try body(UnsafeRawBufferPointer(start: start, count: count))
    }
}
