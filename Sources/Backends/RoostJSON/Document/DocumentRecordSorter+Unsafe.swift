internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// Sorts the records of a model with subentities into the order of documents.
///
/// Other stores order records by root entity and key. Documents order them by entity and key.
final class DocumentRecordSorter {
    private let model: ManagedObjectModel
    private let writer: RecordTextWriter
    private let sorter: ExternalSorter
    private var text = TextBuffer()
    /// The root entity and the key of the last record.
    private var last = (root: -1, key: Int64(0))
    private var isEmpty = true

    /// Creates a sorter, or returns nil for a model without subentities.
    ///
    /// The records of such a model are already in the document's order.
    init?(_ model: ManagedObjectModel, directories: [String]) {
        guard model.entities.contains(where: { $0.superentity != nil }) else { return nil }
        self.model = model
        writer = RecordTextWriter(model: model)
        sorter = ExternalSorter(directories: directories)
    }

    /// Returns whether `records` follow all earlier records, ordered by root entity and ascending
    /// key.
    ///
    /// This order proves that each key occurs once.
    func follow(_ records: RecordBatch) -> Bool {
        var (root, key) = last
        for index in 0..<records.count {
            let next = (root: model.entities[records.entityNumber(at: index)].root, key: records.key(at: index))
            guard next.key > 0, next.root > root || (next.root == root && next.key > key) else { return false }
            (root, key) = next
        }
        last = (root, key)
        return true
    }

    /// Adds a record.
    ///
    /// - Throws: `noSpace` and `ioFailure` for a temporary file if the records do not fit into
    ///   memory.
    func append(_ record: RecordReader) throws(StoreError) {
        isEmpty = false
        text.removeAll()
        try writer.append(record, to: &text)
        let place = (UInt64(record.entityNumber).bigEndian, UInt64(bitPattern: record.key).bigEndian)
        try withUnsafeBytes(of: place) { (key) throws(StoreError) in
            try text.withBytes { (value) throws(StoreError) in try sorter.append(key, value, in: 0) }
        }
    }

    /// Calls `body` with the text and the entity's number of each record in the document's order,
    /// and removes the records.
    func drain(
        _ body: (_ text: UnsafeRawBufferPointer, _ entity: Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard !isEmpty else { return }
        isEmpty = true
        try sorter.drain { (entries) throws(StoreError) in
            try entries.forEach { (entry) throws(StoreError) in
                // The first byte of the key is the sorter's group.
                let key = EntryArena.key(of: entry)
                let entity = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
                try body(EntryArena.value(of: entry), Int(truncatingIfNeeded: entity))
            }
        }
    }
}
