/// The records of a source that meet a filter.
///
/// What a record decides alone is asked where the record is. The rest, which may take long and read other objects, is asked of copies:
/// a store may hold locks while it shows a record.
package final class MatchingRecords: RecordVisitor {
    /// How many copies there are at first; as long as more is wanted, there are more each time.
    private static let firstCandidateCount = 16
    /// How many of them are asked before looking whether the task was cancelled.
    private static let candidatesPerLook = 64

    private let source: any RecordVisitor
    private let matcher: RecordMatcher
    /// How many records of the source were looked at.
    private(set) var visitedCount = 0
    /// Records that meet what they decide alone, and how many of them were asked about the rest.
    private var candidates: RecordBatch
    private var askedCount = 0
    private var candidateLimit = MatchingRecords.firstCandidateCount
    private var isAtEnd = false
    /// An error of the source that must wait until the records before it were shown.
    private var pendingError: StoreError?

    /// Prepares what is shown.
    ///
    /// - Parameters:
    ///   - source: The records.
    ///   - filter: What they must meet.
    ///   - graph: Where related objects are; see ``ScanningFetch``.
    package init(_ source: any RecordVisitor, _ filter: RecordFilter, graph: (any ObjectGraph)?) {
        self.source = source
        matcher = filter.matcher(over: graph)
        candidates = RecordBatch(model: filter.model)
    }

    /// Calls `body` with each of the next records that match, until it returns false; goes on there with the next call.
    ///
    /// - Returns: False when there are no more records, and ever after.
    /// - Throws: As ``RecordVisitor/visit(_:)`` and ``RecordMatcher/matches(_:)``. After an error that names an object the next call goes
    ///   on behind it, after any other there are no more records.
    package func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        guard !matcher.isQuick else {
            let (quick, evaluator) = (matcher.quick, matcher.evaluator)
            return try visitSource { quick.matches($0, evaluator) ? body($0) : true }
        }
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

    /// How many of the records that are left match; stops at `enough`.
    func count(upTo enough: Int) throws(StoreError) -> Int {
        var matches = 0
        guard enough > 0 else { return 0 }
        if matcher.isQuick {
            let (quick, evaluator) = (matcher.quick, matcher.evaluator)
            _ = try visitSource { record in
                // Without a branch: whether a record matches cannot be predicted.
                matches &+= quick.matches(record, evaluator) ? 1 : 0
                return matches < enough
            }
        } else {
            _ = try visit { _ in
                matches += 1
                return matches < enough
            }
        }
        return matches
    }

    /// Shows the records of the source, and looks now and then whether the task was cancelled.
    @inline(__always)
    private func visitSource(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        while !isAtEnd {
            try checkTask()
            var count = 0
            var isWanted = true
            defer { visitedCount += count }
            let isMore = try source.visit { record in
                count &+= 1
                isWanted = body(record)
                return isWanted && count < FetchCancellation.stride
            }
            guard isMore, isWanted else { return isMore }
        }
        return false
    }

    /// Throws code `cancelled` in a task that was cancelled; then there are no more records.
    private func checkTask() throws(StoreError) {
        guard Task.isCancelled else { return }
        isAtEnd = true
        pendingError = nil
        candidates.removeAll()
        askedCount = 0
        throw FetchCancellation.error
    }

    /// Asks a candidate about the rest, and shows it if it matches; what `body` returns, or true.
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
        let (matcher, limit) = (matcher, candidateLimit)
        var found = candidates
        candidates = RecordBatch(model: found.model)
        do throws(StoreError) {
            isAtEnd = try !visitSource { record in
                if matcher.matchesQuickly(record) { found.append(record) }
                return found.count < limit && !found.isFull
            }
        } catch {
            pendingError = error
        }
        candidates = found
        candidateLimit = min(4 * limit, RecordBatch.capacityCount)
        matcher.prepare(candidates)
    }
}
