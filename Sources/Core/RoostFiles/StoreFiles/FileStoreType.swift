public import RoostCore

/// A store type that keeps each store in one file, with companion files while the store is open.
///
/// The protocol creates, locks, replaces and destroys stores. A conforming type adds the
/// format-specific steps:
///
/// ```swift
/// extension NotesStoreType: FileStoreType {
///     func createUnpublished(
///         _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
///     ) throws(StoreError) -> any PersistentStore {
///         let storage = try NotesStorage(creatingAt: location.path)
///         return try KeyValueStore(
///             creating: storage, type: self, location: location, model: model, options: options)
///     }
/// }
/// ```
public protocol FileStoreType: PersistentStoreType {
    /// Checks the options of a store before anything is created.
    ///
    /// By default, refuses invalid timeouts, and type options that
    /// `PersistentStoreType.optionDescriptions` does not allow.
    ///
    /// - Throws: `invalidRequest`.
    func requireValid(_ options: StoreOptions) throws(StoreError)

    /// Creates an empty store in a new file and opens it.
    ///
    /// The path is temporary and unknown to other programs, so a partial file after a crash is
    /// harmless. The caller may hold a shared ``StoreLock`` of the file, so the implementation must
    /// not request an exclusive one.
    ///
    /// - Parameters:
    ///   - location: The location of the file to create. An existing file must be refused.
    ///   - model: The model of the store.
    ///   - options: The options for creating the store; `StoreOptions.isUnpublished` is true.
    /// - Returns: The store, open.
    /// - Throws: The errors of `PersistentStoreType.create(_:model:options:)`. After an error, no
    ///   file of the store may remain.
    func createUnpublished(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore

    /// Creates the complete file of an empty store at a temporary path, and closes the file.
    ///
    /// By default, calls ``createUnpublished(_:model:options:)`` and closes the store. The caller
    /// flushes the file.
    ///
    /// - Parameters:
    ///   - path: The temporary path of the file. The caller has locked this path, and removes the
    ///     file and its companions after an error.
    ///   - location: The location at which the caller publishes the file.
    ///   - model: The model of the store.
    ///   - options: The options for creating the store.
    /// - Throws: The errors of `PersistentStoreType.create(_:model:options:)`.
    func createFile(
        at path: String, for location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError)

    /// Whether the file at a companion's path can be that companion.
    ///
    /// Examine the format, because files of other programs must not be changed. True by default.
    func canBeCompanion(_ file: CompanionFile) -> Bool

    /// Whether a companion contains nothing that a user could need after its store was removed.
    ///
    /// A new store at the path removes or reuses expendable companions. A log is not expendable,
    /// because it may contain the last commits of a store that was moved. False by default.
    func isExpendable(_ file: CompanionFile) -> Bool

    /// Checks that the companions of a store belong to the store, before anything is changed.
    ///
    /// Does nothing by default. The caller has already called
    /// ``StoreFile/requireOwnCompanions(ofStoreAt:type:suffixes:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the store, which the caller has locked exclusively.
    ///   - isKept: Whether the store will be renamed; false if it will be destroyed or replaced.
    /// - Throws: `notAStore`, `corrupted`, `storeReplaced`, naming the file.
    func requireOwnCompanions(besideStoreAt path: String, isKept: Bool) throws(StoreError)

    /// Merges the store's companions into its file, and removes them.
    ///
    /// By default, only removes the companions, which is enough if the companions of a closed store
    /// contain no data.
    ///
    /// - Parameters:
    ///   - path: The path of the store.
    ///   - lock: The lock of the store, held exclusively.
    /// - Throws: `busy` if another program has the store open; `corrupted`.
    func settle(storeAt path: String, under lock: StoreLock) throws(StoreError)
}

extension FileStoreType {
    /// Refuses unknown or invalid type options, and invalid timeouts.
    public func requireValid(_ options: StoreOptions) throws(StoreError) {
        try requireKnown(options.typeOptions)
        try options.requireValidTimeout()
    }

    /// Creates a store under a temporary name, renames it when it is complete and flushed, and
    /// opens it.
    ///
    /// With `StoreOptions.isUnpublished`, only calls ``createUnpublished(_:model:options:)``.
    public func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try options.requireWritable()
        try requireValid(options)
        if options.isUnpublished { return try createUnpublished(location, model: model, options: options) }
        try StoreFile.requireAbsent(at: location.path)
        try StoreFile.requireNoCompanions(of: location.path, types: [self])
        try StoreFile.refuseNetworkFileSystem(at: location.path)
        // This lock is shared, because the store's own code locks the file too.
        try StoreFile.build(location.path, companions: companionSuffixes, lock: .shared) { (path) throws(StoreError) in
            try createFile(at: path, for: location, model: model, options: options)
            try StoreFile.syncFile(at: path)
            try StoreFile.requireNoCompanions(of: location.path, types: [self])
        }
        return try open(location, options: options)
    }

    /// Creates the store with ``createUnpublished(_:model:options:)`` and closes it.
    public func createFile(
        at path: String, for location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) {
        var unpublished = options
        unpublished.isUnpublished = true
        try createUnpublished(StoreLocation(type: location.type, path: path), model: model, options: unpublished)
            .close()
    }

    /// Returns true.
    public func canBeCompanion(_ file: CompanionFile) -> Bool { true }

    /// Returns false.
    public func isExpendable(_ file: CompanionFile) -> Bool { false }

    /// Does nothing.
    public func requireOwnCompanions(besideStoreAt path: String, isKept: Bool) throws(StoreError) {}

    /// Removes the companions, durably.
    public func settle(storeAt path: String, under lock: StoreLock) throws(StoreError) {
        try StoreFile.removeCompanions(ofStoreAt: path, type: self)
    }

    /// Removes the store, its companions and its lock file.
    ///
    /// If `location` is a symbolic link, the link is removed too.
    ///
    /// - Throws: `busy` if the store's ``StoreLock`` is held elsewhere; `notAStore` if the file or
    ///   a companion belongs to another program; `permissionDenied`; the errors of
    ///   ``requireOwnCompanions(besideStoreAt:isKept:)``.
    public func destroy(_ location: StoreLocation) throws(StoreError) {
        let target = StoreFile.resolvingLink(location.path)
        // Check before locking, so that no lock file is created beside a file that is not a store.
        guard try hasStore(at: target) else { return }
        let lock = try StoreLock.acquire(forStoreAt: target, mode: .exclusive, timeoutSeconds: 0)
        defer { lock.release() }
        // Check again, because another process may have removed or replaced the store.
        guard try hasStore(at: target) else { return try lock.releaseRemovingFile() }
        try requireOwnCompanions(besideStoreAt: target, isKept: false)
        // Remove the companions first, so that no log remains for a later store at the same path.
        try StoreFile.removeCompanions(ofStoreAt: target, type: self)
        try StoreFile.remove(target)
        if target != location.path { try StoreFile.remove(location.path) }
        try StoreFile.syncDirectory(of: target)
        try lock.releaseRemovingFile()
    }

    /// Renames the closed store at `source` to `destination`, atomically and durably.
    ///
    /// Both paths must be in the same directory.
    ///
    /// - Parameters:
    ///   - destination: The new path of the store.
    ///   - source: The store to rename.
    ///   - overwriting: Whether an existing store at `destination` may be replaced.
    /// - Throws: `notFound`; `invalidRequest` if both paths refer to the same file; `busy` if the
    ///   ``StoreLock`` of one of the stores is held elsewhere; `alreadyExists`, also if another
    ///   file has the name of a companion; `notAStore` if a file or a companion belongs to another
    ///   program; `hasOtherNames`; `permissionDenied`, `ioFailure`; the errors of
    ///   ``settle(storeAt:under:)``.
    public func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError)
    {
        let (origin, target) = (StoreFile.resolvingLink(source.path), StoreFile.resolvingLink(destination.path))
        try StoreFile.requireRegularFile(at: origin, forWriting: true)
        guard !StoreFile.sameFile(origin, target) else {
            throw StoreError(.invalidRequest, "'\(target)' cannot be replaced with itself.")
        }
        // Check before locking, so that no lock file is created beside another program's file. The
        // check is repeated under the locks.
        _ = try requireMovable(from: origin, to: target, overwriting: overwriting)
        let originLock = try StoreLock.acquire(forStoreAt: origin, mode: .exclusive, timeoutSeconds: 0)
        defer { originLock.release() }
        let targetLock = try StoreLock.acquire(forStoreAt: target, mode: .exclusive, timeoutSeconds: 0)
        defer { targetLock.release() }
        let isReplacing = try requireMovable(from: origin, to: target, overwriting: overwriting)
        for path in isReplacing ? [origin, target] : [origin] {
            try StoreFile.requireOneName(ofStoreAt: path, forWriting: true, companions: companionSuffixes)
            try StoreFile.requireOwnCompanions(ofStoreAt: path, type: self)
            try requireOwnCompanions(besideStoreAt: path, isKept: path == origin)
        }
        // Settle both stores, because after the renaming a log of one store would be applied to the
        // other.
        if isReplacing {
            try settle(storeAt: target, under: targetLock)
        } else {
            try StoreFile.removeLeftovers(of: target, type: self)
        }
        try settle(storeAt: origin, under: originLock)
        // The content of a store that was created without flushing may not be on the disk yet.
        try StoreFile.syncFile(at: origin)
        try StoreFile.publish(origin, as: target, overwriting: overwriting)
    }

    /// Checks that the store at `origin` can be renamed; returns whether it replaces a store.
    private func requireMovable(
        from origin: String, to target: String, overwriting: Bool
    ) throws(StoreError) -> Bool {
        guard try hasStore(at: origin) else {
            throw StoreError(.notFound, "'\(origin)' was removed by another program; nothing was replaced.")
        }
        if overwriting, try hasStore(at: target) { return true }
        try StoreFile.requireAbsent(at: target)
        try StoreFile.requireNoCompanions(of: target, types: [self])
        return false
    }

    /// Whether a store of this type exists at `path`.
    ///
    /// Throws `notAStore` for any other file, which must not be removed or replaced.
    private func hasStore(at path: String) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: path, forWriting: false)
        } catch  where error.code == .notFound || error.code == .missingDirectory {
            return false
        }
        guard recognizes(fileAt: path) else {
            throw StoreError(
                .notAStore,
                "'\(path)' is not a store of type '\(name)', so it was left alone; remove it by hand if it is not needed."
            )
        }
        return true
    }
}

extension StoreFile {
    /// Builds a file under a temporary name and renames it to `path`, atomically and durably.
    ///
    /// `fill` creates and flushes the file at the given path. A lock of the given mode protects the
    /// temporary file from ``sweepTemporarySiblings(of:companions:)``.
    ///
    /// - Throws: The errors of `fill` and of ``publish(_:as:overwriting:)``. After an error the
    ///   temporary file and its `companions` are removed.
    static func build(
        _ path: String, companions: [String] = [], lock mode: StoreLock.Mode, overwriting: Bool = false,
        fill: (String) throws(StoreError) -> Void
    ) throws(StoreError) {
        let temporary = temporarySibling(of: path)
        let lock = try StoreLock.acquire(forStoreAt: temporary, mode: mode, timeoutSeconds: 0)
        do throws(StoreError) {
            try fill(temporary)
            try publish(temporary, as: path, overwriting: overwriting)
        } catch {
            // The next sweep removes files that remain.
            for suffix in companions + [""] { try? remove(temporary + suffix) }
            if mode == .exclusive {
                try? lock.releaseRemovingFile()
            } else {
                try? remove(StoreLock.path(forStoreAt: temporary))
                lock.release()
            }
            throw error
        }
        lock.release()
    }
}
