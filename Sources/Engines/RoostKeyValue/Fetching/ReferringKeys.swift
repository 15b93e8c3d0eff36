internal import RoostCore
internal import RoostQuery

/// The keys, in ascending order, of the objects whose to-one relationship refers to one object.
///
/// Keys are read in batches, so a fetch with a limit need not read all of them.
final class ReferringKeys: KeySource {
    private let cursor: any KeyValueCursor
    private let visits: VisitCount?
    /// The prefix of the storage keys of all references to the object.
    private let prefix: [UInt8]
    /// Whether the cursor may be at an unread reference.
    private var isMore: Bool
    /// The number of keys in a batch; small at first, because the fetch may have a limit.
    private var batchCount = 32

    /// Creates a source; nil unless the access finds the references to one object in key order.
    init?(_ snapshot: KeyValueSnapshot, access: KeyAccess, visits: VisitCount?) throws(StoreError) {
        // If the inverse is ordered, references are sorted by place, not by key.
        guard case .references(let number, let objects) = access, objects.count == 1,
            !snapshot.model.relationships[number].inverseIsOrdered
        else { return nil }
        cursor = try snapshot.reader.cursor(in: .references)
        self.visits = visits
        prefix = StorageKey(record: objects[0], root: number).bytes
        isMore = try cursor.seek(to: prefix)
    }

    func next(into keys: inout [Int64]) throws(StoreError) -> Bool {
        keys.removeAll(keepingCapacity: true)
        guard isMore else { return false }
        let (prefix, most) = (prefix, batchCount)
        keys.reserveCapacity(most)
        isMore = false
        var isStopped = false
        _ = try cursor.visit { (key, _) throws(StoreError) in
            guard key.begins(with: prefix) else { return false }
            guard keys.count < most else {
                isStopped = true
                return false
            }
            guard let end = LinkKey.end(of: key, behind: prefix.count) else { throw .damagedEntry(.references) }
            keys.append(end)
            return true
        }
        isMore = isStopped
        batchCount = min(1024, 2 * batchCount)
        visits?.count += keys.count
        return !keys.isEmpty
    }
}
