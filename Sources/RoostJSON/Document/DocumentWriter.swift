internal import RoostCore
internal import RoostKeyValue
internal import RoostText

/// Writes a document: the same bytes for the same contents.
struct DocumentWriter {
    private let snapshot: any StoreSnapshot
    private let metadata: StoreMetadata
    /// What is written: counts, digests, and the store's generation.
    let tally: StoreTally
    private let output: DocumentOutput
    private let records: RecordTextWriter

    private var model: ManagedObjectModel { metadata.model }

    /// A writer of what `reader` shows.
    init(_ reader: any KeyValueReader, path: String, _ output: DocumentOutput) throws(StoreError) {
        let type = JSONStoreType()
        let store = try KeyValueStore(
            opening: ReaderStorage(reader), type: type, url: StoreURL(type: type.name, path: path),
            options: StoreOptions(isReadOnly: true))
        metadata = try store.metadata()
        snapshot = try store.snapshot()
        guard let tally = try snapshot.recordedTally() else {
            throw StoreError(.internalInconsistency, "The store '\(path)' has no tally.")
        }
        self.tally = tally
        self.output = output
        records = RecordTextWriter(model: metadata.model)
    }

    /// Writes everything.
    ///
    /// Returns what a journal calls this document.
    mutating func write(foldedJournal: UInt64?) throws(StoreError) -> DocumentVersion {
        try writeHead(foldedJournal)
        try writeRecords()
        try writeLinks()
        // On a line of its own that begins with the comma: without the line the document is as valid as before.
        append("\n, ")
        let version = try output.version()
        append(DocumentChecksum.tail((version.high, version.low)))
        return version
    }

    private func append(_ text: String) { output.text.append(contentsOf: text.utf8) }

    private func key(_ member: DocumentFormat.Member) { append("\"\(member.key)\": ") }

    private func string(_ text: String) { JSONText.append(text, to: &output.text) }

    // MARK: Head

    private func writeHead(_ foldedJournal: UInt64?) throws(StoreError) {
        append("{")
        key(.format)
        string(DocumentFormat.name)
        append(", ")
        key(.formatVersion)
        append("\(DocumentFormat.version), ")
        key(.storeUUID)
        string(metadata.storeUUID.description)
        append(",\n")
        key(.generation)
        append("\(tally.generation)")
        if let foldedJournal {
            append(", ")
            key(.foldedJournal)
            string(DocumentFormat.text(foldedJournal))
        }
        append(",\n")
        key(.lastKeys)
        append("{")
        var isFirst = true
        for root in model.roots {
            let name = model.entities[root].name
            let last = try snapshot.lastKey(of: name)
            guard last > 0 else { continue }
            append(isFirst ? "" : ", ")
            isFirst = false
            string(name.text)
            append(": \(last)")
        }
        append("},\n")
        key(.model)
        output.text.append(contentsOf: Self.trimmed(model.document()))
        append(",\n")
        key(.metadata)
        output.text.append(contentsOf: try MetadataDocument.encode(metadata.userMetadata))
        append(",\n")
    }

    /// A text without the line break at its end.
    private static func trimmed(_ text: [UInt8]) -> ArraySlice<UInt8> {
        text[..<(text.lastIndex { $0 != UInt8(ascii: "\n") }.map { $0 + 1 } ?? 0)]
    }

    // MARK: Records and links

    private func writeRecords() throws(StoreError) {
        key(.records)
        append("{")
        var isFirst = true
        for entity in model.entities where tally.entities[entity.number].count > 0 {
            append(isFirst ? "\n" : ",\n")
            isFirst = false
            string(entity.name.text)
            append(": [")
            try writeRecords(of: entity)
            append("\n]")
        }
        append("},\n")
    }

    private func writeRecords(of entity: ManagedObjectModel.Entity) throws(StoreError) {
        let cursor = try snapshot.records(of: entity.name, after: nil)
        var batch = RecordBatch(model: model)
        var isFirst = true
        while try cursor.next(into: &batch) {
            try batch.forEachRecord { (record) throws(StoreError) in
                // The subentities' records have lists of their own.
                guard record.entityNumber == entity.number else { return }
                append(isFirst ? "\n" : ",\n")
                isFirst = false
                try records.append(record, to: &output.text)
                try output.flushIfFull()
            }
        }
    }

    private func writeLinks() throws(StoreError) {
        key(.links)
        append("{")
        var isFirst = true
        for relationship in model.linkRelationships where tally.relationships[relationship.number].count > 0 {
            append(isFirst ? "\n" : ",\n")
            isFirst = false
            string(relationship.name.description)
            append(": [")
            var batch = LinkBatch(relationship: relationship.number)
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            var isFirstLink = true
            while try cursor.next(into: &batch) {
                for link in batch.links {
                    append(isFirstLink ? "\n" : ",\n")
                    isFirstLink = false
                    LinkText.append(link, to: &output.text)
                    try output.flushIfFull()
                }
            }
            append("\n]")
        }
        append("}")
    }
}

/// A storage that shows one view and nothing else, so that the engine can read a transaction that is not committed yet.
private final class ReaderStorage: OrderedKeyValueStorage, @unchecked Sendable {
    // Proof of Sendable: made, used and let go of by one `DocumentWriter`, which is on one thread.
    private let reader: any KeyValueReader

    init(_ reader: any KeyValueReader) { self.reader = reader }

    var maximumKeyByteCount: Int { 511 }
    func read() throws(StoreError) -> any KeyValueReader { BorrowedReader(reader) }
    func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite {
        throw StoreError(.readOnly, "A view of a storage cannot be written.")
    }
    func sync() throws(StoreError) {}
    func byteCount() throws(StoreError) -> Int { 0 }
    func integrityFindings() throws(StoreError) -> [StoreFinding] { [] }
    func close() throws(StoreError) {}

    /// The view, whose owner closes it.
    private final class BorrowedReader: KeyValueReader {
        private let reader: any KeyValueReader

        init(_ reader: any KeyValueReader) { self.reader = reader }

        func withValue(
            of key: UnsafeRawBufferPointer, in space: KeySpace,
            _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
        ) throws(StoreError) {
            try reader.withValue(of: key, in: space, body)
        }

        func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor { try reader.cursor(in: space) }
        func close() {}
    }
}
