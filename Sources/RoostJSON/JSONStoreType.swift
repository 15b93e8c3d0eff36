public import RoostCore
internal import RoostFiles
internal import RoostKeyValue

/// Stores in one JSON document that people can read, compare and edit: `json:path`.
///
/// The document is read into memory when the store is opened: for reading and writing it is as fast as a store in memory, for
/// opening and closing it costs what its size is. A commit appends what it changed to a journal beside the document, which is
/// folded into a new document when the store is closed. One program may have it open for writing; others read it as it was
/// when they opened it.
///
/// ``optionDescriptions`` tells the options; FORMAT.md describes document, journal and every guarantee.
public struct JSONStoreType: PersistentStoreType {
    /// Makes the type.
    public init() {}

    /// `json`.
    public var name: String { "json" }

    /// Everything but several writers.
    public var capabilities: StoreCapabilities {
        StoreCapabilities(.writing, .persistence, .digest, .uniquenessConstraints, .fetchIndexes, .file)
    }

    /// The largest document, and when the journal is folded.
    public var optionDescriptions: [StoreOptionDescription] { JSONSettings.optionDescriptions }

    /// `-journal`.
    public var companionSuffixes: [String] { [JournalFile.suffix] }

    /// Whether the file begins with `{"format": "roost-json"`.
    public func recognises(fileAt path: String) -> Bool {
        StoreFile.read(prefix: DocumentFormat.prefixByteCount, of: path).map(DocumentFormat.isRecognised) ?? false
    }

    /// Opens a store; throws `busy` when it is open for writing elsewhere for longer than the
    /// timeout, and this is for writing too.
    public func open(_ url: StoreURL, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        let opening = try JSONOpening(url, options)
        if options.isReadOnce, let store = try opening.openStreamed() { return store }
        return try KeyValueStore(opening: try opening.open(), type: self, url: url, options: options)
    }

    /// Creates a store under a temporary name and gives it its own when it is complete and flushed.
    public func create(
        _ url: StoreURL, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try options.requireWritable()
        _ = try JSONSettings(options)
        if options.isUnpublished { return try createUnpublished(url, model, options) }
        try StoreFile.requireAbsent(at: url.path)
        // A journal without its document holds commits that only their owner can judge.
        try StoreFile.requireNoCompanions(of: url.path, [JournalFile.suffix])
        try StoreFile.refuseNetworkFileSystem(at: url.path)
        let temporary = StoreURL(type: url.type, path: StoreFile.temporarySibling(of: url.path))
        // Held until the file has its name: what is locked is not swept away.
        let lock = try StoreLock.acquire(forStoreAt: temporary.path, .shared, timeoutSeconds: 0)
        defer { lock.release() }
        do throws(StoreError) {
            var unpublished = options
            unpublished.isUnpublished = true
            try createUnpublished(temporary, model, unpublished).close()
            try StoreFile.requireNoCompanions(of: url.path, [JournalFile.suffix])
            try StoreFile.publish(temporary.path, as: url.path, overwriting: false)
        } catch {
            throw Self.removing(temporary.path, after: error)
        }
        return try open(url, options: options)
    }

    private func createUnpublished(
        _ url: StoreURL, _ model: ManagedObjectModel, _ options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        var options = options
        let uuid = options.storeUUID ?? StoreUUID()
        options.storeUUID = uuid
        let storage = try JSONStorage(
            creatingAt: StoreFile.absolutePath(url.path), try JSONSettings(options), storeUUID: uuid)
        do throws(StoreError) {
            let store = try KeyValueStore(creating: storage, type: self, url: url, model: model, options: options)
            // From here on the file is one that can be recognised, and so destroyed, whatever happens.
            try storage.sync()
            return UnpublishedJSONStore(store, storage)
        } catch {
            throw Self.removing(url.path, after: error)
        }
    }

    /// Removes a store that could not be completed.
    ///
    /// The first error is the one to tell; the next open sweeps what stays.
    private static func removing(_ path: String, after error: StoreError) -> StoreError {
        for file in [path, StoreLock.path(forStoreAt: path)] { try? StoreFile.remove(file) }
        return error
    }

    /// Removes the store, its journal, its lock file, and the link that `url` names if it is one.
    public func destroy(_ url: StoreURL) throws(StoreError) {
        try StoreFile.removeStore(at: url.path, companions: companionSuffixes, isStore: recognises) {
            (path) throws(StoreError) in try JournalReader.requireOwnToRemove(besideStoreAt: path)
        }
    }

    /// Puts the closed store at `source` in the place of `destination`, atomically.
    public func replace(
        _ destination: StoreURL, with source: StoreURL, overwriting: Bool
    ) throws(StoreError) {
        let (origin, target) = (StoreFile.resolvingLink(source.path), StoreFile.resolvingLink(destination.path))
        try StoreFile.requireRegularFile(at: origin, forWriting: true)
        guard !StoreFile.sameFile(origin, target) else {
            throw StoreError(.invalidRequest, "'\(target)' cannot be replaced with itself.")
        }
        // Before the locks: beside a file that is not a store no lock file is made.
        try requireRecognised(origin)
        if try !exists(target) {
            try StoreFile.requireAbsent(at: target)
        } else if overwriting {
            try requireRecognised(target)
        }
        // Once more under the locks, so that no other program puts another file there meanwhile.
        let originLock = try StoreLock.acquire(forStoreAt: origin, .exclusive, timeoutSeconds: 0)
        defer { originLock.release() }
        try requireRecognised(origin)
        let targetLock = try StoreLock.acquire(forStoreAt: target, .exclusive, timeoutSeconds: 0)
        defer { targetLock.release() }
        if try exists(target) {
            guard overwriting else {
                throw StoreError(
                    .alreadyExists, "'\(target)' exists already; allow overwriting or choose another name.")
            }
            try requireRecognised(target)
            try StoreFile.requireOneName(ofStoreAt: target, forWriting: true)
            try settle(target, targetLock)
        } else {
            try StoreFile.removeLeftovers(of: target, [JournalFile.suffix])
        }
        // A journal beside either would be taken for the other's after the renaming.
        try StoreFile.requireOneName(ofStoreAt: origin, forWriting: true)
        try settle(origin, originLock)
        try StoreFile.syncFile(at: origin)
        try StoreFile.publish(origin, as: target, overwriting: overwriting)
    }

    /// Folds the journal of a store that was not closed, under the store's lock, which is held exclusively.
    private func settle(_ path: String, _ lock: StoreLock) throws(StoreError) {
        try StoreFile.requirePlainCompanions(companionSuffixes, ofStoreAt: path)
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: path + JournalFile.suffix, forWriting: true)
        } catch {
            guard error.code == .notFound else { throw error }
            return
        }
        let url = StoreURL(type: name, path: path)
        try JSONOpening(url, StoreOptions()).open(under: lock).close()
    }

    private func exists(_ path: String) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: path, forWriting: false)
            return true
        } catch  where error.code == .notFound || error.code == .missingDirectory {
            return false
        }
    }

    /// Refuses a file that is no store, so that nothing else is removed or replaced.
    private func requireRecognised(_ path: String) throws(StoreError) {
        try StoreFile.requireRegularFile(at: path, forWriting: false)
        guard recognises(fileAt: path) else {
            throw StoreError(
                .notAStore,
                "'\(path)' is no JSON store of Roost, so it was left alone; remove it by hand if it is not needed.")
        }
    }
}

extension JSONStoreType: DocumentStoreType {
    package func maximumDocumentByteCount(_ typeOptions: [String: String]) throws(StoreError) -> Int {
        try JSONSettings(StoreOptions(typeOptions: typeOptions)).maximumDocumentBytes
    }
}
