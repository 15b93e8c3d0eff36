public import RoostCore

/// A type of store whose stores are one file each, with companions beside it while they are open.
///
/// The protocol has the steps that such types share: it creates a store under a temporary name and
/// publishes it, locks, replaces and destroys. A type adds what only it knows:
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
    /// Refuses type options that ``PersistentStoreType/optionDescriptions`` lacks, and invalid
    /// timeouts, by default.
    ///
    /// - Throws: `invalidRequest`.
    func requireValid(_ options: StoreOptions) throws(StoreError)

    /// Creates an empty store in a new file and opens it.
    ///
    /// No other program knows the name: a crash may leave a part of a file there. The caller holds
    /// a shared ``StoreLock`` of the file, so a storage that locks it must not ask for an exclusive
    /// one.
    ///
    /// - Parameters:
    ///   - location: The store. The type creates the file, and refuses one that exists.
    ///   - model: The model of the store.
    ///   - options: How to create it; ``StoreOptions/isUnpublished`` is set.
    /// - Returns: The store, open.
    /// - Throws: As ``PersistentStoreType/create(_:model:options:)``. Nothing of the store may be
    ///   left after an error.
    func createUnpublished(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore

    /// Creates the whole file of an empty store and closes it, before the file gets its name.
    ///
    /// Calls ``createUnpublished(_:model:options:)`` by default and closes the store. The caller
    /// flushes the file.
    ///
    /// - Parameters:
    ///   - path: The temporary name of the file. The caller has locked it, and removes the file
    ///     and its companions after an error.
    ///   - location: The store that the file becomes.
    ///   - model: The model of the store.
    ///   - options: How to create it.
    /// - Throws: As ``PersistentStoreType/create(_:model:options:)``.
    func createFile(
        at path: String, for location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError)

    /// Whether the file beside a store can be the companion that a store of the type keeps under
    /// that name.
    ///
    /// Examine the format: a file of another program must be left alone. True by default.
    func canBeCompanion(_ file: CompanionFile) -> Bool

    /// Whether a companion without its store holds nothing that anyone can miss.
    ///
    /// Such a file is removed when a new store gets the name. A log, which may hold the last
    /// commits of a store that was moved, is not expendable. False by default.
    func isExpendable(_ file: CompanionFile) -> Bool

    /// Checks that the companions of a store belong to it, before anything is changed.
    ///
    /// Does nothing by default: ``StoreFile/requireOwnCompanions(ofStoreAt:type:suffixes:)`` is
    /// always called before.
    ///
    /// - Parameters:
    ///   - path: The store, which the caller has locked exclusively.
    ///   - isKept: Whether the store stays, under another name; false if it is destroyed or
    ///     replaced.
    /// - Throws: `notAStore`, `corrupted`, `storeReplaced`, naming the file.
    func requireOwnCompanions(besideStoreAt path: String, isKept: Bool) throws(StoreError)

    /// Moves the content of a store's companions into its file, and removes them.
    ///
    /// Removes them by default, for companions that hold nothing once the store is closed.
    ///
    /// - Parameters:
    ///   - path: The store.
    ///   - lock: The lock of the store, held exclusively.
    /// - Throws: `busy` if another program has the store open; `corrupted`.
    func settle(storeAt path: String, under lock: StoreLock) throws(StoreError)
}

extension FileStoreType {
    /// Refuses unknown type options and invalid timeouts.
    public func requireValid(_ options: StoreOptions) throws(StoreError) {
        try requireKnown(options.typeOptions)
        try options.requireValidTimeout()
    }

    /// Creates a store under a temporary name, and renames it when it is complete and flushed.
    public func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try options.requireWritable()
        try requireValid(options)
        if options.isUnpublished { return try createUnpublished(location, model: model, options: options) }
        try StoreFile.requireAbsent(at: location.path)
        // A log without its store may hold commits that only their owner can judge. A library would
        // overwrite it as its own file.
        try StoreFile.requireNoCompanions(of: location.path, types: [self])
        try StoreFile.refuseNetworkFileSystem(at: location.path)
        // The store's own code locks the file too, so the lock is shared.
        try StoreFile.build(location.path, companions: companionSuffixes, lock: .shared) { (path) throws(StoreError) in
            try createFile(at: path, for: location, model: model, options: options)
            try StoreFile.syncFile(at: path)
            try StoreFile.requireNoCompanions(of: location.path, types: [self])
        }
        return try open(location, options: options)
    }

    /// Makes the store with ``createUnpublished(_:model:options:)`` and closes it.
    public func createFile(
        at path: String, for location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) {
        var unpublished = options
        unpublished.isUnpublished = true
        try createUnpublished(StoreLocation(type: location.type, path: path), model: model, options: unpublished)
            .close()
    }

    /// True.
    public func canBeCompanion(_ file: CompanionFile) -> Bool { true }

    /// False.
    public func isExpendable(_ file: CompanionFile) -> Bool { false }

    /// Does nothing.
    public func requireOwnCompanions(besideStoreAt path: String, isKept: Bool) throws(StoreError) {}

    /// Removes the companions, durably.
    public func settle(storeAt path: String, under lock: StoreLock) throws(StoreError) {
        try StoreFile.removeCompanions(ofStoreAt: path, type: self)
    }

    /// Removes the store, its companions and its lock file.
    ///
    /// If `location` names a symbolic link, the link is removed too.
    ///
    /// - Throws: `busy` when another program holds its ``StoreLock``; `notAStore` when the file or
    ///   a companion is another program's; `permissionDenied`; what
    ///   ``requireOwnCompanions(besideStoreAt:isKept:)`` throws.
    public func destroy(_ location: StoreLocation) throws(StoreError) {
        let target = StoreFile.resolvingLink(location.path)
        // Before the lock: beside a file that is not a store no lock file is made.
        guard try hasStore(at: target) else { return }
        let lock = try StoreLock.acquire(forStoreAt: target, mode: .exclusive, timeoutSeconds: 0)
        defer { lock.release() }
        // Once more under the lock: another process may have removed or replaced it meanwhile.
        guard try hasStore(at: target) else { return try lock.releaseRemovingFile() }
        try requireOwnCompanions(besideStoreAt: target, isKept: false)
        // A log must never be found beside another store of the same name, so it goes first.
        try StoreFile.removeCompanions(ofStoreAt: target, type: self)
        try StoreFile.remove(target)
        if target != location.path { try StoreFile.remove(location.path) }
        try StoreFile.syncDirectory(of: target)
        try lock.releaseRemovingFile()
    }

    /// Renames the closed store at `source` to `destination`, atomically and durably.
    ///
    /// Both must be in one directory.
    ///
    /// - Parameters:
    ///   - destination: Its new name.
    ///   - source: The store; gone under this name afterwards.
    ///   - overwriting: Whether a store that has this name may be replaced.
    /// - Throws: `notFound`; `invalidRequest` when both are one file; `busy` when another program
    ///   holds the ``StoreLock`` of either; `alreadyExists`, also when another file has the name of
    ///   a companion; `notAStore` when either file, or a companion of either, is another program's;
    ///   `hasOtherNames`; `permissionDenied`, `ioFailure`; what
    ///   ``settle(storeAt:under:)`` throws.
    public func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError)
    {
        let (origin, target) = (StoreFile.resolvingLink(source.path), StoreFile.resolvingLink(destination.path))
        try StoreFile.requireRegularFile(at: origin, forWriting: true)
        guard !StoreFile.sameFile(origin, target) else {
            throw StoreError(.invalidRequest, "'\(target)' cannot be replaced with itself.")
        }
        // Before the locks, so that no lock file is made beside another file, and again under them.
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
        // After the renaming, a log of either store would be applied to the other.
        if isReplacing {
            try settle(storeAt: target, under: targetLock)
        } else {
            try StoreFile.removeLeftovers(of: target, type: self)
        }
        try settle(storeAt: origin, under: originLock)
        // The content of a store without a known name may not be on the disk yet.
        try StoreFile.syncFile(at: origin)
        try StoreFile.publish(origin, as: target, overwriting: overwriting)
    }

    /// Checks that the store at `origin` exists and can get the name `target`.
    ///
    /// - Returns: Whether there is a store to be replaced.
    private func requireMovable(
        from origin: String, to target: String, overwriting: Bool
    ) throws(StoreError) -> Bool {
        guard try hasStore(at: origin) else {
            throw StoreError(.notFound, "'\(origin)' was removed by another program; nothing was replaced.")
        }
        if overwriting, try hasStore(at: target) { return true }
        // Nor may a dangling link have the name.
        try StoreFile.requireAbsent(at: target)
        try StoreFile.requireNoCompanions(of: target, types: [self])
        return false
    }

    /// Whether a store of the type has the name; throws `notAStore` for any other file, so that
    /// nothing else is removed or replaced.
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
    /// Builds a file under a temporary name and gives it its own, atomically and durably.
    ///
    /// - Parameters:
    ///   - path: The name.
    ///   - companions: The suffixes of files that `fill` may leave beside the file after an error.
    ///   - mode: How the temporary file is locked while it is built. What is locked is not swept.
    ///   - overwriting: Whether a file under the name may be replaced.
    ///   - fill: Makes the file at a path, and flushes it.
    /// - Throws: What `fill` and ``publish(_:as:overwriting:)`` throw; the temporary file is
    ///   removed after an error.
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
            // Report the first error; what stays is swept later.
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
