public import Foundation
public import RoostCore
internal import RoostQuery

extension FetchRequest.Predicate {
    /// Creates a predicate from a predicate of Foundation's `#Predicate` macro.
    ///
    /// ```swift
    /// let predicate = try FetchRequest.Predicate(#Predicate<Track> { $0.length > 600 })
    /// ```
    ///
    /// The predicate has the same result in every store, which can differ from the result in Swift:
    /// - Texts are compared by code point.
    /// - Integers do not overflow.
    /// - A forced unwrap (`!`) of a null value and an integer division by zero give null. Swift
    ///   would stop the program.
    ///
    /// - Throws: `unsupported`, with the part that cannot be translated, for example a cast, a
    ///   dictionary, the number of characters in a text, a key path of a type that is not
    ///   ``PropertyNaming``, or a value of a type that is not ``PredicateArgument``.
    public init<Root: EntityRepresentable>(_ predicate: Foundation.Predicate<Root>) throws(StoreError) {
        let variable: PredicateExpressions.Variable<Root> = predicate.variable
        let translation = MacroTranslation(variables: [variable.key: .evaluatedObject])
        self = try translation.condition(predicate.expression)
    }
}

/// The translation of one part of a macro's predicate.
enum MacroPart {
    /// A value or a collection of values.
    case value(FetchRequest.Expression)
    case condition(FetchRequest.Predicate)
    /// A condition such as `name?.isEmpty`, which is nil unless `present` is true.
    case optional(present: FetchRequest.Predicate, FetchRequest.Predicate)
}

/// An expression of the macro that translates itself or throws an error.
///
/// A `switch` cannot list the types of expressions, because the types are generic.
protocol MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart
}

/// The state of a translation of a macro's predicate.
struct MacroTranslation {
    /// The values of the variables of the enclosing closures.
    var variables: [PredicateExpressions.VariableID: FetchRequest.Expression]

    func part(_ expression: any PredicateExpression) throws(StoreError) -> MacroPart {
        guard let translatable = expression as? any MacroTranslatable else {
            throw Self.untranslatable("\(type(of: expression))")
        }
        return try translatable.translated(self)
    }

    /// Translates an expression to a value.
    ///
    /// A condition becomes true or false. An optional condition can also become null.
    func value(_ expression: any PredicateExpression) throws(StoreError) -> FetchRequest.Expression {
        switch try part(expression) {
        case .value(let value): value
        case .condition(let condition): Self.value(condition)
        case .optional(let present, let condition):
            .conditional(present, Self.value(condition), .constant(.null))
        }
    }

    /// Translates an expression to a condition.
    ///
    /// For a boolean value, this is the condition that the value is true.
    func condition(_ expression: any PredicateExpression) throws(StoreError) -> FetchRequest.Predicate {
        Self.condition(try part(expression))
    }

    static func condition(_ part: MacroPart) -> FetchRequest.Predicate {
        switch part {
        case .value(.constant(.bool(let truth))): .constant(truth)
        case .value(.constant(.null)): .constant(false)
        case .value(let value): compare(value, comparison: .equal, right: .constant(true))
        case .condition(let condition): condition
        case .optional(let present, let condition): present && condition
        }
    }

    private static func value(_ condition: FetchRequest.Predicate) -> FetchRequest.Expression {
        .conditional(condition, .constant(true), .constant(false))
    }

    func binding<Bound>(
        _ variable: PredicateExpressions.Variable<Bound>, to expression: FetchRequest.Expression
    ) -> Self {
        var inner = self
        inner.variables[variable.key] = expression
        return inner
    }

    /// Returns the elements of a sequence that meet a closure's condition.
    ///
    /// If `isNegated` is true, returns the elements that do not meet the condition.
    func subquery<Element>(
        _ sequence: FetchRequest.Expression, variable: PredicateExpressions.Variable<Element>,
        condition: any PredicateExpression, isNegated: Bool = false
    ) throws(StoreError) -> FetchRequest.Expression {
        let name = "element\(variables.count)"
        let condition = try binding(variable, to: .variable(name)).condition(condition)
        return .subquery(sequence, variable: name, isNegated ? .not(condition) : condition)
    }

    static func compare(
        _ left: FetchRequest.Expression, comparison: FetchRequest.Comparison.Operator,
        right: FetchRequest.Expression
    ) -> FetchRequest.Predicate { .comparison(.init(left: left, operator: comparison, right: right)) }

    static func isPresent(_ expression: FetchRequest.Expression) -> FetchRequest.Predicate {
        compare(expression, comparison: .notEqual, right: .constant(.null))
    }

    static func count(_ collection: FetchRequest.Expression) -> FetchRequest.Expression {
        if case .aggregate(let members) = collection { return .constant(.int(Int64(members.count))) }
        return collection.appending([FetchRequest.CollectionOperator.count.rawValue])
    }

    /// Returns the error for a part that cannot be translated.
    ///
    /// The message describes the kind of the expression without its values.
    static func untranslatable(_ what: String, remedy: String? = nil) -> StoreError {
        StoreError(
            .unsupported,
            "A #Predicate cannot be translated for stores because of \(what)\(remedy.map { "; \($0)." } ?? ".")")
    }
}
