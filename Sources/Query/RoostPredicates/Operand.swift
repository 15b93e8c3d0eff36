public import RoostCore
public import RoostQuery

/// Builders of predicates in Swift.
///
/// ```swift
/// let blue: FetchRequest.Predicate =
///     .path("album.title").contains("Blue", options: .caseInsensitive)
///     && .any("tracks.length") > 600
///
/// let long: FetchRequest.Predicate = .objects("tracks", as: "track") {
///     $0.path("length") > 600 && $0.path("rating") == 5
/// }.count >= 2
///
/// let near: FetchRequest.Predicate =
///     .path(\Album.year).isBetween(1959, and: 1964) && !.path("artist").isNull
/// ```
///
/// The compiler is faster if you first assign the operands of a long expression to constants:
/// `let length = FetchRequest.Operand.path("length")`.
///
/// The compiler checks conditions, values and Swift key paths. A request checks the names in
/// strings and the types of properties.
extension FetchRequest {
    /// A value in a predicate: a property, a constant or an expression.
    ///
    /// Comparisons, even `==`, return a predicate instead of a boolean.
    public struct Operand: Sendable, PredicateArgument, ExpressibleByNilLiteral {
        /// A rule for how many of an operand's values must meet a comparison.
        ///
        /// `direct` compares the operand itself.
        enum Quantifier { case direct, any, all, none }

        /// The expression of the operand.
        public let expression: Expression
        let quantifier: Quantifier

        /// Creates an operand for an expression.
        public init(_ expression: Expression) { self.init(expression, quantifier: .direct) }

        /// Creates the null value.
        public init(nilLiteral: ()) { self.init(.constant(.null)) }

        init(_ expression: Expression, quantifier: Quantifier) {
            self.expression = expression
            self.quantifier = quantifier
        }

        /// The expression of the operand.
        public var predicateExpression: Expression { expression }
    }
}

// MARK: Creating operands

extension PredicateArgument where Self == FetchRequest.Operand {
    /// The value at a dotted path of names: `album.title`, `tracks.@count`.
    public static func path(_ path: String) -> Self { Self(.keyPath(Self.names(path))) }
    /// The property at a key path of a Swift type that represents an entity.
    public static func path<Root: EntityRepresentable>(_ keyPath: PartialKeyPath<Root>) -> Self {
        path(Root.predicatePath(of: keyPath))
    }
    /// The values at a path through a to-many relationship.
    ///
    /// A comparison must be true for at least one value.
    public static func any(_ path: String) -> Self { Self(.keyPath(Self.names(path)), quantifier: .any) }
    /// The values at a path through a to-many relationship.
    ///
    /// A comparison must be true for all values.
    ///
    /// Without values, the comparison is true.
    public static func all(_ path: String) -> Self { Self(.keyPath(Self.names(path)), quantifier: .all) }
    /// The values at a path through a to-many relationship.
    ///
    /// A comparison must be false for all values.
    public static func none(_ path: String) -> Self { Self(.keyPath(Self.names(path)), quantifier: .none) }
    /// The object itself.
    public static var object: Self { Self(.evaluatedObject) }
    /// A variable; see `FetchRequest.Predicate.substituting(_:)`.
    public static func variable(_ name: String) -> Self { Self(.variable(name)) }
    /// A value.
    public static func value(_ value: some PredicateArgument) -> Self { Self(value.predicateExpression) }
    /// The objects at a to-many path that meet a condition: `SUBQUERY`.
    ///
    /// - Parameters:
    ///   - path: A dotted path of names.
    ///   - name: The name of the variable. Nested calls need different names.
    ///   - condition: A closure that returns the condition for an object. Its argument is the
    ///     object, as an operand.
    /// - Returns: The objects that meet the condition, as an operand with many values.
    public static func objects(
        _ path: String, as name: String = "object", where condition: (Self) -> FetchRequest.Predicate
    ) -> Self {
        Self(.subquery(.keyPath(Self.names(path)), variable: name, condition(.variable(name))))
    }
}

extension FetchRequest.Operand {
    /// Returns the operand for a path that starts at this operand, for example at an object.
    public func path(_ path: String) -> Self { Self(expression.appending(Self.names(path)), quantifier: quantifier) }

    fileprivate static func names(_ path: String) -> [String] {
        path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
}

extension FetchRequest.Predicate {
    /// The value at a dotted path of names: `album.title`, `tracks.@count`.
    public static func path(_ path: String) -> FetchRequest.Operand { .path(path) }
    /// The property at a key path of a Swift type that represents an entity.
    public static func path<Root: EntityRepresentable>(_ keyPath: PartialKeyPath<Root>) -> FetchRequest.Operand {
        .path(keyPath)
    }
    /// The values at a path through a to-many relationship.
    ///
    /// A comparison must be true for at least one value.
    public static func any(_ path: String) -> FetchRequest.Operand { .any(path) }
    /// The values at a path through a to-many relationship.
    ///
    /// A comparison must be true for all values.
    public static func all(_ path: String) -> FetchRequest.Operand { .all(path) }
    /// The values at a path through a to-many relationship.
    ///
    /// A comparison must be false for all values.
    public static func none(_ path: String) -> FetchRequest.Operand { .none(path) }
    /// The object itself.
    public static var object: FetchRequest.Operand { .object }
    /// A variable; see ``substituting(_:)``.
    public static func variable(_ name: String) -> FetchRequest.Operand { .variable(name) }
    /// A value.
    public static func value(_ value: some PredicateArgument) -> FetchRequest.Operand { .value(value) }
    /// The objects at a to-many path that meet a condition: `SUBQUERY`.
    public static func objects(
        _ path: String, as name: String = "object", where condition: (FetchRequest.Operand) -> Self
    ) -> FetchRequest.Operand { .objects(path, as: name, where: condition) }
}

// MARK: Comparisons

extension FetchRequest.Operand {
    /// Returns a comparison with a value or another operand.
    public func compared(
        _ comparison: FetchRequest.Comparison.Operator, with other: some PredicateArgument,
        options: FetchRequest.Comparison.Options = []
    ) -> FetchRequest.Predicate {
        let modifier: FetchRequest.Comparison.Modifier =
            switch quantifier {
            case .direct: .direct
            case .any, .none: .any
            case .all: .all
            }
        let result = FetchRequest.Predicate.comparison(
            .init(
                left: expression, operator: comparison, right: other.predicateExpression, modifier: modifier,
                options: options))
        return quantifier == .none ? .not(result) : result
    }

    /// `==`, with options such as `.caseInsensitive`.
    public func equals(
        _ other: some PredicateArgument, options: FetchRequest.Comparison.Options = []
    ) -> FetchRequest.Predicate { compared(.equal, with: other, options: options) }
    /// `CONTAINS`: the text contains another text, or the collection contains a value.
    public func contains(
        _ other: some PredicateArgument, options: FetchRequest.Comparison.Options = []
    ) -> FetchRequest.Predicate { compared(.contains, with: other, options: options) }
    /// `BEGINSWITH`.
    public func beginsWith(
        _ other: some PredicateArgument, options: FetchRequest.Comparison.Options = []
    ) -> FetchRequest.Predicate { compared(.beginsWith, with: other, options: options) }
    /// `ENDSWITH`.
    public func endsWith(
        _ other: some PredicateArgument, options: FetchRequest.Comparison.Options = []
    ) -> FetchRequest.Predicate { compared(.endsWith, with: other, options: options) }
    /// `LIKE`: `*` matches any number of characters, `?` matches one character.
    public func like(
        _ pattern: some PredicateArgument, options: FetchRequest.Comparison.Options = []
    ) -> FetchRequest.Predicate { compared(.like, with: pattern, options: options) }
    /// `MATCHES`: a regular expression matches the whole text.
    public func matches(
        _ pattern: some PredicateArgument, options: FetchRequest.Comparison.Options = []
    ) -> FetchRequest.Predicate { compared(.matches, with: pattern, options: options) }
    /// `IN`: the value is in a list, is one of the values of an operand, or is part of a text.
    public func isIn(
        _ values: some PredicateArgument, options: FetchRequest.Comparison.Options = []
    ) -> FetchRequest.Predicate { compared(.isIn, with: values, options: options) }
    /// `BETWEEN`: the value is in a closed range.
    public func isBetween(
        _ low: some PredicateArgument, and high: some PredicateArgument
    ) -> FetchRequest.Predicate {
        compared(
            .between, with: Self(.aggregate([low.predicateExpression, high.predicateExpression])))
    }
    /// `== NULL`.
    public var isNull: FetchRequest.Predicate { compared(.equal, with: Value.null) }

    /// `==`, which is true if both sides are null.
    public static func == (left: Self, right: some PredicateArgument) -> FetchRequest.Predicate {
        left.compared(.equal, with: right)
    }
    /// `==` of two operands, and of an operand and `nil`.
    public static func == (left: Self, right: Self) -> FetchRequest.Predicate { left.compared(.equal, with: right) }
    /// `!=`, which is also true if only one side is null.
    public static func != (left: Self, right: some PredicateArgument) -> FetchRequest.Predicate {
        left.compared(.notEqual, with: right)
    }
    /// `!=` of two operands, and of an operand and `nil`.
    public static func != (left: Self, right: Self) -> FetchRequest.Predicate { left.compared(.notEqual, with: right) }
    /// `<`.
    public static func < (left: Self, right: some PredicateArgument) -> FetchRequest.Predicate {
        left.compared(.less, with: right)
    }
    /// `<=`.
    public static func <= (left: Self, right: some PredicateArgument) -> FetchRequest.Predicate {
        left.compared(.lessOrEqual, with: right)
    }
    /// `>`.
    public static func > (left: Self, right: some PredicateArgument) -> FetchRequest.Predicate {
        left.compared(.greater, with: right)
    }
    /// `>=`.
    public static func >= (left: Self, right: some PredicateArgument) -> FetchRequest.Predicate {
        left.compared(.greaterOrEqual, with: right)
    }
}

// MARK: Functions of operands

extension FetchRequest.Operand {
    /// Returns an operand that applies a function to this operand and additional arguments.
    public func applying(_ function: FetchRequest.Function, _ others: any PredicateArgument...) -> Self {
        Self(.function(function, [expression] + others.map(\.predicateExpression)), quantifier: quantifier)
    }

    /// `+`.
    public static func + (left: Self, right: some PredicateArgument) -> Self { left.applying(.add, right) }
    /// `-`.
    public static func - (left: Self, right: some PredicateArgument) -> Self { left.applying(.subtract, right) }
    /// `*`.
    public static func * (left: Self, right: some PredicateArgument) -> Self { left.applying(.multiply, right) }
    /// `/`, which is never an integer division.
    public static func / (left: Self, right: some PredicateArgument) -> Self { left.applying(.divide, right) }
    /// The negated number.
    public static prefix func - (operand: Self) -> Self { operand.applying(.negate) }

    /// The text in upper case.
    public var uppercased: Self { applying(.uppercase) }
    /// The text in lower case.
    public var lowercased: Self { applying(.lowercase) }
    /// The number of Unicode code points in the text.
    public var length: Self { applying(.length) }
    /// The number of values.
    public var count: Self { path(FetchRequest.CollectionOperator.count.rawValue) }
    /// The sum of a property of the objects.
    public func sum(_ name: String) -> Self { path("@sum." + name) }
    /// The mean of a property of the objects.
    public func average(_ name: String) -> Self { path("@avg." + name) }
    /// The minimum of a property of the objects.
    public func minimum(_ name: String) -> Self { path("@min." + name) }
    /// The maximum of a property of the objects.
    public func maximum(_ name: String) -> Self { path("@max." + name) }
    /// The first of several ordered values.
    public var first: Self { Self(.element(of: expression, .first), quantifier: quantifier) }
    /// The last of several ordered values.
    public var last: Self { Self(.element(of: expression, .last), quantifier: quantifier) }
}

extension FetchRequest.Expression {
    func appending(_ names: [String]) -> Self {
        switch self {
        case .keyPath(let path): .keyPath(path + names)
        case .evaluatedObject: .keyPath(names)
        case .path(let base, let path): .path(of: base, path + names)
        default: .path(of: self, names)
        }
    }
}
