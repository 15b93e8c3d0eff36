internal import RoostCore

#if SQLite
    internal import CSQLite

    /// A prepared statement.
    ///
    /// Column values are valid until the next step.
    final class ReadOnlyStatement {
        /// How SQLite stores a value.
        enum StorageClass { case integer, real, text, blob, null }

        private let handle: OpaquePointer
        /// Keeps the connection open as long as the statement lives.
        private let database: ReadOnlyDatabase

        init(_ handle: OpaquePointer, of database: ReadOnlyDatabase) {
            self.handle = handle
            self.database = database
        }

        deinit { _ = sqlite3_finalize(handle) }

        /// Goes to the next row; false at the end.
        func step() throws(StoreError) -> Bool {
            let code = sqlite3_step(handle)
            switch code {
            case SQLITE_ROW: return true
            case SQLITE_DONE: return false
            default: throw database.error(code)
            }
        }

        /// Goes back before the first row.
        func reset() {
            // It repeats the error of the last step, which was thrown already.
            _ = sqlite3_reset(handle)
        }

        /// Sets parameter `index`, counted from 1.
        func bind(_ value: Int64, at index: Int32) throws(StoreError) {
            let code = sqlite3_bind_int64(handle, index, value)
            guard code == SQLITE_OK else { throw database.error(code) }
        }

        func storageClass(_ column: Int32) -> StorageClass {
            switch sqlite3_column_type(handle, column) {
            case SQLITE_INTEGER: .integer
            case SQLITE_FLOAT: .real
            case SQLITE_TEXT: .text
            case SQLITE_BLOB: .blob
            default: .null
            }
        }

        func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
        func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

        /// Runs `body` with the bytes of a text (as UTF-8) or blob.
        func withBytes<Result>(
            _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
        ) throws(StoreError) -> Result {
            let isText = sqlite3_column_type(handle, column) != SQLITE_BLOB
            let base =
                isText ? UnsafeRawPointer(sqlite3_column_text(handle, column)) : sqlite3_column_blob(handle, column)
            // SAFETY: SQLite keeps that many bytes there until the next step; an empty blob has no address.
            let count = Int(sqlite3_column_bytes(handle, column))
            guard let base else {
                // No address for bytes that exist means that memory ran out while they were converted.
                guard count == 0 || isNull(column) else { throw database.error(SQLITE_NOMEM) }
                return try body(UnsafeRawBufferPointer(start: nil, count: 0))
            }
            return try body(UnsafeRawBufferPointer(start: base, count: count))
        }

        /// The bytes of a text or blob, copied.
        func bytes(_ column: Int32) throws(StoreError) -> [UInt8] {
            try withBytes(column) { (bytes) throws(StoreError) in Array(bytes) }
        }

        /// A text; nil for null.
        func string(_ column: Int32) throws(StoreError) -> String? {
            guard !isNull(column) else { return nil }
            return try withBytes(column) { (bytes) throws(StoreError) in String(decoding: bytes, as: UTF8.self) }
        }
    }
#endif
