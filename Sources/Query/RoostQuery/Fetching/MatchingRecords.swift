package import RoostCore

/// The records of a source that match a filter.
///
/// Fast conditions on the record alone are checked in place. Other conditions are checked on copies
/// of records, because a store may hold locks while a record is visited.
package final class MatchingRecords: RecordVisitor {
    /// The initial number of records to copy at once.
    ///
    /// Each round may copy four times as many records as the previous one, up to a full batch.
    private static let firstCandidateCount = 16
    /// The number of copies to check between checks for cancellation.
    private static let candidatesPerLook = 64

    private let source: any RecordVisitor
    private let matcher: RecordMatcher
    /// The number of records of the source that were examined.
    private(set) var visitedCount = 0
    /// Copies of records that meet the fast conditions.
    ///
    /// The first `askedCount` copies were already checked for the other conditions.
    private var candidates: RecordBatch
    private var askedCount = 0
    private var candidateLimit = MatchingRecords.firstCandidateCount
    private var isAtEnd = false
    /// An error that ended a search for candidates, thrown after the found candidates are checked.
    private var pendingError: StoreError?

    /// Prepares a pass over the matching records; for `graph`, see ``ScanningFetch``.
    package init(_ source: any RecordVisitor, filter: RecordFilter, graph: (any ObjectGraph)?) {
        self.source = source
        matcher = filter.matcher(over: graph)
        candidates = RecordBatch(model: filter.model)
    }

    /// Calls `body` with each of the next matching records until `body` returns false.
    ///
    /// The next call continues after the last visited record.
    ///
    /// - Returns: False after the last record, and on every later call.
    /// - Throws: The errors of ``RecordVisitor/visit(_:)`` and ``RecordMatcher/matches(_:)``;
    ///   `cancelled`. After an error with a damaged object, the next call continues after that
    ///   object. After any other error, no records follow.
    package func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        guard matcher.isQuick else { return try visitCandidates(body) }
        let (quick, evaluator, source) = (matcher.quick, matcher.evaluator, source)
        return try inStrides { (count) throws(StoreError) in
            var shouldContinue = true
            let isMore = try source.visit { record in
                count &+= 1
                if quick.matches(record, evaluator: evaluator) { shouldContinue = body(record) }
                return shouldContinue && count < FetchCancellation.stride
            }
            return (isMore, shouldContinue)
        }
    }

    /// Visits records like ``visit(_:)``, but skips records whose
    /// ``RecordSortOrder/leadingNumber(of:)`` in `order` is above `highest`.
    func visit(
        upTo highest: UInt64, in order: RecordSortOrder, _ body: (RecordReader) -> Bool
    ) throws(StoreError) -> Bool {
        guard matcher.isQuick else {
            return try visitCandidates { order.leadingNumber(of: $0) > highest ? true : body($0) }
        }
        let (quick, evaluator, source) = (matcher.quick, matcher.evaluator, source)
        return try inStrides { (count) throws(StoreError) in
            var shouldContinue = true
            let isMore = try source.visit { record in
                count &+= 1
                if quick.matches(record, evaluator: evaluator), order.leadingNumber(of: record) <= highest {
                    shouldContinue = body(record)
                }
                return shouldContinue && count < FetchCancellation.stride
            }
            return (isMore, shouldContinue)
        }
    }

    /// Implements ``visit(_:)`` for filters with conditions that are checked on copies.
    private func visitCandidates(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        while true {
            let candidates = candidates
            while askedCount < candidates.count {
                if askedCount.isMultiple(of: Self.candidatesPerLook) { try checkTask() }
                askedCount += 1
                guard try show(candidates, at: askedCount - 1, body) else { return true }
            }
            if let error = pendingError {
                pendingError = nil
                throw error
            }
            guard !isAtEnd else { return false }
            findCandidates()
        }
    }

    /// Counts the remaining matching records, and stops when the count is `enough`.
    func count(upTo enough: Int) throws(StoreError) -> Int {
        var matches = 0
        guard enough > 0 else { return 0 }
        if matcher.isQuick {
            let (quick, evaluator, source) = (matcher.quick, matcher.evaluator, source)
            _ = try inStrides { (count) throws(StoreError) in
                let isMore = try source.visit { record in
                    count &+= 1
                    // Avoids a branch, because matches are hard to predict.
                    matches &+= quick.matches(record, evaluator: evaluator) ? 1 : 0
                    return matches < enough && count < FetchCancellation.stride
                }
                return (isMore, matches < enough)
            }
        } else {
            _ = try visit { _ in
                matches += 1
                return matches < enough
            }
        }
        return matches
    }

    /// Examines the records of the source, and regularly checks whether the task was cancelled.
    ///
    /// Returns false after the last record. `next` examines up to ``FetchCancellation/stride``
    /// records, because one call for each record would be slower. It adds the number of examined
    /// records to its argument.
    @inline(__always)
    private func inStrides(
        _ next: (inout Int) throws(StoreError) -> (isMore: Bool, shouldContinue: Bool)
    ) throws(StoreError) -> Bool {
        while !isAtEnd {
            try checkTask()
            var count = 0
            defer {
                visitedCount += count
                FetchCancellation.progress?.report(count)
            }
            let (isMore, shouldContinue) = try next(&count)
            guard isMore, shouldContinue else { return isMore }
        }
        return false
    }

    /// Throws `cancelled` if the task is cancelled.
    ///
    /// After this error, no records follow.
    private func checkTask() throws(StoreError) {
        guard Task.isCancelled else { return }
        isAtEnd = true
        pendingError = nil
        candidates.removeAll()
        askedCount = 0
        throw FetchCancellation.error
    }

    /// Calls `body` with a candidate if the candidate meets the other conditions.
    ///
    /// Returns the result of `body`, or true if `body` was not called.
    private func show(
        _ candidates: RecordBatch, at index: Int, _ body: (RecordReader) -> Bool
    ) throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try candidates.withRecord(at: index) { (record) throws(StoreError) in
                try matcher.matchesRest(record) ? body(record) : true
            }
        } catch {
            if error.damagedObject == nil {
                isAtEnd = true
                pendingError = nil
                self.candidates.removeAll()
                askedCount = 0
            }
            throw error
        }
    }

    private func findCandidates() {
        candidates.removeAll()
        askedCount = 0
        let (matcher, limit, source) = (matcher, candidateLimit, source)
        var found = candidates
        candidates = RecordBatch(model: found.model)
        do throws(StoreError) {
            isAtEnd = try !inStrides { (count) throws(StoreError) in
                var shouldContinue = true
                let isMore = try source.visit { record in
                    count &+= 1
                    if matcher.matchesQuickly(record) { found.append(record) }
                    shouldContinue = found.count < limit && !found.isFull
                    return shouldContinue && count < FetchCancellation.stride
                }
                return (isMore, shouldContinue)
            }
        } catch {
            pendingError = error
        }
        candidates = found
        candidateLimit = min(4 * limit, RecordBatch.capacityCount)
        matcher.prepare(candidates)
    }
}
