internal import RoostCore

/// The related objects of a snapshot, read directly from the storage.
final class KeyValueGraph: ObjectGraph {
    private let snapshot: KeyValueSnapshot
    /// The reusable cursors, indexed by the positions of their spaces; nil until first used.
    private var cursors: [(any KeyValueCursor)?] = []

    init(_ snapshot: KeyValueSnapshot) { self.snapshot = snapshot }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        try snapshot.requireOpen()
        batch.removeAll()
        let (reader, verifier) = (snapshot.reader, snapshot.verifier(root: root))
        for key in keys where key > 0 {
            try ShortKey(record: key, root: root).withBytes { (storageKey) throws(StoreError) in
                try reader.withValue(of: storageKey, in: .records) { (value) throws(StoreError) in
                    if let value { batch.append(try verifier.record(value, key: key)) }
                }
            }
        }
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        try snapshot.requireOpen()
        switch relationship.storage {
        case .field:
            throw StoreError(
                .invalidRequest, "Relationship '\(relationship.name)' is to-one; its destination is in the record.")
        case .derived(let inverse): try append(.references, number: inverse, key: key, keys: &keys)
        case .links(let owner, let isFlipped):
            guard relationship.isReflexive else {
                return try append(isFlipped ? .inverseLinks : .links, number: owner, key: key, keys: &keys)
            }
            // A relationship that is its own inverse stores each pair once, so links in both directions are merged.
            let id = ObjectID(snapshot.model.entities[relationship.source].name, key: key)
            let cursor = try snapshot.links(of: relationship.name, from: id)
            var batch = LinkBatch(relationship: relationship.number)
            while try cursor.next(into: &batch) { for link in batch.links { keys.append(link.target) } }
        }
    }

    private func append(_ space: KeySpace, number: Int, key: Int64, keys: inout [Int64]) throws(StoreError) {
        let cursor = try cursor(in: space)
        let prefix = StorageKey(record: key, root: number).bytes
        guard try cursor.seek(to: prefix) else { return }
        _ = try cursor.visit { (key, _) throws(StoreError) in
            guard key.begins(with: prefix) else { return false }
            guard let end = LinkKey.end(of: key, behind: prefix.count) else { throw .damagedEntry(space) }
            keys.append(end)
            return true
        }
    }

    private func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor {
        // The array is created late, because most fetches open no cursor.
        if cursors.isEmpty { cursors = Array(repeating: nil, count: KeySpace.allCases.count) }
        if let cursor = cursors[space.position] { return cursor }
        let cursor = try snapshot.reader.cursor(in: space)
        cursors[space.position] = cursor
        return cursor
    }
}
