package import RoostCore

/// A fetch request's predicate, compiled against record layouts: tells of packed records whether they are wanted.
///
/// This is the meaning of predicates. Engines may find records by other means, but never others than these.
package struct RecordFilter: Sendable {
    let model: ManagedObjectModel
    /// What the evaluator runs; nil where it is never asked.
    let program: PredicateProgram?
    /// The conditions that a record decides alone, all of which it must meet; it is asked first.
    let quick: FilterProgram
    /// The others, as one condition; nil where there are none.
    let rest: PredicateProgram.Index?

    /// Compiles the predicate of a request.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for values that can never be compared (a string attribute
    ///   with a number), for wrong arguments of functions, variables without a value, what is no regular expression, a negative limit or
    ///   offset, and for nesting deeper than ``maximumDepth``; `limitExceeded` for a list of more than ``maximumListCount`` values,
    ///   a pattern that is too long, and SUBQUERY in SUBQUERY deeper than 16 levels.
    package init(_ request: FetchRequest, model: ManagedObjectModel) throws(StoreError) {
        let entity = try model.requireEntity(request.entity)
        try request.requireWindow()
        // Records of entities that the request does not ask for are never wanted.
        let entities = request.includesSubentities ? entity.selfAndSubentities : [entity.number]
        if let comparisons = FieldComparison.all(request.predicate, of: entity, model: model),
            let quick = FilterProgram(comparisons, entities: entities, model: model)
        {
            (self.model, self.quick, program, rest) = (model, quick, nil, nil)
            return
        }
        self = try PredicateCompiler.compile { (isShallow) throws(StoreError) in
            try RecordFilter(request.predicate, entity, entities, model, isShallow: isShallow)
        }
    }

    private init(
        _ predicate: FetchRequest.Predicate?, _ entity: ManagedObjectModel.Entity, _ entities: [Int],
        _ model: ManagedObjectModel, isShallow: Bool
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

    /// Whether looks at a record's own fields decide everything, so that no other object is ever asked for.
    package var looksAtFieldsOnly: Bool { program == nil }

    /// How deep a predicate may be nested.
    package static let maximumDepth = 200
    /// The most values of a list.
    package static let maximumListCount = 100_000

    /// What all must be true for a predicate to be.
    private static func conjuncts(_ predicate: FetchRequest.Predicate) -> [FetchRequest.Predicate] {
        if case .and(let members) = predicate { return members }
        return [predicate]
    }

    /// Something that tells of records whether they are wanted; for one thread.
    ///
    /// `graph` is where related objects are; without one, a predicate that asks for them throws code `unsupported`.
    package func matcher(over graph: (any ObjectGraph)?) -> RecordMatcher { RecordMatcher(self, graph: graph) }
}

/// Tells of records, one after the other, whether they meet a filter; for one thread.
package final class RecordMatcher {
    /// Nil where a record decides everything by looks at its fields.
    let evaluator: PredicateEvaluator?
    let quick: FilterProgram
    private let rest: PredicateProgram.Index?

    init(_ filter: RecordFilter, graph: (any ObjectGraph)?) {
        evaluator = filter.program.map { PredicateEvaluator($0, graph: graph) }
        quick = filter.quick
        rest = filter.rest
    }

    /// Whether the record alone decides everything.
    package var isQuick: Bool { rest == nil }

    /// Whether the record is of an entity that the request asks for and meets its predicate.
    ///
    /// - Throws: `timedOut`, `limitExceeded`, `invalidRequest` for a pattern that the record brings along; what reading related objects
    ///   throws, and what the program's own functions do.
    package func matches(_ record: RecordReader) throws(StoreError) -> Bool {
        guard matchesQuickly(record) else { return false }
        return try matchesRest(record)
    }

    /// Whether the record meets what it decides alone.
    @inline(__always)
    func matchesQuickly(_ record: RecordReader) -> Bool { quick.matches(record, evaluator) }

    /// Whether a record that meets what it decides alone meets the rest.
    func matchesRest(_ record: RecordReader) throws(StoreError) -> Bool {
        guard let rest, let evaluator else { return true }
        return try evaluator.isTrue(rest, of: record)
    }

    /// Reads what records lead to before they are asked about, many at once.
    func prepare(_ records: RecordBatch) {
        evaluator?.begin(nil)
        evaluator?.prefetch(for: records)
    }
}

extension FetchRequest {
    /// Throws code `invalidRequest` for a negative limit or offset.
    func requireWindow() throws(StoreError) {
        guard fetchLimit ?? 0 >= 0, fetchOffset ?? 0 >= 0 else {
            throw StoreError(
                .invalidRequest, "The limit and the offset of a fetch of '\(entity)' must not be negative.")
        }
    }
}
