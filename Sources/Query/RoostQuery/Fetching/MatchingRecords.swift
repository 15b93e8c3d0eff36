package import RoostCore

/// The records of a source that meet a filter.
///
/// Conditions that a record decides alone are checked where the record is. The others may take long
/// and read other objects, so they are checked on copies: a store may hold locks while it shows a
/// record.
package final class MatchingRecords: RecordVisitor {
    /// The initial number of copies; it grows while more are wanted.
    private static let firstCandidateCount = 16
    /// The number of copies to check before looking whether the task was cancelled.
    private static let candidatesPerLook = 64

    private let source: any RecordVisitor
    private let matcher: RecordMatcher
    /// The number of records of the source that were looked at.
    private(set) var visitedCount = 0
    /// Records that meet the conditions they decide alone, and the number checked for the others.
    private var candidates: RecordBatch
    private var askedCount = 0
    private var candidateLimit = MatchingRecords.firstCandidateCount
    private var isAtEnd = false
    /// An error of the source to throw after the records before it were shown.
    private var pendingError: StoreError?

    /// Prepares the records.
    ///
    /// - Parameters:
    ///   - source: The records.
    ///   - filter: The condition that they must meet.
    ///   - graph: The related objects; see ``ScanningFetch``.
    package init(_ source: any RecordVisitor, filter: RecordFilter, graph: (any ObjectGraph)?) {
        self.source = source
        matcher = filter.matcher(over: graph)
        candidates = RecordBatch(model: filter.model)
    }

    /// Calls `body` with each of the next matching records until it returns false; the next call
    /// continues there.
    ///
    /// - Returns: False after the last record, and ever after.
    /// - Throws: As ``RecordVisitor/visit(_:)`` and ``RecordMatcher/matches(_:)``. After an error
    ///   that names an object, the next call continues after that object; after any other error no
    ///   records follow.
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

    /// As ``visit(_:)``, without the records whose leading number in an order is above `highest`,
    /// as that of most records of a long scan is.
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

    /// As ``visit(_:)``, where a record alone does not decide everything.
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

    /// Counts the remaining matching records; stops at `enough`.
    func count(upTo enough: Int) throws(StoreError) -> Int {
        var matches = 0
        guard enough > 0 else { return 0 }
        if matcher.isQuick {
            let (quick, evaluator, source) = (matcher.quick, matcher.evaluator, source)
            _ = try inStrides { (count) throws(StoreError) in
                let isMore = try source.visit { record in
                    count &+= 1
                    // Without a branch: whether a record matches cannot be predicted.
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

    /// Looks at the records of the source, and regularly checks whether the task was cancelled.
    ///
    /// - Parameter next: Looks at up to ``FetchCancellation/stride`` of the next records in one
    ///   closure, which costs less than a closure that calls another for each, and counts them.
    ///   Returns whether there is more, and whether it is wanted.
    /// - Returns: False after the last record.
    /// - Throws: What `next` throws; `cancelled`.
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

    /// Throws code `cancelled` in a cancelled task; then no records follow.
    private func checkTask() throws(StoreError) {
        guard Task.isCancelled else { return }
        isAtEnd = true
        pendingError = nil
        candidates.removeAll()
        askedCount = 0
        throw FetchCancellation.error
    }

    /// Checks the other conditions of a candidate and shows it if it matches; returns the result of
    /// `body`, or true.
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

    /// Copies the next records that meet what they decide alone.
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
