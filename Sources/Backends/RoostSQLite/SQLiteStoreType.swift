package import RoostCore
package import RoostFiles
internal import RoostSQL

/// Stores in an SQLite file, with tables that people and other tools can read.
///
/// ``optionDescriptions`` tells the options; FORMAT.md describes every table and every guarantee.
package struct SQLiteStoreType: FileStoreType {
    /// Makes the type.
    package init() {}

    /// `sqlite`.
    package var name: String { "sqlite" }

    /// Everything there is.
    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .totalOrder, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes,
            .file)
    }

    /// `synchronous`, `maximumValueBytes`, `rowTimeoutSeconds`, and `pageSizeBytes` for new stores.
    package var optionDescriptions: [StoreOptionDescription] { SQLiteSettings.optionDescriptions }

    /// `-wal`, `-shm`, `-journal`.
    package var companionSuffixes: [String] { SQLiteSettling.companions }

    /// Measured with `make bench`.
    package var estimatedCosts: StoreCosts {
        StoreCosts(readingMicroseconds: 0.8, writingMicroseconds: 1.2)
    }

    /// Whether the file is an SQLite database with Roost's application ID.
    package func recognises(fileAt path: String) -> Bool { SQLiteHeader.recognises(path) }

    /// Opens an existing store.
    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try SQLiteOpening(StoreFile.absolutePath(location.path), options).open(type: self, location: location)
    }

    /// Creates an empty store and opens it.
    ///
    /// The store's own lock is held all the time, since SQLite removes the log of another store
    /// that has its name.
    package func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try options.requireWritable()
        let path = StoreFile.absolutePath(location.path)
        let opening = try SQLiteOpening(path, options)
        try StoreFile.requireAbsent(at: location.path)
        try StoreFile.requireNoCompanions(of: location.path, suffixes: SQLiteSettling.companions)
        try StoreFile.refuseNetworkFileSystem(at: location.path)
        let lock = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: options.timeoutSeconds)
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
        return try opening.open(type: self, location: location, lock: lock)
    }

    /// Makes a store in a new file, as ``create(_:model:options:)`` does without publishing it.
    package func createUnpublished(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        var unpublished = options
        unpublished.isUnpublished = true
        return try create(location, model: model, options: unpublished)
    }

    /// Checks that the log and the journal beside a store belong to it.
    ///
    /// A store that stays must be sound with its log; one that is removed may be damaged.
    package func requireOwnCompanions(besideStoreAt path: String, isKept: Bool) throws(StoreError) {
        let settings = try SQLiteSettings(StoreOptions())
        try SQLiteCompanions.requireOwn(besideStoreAt: path)
        try SQLiteCompanions.requireOwnLogToRemove(besideStoreAt: path, settings)
        if isKept { _ = try SQLiteCompanions.requireOwnLog(besideStoreAt: path, settings) }
    }

    /// Moves the log of a store into its file.
    package func settle(storeAt path: String, under lock: StoreLock) throws(StoreError) {
        guard SQLiteSettling.hasCompanions(path) else { return }
        try SQLiteSettling.settle(path, try SQLiteSettings(StoreOptions()))
        guard !SQLiteSettling.hasCompanions(path) else {
            throw StoreError(.busy, "'\(path)' is open in another program; close it there.")
        }
    }

    /// Rebuilds the file in one transaction (`VACUUM`) and moves that into it.
    ///
    /// Content is read before and afterwards and must be what its tallies say.
    package func compactWhileOpen(
        _ location: StoreLocation, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool {
        let path = StoreFile.resolvingLink(location.path)
        let store = try SQLiteOpening(path, options).open(type: self, location: location)
        return try store.closing { () throws(StoreError) in
            try SQLiteCompaction(store: store, path: path, settings: try SQLiteSettings(options)).run(isCancelled)
        }
    }
}
