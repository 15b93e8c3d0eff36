internal import Foundation
internal import RoostCore
internal import RoostQuery

// Translations of the conditions in predicates of Foundation's `#Predicate` macro.

extension PredicateExpressions.Conjunction: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .condition(try translation.condition(lhs) && translation.condition(rhs))
    }
}

extension PredicateExpressions.Disjunction: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .condition(try translation.condition(lhs) || translation.condition(rhs))
    }
}

extension PredicateExpressions.Negation: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .condition(!(try translation.condition(wrapped)))
    }
}

extension PredicateExpressions.Equal: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .condition(try translation.equality(lhs, comparison: .equal, right: rhs))
    }
}

extension PredicateExpressions.NotEqual: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .condition(try translation.equality(lhs, comparison: .notEqual, right: rhs))
    }
}

extension MacroTranslation {
    /// Translates `==` or `!=`.
    ///
    /// A condition such as `name?.isEmpty` is nil if `name` is nil. A nil condition equals neither
    /// `true` nor `false`.
    fileprivate func equality(
        _ left: any PredicateExpression, comparison: FetchRequest.Comparison.Operator,
        right: any PredicateExpression
    ) throws(StoreError) -> FetchRequest.Predicate {
        let equal: FetchRequest.Predicate
        switch (try part(left), try part(right)) {
        case (.value(let a), .value(let b)): return Self.compare(a, comparison: comparison, right: b)
        case (.condition(let condition), .value(.constant(.bool(let truth)))),
            (.value(.constant(.bool(let truth))), .condition(let condition)):
            equal = truth ? condition : !condition
        case (.optional(let present, let condition), .value(.constant(.bool(let truth)))),
            (.value(.constant(.bool(let truth))), .optional(let present, let condition)):
            equal = present && (truth ? condition : !condition)
        case (.optional(let present, _), .value(.constant(.null))),
            (.value(.constant(.null)), .optional(let present, _)):
            equal = !present
        default: equal = Self.compare(try value(left), comparison: .equal, right: try value(right))
        }
        return comparison == .equal ? equal : !equal
    }
}

extension PredicateExpressions.Comparison: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        let comparison: FetchRequest.Comparison.Operator =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw MacroTranslation.untranslatable("a comparison that is not known")
            }
        return .condition(
            MacroTranslation.compare(
                try translation.value(lhs), comparison: comparison, right: try translation.value(rhs)))
    }
}

// MARK: Collections

extension PredicateExpressions.SequenceContains: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        let (sequence, element) = (try translation.value(sequence), try translation.value(element))
        if case .aggregate = sequence {
            return .condition(MacroTranslation.compare(element, comparison: .isIn, right: sequence))
        }
        return .condition(MacroTranslation.compare(sequence, comparison: .contains, right: element))
    }
}

extension PredicateExpressions.SequenceContainsWhere: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .condition(try translation.exists(try translation.value(sequence), variable: variable, test: test))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        .condition(
            !(try translation.exists(try translation.value(sequence), variable: variable, test: test, isNegated: true)))
    }
}

extension MacroTranslation {
    /// Translates the condition that at least one element of a sequence meets a test.
    ///
    /// If `isNegated` is true, translates the condition that at least one element fails the test.
    fileprivate func exists<Element>(
        _ sequence: FetchRequest.Expression, variable: PredicateExpressions.Variable<Element>,
        test: any PredicateExpression, isNegated: Bool = false
    ) throws(StoreError) -> FetchRequest.Predicate {
        // For a list of the program's values, translates the condition for each element.
        if case .aggregate(let members) = sequence {
            var conditions: [FetchRequest.Predicate] = []
            for member in members {
                let condition = try binding(variable, to: member).condition(test)
                conditions.append(isNegated ? .not(condition) : condition)
            }
            return .or(conditions)
        }
        let found = try subquery(sequence, variable: variable, condition: test, isNegated: isNegated)
        return Self.compare(Self.count(found), comparison: .greater, right: .constant(0))
    }

    fileprivate func requireText<Output>(_ type: Output.Type, what: String) throws(StoreError) {
        guard type is any StringProtocol.Type else {
            throw Self.untranslatable("'\(what)' of two collections that are not text")
        }
    }
}

// MARK: Texts

extension PredicateExpressions.CollectionContainsCollection: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        try translation.requireText(Base.Output.self, what: "contains")
        return .condition(
            MacroTranslation.compare(
                try translation.value(base), comparison: .contains, right: try translation.value(other)))
    }
}

extension PredicateExpressions.SequenceStartsWith: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        try translation.requireText(Base.Output.self, what: "starts(with:)")
        return .condition(
            MacroTranslation.compare(
                try translation.value(base), comparison: .beginsWith, right: try translation.value(prefix)))
    }
}

extension PredicateExpressions.StringContainsRegex: MacroTranslatable {
    /// Surrounds the regular expression with wildcards, because `MATCHES` requires a match of the
    /// whole text.
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        guard let value = regex as? PredicateExpressions.Value<PredicateExpressions.PredicateRegex> else {
            throw MacroTranslation.untranslatable("a regular expression that is not a literal")
        }
        let pattern = "(?s:.*)(?:\(value.value.stringRepresentation))(?s:.*)"
        return .condition(
            MacroTranslation.compare(
                try translation.value(subject), comparison: .matches, right: .constant(.string(pattern))))
    }
}

// MARK: Ranges

private protocol MacroRange {
    func bounds(_ translation: MacroTranslation) throws(StoreError) -> RangeBounds
}

private struct RangeBounds {
    var lower: FetchRequest.Expression?
    var upper: FetchRequest.Expression?
    var includesUpper: Bool
}

extension PredicateExpressions.RangeExpressionContains: MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart {
        guard let range = range as? any MacroRange else {
            throw MacroTranslation.untranslatable("a range of type '\(RangeExpression.Output.self)'")
        }
        let (bounds, element) = (try range.bounds(translation), try translation.value(element))
        if let lower = bounds.lower, let upper = bounds.upper, bounds.includesUpper {
            return .condition(
                MacroTranslation.compare(element, comparison: .between, right: .aggregate([lower, upper])))
        }
        var conditions: [FetchRequest.Predicate] = []
        if let lower = bounds.lower {
            conditions.append(MacroTranslation.compare(element, comparison: .greaterOrEqual, right: lower))
        }
        if let upper = bounds.upper {
            conditions.append(
                MacroTranslation.compare(element, comparison: bounds.includesUpper ? .lessOrEqual : .less, right: upper)
            )
        }
        return .condition(conditions.count == 1 ? conditions[0] : .and(conditions))
    }
}

extension PredicateExpressions.ClosedRange: MacroRange {
    fileprivate func bounds(_ translation: MacroTranslation) throws(StoreError) -> RangeBounds {
        RangeBounds(
            lower: try translation.value(lower), upper: try translation.value(upper), includesUpper: true)
    }
}

extension PredicateExpressions.Range: MacroRange {
    fileprivate func bounds(_ translation: MacroTranslation) throws(StoreError) -> RangeBounds {
        RangeBounds(
            lower: try translation.value(lower), upper: try translation.value(upper), includesUpper: false)
    }
}

extension PredicateExpressions.Value: MacroRange {
    fileprivate func bounds(_ translation: MacroTranslation) throws(StoreError) -> RangeBounds {
        guard let range = value as? any ArgumentRange else {
            throw MacroTranslation.untranslatable("a range of type '\(Output.self)'")
        }
        return range.argumentBounds
    }
}

/// A Swift range whose bounds are values that predicates can contain.
private protocol ArgumentRange {
    var argumentBounds: RangeBounds { get }
}

extension Swift.ClosedRange: ArgumentRange where Bound: PredicateArgument {
    fileprivate var argumentBounds: RangeBounds {
        RangeBounds(
            lower: lowerBound.predicateExpression, upper: upperBound.predicateExpression, includesUpper: true)
    }
}

extension Swift.Range: ArgumentRange where Bound: PredicateArgument {
    fileprivate var argumentBounds: RangeBounds {
        RangeBounds(
            lower: lowerBound.predicateExpression, upper: upperBound.predicateExpression, includesUpper: false)
    }
}

extension PartialRangeFrom: ArgumentRange where Bound: PredicateArgument {
    fileprivate var argumentBounds: RangeBounds {
        RangeBounds(lower: lowerBound.predicateExpression, includesUpper: true)
    }
}

extension PartialRangeThrough: ArgumentRange where Bound: PredicateArgument {
    fileprivate var argumentBounds: RangeBounds {
        RangeBounds(upper: upperBound.predicateExpression, includesUpper: true)
    }
}

extension PartialRangeUpTo: ArgumentRange where Bound: PredicateArgument {
    fileprivate var argumentBounds: RangeBounds {
        RangeBounds(upper: upperBound.predicateExpression, includesUpper: false)
    }
}
