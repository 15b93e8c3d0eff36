internal import Foundation
internal import RoostCore
internal import RoostQuery

/// A computation of derived values from one state of the objects on which they depend.
///
/// Use it on one thread only.
struct DerivedEvaluation {
    private let attributes: [[DerivedAttributes.Attribute]]
    /// The evaluators of the attributes' expressions, by entity number; nil for `now()`.
    private let evaluators: [[ExpressionEvaluator?]]
    /// The value of `now()` for objects without a time.
    private let now: Date

    /// Prepares the computation; `graph` may be nil if no attribute reads other objects.
    init(_ attributes: [[DerivedAttributes.Attribute]], over graph: (any ObjectGraph)?, now: Date) {
        self.attributes = attributes
        self.now = now
        evaluators = attributes.map { attributes in
            attributes.map { attribute -> ExpressionEvaluator? in
                guard case .expression(let expression) = attribute.value else { return nil }
                return expression.evaluator(over: graph)
            }
        }
    }

    /// Returns the derived values that differ from a record's values.
    func values(of record: RecordReader) throws(StoreError) -> [(field: RecordLayout.Field, value: Value)] {
        var values: [(field: RecordLayout.Field, value: Value)] = []
        let number = record.entityNumber
        for (attribute, evaluator) in zip(attributes[number], evaluators[number]) {
            guard let evaluator else {
                // If the mapping kept the time of the last save, this time is not replaced.
                if record.isNull(attribute.field) { values.append((attribute.field, .date(now))) }
                continue
            }
            let value = try attribute.storedValue(of: record, by: evaluator)
            if record.value(attribute.field) != value { values.append((attribute.field, value)) }
        }
        return values
    }

    /// Appends the records of a batch to another batch, with their derived values.
    func append(_ records: RecordBatch, to result: inout RecordBatch) throws(StoreError) {
        for index in 0..<records.count {
            try records.withRecord(at: index) { (record) throws(StoreError) in
                let values = try values(of: record)
                if values.isEmpty {
                    result.append(record)
                } else {
                    try result.append(record, replacing: values)
                }
            }
        }
    }
}
