internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue

/// A JSON store that is opened to be read once.
///
/// Snapshots read the document's lists from the file. The first request that needs the whole
/// document reads it into memory, where it stays until the store is closed.
final class StreamedJSONStore: IntegrityCheckingStore {
    private struct State {
        var isClosed = false
        /// The store's lock, which prevents the store from being replaced or removed.
        var lock: StoreLock?
        var whole: KeyValueStore?
    }

    let type: any PersistentStoreType
    let location: StoreLocation
    private let file: DocumentFile
    private let contents: StoreMetadata
    private let openWhole: @Sendable () throws(StoreError) -> KeyValueStore
    private let state: Mutex<State>

    init(
        _ type: JSONStoreType, location: StoreLocation, file: DocumentFile, metadata: StoreMetadata,
        lock: StoreLock?,
        whole: @escaping @Sendable () throws(StoreError) -> KeyValueStore
    ) {
        self.type = type
        self.location = location
        self.file = file
        contents = metadata
        openWhole = whole
        state = Mutex(State(lock: lock))
    }

    deinit { try? close() }

    var model: ManagedObjectModel { contents.model }
    var isReadOnly: Bool { true }

    func metadata() throws(StoreError) -> StoreMetadata {
        try requireOpen()
        return contents
    }

    func snapshot() throws(StoreError) -> any StoreSnapshot {
        try requireOpen()
        try file.requireUnchanged()
        guard let stream = try DocumentStream(file) else { return try whole().snapshot() }
        return DocumentSnapshot(file, stream: stream, spillDirectories: spillDirectories) {
            [self] () throws(StoreError) in
            try requireOpen()
        } whole: { [self] () throws(StoreError) in
            try whole().snapshot()
        }
    }

    private func requireOpen() throws(StoreError) {
        if state.withLock({ $0.isClosed }) { throw closed }
    }

    private func whole() throws(StoreError) -> KeyValueStore {
        try state.withLock { (state) throws(StoreError) in
            if state.isClosed { throw closed }
            if let whole = state.whole { return whole }
            let opened = try openWhole()
            state.whole = opened
            return opened
        }
    }

    func examineIntegrity() throws(StoreError) -> [StoreFinding] { try whole().integrityFindings() }

    func byteCount() throws(StoreError) -> Int {
        try requireOpen()
        return file.byteCount
    }

    func close() throws(StoreError) {
        let taken = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state
        }
        taken.lock?.release()
        try taken.whole?.close()
    }

    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> { throw try readOnly() }
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { throw try readOnly() }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { throw try readOnly() }

    private func readOnly() throws(StoreError) -> StoreError {
        try requireOpen()
        return StoreError(.readOnly, "The store '\(location)' was opened read-only.")
    }

    private var closed: StoreError { StoreError(.closed, "The store '\(location)' was closed.") }
}
