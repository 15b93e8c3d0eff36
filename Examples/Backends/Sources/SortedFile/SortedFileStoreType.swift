public import RoostCore
import RoostFiles
import RoostKeyValue

/// Stores in one file that every commit writes anew: `sorted:path`.
public struct SortedFileStoreType: PersistentStoreType {
    /// Makes the type.
    public init() {}

    /// `sorted`.
    public var name: String { "sorted" }

    /// Everything a store can do.
    public var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes, .file)
    }

    /// Whether the file begins like one that ``SortedFile`` wrote.
    public func recognises(fileAt path: String) -> Bool {
        StoreFile.read(prefix: SortedFile.magic.count, of: path) == SortedFile.magic
    }

    /// Opens a store, and removes what a crash left beside it.
    public func open(_ url: StoreURL, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try requireKnown(options.typeOptions)
        try options.requireValidTimeout()
        try StoreFile.requireRegularFile(at: url.path, forWriting: !options.isReadOnly)
        let storage = try SortedFileStorage(at: url.path, isNew: false, options: options)
        if !options.isReadOnly { StoreFile.sweepTemporarySiblings(of: url.path) }
        return try KeyValueStore(opening: storage, type: self, url: url, options: options)
    }

    /// Creates a store: its first commit, made under a temporary name, gives the file its own.
    public func create(
        _ url: StoreURL, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try requireKnown(options.typeOptions)
        try options.requireValidTimeout()
        guard !options.isReadOnly else {
            throw StoreError(.readOnly, "A new store cannot be read-only; create '\(url.path)' first.")
        }
        try StoreFile.requireAbsent(at: url.path)
        try StoreFile.refuseNetworkFileSystem(at: url.path)
        // Removes the lock file when no store comes to stand beside it.
        let claim = try DestinationClaim.acquire(forStoreAt: url.path)
        defer { claim.release() }
        let storage = try SortedFileStorage(at: url.path, isNew: true, options: options)
        return try KeyValueStore(creating: storage, type: self, url: url, model: model, options: options)
    }

    /// Removes a store and its lock file.
    public func destroy(_ url: StoreURL) throws(StoreError) {
        try StoreFile.removeStore(at: url.path, isStore: recognises)
    }

    /// Gives a closed store another name.
    public func replace(
        _ destination: StoreURL, with source: StoreURL, overwriting: Bool
    ) throws(StoreError) {
        try StoreFile.moveStore(
            from: source.path, to: destination.path, overwriting: overwriting, isStore: recognises)
    }
}
