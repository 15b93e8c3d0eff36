package import RoostCore
package import RoostFiles
internal import RoostKeyValue

/// The type of stores in a JSON document that people can read, compare and edit: `json:path`.
///
/// Opening a store reads the document into memory. With `isReadOnce`, the contents are read from
/// the file if possible. A commit appends its changes to a journal beside the document. Closing the
/// store merges the journal into a new document. The cost of opening and closing grows with the
/// document's size. A store has at most one writer at a time. Each new snapshot of a read-only
/// store includes the latest commits.
///
/// FORMAT.md describes document, journal and every guarantee.
package struct JSONStoreType: FileStoreType {
    package init() {}

    package var name: String { "json" }

    /// All capabilities except `multipleProcesses`.
    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .totalOrder, .persistence, .digest, .uniquenessConstraints, .fetchIndexes, .file, .history)
    }

    package var optionDescriptions: [StoreOptionDescription] { JSONSettings.optionDescriptions }

    package var companionSuffixes: [String] { [JournalFile.suffix] }

    /// The costs, measured with `make bench`.
    package var estimatedCosts: StoreCosts {
        StoreCosts(readingMicroseconds: 0.6, writingMicroseconds: 0.6)
    }

    /// Returns whether the file begins with `{"format": "roost-json"`, with any spacing.
    package func recognizes(fileAt path: String) -> Bool {
        StoreFile.read(prefix: DocumentFormat.prefixByteCount, of: path).map(DocumentFormat.isRecognized) ?? false
    }

    /// Opens a store.
    ///
    /// Throws `busy` if the store is opened for writing and another writer keeps it open for longer
    /// than the timeout.
    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        let opening = try JSONOpening(location, options: options)
        if options.isReadOnce, let store = try opening.openStreamed() { return store }
        return try KeyValueStore(opening: try opening.open(), type: self, location: location, options: options)
    }

    package func requireValid(_ options: StoreOptions) throws(StoreError) { _ = try JSONSettings(options) }

    /// Creates a store that can be recognized and destroyed even if a later step fails.
    package func createUnpublished(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        var options = options
        let uuid = options.storeUUID ?? StoreUUID()
        options.storeUUID = uuid
        let storage = try JSONStorage(
            creatingAt: StoreFile.absolutePath(location.path), settings: try JSONSettings(options), storeUUID: uuid)
        do throws(StoreError) {
            let store = try KeyValueStore(
                creating: storage, type: self, location: location, model: model, options: options)
            try storage.sync()
            return UnpublishedJSONStore(store, storage: storage)
        } catch {
            // The next writer that opens a store at this path removes temporary files that remain.
            for file in [location.path, StoreLock.path(forStoreAt: location.path)] { try? StoreFile.remove(file) }
            throw error
        }
    }

    /// Checks, before a store is removed, that the journal beside it belongs to the store.
    ///
    /// If the store is kept, nothing is checked here, because opening the store checks more.
    package func requireOwnCompanions(besideStoreAt path: String, isKept: Bool) throws(StoreError) {
        if !isKept { try JournalRecovery.requireOwnToRemove(besideStoreAt: path) }
    }

    /// Merges the journal into the document of a store that was not closed.
    package func settle(storeAt path: String, under lock: StoreLock) throws(StoreError) {
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: path + JournalFile.suffix, forWriting: true)
        } catch {
            guard error.code == .notFound else { throw error }
            return
        }
        let location = StoreLocation(type: name, path: path)
        try JSONOpening(location, options: StoreOptions()).open(under: lock).close()
    }
}

extension JSONStoreType: DocumentStoreType {
    package func maximumDocumentByteCount(_ typeOptions: [String: String]) throws(StoreError) -> Int {
        try JSONSettings(StoreOptions(typeOptions: typeOptions)).maximumDocumentBytes
    }
}
