internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// Sorts the records of a model with subentities into the order of a document.
///
/// Loads add records ordered by root entity and key. A document orders them by entity and key.
final class DocumentRecordSorter {
    private let model: ManagedObjectModel
    private let writer: RecordTextWriter
    private let sorter: ExternalSorter
    private var text = TextBuffer()
    /// The root entity and the key of the last record.
    private var last = (root: -1, key: Int64(0))
    private var isEmpty = true

    /// Returns nil for a model without subentities, whose records already have the document's
    /// order.
    init?(_ model: ManagedObjectModel, directories: [String]) {
        guard model.entities.contains(where: { $0.superentity != nil }) else { return nil }
        self.model = model
        writer = RecordTextWriter(model: model)
        sorter = ExternalSorter(directories: directories)
    }

    /// Returns whether `records` continue the strictly ascending order of root entity and key.
    ///
    /// In a strictly ascending order, no key can occur twice in a hierarchy.
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

    func append(_ record: RecordReader) throws(StoreError) {
        isEmpty = false
        text.removeAll()
        try writer.append(record, to: &text)
        let place = (UInt64(record.entityNumber).bigEndian, UInt64(bitPattern: record.key).bigEndian)
        try withUnsafeBytes(of: place) { (key) throws(StoreError) in
            try text.withBytes { (value) throws(StoreError) in try sorter.append(key, value, in: 0) }
        }
    }

    /// Calls `body` once for each record, in the document's order, and removes the records.
    func drain(
        _ body: (_ text: UnsafeRawBufferPointer, _ entity: Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard !isEmpty else { return }
        isEmpty = true
        try sorter.drain { (entries) throws(StoreError) in
            try entries.forEach { (entry) throws(StoreError) in
                // The sorter puts one byte, the group, before the key.
                let key = EntryArena.key(of: entry)
                let entity = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
                try body(EntryArena.value(of: entry), Int(truncatingIfNeeded: entity))
            }
        }
    }
}
