package import RoostCore

/// An expression compiled against a model, for many records of an entity and its subentities.
package struct CompiledExpression: Sendable {
    let program: PredicateProgram
    let node: PredicateProgram.Index
    package let type: PredicateType

    /// Compiles an expression.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, and the errors of
    ///   ``RecordFilter/init(_:model:)``.
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

    /// Whether the expression has many values for each object.
    package var isCollection: Bool { type.isCollection }

    /// Returns an evaluator of the expression.
    ///
    /// The evaluator caches related objects: up to 8 MiB, plus the objects for one record. Without
    /// a `graph`, an expression that uses related objects throws `unsupported`.
    package func evaluator(over graph: (any ObjectGraph)?) -> ExpressionEvaluator {
        ExpressionEvaluator(self, graph: graph)
    }
}

/// An evaluator of an expression, on one thread at a time.
package final class ExpressionEvaluator {
    private let expression: CompiledExpression
    private let evaluator: PredicateEvaluator

    init(_ expression: CompiledExpression, graph: (any ObjectGraph)?) {
        self.expression = expression
        evaluator = PredicateEvaluator(expression.program, graph: graph)
    }

    /// Returns the first value of the expression for a record; null for an empty collection.
    ///
    /// An object ID contains the object's own entity.
    ///
    /// - Throws: The errors of ``RecordMatcher/matches(_:)``.
    package func value(of record: RecordReader) throws(StoreError) -> Value {
        var value = Value.null
        try forEach(of: record) { operand in
            value = evaluator.decoded(operand, kind: expression.type.kind)
            return false
        }
        return value
    }

    /// Returns all values in the order of evaluation; throws the errors of ``value(of:)``.
    package func values(of record: RecordReader) throws(StoreError) -> [Value] {
        var values: [Value] = []
        try forEach(of: record) { operand in
            values.append(evaluator.decoded(operand, kind: expression.type.kind))
            return true
        }
        return values
    }

    /// Calls `body` with each value of the expression until `body` returns false.
    func forEach(of record: RecordReader, _ body: (PredicateOperand) -> Bool) throws(StoreError) {
        evaluator.begin(record)
        _ = evaluator.forEach(expression.node, repetition: .everyWay, body)
        try evaluator.requireSuccess()
    }
}
