internal import RoostCore

/// Sorts records by keys that are computed once for each record.
///
/// Records with equal sort keys are in ascending order of their object keys. With a limit, at most
/// two batches plus 2 × (offset + limit) records are buffered, with their keys. Without a limit,
/// all records are buffered.
final class KeyedSort {
    private let source: MatchingRecords
    private let encoder: SortKeyEncoder
    private let evaluator: PredicateEvaluator
    private let offset: Int
    private let limit: Int?
    private var kept: RecordBatch
    /// The maximum number of records that were buffered at once.
    private(set) var highestKeptCount = 0
    private var keys = SortKeys()
    /// The highest sort key that a record of the result can have; empty until enough records have
    /// been read.
    private var bound = SortKeys()
    /// The object key of the record whose sort key is in ``bound``.
    private var boundKey: Int64 = 0
    private var order: [Int]?
    private var given = 0

    init(
        _ source: MatchingRecords, by encoder: SortKeyEncoder, model: ManagedObjectModel, graph: (any ObjectGraph)?,
        offset: Int, limit: Int?
    ) {
        (self.source, self.encoder, self.offset, self.limit) = (source, encoder, offset, limit)
        evaluator = PredicateEvaluator(PredicateProgram(PredicateProgram.Parts(), model: model), graph: graph)
        kept = RecordBatch(model: model)
    }

    /// Implements ``FillingRecordCursor/fill(_:)``.
    func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        if order == nil {
            // If a damaged record ended the previous call, this call continues reading.
            try readAll()
            order = try positions()
        }
        guard let order else { return false }
        while offset < order.count - given, limit.map({ given < $0 }) ?? true {
            guard !batch.isFull else { return true }
            batch.append(kept, at: order[offset + given])
            given += 1
        }
        return false
    }

    private func readAll() throws(StoreError) {
        let needed = Window(offset: offset, limit: limit).reach
        guard needed != 0 else { return }
        let most = needed.map { 2 * min($0, Int.max / 4) + RecordBatch.capacityCount } ?? .max
        var made = SortKeys()
        var read = RecordBatch(model: kept.model)
        var isMore = true
        while isMore {
            read.removeAll()
            var failure: StoreError?
            do throws(StoreError) {
                isMore = try source.visit { record in
                    read.append(record)
                    return !read.isFull
                }
            } catch {
                // First add the records before the damaged record; the error is thrown later.
                failure = error
            }
            made.removeAll()
            try makeKeys(read, made: &made)
            for index in 0..<read.count where isWanted(made, index: index, key: read.key(at: index)) {
                kept.append(read, at: index)
                keys.append(made, at: index)
            }
            highestKeptCount = max(highestKeptCount, kept.count)
            if let needed, kept.count > most { try keepBest(needed) }
            if let failure { throw failure }
        }
    }

    private func makeKeys(_ records: RecordBatch, made: inout SortKeys) throws(StoreError) {
        evaluator.begin(nil)
        encoder.prepare(records, evaluator: evaluator)
        records.forEachRecord { record in
            evaluator.begin(nil)
            made.append { encoder.append(record, evaluator: evaluator, to: &$0) }
        }
        do throws(StoreError) {
            try evaluator.requireSuccess()
        } catch {
            // Without the damaged object's data, the order is unknown. So the fetch cannot
            // continue.
            throw error.withoutDamagedObject
        }
    }

    private func isWanted(_ made: SortKeys, index: Int, key: Int64) -> Bool {
        guard bound.count > 0 else { return true }
        let order = made.order(index, other: bound, otherIndex: 0)
        return order < 0 || order == 0 && key < boundKey
    }

    private func positions() throws(StoreError) -> [Int] {
        let kept = kept
        return try keys.sorted { kept.key(at: $0) < kept.key(at: $1) }
    }

    private func keepBest(_ needed: Int) throws(StoreError) {
        var (fewer, fewerKeys) = (RecordBatch(model: kept.model), SortKeys())
        for index in try positions().prefix(needed) {
            fewer.append(kept, at: index)
            fewerKeys.append(keys, at: index)
        }
        (kept, keys) = (fewer, fewerKeys)
        bound.removeAll()
        bound.append(keys, at: needed - 1)
        boundKey = kept.key(at: needed - 1)
    }
}
