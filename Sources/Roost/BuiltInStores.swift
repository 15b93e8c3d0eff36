public import RoostCore
internal import RoostCoreData
internal import RoostJSON
internal import RoostMemory

#if LMDB
    internal import RoostLMDB
#endif
#if SQLite
    internal import RoostSQLite
#endif

/// Registers the store types that Roost brings along in `StoreRegistry.shared`.
///
/// Calling it again does nothing.
///
/// There is no need to call it before using `StoreRegistry.builtIn`.
public func registerBuiltInStores() { _ = StoreRegistry.builtIn }

extension StoreRegistry {
    /// ``shared`` with the store types that Roost brings along: `sqlite`, `lmdb` and `coredata` as far as their traits are on,
    /// `json`, and `memory`.
    public static let builtIn: StoreRegistry = {
        // Recognition asks in this order, so a Core Data store, which is an SQLite file too, is asked for by its own marks.
        #if SQLite
            shared.register(SQLiteStoreType())
        #endif
        #if LMDB
            shared.register(LMDBStoreType())
        #endif
        shared.register(JSONStoreType())
        shared.register(MemoryStoreType())
        #if SQLite
            shared.register(CoreDataStoreType())
        #endif
        return shared
    }()
}
