package import RoostCore

/// An expression checked against a model, to be evaluated on many records of one entity and its
/// subentities.
///
/// Check it once, then ask an evaluator of ``evaluator(over:)`` record by record:
///
///     let length = try CompiledExpression(.function(.divide, [.keyPath(["length"]),
///     .constant(60)]), for: "Track", model: model) let evaluator = length.evaluator(over:
///     SnapshotGraph(snapshot)) try batch.forEachRecord { record in values.append(try
///     evaluator.value(of: record)) }
package struct CompiledExpression: Sendable {
    let program: PredicateProgram
    let node: PredicateProgram.Index
    package let type: PredicateType

    /// Checks an expression.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, and as ``RecordFilter/init(_:model:)``.
    package init(
        _ expression: FetchRequest.Expression, for entity: EntityName, model: ManagedObjectModel
    ) throws(StoreError) {
        self = try PredicateCompiler.compile { (isShallow) throws(StoreError) in
            try CompiledExpression(expression, for: entity, model: model, isShallow: isShallow)
        }
    }

    private init(
        _ expression: FetchRequest.Expression, for entity: EntityName, model: ManagedObjectModel, isShallow: Bool
    ) throws(StoreError) {
        var compiler = PredicateCompiler(model: model, entity: try model.requireEntity(entity), isShallow: isShallow)
        let term = try compiler.expression(expression)
        (node, type) = (term.node, term.type)
        program = PredicateProgram(compiler.parts, model: model)
    }

    /// Whether it has many values for each object, as a path through a to-many relationship has.
    package var isCollection: Bool { type.isCollection }

    /// Returns an evaluator of the expression; for one thread.
    ///
    /// It keeps copies of the related objects that it has met: 8 MiB of them, and those of one
    /// record. `graph` is the source of related objects; without one, an expression that asks for
    /// them throws code `unsupported`.
    package func evaluator(over graph: (any ObjectGraph)?) -> ExpressionEvaluator {
        ExpressionEvaluator(self, graph: graph)
    }
}

/// Evaluates one expression on records, one after the other; for one thread.
package final class ExpressionEvaluator {
    private let expression: CompiledExpression
    private let evaluator: PredicateEvaluator

    init(_ expression: CompiledExpression, graph: (any ObjectGraph)?) {
        self.expression = expression
        evaluator = PredicateEvaluator(expression.program, graph: graph)
    }

    /// Returns the value of the expression for a record: the first of many values, or null.
    ///
    /// An object's ID names the object's own entity.
    /// - Throws: As ``RecordMatcher/matches(_:)``.
    package func value(of record: RecordReader) throws(StoreError) -> Value {
        var value = Value.null
        try forEach(of: record) { operand in
            value = evaluator.decoded(operand, kind: expression.type.kind)
            return false
        }
        return value
    }

    /// All values of the expression for a record, in their order.
    ///
    /// - Throws: As ``RecordMatcher/matches(_:)``.
    package func values(of record: RecordReader) throws(StoreError) -> [Value] {
        var values: [Value] = []
        try forEach(of: record) { operand in
            values.append(evaluator.decoded(operand, kind: expression.type.kind))
            return true
        }
        return values
    }

    /// Calls `body` with the operands of the values until it returns false.
    func forEach(of record: RecordReader, _ body: (PredicateOperand) -> Bool) throws(StoreError) {
        evaluator.begin(record)
        _ = evaluator.forEach(expression.node, repetition: .everyWay, body)
        try evaluator.requireSuccess()
    }
}
