internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue
internal import RoostText

/// A finished document under a temporary name beside the store, flushed and waiting for its name.
struct DocumentDraft: Sendable {
    let path: String
    let file: FileIdentity
    let version: DocumentVersion
    /// What was written.
    let tally: StoreTally
    let foldedJournal: UInt64?
    /// What is locked is not swept away.
    private let lock: StoreLock

    /// Writes everything that `reader` shows beside the document at `path`.
    ///
    /// - Parameters:
    ///   - reader: A consistent view of the storage.
    ///   - path: The document's own path.
    ///   - settings: The most bytes a document may have.
    ///   - journal: The check of the journal that the new document contains; nil if there is none.
    /// - Returns: The document, whose owner publishes or discards it.
    /// - Throws: `noSpace`, `ioFailure`, `limitExceeded`; then nothing of it is left.
    static func write(
        from reader: any KeyValueReader, for path: String, _ settings: JSONSettings, folding journal: UInt64?
    ) throws(StoreError) -> DocumentDraft {
        let temporary = StoreFile.temporarySibling(of: path)
        let lock = try StoreLock.acquire(forStoreAt: temporary, .exclusive, timeoutSeconds: 0)
        do throws(StoreError) {
            try StoreFile.createExclusive(at: temporary)
            let output = try DocumentOutput(at: temporary, limit: settings.maximumDocumentBytes, documentPath: path)
            var writer = try DocumentWriter(reader, path: path, output)
            let version = try writer.write(foldedJournal: journal)
            return DocumentDraft(
                path: temporary, file: try output.finish(), version: version, tally: writer.tally,
                foldedJournal: journal, lock: lock)
        } catch {
            // The first error is the one to tell; what stays is swept away by the next opener.
            try? StoreFile.remove(temporary)
            try? lock.releaseRemovingFile()
            throw error
        }
    }

    /// Reads the document again and compares what it holds with what was to be written.
    ///
    /// - Throws: `verificationFailed`.
    func verify() throws(StoreError) {
        let found: StoreTally
        do throws(StoreError) {
            found = try DocumentReader.count(try DocumentFile(at: path), url: StoreURL(type: "json", path: path))
        } catch {
            throw StoreError(
                .verificationFailed, "The finished document '\(path)' cannot be read back: \(error.message)",
                underlying: error)
        }
        guard found == tally else {
            throw StoreError(
                .verificationFailed,
                "The finished document '\(path)' does not hold what was written. It was discarded; check the disk and try again, or report it."
            )
        }
    }

    /// Removes a document that did not get its name.
    func discard() {
        try? StoreFile.remove(path)
        try? lock.releaseRemovingFile()
    }
}

/// A new file that is written from its beginning to its end.
final class DocumentOutput {
    private static let chunkByteCount = 1 << 18

    private let file: WritableFile
    private let limit: Int
    private let documentPath: String
    private var flushedByteCount = 0
    private var checksum = TextChecksum()
    /// What comes next; append to it, and call ``flushIfFull()`` now and then.
    var text: [UInt8] = []

    init(at path: String, limit: Int, documentPath: String) throws(StoreError) {
        file = try WritableFile(at: path)
        self.limit = limit
        self.documentPath = documentPath
        text.reserveCapacity(Self.chunkByteCount + 4096)
    }

    /// Writes what came together, if it is worth a call.
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
        var chunk: [UInt8] = []
        swap(&chunk, &text)
        try chunk.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
            try file.write(bytes, at: flushedByteCount)
        }
        checksum.add(chunk)
        flushedByteCount += chunk.count
        chunk.removeAll(keepingCapacity: true)
        swap(&chunk, &text)
    }

    /// Which bytes were written so far.
    func version() throws(StoreError) -> DocumentVersion {
        try flush()
        let value = checksum.value
        return DocumentVersion(high: value.high, low: value.low, byteCount: flushedByteCount)
    }

    /// Writes the rest and flushes the file to the medium.
    ///
    /// Returns which file it is.
    func finish() throws(StoreError) -> FileIdentity {
        try flush()
        try file.sync()
        return try file.identity()
    }
}
