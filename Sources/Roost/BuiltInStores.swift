public import RoostCore
internal import RoostCoreData
internal import RoostJSON
internal import RoostMemory
public import RoostMigration
public import RoostStores

#if LMDB
    internal import RoostLMDB
#endif
#if PostgreSQL
    internal import RoostPostgreSQL
#endif
#if SQLite
    internal import RoostSQLite
#endif

/// Limits the memory of the built-in store types' C libraries, for the whole process.
///
/// Only SQLite supports a limit; see `SQLiteStoreType.limitMemory`. A reusable package should not
/// call this function. A byte count of 0 means no limit, which is SQLite's default.
package func limitLibraryMemory(toByteCount byteCount: Int64) {
    #if SQLite
        SQLiteStoreType.limitMemory(toByteCount: byteCount)
    #endif
}

/// Stops the built-in store types' C libraries from counting the memory that they use, for the
/// whole process.
///
/// Only SQLite counts memory; see `SQLiteStoreType.stopCountingMemory`. Without counting, looking
/// up single objects is about 7 % faster, and `limitLibraryMemory(toByteCount:)` has no effect.
/// Call this function once, at the start of a program, before SQLite is used. A reusable package
/// should not call it.
///
/// - Returns: Whether counting is off; false if SQLite was already in use.
@discardableResult
public func stopCountingLibraryMemory() -> Bool {
    #if SQLite
        SQLiteStoreType.stopCountingMemory()
    #else
        true
    #endif
}

extension StoreRegistry {
    /// The default registry.
    ///
    /// The registry always contains `json` and `memory`. The package trait `SQLite` adds `sqlite`
    /// and `coredata`, the trait `LMDB` adds `lmdb`, and the trait `PostgreSQL` adds `postgresql`.
    /// A program adds its own types with ``register(_:)``.
    public static let standard: StoreRegistry = {
        // The first type that recognizes a file opens it. `sqlite` does not recognize the header of
        // a Core Data store.
        var types: [any PersistentStoreType] = []
        #if SQLite
            types.append(SQLiteStoreType())
        #endif
        #if LMDB
            types.append(LMDBStoreType())
        #endif
        types.append(JSONStoreType())
        types.append(MemoryStoreType())
        #if PostgreSQL
            types.append(PostgreSQLStoreType())
        #endif
        #if SQLite
            types.append(CoreDataStoreType())
        #endif
        return StoreRegistry(types)
    }()
}

extension MigrationManager {
    /// Creates a manager for the store types in `RoostCore.StoreRegistry.standard`.
    public init() { self.init(registry: .standard) }
}

extension StoreMaintenance {
    /// Prepares maintenance for the store types in `RoostCore.StoreRegistry.standard`.
    public init() { self.init(registry: .standard) }
}
