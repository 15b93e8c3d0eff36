package import RoostCore
package import RoostFiles
internal import RoostSQL

/// Stores in an SQLite file, with tables that people and other tools can read.
///
/// ``optionDescriptions`` lists the options. FORMAT.md describes every table and every guarantee.
package struct SQLiteStoreType: NameLockingStoreType, CompactingStoreType {
    /// Creates the type.
    package init() {}

    /// The name of the type, `sqlite`.
    package var name: String { "sqlite" }

    /// All capabilities of a store.
    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .totalOrder, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes,
            .file, .history)
    }

    /// The options `synchronous`, `maximumValueBytes`, `rowTimeoutSeconds`, and `pageSizeBytes` for
    /// new stores.
    package var optionDescriptions: [StoreOptionDescription] { SQLiteSettings.optionDescriptions }

    /// The suffixes `-wal`, `-shm` and `-journal`.
    package var companionSuffixes: [String] { SQLiteSettling.companions }

    /// The costs, as measured with `make bench`.
    package var estimatedCosts: StoreCosts {
        StoreCosts(readingMicroseconds: 0.8, writingMicroseconds: 1.2)
    }

    /// Returns whether the file is an SQLite database with Roost's application ID.
    package func recognizes(fileAt path: String) -> Bool { SQLiteHeader.recognizes(path) }

    /// Opens an existing store.
    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try SQLiteOpening(StoreFile.absolutePath(location.path), options: options).open(type: self, location: location)
    }

    /// Checks the options.
    package func requireValid(_ options: StoreOptions) throws(StoreError) { _ = try SQLiteSettings(options) }

    /// Creates the tables of a store in an empty file.
    package func writeEmptyStore(
        at path: String, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) { try SQLiteCreation.writeEmptyStore(at: path, model: model, options: options) }

    /// Opens a store that was just created, under its lock.
    ///
    /// The lock is held from creating to opening. Otherwise, SQLite could remove the log of another
    /// store at this path.
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

    /// Returns whether the file can be SQLite's log, its index or a journal.
    package func canBeCompanion(_ file: CompanionFile) -> Bool { SQLiteCompanionFormat.canBeCompanion(file) }

    /// Returns whether the file is the index of a log, which SQLite creates again.
    package func isExpendable(_ file: CompanionFile) -> Bool { SQLiteCompanionFormat.isExpendable(file) }

    /// Checks that the log and the journal beside a store belong to it.
    ///
    /// A store that will be removed may be damaged. A store that is kept (`isKept`) must be
    /// undamaged together with its log.
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

    /// Rebuilds the file in one transaction (`VACUUM`) and moves the result from the log into the
    /// file.
    ///
    /// The content is read before and after the rebuild, and must match its tallies. Returns false
    /// if the log could not be emptied in time.
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
