internal import RoostCore
internal import RoostQuery

/// The keys that the entries of an index name, in a request's order.
final class OrderedIndexKeys: KeySource {
    private let snapshot: KeyValueSnapshot
    private let entries: IndexEntries
    private let order: IndexOrder
    /// The order of entries whose shortened keys do not determine it.
    private let recordOrder: RecordSortOrder
    private let entity: ManagedObjectModel.Entity
    private let visits: VisitCount?
    private let cursor: any KeyValueCursor
    /// The bytes of a key before its values.
    private let numberByteCount: Int
    /// The bytes of a key that are certainly values: a shortened key has no more of them.
    private let valuesByteCount: Int
    /// The ranges that were not begun yet, the next one last.
    private var ranges: [KeyRange]
    /// The start and end of the current range; an end of nil is the end of the space.
    private var (start, end): ([UInt8], [UInt8]?) = ([], nil)
    private var place = Place.betweenRanges
    /// The number of keys in a batch: few at first, because a limit may make the rest unnecessary.
    private var batchCount = 32

    private enum Place {
        case betweenRanges
        /// Going forwards: the cursor is at an entry, or the end, that was not looked at.
        case atEntry
        /// Going backwards: everything before these bytes was not looked at.
        case before([UInt8]?)
        /// The cursor is at an entry, or the end; before it, a part of the group that begins with
        /// these bytes was given.
        case inGroup([UInt8])
    }

    init(
        _ snapshot: KeyValueSnapshot, entries: IndexEntries, order: IndexOrder, recordOrder: RecordSortOrder,
        entity: ManagedObjectModel.Entity, visits: VisitCount?
    ) throws(StoreError) {
        self.snapshot = snapshot
        self.entries = entries
        self.order = order
        self.recordOrder = recordOrder
        self.entity = entity
        self.visits = visits
        cursor = try snapshot.reader.cursor(in: entries.space)
        numberByteCount = StorageKey(number: entries.values.number).count
        valuesByteCount = snapshot.plan.keyLimit - IndexKeyEncoding.shortenedTail
        ranges = order.isReversed ? entries.ranges : entries.ranges.reversed()
    }

    func next(into keys: inout [Int64]) throws(StoreError) -> Bool {
        keys.removeAll(keepingCapacity: true)
        while keys.count < batchCount, try advance(&keys) {}
        batchCount = min(1024, 2 * batchCount)
        visits?.count += keys.count
        return !keys.isEmpty
    }

    /// Takes one step; false when nothing is left.
    private func advance(_ keys: inout [Int64]) throws(StoreError) -> Bool {
        switch place {
        case .betweenRanges:
            guard let range = ranges.popLast() else { return false }
            guard let start = range.start.position else { return true }
            (self.start, end) = (start, range.end.position)
            if order.isReversed {
                place = .before(end)
            } else {
                place = .atEntry
                _ = try cursor.seek(to: start)
            }
        case .before(let bytes):
            guard try cursor.seek(before: bytes), isInRange(cursor.key) else {
                place = .betweenRanges
                return true
            }
            let group = Array(cursor.key.prefix(groupByteCount(cursor.key)))
            // The range may begin, and end, inside the group.
            _ = try cursor.seek(to: group.lexicographicallyPrecedes(start) ? start : group)
            try begin(group, keys: &keys)
        case .atEntry:
            if order.isWhole { try appendWhileInOrder(&keys) }
            guard keys.count < batchCount else { return true }
            guard isInRange(cursor.key) else {
                place = .betweenRanges
                return true
            }
            try begin(Array(cursor.key.prefix(groupByteCount(cursor.key))), keys: &keys)
        case .inGroup(let group): try append(group, keys: &keys, most: batchCount)
        }
        return true
    }

    private func isInRange(_ key: UnsafeRawBufferPointer) -> Bool {
        !key.isEmpty && !key.precedes(start) && (end.map { key.precedes($0) } ?? true)
    }

    /// Returns the number of bytes that all keys of a group begin with: those of its values, if
    /// shortened keys have them.
    private func groupByteCount(_ key: UnsafeRawBufferPointer) -> Int {
        var count = numberByteCount
        for index in 0..<order.groupCount {
            let part = IndexKeyEncoding.byteCount(
                of: entries.values.fields[index].kind, in: key, at: count,
                isAscending: entries.values.isAscending[index])
            guard let part, count + part < valuesByteCount else { return min(key.count, valuesByteCount) }
            count += part
        }
        return count
    }

    /// Begins with the group whose first entry the cursor is at.
    private func begin(_ group: [UInt8], keys: inout [Int64]) throws(StoreError) {
        let isShortened = group.count >= valuesByteCount
        if order.isWhole, !isShortened {
            place = .inGroup(group)
        } else {
            var members: [Int64] = []
            try append(group, keys: &members, most: .max)
            keys += isShortened ? try sorted(members) : members.inOrder()
        }
    }

    /// Appends keys of a group from the cursor on, and notes where to continue.
    private func append(_ group: [UInt8], keys: inout [Int64], most: Int) throws(StoreError) {
        var isMember = false
        let end = end
        _ = try cursor.visit { (key, _) throws(StoreError) in
            isMember = key.begins(with: group) && (end.map { key.precedes($0) } ?? true)
            guard isMember, keys.count < most else { return false }
            keys.append(try Self.object(of: key))
            isMember = false
            return true
        }
        place = isMember ? .inGroup(group) : order.isReversed ? .before(group) : .atEntry
    }

    /// Appends keys from the cursor on, whatever their group, while the entries are in order by
    /// themselves.
    private func appendWhileInOrder(_ keys: inout [Int64]) throws(StoreError) {
        let (end, most, longest) = (end, batchCount, valuesByteCount)
        _ = try cursor.visit { (key, _) throws(StoreError) in
            guard keys.count < most, key.count <= longest, end.map({ key.precedes($0) }) ?? true else { return false }
            keys.append(try Self.object(of: key))
            return true
        }
    }

    private static func object(of key: UnsafeRawBufferPointer) throws(StoreError) -> Int64 {
        guard let key = key.lastKey, key > 0 else { throw .damagedEntry(.indexes) }
        return key
    }

    /// Keys in the order of their records, where what entries have of the values is not enough.
    private func sorted(_ members: [Int64]) throws(StoreError) -> [Int64] {
        let members = members.inOrder()
        let visitor = KeyedRecordVisitor(snapshot, entity: entity, source: ListedKeys { members })
        var records = RecordBatch(model: snapshot.model)
        var damaged: [Int64] = []
        var isMore = true
        while isMore {
            do throws(StoreError) {
                isMore = try visitor.visit { record in
                    records.append(record)
                    return true
                }
            } catch {
                // The fetch reads the record again when it returns it, and reports the damage then.
                guard let id = error.damagedObject else { throw error }
                damaged.append(id.key)
            }
        }
        let order = recordOrder
        return (0..<records.count)
            .sorted { left, right in
                records.withRecord(at: left) { a in records.withRecord(at: right) { order.precedes(a, $0) } }
            }
            .map { records.key(at: $0) } + damaged
    }
}
