internal import RoostCore

// The stages after rows are created: sorting, removal of duplicates, then offset and limit.

/// A cursor that sorts rows by the values of some columns.
///
/// Rows with equal values in these columns keep their order.
///
/// If only the first rows are needed, the cursor buffers at most two batches plus twice the number
/// of needed rows. Otherwise it buffers all rows.
final class SortedRows: RowCursor {
    struct Level {
        let column: Int
        let options: FetchRequest.Comparison.Options
        let isAscending: Bool
    }

    let columns: [String]
    let types: [AttributeType?]
    private let source: any RowCursor
    private let levels: [Level]
    private let needed: Int?
    private let model: ManagedObjectModel
    private var kept = RowBatch()
    private var keys = SortKeys()
    private var order: [Int]?
    private var given = 0

    /// Creates a cursor that returns the columns with the names `columns`.
    ///
    /// These are the first columns of the source; the others are used only for sorting. `needed` is
    /// the number of first rows that are needed; nil for all.
    init(_ source: any RowCursor, columns: [String], levels: [Level], needed: Int?, model: ManagedObjectModel) {
        (self.source, self.columns, self.levels, self.needed) = (source, columns, levels, needed)
        self.model = model
        types = Array(source.types.prefix(columns.count))
        kept.columns = columns
    }

    func next(into batch: inout RowBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        batch.columns = columns
        if order == nil {
            try readAll()
            order = try keys.sorted { $0 < $1 }
        }
        guard let order else { return false }
        let end = min(order.count, given + RecordBatch.capacityCount)
        for index in order[given..<end] { batch.append(kept, at: index) }
        given = end
        return !batch.isEmpty
    }

    private func readAll() throws(StoreError) {
        let most = needed.map { 2 * min($0, Int.max / 4) + RecordBatch.capacityCount } ?? .max
        var batch = RowBatch()
        while try source.next(into: &batch) {
            for row in 0..<batch.count {
                kept.append(batch, at: row)
                keys.append { key in
                    for level in levels {
                        let start = key.count
                        OrderedBytes.append(batch[row, level.column], options: level.options, model: model, to: &key)
                        if !level.isAscending { OrderedBytes.complement(&key, from: start) }
                    }
                }
            }
            if let needed, kept.count > most { try keepBest(needed) }
        }
    }

    private func keepBest(_ needed: Int) throws(StoreError) {
        var (fewer, fewerKeys) = (RowBatch(), SortKeys())
        fewer.columns = columns
        for index in try keys.sorted(tie: { $0 < $1 }).prefix(needed) {
            fewer.append(kept, at: index)
            fewerKeys.append(keys, at: index)
        }
        (kept, keys) = (fewer, fewerKeys)
    }
}

/// A cursor that returns only the first of equal rows.
///
/// Values are equal if sorting treats them as equal: for example all NaNs, both zeros, or two IDs
/// with the same key and different entities of one hierarchy.
final class DistinctRows: RowCursor {
    let columns: [String]
    let types: [AttributeType?]
    private let source: any RowCursor
    private let model: ManagedObjectModel
    private var seen = KeyTable()
    private var read = RowBatch()
    private var key: [UInt8] = []

    init(_ source: any RowCursor, model: ManagedObjectModel) {
        (self.source, self.model) = (source, model)
        (columns, types) = (source.columns, source.types)
    }

    func next(into batch: inout RowBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        batch.columns = columns
        while batch.isEmpty {
            guard try source.next(into: &read) else { return false }
            for row in 0..<read.count {
                key.removeAll(keepingCapacity: true)
                for column in columns.indices {
                    OrderedBytes.append(read[row, column], options: [], model: model, to: &key)
                }
                if seen.insert(key).isNew { batch.append(read, at: row) }
            }
        }
        return true
    }
}

/// A cursor over the rows within offset and limit.
final class WindowedRows: RowCursor {
    let columns: [String]
    let types: [AttributeType?]
    private let source: any RowCursor
    private var offset: Int
    private var limit: Int
    private var read = RowBatch()

    init(_ source: any RowCursor, offset: Int, limit: Int?) {
        (self.source, self.offset, self.limit) = (source, offset, limit ?? .max)
        (columns, types) = (source.columns, source.types)
    }

    func next(into batch: inout RowBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        batch.columns = columns
        while batch.isEmpty {
            guard limit > 0, try source.next(into: &read) else { return false }
            let skipped = min(offset, read.count)
            offset -= skipped
            for row in skipped..<read.count where limit > 0 {
                batch.append(read, at: row)
                limit -= 1
            }
        }
        return true
    }
}
