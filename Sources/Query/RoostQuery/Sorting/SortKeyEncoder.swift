internal import RoostCore

/// An encoder of sort keys, which are computed once for each record.
struct SortKeyEncoder: Sendable {
    struct Level: Sendable {
        let path: RowPath
        let options: FetchRequest.Comparison.Options
        let isAscending: Bool
    }

    let levels: [Level]

    /// Reads the related objects of records in few calls.
    func prepare(_ records: RecordBatch, evaluator: PredicateEvaluator) {
        for level in levels { level.path.prefetch(for: records, evaluator: evaluator) }
    }

    /// Appends the key of a record.
    ///
    /// After an error, which the evaluator stores, the key is invalid.
    func append(_ record: RecordReader, evaluator: PredicateEvaluator, to key: inout [UInt8]) {
        for level in levels {
            let start = key.count
            let isFound: Bool? = level.path.withEnd(of: record, evaluator: evaluator) { end in
                guard let slot = level.path.slots[end.entityNumber] else { return false }
                OrderedBytes.append(slot, of: end, options: level.options, to: &key)
                return true
            }
            // If an object of the path is missing, the value is null.
            if isFound != true { key.append(0) }
            if !level.isAscending { OrderedBytes.complement(&key, from: start) }
        }
    }
}
