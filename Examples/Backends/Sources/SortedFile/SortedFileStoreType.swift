public import RoostCore
public import RoostFiles
import RoostKeyValue

/// Stores in one file that every commit rewrites: `sorted:path`.
public struct SortedFileStoreType: FileStoreType {
    /// Creates the type.
    public init() {}

    /// `sorted`.
    public var name: String { "sorted" }

    /// The capabilities: all except a history.
    public var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .totalOrder, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes,
            .file)
    }

    /// Returns whether the file begins with the magic bytes of ``SortedFile``.
    public func recognizes(fileAt path: String) -> Bool {
        StoreFile.read(prefix: SortedFile.magic.count, of: path) == SortedFile.magic
    }

    /// Opens a store and, unless read-only, removes files that a crash left beside it.
    public func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try requireValid(options)
        try StoreFile.requireRegularFile(at: location.path, forWriting: !options.isReadOnly)
        let storage = try SortedFileStorage(at: location.path, isNew: false, options: options)
        if !options.isReadOnly { StoreFile.sweepTemporarySiblings(of: location.path) }
        return try KeyValueStore(opening: storage, type: self, location: location, options: options)
    }

    /// Creates a store.
    ///
    /// Its first commit writes the file.
    public func createUnpublished(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try StoreFile.requireAbsent(at: location.path)
        let storage = try SortedFileStorage(at: location.path, isNew: true, options: options)
        return try KeyValueStore(creating: storage, type: self, location: location, model: model, options: options)
    }
}
