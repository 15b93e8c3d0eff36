package import RoostCore

/// A matcher of single records, which also determines their positions in the requested order.
///
/// Use an examiner to update a result when objects change. An examiner caches related objects, and
/// must be used by only one thread at a time.
package final class RecordExaminer {
    private let matcher: RecordMatcher
    private let encoder: SortKeyEncoder
    private let evaluator: PredicateEvaluator

    /// Prepares the examination of records.
    ///
    /// Ignores the request's limit and offset. `graph` can be nil if the request needs no related
    /// objects.
    package init(_ checked: CheckedFetchRequest, graph: (any ObjectGraph)?) throws(StoreError) {
        matcher = checked.filter.matcher(over: graph)
        encoder = SortKeyEncoder(levels: try RecordSortOrder.madeLevels(checked.request, model: checked.model))
        evaluator = PredicateEvaluator(
            PredicateProgram(PredicateProgram.Parts(), model: checked.model), graph: graph)
    }

    /// Reads the objects on which the order of records depends, in few calls.
    package func prepare(_ records: RecordBatch) {
        evaluator.begin(nil)
        encoder.prepare(records, evaluator: evaluator)
    }

    package func matches(_ record: RecordReader) throws(StoreError) -> Bool { try matcher.matches(record) }

    /// Returns bytes whose comparison gives the request's order.
    ///
    /// Records with equal bytes are ordered by key.
    package func order(of record: RecordReader) throws(StoreError) -> [UInt8] {
        var key: [UInt8] = []
        evaluator.begin(nil)
        encoder.append(record, evaluator: evaluator, to: &key)
        try evaluator.requireSuccess()
        return key
    }

    /// Returns the number of bytes that ``order(of:)`` uses for the first `count` levels.
    package func byteCount(ofFirst count: Int, levelsOf record: RecordReader) throws(StoreError) -> Int {
        var key: [UInt8] = []
        evaluator.begin(nil)
        SortKeyEncoder(levels: Array(encoder.levels.prefix(count))).append(record, evaluator: evaluator, to: &key)
        try evaluator.requireSuccess()
        return key.count
    }

    /// Returns the value for the first level of the order, or null.
    package func firstValue(of record: RecordReader) throws(StoreError) -> Value {
        guard let level = encoder.levels.first else { return .null }
        evaluator.begin(nil)
        let value: Value? = level.path.withEnd(of: record, evaluator: evaluator) { end in
            level.path.fields[end.entityNumber].map { end.value($0) } ?? .null
        }
        try evaluator.requireSuccess()
        return value ?? .null
    }
}
