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

/// Limits the memory of the C libraries of the built-in store types, for the whole process.
///
/// Only SQLite can be limited, together with every other use of it in the process; see
/// `SQLiteStoreType.limitMemory`. A statement that needs more fails with code `outOfResources`.
/// Call it once, at the start of a program; a library should not.
///
/// - Parameter byteCount: The limit in bytes; 0 for none, which is the default.
package func limitLibraryMemory(toByteCount byteCount: Int64) {
    #if SQLite
        SQLiteStoreType.limitMemory(toByteCount: byteCount)
    #endif
}

/// Stops the C libraries of the built-in store types from counting the memory that they use, for
/// the whole process.
///
/// Only SQLite counts; see `SQLiteStoreType.stopCountingMemory`. Looking up single objects becomes
/// some 7 % faster, and `limitLibraryMemory(toByteCount:)` no longer has an effect. Call it once,
/// at the start of a program, before anything else in the process uses SQLite; a library should
/// not.
///
/// - Returns: Whether counting is off now; false if SQLite was in use already.
@discardableResult
public func stopCountingLibraryMemory() -> Bool {
    #if SQLite
        SQLiteStoreType.stopCountingMemory()
    #else
        true
    #endif
}

extension StoreRegistry {
    /// The registry that everything uses unless told otherwise.
    ///
    /// It begins with the store types of Roost: `sqlite`, `lmdb`, `postgresql` and `coredata` if
    /// their traits are on, `json`, and `memory`. A program adds its own types with
    /// ``register(_:)``.
    public static let standard: StoreRegistry = {
        // Recognition asks in this order, so a Core Data store, which is an SQLite file too, is asked for by its own marks.
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
    /// Creates a manager for stores of the types in `RoostCore.StoreRegistry.standard`.
    public init() { self.init(registry: .standard) }
}

extension StoreMaintenance {
    /// Creates a manager for stores of the types in `RoostCore.StoreRegistry.standard`.
    public init() { self.init(registry: .standard) }
}
