public import RoostCore

/// A cursor that executes any fetch request by reading the records in sequence.
///
/// Without sort descriptors, records are streamed. With an order and a limit, the fetch buffers at
/// most 2 × (offset + limit) records plus about two batches. With an order and no limit, it buffers
/// all matching records. If the order needs computed sort keys (``RecordSortOrder/needsKeys``), the
/// fetch also buffers the sort key of each buffered record.
public final class ScanningFetch: FillingRecordCursor {
    private let source: MatchingRecords
    private let order: RecordSortOrder
    /// The sort by computed sort keys; nil if the records can be compared directly.
    private let keyed: KeyedSort?
    private let offset: Int
    private let limit: Int?
    private var skipped = 0
    private var given = 0
    /// The buffered records of an ordered fetch.
    private var kept: RecordBatch
    /// The order of the buffered records; nil until all records were read.
    private var keptOrder: [Int]?
    /// A copy of the last record that the result can still contain, by the requested order.
    ///
    /// Empty until enough records were read. Records that come after this copy are skipped.
    private var bound: RecordBatch

    /// Prepares a fetch over the records of a cursor.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - model: The model of the store.
    ///   - source: The records of the requested entity in ascending key order. Records of other
    ///     entities are skipped.
    ///   - graph: The source of related objects. Without a graph, a predicate that uses related
    ///     objects throws `unsupported`.
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`, `limitExceeded`; see
    ///   ``RecordFilter`` and ``RecordSortOrder``.
    public convenience init(
        _ request: FetchRequest, model: ManagedObjectModel, source: any RecordCursor, graph: (any ObjectGraph)? = nil
    ) throws(StoreError) {
        try self.init(request, model: model, visiting: CursorVisitor(source, model: model), graph: graph)
    }

    /// Prepares a fetch over records that are visited in place.
    ///
    /// A request without sort descriptors returns the records in the order of `source`. See
    /// ``init(_:model:source:graph:)`` for the parameters and errors.
    package convenience init(
        _ request: FetchRequest, model: ManagedObjectModel, visiting source: any RecordVisitor,
        graph: (any ObjectGraph)? = nil
    ) throws(StoreError) {
        self.init(try CheckedFetchRequest(request, model: model), visiting: source, graph: graph)
    }

    package init(_ checked: CheckedFetchRequest, visiting source: any RecordVisitor, graph: (any ObjectGraph)? = nil) {
        let (request, model, order) = (checked.request, checked.model, checked.order)
        self.order = order
        offset = request.fetchOffset ?? 0
        limit = request.fetchLimit
        let matching = MatchingRecords(source, filter: checked.filter, graph: graph)
        self.source = matching
        keyed = order.encoder.map { encoder in
            KeyedSort(
                matching, by: encoder, model: model, graph: graph, offset: request.fetchOffset ?? 0,
                limit: request.fetchLimit)
        }
        kept = RecordBatch(model: model)
        bound = RecordBatch(model: model)
        super.init(model: model)
    }

    /// Counts the records that a request returns, with limit and offset applied, by reading
    /// `source`.
    public static func count(
        _ request: FetchRequest, model: ManagedObjectModel, source: any RecordCursor, graph: (any ObjectGraph)? = nil
    ) throws(StoreError) -> Int {
        try count(request, model: model, visiting: CursorVisitor(source, model: model), graph: graph)
    }

    package static func count(
        _ request: FetchRequest, model: ManagedObjectModel, visiting source: any RecordVisitor,
        graph: (any ObjectGraph)? = nil
    ) throws(StoreError) -> Int {
        // The order does not affect the count, but an invalid order is still an error.
        try count(try CheckedFetchRequest(request, model: model), visiting: source, graph: graph)
    }

    package static func count(
        _ checked: CheckedFetchRequest, visiting source: any RecordVisitor, graph: (any ObjectGraph)? = nil
    ) throws(StoreError) -> Int {
        let request = checked.request
        let source = MatchingRecords(source, filter: checked.filter, graph: graph)
        let matches = try source.count(upTo: checked.reach ?? .max)
        let remaining = max(0, matches - (request.fetchOffset ?? 0))
        return request.fetchLimit.map { min($0, remaining) } ?? remaining
    }

    package var visitedCount: Int { source.visitedCount }

    /// Adds the next records in the request's order.
    public override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        do throws(StoreError) {
            if let keyed { return try keyed.fill(&batch) }
            return order.isByKey ? try stream(into: &batch) : try fillSorted(&batch)
        } catch {
            guard error.damagedObject == nil, !batch.isEmpty else { throw error }
            // The error is thrown after the caller has received the batch.
            end(with: error)
            return false
        }
    }

    private func stream(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        let (offset, limit) = (offset, limit ?? .max)
        var (skipped, given) = (skipped, given)
        guard given < limit else { return false }
        defer { (self.skipped, self.given) = (skipped, given) }
        let isMore = try source.visit { record in
            guard skipped == offset else {
                skipped += 1
                return true
            }
            batch.append(record)
            given += 1
            return given < limit && !batch.isFull
        }
        return isMore && given < limit
    }

    private func fillSorted(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        if keptOrder == nil { try readAndSort() }
        guard let order = keptOrder else { return false }
        while offset < order.count - given, limit.map({ given < $0 }) ?? true {
            guard !batch.isFull else { return true }
            batch.append(kept, at: order[offset + given])
            given += 1
        }
        return false
    }

    /// Reads all matching records, and sorts the records that the result can contain.
    ///
    /// After an error with a damaged object, the next call continues reading.
    private func readAndSort() throws(StoreError) {
        try FetchCancellation.check()
        let needed = Window(offset: offset, limit: limit).reach
        let most = needed.map { 2 * min($0, Int.max / 4) + RecordBatch.capacityCount } ?? .max
        let order = order
        var (kept, bound) = (take(&self.kept), take(&self.bound))
        defer { (self.kept, self.bound) = (kept, bound) }
        var isMore = needed != 0
        while isMore {
            // In a long scan, most records come after the bound, and their leading numbers are
            // enough to skip them.
            let highest = bound.isEmpty ? UInt64.max : bound.withRecord(at: 0) { order.leadingNumber(of: $0) }
            isMore = try source.visit(upTo: highest, in: order) { record in
                if !bound.isEmpty, order.leadingNumber(of: record) == highest,
                    bound.withRecord(at: 0, { !order.precedes(record, $0) })
                {
                    return true
                }
                kept.append(record)
                return kept.count <= most
            }
            if let needed, kept.count > most {
                var fewer = RecordBatch(model: kept.model)
                for index in try kept.indices(in: order).prefix(needed) { fewer.append(kept, at: index) }
                bound.removeAll()
                bound.append(fewer, at: needed - 1)
                kept = fewer
            }
        }
        keptOrder = try kept.indices(in: order)
    }

    /// Moves a batch out of a property, so that it can be changed in place in a local variable.
    private func take(_ batch: inout RecordBatch) -> RecordBatch {
        let taken = batch
        batch = RecordBatch(model: taken.model)
        return taken
    }
}

extension RecordBatch {
    /// Returns the indexes of the records in the given order.
    ///
    /// Throws `cancelled` if the task is cancelled meanwhile.
    func indices(in order: RecordSortOrder) throws(StoreError) -> [Int] {
        try withReaders { (reader) throws(StoreError) in
            var indices = Array(0..<count)
            try indices.sortUnlessCancelled { order.precedes(reader($0), reader($1)) }
            return indices
        }
    }
}
