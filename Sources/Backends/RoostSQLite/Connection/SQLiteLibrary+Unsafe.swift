internal import CSQLite
package import RoostCore

extension SQLiteStoreType {
    /// The SQLite library and its version, with a warning below version 3.51.3.
    ///
    /// In earlier versions the write-ahead log could be reset while another connection was
    /// committing, which damages the database (sqlite.org, changes of 3.51.3). Roost's own
    /// checkpoints prevent this, but checkpoints of other programs do not.
    package var libraries: [StoreLibrary] {
        // SAFETY: the library returns a constant C string.
        let version = String(cString: sqlite3_libversion())
        return [
            StoreLibrary(
                name: "SQLite", version: version, warning: Self.warning(versionNumber: Int(sqlite3_libversion_number()))
            )
        ]
    }

    /// Limits the memory that SQLite uses in the whole process, including the connections of other
    /// code.
    ///
    /// An operation that needs more memory fails with `outOfResources` and changes nothing. Call
    /// this once, at the start of a program. A row passes through several buffers, so the limit
    /// should be at least four times the option `maximumValueBytes` of the stores.
    ///
    /// - Parameter byteCount: The limit in bytes, or 0 for no limit.
    /// - Returns: The previous limit.
    @discardableResult
    package static func limitMemory(toByteCount byteCount: Int64) -> Int64 {
        // A negative number would only query the limit.
        sqlite3_hard_heap_limit64(max(0, byteCount))
    }

    /// Disables SQLite's memory statistics in the whole process, including the connections of other
    /// code.
    ///
    /// The statistics take two locks for each allocation, about 7 % of the time of a look-up.
    /// Without them, ``limitMemory(toByteCount:)`` has no effect. Call this once, at the start of a
    /// program, before any code uses SQLite. A library should not call it.
    ///
    /// - Returns: False, without any change, if the process has already used SQLite.
    @discardableResult
    package static func stopCountingMemory() -> Bool {
        roost_sqlite3_config_flag(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK
    }

    static func warning(versionNumber: Int) -> String? {
        guard versionNumber < 3_051_003 else { return nil }
        return
            "SQLite before 3.51.3 can damage a store while Roost and another program write to it at the same time. Let only Roost write to the store, or update SQLite."
    }
}
