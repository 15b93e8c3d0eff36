public import Foundation
public import RoostCore
internal import RoostQuery

extension FetchRequest.Predicate {
    /// The predicate that Foundation's `#Predicate` macro made for a type that stands for an entity.
    ///
    /// ```swift
    /// let predicate = try FetchRequest.Predicate(#Predicate<Track> { $0.length > 600 && $0.album?.title == "Kind of Blue" })
    /// ```
    ///
    /// It means what predicates mean in every store: text compares by code point, integers do not overflow, and `!` of a null value and a
    /// division by zero give null, where Swift would stop the program.
    ///
    /// - Throws: `unsupported` naming the part that cannot be translated: casts, dictionaries, the number of a text's characters, and key
    ///   paths and values of types that say nothing of themselves (``PropertyNaming``, ``PredicateArgument``).
    public init<Root: EntityRepresentable>(_ predicate: Foundation.Predicate<Root>) throws(StoreError) {
        let variable: PredicateExpressions.Variable<Root> = predicate.variable
        let translation = MacroTranslation(variables: [variable.key: .evaluatedObject])
        self = try translation.condition(predicate.expression)
    }
}

/// What a part of a macro's predicate becomes.
enum MacroPart {
    /// A value, or many.
    case value(FetchRequest.Expression)
    /// A condition.
    case condition(FetchRequest.Predicate)
    /// The condition in `a?.isX`: nil unless something is present.
    case optional(present: FetchRequest.Predicate, FetchRequest.Predicate)
}

/// An expression of the macro that has a translation.
///
/// Foundation's expressions are generic, so each kind says for itself what it becomes, and the compiler checks that none is forgotten.
protocol MacroTranslatable {
    func translated(_ translation: MacroTranslation) throws(StoreError) -> MacroPart
}

/// The translation of one predicate of the macro, at one place in it.
struct MacroTranslation {
    /// What the variables around stand for.
    var variables: [PredicateExpressions.VariableID: FetchRequest.Expression]

    func part(_ expression: any PredicateExpression) throws(StoreError) -> MacroPart {
        guard let translatable = expression as? any MacroTranslatable else {
            throw Self.untranslatable("\(type(of: expression))")
        }
        return try translatable.translated(self)
    }

    /// The expression as a value; a condition becomes true or false.
    func value(_ expression: any PredicateExpression) throws(StoreError) -> FetchRequest.Expression {
        switch try part(expression) {
        case .value(let value): value
        case .condition(let condition): Self.value(condition)
        case .optional(let present, let condition):
            .conditional(present, Self.value(condition), .constant(.null))
        }
    }

    /// The expression as a condition; a boolean value must be true.
    func condition(_ expression: any PredicateExpression) throws(StoreError) -> FetchRequest.Predicate {
        Self.condition(try part(expression))
    }

    static func condition(_ part: MacroPart) -> FetchRequest.Predicate {
        switch part {
        case .value(.constant(.bool(let truth))): .constant(truth)
        case .value(let value): compare(value, .equal, .constant(true))
        case .condition(let condition): condition
        case .optional(let present, let condition): present && condition
        }
    }

    private static func value(_ condition: FetchRequest.Predicate) -> FetchRequest.Expression {
        .conditional(condition, .constant(true), .constant(false))
    }

    /// The translation inside of a closure, where a variable stands for something.
    func binding<Bound>(
        _ variable: PredicateExpressions.Variable<Bound>, to expression: FetchRequest.Expression
    ) -> Self {
        var inner = self
        inner.variables[variable.key] = expression
        return inner
    }

    /// The elements of a sequence for which a closure's condition is true, or false if it is negated.
    func subquery<Element>(
        _ sequence: FetchRequest.Expression, _ variable: PredicateExpressions.Variable<Element>,
        _ condition: any PredicateExpression, isNegated: Bool = false
    ) throws(StoreError) -> FetchRequest.Expression {
        let name = "element\(variables.count)"
        let condition = try binding(variable, to: .variable(name)).condition(condition)
        return .subquery(sequence, variable: name, isNegated ? .not(condition) : condition)
    }

    static func compare(
        _ left: FetchRequest.Expression, _ comparison: FetchRequest.Comparison.Operator,
        _ right: FetchRequest.Expression
    ) -> FetchRequest.Predicate { .comparison(.init(left: left, operator: comparison, right: right)) }

    static func isPresent(_ expression: FetchRequest.Expression) -> FetchRequest.Predicate {
        compare(expression, .notEqual, .constant(.null))
    }

    /// How many elements a collection has.
    static func count(_ collection: FetchRequest.Expression) -> FetchRequest.Expression {
        if case .aggregate(let members) = collection { return .constant(.int(Int64(members.count))) }
        return collection.appending([FetchRequest.CollectionOperator.count.rawValue])
    }

    /// The error for a part that has no translation; what is named is its kind, never a value in it.
    static func untranslatable(_ what: String, _ remedy: String? = nil) -> StoreError {
        StoreError(
            .unsupported,
            "A #Predicate cannot be translated for stores because of \(what)\(remedy.map { "; \($0)." } ?? ".")")
    }
}
