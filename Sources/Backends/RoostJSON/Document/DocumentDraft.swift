internal import RoostCore
internal import RoostFiles
internal import RoostJSONText
internal import RoostKeyValue
internal import RoostText

/// A finished, flushed document in a temporary file beside the store, ready to be published.
struct DocumentDraft: Sendable {
    let path: String
    let file: FileIdentity
    let version: DocumentVersion
    /// The counts and digests of the written content.
    let tally: StoreTally
    let foldedJournal: UInt64?
    /// The lock that keeps other writers from removing the file as a leftover.
    fileprivate let lock: StoreLock

    /// Writes everything that `reader` sees to a new document beside the store at `path`.
    ///
    /// The caller publishes or discards the document. `journal` is the checksum of the last merged
    /// journal frame. After an error, no new file remains.
    static func write(
        from reader: any KeyValueReader, for path: String, settings: JSONSettings, folding journal: UInt64?
    ) throws(StoreError) -> DocumentDraft {
        let unfinished = try UnfinishedDocument(for: path, settings: settings)
        do throws(StoreError) {
            let writer = try DocumentWriter(reader, path: path, output: unfinished.output)
            let version = try writer.write(foldedJournal: journal)
            return try unfinished.finish(version, tally: writer.tally, foldedJournal: journal)
        } catch {
            unfinished.discard()
            throw error
        }
    }

    /// Reads the document back, and throws `verificationFailed` if it cannot be read or its tally
    /// differs from the written content's.
    func verify() throws(StoreError) {
        let found: StoreTally
        do throws(StoreError) {
            found = try DocumentReader.count(
                try DocumentFile(at: path), location: StoreLocation(type: "json", path: path))
        } catch {
            throw Self.unreadable(path, error: error)
        }
        guard found == tally else {
            throw StoreError(
                .verificationFailed,
                "The finished document '\(path)' does not hold what was written. It was discarded; check the disk and try again, or report it."
            )
        }
    }

    static func unreadable(_ path: String, error: StoreError) -> StoreError {
        StoreError(
            .verificationFailed, "The finished document '\(path)' cannot be read back: \(error.message)",
            underlying: error)
    }

    func discard() {
        try? StoreFile.remove(path)
        try? lock.releaseRemovingFile()
    }
}

/// A document that is being written at a temporary path beside the store.
struct UnfinishedDocument {
    let path: String
    let output: DocumentOutput
    private let lock: StoreLock

    /// Creates the file beside the document at `path`.
    init(for path: String, settings: JSONSettings) throws(StoreError) {
        self.path = StoreFile.temporarySibling(of: path)
        lock = try StoreLock.acquire(forStoreAt: self.path, mode: .exclusive, timeoutSeconds: 0)
        do throws(StoreError) {
            try StoreFile.createExclusive(at: self.path)
            output = try DocumentOutput(at: self.path, limit: settings.maximumDocumentBytes, documentPath: path)
        } catch {
            Self.remove(self.path, lock: lock)
            throw error
        }
    }

    func finish(_ version: DocumentVersion, tally: StoreTally, foldedJournal: UInt64?) throws(StoreError)
        -> DocumentDraft
    {
        DocumentDraft(
            path: path, file: try output.finish(), version: version, tally: tally, foldedJournal: foldedJournal,
            lock: lock)
    }

    func discard() { Self.remove(path, lock: lock) }

    /// Removes the file and its lock, ignoring errors.
    ///
    /// The next writer that opens the store removes a leftover file.
    private static func remove(_ path: String, lock: StoreLock) {
        try? StoreFile.remove(path)
        try? lock.releaseRemovingFile()
    }
}

/// A new file that is written from beginning to end.
final class DocumentOutput {
    private static let chunkByteCount = 1 << 18

    private let file: WritableFile
    private let limit: Int
    private let documentPath: String
    private var flushedByteCount = 0
    private var checksum = TextChecksum()
    /// The buffered text that is not written yet.
    ///
    /// After appending, call ``flushIfFull()``.
    // Only one thread uses an output. Code that is changing the text calls no method of the output, so accesses
    // cannot overlap.
    @exclusivity(unchecked) var text: TextBuffer

    init(at path: String, limit: Int, documentPath: String) throws(StoreError) {
        file = try WritableFile(at: path)
        self.limit = limit
        self.documentPath = documentPath
        text = TextBuffer(capacity: Self.chunkByteCount + 4096)
    }

    @inline(__always)
    func flushIfFull() throws(StoreError) {
        if text.count >= Self.chunkByteCount { try flush() }
    }

    private func flush() throws(StoreError) {
        guard flushedByteCount + text.count <= limit else {
            throw StoreError(
                .limitExceeded,
                "The document '\(documentPath)' would have more than \(limit) bytes; raise the option 'maximumDocumentBytes', or convert the store into one of another type."
            )
        }
        try text.withBytes { (bytes) throws(StoreError) in
            try file.write(bytes, at: flushedByteCount)
            checksum.add(bytes)
        }
        flushedByteCount += text.count
        text.removeAll()
    }

    /// Returns the version of the bytes written so far.
    func version() throws(StoreError) -> DocumentVersion {
        try flush()
        let value = checksum.value
        return DocumentVersion(high: value.high, low: value.low, byteCount: flushedByteCount)
    }

    /// Flushes the file to the disk, and returns its identity.
    func finish() throws(StoreError) -> FileIdentity {
        try flush()
        try file.sync()
        return try file.identity()
    }
}
