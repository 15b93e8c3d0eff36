package import RoostCore
package import RoostFiles
internal import RoostSQL

/// Stores in an SQLite file, with tables that people and other tools can read.
///
/// ``optionDescriptions`` lists the options; FORMAT.md describes every table and every guarantee.
package struct SQLiteStoreType: NameLockingStoreType, CompactingStoreType {
    /// Makes the type.
    package init() {}

    /// `sqlite`.
    package var name: String { "sqlite" }

    /// Everything there is.
    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .totalOrder, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes,
            .file, .history)
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
    package func recognizes(fileAt path: String) -> Bool { SQLiteHeader.recognizes(path) }

    /// Opens an existing store.
    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try SQLiteOpening(StoreFile.absolutePath(location.path), options: options).open(type: self, location: location)
    }

    /// Checks the settings.
    package func requireValid(_ options: StoreOptions) throws(StoreError) { _ = try SQLiteSettings(options) }

    /// Makes the tables of a store in an empty file.
    package func writeEmptyStore(
        at path: String, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) { try SQLiteCreation.writeEmptyStore(at: path, model: model, options: options) }

    /// Opens a store that was just created, under its lock.
    ///
    /// The lock is never released in between, since SQLite removes the log of another store that
    /// has its name.
    package func open(
        _ location: StoreLocation, options: StoreOptions, under lock: StoreLock
    ) throws(StoreError) -> any PersistentStore {
        let opening: SQLiteOpening
        do throws(StoreError) {
            opening = try SQLiteOpening(StoreFile.absolutePath(location.path), options: options)
        } catch {
            lock.release()
            throw error
        }
        return try opening.open(type: self, location: location, lock: lock)
    }

    /// Whether the file is empty or has the format of an SQLite log or of its index.
    package func canBeCompanion(_ file: CompanionFile) -> Bool { SQLiteCompanionFormat.canBeCompanion(file) }

    /// Whether the file is the index of a log, which SQLite makes anew.
    package func isExpendable(_ file: CompanionFile) -> Bool { SQLiteCompanionFormat.isExpendable(file) }

    /// Checks that the log and the journal beside a store belong to it.
    ///
    /// A store to keep must be sound with its log; a store to remove may be damaged.
    package func requireOwnCompanions(besideStoreAt path: String, isKept: Bool) throws(StoreError) {
        let settings = try SQLiteSettings(StoreOptions())
        try SQLiteCompanions.requireOwn(besideStoreAt: path)
        try SQLiteCompanions.requireOwnLogToRemove(besideStoreAt: path, settings: settings)
        if isKept { _ = try SQLiteCompanions.requireOwnLog(besideStoreAt: path, settings: settings) }
    }

    /// Moves the log of a store into its file.
    package func settle(storeAt path: String, under lock: StoreLock) throws(StoreError) {
        guard SQLiteSettling.hasCompanions(path) else { return }
        try SQLiteSettling.settle(path, settings: try SQLiteSettings(StoreOptions()))
        guard !SQLiteSettling.hasCompanions(path) else {
            throw StoreError(.busy, "'\(path)' is open in another program; close it there.")
        }
    }

    /// Rebuilds the file in one transaction (`VACUUM`) and moves that into it.
    ///
    /// The content is read before and afterwards, and must match its tallies.
    package func compactWhileOpen(
        _ location: StoreLocation, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool {
        let path = StoreFile.resolvingLink(location.path)
        let store = try SQLiteOpening(path, options: options).open(type: self, location: location)
        return try store.closing { () throws(StoreError) in
            try SQLiteCompaction(store: store, path: path, settings: try SQLiteSettings(options)).run(isCancelled)
        }
    }
}
