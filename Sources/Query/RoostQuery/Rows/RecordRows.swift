internal import RoostCore

/// A cursor that returns a row for each fetched object.
final class RecordRows: RowCursor {
    let columns: [String]
    let types: [AttributeType?]
    private let sources: [RowSource]
    private let records: any RecordCursor
    private let evaluator: PredicateEvaluator
    private var read: RecordBatch
    private var isAtEnd = false

    /// Creates a cursor; columns that are used only for sorting have no name.
    init(_ plan: RowPlan, records: any RecordCursor, evaluator: PredicateEvaluator) {
        (sources, self.records, self.evaluator) = (plan.sources, records, evaluator)
        columns = plan.columns + [String](repeating: "", count: plan.sources.count - plan.columns.count)
        types = plan.sources.map(\.type)
        read = RecordBatch(model: evaluator.program.model)
    }

    func next(into batch: inout RowBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        batch.columns = columns
        guard !isAtEnd, try records.next(into: &read) else { return false }
        evaluator.begin(nil)
        evaluator.prefetch(for: read)
        for source in sources { source.prefetch(for: read, evaluator: evaluator) }
        for index in 0..<read.count {
            read.withRecord(at: index) { record in
                evaluator.begin(record)
                for source in sources { batch.values.append(source.value(of: record, evaluator: evaluator)) }
            }
            batch.count += 1
            do throws(StoreError) {
                try evaluator.requireSuccess()
            } catch {
                batch.removeAll()
                isAtEnd = true
                throw error.withoutDamagedObject
            }
        }
        return true
    }
}
