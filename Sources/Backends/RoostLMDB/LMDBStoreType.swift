package import RoostCore
package import RoostFiles
internal import RoostKeyValue

/// The type of stores in LMDB files, one file for each store: `lmdb:path`.
///
/// A store can be opened read-only even if this user cannot write to its directory. In a writable
/// directory, opening a store read-only creates lock files beside it, but does not change the store
/// file.
package struct LMDBStoreType: FileStoreType {
    package init() {}

    package var name: String { "lmdb" }

    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .totalOrder, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes,
            .file, .history)
    }

    package var optionDescriptions: [StoreOptionDescription] { LMDBSettings.optionDescriptions }

    static let companions = ["-lock"]

    package var companionSuffixes: [String] { Self.companions }

    /// The costs, measured with `make bench`.
    package var estimatedCosts: StoreCosts {
        StoreCosts(readingMicroseconds: 0.2, writingMicroseconds: 0.8)
    }

    /// Returns whether the file begins like an LMDB file for this kind of machine.
    package func recognizes(fileAt path: String) -> Bool {
        StoreFile.read(prefix: LMDBMeta.byteCount, of: path).map(LMDBMeta.isRecognized) ?? false
    }

    /// Reads the metadata.
    ///
    /// The store is opened read-only unless this process already has it open.
    package func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        let storage = try LMDBStorage.open(path: location.path, options: options.forReading)
        do throws(StoreError) {
            let metadata = try KeyValueStore.metadata(in: storage, type: self, location: location)
            try storage.close()
            return metadata
        } catch {
            try? storage.close()
            throw error
        }
    }

    /// Opens a store.
    ///
    /// The file is checked, unless a process that has it open has already checked it.
    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        let storage = try LMDBStorage.open(path: location.path, options: options)
        if !options.isReadOnly {
            StoreFile.sweepTemporarySiblings(of: location.path, companions: companionSuffixes)
        }
        return try KeyValueStore(opening: storage, type: self, location: location, options: options)
    }

    package func canBeCompanion(_ file: CompanionFile) -> Bool { LMDBLockFile.isLockFile(file) }

    /// Returns whether the file is LMDB's lock file, which is useless without its store.
    package func isExpendable(_ file: CompanionFile) -> Bool { LMDBLockFile.beginsLikeLockFile(file) }

    package func requireValid(_ options: StoreOptions) throws(StoreError) { _ = try LMDBSettings(options) }

    /// Creates a complete store file at a temporary path.
    package func createFile(
        at path: String, for location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) {
        let storage = try LMDBStorage.create(path: path, options: options)
        try KeyValueStore(creating: storage, type: self, location: location, model: model, options: options).close()
        try StoreFile.remove(path + "-lock")
    }

    /// Creates a store at its own path, and removes its files after an error.
    package func createUnpublished(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        let storage: LMDBStorage
        do throws(StoreError) { storage = try LMDBStorage.create(path: location.path, options: options) } catch {
            // A failed creation has removed its file. If a file exists now, another process is
            // creating it and needs the lock files, so this call does not remove them.
            LMDBStorage.removeLockFiles(location.path)
            throw error
        }
        do throws(StoreError) {
            return try KeyValueStore(creating: storage, type: self, location: location, model: model, options: options)
        } catch {
            try? StoreFile.remove(location.path)
            LMDBStorage.removeLockFiles(location.path)
            throw error
        }
    }
}
