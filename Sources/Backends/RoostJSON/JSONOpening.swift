internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue
internal import RoostMemory

/// Opens stores.
///
/// All checks precede the first change of the document or the journal.
struct JSONOpening {
    private let location: StoreLocation
    private let path: String
    private let options: StoreOptions
    private let settings: JSONSettings

    init(_ location: StoreLocation, options: StoreOptions) throws(StoreError) {
        self.location = location
        self.options = options
        settings = try JSONSettings(options)
        path = StoreFile.absolutePath(location.path)
    }

    /// Opens the storage.
    ///
    /// `held` is the store's exclusive lock, which the caller later releases. If it is nil, this
    /// method acquires a lock.
    func open(under held: StoreLock? = nil) throws(StoreError) -> JSONStorage {
        try StoreFile.requireRegularFile(at: location.path, forWriting: !settings.isReadOnly)
        if !settings.isReadOnly { try StoreFile.refuseNetworkFileSystem(at: path) }
        try refuseForeignFile()
        var lock: StoreLock?
        var writerLock: WriterLock?
        if settings.isReadOnly {
            if held == nil {
                lock = try StoreLock.acquireForReading(storeAt: path, timeoutSeconds: settings.timeoutSeconds)
            }
        } else {
            (lock, writerLock) = try takeWritersPlace(under: held)
        }
        do throws(StoreError) {
            try requireOneName()
            return try open(lock, writerLock: writerLock)
        } catch {
            writerLock?.close()
            lock?.release()
            throw error
        }
    }

    /// Opens the store for reading it once, or returns nil if it must be read into memory instead.
    ///
    /// Streaming needs a document with a checksum, and no journal. After a read error, this method
    /// returns nil, because reading the store into memory reports the error.
    func openStreamed() throws(StoreError) -> StreamedJSONStore? {
        guard settings.isReadOnly else { return nil }
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: location.path, forWriting: false)
            try refuseForeignFile()
        } catch { return nil }
        let lock = try StoreLock.acquireForReading(storeAt: path, timeoutSeconds: settings.timeoutSeconds)
        do throws(StoreError) {
            try requireOneName()
            let document = try DocumentFile(at: path)
            // The journal is opened after the document. If the document's path still refers to the
            // same file, the journal belongs to the document.
            let hasJournal = try openJournal().identity != nil
            if !hasJournal, try FileIdentity(at: path) == document.identity,
                document.byteCount <= settings.maximumDocumentBytes, let stream = try DocumentStream(document),
                let metadata = stream.head.metadata(), options.model?.isCompatible(with: metadata) ?? true
            {
                return StreamedJSONStore(
                    JSONStoreType(), location: location, file: document, metadata: metadata, lock: lock
                ) {
                    [location, settings] () throws(StoreError) in
                    try DocumentReader.store(document, location: location, settings: settings)
                }
            }
        } catch {}
        lock?.release()
        return nil
    }

    private func requireOneName() throws(StoreError) {
        try StoreFile.requireOneName(
            ofStoreAt: path, forWriting: !settings.isReadOnly, acceptsLinks: options.acceptsLinks,
            companions: [JournalFile.suffix])
    }

    /// Refuses a file that is not a store, before a lock file is created beside it.
    private func refuseForeignFile() throws(StoreError) {
        try JournalRecovery.requireJournal(besideStoreAt: path)
        let document = try DocumentFile(at: path)
        do throws(StoreError) { try DocumentReader.requireRecognized(document) } catch {
            // If another process changed the document during this check, the error may be wrong. The
            // document is checked again later, under the lock.
            guard try !document.isUnchanged() else { throw error }
        }
    }

    /// Becomes the store's only writer, after waiting for the current writer.
    ///
    /// The store's lock is not held during the wait, so another program can get exclusive access.
    private func takeWritersPlace(under held: StoreLock?) throws(StoreError) -> (StoreLock?, WriterLock) {
        var timeout = Timeout(seconds: settings.timeoutSeconds)
        while true {
            let lock =
                held == nil
                ? try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: timeout.secondsLeft) : nil
            do throws(StoreError) {
                let writerLock = try WriterLock(forStoreAt: path)
                try writerLock.lock(timeoutSeconds: 0)
                return (lock, writerLock)
            } catch {
                lock?.release()
                guard error.code == .busy else { throw error }
            }
            guard timeout.wait() else {
                throw timeout.failure(
                    StoreError(
                        .busy,
                        "'\(path)' is open for writing elsewhere, in this process or another, and a JSON store has one writer. Close it there, or open it read-only."
                    ))
            }
        }
    }

    private func open(_ lock: StoreLock?, writerLock: WriterLock?) throws(StoreError) -> JSONStorage {
        let (loaded, files) = try read(lock, writerLock: writerLock)
        return JSONStorage(
            path: path, settings: settings, storeUUID: loaded.metadata.storeUUID, base: loaded.storage, files: files,
            following: settings.isReadOnly ? Following(opening: self, model: loaded.metadata.model) : nil)
    }

    /// The state that a read-only storage needs to read later commits.
    struct Following: Sendable {
        fileprivate let opening: JSONOpening
        fileprivate let model: ManagedObjectModel

        /// Reads the document and the journal again.
        func read(_ storeUUID: StoreUUID) throws(StoreError) -> (MemoryStorage, JSONStorage.StoreFiles) {
            let (loaded, files) = try opening.read(nil, writerLock: nil)
            guard loaded.metadata.storeUUID == storeUUID, model.isCompatible(with: loaded.metadata) else {
                throw StoreError(
                    .storeReplaced,
                    "'\(opening.path)' was replaced by another store, or by one with another model, while it was open. Close the store and open it anew."
                )
            }
            return (loaded.storage, files)
        }
    }

    private func read(
        _ lock: StoreLock?, writerLock: WriterLock?
    ) throws(StoreError) -> (LoadedDocument, JSONStorage.StoreFiles) {
        var timeout = Timeout(seconds: settings.timeoutSeconds)
        while true {
            let document = try DocumentFile(at: path)
            let journal = try openJournal()
            // If the path still refers to this document, document and journal belong together.
            guard try FileIdentity(at: path) == document.identity else { continue }
            let journalIdentity = journal.identity
            do throws(StoreError) {
                var (loaded, files) = try load(document, journal: journal.take(), lock: lock, writerLock: writerLock)
                if let read = files.readJournal?.state,
                    journalIdentity?.byteCount == read.endOffset + read.tornByteCount
                {
                    files.readJournal?.file = journalIdentity
                }
                return (loaded, files)
            } catch {
                // If another program wrote during the read, the error need not mean damage.
                let isSettled = try document.isUnchanged() && isUnchanged(journalIdentity)
                guard !isSettled, timeout.wait() else { throw error }
            }
        }
    }

    private func requireUnchanged(_ document: DocumentFile) throws(StoreError) {
        guard try document.isUnchanged() else {
            throw StoreError(.busy, "'\(path)' was edited by another program while it was read; open it again.")
        }
    }

    // MARK: The journal

    /// The journal and its identity; both are nil if the store has no journal.
    private final class OpenJournal {
        private var file: RegularFile?
        let identity: FileIdentity?

        init(_ file: consuming RegularFile?, identity: FileIdentity?) {
            self.file = file
            self.identity = identity
        }

        func take() -> RegularFile? { file.take() }
    }

    private func openJournal() throws(StoreError) -> OpenJournal {
        try StoreFile.requirePlainCompanions([JournalFile.suffix], ofStoreAt: path)
        do throws(StoreError) {
            let file = try RegularFile(at: path + JournalFile.suffix)
            let identity = try file.identity()
            return OpenJournal(file, identity: identity)
        } catch {
            guard error.code == .notFound else { throw error }
            return OpenJournal(nil, identity: nil)
        }
    }

    /// Returns whether the journal is still unchanged or, for a nil identity, still missing.
    private func isUnchanged(_ identity: FileIdentity?) -> Bool {
        let now = try? FileIdentity(at: path + JournalFile.suffix)
        guard let identity else { return now == nil }
        return now.map { $0.isUnchanged(since: identity) } ?? false
    }

    // MARK: Loading

    private func load(
        _ document: DocumentFile, journal: consuming RegularFile?, lock: StoreLock?, writerLock: WriterLock?
    ) throws(StoreError) -> (LoadedDocument, JSONStorage.StoreFiles) {
        let loaded = try DocumentReader.load(document, location: location, settings: settings)
        try requireModel(loaded)
        var files = JSONStorage.StoreFiles(
            lock: lock, writerLock: writerLock,
            document: JSONStorage.DocumentState(
                version: loaded.version, generation: loaded.generation, foldedJournal: loaded.foldedJournal,
                file: document.identity))
        if let journal {
            let state = try JournalRecovery(journal, path: path + JournalFile.suffix).replay(
                into: loaded.storage, document: loaded.version, storeUUID: loaded.metadata.storeUUID,
                foldedJournal: loaded.foldedJournal)
            if settings.isReadOnly {
                files.tornByteCount = state.tornByteCount
                files.readByteCount = state.relation == .applied ? state.endOffset : 0
                files.readJournal = JSONStorage.ReadJournal(state: state)
            } else {
                try requireUnchanged(document)
                try adopt(state, files: &files)
            }
        }
        // This check must come before the storage is created, because deallocating the storage would
        // release the locks that the next attempt needs.
        try requireUnchanged(document)
        if !settings.isReadOnly {
            StoreFile.sweepTemporarySiblings(of: path, companions: [JournalFile.suffix])
            // If a program crashed right after creating the document, the directory entry may not
            // be durable.
            try StoreFile.syncDirectory(of: path)
        }
        return (loaded, files)
    }

    /// Continues a journal, or removes a journal that adds nothing to the document.
    private func adopt(_ state: JournalState, files: inout JSONStorage.StoreFiles) throws(StoreError) {
        let journalPath = path + JournalFile.suffix
        switch state.relation {
        case .applied: files.journal = try JournalFile(at: journalPath, after: state)
        case .empty, .folded:
            try StoreFile.remove(journalPath)
            try StoreFile.syncDirectory(of: path)
        }
    }

    private func requireModel(_ loaded: LoadedDocument) throws(StoreError) {
        guard let expected = options.model else { return }
        guard expected.isCompatible(with: loaded.metadata) else {
            throw .modelMismatch(path, has: loaded.metadata.model, expected: expected)
        }
    }
}
