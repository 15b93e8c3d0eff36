/// Copies of the records that predicates have met through relationships, so that each is read once for many that lead to it.
///
/// A reader stays valid until ``beginRecord()``, which forgets everything once it is more than the limit.
final class RelatedRecords {
    private struct Place: Hashable {
        let root: Int
        let key: Int64
    }

    /// The bytes after which everything is forgotten before the next record.
    private static let byteLimit = 8 << 20
    /// How many records are read at once.
    private static let countPerRead = 256

    private let graph: any ObjectGraph
    private let model: ManagedObjectModel
    /// By place, the bytes; none for what does not exist.
    private var records: [Place: UnsafeRawBufferPointer] = [:]
    private let memory = RowMemory()
    private var byteCount = 0
    private var batch: RecordBatch

    init(_ graph: any ObjectGraph, model: ManagedObjectModel) {
        self.graph = graph
        self.model = model
        batch = RecordBatch(model: model)
    }

    /// Says that no reader is in use any more.
    func beginRecord() {
        guard byteCount > Self.byteLimit else { return }
        records.removeAll(keepingCapacity: true)
        memory.removeAll()
        byteCount = 0
    }

    /// The record with this key; nil where there is none.
    func record(_ key: Int64, inHierarchyOf root: Int) throws(StoreError) -> RecordReader? {
        let place = Place(root: root, key: key)
        if let bytes = records[place] { return reader(bytes, key) }
        try load([key], inHierarchyOf: root)
        return records[place].flatMap { reader($0, key) }
    }

    /// The record with this key if it was read before; nil where there is none.
    func loadedRecord(_ key: Int64, inHierarchyOf root: Int) -> RecordReader? {
        records[Place(root: root, key: key)].flatMap { reader($0, key) }
    }

    /// Reads the records with these keys, as far as they are not here.
    func load(_ keys: some Sequence<Int64>, inHierarchyOf root: Int) throws(StoreError) {
        var missing: [Int64] = []
        for key in keys where records[Place(root: root, key: key)] == nil {
            // Nothing there, until it is found.
            records[Place(root: root, key: key)] = UnsafeRawBufferPointer(start: nil, count: 0)
            missing.append(key)
        }
        for start in stride(from: 0, to: missing.count, by: Self.countPerRead) {
            let part = missing[start..<min(missing.count, start + Self.countPerRead)]
            batch.removeAll()
            do throws(StoreError) {
                try graph.read(Array(part), inHierarchyOf: root, into: &batch)
            } catch {
                // What was not read is not known to be missing.
                for key in missing[start...] { records[Place(root: root, key: key)] = nil }
                throw error
            }
            batch.forEachRecord { record in
                records[Place(root: root, key: record.key)] = memory.copy(record.bytes)
                byteCount += record.bytes.count
            }
        }
        byteCount += missing.count * 32
    }

    /// Appends the keys of the objects that a to-many relationship leads to.
    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        try graph.appendDestinations(of: relationship, from: key, to: &keys)
    }

    private func reader(_ bytes: UnsafeRawBufferPointer, _ key: Int64) -> RecordReader? {
        // SAFETY: the bytes are those of a whole record of a batch, whose structure was checked; they stay where they are until they
        // are forgotten, and the model is held here.
        bytes.isEmpty ? nil : RecordReader(unchecked: bytes, key: key, model: model)
    }
}
