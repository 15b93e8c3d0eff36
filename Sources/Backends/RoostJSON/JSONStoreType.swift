package import RoostCore
package import RoostFiles
internal import RoostKeyValue

/// Stores in one JSON document that people can read, compare and edit: `json:path`.
///
/// The document is read into memory when the store is opened. Reading and writing are as fast as in
/// a store in memory; the cost of opening and closing grows with the size of the document. A commit
/// appends its changes to a journal beside the document, which is folded into a new document when
/// the store is closed. One program may have the store open for writing. Readers see it as it was
/// when they opened it.
///
/// ``optionDescriptions`` lists the options; FORMAT.md describes document, journal and every
/// guarantee.
package struct JSONStoreType: FileStoreType {
    /// Makes the type.
    package init() {}

    /// `json`.
    package var name: String { "json" }

    /// Everything but several writers.
    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            .writing, .totalOrder, .persistence, .digest, .uniquenessConstraints, .fetchIndexes, .file, .history)
    }

    /// The largest document, and when the journal is folded.
    package var optionDescriptions: [StoreOptionDescription] { JSONSettings.optionDescriptions }

    /// `-journal`.
    package var companionSuffixes: [String] { [JournalFile.suffix] }

    /// Measured with `make bench`.
    package var estimatedCosts: StoreCosts {
        StoreCosts(readingMicroseconds: 0.6, writingMicroseconds: 0.6)
    }

    /// Whether the file begins with `{"format": "roost-json"`.
    package func recognizes(fileAt path: String) -> Bool {
        StoreFile.read(prefix: DocumentFormat.prefixByteCount, of: path).map(DocumentFormat.isRecognized) ?? false
    }

    /// Opens a store; throws `busy` when it is open for writing elsewhere for longer than the
    /// timeout, and this is for writing too.
    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        let opening = try JSONOpening(location, options: options)
        if options.isReadOnce, let store = try opening.openStreamed() { return store }
        return try KeyValueStore(opening: try opening.open(), type: self, location: location, options: options)
    }

    /// Checks the settings.
    package func requireValid(_ options: StoreOptions) throws(StoreError) { _ = try JSONSettings(options) }

    /// Creates a store whose document can be recognized, and so destroyed, even if a later step
    /// fails.
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
            // Report the first error; the next open sweeps what stays.
            for file in [location.path, StoreLock.path(forStoreAt: location.path)] { try? StoreFile.remove(file) }
            throw error
        }
    }

    /// Checks that the journal beside a store that is removed belongs to it.
    ///
    /// A store to keep is opened, which checks more.
    package func requireOwnCompanions(besideStoreAt path: String, isKept: Bool) throws(StoreError) {
        if !isKept { try JournalRecovery.requireOwnToRemove(besideStoreAt: path) }
    }

    /// Folds the journal of a store that was not closed.
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
