internal import RoostCore

/// Compiles the columns of grouped rows.
///
/// In the compiled program, grouping keys and aggregates are variables, so the program needs no
/// records.
struct GroupCompiler {
    private let properties: [FetchRequest.FetchedProperty]
    private let keys: [FetchRequest.Expression]
    private let entity: ManagedObjectModel.Entity
    private let model: ManagedObjectModel
    /// The compiler for the expressions that compute keys and aggregates from records.
    private(set) var records: RowCompiler
    /// The compiler for expressions in which keys and aggregates are variables.
    private var compiler: PredicateCompiler
    private(set) var keySources: [RowSource] = []
    private var keyTypes: [PredicateType] = []
    private(set) var keySlots: [Int] = []
    private(set) var aggregateSlots: [Int] = []
    private(set) var aggregates: [@Sendable () -> any RowAggregate] = []
    private var aggregateExpressions: [FetchRequest.Expression] = []
    private var aggregateTypes: [PredicateType] = []
    private var shownTypes: [AttributeType?] = []
    /// The expressions of the keys, with column names replaced by the columns' expressions.
    private var keyExpressions: [FetchRequest.Expression] = []

    init(
        _ properties: [FetchRequest.FetchedProperty], keys: [FetchRequest.Expression], records: RowCompiler,
        model: ManagedObjectModel, entity: ManagedObjectModel.Entity, isShallow: Bool
    ) {
        (self.properties, self.keys, self.records, self.model, self.entity) = (properties, keys, records, model, entity)
        compiler = PredicateCompiler(model: model, entity: entity, isShallow: isShallow)
    }

    var program: PredicateProgram { PredicateProgram(compiler.parts, model: model) }

    mutating func compileKeys() throws(StoreError) {
        for key in keys {
            let expression = withoutAlias(key)
            guard try !expression.containsAggregate(&records) else {
                throw StoreError(
                    .invalidRequest,
                    "The rows of '\(entity.name)' cannot be grouped by '\(key.label)', which is an aggregate of whole groups."
                )
            }
            let (source, type) = try records.source(expression, column: key.label)
            keyNames.append(newName(expression))
            keySlots.append(compiler.declare(keyName(keySources.count), type: type))
            keyExpressions.append(expression)
            keySources.append(source)
            keyTypes.append(type)
        }
    }

    /// Compiles a column, or an expression by which rows are sorted.
    mutating func column(
        _ expression: FetchRequest.Expression, name: String, isOrder: Bool = false
    ) throws(StoreError) -> (RowPlan.GroupedColumn, PredicateType.Kind, AttributeType?) {
        let rewritten = try rewrite(expression, place: isOrder ? .order(name) : .column(name))
        switch rewritten {
        case .variable(let name):
            if let key = keyIndex(named: name) { return (.key(key), keyTypes[key].kind, keySources[key].type) }
            if let aggregate = aggregateIndex(named: name) {
                return (.aggregate(aggregate), aggregateTypes[aggregate].kind, shownTypes[aggregate])
            }
        default: break
        }
        let term = try compiler.expression(rewritten)
        guard !term.type.isCollection else {
            throw StoreError(
                .invalidRequest,
                "The column '\(name)' of '\(entity.name)' needs one value in each row, but its expression has many values."
            )
        }
        return (.expression(term.node), term.type.kind, AttributeType(term.type.kind))
    }

    mutating func condition(_ predicate: FetchRequest.Predicate?) throws(StoreError) -> PredicateProgram.Index? {
        guard let predicate else { return nil }
        let rewritten = try rewrite(predicate, place: .having, depth: 0)
        return try compiler.condition(rewritten).node
    }

    // MARK: Variables

    /// The names of the keys' variables, which error messages show.
    private var keyNames: [String] = []
    private var aggregateNames: [String] = []

    private func keyName(_ index: Int) -> String { keyNames[index] }
    private func aggregateName(_ index: Int) -> String { aggregateNames[index] }
    private func keyIndex(named name: String) -> Int? { keyNames.firstIndex(of: name) }
    private func aggregateIndex(named name: String) -> Int? { aggregateNames.firstIndex(of: name) }

    private func newName(_ expression: FetchRequest.Expression) -> String {
        var name = expression.label
        while keyNames.contains(name) || aggregateNames.contains(name) { name += "'" }
        return name
    }

    // MARK: Rewriting

    /// The part of the request that contains an expression.
    private enum Place {
        case column(String)
        case order(String)
        case having
    }

    /// Returns the expression of the column that `expression` names, or `expression` itself.
    private func withoutAlias(_ expression: FetchRequest.Expression) -> FetchRequest.Expression {
        guard case .keyPath(let names) = expression else { return expression }
        let name = names.joined(separator: ".")
        return properties.first { $0.name == name }?.expression ?? expression
    }

    /// Replaces keys and aggregates with variables.
    ///
    /// Throws if the expression contains a property that is neither a key nor inside an aggregate.
    private mutating func rewrite(
        _ expression: FetchRequest.Expression, place: Place, depth: Int = 0
    ) throws(StoreError) -> FetchRequest.Expression {
        try compiler.requireDepthHere(depth)
        if case .having = place {
            // A column name takes precedence over a property name.
            let column = withoutAlias(expression)
            if column != expression { return try rewrite(column, place: .column(expression.label), depth: depth) }
        }
        if let index = keyExpressions.firstIndex(of: expression) { return .variable(keyName(index)) }
        if let (function, argument) = try expression.withFunctions.aggregate(&records) {
            let index = try aggregate(expression, function: function, argument: argument, place: place)
            return .variable(aggregateName(index))
        }
        switch expression {
        case .constant: return expression
        // Only a SUBQUERY binds variables, and its content is never rewritten.
        case .variable(let name): throw compiler.unbound(name)
        case .evaluatedObject: throw ungrouped("SELF", place: place)
        case .keyPath(let names):
            if expression.withFunctions != expression {
                throw StoreError(
                    .invalidRequest, "In the rows of '\(entity.name)', \(FetchRequest.Expression.manyOfEach(names))")
            }
            // For an unknown name, `ResolvedPath` throws a more precise error.
            _ = try ResolvedPath(names, from: entity.number, model: model)
            throw ungrouped(names.joined(separator: "."), place: place)
        case .path(of: let start, let names):
            return .path(of: try rewrite(start, place: place, depth: depth + 1), names)
        case .aggregate(let members): return .aggregate(try rewrite(members, place: place, depth: depth + 1))
        case .function(let function, let arguments):
            return .function(function, try rewrite(arguments, place: place, depth: depth + 1))
        case .registered(let name, let arguments):
            return .registered(name, try rewrite(arguments, place: place, depth: depth + 1))
        case .cast(let value, let type): return .cast(try rewrite(value, place: place, depth: depth + 1), type)
        case .subquery: throw ungrouped("SUBQUERY", place: place)
        case .conditional(let condition, let whenTrue, let whenFalse):
            return .conditional(
                try rewrite(condition, place: place, depth: depth + 1),
                try rewrite(whenTrue, place: place, depth: depth + 1),
                try rewrite(whenFalse, place: place, depth: depth + 1))
        case .element(of: let values, .position(let position)):
            return .element(
                of: try rewrite(values, place: place, depth: depth + 1),
                .position(try rewrite(position, place: place, depth: depth + 1)))
        case .element(of: let values, let index):
            return .element(of: try rewrite(values, place: place, depth: depth + 1), index)
        case .setOperation(let operation, let left, let right):
            return .setOperation(
                operation, try rewrite(left, place: place, depth: depth + 1),
                try rewrite(right, place: place, depth: depth + 1))
        }
    }

    private mutating func rewrite(
        _ expressions: [FetchRequest.Expression], place: Place, depth: Int
    ) throws(StoreError) -> [FetchRequest.Expression] {
        var result: [FetchRequest.Expression] = []
        for expression in expressions { result.append(try rewrite(expression, place: place, depth: depth)) }
        return result
    }

    private mutating func rewrite(
        _ predicate: FetchRequest.Predicate, place: Place, depth: Int
    ) throws(StoreError) -> FetchRequest.Predicate {
        try compiler.requireDepthHere(depth)
        switch predicate {
        case .constant: return predicate
        case .comparison(var comparison):
            comparison.left = try rewrite(comparison.left, place: place, depth: depth)
            comparison.right = try rewrite(comparison.right, place: place, depth: depth)
            return .comparison(comparison)
        case .and(let members): return .and(try rewrite(members, place: place, depth: depth))
        case .or(let members): return .or(try rewrite(members, place: place, depth: depth))
        case .not(let member): return .not(try rewrite(member, place: place, depth: depth + 1))
        }
    }

    private mutating func rewrite(
        _ members: [FetchRequest.Predicate], place: Place, depth: Int
    ) throws(StoreError) -> [FetchRequest.Predicate] {
        var result: [FetchRequest.Predicate] = []
        for member in members { result.append(try rewrite(member, place: place, depth: depth + 1)) }
        return result
    }

    private mutating func aggregate(
        _ expression: FetchRequest.Expression, function: FetchRequest.Function, argument: FetchRequest.Expression,
        place: Place
    ) throws(StoreError) -> Int {
        if let known = aggregateExpressions.firstIndex(of: expression) { return known }
        let name = expression.label
        guard try !argument.containsAggregate(&records) else {
            throw StoreError(
                .invalidRequest,
                "The rows of '\(entity.name)' have an aggregate of an aggregate: '\(name)'.")
        }
        let (make, type, shown) = try records.aggregate(function, of: argument, column: name)
        shownTypes.append(shown)
        aggregateNames.append(newName(expression))
        aggregateSlots.append(compiler.declare(aggregateName(aggregates.count), type: type))
        aggregates.append(make)
        aggregateTypes.append(type)
        aggregateExpressions.append(expression)
        return aggregates.count - 1
    }

    private func ungrouped(_ name: String, place: Place) -> StoreError {
        let grouped =
            keys.isEmpty
            ? "all objects are one group" : "they are grouped by \(keys.map(\.label).joined(separator: ", "))"
        let what =
            switch place {
            case .column(let column) where column == name: "can have several values of '\(name)'"
            case .column(let column): "can have several values of '\(name)', which the column '\(column)' needs"
            case .order: "cannot be sorted by '\(name)'"
            case .having: "can have several values of '\(name)', which the condition on groups needs"
            }
        return StoreError(
            .invalidRequest,
            "The rows of '\(entity.name)' \(what): \(grouped); group by '\(name)' too, or write max(\(name)).")
    }
}

extension FetchRequest.Expression {
    /// Returns the function and its argument if the expression is an aggregate; otherwise nil.
    ///
    /// The argument of an aggregate has one value for each object.
    func aggregate(
        _ compiler: inout RowCompiler
    ) throws(StoreError) -> (FetchRequest.Function, FetchRequest.Expression)? {
        guard case .function(let function, let arguments) = self, function.isOfMany, let argument = arguments.first,
            arguments.count == 1
        else { return nil }
        // An aggregate of an aggregate is returned, so that the caller can report it.
        if try argument.containsAggregate(&compiler) { return (function, argument) }
        return try compiler.isCollection(argument) ? nil : (function, argument)
    }

    func containsAggregate(_ compiler: inout RowCompiler, depth: Int = 0) throws(StoreError) -> Bool {
        try compiler.requireDepthHere(depth)
        let members: [FetchRequest.Expression]
        switch self {
        case .constant, .evaluatedObject, .variable, .subquery: return false
        case .keyPath: return withFunctions != self
        case .function(let function, let arguments):
            for argument in arguments where try argument.containsAggregate(&compiler, depth: depth + 1) { return true }
            guard function.isOfMany, let argument = arguments.first, arguments.count == 1 else { return false }
            return try !compiler.isCollection(argument)
        case .conditional(let condition, let whenTrue, let whenFalse):
            if try condition.containsAggregate(&compiler, depth: depth + 1) { return true }
            members = [whenTrue, whenFalse]
        case .path(of: let start, _): members = [start]
        case .aggregate(let list), .registered(_, let list): members = list
        case .cast(let value, _): members = [value]
        case .element(of: let values, .position(let position)): members = [values, position]
        case .element(of: let values, _): members = [values]
        case .setOperation(_, let left, let right): members = [left, right]
        }
        for member in members where try member.containsAggregate(&compiler, depth: depth + 1) { return true }
        return false
    }

    /// The name in messages, and the default name of a column, without constants.
    var label: String {
        switch self {
        case .constant: "…"
        case .evaluatedObject: "SELF"
        case .variable(let name): "$\(name)"
        case .keyPath(let names): names.joined(separator: ".")
        case .function(let function, let arguments):
            "\(function.rawValue)(\(arguments.map(\.label).joined(separator: ", ")))"
        case .registered(let name, let arguments): "\(name)(\(arguments.map(\.label).joined(separator: ", ")))"
        case .cast(let value, _): "CAST(\(value.label))"
        case .path(of: let start, let names): ([start.label] + names).joined(separator: ".")
        case .aggregate: "{…}"
        case .subquery: "SUBQUERY(…)"
        case .conditional: "TERNARY(…)"
        case .element(of: let values, _): "\(values.label)[…]"
        case .setOperation(let operation, let left, let right): "\(left.label) \(operation.rawValue) \(right.label)"
        }
    }

    /// Returns the message about a path such as `@sum.x`, if `x` has many values for each object.
    static func manyOfEach(_ names: [String]) -> String {
        let (name, rest) = (names.first ?? "", Array(names.dropFirst()))
        // For each object, the suggested path aggregates the values, or counts the related objects.
        let each = name == "@count" || rest.count == 1 ? rest + ["@count"] : rest.dropLast() + [name] + rest.suffix(1)
        let function = FetchRequest.Expression.keyPath([name, "x"]).withFunctions.label.prefix { $0 != "(" }
        let whole = name == "@count" ? "sum" : function
        return
            "'\(rest.joined(separator: "."))' has many values for each object, but '\(name)' of a group needs one; write \(whole)(\(each.joined(separator: ".")))."
    }

    /// The expression, with `sum(length)` instead of a path such as `@sum.length`.
    var withFunctions: FetchRequest.Expression {
        guard case .keyPath(let names) = self, let first = names.first,
            let collectionOperator = FetchRequest.CollectionOperator(rawValue: first)
        else { return self }
        let rest = Array(names.dropFirst())
        let argument: FetchRequest.Expression = rest.isEmpty ? .evaluatedObject : .keyPath(rest)
        switch collectionOperator {
        case .count: return .function(.count, [argument])
        case .sum: return .function(.sum, [argument])
        case .average: return .function(.average, [argument])
        case .minimum: return .function(.minimum, [argument])
        case .maximum: return .function(.maximum, [argument])
        case .union, .distinctUnion: return self
        }
    }
}

extension FetchRequest.Predicate {
    func containsAggregate(_ compiler: inout RowCompiler, depth: Int) throws(StoreError) -> Bool {
        try compiler.requireDepthHere(depth)
        switch self {
        case .constant: return false
        case .comparison(let comparison):
            if try comparison.left.containsAggregate(&compiler, depth: depth) { return true }
            return try comparison.right.containsAggregate(&compiler, depth: depth)
        case .and(let members), .or(let members):
            for member in members where try member.containsAggregate(&compiler, depth: depth + 1) { return true }
            return false
        case .not(let member): return try member.containsAggregate(&compiler, depth: depth + 1)
        }
    }
}
