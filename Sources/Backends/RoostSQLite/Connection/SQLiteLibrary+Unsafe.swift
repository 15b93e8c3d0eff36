internal import CSQLite
package import RoostCore

extension SQLiteStoreType {
    /// SQLite, with a warning below version 3.51.3.
    ///
    /// Until then the write-ahead log could be reset while another connection was committing, which
    /// damages the database (sqlite.org, changes of 3.51.3). Roost's own checkpoints exclude that;
    /// those of other programs do not.
    package var libraries: [StoreLibrary] {
        // SAFETY: the library gives a constant C string.
        let version = String(cString: sqlite3_libversion())
        return [
            StoreLibrary(
                name: "SQLite", version: version, warning: Self.warning(versionNumber: Int(sqlite3_libversion_number()))
            )
        ]
    }

    /// Limits the memory that SQLite uses in the whole process, for all its connections together,
    /// also those of other code.
    ///
    /// An operation that needs more memory fails with code `outOfResources` and changes nothing.
    /// Call this once, at the start of a program, with at least four times the largest value of the
    /// stores (option `maximumValueBytes`): a row passes through several buffers. Without a limit
    /// SQLite uses as much memory as the system provides.
    ///
    /// - Parameter byteCount: The limit in bytes; 0 for none.
    /// - Returns: The limit that was in force before; 0 for none.
    @discardableResult
    package static func limitMemory(toByteCount byteCount: Int64) -> Int64 {
        // A negative number would only return the limit.
        sqlite3_hard_heap_limit64(max(0, byteCount))
    }

    /// Makes SQLite stop counting the memory that it uses, in the whole process, for all its
    /// connections, also those of other code.
    ///
    /// Counting takes two locks for each piece of memory: some 7 % of looking up one object.
    /// Afterwards ``limitMemory(toByteCount:)`` and SQLite's own functions about memory in use have
    /// no effect. Call it once, at the start of a program, before anything else in the process uses
    /// SQLite and while no other thread could; a library should not.
    ///
    /// - Returns: Whether it is so now; false where the process has used SQLite already, and then
    ///   nothing is changed.
    @discardableResult
    package static func stopCountingMemory() -> Bool {
        // SQLite refuses with SQLITE_MISUSE once it is in use.
        roost_sqlite3_config_flag(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK
    }

    /// Returns the warning about the version with this number (major × 1 000 000 + minor × 1 000 +
    /// patch), or nil.
    static func warning(versionNumber: Int) -> String? {
        guard versionNumber < 3_051_003 else { return nil }
        return
            "SQLite before 3.51.3 can damage a store that another program than Roost writes to at the same time; let no other program write to it, or update SQLite."
    }
}
