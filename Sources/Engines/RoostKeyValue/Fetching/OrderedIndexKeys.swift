internal import RoostCore
internal import RoostQuery

/// The object keys in an index's entries, in a request's order.
final class OrderedIndexKeys: KeySource {
    private let snapshot: KeyValueSnapshot
    private let entries: IndexEntries
    private let order: IndexOrder
    /// The request's order, for sorting records whose shortened index keys do not determine it.
    private let recordOrder: RecordSortOrder
    private let entity: ManagedObjectModel.Entity
    private let visits: VisitCount?
    private let cursor: any KeyValueCursor
    /// The number of bytes of a key before its values.
    private let numberByteCount: Int
    /// The number of bytes before the hash in a shortened key.
    private let valuesByteCount: Int
    /// The ranges still to be read, in reverse order.
    private var ranges: [KeyRange]
    /// The start and end of the current range; an end of nil is the end of the space.
    private var (start, end): ([UInt8], [UInt8]?) = ([], nil)
    private var place = Place.betweenRanges
    /// The number of keys in a batch; small at first, because the fetch may have a limit.
    private var batchCount = 32

    private enum Place {
        case betweenRanges
        /// Forward: the cursor is at an unread entry or at the end.
        case atEntry
        /// Backward: all entries before these bytes are unread.
        case before([UInt8]?)
        /// Inside the group whose keys begin with these bytes: the cursor is at the next unread
        /// entry or at the end.
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

    /// Performs one step; returns false at the end.
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
            // The range may start after the first entry of the group.
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

    /// Returns the length of the prefix that all keys of a group share: the index number and the
    /// group's values, or less if the keys are shortened.
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

    /// Appends a group's keys until there are `most` keys, and stores where to continue.
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

    /// Appends keys across groups until the batch is full, the range ends, or a key may be
    /// shortened.
    ///
    /// Entries whose keys are not shortened are in the request's order.
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

    /// Returns object keys sorted by the values in their records, for entries with shortened keys.
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
                // The fetch reports the damage when it reads this record again.
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
