internal import Foundation
internal import RoostCore

extension PredicateCompiler {
    mutating func call(
        _ function: FetchRequest.Function, arguments: [FetchRequest.Expression], depth: Int
    ) throws(StoreError) -> Term {
        let count = function.argumentCount
        guard arguments.count == count else {
            throw invalid(
                "the function '\(function.rawValue)' needs \(count) value\(count == 1 ? "" : "s"), not \(arguments.count)."
            )
        }
        if function == .now { return constant(now) }
        var terms: [Term] = []
        for argument in arguments {
            terms.append(
                function.isOfMany
                    ? try expression(argument, depth: depth + 1)
                    : try single(argument, depth: depth + 1, in: "the function '\(function.rawValue)'"))
        }
        guard let type = Self.result(of: function, types: terms.map(\.type)) else {
            let what = zip(terms, arguments).map { describe($0, expression: $1) }.joined(separator: " and ")
            throw invalid("the function '\(function.rawValue)' cannot be applied to \(what).")
        }
        if function == .noIndex, let term = terms.first { return term }
        if let value = folded(function, terms: terms, type: type) { return constant(value) }
        return Term(
            node: add(.call(function, links(terms.map(\.node)))), type: type,
            isPlain: terms.allSatisfy(\.isPlain))
    }

    /// Returns the value of an arithmetic function of constants; nil for any other call.
    private func folded(_ function: FetchRequest.Function, terms: [Term], type: PredicateType) -> Value? {
        guard !function.isOfMany, type.family == .number || type.family == .date,
            terms.allSatisfy({ $0.type.family == .number || $0.type.family == .date })
        else { return nil }
        var operands: [PredicateOperand] = []
        for term in terms {
            guard let value = term.constant else { return nil }
            operands.append(PredicateConstant(value, model: model).operand)
        }
        guard let first = operands.first else { return nil }
        let result = PredicateArithmetic.value(of: function, left: first, right: operands.last ?? first)
        return Value(result, kind: type.kind, model: model)
    }

    /// Returns the type of a function's result; nil if the argument types are invalid.
    private static func result(of function: FetchRequest.Function, types: [PredicateType]) -> PredicateType? {
        guard let first = types.first, let last = types.last else { return nil }
        let areNumbers = types.allSatisfy { $0.family == .number || $0.family == .null }
        let number = PredicateType(.number)
        switch function {
        case .now: return PredicateType(.date)
        case .noIndex: return first
        case .count: return PredicateType(.integer)
        case .minimum, .maximum, .mode: return first.hasOrder ? first.element : nil
        case .uppercase, .lowercase, .canonical:
            return first.family == .text || first.family == .null ? PredicateType(.string) : nil
        case .length: return first.family == .text || first.family == .null ? PredicateType(.integer) : nil
        case .add where first.family == .date || last.family == .date:
            let families = [first.family, last.family]
            return families.contains(.number) || families.contains(.null) ? PredicateType(.date) : nil
        case .subtract where first.family == .date && (last.family == .number || last.family == .null):
            return PredicateType(.date)
        case .subtract where last.family == .date:
            return first.family == .date || first.family == .null ? PredicateType(.double) : nil
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement:
            // A `number` may turn out to be whole at run time.
            let areWhole = types.allSatisfy { [.integer, .boolean, .number, .null].contains($0.kind) }
            return areWhole ? PredicateType(.integer) : nil
        default: return areNumbers ? number : nil
        }
    }

    // MARK: Registered functions

    mutating func registered(
        _ name: String, arguments: [FetchRequest.Expression], depth: Int
    ) throws(StoreError) -> Term {
        guard let function = RegisteredFunction.named(name) else {
            if let error = FetchRequest.Expression.registered(name, arguments).readingError { throw error }
            let hint = nearestName(to: name, among: RegisteredFunction.names).map { "did you mean '\($0)'?" }
            throw invalid(
                "the function '\(name)' is not registered; \(hint ?? "register it with RegisteredFunction.register first.")"
            )
        }
        if let count = function.argumentCount, count != arguments.count {
            throw invalid(
                "the function '\(name)' needs \(count) value\(count == 1 ? "" : "s"), not \(arguments.count).")
        }
        var terms: [Term] = []
        for argument in arguments {
            terms.append(try single(argument, depth: depth + 1, in: "the function '\(name)'"))
        }
        let range = links(terms.map(\.node))
        let position = add(PredicateProgram.Call(function: function, argumentKinds: terms.map(\.type.kind)))
        return Term(
            node: add(.registered(position, range)), type: PredicateType(PredicateType.Kind(function.resultType)),
            isPlain: false)
    }
}

extension FetchRequest.Function {
    var argumentCount: Int {
        switch self {
        case .now: 0
        case .add, .subtract, .multiply, .divide, .power, .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
            .rightShift:
            2
        case .negate, .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation, .squareRoot, .log,
            .naturalLog, .exponential, .floor, .ceiling, .absolute, .truncate, .uppercase, .lowercase, .canonical,
            .length, .onesComplement, .noIndex:
            1
        }
    }

    /// Whether the function reduces many values to one.
    var isOfMany: Bool {
        switch self {
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation: true
        default: false
        }
    }
}
