internal import RoostCore
internal import RoostKeyValue

/// A JSON store that is not published at its path yet.
///
/// If possible, a load writes the document directly. Everything else uses the key-value engine.
final class UnpublishedJSONStore: IntegrityCheckingStore, HistoryKeepingStore {
    private let base: KeyValueStore
    private let storage: JSONStorage

    init(_ base: KeyValueStore, storage: JSONStorage) {
        self.base = base
        self.storage = storage
    }

    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        // A load that writes the document directly records no history.
        guard try storage.isUntouched(), try !base.recordsHistory(),
            let loader = try DocumentLoader(base, storage: storage, options: options)
        else { return try base.bulkLoader(options) }
        return loader
    }

    /// Returns a view, which reads the document if a load wrote the document directly.
    func snapshot() throws(StoreError) -> any StoreSnapshot {
        guard try storage.isOnlyInDocument() else { return try base.snapshot() }
        let stream: DocumentStream?
        let file: DocumentFile
        do throws(StoreError) {
            file = try DocumentFile(at: storage.path)
            stream = try DocumentStream(file)
        } catch {
            throw DocumentDraft.unreadable(storage.path, error: error)
        }
        guard let stream else { return try base.snapshot() }
        return DocumentSnapshot(file, stream: stream, spillDirectories: spillDirectories) {
            [storage] () throws(StoreError) in
            try storage.requireOpen()
        } whole: { [location, settings = storage.settings] () throws(StoreError) in
            do throws(StoreError) {
                return try DocumentReader.store(file, location: location, settings: settings).snapshot()
            } catch {
                throw DocumentDraft.unreadable(file.path, error: error)
            }
        }
    }

    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }
    func removeHistory(_ bound: HistoryBound) throws(StoreError) { try base.removeHistory(bound) }
    func importHistory(_ entries: any HistoryEntries, at generation: Generation) throws(StoreError) {
        try base.importHistory(entries, at: generation)
    }
    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { try base.commit(changes) }
    func examineIntegrity() throws(StoreError) -> [StoreFinding] { try base.examineIntegrity() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func close() throws(StoreError) { try base.close() }
}
