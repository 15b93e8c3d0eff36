internal import RoostCore

/// Compiles the expressions of columns.
///
/// The object itself and to-one paths to a field need no program. All other expressions become part
/// of one program.
struct RowCompiler {
    private(set) var compiler: PredicateCompiler
    private let model: ManagedObjectModel
    private let entity: ManagedObjectModel.Entity

    /// Whether nesting that is too deep for the caller's stack throws an error; see
    /// ``PredicateCompiler/compile(_:)``.
    let isShallow: Bool

    init(model: ManagedObjectModel, entity: ManagedObjectModel.Entity, isShallow: Bool = false) {
        (self.model, self.entity, self.isShallow) = (model, entity, isShallow)
        compiler = PredicateCompiler(model: model, entity: entity, isShallow: isShallow)
    }

    func requireDepthHere(_ depth: Int) throws(StoreError) { try compiler.requireDepthHere(depth) }

    /// The program to which ``RowSource/expression(_:_:)`` refers.
    var program: PredicateProgram { PredicateProgram(compiler.parts, model: model) }

    /// Compiles an expression that must have a single value.
    mutating func source(
        _ expression: FetchRequest.Expression, column: String
    ) throws(StoreError) -> (RowSource, PredicateType) {
        switch expression {
        case .evaluatedObject: return (.object, PredicateType(.object, entity: entity.number))
        case .keyPath(let names):
            let path = try ResolvedPath(names, from: entity.number, model: model)
            if case .object = path.end, path.relationships.isEmpty {
                return (.object, PredicateType(.object, entity: entity.number))
            }
            if let field = RowPath(path, model: model), case .field(let end) = path.end {
                return (.path(field), PredicateType(end))
            }
        default: break
        }
        let term = try compiler.expression(expression)
        guard !term.type.isCollection else {
            throw StoreError(
                .invalidRequest,
                "The column '\(column)' of '\(entity.name)' needs one value in each row, but its expression has many values; write count(…), sum(…) or another function over them."
            )
        }
        return (.expression(term.node, term.type.kind), term.type)
    }

    mutating func isCollection(_ expression: FetchRequest.Expression) throws(StoreError) -> Bool {
        switch expression {
        case .evaluatedObject, .constant: return false
        case .keyPath(let names): return try ResolvedPath(names, from: entity.number, model: model).isCollection
        default: return try compiler.expression(expression).type.isCollection
        }
    }

    /// Returns a function that creates an aggregate, and the types of the aggregate's value in the
    /// program and in rows.
    mutating func aggregate(
        _ function: FetchRequest.Function, of argument: FetchRequest.Expression, column: String
    ) throws(StoreError) -> (@Sendable () -> any RowAggregate, PredicateType, AttributeType?) {
        let (source, argumentType) = try source(argument, column: column)
        // Compile the function as if one object had all values, because the errors and the type are the same.
        let type = try compiler.expression(.function(function, [argument])).type
        if function == .count { return ({ CountAggregate() }, type, .integer64) }
        let isOneOfThem = function == .minimum || function == .maximum || function == .mode
        let shown = isOneOfThem ? source.type : AttributeType(type.kind)
        guard let path = source.localPath, let field = path.fields[entity.number]?.name else {
            return ({ GeneralAggregate(function, source: source) }, type, shown)
        }
        let slots = path.slots
        switch (argumentType.kind, function) {
        case (.integer, .sum), (.boolean, .sum), (.integer, .average), (.boolean, .average):
            return ({ WholeSumAggregate(field, slots: slots, isAverage: function == .average) }, type, shown)
        case (.double, .sum), (.double, .average):
            return ({ DoubleSumAggregate(slots, isAverage: function == .average) }, type, shown)
        case (.integer, .minimum), (.integer, .maximum), (.boolean, .minimum), (.boolean, .maximum):
            return ({ WholeExtremeAggregate(field, slots: slots, isMaximum: function == .maximum) }, type, shown)
        default: return ({ GeneralAggregate(function, source: source) }, type, shown)
        }
    }
}

struct Window: Sendable {
    let offset: Int
    let limit: Int?

    /// The number of rows to compute, starting with the first; nil for all rows.
    var reach: Int? {
        limit.flatMap { limit in
            let sum = offset.addingReportingOverflow(limit)
            return sum.overflow ? nil : sum.partialValue
        }
    }
}

/// A compiled request for rows.
struct RowPlan: Sendable {
    enum GroupedColumn: Sendable {
        case key(Int)
        case aggregate(Int)
        /// An expression of keys and aggregates.
        case expression(PredicateProgram.Index)
    }

    struct Grouping: Sendable {
        var keys: [RowSource] = []
        var aggregates: [@Sendable () -> any RowAggregate] = []
        var columns: [GroupedColumn] = []
        var columnKinds: [PredicateType.Kind] = []
        var columnTypes: [AttributeType?] = []
        /// The slots of the keys' variables in ``program``.
        var keySlots: [Int] = []
        var aggregateSlots: [Int] = []
        var having: PredicateProgram.Index?
        /// The program for the columns and the condition on groups.
        ///
        /// Its variables are the keys and aggregates of a group.
        var program: PredicateProgram
        /// Whether all objects are one group, because the request has aggregates but no keys.
        ///
        /// This group has a row even without objects.
        var isWhole: Bool
    }

    let columns: [String]
    /// The sources of the returned columns and then of columns that are used only for sorting.
    ///
    /// Grouped rows have ``grouping`` instead.
    var sources: [RowSource] = []
    var grouping: Grouping?
    /// The program that evaluates expressions for records.
    let program: PredicateProgram
    /// The request for the objects, with order and window if the fetch can apply them.
    let request: FetchRequest
    /// The order of the rows; nil if rows are already created in the requested order.
    let order: [SortedRows.Level]?
    let isDistinct: Bool
    /// The window of rows; nil if the fetch applies the window.
    let window: Window?
}
