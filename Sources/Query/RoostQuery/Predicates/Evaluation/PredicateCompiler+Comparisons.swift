internal import Foundation
internal import RoostCore

extension PredicateCompiler {
    typealias Operator = FetchRequest.Comparison.Operator

    mutating func comparison(_ comparison: FetchRequest.Comparison, depth: Int) throws(StoreError) -> Condition {
        if let condition = try existence(comparison, depth: depth) { return condition }
        let left = try expression(comparison.left, depth: depth + 1)
        guard comparison.modifier == .direct else {
            let word = comparison.modifier == .any ? "ANY" : "ALL"
            guard left.type.isCollection else {
                throw invalid(
                    "\(word) needs many values on its left side, but there is \(describe(left, expression: comparison.left))."
                )
            }
            return try quantified(left, isAll: comparison.modifier == .all) { (compiler, element) throws(StoreError) in
                try compiler.compare(element, comparison: comparison, depth: depth)
            }
        }
        if left.type.isCollection {
            guard comparison.operator == .contains else {
                throw manyValues(comparison)
            }
            let right = try expression(comparison.right, depth: depth + 1)
            try requireSingle(right, comparison: comparison)
            return try quantified(left, isAll: false) { (compiler, element) throws(StoreError) in
                try compiler.requireComparable(element, right: right, operation: .equal, comparison: comparison)
                return try compiler.compare(element, operation: .equal, right: right, options: comparison.options)
            }
        }
        return try compare(left, comparison: comparison, depth: depth)
    }

    /// Compiles a comparison such as `SUBQUERY(…).@count > 0`, which asks only whether any object
    /// matches.
    ///
    /// Returns nil for any other comparison.
    private mutating func existence(
        _ comparison: FetchRequest.Comparison, depth: Int
    ) throws(StoreError) -> Condition? {
        guard case .path(of: .subquery(let objects, let variable, let predicate), ["@count"]) = comparison.left,
            case .constant(.int(let number)) = comparison.right, comparison.modifier == .direct
        else { return nil }
        let isWanted: Bool
        switch (comparison.operator, number) {
        case (.greater, 0), (.greaterOrEqual, 1), (.notEqual, 0): isWanted = true
        case (.equal, 0), (.less, 1), (.lessOrEqual, 0): isWanted = false
        default: return nil
        }
        let term = try expression(.subquery(objects, variable: variable, predicate), depth: depth + 2)
        let condition = try quantified(term, isAll: false) { (compiler, _) throws(StoreError) in
            Condition(node: compiler.add(.truth(true)), isPlain: true)
        }
        return isWanted ? condition : Condition(node: add(.not(condition.node)), isPlain: condition.isPlain)
    }

    private mutating func compare(
        _ left: Term, comparison: FetchRequest.Comparison, depth: Int
    ) throws(StoreError) -> Condition {
        switch comparison.operator {
        case .between: return try between(left, comparison: comparison, depth: depth)
        case .isIn: return try membership(left, comparison: comparison, depth: depth)
        default:
            let right = try expression(comparison.right, depth: depth + 1)
            try requireSingle(right, comparison: comparison)
            try requireComparable(left, right: right, operation: comparison.operator, comparison: comparison)
            return try compare(left, operation: comparison.operator, right: right, options: comparison.options)
        }
    }

    private mutating func compare(
        _ left: Term, operation: Operator, right: Term, options: FetchRequest.Comparison.Options
    ) throws(StoreError) -> Condition {
        let isPlain = left.isPlain && right.isPlain
        let isText = left.type.family == .text || right.type.family == .text
        // Options affect only text. The locale affects only the order of text.
        var options = isText ? options.subtracting(.normalized) : []
        let isTextOperator: Bool
        switch operation {
        case .contains, .beginsWith, .endsWith, .like, .matches, .isIn: isTextOperator = true
        default: isTextOperator = false
        }
        if isTextOperator || operation == .equal || operation == .notEqual { options.remove(.localized) }
        guard isTextOperator || !options.isEmpty else {
            return Condition(node: add(.compare(left.node, operation, right.node)), isPlain: isPlain)
        }
        if isTextOperator, left.type.kind == .null || right.type.kind == .null {
            return Condition(node: add(.truth(false)), isPlain: true)
        }
        if let text = right.constant?.text {
            return try match(left, operation: operation, text: text, options: options)
        }
        if let text = left.constant?.text, let mirrored = operation.mirrored {
            return try match(right, operation: mirrored, text: text, options: options)
        }
        // A pattern known only at run time may be invalid, so LIKE and MATCHES can fail.
        return Condition(
            node: add(.compareText(left.node, operation, right.node, options)),
            isPlain: isPlain && operation != .matches && operation != .like)
    }

    private mutating func match(
        _ term: Term, operation: Operator, text: String, options: FetchRequest.Comparison.Options
    ) throws(StoreError) -> Condition {
        let matcher = try StringMatcher(operation, pattern: text, options: options)
        let node = add(.match(term.node, matcher: add(matcher), whenNull: operation == .notEqual))
        return Condition(node: node, isPlain: term.isPlain && !matcher.isExpression)
    }

    private mutating func between(
        _ left: Term, comparison: FetchRequest.Comparison, depth: Int
    ) throws(StoreError) -> Condition {
        guard case .aggregate(let ends) = comparison.right, ends.count == 2 else {
            throw invalid("the right side of BETWEEN must be a list of two values, as in {1, 9}.")
        }
        let (low, high) = (try expression(ends[0], depth: depth + 2), try expression(ends[1], depth: depth + 2))
        for end in [low, high] {
            try requireSingle(end, comparison: comparison)
            try requireComparable(left, right: end, operation: .between, comparison: comparison)
        }
        guard left.type.family == .text, !comparison.options.subtracting(.normalized).isEmpty else {
            return Condition(
                node: add(.between(left.node, low.node, high.node)),
                isPlain: left.isPlain && low.isPlain && high.isPlain)
        }
        let above = try compare(left, operation: .greaterOrEqual, right: low, options: comparison.options)
        let below = try compare(left, operation: .lessOrEqual, right: high, options: comparison.options)
        return Condition(node: add(.and(links([above.node, below.node]))), isPlain: above.isPlain && below.isPlain)
    }

    // MARK: Membership

    private mutating func membership(
        _ left: Term, comparison: FetchRequest.Comparison, depth: Int
    ) throws(StoreError) -> Condition {
        if case .aggregate(let members) = comparison.right {
            return try membership(left, of: members, comparison: comparison, depth: depth)
        }
        let right = try expression(comparison.right, depth: depth + 1)
        if right.type.isCollection {
            return try quantified(right, isAll: false) { (compiler, element) throws(StoreError) in
                try compiler.requireComparable(left, right: element, operation: .isIn, comparison: comparison)
                return try compiler.compare(element, operation: .equal, right: left, options: comparison.options)
            }
        }
        let families = Set([left.type.family, right.type.family])
        guard families.isSubset(of: [.text, .null]) else {
            throw invalid(
                "the right side of IN must be a list of values, a path with many values, or text; it is \(describe(right, expression: comparison.right))."
            )
        }
        return try compare(left, operation: .isIn, right: right, options: comparison.options)
    }

    /// Compiles a membership test: constants become one set, and other members are compared one by
    /// one.
    private mutating func membership(
        _ left: Term, of members: [FetchRequest.Expression], comparison: FetchRequest.Comparison, depth: Int
    ) throws(StoreError) -> Condition {
        try requireListCount(members.count)
        let folding: FetchRequest.Comparison.Options =
            left.type.family == .text
            ? comparison.options.intersection([.caseInsensitive, .diacriticInsensitive]) : []
        var wanted: [PredicateConstant] = []
        var conditions: [PredicateProgram.Index] = []
        var isPlain = left.isPlain
        for member in members {
            if case .constant(let value) = member {
                try requireStorable(value)
                try requireComparable(
                    left,
                    right: Term(node: 0, type: PredicateType(value, model: model), isPlain: true, constant: value),
                    operation: .isIn,
                    comparison: comparison, right: member)
                wanted.append(PredicateConstant(value.folded(folding), model: model))
                continue
            }
            let term = try expression(member, depth: depth + 2)
            try requireSingle(term, comparison: comparison)
            try requireComparable(left, right: term, operation: .isIn, comparison: comparison, right: member)
            let condition = try compare(left, operation: .equal, right: term, options: comparison.options)
            isPlain = isPlain && condition.isPlain
            conditions.append(condition.node)
        }
        if !wanted.isEmpty {
            let set = add(OperandSet(wanted))
            conditions.insert(add(.member(left.node, set: set, folding)), at: 0)
        }
        if conditions.count == 1 { return Condition(node: conditions[0], isPlain: isPlain) }
        return Condition(node: add(.or(links(conditions))), isPlain: isPlain)
    }

    private mutating func quantified(
        _ collection: Term, isAll: Bool,
        _ body: (inout Self, Term) throws(StoreError) -> Condition
    ) throws(StoreError) -> Condition {
        let slot = newVariable()
        let element = Term(node: add(.variable(slot)), type: collection.type.element, isPlain: true)
        let condition = try body(&self, element)
        let node: PredicateProgram.Node =
            isAll
            ? .all(collection.node, variable: slot, condition: condition.node)
            : .any(collection.node, variable: slot, condition: condition.node)
        return Condition(node: add(node), isPlain: collection.isPlain && condition.isPlain)
    }

    // MARK: Comparable types

    /// Returns the error for a left side with many values.
    ///
    /// The message shows no constants, because they may be user data.
    private func manyValues(_ comparison: FetchRequest.Comparison) -> StoreError {
        let symbol = Self.symbol(comparison.operator)
        var example = ""
        if case .keyPath(let path) = comparison.left, !path.contains(where: { $0.hasPrefix("@") }) {
            example = ", as in ANY \(PredicatePrinter.path(path)) \(symbol) …"
        }
        return invalid(
            "the left side of \(symbol) has many values; write ANY or ALL before it\(example), or use a collection operator such as @count."
        )
    }

    func requireListCount(_ count: Int) throws(StoreError) {
        guard count <= Self.maximumListCount else {
            throw StoreError(
                .limitExceeded,
                "A list in a predicate on '\(entity.name)' can have \(Self.maximumListCount) values, not \(count).")
        }
    }

    private func requireSingle(_ right: Term, comparison: FetchRequest.Comparison) throws(StoreError) {
        guard right.type.isCollection else { return }
        throw invalid(
            "the right side of \(Self.symbol(comparison.operator)) has many values; only the right side of IN, or the left side with ANY or ALL, can have them."
        )
    }

    private func requireComparable(
        _ left: Term, right: Term, operation: Operator, comparison: FetchRequest.Comparison,
        right member: FetchRequest.Expression? = nil
    ) throws(StoreError) {
        let (a, b) = (left.type.family, right.type.family)
        let isOfText: Bool
        switch operation {
        case .contains, .beginsWith, .endsWith, .like, .matches: isOfText = true
        default: isOfText = false
        }
        let isTest = operation == .equal || operation == .notEqual || operation == .isIn
        // The bytes of a transformable value can be compared with data, but only for equality.
        let same = a == b || (isTest && Set([a, b]) == [.data, .transformable])
        let allowed: Bool
        if isOfText {
            allowed = (a == .text || a == .null) && (b == .text || b == .null)
        } else if a == .null || b == .null {
            allowed = true
        } else if isTest {
            allowed = same && a != .composite
        } else {
            allowed = same && ![.object, .composite, .transformable].contains(a)
        }
        guard allowed else {
            throw invalid(
                "\(describe(left, expression: comparison.left)) cannot be compared with \(describe(right, expression: member ?? comparison.right)) by \(Self.symbol(comparison.operator))."
            )
        }
    }

    func describe(_ term: Term, expression: FetchRequest.Expression) -> String {
        switch expression {
        case .keyPath(let path): "'\(path.joined(separator: "."))' (\(term.type.kind))"
        case .constant: "\(term.type.family == .object ? "an" : "a") \(term.type.family) constant"
        case .evaluatedObject: "the object itself"
        case .variable(let name): "'$\(name)' (\(term.type.kind))"
        default: "a value of type \(term.type.kind)"
        }
    }

    static func symbol(_ operation: Operator) -> String {
        switch operation {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .between: "BETWEEN"
        case .isIn: "IN"
        case .contains: "CONTAINS"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .like: "LIKE"
        case .matches: "MATCHES"
        }
    }
}

extension FetchRequest.Comparison.Operator {
    /// The operator with the same meaning if the two sides are exchanged, or nil.
    var mirrored: Self? {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .contains: .isIn
        case .isIn: .contains
        case .between, .beginsWith, .endsWith, .like, .matches: nil
        }
    }
}

extension Value {
    var text: String? {
        switch self {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }

    func folded(_ options: FetchRequest.Comparison.Options) -> Value {
        guard !options.isEmpty, let text else { return self }
        return .string(TextFolding.folded(text, by: options))
    }
}
