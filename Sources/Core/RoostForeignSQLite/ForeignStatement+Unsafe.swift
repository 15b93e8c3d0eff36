#if SQLite
    internal import CSQLite
    package import RoostCore

    /// A prepared statement.
    ///
    /// Columns are counted from 0. The values of a row are valid until the next step.
    package final class ForeignStatement {
        package enum StorageClass { case integer, real, text, blob, null }

        private let handle: OpaquePointer
        /// The connection, which this reference keeps open.
        private let database: ForeignDatabase

        init(_ handle: OpaquePointer, of database: ForeignDatabase) {
            self.handle = handle
            self.database = database
        }

        deinit { _ = sqlite3_finalize(handle) }

        /// Moves to the next row; returns false at the end.
        package func step() throws(StoreError) -> Bool {
            let code = sqlite3_step(handle)
            switch code {
            case SQLITE_ROW: return true
            case SQLITE_DONE: return false
            default: throw database.error(code)
            }
        }

        /// Resets the statement, so that the next step moves to the first row.
        package func reset() {
            // An error here only repeats the error that `step()` has already thrown.
            _ = sqlite3_reset(handle)
        }

        /// Sets parameter `index`, counted from 1.
        package func bind(_ value: Int64, at index: Int32) throws(StoreError) {
            let code = sqlite3_bind_int64(handle, index, value)
            guard code == SQLITE_OK else { throw database.error(code) }
        }

        package func storageClass(_ column: Int32) -> StorageClass {
            switch sqlite3_column_type(handle, column) {
            case SQLITE_INTEGER: .integer
            case SQLITE_FLOAT: .real
            case SQLITE_TEXT: .text
            case SQLITE_BLOB: .blob
            default: .null
            }
        }

        package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
        package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
        package func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

        /// Runs `body` with the bytes of a blob, or with the UTF-8 text of any other value.
        ///
        /// Null has no bytes.
        package func withBytes<Result>(
            _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
        ) throws(StoreError) -> Result {
            let isBlob = sqlite3_column_type(handle, column) == SQLITE_BLOB
            let base =
                isBlob ? sqlite3_column_blob(handle, column) : UnsafeRawPointer(sqlite3_column_text(handle, column))
            let count = Int(sqlite3_column_bytes(handle, column))
            guard let base else {
                // An empty blob and null have no address. For any other value, a missing address
                // means that SQLite ran out of memory.
                guard count == 0, isBlob || isNull(column) else { throw database.error(SQLITE_NOMEM) }
                return try body(UnsafeRawBufferPointer(start: nil, count: 0))
            }
            // SAFETY: the `count` bytes at this address are valid until the next step.
            return try body(UnsafeRawBufferPointer(start: base, count: count))
        }

        package func bytes(_ column: Int32) throws(StoreError) -> [UInt8] {
            try withBytes(column) { (bytes) throws(StoreError) in Array(bytes) }
        }

        /// Returns a text, with replacement characters for invalid UTF-8; nil for null.
        package func string(_ column: Int32) throws(StoreError) -> String? {
            guard !isNull(column) else { return nil }
            return try withBytes(column) { (bytes) throws(StoreError) in String(decoding: bytes, as: UTF8.self) }
        }

        /// Returns a text; nil for null and for invalid UTF-8.
        package func text(_ column: Int32) throws(StoreError) -> String? {
            guard !isNull(column) else { return nil }
            return try withBytes(column) { (bytes) throws(StoreError) in
                bytes.isValidUTF8 ? String(decoding: bytes, as: UTF8.self) : nil
            }
        }
    }
#endif
