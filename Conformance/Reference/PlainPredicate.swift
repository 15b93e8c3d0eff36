internal import Foundation
internal import RoostCore
internal import RoostPredicates
internal import RoostQuery

/// A second, simple definition of predicate and expression semantics on decoded values.
///
/// Checks compare the results of stores with its results. It resolves paths with the code of the
/// engines, but evaluates predicates itself. It also evaluates requests that stores must refuse.
struct PlainPredicate {
    /// The result of an expression: one value or many.
    enum Result {
        case one(Value)
        case many([Value])

        /// The values, as a list even for one value.
        var all: [Value] {
            switch self {
            case .one(let value): [value]
            case .many(let values): values
            }
        }

        /// The value, or null for a list.
        var single: Value { if case .one(let value) = self { value } else { .null } }
    }

    /// The evaluated object, and the variables that an expression can use.
    struct Scope {
        let object: Value
        /// The number of the entity that key paths start from.
        let entity: Int
        /// The objects of variables by name, each with the number of the object's entity.
        var variables: [String: (object: Value, entity: Int)] = [:]
    }

    let graph: PlainGraph
    let text: PlainText
    /// The time that `now()` returns.
    let now: Date
    private let values: PlainValue
    /// The functions that the program registered.
    private let functions: [String: CampaignFunctions.Function]

    init(
        _ graph: PlainGraph, text: PlainText = PlainText(), now: Date = Date(timeIntervalSinceReferenceDate: 0),
        functions: [String: CampaignFunctions.Function] = [:]
    ) {
        (self.graph, self.text, self.now, self.functions) = (graph, text, now, functions)
        values = PlainValue(model: graph.model, text: text)
    }

    // MARK: Predicates

    func matches(_ predicate: FetchRequest.Predicate, scope: Scope) throws(StoreError) -> Bool {
        switch predicate {
        case .constant(let truth): return truth
        case .and(let members):
            for member in members where try !matches(member, scope: scope) { return false }
            return true
        case .or(let members):
            for member in members where try matches(member, scope: scope) { return true }
            return false
        case .not(let member): return try !matches(member, scope: scope)
        case .comparison(let comparison):
            let left = try value(comparison.left, scope: scope)
            let right = try value(comparison.right, scope: scope)
            switch comparison.modifier {
            case .direct: return compare(left, right: right, comparison: comparison)
            case .any: return left.all.contains { compare(.one($0), right: right, comparison: comparison) }
            case .all: return left.all.allSatisfy { compare(.one($0), right: right, comparison: comparison) }
            }
        }
    }

    private func compare(_ left: Result, right: Result, comparison: FetchRequest.Comparison) -> Bool {
        let options = comparison.options
        switch comparison.operator {
        case .isIn:
            if case .many(let members) = right {
                return members.contains { values.equal(left.single, right: $0, options: options) }
            }
            return test(right.single, right: left.single, options: options, PlainText.contains)
        case .contains:
            if case .many(let members) = left {
                return members.contains { values.equal($0, right: right.single, options: options) }
            }
            return test(left.single, right: right.single, options: options, PlainText.contains)
        case .between:
            let bounds = right.all
            guard bounds.count == 2 else { return false }
            return ordered(left.single, right: bounds[0], options: options) { $0 >= 0 }
                && ordered(left.single, right: bounds[1], options: options) { $0 <= 0 }
        case .equal: return values.equal(left.single, right: right.single, options: options)
        case .notEqual: return !values.equal(left.single, right: right.single, options: options)
        case .less: return ordered(left.single, right: right.single, options: options) { $0 < 0 }
        case .lessOrEqual: return ordered(left.single, right: right.single, options: options) { $0 <= 0 }
        case .greater: return ordered(left.single, right: right.single, options: options) { $0 > 0 }
        case .greaterOrEqual: return ordered(left.single, right: right.single, options: options) { $0 >= 0 }
        case .beginsWith:
            return test(left.single, right: right.single, options: options) {
                $0.unicodeScalars.starts(with: $1.unicodeScalars)
            }
        case .endsWith:
            return test(left.single, right: right.single, options: options) {
                $0.unicodeScalars.reversed().starts(with: $1.unicodeScalars.reversed())
            }
        case .like: return test(left.single, right: right.single, options: options, PlainText.like)
        case .matches:
            guard let text = left.single.plainText, let pattern = right.single.plainText else { return false }
            return self.text.matches(text, pattern: pattern, options: options)
        }
    }

    private func ordered(
        _ left: Value, right: Value, options: FetchRequest.Comparison.Options, _ isWanted: (Int) -> Bool
    ) -> Bool { values.order(left, right: right, options: options).map(isWanted) ?? false }

    /// Returns the result of a test of two folded texts, or false if a value is not a text.
    private func test(
        _ left: Value, right: Value, options: FetchRequest.Comparison.Options, _ body: (String, String) -> Bool
    ) -> Bool {
        guard let a = left.plainText, let b = right.plainText else { return false }
        return body(text.folded(a, options: options), text.folded(b, options: options))
    }

    /// Returns the order of two values: −1, 0 or 1; null before everything, NaN after every number.
    func rank(_ left: Value, right: Value, options: FetchRequest.Comparison.Options) -> Int {
        if left.plainText != nil && right.plainText != nil {
            return values.order(left, right: right, options: options) ?? 0
        }
        let rank = PlainValue.rank(left, right)
        return rank == 0 ? PlainNumber.orderAsWritten(left, right) : rank
    }

    // MARK: Expressions

    func value(_ expression: FetchRequest.Expression, scope: Scope) throws(StoreError) -> Result {
        switch expression {
        case .constant(let value): return .one(value)
        case .evaluatedObject: return .one(scope.object)
        case .variable(let name): return .one(scope.variables[name]?.object ?? .null)
        case .keyPath(let names):
            return try follow(names, from: [scope.object], entity: scope.entity, isMany: false)
        case .path(let start, let names):
            let source = try value(start, scope: scope)
            if names == ["@count"] { return .one(.int(Int64(source.all.count))) }
            guard let entity = try entity(of: start, scope: scope) else { return .one(.null) }
            let isMany = if case .many = source { true } else { false }
            return try follow(names, from: source.all, entity: entity, isMany: isMany)
        case .aggregate(let members):
            var list: [Value] = []
            for member in members { list.append(try value(member, scope: scope).single) }
            return .many(list)
        case .function(let function, let arguments): return .one(try call(function, arguments: arguments, scope: scope))
        case .registered(let name, let arguments):
            var list: [Value] = []
            for argument in arguments { list.append(try value(argument, scope: scope).single) }
            return .one(functions[name]?(list) ?? .null)
        case .cast(let source, let type):
            return .one(PlainCast.cast(try value(source, scope: scope).single, type: type))
        case .subquery(let collection, let variable, let predicate):
            guard let entity = try entity(of: collection, scope: scope) else { return .many([]) }
            var found: [Value] = []
            for object in try value(collection, scope: scope).all {
                var inner = scope
                inner.variables[variable] = (object, entity)
                if try matches(predicate, scope: inner) { found.append(object) }
            }
            return .many(found)
        case .conditional(let condition, let first, let second):
            return try value(try matches(condition, scope: scope) ? first : second, scope: scope)
        case .element(let list, let index):
            let list = try value(list, scope: scope).all
            switch index {
            case .size: return .one(.int(Int64(list.count)))
            case .first: return .one(list.first ?? .null)
            case .last: return .one(list.last ?? .null)
            case .position(let place):
                guard case .int(let position) = try value(place, scope: scope).single,
                    list.indices.contains(Int(position))
                else { return .one(.null) }
                return .one(list[Int(position)])
            }
        case .setOperation(let operation, let left, let right):
            let (left, right) = (try value(left, scope: scope).all, try value(right, scope: scope).all)
            switch operation {
            case .union: return .many(once(left + right))
            case .intersect: return .many(once(left).filter { a in right.contains { same(a, $0) } })
            case .minus: return .many(once(left).filter { a in !right.contains { same(a, $0) } })
            }
        }
    }

    private func same(_ a: Value, _ b: Value) -> Bool {
        values.equal(a, right: b, options: []) || PlainValue.isNaN(a) && PlainValue.isNaN(b)
    }

    /// Returns each value once, at its first position.
    private func once(_ list: [Value]) -> [Value] {
        var result: [Value] = []
        for value in list where !result.contains(where: { same($0, value) }) { result.append(value) }
        return result
    }

    private func follow(
        _ names: [String], from start: [Value], entity: Int, isMany: Bool
    ) throws(StoreError) -> Result {
        let path = try ResolvedPath(names, from: entity, model: graph.model)
        var current = start
        for relationship in path.relationships {
            current = current.flatMap { value -> [Value] in
                guard case .objectID(let id) = value, let object = graph.object(id) else {
                    return relationship.isToMany ? [] : [.null]
                }
                return relationship.isToMany
                    ? graph.destinations(of: relationship, from: object.id).map { .objectID($0) }
                    : [object.values[relationship.name.name] ?? .null]
            }
        }
        if case .field(let field) = path.end { current = current.map { self.field(field.name, of: $0) } }
        let isMany = isMany || path.relationships.contains { $0.isToMany }
        switch path.collectionOperator {
        case nil: return isMany ? .many(current) : .one(current.first ?? .null)
        case .count: return .one(.int(Int64(current.count)))
        case .sum: return .one(PlainNumber.aggregate(.sum, of: current))
        case .average: return .one(PlainNumber.aggregate(.average, of: current))
        case .minimum: return .one(PlainNumber.aggregate(.minimum, of: current))
        case .maximum: return .one(PlainNumber.aggregate(.maximum, of: current))
        case .union: return .many(current.filter { !$0.isNull })
        case .distinctUnion: return .many(once(current.filter { !$0.isNull }))
        }
    }

    private func field(_ name: String, of object: Value) -> Value {
        guard case .objectID(let id) = object, let object = graph.object(id) else { return .null }
        var value = Value.composite(object.values)
        for part in name.split(separator: ".") {
            guard case .composite(let elements) = value else { return .null }
            value = elements[String(part)] ?? .null
        }
        return value
    }

    /// Returns the number of the entity of an expression's objects, or nil if the expression does
    /// not give objects.
    private func entity(of expression: FetchRequest.Expression, scope: Scope) throws(StoreError) -> Int? {
        switch expression {
        case .evaluatedObject: return scope.entity
        case .variable(let name): return scope.variables[name]?.entity
        case .keyPath(let names): return try destination(names, from: scope.entity)
        case .path(let start, let names):
            guard let entity = try entity(of: start, scope: scope) else { return nil }
            return try destination(names, from: entity)
        case .subquery(let collection, _, _): return try entity(of: collection, scope: scope)
        case .element(let list, _): return try entity(of: list, scope: scope)
        case .setOperation(_, let left, _): return try entity(of: left, scope: scope)
        case .conditional(_, let first, _): return try entity(of: first, scope: scope)
        case .function(.noIndex, let arguments):
            return try arguments.first.flatMap { (argument) throws(StoreError) in
                try entity(of: argument, scope: scope)
            }
        case .constant(.objectID(let id)): return graph.model.entity(id.entity)?.number
        default: return nil
        }
    }

    private func destination(_ names: [String], from entity: Int) throws(StoreError) -> Int? {
        let path = try ResolvedPath(names, from: entity, model: graph.model)
        guard case .field(let field) = path.end else { return path.entity }
        return graph.model.entities[path.entity].relationship(field.name)?.destination
    }

    // MARK: Functions

    private func call(
        _ function: FetchRequest.Function, arguments: [FetchRequest.Expression], scope: Scope
    ) throws(StoreError) -> Value {
        var results: [Result] = []
        for argument in arguments { results.append(try value(argument, scope: scope)) }
        switch function {
        case .now: return .date(now)
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation:
            return PlainNumber.aggregate(function, of: results.flatMap(\.all))
        default: break
        }
        let single = results.map(\.single)
        guard let first = single.first, !single.contains(where: \.isNull) else { return .null }
        let second = single.last ?? .null
        switch function {
        case .add, .subtract, .multiply, .divide: return PlainNumber.calculate(function, left: first, right: second)
        case .power: return PlainNumber.power(first, second)
        case .modulus: return PlainNumber.modulus(first, second)
        case .negate, .floor, .ceiling, .absolute, .truncate: return PlainNumber.alter(function, value: first)
        case .squareRoot, .log, .naturalLog, .exponential: return PlainNumber.curve(function, value: first)
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift:
            return PlainNumber.bits(function, left: first, right: second)
        case .onesComplement: return PlainNumber.bits(.bitwiseXor, left: first, right: .int(-1))
        case .noIndex: return first
        default: break
        }
        guard let text = first.plainText else { return .null }
        switch function {
        case .uppercase: return .string(text.uppercased())
        case .lowercase: return .string(text.lowercased())
        case .canonical: return .string(self.text.folded(text, options: [.caseInsensitive, .diacriticInsensitive]))
        case .length: return .int(Int64(text.unicodeScalars.count))
        default: return .null
        }
    }
}
