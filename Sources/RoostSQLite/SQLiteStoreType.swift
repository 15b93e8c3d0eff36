public import RoostCore
internal import RoostFiles
internal import RoostSQL

/// Stores in an SQLite file, with tables that people and other tools can read.
///
/// ``optionDescriptions`` tells the options; FORMAT.md describes every table and every guarantee.
public struct SQLiteStoreType: PersistentStoreType {
    /// Makes the type.
    public init() {}

    /// `sqlite`.
    public var name: String { "sqlite" }

    /// Everything there is.
    public var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes, .file)
    }

    /// `synchronous`, `maximumValueBytes`, `rowTimeoutSeconds`, and `pageSizeBytes` for new stores.
    public var optionDescriptions: [StoreOptionDescription] { SQLiteSettings.optionDescriptions }

    /// `-wal`, `-shm`, `-journal`.
    public var companionSuffixes: [String] { SQLiteSettling.companions }

    /// Whether the file is an SQLite database with Roost's application ID.
    public func recognises(fileAt path: String) -> Bool { SQLiteHeader.recognises(path) }

    /// Opens an existing store.
    public func open(_ url: StoreURL, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try SQLiteOpening(StoreFile.absolutePath(url.path), options).open(type: self, url: url)
    }

    /// Creates an empty store and opens it.
    public func create(
        _ url: StoreURL, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try options.requireWritable()
        let path = StoreFile.absolutePath(url.path)
        let opening = try SQLiteOpening(path, options)
        try StoreFile.requireAbsent(at: url.path)
        try StoreFile.requireNoCompanions(of: url.path, SQLiteSettling.companions)
        try StoreFile.refuseNetworkFileSystem(at: url.path)
        let lock = try StoreLock.acquire(forStoreAt: path, .exclusive, timeoutSeconds: options.timeoutSeconds)
        do throws(StoreError) {
            // Another process may have been faster while this one waited.
            try StoreFile.requireAbsent(at: path)
            StoreFile.sweepTemporarySiblings(of: path)
            try SQLiteCreation.create(at: path, model, options, try SQLiteSettings(options))
        } catch {
            // The lock file is ours to remove only where no store stands beside it.
            if error.code == .alreadyExists { lock.release() } else { try? lock.releaseRemovingFile() }
            throw error
        }
        return try opening.open(type: self, url: url, lock: lock)
    }

    /// Removes a store and everything beside it.
    public func destroy(_ url: StoreURL) throws(StoreError) {
        let path = StoreFile.resolvingLink(url.path)
        // A log without its store holds commits that only their owner can judge.
        guard try exists(path) else { return }
        // Before the lock: beside a file that is not a store no lock file is made.
        try requireStore(path)
        let lock = try StoreLock.acquire(forStoreAt: path, .exclusive, timeoutSeconds: 0)
        defer { lock.release() }
        // Another process may have destroyed it while this one waited for the lock.
        guard try exists(path) else { return try lock.releaseRemovingFile() }
        try requireStore(path)
        try SQLiteCompanions.requireOwn(besideStoreAt: path)
        try SQLiteCompanions.requireOwnLogToRemove(besideStoreAt: path, try SQLiteSettings(StoreOptions()))
        // The log first: it must never be found beside another store of the same name.
        try StoreFile.removeCompanions(of: path, SQLiteSettling.companions)
        try StoreFile.remove(path)
        try StoreFile.syncDirectory(of: path)
        try lock.releaseRemovingFile()
    }

    /// Puts the closed store at `source` in the place of `destination`, atomically.
    public func replace(_ destination: StoreURL, with source: StoreURL, overwriting: Bool) throws(StoreError) {
        let (target, origin) = (StoreFile.resolvingLink(destination.path), StoreFile.resolvingLink(source.path))
        try StoreFile.requireRegularFile(at: origin, forWriting: true)
        guard !StoreFile.sameFile(target, origin) else {
            throw StoreError(.invalidRequest, "'\(target)' cannot be replaced with itself.")
        }
        try requireStore(origin)
        if try !exists(target) {
            try StoreFile.requireAbsent(at: target)
        } else if overwriting {
            try requireStore(target)
        }
        let originLock = try StoreLock.acquire(forStoreAt: origin, .exclusive, timeoutSeconds: 0)
        defer { originLock.release() }
        // Once more under the locks: another program may have put something else there.
        try requireStore(origin)
        let targetLock = try StoreLock.acquire(forStoreAt: target, .exclusive, timeoutSeconds: 0)
        defer { targetLock.release() }
        let isReplacing = try exists(target)
        if isReplacing {
            guard overwriting else {
                throw StoreError(
                    .alreadyExists, "'\(target)' exists already; allow overwriting or choose another name.")
            }
            try requireStore(target)
        } else {
            // What a store that is gone left there would be taken for the new one's; what may be more than that is refused.
            try StoreFile.removeLeftovers(of: target, SQLiteSettling.companions)
        }
        // A log beside either file would be read as the other's after the rename.
        let settings = try SQLiteSettings(StoreOptions())
        let stores = isReplacing ? [origin, target] : [origin]
        for path in stores {
            try StoreFile.requireOneName(ofStoreAt: path, forWriting: true)
            try SQLiteCompanions.requireOwn(besideStoreAt: path)
            try SQLiteCompanions.requireOwnLogToRemove(besideStoreAt: path, settings)
            // What is replaced may be damaged.
            if path == origin { _ = try SQLiteCompanions.requireOwnLog(besideStoreAt: path, settings) }
        }
        for path in stores where SQLiteSettling.hasCompanions(path) {
            try SQLiteSettling.settle(path, settings)
            guard !SQLiteSettling.hasCompanions(path) else {
                throw StoreError(.busy, "'\(path)' is open in another program; close it there.")
            }
        }
        // What was written while nobody knew the store may not be on the disk.
        try StoreFile.syncFile(at: origin)
        try StoreFile.publish(origin, as: target, overwriting: overwriting)
    }

    /// Rebuilds the file in one transaction (`VACUUM`) and moves that into it.
    ///
    /// Content is read before and afterwards and must be what its tallies say.
    public func compactWhileOpen(
        _ url: StoreURL, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool {
        let path = StoreFile.resolvingLink(url.path)
        let store = try SQLiteOpening(path, options).open(type: self, url: url)
        let isSmall: Bool
        do throws(StoreError) {
            isSmall = try SQLiteCompaction(store: store, path: path, settings: try SQLiteSettings(options)).run(
                isCancelled)
        } catch {
            // The first error is the one to tell.
            try? store.close()
            throw error
        }
        try store.close()
        return isSmall
    }

    private func exists(_ path: String) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: path, forWriting: false)
            return true
        } catch  where error.code == .notFound || error.code == .missingDirectory {
            return false
        }
    }

    private func requireStore(_ path: String) throws(StoreError) {
        guard SQLiteHeader.recognises(path) else {
            throw StoreError(.notAStore, "'\(path)' is not an SQLite store of Roost; it was not touched.")
        }
    }
}
