internal import Foundation
internal import RoostCore
internal import RoostQuery

// Translations of the values in predicates of Foundation's `#Predicate` macro.

extension PredicateExpressions.Variable: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        guard let expression = translation.variables[key] else {
            throw MacroTranslation.untranslatable("a variable that it does not declare")
        }
        return .value(expression)
    }
}

extension PredicateExpressions.Value: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        if let argument = value as? any PredicateArgument { return .value(argument.predicateExpression) }
        if let raw = value as? any RawRepresentable, let argument = raw.rawValue as? any PredicateArgument {
            return .value(argument.predicateExpression)
        }
        throw MacroTranslation.untranslatable(
            "a value of type '\(Output.self)'", remedy: "let the type conform to PredicateArgument")
    }
}

extension PredicateExpressions.NilLiteral: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart { .value(.constant(.null)) }
}

extension PredicateExpressions.KeyPath: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        // Translates the root first, so that the error is about the first wrong part of the path.
        let start = try translation.value(root)
        let isText = Root.Output.self is any StringProtocol.Type
        switch kind {
        case .collectionCount where isText:
            throw MacroTranslation.untranslatable(
                "'count' of a text, which counts characters as people see them",
                remedy: "in a predicate's text, length(…) counts code points")
        case .collectionIsEmpty where isText:
            return .condition(MacroTranslation.compare(start, comparison: .equal, right: .constant("")))
        case .collectionCount: return .value(MacroTranslation.count(start))
        case .collectionIsEmpty:
            return .condition(
                MacroTranslation.compare(MacroTranslation.count(start), comparison: .equal, right: .constant(0)))
        case .collectionFirst: return .value(.element(of: start, .first))
        case .bidirectionalCollectionLast: return .value(.element(of: start, .last))
        case nil: break
        }
        // For a computed property, the description is only an address in angle brackets.
        let description = "\(keyPath)"
        let what =
            description.contains("<")
            ? "a key path from '\(Root.Output.self)' to '\(Output.self)'" : "the key path '\(description)'"
        guard let naming = Root.Output.self as? any PropertyNaming.Type else {
            throw MacroTranslation.untranslatable(what, remedy: "let '\(Root.Output.self)' conform to PropertyNaming")
        }
        guard let name = naming.propertyName(of: keyPath) else {
            throw MacroTranslation.untranslatable(what, remedy: "'\(Root.Output.self)' has no property name for it")
        }
        let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return .value(start.appending(names))
    }
}

// MARK: Optionals

extension PredicateExpressions.OptionalFlatMap: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        let wrapped = try translation.value(wrapped)
        let present = MacroTranslation.isPresent(wrapped)
        switch try translation.binding(variable, to: wrapped).part(transform) {
        case .condition(let condition): return .optional(present: present, condition)
        case .optional(let inner, let condition): return .optional(present: present && inner, condition)
        case .value(let value):
            // A path through null is null, as in Swift, so it needs no condition. However, a count at the end
            // of such a path is 0 in a predicate, but nil in Swift.
            if let steps = value.steps(after: wrapped), !steps.contains(where: { $0.hasPrefix("@") }) {
                return .value(value)
            }
            return .value(.conditional(present, value, .constant(.null)))
        }
    }
}

extension FetchRequest.Expression {
    /// Returns the names that follow `start` in a path; nil if the path does not begin with
    /// `start`.
    fileprivate func steps(after start: Self) -> ArraySlice<String>? {
        switch (self, start) {
        case (.keyPath(let names), .keyPath(let first)) where names.starts(with: first):
            return names[first.count...]
        case (.path(of: let base, let names), .path(of: let other, let first))
        where base == other && names.starts(with: first):
            return names[first.count...]
        case (.path(of: let base, let names), _) where base == start: return names[...]
        default: return nil
        }
    }
}

extension PredicateExpressions.ForcedUnwrap: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        try translation.part(inner)
    }
}

extension PredicateExpressions.NilCoalesce: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        // The macro turns `if let x = a { b } else { c }` into `a.flatMap { x in b } ?? c`. If `a` has a value and
        // `b` is nil, the result is nil, not `c`.
        if RHS.Output.self is any OptionalValue.Type, let map = lhs as? any MacroFlatMap {
            let (present, first) = try map.closure(translation)
            return MacroTranslation.choice(present, first: first, second: try translation.part(rhs))
        }
        let (left, right) = (try translation.part(lhs), try translation.part(rhs))
        switch (left, right) {
        case (.optional(let present, let condition), _):
            return MacroTranslation.choice(present, first: .condition(condition), second: right)
        case (.value(let value), .value(.constant(.bool(let fallback)))):
            return .condition(
                fallback
                    ? MacroTranslation.compare(value, comparison: .notEqual, right: .constant(false))
                    : MacroTranslation.compare(value, comparison: .equal, right: .constant(true)))
        case (.value(let value), _):
            return .value(.conditional(MacroTranslation.isPresent(value), value, try translation.value(rhs)))
        case (.condition, _): return left
        }
    }
}

private protocol OptionalValue {}

extension Optional: OptionalValue {}

/// An expression of the macro that evaluates a closure if an optional value is not nil.
private protocol MacroFlatMap {
    /// Translates the closure, and the condition under which it is evaluated.
    func closure(
        _ translation: MacroTranslation
    ) throws(StoreError) -> (present: FetchRequest.Predicate, part: MacroPart)
}

extension PredicateExpressions.OptionalFlatMap: MacroFlatMap {
    fileprivate func closure(
        _ translation: MacroTranslation
    ) throws(StoreError) -> (present: FetchRequest.Predicate, part: MacroPart) {
        let wrapped = try translation.value(wrapped)
        let present = MacroTranslation.isPresent(wrapped)
        let inside = translation.binding(variable, to: wrapped)
        // In `if let x = a, let y = b`, the closure for `x` contains the closure for `y`.
        if RHS.Output.self == Optional<Result>.self, let next = transform as? any MacroFlatMap {
            let (nextPresent, part) = try next.closure(inside)
            return (present && nextPresent, part)
        }
        return (present, try inside.part(transform))
    }
}

extension PredicateExpressions.Conditional: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        MacroTranslation.choice(
            try translation.condition(test), first: try translation.part(trueBranch),
            second: try translation.part(falseBranch))
    }
}

extension MacroTranslation {
    /// Returns a part that is `first` if `test` is true, and otherwise `second`.
    ///
    /// If `first` or `second` is an optional condition, so is the result, which is nil if the
    /// chosen part is nil.
    fileprivate static func choice(_ test: FetchRequest.Predicate, first: MacroPart, second: MacroPart) -> MacroPart {
        if case .value(let first) = first, case .value(let second) = second {
            return .value(.conditional(test, first, second))
        }
        let condition = choice(test, first: truth(first), second: truth(second))
        switch (first, second) {
        case (.optional, _), (_, .optional):
            return .optional(present: choice(test, first: isPresent(first), second: isPresent(second)), condition)
        default: return .condition(condition)
        }
    }

    private static func choice(
        _ test: FetchRequest.Predicate, first: FetchRequest.Predicate, second: FetchRequest.Predicate
    ) -> FetchRequest.Predicate {
        switch (first, second) {
        case (.constant(true), _): test || second
        case (_, .constant(true)): !test || first
        case (.constant(false), _): !test && second
        case (_, .constant(false)): test && first
        default: (test && first) || (!test && second)
        }
    }

    /// Returns the condition that a part is true, assuming that the part is not nil.
    private static func truth(_ part: MacroPart) -> FetchRequest.Predicate {
        if case .optional(_, let condition) = part { condition } else { Self.condition(part) }
    }

    private static func isPresent(_ part: MacroPart) -> FetchRequest.Predicate {
        switch part {
        case .value(.constant(let value)): .constant(!value.isNull)
        case .value(let value): isPresent(value)
        case .condition: .constant(true)
        case .optional(let present, _): present
        }
    }
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        let function: FetchRequest.Function =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw MacroTranslation.untranslatable("an arithmetic operator that is not known")
            }
        return .value(.function(function, [try translation.value(lhs), try translation.value(rhs)]))
    }
}

extension PredicateExpressions.FloatDivision: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .value(.function(.divide, [try translation.value(lhs), try translation.value(rhs)]))
    }
}

extension PredicateExpressions.IntDivision: MacroTranslatable {
    /// Translates integer division, which truncates, unlike `/` in predicates.
    ///
    /// Subtracts the remainder before dividing, so that the quotient is whole. Divides decimals,
    /// because they have enough digits for all 64-bit integers.
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        let (dividend, divisor) = (try translation.value(lhs), try translation.value(rhs))
        let whole = FetchRequest.Expression.function(
            .subtract, [dividend, .function(.modulus, [dividend, divisor])])
        return .value(.function(.divide, [.cast(whole, .decimal), divisor]))
    }
}

extension PredicateExpressions.IntRemainder: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .value(.function(.modulus, [try translation.value(lhs), try translation.value(rhs)]))
    }
}

extension PredicateExpressions.UnaryMinus: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .value(.function(.negate, [try translation.value(wrapped)]))
    }
}

// MARK: Collections as values

extension PredicateExpressions.Filter: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .value(try translation.subquery(try translation.value(sequence), variable: variable, condition: filter))
    }
}

extension PredicateExpressions.SequenceMaximum: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .value(.function(.maximum, [try translation.value(elements)]))
    }
}

extension PredicateExpressions.SequenceMinimum: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .value(.function(.minimum, [try translation.value(elements)]))
    }
}

extension PredicateExpressions.CollectionIndexSubscript: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .value(.element(of: try translation.value(wrapped), .position(try translation.value(index))))
    }
}

// MARK: Unsupported expressions

extension PredicateExpressions.CollectionRangeSubscript: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        throw MacroTranslation.untranslatable("a range in brackets, '[a..<b]'")
    }
}

extension PredicateExpressions.DictionaryKeySubscript: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        throw MacroTranslation.untranslatable("a dictionary's '[key]'", remedy: "compare with each key separately")
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        throw MacroTranslation.untranslatable(
            "a dictionary's '[key, default: value]'", remedy: "compare with each key separately")
    }
}

extension PredicateExpressions.ConditionalCast: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        if Input.Output.self == Desired.self { return try translation.part(input) }
        throw MacroTranslation.untranslatable("a cast to '\(Desired.self)'", remedy: "fetch the entity of that type")
    }
}

extension PredicateExpressions.ForceCast: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        if Input.Output.self == Desired.self { return try translation.part(input) }
        throw MacroTranslation.untranslatable(
            "a forced cast to '\(Desired.self)'", remedy: "fetch the entity of that type")
    }
}

extension PredicateExpressions.TypeCheck: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        throw MacroTranslation.untranslatable("'is \(Desired.self)'", remedy: "fetch the entity of that type")
    }
}
