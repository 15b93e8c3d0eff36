/// Answers a fetch request by reading records one after the other: the plan that always works.
///
/// Without sort descriptors it streams. With a limit it keeps at most about twice as many records as offset and limit ask for;
/// with an order and no limit it keeps all matching records, packed.
public final class ScanningFetch: RecordCursor {
    private let source: any RecordCursor
    private let filter: RecordFilter
    private let order: RecordOrder
    private let offset: Int
    private let limit: Int?
    private var input: RecordBatch
    private var inputIndex = 0
    private var skipped = 0
    private var given = 0
    /// What an ordered fetch has kept so far, and its order once everything was read.
    private var kept: RecordBatch
    private var keptOrder: [Int]?
    private var isAtEnd = false
    /// An error of the source that must wait until the records before it were handed out.
    private var pendingError: StoreError?

    /// Prepares a fetch.
    ///
    /// - Parameters:
    ///   - request: What is wanted.
    ///   - model: The model of the store.
    ///   - source: The records of the requested entity in ascending key order; others are left out.
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`; see ``RecordFilter`` and ``RecordOrder``.
    public init(_ request: FetchRequest, model: ManagedObjectModel, source: any RecordCursor) throws(StoreError) {
        filter = try RecordFilter(request, model: model)
        order = try RecordOrder(request, model: model)
        offset = request.fetchOffset
        limit = request.fetchLimit
        self.source = source
        input = RecordBatch(model: model)
        kept = RecordBatch(model: model)
    }

    /// How many records a request gives, limit and offset included, by reading all of `source`.
    public static func count(
        _ request: FetchRequest, model: ManagedObjectModel, source: any RecordCursor
    ) throws(StoreError) -> Int {
        // The order does not change a count, but a wrong one is an error all the same.
        _ = try RecordOrder(request, model: model)
        let filter = try RecordFilter(request, model: model)
        let wanted = request.fetchLimit.map { request.fetchOffset.addingReportingOverflow($0) }
        let enough = wanted.flatMap { $0.overflow ? nil : $0.partialValue }
        var batch = RecordBatch(model: model)
        var matches = 0
        while enough.map({ matches < $0 }) ?? true, try source.next(into: &batch) {
            batch.forEachRecord { if filter.matches($0) { matches += 1 } }
        }
        let remaining = max(0, matches - request.fetchOffset)
        return request.fetchLimit.map { min($0, remaining) } ?? remaining
    }

    /// Replaces the contents of `batch` by the next records in the request's order.
    public func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        if order.isByKey { try streamNext(into: &batch) } else { try sortedNext(into: &batch) }
        return !batch.isEmpty
    }

    private func streamNext(into batch: inout RecordBatch) throws(StoreError) {
        if let error = pendingError {
            pendingError = nil
            throw error
        }
        while !isAtEnd, !batch.isFull, limit.map({ given < $0 }) ?? true {
            if inputIndex == input.count {
                inputIndex = 0
                do throws(StoreError) {
                    isAtEnd = try !source.next(into: &input)
                } catch {
                    input.removeAll()
                    guard !batch.isEmpty else { throw error }
                    pendingError = error
                    return
                }
                continue
            }
            if input.withRecord(at: inputIndex, { filter.matches($0) }) {
                if skipped < offset {
                    skipped += 1
                } else {
                    batch.append(input, at: inputIndex)
                    given += 1
                }
            }
            inputIndex += 1
        }
    }

    private func sortedNext(into batch: inout RecordBatch) throws(StoreError) {
        if keptOrder == nil { try readAndSort() }
        guard let order = keptOrder else { return }
        while !batch.isFull, offset < order.count - given, limit.map({ given < $0 }) ?? true {
            batch.append(kept, at: order[offset + given])
            given += 1
        }
    }

    /// Reads everything that matches, keeps what offset and limit can reach, and sorts it.
    ///
    /// Goes on where an error interrupted it.
    private func readAndSort() throws(StoreError) {
        let needed = limit.flatMap { limit in
            let sum = offset.addingReportingOverflow(limit)
            return sum.overflow ? nil : sum.partialValue
        }
        while try source.next(into: &input) {
            for index in 0..<input.count where input.withRecord(at: index, { filter.matches($0) }) {
                kept.append(input, at: index)
            }
            if let needed, kept.count > 2 * min(needed, Int.max / 4) + RecordBatch.capacityCount {
                var fewer = RecordBatch(model: kept.model)
                for index in kept.indices(in: order).prefix(needed) { fewer.append(kept, at: index) }
                kept = fewer
            }
        }
        keptOrder = kept.indices(in: order)
    }
}

extension RecordBatch {
    /// The positions of the records in the given order.
    func indices(in order: RecordOrder) -> [Int] {
        withReaders { reader in (0..<count).sorted { order.precedes(reader($0), reader($1)) } }
    }
}
