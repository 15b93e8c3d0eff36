internal import RoostCore

/// The syntax tree of a predicate, before names and literals are resolved.
///
/// The tree has the structure of ``FetchRequest/Predicate``, with positions for messages.
enum PredicateSyntax {
    indirect enum Condition {
        case constant(Bool)
        case comparison(Comparison)
        case and([Condition])
        case or([Condition])
        case not(Condition)
    }

    struct Comparison {
        var left: Operand
        var `operator`: FetchRequest.Comparison.Operator
        var right: Operand
        var modifier: FetchRequest.Comparison.Modifier
        var options: FetchRequest.Comparison.Options
    }

    indirect enum Operand {
        case literal(PredicateLiteral, String.Index)
        case evaluatedObject
        case variable(String, String.Index)
        case keyPath([String], String.Index)
        case path(of: Operand, [String], String.Index)
        case aggregate([Operand])
        case function(FetchRequest.Function, [Operand])
        case registered(String, [Operand])
        case cast(Operand, FetchRequest.CastType)
        case subquery(Operand, variable: String, Condition)
        case conditional(Condition, Operand, Operand)
        case element(of: Operand, Index)
        case setOperation(FetchRequest.SetOperation, Operand, Operand)
    }

    /// An index that selects an element of a list, or the list's size.
    indirect enum Index {
        case first, last, size
        case position(Operand)
    }
}

// MARK: Syntax trees for printing

extension PredicateSyntax.Condition {
    /// Creates the syntax tree of a predicate.
    ///
    /// - Throws: `invalidRequest` for nesting deeper than ``PredicateLimits/depth``; the parsing
    ///   error that an expression stores.
    init(_ predicate: FetchRequest.Predicate, depth: Int = 0) throws(StoreError) {
        let depth = try PredicateSyntax.deeper(depth)
        switch predicate {
        case .constant(let truth): self = .constant(truth)
        case .comparison(let comparison):
            self = .comparison(
                .init(
                    left: try .init(comparison.left, depth: depth), operator: comparison.operator,
                    right: try .init(comparison.right, depth: depth), modifier: comparison.modifier,
                    options: comparison.options))
        case .and(let members): self = .and(try Self.all(members, depth: depth))
        case .or(let members): self = .or(try Self.all(members, depth: depth))
        case .not(let member): self = .not(try Self(member, depth: depth))
        }
    }

    private static func all(_ members: [FetchRequest.Predicate], depth: Int) throws(StoreError) -> [Self] {
        var result: [Self] = []
        for member in members { result.append(try Self(member, depth: depth)) }
        return result
    }
}

extension PredicateSyntax.Operand {
    private static let nowhere = "".startIndex

    init(_ expression: FetchRequest.Expression, depth: Int = 0) throws(StoreError) {
        let depth = try PredicateSyntax.deeper(depth)
        switch expression {
        case .constant(let value): self = .literal(.typed(value), Self.nowhere)
        case .evaluatedObject: self = .evaluatedObject
        case .variable(let name): self = .variable(name, Self.nowhere)
        case .keyPath(let names): self = .keyPath(names, Self.nowhere)
        case .path(let base, let names): self = .path(of: try Self(base, depth: depth), names, Self.nowhere)
        case .aggregate(let members): self = .aggregate(try Self.all(members, depth: depth))
        case .function(let function, let arguments): self = .function(function, try Self.all(arguments, depth: depth))
        case .registered(let name, let arguments):
            if let error = expression.readingError { throw error }
            self = .registered(name, try Self.all(arguments, depth: depth))
        case .cast(let operand, let type): self = .cast(try Self(operand, depth: depth), type)
        case .subquery(let collection, let variable, let predicate):
            self = .subquery(
                try Self(collection, depth: depth), variable: variable, try .init(predicate, depth: depth))
        case .conditional(let condition, let first, let second):
            self = .conditional(
                try .init(condition, depth: depth), try Self(first, depth: depth), try Self(second, depth: depth))
        case .element(let base, let index):
            let base = try Self(base, depth: depth)
            switch index {
            case .first: self = .element(of: base, .first)
            case .last: self = .element(of: base, .last)
            case .size: self = .element(of: base, .size)
            case .position(let position): self = .element(of: base, .position(try Self(position, depth: depth)))
            }
        case .setOperation(let operation, let first, let second):
            self = .setOperation(operation, try Self(first, depth: depth), try Self(second, depth: depth))
        }
    }

    private static func all(_ members: [FetchRequest.Expression], depth: Int) throws(StoreError) -> [Self] {
        var result: [Self] = []
        for member in members { result.append(try Self(member, depth: depth)) }
        return result
    }
}

extension PredicateSyntax {
    /// The maximum depth of a tree.
    ///
    /// Below the deepest AND, OR or NOT, a comparison adds one level, and its operands another.
    static let deepest = PredicateLimits.depth + 2

    fileprivate static func deeper(_ depth: Int) throws(StoreError) -> Int {
        guard depth < deepest else {
            throw StoreError(
                .invalidRequest, "The predicate is nested deeper than \(PredicateLimits.depth) levels.")
        }
        return depth + 1
    }
}
