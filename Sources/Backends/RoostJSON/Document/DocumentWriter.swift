internal import RoostCore
internal import RoostKeyValue

/// Writes all contents of a key-value reader as one document.
struct DocumentWriter {
    private let snapshot: any StoreSnapshot
    private let metadata: StoreMetadata
    let tally: StoreTally
    private let output: DocumentOutput
    private let history: KeyValueHistory?

    private var model: ManagedObjectModel { metadata.model }

    init(_ reader: any KeyValueReader, path: String, output: DocumentOutput) throws(StoreError) {
        let type = JSONStoreType()
        let store = try KeyValueStore(
            opening: ReaderStorage(reader), type: type, location: StoreLocation(type: type.name, path: path),
            options: StoreOptions(isReadOnly: true))
        metadata = try store.metadata()
        snapshot = try store.snapshot()
        guard let tally = try snapshot.recordedTally() else {
            throw StoreError(.internalInconsistency, "The store '\(path)' has no tally.")
        }
        self.tally = tally
        let entries = KeyValueHistory(reader)
        history = try entries.historySettings() == nil ? nil : entries
        self.output = output
    }

    /// Writes the document, and returns the version by which a journal identifies it.
    func write(foldedJournal: UInt64?) throws(StoreError) -> DocumentVersion {
        var text = try DocumentText(
            output, metadata: metadata, generation: tally.generation, foldedJournal: foldedJournal,
            hasHistory: history != nil)
        try writeRecords(to: &text)
        for relationship in model.linkRelationships where tally.relationships[relationship.number].count > 0 {
            var batch = LinkBatch(relationship: relationship.number)
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            while try cursor.next(into: &batch) {
                for link in batch.links { try text.append(link, of: relationship) }
            }
        }
        var lastKeys: [Int: Int64] = [:]
        for root in model.roots { lastKeys[root] = try snapshot.lastKey(of: model.entities[root].name) }
        return try text.finish(DocumentTail(tally, lastKeys: lastKeys), history: history)
    }

    /// Writes the list of each entity.
    ///
    /// One pass over a hierarchy writes its first list, and keeps only the keys of the other
    /// records to save memory. For each later list, the records are read again by key.
    private func writeRecords(to text: inout DocumentText) throws(StoreError) {
        var batch = RecordBatch(model: model)
        var laterKeys = [[Int64]](repeating: [], count: model.entities.count)
        var readRoots: Set<Int> = []
        for entity in model.entities where tally.entities[entity.number].count > 0 {
            guard readRoots.insert(entity.root).inserted else {
                try writeRecords(of: entity, keys: laterKeys[entity.number], to: &text)
                laterKeys[entity.number] = []
                continue
            }
            let cursor = try snapshot.records(of: model.entities[entity.root].name, after: nil)
            while try cursor.next(into: &batch) {
                try batch.forEachRecord { (record) throws(StoreError) in
                    if record.entityNumber == entity.number {
                        try text.append(record)
                    } else {
                        laterKeys[record.entityNumber].append(record.key)
                    }
                }
            }
        }
    }

    private func writeRecords(
        of entity: ManagedObjectModel.Entity, keys: [Int64], to text: inout DocumentText
    ) throws(StoreError) {
        var batch = RecordBatch(model: model)
        for start in stride(from: 0, to: keys.count, by: Self.idCount) {
            let ids = keys[start..<min(start + Self.idCount, keys.count)].map { ObjectID(entity.name, key: $0) }
            let cursor = try snapshot.records(with: ids)
            while try cursor.next(into: &batch) {
                try batch.forEachRecord { (record) throws(StoreError) in try text.append(record) }
            }
        }
    }

    /// The maximum number of records that are requested at once.
    private static let idCount = 4096
}

/// A read-only storage whose views all use one reader, for example an uncommitted transaction.
private final class ReaderStorage: OrderedKeyValueStorage, @unchecked Sendable {
    // Proof of Sendable: created, used and released by one `DocumentWriter`, on one thread.
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

    /// A reader that does not close the underlying view, because the view's owner closes it.
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
