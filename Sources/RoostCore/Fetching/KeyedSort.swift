/// Sorts records by keys that are made once for each of them.
///
/// With a limit it keeps at most about twice as many records as offset and limit ask for, with their keys; without one all of them.
final class KeyedSort: RecordCursor {
    private let source: any RecordCursor
    private let maker: SortKeyMaker
    private let graph: (any ObjectGraph)?
    private let offset: Int
    private let limit: Int?
    private var related: RelatedRecordBatches
    /// The numbers of the levels' paths in `related`.
    private let paths: [Int]
    private var kept: RecordBatch
    /// The most records that were kept at one time.
    private(set) var highestKeptCount = 0
    private var keys = SortKeys()
    /// Once enough were read, the key of the last record that can still be wanted, and its object's; else empty.
    private var bound = SortKeys()
    private var boundKey: Int64 = 0
    private var order: [Int]?
    private var given = 0
    /// What was read from the source and not looked at yet, from `position` on.
    private var batch: RecordBatch
    private var position = 0

    /// Prepares sorting.
    ///
    /// - Parameters:
    ///   - source: What is sorted, all of it wanted, in any order.
    ///   - maker: The order; ties go by ascending key.
    ///   - model: The model of the records.
    ///   - graph: How related objects are read; needed where the order leads through relationships.
    ///   - offset: How many to leave out at the beginning.
    ///   - limit: The most to give; nil for all.
    init(
        _ source: any RecordCursor, by maker: SortKeyMaker, model: ManagedObjectModel, graph: (any ObjectGraph)?,
        offset: Int, limit: Int?
    ) throws(StoreError) {
        guard graph != nil || maker.levels.allSatisfy(\.relationships.isEmpty) else {
            throw StoreError(.unsupported, "This store shows no related objects, so it cannot sort by them.")
        }
        (self.source, self.maker, self.graph, self.offset, self.limit) = (source, maker, graph, offset, limit)
        var related = RelatedRecordBatches(model: model)
        paths = maker.levels.map { related.register($0.relationships) }
        self.related = related
        kept = RecordBatch(model: model)
        batch = RecordBatch(model: model)
    }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        if order == nil {
            // Goes on where an error interrupted it.
            try readAll()
            order = positions()
        }
        guard let order else { return false }
        while !batch.isFull, offset < order.count - given, limit.map({ given < $0 }) ?? true {
            batch.append(kept, at: order[offset + given])
            given += 1
        }
        return !batch.isEmpty
    }

    private func readAll() throws(StoreError) {
        let needed = limit.map { limit in
            let sum = offset.addingReportingOverflow(limit)
            return sum.overflow ? Int.max : sum.partialValue
        }
        guard needed != 0 else { return }
        let most = needed.map { 2 * min($0, Int.max / 4) + RecordBatch.capacityCount } ?? .max
        var made = SortKeys()
        while true {
            if position >= batch.count {
                position = 0
                do throws(StoreError) {
                    guard try source.next(into: &batch) else { return }
                } catch {
                    batch.removeAll()
                    throw error
                }
            }
            let slice = position
            let end: Int
            do throws(StoreError) {
                end = try related.load(batch, from: slice, graph)
            } catch {
                // What the order needs is lost, and it is no record of the answer: there is nothing to go on with.
                order = []
                throw StoreError(error.code, error.message, underlying: error.underlying)
            }
            position = end
            made.removeAll()
            maker.append(slice..<end, of: batch, related, paths, to: &made)
            for index in slice..<end where isWanted(made, index - slice, key: batch.key(at: index)) {
                kept.append(batch, at: index)
                keys.append(made, at: index - slice)
            }
            highestKeptCount = max(highestKeptCount, kept.count)
            if let needed, kept.count > most { keepBest(needed) }
        }
    }

    private func isWanted(_ made: SortKeys, _ index: Int, key: Int64) -> Bool {
        guard bound.count > 0 else { return true }
        let order = made.order(index, bound, 0)
        return order < 0 || order == 0 && key < boundKey
    }

    private func positions() -> [Int] {
        let kept = kept
        return keys.sorted { kept.key(at: $0) < kept.key(at: $1) }
    }

    private func keepBest(_ needed: Int) {
        var (fewer, fewerKeys) = (RecordBatch(model: kept.model), SortKeys())
        for index in positions().prefix(needed) {
            fewer.append(kept, at: index)
            fewerKeys.append(keys, at: index)
        }
        (kept, keys) = (fewer, fewerKeys)
        bound.removeAll()
        bound.append(keys, at: needed - 1)
        boundKey = kept.key(at: needed - 1)
    }
}
