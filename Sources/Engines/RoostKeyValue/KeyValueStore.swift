internal import Dispatch
public import RoostCore

/// A persistent store on any ordered key-value storage, such as memory or LMDB.
///
/// FORMAT.md describes all keys and values. A backend provides the storage and a
/// `PersistentStoreType` that opens and creates these stores.
public final class KeyValueStore: IntegrityCheckingStore, CommitReportingStore {
    struct State {
        var isClosed = false
        /// Reserved keys that callers have not received, by the number of the hierarchy's root.
        var blocks: [Int: KeyBlock] = [:]
        var load: Load?
        /// The error that made the contents of the storage unusable.
        var failure: StoreError?
    }

    /// A bulk load in progress, during which no keys are taken from blocks in memory.
    struct Load {
        /// The only loader that can end the load.
        let loader: ObjectIdentifier
        /// Whether the load commits in parts, which snapshots must hide.
        let isInParts: Bool
    }

    /// The registered type of the store.
    public let type: any PersistentStoreType
    /// The location of the store.
    public let location: StoreLocation
    /// The model that the store embeds.
    public var model: ManagedObjectModel { plan.model }
    /// Whether all changes throw `readOnly`.
    public let isReadOnly: Bool

    package let commitFeed: CommitFeed
    package let commitSignal: (any CommitSignal)?
    let storage: any OrderedKeyValueStorage
    let plan: StorePlan
    let options: StoreOptions
    let state = Mutex(State())
    /// The writer lock of an unpublished store whose loads commit in parts; nil for other stores.
    private let partsPlace: DispatchSemaphore?

    init(
        storage: any OrderedKeyValueStorage, type: any PersistentStoreType, location: StoreLocation, plan: StorePlan,
        options: StoreOptions
    ) {
        self.storage = storage
        self.type = type
        self.location = location
        self.plan = plan
        self.options = options
        isReadOnly = options.isReadOnly
        commitSignal = (storage as? any CommitSignaling)?.commitSignal
        commitFeed = .of(commitSignal)
        partsPlace = options.isUnpublished ? DispatchSemaphore(value: 1) : nil
    }

    /// Returns the store's metadata after the latest commit.
    public func metadata() throws(StoreError) -> StoreMetadata {
        let reader = try read()
        defer { reader.close() }
        return try MetaSpace.readMetadata(reader, of: storage, type: type.name, location: location, knownModel: model)
    }

    /// Returns a consistent view of the current store.
    ///
    /// Never waits for a writer.
    public func snapshot() throws(StoreError) -> any StoreSnapshot {
        let hidesContents = state.withLock { $0.load?.isInParts ?? false }
        let reader = try read()
        // The blocks are copied after the view begins, so that keys of this program's objects in the view do not count
        // as unused.
        let blocks = state.withLock { $0.blocks }
        return KeyValueSnapshot(
            store: self, reader: hidesContents ? HiddenContentsReader(reader) : reader, blocks: blocks)
    }

    /// Returns the number of bytes that the storage uses.
    public func byteCount() throws(StoreError) -> Int {
        try requireOpen()
        return try storage.byteCount()
    }

    /// Returns reserved keys that no caller received, and releases the storage.
    ///
    /// Closing the store again does nothing. Open snapshots throw `closed` from here on.
    public func close() throws(StoreError) {
        let blocks: [Int: KeyBlock]? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.blocks
        }
        guard let blocks else { return }
        returnKeys(blocks)
        try storage.close()
    }

    // MARK: Access to the storage

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func requireOpen() throws(StoreError) {
        // Each read calls this function, so values are copied out of the lock only for an error.
        guard state.withLock({ $0.isClosed || $0.failure != nil }) else { return }
        let (isClosed, failure) = state.withLock { ($0.isClosed, $0.failure) }
        if isClosed { throw StoreError(.closed, "The store '\(location)' was closed.") }
        if let failure { throw .abandonedLoadRemains(in: location, after: failure) }
    }

    func requireWritable() throws(StoreError) {
        try requireOpen()
        if isReadOnly { throw StoreError(.readOnly, "The store '\(location)' was opened read-only.") }
    }

    /// Takes the writer lock of an unpublished store, and waits until a load in parts has ended.
    ///
    /// Such a load releases the storage's own lock between two parts, but holds this lock.
    func takePartsPlace() throws(StoreError) {
        guard let partsPlace else { return }
        // A timeout above one year, or of NaN seconds, becomes one year.
        let seconds = options.timeoutSeconds.isNaN ? 31_536_000 : min(max(options.timeoutSeconds, 0), 31_536_000)
        guard partsPlace.wait(timeout: .now() + seconds) == .success else {
            throw StoreError(.busy, "A load into '\(location)' is under way; wait until it is finished or abandoned.")
        }
    }

    func leavePartsPlace() { partsPlace?.signal() }

    /// Writes in one transaction, after any load in parts has ended.
    func write<Result: Sendable>(_ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result) throws(StoreError)
        -> Result
    {
        try takePartsPlace()
        defer { leavePartsPlace() }
        return try storage.write(timeoutSeconds: options.timeoutSeconds, body)
    }

    func read() throws(StoreError) -> any KeyValueReader {
        try requireOpen()
        return try storage.read()
    }
}

/// A view that shows only metadata, for snapshots during a load in parts.
final class HiddenContentsReader: KeyValueReader {
    private let base: any KeyValueReader

    init(_ base: any KeyValueReader) { self.base = base }

    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard space == .meta else { return try body(nil) }
        try base.withValue(of: key, in: space, body)
    }

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor {
        space == .meta ? try base.cursor(in: space) : NothingCursor()
    }

    func close() { base.close() }

    private final class NothingCursor: KeyValueCursor {
        var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
        var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
        func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool { false }
        func seek(before key: UnsafeRawBufferPointer?) throws(StoreError) -> Bool { false }
        func next() throws(StoreError) -> Bool { false }
    }
}
