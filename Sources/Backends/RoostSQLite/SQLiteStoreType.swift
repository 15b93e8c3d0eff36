package import RoostCore
package import RoostFiles
internal import RoostSQL

/// The type of stores in an SQLite file, whose tables people and other tools can read.
///
/// ``optionDescriptions`` lists the options. FORMAT.md describes every table and every guarantee.
package struct SQLiteStoreType: NameLockingStoreType, CompactingStoreType {
    package init() {}

    package var name: String { "sqlite" }

    /// All capabilities that a store can have.
    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .totalOrder, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes,
            .file, .history)
    }

    package var optionDescriptions: [StoreOptionDescription] { SQLiteSettings.optionDescriptions }

    package var companionSuffixes: [String] { SQLiteSettling.companions }

    /// The costs, as measured with `make bench`.
    package var estimatedCosts: StoreCosts {
        StoreCosts(readingMicroseconds: 0.8, writingMicroseconds: 1.2)
    }

    /// Returns whether the file is an SQLite database with Roost's application ID.
    package func recognizes(fileAt path: String) -> Bool { SQLiteHeader.recognizes(path) }

    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try SQLiteOpening(StoreFile.absolutePath(location.path), options: options).open(type: self, location: location)
    }

    package func requireValid(_ options: StoreOptions) throws(StoreError) { _ = try SQLiteSettings(options) }

    package func writeEmptyStore(
        at path: String, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) { try SQLiteCreation.writeEmptyStore(at: path, model: model, options: options) }

    /// Opens a store that was just created, under its lock.
    ///
    /// The caller has held the lock since before the creation. Otherwise, another store could be at
    /// this path by now, and SQLite could remove its log.
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

    package func canBeCompanion(_ file: CompanionFile) -> Bool { SQLiteCompanionFormat.canBeCompanion(file) }

    package func isExpendable(_ file: CompanionFile) -> Bool { SQLiteCompanionFormat.isExpendable(file) }

    /// Checks that the log and the journal beside a store belong to it.
    ///
    /// Only a store that is kept must have an undamaged log.
    package func requireOwnCompanions(besideStoreAt path: String, isKept: Bool) throws(StoreError) {
        let settings = try SQLiteSettings(StoreOptions())
        try SQLiteCompanions.requireOwn(besideStoreAt: path)
        try SQLiteCompanions.requireOwnLogToRemove(besideStoreAt: path, settings: settings)
        if isKept { _ = try SQLiteCompanions.requireOwnLog(besideStoreAt: path, settings: settings) }
    }

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
    /// Returns false if the log could not be emptied in time.
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
