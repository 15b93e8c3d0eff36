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

/// Limits the memory of the C libraries behind the built-in store types, for the whole process.
///
/// SQLite is the one that can be limited, together with every other use of it in the process; see `SQLiteStoreType.limitMemory`.
/// A statement that needs more fails with code `outOfResources`. Call it once, at the start of a program; a library should not.
///
/// - Parameter byteCount: The limit in bytes; 0 for none, which is the default.
public func limitLibraryMemory(toByteCount byteCount: Int64) {
    #if SQLite
        SQLiteStoreType.limitMemory(toByteCount: byteCount)
    #endif
}

/// Makes the C libraries behind the built-in store types stop counting the memory that they use, for the whole process.
///
/// SQLite is the one that counts; see `SQLiteStoreType.stopCountingMemory`. Looking up single objects becomes some 7 % faster, and
/// ``limitLibraryMemory(toByteCount:)`` has no effect any more. Call it once, at the start of a program, before anything else in the
/// process uses SQLite; a library should not.
///
/// - Returns: Whether it is so now; false where SQLite was in use already.
@discardableResult
public func stopCountingLibraryMemory() -> Bool {
    #if SQLite
        SQLiteStoreType.stopCountingMemory()
    #else
        true
    #endif
}

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
