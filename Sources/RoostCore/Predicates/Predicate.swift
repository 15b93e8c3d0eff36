extension FetchRequest {
    /// A condition on an object, as a tree.
    ///
    /// It is true or false for every object; there is no third value.
    ///
    /// A comparison with null is false, except that `!=` is true when exactly one side is null (the "in memory" rules
    /// of Core Data, in every store). Numbers compare by value across their types; NaN equals nothing. Strings compare by code point.
    public indirect enum Predicate: Hashable, Sendable {
        /// True or false for every object.
        case constant(Bool)
        /// A comparison.
        case comparison(Comparison)
        /// True when all are true; of nothing, true.
        case and([Predicate])
        /// True when one is true; of nothing, false.
        case or([Predicate])
        /// True when it is false.
        case not(Predicate)
    }

    /// Two expressions and how they compare.
    public struct Comparison: Hashable, Sendable {
        /// How two values compare.
        public enum Operator: String, Hashable, Sendable, CaseIterable {
            /// `==`; two nulls are equal.
            case equal
            /// `!=`, the opposite of ``equal`` except for NaN, which differs from everything.
            case notEqual
            /// The left value `<` the right one.
            case lessThan
            /// The left value `<=` the right one.
            case lessThanOrEqual
            /// The left value `>` the right one.
            case greaterThan
            /// The left value `>=` the right one.
            case greaterThanOrEqual
            /// The left value is one of the right side's elements.
            case isIn
            /// The left string starts with the right one.
            case beginsWith
        }

        /// What is compared.
        public var left: Expression
        /// How it is compared.
        public var `operator`: Operator
        /// What it is compared with.
        public var right: Expression

        /// Makes a comparison.
        public init(_ left: Expression, _ operator: Operator, _ right: Expression) {
            self.left = left
            self.operator = `operator`
            self.right = right
        }
    }

    /// Something that has a value for each object.
    public indirect enum Expression: Hashable, Sendable {
        /// The same value for every object.
        case constant(Value)
        /// An attribute or to-one relationship of the object; more than one name leads into a composite.
        case keyPath([String])
        /// The object itself, as its ID.
        case evaluatedObject
        /// Several values, for ``FetchRequest/Comparison/Operator/isIn``.
        case aggregate([Expression])
    }
}

extension FetchRequest.Predicate {
    /// `key == value`; a null value tests for null.
    public static func equal(_ key: String, _ value: Value) -> Self { compare(key, .equal, value) }
    /// `key != value`; a null value tests for not null.
    public static func notEqual(_ key: String, _ value: Value) -> Self { compare(key, .notEqual, value) }
    /// `key < value`.
    public static func less(_ key: String, _ value: Value) -> Self { compare(key, .lessThan, value) }
    /// `key <= value`.
    public static func lessOrEqual(_ key: String, _ value: Value) -> Self { compare(key, .lessThanOrEqual, value) }
    /// `key > value`.
    public static func greater(_ key: String, _ value: Value) -> Self { compare(key, .greaterThan, value) }
    /// `key >= value`.
    public static func greaterOrEqual(_ key: String, _ value: Value) -> Self {
        compare(key, .greaterThanOrEqual, value)
    }
    /// `key IN values`.
    public static func isIn(_ key: String, _ values: [Value]) -> Self {
        .comparison(.init(path(key), .isIn, .aggregate(values.map { .constant($0) })))
    }
    /// `key BEGINSWITH prefix`.
    public static func beginsWith(_ key: String, _ prefix: String) -> Self {
        compare(key, .beginsWith, .string(prefix))
    }
    /// `key == nil`.
    public static func isNull(_ key: String) -> Self { compare(key, .equal, .null) }
    /// `key != nil`.
    public static func isNotNull(_ key: String) -> Self { compare(key, .notEqual, .null) }

    /// Any comparison of a property with a value.
    public static func compare(
        _ key: String, _ operator: FetchRequest.Comparison.Operator, _ value: Value
    ) -> Self { .comparison(.init(path(key), `operator`, .constant(value))) }

    private static func path(_ key: String) -> FetchRequest.Expression {
        .keyPath(key.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }

    /// Both.
    public static func && (left: Self, right: Self) -> Self {
        if case .and(let members) = left { return .and(members + [right]) }
        return .and([left, right])
    }
    /// Either or both.
    public static func || (left: Self, right: Self) -> Self {
        if case .or(let members) = left { return .or(members + [right]) }
        return .or([left, right])
    }
    /// The opposite.
    public static prefix func ! (predicate: Self) -> Self { .not(predicate) }
}
