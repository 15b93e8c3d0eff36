package import RoostCore

/// The compiled predicate of a fetch request, which decides whether packed records match.
///
/// Its results define the meaning of predicates. Every access path must return the same records.
package struct RecordFilter: Sendable {
    let model: ManagedObjectModel
    /// The program of the evaluator; nil if no evaluator is needed.
    let program: PredicateProgram?
    /// The fast conditions, which depend only on the record and are checked first; all must be
    /// true.
    let quick: FilterProgram
    /// The conjunction of the other conditions, if any.
    let rest: PredicateProgram.Index?

    /// Compiles the predicate of a request.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for values that can never be
    ///   compared, invalid arguments of functions, variables without a value, an invalid regular
    ///   expression, a negative limit or offset, and nesting deeper than ``maximumDepth``;
    ///   `limitExceeded` for a list of more than ``maximumListCount`` values, a pattern that is too
    ///   long, too many parts, and SUBQUERY nested deeper than 16 levels; the error of a literal
    ///   that could not be parsed.
    package init(_ request: FetchRequest, model: ManagedObjectModel) throws(StoreError) {
        let entity = try model.requireEntity(request.entity)
        try request.requireWindow()
        let entities = request.includesSubentities ? entity.selfAndSubentities : [entity.number]
        if let comparisons = FieldComparison.all(request.predicate, of: entity, model: model),
            let quick = FilterProgram(comparisons, entities: entities, model: model)
        {
            (self.model, self.quick, program, rest) = (model, quick, nil, nil)
            return
        }
        self = try PredicateCompiler.compile { (isShallow) throws(StoreError) in
            try RecordFilter(request.predicate, entity: entity, entities: entities, model: model, isShallow: isShallow)
        }
    }

    private init(
        _ predicate: FetchRequest.Predicate?, entity: ManagedObjectModel.Entity, entities: [Int],
        model: ManagedObjectModel, isShallow: Bool
    ) throws(StoreError) {
        var compiler = PredicateCompiler(model: model, entity: entity, isShallow: isShallow)
        var quick: [PredicateProgram.Index] = []
        var rest: [PredicateProgram.Index] = []
        if let predicate {
            for conjunct in Self.conjuncts(predicate) {
                let condition = try compiler.condition(conjunct)
                if condition.isPlain { quick.append(condition.node) } else { rest.append(condition.node) }
            }
        }
        let members = compiler.links(rest)
        self.rest = rest.isEmpty ? nil : compiler.add(.and(members))
        let program = PredicateProgram(compiler.parts, model: model)
        (self.model, self.program) = (model, program)
        self.quick = FilterProgram(quick, of: program, entities: entities)
    }

    /// Whether matching needs only a record's own fields, and no evaluator.
    package var looksAtFieldsOnly: Bool { program == nil }

    package static let maximumDepth = PredicateCompiler.maximumDepth
    package static let maximumListCount = PredicateCompiler.maximumListCount

    private static func conjuncts(_ predicate: FetchRequest.Predicate) -> [FetchRequest.Predicate] {
        if case .and(let members) = predicate { return members }
        return [predicate]
    }

    /// Returns a matcher; without a `graph`, a predicate that uses related objects throws
    /// `unsupported`.
    package func matcher(over graph: (any ObjectGraph)?) -> RecordMatcher { RecordMatcher(self, graph: graph) }
}

/// A matcher that checks records against a filter, on one thread at a time.
package final class RecordMatcher {
    let evaluator: PredicateEvaluator?
    let quick: FilterProgram
    private let rest: PredicateProgram.Index?

    init(_ filter: RecordFilter, graph: (any ObjectGraph)?) {
        evaluator = filter.program.map { PredicateEvaluator($0, graph: graph) }
        quick = filter.quick
        rest = filter.rest
    }

    /// Whether all conditions are fast and depend only on the record.
    package var isQuick: Bool { rest == nil }

    /// Whether the record has a requested entity and meets the predicate.
    ///
    /// - Throws: `timedOut`, `limitExceeded`; `invalidRequest` for an invalid pattern in the
    ///   record; the errors of reading related objects and of registered functions.
    package func matches(_ record: RecordReader) throws(StoreError) -> Bool {
        guard matchesQuickly(record) else { return false }
        return try matchesRest(record)
    }

    @inline(__always)
    func matchesQuickly(_ record: RecordReader) -> Bool { quick.matches(record, evaluator: evaluator) }

    func matchesRest(_ record: RecordReader) throws(StoreError) -> Bool {
        guard let rest, let evaluator else { return true }
        return try evaluator.isTrue(rest, of: record)
    }

    /// Reads related objects of the records in few calls, before the conditions are checked.
    func prepare(_ records: RecordBatch) {
        evaluator?.begin(nil)
        evaluator?.prefetch(for: records)
    }
}

extension FetchRequest {
    /// Throws `invalidRequest` for a negative limit or offset.
    func requireWindow() throws(StoreError) {
        guard fetchLimit ?? 0 >= 0, fetchOffset ?? 0 >= 0 else {
            throw StoreError(
                .invalidRequest, "The limit and the offset of a fetch of '\(entity)' must not be negative.")
        }
    }
}
