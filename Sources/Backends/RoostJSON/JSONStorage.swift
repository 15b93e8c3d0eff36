internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue
internal import RoostMemory

/// Ordered key-value storage in memory, persisted in a JSON document and a journal beside it.
///
/// FORMAT.md describes both. A commit appends its changes to the journal. If the journal would
/// exceed its limit or is unusable after an error, the commit writes a new document instead.
/// Commits to an unpublished store stay in memory until ``sync()`` or ``close()``. Any thread may
/// use the storage.
final class JSONStorage: OrderedKeyValueStorage, CommitSignaling {
    /// The document's path with symbolic links resolved.
    let path: String
    let settings: JSONSettings
    let storeUUID: StoreUUID
    /// The committed contents, or nil while they are only in the document.
    private let contents: Mutex<MemoryStorage?>
    /// The files, or nil after they were closed.
    ///
    /// A commit holds the lock until its changes are on the disk.
    let files: Mutex<StoreFiles?>
    private let isClosed = Mutex(false)

    /// The state that is needed to read later commits, or nil for a writer.
    private let following: JSONOpening.Following?

    init(
        path: String, settings: JSONSettings, storeUUID: StoreUUID, base: MemoryStorage, files: sending StoreFiles,
        following: JSONOpening.Following? = nil
    ) {
        self.following = following
        self.path = path
        self.settings = settings
        self.storeUUID = storeUUID
        contents = Mutex(base)
        self.files = Mutex(files)
    }

    /// Returns the committed contents, after reading them into memory if necessary.
    func base() throws(StoreError) -> MemoryStorage { try base(requiresOpen: true) }

    /// Returns the committed contents even if ``close()`` has begun.
    func baseWhileClosing() throws(StoreError) -> MemoryStorage { try base(requiresOpen: false) }

    private func base(requiresOpen: Bool) throws(StoreError) -> MemoryStorage {
        try contents.withLock { (contents) throws(StoreError) in
            if let contents { return contents }
            // `close()` drops the contents. They must not be read again after it.
            if requiresOpen { try requireOpen() }
            do throws(StoreError) {
                let location = StoreLocation(type: JSONStoreType().name, path: path)
                let loaded = try DocumentReader.load(try DocumentFile(at: path), location: location, settings: settings)
                    .storage
                contents = loaded
                return loaded
            } catch {
                throw DocumentDraft.unreadable(path, error: error)
            }
        }
    }

    func isOnlyInDocument() throws(StoreError) -> Bool {
        try requireOpen()
        return contents.withLock { $0 == nil }
    }

    func forgetContents() {
        let forgotten = contents.withLock { $0.take() }
        // Views of the contents keep the data that they need.
        try? forgotten?.close()
    }

    /// Creates an empty storage in a new file at `path`.
    ///
    /// ``sync()`` or ``close()`` writes its document.
    convenience init(creatingAt path: String, settings: JSONSettings, storeUUID: StoreUUID) throws(StoreError) {
        try StoreFile.requireAbsent(at: path)
        try StoreFile.refuseNetworkFileSystem(at: path)
        let lock = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: settings.timeoutSeconds)
        do throws(StoreError) {
            let writerLock = try WriterLock(forStoreAt: path)
            try writerLock.lock(timeoutSeconds: 0)
            try StoreFile.createExclusive(at: path)
            let document = DocumentState(
                version: DocumentVersion(high: 0, low: 0, byteCount: 0), generation: .initial,
                file: try FileIdentity(at: path))
            self.init(
                path: path, settings: settings, storeUUID: storeUUID, base: MemoryStorage(),
                files: StoreFiles(lock: lock, writerLock: writerLock, document: document))
        } catch {
            // If no store was created, the new lock file is removed.
            if !StoreFile.hasEntry(at: path), (try? lock.change(to: .exclusive, timeoutSeconds: 0)) != nil {
                try? lock.releaseRemovingFile()
            }
            lock.release()
            throw error
        }
    }

    struct StoreFiles {
        var lock: StoreLock?
        var writerLock: WriterLock?
        /// The document as it was last read or written.
        var document: DocumentState
        var journal: JournalFile?
        /// Whether the document already contains the journal's frames, but the journal file still
        /// exists.
        var isJournalFolded = false
        /// The number of journal bytes that a reader has read; 0 for a writer.
        var readByteCount = 0
        /// The number of bytes of an incomplete commit at the journal's end.
        var tornByteCount = 0
        /// The journal that a reader has read.
        var readJournal: ReadJournal?
        /// The error that prevents writing until the store is opened again, or nil.
        var failure: StoreError?
        /// Whether an unpublished store has changes that its document lacks.
        var isDirty = false
    }

    struct ReadJournal {
        var state: JournalState
        /// The identity of the file when it was read, or nil if the file changed meanwhile.
        var file: FileIdentity?
    }

    struct DocumentState {
        var version: DocumentVersion
        var generation: Generation
        /// The check of the last journal frame that was merged into the document, or nil.
        var foldedJournal: UInt64?
        /// The identity of the file at the store's path.
        var file: FileIdentity
    }

    /// The store's lock, or nil if this storage does not hold it.
    var commitSignal: (any CommitSignal)? { files.withLock { $0?.lock } }

    /// The maximum size of a key: 511 bytes, as in LMDB.
    var maximumKeyByteCount: Int { MemoryStorage.maximumKeyByteCount }

    /// The format version of documents that require no features.
    var formatVersion: Int { DocumentFormat.version }

    /// Always true, because reading compares the document and the journal's frames with their
    /// checksums.
    var holdsCheckedMemory: Bool { true }

    /// Returns a view of the committed contents.
    ///
    /// A read-only storage first looks for later commits, with two system calls, and reads them.
    func read() throws(StoreError) -> any KeyValueReader {
        try requireOpen()
        if let following { try follow(following) }
        return try base().read()
    }

    private func follow(_ following: JSONOpening.Following) throws(StoreError) {
        let journalPath = path + JournalFile.suffix
        try withFiles { (files) throws(StoreError) in
            let document: FileIdentity
            do throws(StoreError) { document = try FileIdentity(at: path) } catch {
                throw StoreError(
                    .storeReplaced, "'\(path)' was removed or renamed while it was open. Close the store.",
                    underlying: error)
            }
            let journal: FileIdentity?
            do throws(StoreError) { journal = try FileIdentity(at: journalPath) } catch {
                guard error.code == .notFound else { throw error }
                journal = nil
            }
            let isSameDocument = document.isUnchanged(since: files.document.file)
            if isSameDocument, let journal, let known = files.readJournal?.file {
                if journal.isUnchanged(since: known) { return }
                if try readOn(journal, known: known, files: &files) { return }
            } else if isSameDocument, journal == nil, files.readJournal == nil {
                return
            }
            let (storage, new) = try following.read(storeUUID)
            (files.document, files.readJournal) = (new.document, new.readJournal)
            (files.readByteCount, files.tornByteCount) = (new.readByteCount, new.tornByteCount)
            // Snapshots of the former contents keep the data that they need.
            let former = contents.withLock { contents in
                defer { contents = storage }
                return contents
            }
            try former?.close()
        }
    }

    /// Reads the commits appended to the journal since the last read, or returns false if
    /// everything must be read again.
    private func readOn(
        _ journal: FileIdentity, known: FileIdentity, files: inout StoreFiles
    ) throws(StoreError) -> Bool {
        guard journal == known, let read = files.readJournal, read.state.relation == .applied,
            journal.byteCount >= read.state.endOffset
        else { return false }
        let state: JournalState
        do throws(StoreError) {
            let file = try RegularFile(at: path + JournalFile.suffix)
            guard try file.identity() == known else { return false }
            state = try JournalRecovery(file, path: path + JournalFile.suffix).replay(
                into: try base(), after: read.state)
        } catch {
            // If the journal is damaged, reading everything again reports the damage.
            return false
        }
        // This identity was taken before the journal was opened. So the next call detects every
        // write after that.
        files.readJournal = ReadJournal(state: state, file: journal)
        (files.readByteCount, files.tornByteCount) = (state.endOffset, state.tornByteCount)
        return true
    }
    func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite {
        while true {
            try requireOpen()
            if settings.isReadOnly {
                throw StoreError(.readOnly, "'\(path)' was opened read-only; open it for writing.")
            }
            let memory = try base()
            let write = try memory.beginLongWrite(timeoutSeconds: timeoutSeconds)
            // During the wait, a load may have written the document and dropped the contents in
            // memory.
            if contents.withLock({ $0 === memory }) { return JSONLongWrite(self, base: write) }
            write.abort()
        }
    }

    /// Writes the document of an unpublished store.
    ///
    /// Commits to a published store are already durable.
    func sync() throws(StoreError) {
        try withFiles { (files) throws(StoreError) in
            if files.isDirty { try writeUnpublishedDocument(&files) }
        }
    }

    /// Returns the size of document and journal in bytes.
    func byteCount() throws(StoreError) -> Int {
        try withFiles { (files) throws(StoreError) in
            files.document.file.byteCount + files.readByteCount
                + (files.isJournalFolded ? 0 : files.journal?.endOffset ?? 0)
        }
    }

    /// Checks the trees in memory, and whether another program changed or replaced the files.
    func integrityFindings() throws(StoreError) -> [StoreFinding] {
        var findings = try base().integrityFindings()
        try withFiles { (files) throws(StoreError) in
            if files.tornByteCount > 0 {
                findings.append(
                    StoreFinding(
                        .warning,
                        message:
                            "The journal of '\(path)' ended with \(files.tornByteCount) bytes of an incomplete commit that was never acknowledged; the store is complete without it."
                    ))
            }
            guard !settings.isReadOnly, !settings.isUnpublished else { return }
            do throws(StoreError) {
                try requireCurrent(files)
            } catch  where error.code == .hasOtherNames {
                findings.append(StoreFinding(.warning, message: error.message))
            } catch {
                findings.append(StoreFinding(.damage, message: error.message))
            }
        }
        return findings
    }

    /// Merges the journal into the document if the store is writable, and closes the files.
    ///
    /// - Throws: The error that prevented the merge. The files of a published store then hold all
    ///   acknowledged commits.
    func close() throws(StoreError) {
        isClosed.withLock { $0 = true }
        let taken = files.withLock { files in
            defer { files = nil }
            return files
        }
        guard var taken else { return }
        defer {
            taken.journal = nil
            taken.writerLock?.close()
            taken.lock?.release()
            // Errors of closing the memory are ignored, because errors of the files matter more.
            forgetContents()
        }
        if taken.isDirty {
            try writeUnpublishedDocument(&taken)
        } else if taken.journal != nil {
            do throws(StoreError) { try settle(&taken) } catch { throw keptInJournal(error, files: taken) }
        }
    }

    /// Returns the error of a failed merge, if possible with advice.
    private func keptInJournal(_ failure: StoreError, files: StoreFiles) -> StoreError {
        guard files.failure == nil, !files.isJournalFolded else { return failure }
        if failure.code == .hasOtherNames {
            return failure.withMessage(
                "\(failure.message) Every commit is safe in the journal '\(path)\(JournalFile.suffix)' as long as both files stay together."
            )
        }
        guard failure.code == .noSpace else { return failure }
        return failure.withMessage(
            "The journal '\(path)\(JournalFile.suffix)' cannot be folded into '\(path)': the disk or the quota is full, or a limit of file size is reached. Every commit in it is safe as long as both files stay together. Make room; the next program that closes the store after writing then folds the journal."
        )
    }

    deinit {
        // If the store is deallocated without `close()`, the next open replays the journal.
        files.withLock { files in
            files?.writerLock?.close()
            files?.lock?.release()
        }
    }

    func requireOpen() throws(StoreError) {
        if isClosed.withLock({ $0 }) { throw closed }
    }

    /// Runs `body` with exclusive access to the files.
    func withFiles<Result>(_ body: (inout StoreFiles) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try files.withLock { (files) throws(StoreError) in
            guard files != nil else { throw closed }
            return try Self.unwrapping(&files, body)
        }
    }

    private static func unwrapping<Result>(
        _ files: inout StoreFiles?, _ body: (inout StoreFiles) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard var taken = files.take() else { throw StoreError(.closed, "The store was closed before.") }
        defer { files = taken }
        return try body(&taken)
    }

    private var closed: StoreError { StoreError(.closed, "'\(path)' was closed before.") }
}
