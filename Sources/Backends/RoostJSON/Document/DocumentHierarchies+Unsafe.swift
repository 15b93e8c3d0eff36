internal import RoostCore

/// A reader of the records of hierarchies with subentities, ordered by key.
///
/// In a document, each entity has a separate list. This class sorts the records in bounded memory
/// and in one pass over the whole document.
final class DocumentHierarchies {
    private struct Held {
        var root: Int
        var key: Int64
        var entity: Int
    }

    private let model: ManagedObjectModel
    private let file: DocumentFile
    private let entries: SortedEntryReader
    /// The next record, or nil after the last one.
    private var held: Held?
    private var heldBytes: [UInt8] = []
    /// The root entity of the last hierarchy read; earlier hierarchies can no longer be read.
    private var lastRoot: Int?

    /// Returns whether an entity's list holds only a part of a hierarchy.
    static func contain(_ entity: ManagedObjectModel.Entity) -> Bool {
        entity.superentity != nil || entity.hasSubentities
    }

    /// Reads a whole document from a new stream, which verifies the checksum and the tally.
    ///
    /// Records that do not fit into memory go to temporary files in `directories`.
    init(_ file: DocumentFile, stream: DocumentStream, directories: [String]) throws(StoreError) {
        (self.file, model) = (file, stream.model)
        let sorter = ExternalSorter(directories: directories)
        var batch = RecordBatch(model: model)
        while let list = stream.next {
            guard case .records(let number) = list, Self.contain(model.entities[number]) else {
                try stream.skip()
                continue
            }
            let root = UInt64(model.entities[number].root)
            while stream.next == list, try stream.read(into: &batch) {
                try batch.forEachRecord { (record) throws(StoreError) in
                    let place = (root.bigEndian, UInt64(bitPattern: record.key).bigEndian)
                    try withUnsafeBytes(of: place) { (key) throws(StoreError) in
                        try sorter.append(key, record.bytes, in: 0)
                    }
                }
            }
        }
        entries = try sorter.entries()
        try advance()
    }

    /// Returns whether a hierarchy can still be read from its first record.
    ///
    /// `lastRoot` decides, because `held` may already belong to a later hierarchy.
    func isBefore(root: Int) -> Bool { lastRoot.map { root > $0 } ?? true }

    /// Replaces the contents of a batch with the next records of a hierarchy, or returns false at
    /// its end.
    func read(root: Int, into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        lastRoot = root
        while let record = held, record.root <= root, !batch.isFull {
            if record.root == root {
                heldBytes.withUnsafeBytes { batch.append(built: $0, key: record.key, entity: record.entity) }
            }
            try advance()
        }
        return !batch.isEmpty
    }

    private func advance() throws(StoreError) {
        let last = held
        held = nil
        var next: Held?
        _ = try entries.next { (entry) throws(StoreError) in
            // The first byte of the key is the sorter's group.
            let key = EntryArena.key(of: entry)
            let bytes = EntryArena.value(of: entry)
            next = Held(
                root: Int(UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))),
                key: Int64(bitPattern: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 9, as: UInt64.self))),
                entity: RecordReader.entityNumber(in: bytes))
            heldBytes.removeAll(keepingCapacity: true)
            heldBytes.append(contentsOf: bytes)
        }
        held = next
        guard let last, let next, last.root == next.root, last.key == next.key else { return }
        throw StoreError(
            .corrupted,
            "'\(file.path)': two objects of the hierarchy of '\(model.entities[next.root].name)' have the key \(next.key); restore the document from a copy."
        )
    }
}
