public import RoostCore
internal import RoostFiles
internal import RoostKeyValue

/// Stores in LMDB files: `lmdb:path`.
///
/// Fast, zero-copy reads; one file for each store.
///
/// ``optionDescriptions`` tells the options. A read-only store may be on a medium, or in a directory, where this user can
/// write nothing; elsewhere it makes lock files beside the store. The store itself is not changed by a byte.
public struct LMDBStoreType: PersistentStoreType {
    /// The type.
    public init() {}

    /// `lmdb`.
    public var name: String { "lmdb" }

    /// Everything a store can do.
    public var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes, .file)
    }

    /// `mapSize` and `maxReaders`.
    public var optionDescriptions: [StoreOptionDescription] { LMDBSettings.optionDescriptions }

    static let companions = ["-lock"]

    /// `-lock`.
    public var companionSuffixes: [String] { Self.companions }

    /// Whether the file begins like an LMDB file that a program like this one wrote.
    public func recognises(fileAt path: String) -> Bool {
        StoreFile.read(prefix: LMDBMeta.byteCount, of: path).map(LMDBMeta.isRecognised) ?? false
    }

    /// Reads the metadata; opens the store read-only for that, unless this process has it open.
    public func metadata(at url: StoreURL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        var options = options
        options.isReadOnly = true
        let storage = try LMDBStorage.open(path: url.path, options: options)
        do throws(StoreError) {
            let metadata = try KeyValueStore.metadata(in: storage, type: self, url: url)
            try storage.close()
            return metadata
        } catch {
            // The first error is the one to tell.
            try? storage.close()
            throw error
        }
    }

    /// Opens a store.
    ///
    /// The first opener, over all processes, examines the file: about 0.4 ms per MB.
    public func open(_ url: StoreURL, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        let storage = try LMDBStorage.open(path: url.path, options: options)
        if !options.isReadOnly { StoreFile.sweepTemporarySiblings(of: url.path) }
        return try KeyValueStore(opening: storage, type: self, url: url, options: options)
    }

    /// Creates a store under a temporary name and gives it its own when it is complete and flushed.
    public func create(
        _ url: StoreURL, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try options.requireWritable()
        if options.isUnpublished { return try createUnpublished(url, model, options) }
        try StoreFile.requireAbsent(at: url.path)
        // LMDB would write over whatever stands where its lock file belongs.
        try StoreFile.requireNoCompanions(of: url.path, Self.companions)
        let temporary = StoreFile.temporarySibling(of: url.path)
        // Held until the file has its name: what is locked is not swept away.
        let lock = try StoreLock.acquire(forStoreAt: temporary, .shared, timeoutSeconds: 0)
        defer { lock.release() }
        do throws(StoreError) {
            let storage = try LMDBStorage.create(path: temporary, options: options)
            try KeyValueStore(creating: storage, type: self, url: url, model: model, options: options).close()
            try StoreFile.remove(temporary + "-lock")
            try StoreFile.syncFile(at: temporary)
            try StoreFile.requireNoCompanions(of: url.path, Self.companions)
            try StoreFile.publish(temporary, as: url.path, overwriting: false)
        } catch {
            throw Self.removing(temporary, after: error)
        }
        return try open(url, options: options)
    }

    private func createUnpublished(
        _ url: StoreURL, _ model: ManagedObjectModel, _ options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        let storage: LMDBStorage
        do throws(StoreError) { storage = try LMDBStorage.create(path: url.path, options: options) } catch {
            // A failed creation has removed its file. A file that exists belongs to another creator, and so does its lock.
            LMDBStorage.removeLockFiles(url.path)
            throw error
        }
        do throws(StoreError) {
            return try KeyValueStore(creating: storage, type: self, url: url, model: model, options: options)
        } catch {
            try? StoreFile.remove(url.path)
            LMDBStorage.removeLockFiles(url.path)
            throw error
        }
    }

    /// Removes a store that could not be completed.
    ///
    /// The first error is the one to tell; the next open sweeps what stays.
    private static func removing(_ path: String, after error: StoreError) -> StoreError {
        for file in [path, path + "-lock", StoreLock.path(forStoreAt: path)] { try? StoreFile.remove(file) }
        return error
    }

    /// Removes the store, its lock files, and the link that `url` names if it is one.
    public func destroy(_ url: StoreURL) throws(StoreError) {
        try StoreFile.removeStore(at: url.path, companions: Self.companions, isStore: recognises)
    }

    /// Puts a store in the place of another, or of none, by renaming it.
    public func replace(
        _ destination: StoreURL, with source: StoreURL, overwriting: Bool
    ) throws(StoreError) {
        // What a process that was killed left behind belongs to files that are no longer open.
        try StoreFile.moveStore(
            from: source.path, to: destination.path, overwriting: overwriting, companions: Self.companions,
            isStore: recognises)
    }
}
