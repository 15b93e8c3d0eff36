package import RoostCore

/// Examines single records for a request: whether it asks for them, and where they are in its
/// order.
///
/// For a result that is kept up to date, one changed object after the other. It is for one thread,
/// and keeps copies of the related objects that it has read.
package final class RecordExaminer {
    private let matcher: RecordMatcher
    private let maker: SortKeyMaker
    private let evaluator: PredicateEvaluator

    /// Prepares the examination of records.
    ///
    /// - Parameters:
    ///   - checked: The request. Its limit and offset do not matter.
    ///   - graph: The related objects; nil if the request needs none.
    /// - Throws: What compiling the order throws.
    package init(_ checked: CheckedFetchRequest, graph: (any ObjectGraph)?) throws(StoreError) {
        matcher = checked.filter.matcher(over: graph)
        maker = SortKeyMaker(levels: try RecordSortOrder.madeLevels(checked.request, model: checked.model))
        evaluator = PredicateEvaluator(
            PredicateProgram(PredicateProgram.Parts(), model: checked.model), graph: graph)
    }

    /// Reads the objects that the order of records depends on, many at once.
    package func prepare(_ records: RecordBatch) {
        evaluator.begin(nil)
        maker.prepare(records, evaluator: evaluator)
    }

    /// Returns whether the request asks for a record.
    ///
    /// - Throws: As ``RecordMatcher/matches(_:)``.
    package func matches(_ record: RecordReader) throws(StoreError) -> Bool { try matcher.matches(record) }

    /// Returns bytes that compare as records do in the request's order; the keys of objects decide
    /// between equal ones.
    ///
    /// - Throws: What reading related objects throws.
    package func order(of record: RecordReader) throws(StoreError) -> [UInt8] {
        var key: [UInt8] = []
        evaluator.begin(nil)
        maker.append(record, evaluator: evaluator, to: &key)
        try evaluator.requireSuccess()
        return key
    }

    /// Returns the number of the bytes of an order that its first levels have.
    ///
    /// - Throws: What reading related objects throws.
    package func byteCount(ofFirst count: Int, levelsOf record: RecordReader) throws(StoreError) -> Int {
        var key: [UInt8] = []
        evaluator.begin(nil)
        SortKeyMaker(levels: Array(maker.levels.prefix(count))).append(record, evaluator: evaluator, to: &key)
        try evaluator.requireSuccess()
        return key.count
    }

    /// Returns the value by which the first level of the order sorts; null without an object on the
    /// way.
    ///
    /// - Throws: What reading related objects throws.
    package func firstValue(of record: RecordReader) throws(StoreError) -> Value {
        guard let level = maker.levels.first else { return .null }
        evaluator.begin(nil)
        let value: Value? = level.path.withEnd(of: record, evaluator: evaluator) { end in
            level.path.fields[end.entityNumber].map { end.value($0) } ?? .null
        }
        try evaluator.requireSuccess()
        return value ?? .null
    }
}
