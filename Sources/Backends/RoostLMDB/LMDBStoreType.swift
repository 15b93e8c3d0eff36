package import RoostCore
package import RoostFiles
internal import RoostKeyValue

/// Stores in LMDB files: `lmdb:path`.
///
/// Fast, zero-copy reads; one file for each store.
///
/// ``optionDescriptions`` lists the options. A read-only store may be on a medium, or in a
/// directory, that this user cannot write to. Elsewhere it makes lock files beside the store. The
/// store itself is not changed by a byte.
package struct LMDBStoreType: FileStoreType {
    /// The type.
    package init() {}

    /// `lmdb`.
    package var name: String { "lmdb" }

    /// Everything a store can do.
    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .totalOrder, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes,
            .file, .history)
    }

    /// `mapSize` and `maxReaders`.
    package var optionDescriptions: [StoreOptionDescription] { LMDBSettings.optionDescriptions }

    static let companions = ["-lock"]

    /// `-lock`.
    package var companionSuffixes: [String] { Self.companions }

    /// Measured with `make bench`.
    package var estimatedCosts: StoreCosts {
        StoreCosts(readingMicroseconds: 0.2, writingMicroseconds: 0.8)
    }

    /// Whether the file begins like an LMDB file that a program like this one wrote.
    package func recognizes(fileAt path: String) -> Bool {
        StoreFile.read(prefix: LMDBMeta.byteCount, of: path).map(LMDBMeta.isRecognized) ?? false
    }

    /// Reads the metadata; opens the store read-only for that, unless this process has it open.
    package func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        var options = options
        options.isReadOnly = true
        let storage = try LMDBStorage.open(path: location.path, options: options)
        do throws(StoreError) {
            let metadata = try KeyValueStore.metadata(in: storage, type: self, location: location)
            try storage.close()
            return metadata
        } catch {
            // Report the first error.
            try? storage.close()
            throw error
        }
    }

    /// Opens a store.
    ///
    /// The first opener, over all processes, examines the file: about 0.4 ms per MB.
    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        let storage = try LMDBStorage.open(path: location.path, options: options)
        if !options.isReadOnly {
            StoreFile.sweepTemporarySiblings(of: location.path, companions: companionSuffixes)
        }
        return try KeyValueStore(opening: storage, type: self, location: location, options: options)
    }

    /// Whether the file has the format of LMDB's lock file.
    package func canBeCompanion(_ file: CompanionFile) -> Bool { LMDBLockFile.isLockFile(file) }

    /// Whether the file is LMDB's lock file, which holds nothing without its store.
    package func isExpendable(_ file: CompanionFile) -> Bool { LMDBLockFile.beginsLikeLockFile(file) }

    /// Checks the settings.
    package func requireValid(_ options: StoreOptions) throws(StoreError) { _ = try LMDBSettings(options) }

    /// Makes the whole file at a temporary name.
    package func createFile(
        at path: String, for location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) {
        let storage = try LMDBStorage.create(path: path, options: options)
        try KeyValueStore(creating: storage, type: self, location: location, model: model, options: options).close()
        try StoreFile.remove(path + "-lock")
    }

    /// Makes a store under its own name, and removes its files after an error.
    package func createUnpublished(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        let storage: LMDBStorage
        do throws(StoreError) { storage = try LMDBStorage.create(path: location.path, options: options) } catch {
            // A failed creation has removed its file. A file that exists belongs to another
            // creator, and so does its lock.
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
