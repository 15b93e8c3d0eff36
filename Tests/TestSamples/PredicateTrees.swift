internal import Foundation
package import RoostCore
internal import RoostQuery

/// A generator of random predicates and expressions of every kind of node.
///
/// The predicates have the shape of parsed predicates: an AND or OR has at least two parts.
package struct PredicateTrees {
    package typealias P = FetchRequest.Predicate
    package typealias E = FetchRequest.Expression

    package var random: SeededGenerator

    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private mutating func pick<T>(_ elements: [T]) -> T { elements[below(elements.count)] }

    package mutating func predicate(_ depth: Int) -> P {
        guard depth > 0 else { return below(4) == 0 ? .constant(below(2) == 0) : comparison(0) }
        switch below(6) {
        case 0: return .and((0..<2 + below(2)).map { _ in predicate(depth - 1) })
        case 1: return .or((0..<2 + below(2)).map { _ in predicate(depth - 1) })
        case 2: return .not(predicate(depth - 1))
        default: return comparison(depth - 1)
        }
    }

    private mutating func comparison(_ depth: Int) -> P {
        .comparison(
            .init(
                left: expression(depth), operator: pick(FetchRequest.Comparison.Operator.allCases),
                right: expression(depth),
                modifier: pick(FetchRequest.Comparison.Modifier.allCases),
                options: below(2) == 0 ? [] : .init(rawValue: below(16))))
    }

    private mutating func expressions(_ count: Int, depth: Int) -> [E] { (0..<count).map { _ in expression(depth) } }

    package mutating func expression(_ depth: Int) -> E {
        guard depth > 0 else { return leaf() }
        switch below(16) {
        case 0: return .path(of: expression(depth - 1), names())
        case 1: return .aggregate(expressions(below(4), depth: depth - 1))
        case 2, 3, 4, 5, 6:
            let function = pick(FetchRequest.Function.allCases)
            let counts = function.argumentCounts
            return .function(
                function, expressions(min(counts.upperBound, counts.lowerBound + below(3)), depth: depth - 1))
        case 7: return .registered(pick(["f", "", "a\"b", "two words:"]), expressions(1 + below(3), depth: depth - 1))
        case 8: return .cast(expression(depth - 1), pick(FetchRequest.CastType.allCases))
        case 9: return .subquery(expression(depth - 1), variable: name(), predicate(depth - 1))
        case 10: return .conditional(predicate(depth - 1), expression(depth - 1), expression(depth - 1))
        case 11, 12:
            let index: FetchRequest.Index =
                switch below(4) {
                case 0: .first
                case 1: .last
                case 2: .size
                default: .position(expression(depth - 1))
                }
            return .element(of: expression(depth - 1), index)
        case 13, 14:
            return .setOperation(
                pick(FetchRequest.SetOperation.allCases), expression(depth - 1), expression(depth - 1))
        default: return leaf()
        }
    }

    private mutating func leaf() -> E {
        switch below(8) {
        case 0: .evaluatedObject
        case 1: .variable(name())
        case 2, 3: .keyPath(names())
        default: .constant(value())
        }
    }

    private mutating func name() -> String {
        pick([
            "a", "title", "first", "in", "any", "sum", "é", "two words", "a.b", "1st", "@odd", "quote\"", "", "$x",
            "self",
        ])
    }

    private mutating func names() -> [String] {
        var names = (0..<1 + below(3)).map { _ in name() }
        if below(3) == 0 { names[below(names.count)] = pick(FetchRequest.CollectionOperator.allCases).rawValue }
        return names
    }

    private mutating func value() -> Value {
        if below(8) == 0 { return .double(Double(bitPattern: random.next())) }
        if below(8) == 0 { return .int(Int64(bitPattern: random.next())) }
        if below(12) == 0 { return .null }
        let types = AttributeType.allCases.filter { !limits(of: $0).isEmpty }
        return pick(limits(of: pick(types)))
    }
}
