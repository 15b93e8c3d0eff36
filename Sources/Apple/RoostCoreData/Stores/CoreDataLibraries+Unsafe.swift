#if SQLite
    internal import CSQLite
    internal import CZlib
    public import RoostCore

    extension CoreDataStoreType {
        /// SQLite and zlib, with which stores and the models in them are read.
        public var libraries: [StoreLibrary] {
            // SAFETY: both libraries give constant C strings.
            [
                StoreLibrary(name: "SQLite", version: String(cString: sqlite3_libversion())),
                StoreLibrary(name: "zlib", version: String(cString: zlibVersion())),
            ]
        }
    }
#endif
