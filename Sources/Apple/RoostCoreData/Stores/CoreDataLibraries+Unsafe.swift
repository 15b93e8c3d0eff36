#if SQLite
    internal import CSQLite
    internal import CZlib
    package import RoostCore

    extension CoreDataStoreType {
        /// SQLite and zlib, with which stores and the models in them are read.
        package var libraries: [StoreLibrary] {
            // SAFETY: both libraries give constant C strings.
            [
                StoreLibrary(name: "SQLite", version: String(cString: sqlite3_libversion())),
                StoreLibrary(name: "zlib", version: String(cString: zlibVersion())),
            ]
        }
    }
#endif
