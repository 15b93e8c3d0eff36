internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue
internal import RoostMemory

/// A write transaction that spans several calls.
final class JSONLongWrite: KeyValueLongWrite {
    private let storage: JSONStorage
    private let base: any KeyValueLongWrite
    private let operations: Mutex<JournalOperations>
    /// Whether the transaction failed or ended, so that it can only be aborted.
    private var isOver = false

    init(_ storage: JSONStorage, base: any KeyValueLongWrite) {
        self.storage = storage
        self.base = base
        // Beyond the journal's limit, a new document is written, so no operations are recorded. An
        // unpublished store has no journal.
        operations = Mutex(JournalOperations(limit: storage.settings.isUnpublished ? 0 : storage.journalLimit))
    }

    func perform<Result: Sendable>(
        _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        do throws(StoreError) {
            return try base.perform { [operations] (writer) throws(StoreError) in
                let recorder = RecordingWriter(writer, operations: operations.withLock { $0.take() })
                let result = try body(recorder)
                operations.withLock { $0 = recorder.operations }
                return result
            }
        } catch {
            isOver = true
            throw error
        }
    }

    func commit() throws(StoreError) {
        guard !isOver else {
            throw StoreError(.closed, "The write transaction was committed, aborted, or failed before.")
        }
        // After an error, the operations are lost, so the transaction can only be aborted.
        isOver = true
        try storage.commit(operations.withLock { $0.take() }, write: base)
    }

    func abort() {
        isOver = true
        base.abort()
    }
}

extension JSONStorage {
    var journalLimit: Int {
        files.withLock { settings.journalLimit($0?.document.file.byteCount ?? 0) }
    }

    /// Commits a transaction.
    ///
    /// If the store is published, the transaction becomes durable before it becomes visible.
    ///
    /// - Throws: `outcomeUnknown` if the transaction may have been written; it is then not visible,
    ///   and later commits fail. After any other error, the transaction was not written.
    func commit(_ operations: JournalOperations, write: any KeyValueLongWrite) throws(StoreError) {
        // The lock is held throughout. Otherwise, another thread could close the store between the
        // write to the disk and the commit in memory.
        try withFiles { (files) throws(StoreError) in
            if settings.isUnpublished {
                files.isDirty = files.isDirty || !operations.isEmpty
            } else if !operations.isEmpty {
                try persist(operations, write: write, files: &files)
            }
            try write.commit()
        }
    }

    private func persist(
        _ operations: JournalOperations, write: any KeyValueLongWrite, files: inout StoreFiles
    ) throws(StoreError) {
        if let failure = files.failure { throw failure }
        try requireCurrent(files)
        if files.isJournalFolded { try removeJournal(&files) }
        let limit = settings.journalLimit(files.document.file.byteCount)
        let end = files.journal?.endOffset ?? JournalHeader.byteCount
        let payload = operations.payload
        let fits = !operations.isOverLimit && end + JournalFrame.headByteCount + payload.count <= limit
        if fits, files.journal?.failure == nil {
            try append(payload, files: &files)
        } else {
            // The transaction's own view contains all committed data and the transaction's changes.
            let chain = files.journal?.chain
            let draft = try write.perform { [path, settings] (writer) throws(StoreError) in
                try DocumentDraft.write(from: writer, for: path, settings: settings, folding: chain)
            }
            do throws(StoreError) { try publish(draft, files: &files) } catch {
                guard let failure = files.failure else { throw error }
                // The document at the path contains the transaction, but a power cut may bring back the old
                // document.
                throw failure.withMessage(failure.message, code: .outcomeUnknown)
            }
        }
    }

    private func append(_ payload: [UInt8], files: inout StoreFiles) throws(StoreError) {
        do throws(StoreError) {
            if let journal = files.journal { return try journal.append(payload) }
            let header = JournalHeader(
                storeUUID: storeUUID, document: files.document.version, generation: files.document.generation)
            files.journal = try JournalFile(
                at: path + JournalFile.suffix, beside: path, header: header, payload: payload)
        } catch  where error.code == .outcomeUnknown {
            // The next open shows whether the commit was made. Until then, no other commit may follow.
            files.failure = StoreError(
                .ioFailure,
                "A commit to '\(path)' failed with an unknown outcome, so nothing more is written; close the store and open it again.",
                underlying: error)
            throw error
        }
    }

    /// Throws `storeReplaced` if another program changed the document or the journal, and
    /// `hasOtherNames` if the document has another hard link.
    func requireCurrent(_ files: StoreFiles) throws(StoreError) {
        let now: FileIdentity
        do throws(StoreError) { now = try FileIdentity(at: path) } catch {
            throw StoreError(
                .storeReplaced,
                "'\(path)' was removed or renamed while it was open; what was committed since it was opened is in its journal. Close the store.",
                underlying: error)
        }
        guard now.isUnchanged(since: files.document.file) else {
            throw StoreError(
                .storeReplaced,
                "Another program edited or replaced '\(path)' while it was open, so nothing is written over it; what was committed meanwhile is in the journal beside it. Close the store and open it anew."
            )
        }
        guard now.linkCount <= 1 else { throw StoreFile.hasOtherNames(path, now) }
        if let journal = files.journal, !files.isJournalFolded { try journal.requireCurrent() }
    }

    // MARK: Documents

    /// Writes a document with all committed data, and removes the journal.
    func settle(_ files: inout StoreFiles) throws(StoreError) {
        if let failure = files.failure { throw failure }
        if files.isJournalFolded { return try removeJournal(&files) }
        try requireCurrent(files)
        let reader = try baseWhileClosing().read()
        defer { reader.close() }
        let draft = try DocumentDraft.write(from: reader, for: path, settings: settings, folding: files.journal?.chain)
        try publish(draft, files: &files)
        if files.isJournalFolded { try removeJournal(&files) }
    }

    func writeUnpublishedDocument(_ files: inout StoreFiles) throws(StoreError) {
        let reader = try baseWhileClosing().read()
        defer { reader.close() }
        let draft = try DocumentDraft.write(from: reader, for: path, settings: settings, folding: nil)
        do throws(StoreError) {
            // A load verifies only the contents in memory, so the document is read back here.
            try draft.verify()
        } catch {
            draft.discard()
            throw error
        }
        try publish(draft, files: &files)
        files.isDirty = false
    }

    /// Returns whether the store is unpublished and has not changed since its creation.
    func isUntouched() throws(StoreError) -> Bool {
        try withFiles { files in settings.isUnpublished && !files.isDirty && files.document.generation == .initial }
    }

    /// Moves the document of a load to the store's path, and drops the contents in memory.
    func publishLoaded(_ draft: DocumentDraft) throws(StoreError) {
        try withFiles { (files) throws(StoreError) in
            try publish(draft, files: &files)
            forgetContents()
        }
    }

    /// Moves a finished document to the store's path.
    private func publish(_ draft: DocumentDraft, files: inout StoreFiles) throws(StoreError) {
        do throws(StoreError) {
            // The changes of another program must not be overwritten.
            try requireCurrent(files)
            try StoreFile.publish(draft.path, as: path, overwriting: true)
        } catch {
            draft.discard()
            guard (try? FileIdentity(at: path)) == draft.file else { throw error }
            // The path refers to the new document, but a power cut may bring back the old one with
            // its journal.
            files.failure = error.withMessage(
                "'\(path)' was replaced by a new version of itself that may not survive a power cut; close the store and open it again. The reason: \(error.message)"
            )
            throw error
        }
        // Renaming changes neither the size nor the modification time, so the draft's identity is still valid.
        files.document = DocumentState(
            version: draft.version, generation: draft.tally.generation, foldedJournal: draft.foldedJournal,
            file: draft.file)
        if files.journal != nil {
            // If the journal file cannot be removed, the next open recognizes it as already merged.
            files.isJournalFolded = true
            try? removeJournal(&files)
        }
    }

    private func removeJournal(_ files: inout StoreFiles) throws(StoreError) {
        let journalPath = path + JournalFile.suffix
        if let journal = files.journal, let now = try? FileIdentity(at: journalPath) {
            guard now == journal.identity else {
                throw StoreError(
                    .storeReplaced,
                    "The journal '\(journalPath)' was replaced by another file; move that file away.")
            }
            try StoreFile.remove(journalPath)
        }
        try StoreFile.syncDirectory(of: path)
        files.journal = nil
        files.isJournalFolded = false
    }
}
