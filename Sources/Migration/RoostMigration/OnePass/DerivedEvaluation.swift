internal import Foundation
internal import RoostCore
internal import RoostQuery

/// A computation of derived values from one state of the objects on which they depend.
///
/// Use it on one thread only.
struct DerivedEvaluation {
    /// The attributes, by entity number.
    private let attributes: [[DerivedAttributes.Attribute]]
    /// The evaluators of the attributes' expressions; nil for `now()`.
    private let evaluators: [[ExpressionEvaluator?]]
    /// The value of `now()` for objects without a time.
    private let now: Date

    /// Prepares the computation of attributes, which are given by entity number.
    ///
    /// The attributes read other objects from `graph`. If `graph` is nil, no attribute may read
    /// other objects.
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
    ///
    /// - Throws: `invalidValue` for a value that an attribute cannot hold; errors of evaluating the
    ///   expressions.
    func values(of record: RecordReader) throws(StoreError) -> [(field: RecordLayout.Field, value: Value)] {
        var values: [(field: RecordLayout.Field, value: Value)] = []
        let number = record.entityNumber
        for (attribute, evaluator) in zip(attributes[number], evaluators[number]) {
            guard let evaluator else {
                // A time of the last save that the mapping kept is not replaced.
                if record.isNull(attribute.field) { values.append((attribute.field, .date(now))) }
                continue
            }
            let value = try attribute.storedValue(of: record, by: evaluator)
            if record.value(attribute.field) != value { values.append((attribute.field, value)) }
        }
        return values
    }

    /// Appends the records of a batch to another batch, with their derived values.
    ///
    /// - Throws: The errors of ``values(of:)``; `invalidValue` for a number outside the range of
    ///   its attribute.
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
