public import RoostCore

/// A store type that locks a store's path before creation and unlocks it after closing.
///
/// Use it for libraries such as SQLite, which recover, replace or remove a database's companion
/// files. So no other process may open the path before the store is complete. A conforming type
/// adds `open(_:options:under:)` and this method:
///
/// ```swift
/// extension NotesStoreType: NameLockingStoreType {
///     func writeEmptyStore(
///         at path: String, model: ManagedObjectModel, options: StoreOptions
///     ) throws(StoreError) {
///         let database = try NotesDatabase(at: path)
///         try database.makeTables(for: model)
///         try database.close()
///     }
/// }
/// ```
public protocol NameLockingStoreType: FileStoreType {
    /// Writes an empty store into a new file, and closes it.
    ///
    /// The implementation need not flush the file. After an error, the caller removes the file and
    /// its companions.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which is empty and locked by the caller.
    ///   - model: The model of the store.
    ///   - options: The options for creating the store; `StoreOptions.isUnpublished` is true.
    /// - Throws: The errors of `PersistentStoreType.create(_:model:options:)`.
    func writeEmptyStore(at path: String, model: ManagedObjectModel, options: StoreOptions) throws(StoreError)

    /// Opens a store that was just created, and takes ownership of its lock.
    ///
    /// - Parameters:
    ///   - location: The location of the store.
    ///   - options: The options for opening the store.
    ///   - lock: The store's lock, held exclusively. The store changes the lock to shared with
    ///     ``StoreLock/change(to:timeoutSeconds:)``, and holds it while the store is open. If
    ///     opening fails, the implementation must release the lock.
    /// - Returns: The store, open.
    /// - Throws: The errors of `PersistentStoreType.open(_:options:)`.
    func open(
        _ location: StoreLocation, options: StoreOptions, under lock: StoreLock
    ) throws(StoreError) -> any PersistentStore
}

extension NameLockingStoreType {
    /// Creates a store under a temporary name, renames it when it is complete and flushed, and
    /// opens it.
    ///
    /// The path is locked during all steps. With `StoreOptions.isUnpublished`, calls
    /// ``createUnpublished(_:model:options:)`` instead.
    public func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        guard !options.isUnpublished else { return try createUnpublished(location, model: model, options: options) }
        return try createLocked(location, options: options) { (path) throws(StoreError) in
            try StoreFile.build(path, companions: companionSuffixes, lock: .exclusive) {
                (temporary) throws(StoreError) in
                try createFile(at: temporary, for: location, model: model, options: options)
                try StoreFile.syncFile(at: temporary)
            }
        }
    }

    /// Creates a store at its final path, which is locked during all steps, and opens it.
    public func createUnpublished(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        var unpublished = options
        unpublished.isUnpublished = true
        return try createLocked(location, options: unpublished) { (path) throws(StoreError) in
            // If this call fails, a file at the path may belong to another program and must not be
            // removed.
            try StoreFile.createExclusive(at: path)
            do throws(StoreError) {
                try writeEmptyStore(at: path, model: model, options: unpublished)
            } catch {
                for suffix in companionSuffixes + [""] { try? StoreFile.remove(path + suffix) }
                throw error
            }
        }
    }

    /// Creates an empty file and writes the store into it.
    public func createFile(
        at path: String, for location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) {
        var unpublished = options
        unpublished.isUnpublished = true
        try StoreFile.createExclusive(at: path)
        try writeEmptyStore(at: path, model: model, options: unpublished)
    }

    private func createLocked(
        _ location: StoreLocation, options: StoreOptions, _ make: (String) throws(StoreError) -> Void
    ) throws(StoreError) -> any PersistentStore {
        try options.requireWritable()
        try requireValid(options)
        let path = StoreFile.absolutePath(location.path)
        try StoreFile.requireAbsent(at: location.path)
        try StoreFile.requireNoCompanions(of: location.path, types: [self])
        try StoreFile.refuseNetworkFileSystem(at: location.path)
        let lock = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: options.timeoutSeconds)
        do throws(StoreError) {
            // Another process may have created a store while this process waited.
            try StoreFile.requireAbsent(at: path)
            StoreFile.sweepTemporarySiblings(of: path, companions: companionSuffixes)
            // The new store would treat leftover companions of a removed store as its own.
            try StoreFile.removeLeftovers(of: path, type: self)
            try make(path)
        } catch {
            // Keep the lock file of an existing store, because it may be in use.
            if error.code == .alreadyExists { lock.release() } else { try? lock.releaseRemovingFile() }
            throw error
        }
        return try open(location, options: options, under: lock)
    }
}
