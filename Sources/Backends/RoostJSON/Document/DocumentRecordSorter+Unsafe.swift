internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// Brings records of hierarchies with subentities into the document's order, by entities, from the
/// one in which stores give them, by keys: as text, in bounded memory.
final class DocumentRecordSorter {
    private let model: ManagedObjectModel
    private let writer: RecordTextWriter
    private let sorter: ExternalSorter
    private var text = TextBuffer()
    /// The root entity and the key of the last record.
    private var last = (root: -1, key: Int64(0))
    private var isEmpty = true

    /// Creates a sorter; returns nil for a model without subentities.
    ///
    /// The records of such a model come in the document's order.
    init?(_ model: ManagedObjectModel, directories: [String]) {
        guard model.entities.contains(where: { $0.superentity != nil }) else { return nil }
        self.model = model
        writer = RecordTextWriter(model: model)
        sorter = ExternalSorter(directories: directories)
    }

    /// Whether records continue the order by roots and ascending keys after all that were given
    /// before.
    ///
    /// Then each key occurs once.
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

    /// Takes a record in.
    ///
    /// - Throws: `noSpace` and `ioFailure`, of a file for what does not fit into memory.
    func append(_ record: RecordReader) throws(StoreError) {
        isEmpty = false
        text.removeAll()
        try writer.append(record, to: &text)
        let place = (UInt64(record.entityNumber).bigEndian, UInt64(bitPattern: record.key).bigEndian)
        try withUnsafeBytes(of: place) { (key) throws(StoreError) in
            try text.withBytes { (value) throws(StoreError) in try sorter.append(key, value, in: 0) }
        }
    }

    /// Gives the texts of all records in the document's order, with the numbers of their entities,
    /// and forgets them.
    func drain(
        _ body: (_ text: UnsafeRawBufferPointer, _ entity: Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard !isEmpty else { return }
        isEmpty = true
        try sorter.drain { (entries) throws(StoreError) in
            try entries.forEach { (entry) throws(StoreError) in
                // The key begins with its group.
                let key = EntryArena.key(of: entry)
                let entity = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
                try body(EntryArena.value(of: entry), Int(truncatingIfNeeded: entity))
            }
        }
    }
}
