#if SQLite
    internal import CSQLite
    internal import CZlib
    package import RoostCore

    extension CoreDataStoreType {
        /// The libraries that read stores and their models.
        package var libraries: [StoreLibrary] {
            // SAFETY: Both libraries return constant C strings.
            [
                StoreLibrary(name: "SQLite", version: String(cString: sqlite3_libversion())),
                StoreLibrary(name: "zlib", version: String(cString: zlibVersion())),
            ]
        }
    }
#endif
