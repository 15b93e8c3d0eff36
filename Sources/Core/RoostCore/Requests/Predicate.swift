extension FetchRequest {
    /// A condition on an object, as a tree.
    ///
    /// For every object it is either true or false, without a third value.
    ///
    /// A comparison with null is false, except that `!=` is true when exactly one side is null (the
    /// "in memory" rules of Core Data, in every store). Numbers compare by value across their
    /// types; NaN equals nothing. Strings compare by code point.
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
        /// The relation of two values.
        public enum Operator: String, Hashable, Sendable, CaseIterable {
            /// `==`; two nulls are equal.
            case equal
            /// `!=`, the opposite of ``equal``; NaN differs from everything, itself included.
            case notEqual
            /// The left value `<` the right one.
            case less
            /// The left value `<=` the right one.
            case lessOrEqual
            /// The left value `>` the right one.
            case greater
            /// The left value `>=` the right one.
            case greaterOrEqual
            /// `BETWEEN {low, high}`: at least the first and at most the second of the right side's
            /// two elements.
            case between
            /// The left value is one of the right side's elements; of two strings, the left is a
            /// part of the right.
            case isIn
            /// The right value is one of the left side's elements; of two strings, the right is a
            /// part of the left.
            case contains
            /// The left string starts with the right one.
            case beginsWith
            /// The left string ends with the right one.
            case endsWith
            /// The whole left string fits the pattern: `*` any characters, `?` one, `\` takes the
            /// next one literally.
            case like
            /// The whole left string matches the regular expression.
            case matches
        }

        /// The treatment of a left side that has many values.
        public enum Modifier: String, Hashable, Sendable, CaseIterable {
            /// The sides are compared as they are.
            case direct
            /// `ALL`: true for every element of the left side; true for none.
            case all
            /// `ANY`, `SOME`: true for at least one element of the left side.
            ///
            /// `NONE` is its opposite.
            case any
        }

        /// The options for comparing strings.
        public struct Options: OptionSet, Hashable, Sendable {
            /// The options as bits, those of Core Data.
            public let rawValue: Int
            /// Makes options from bits.
            public init(rawValue: Int) { self.rawValue = rawValue }
            /// `[c]`: upper and lower case are the same, by Unicode.
            public static let caseInsensitive = Self(rawValue: 1)
            /// `[d]`: letters are the same with and without diacritics, by Unicode.
            public static let diacriticInsensitive = Self(rawValue: 2)
            /// `[n]`: the strings are normalized already; they compare as they are.
            public static let normalized = Self(rawValue: 4)
            /// `[l]`: `<`, `<=`, `>` and `>=` use the localized standard order; other comparisons
            /// do not change.
            public static let localized = Self(rawValue: 8)
        }

        /// The left side.
        public var left: Expression
        /// The operator.
        public var `operator`: Operator
        /// The right side.
        public var right: Expression
        /// The treatment of a left side with many values.
        public var modifier: Modifier
        /// The options for comparing strings; without effect on other values.
        public var options: Options

        /// Creates a comparison.
        public init(
            left: Expression, operator: Operator, right: Expression, modifier: Modifier = .direct,
            options: Options = []
        ) {
            self.left = left
            self.operator = `operator`
            self.right = right
            self.modifier = modifier
            self.options = options
        }
    }
}

/// Comparisons of a property with a value, for modules that do not import `RoostPredicates`.
///
/// Programs write `.path("born") > 1815`.
extension FetchRequest.Predicate {
    /// `key == value`; a null value tests for null.
    package static func equal(_ key: String, to value: Value) -> Self { compare(key, using: .equal, with: value) }
    /// `key != value`; a null value tests for not null.
    package static func notEqual(_ key: String, to value: Value) -> Self { compare(key, using: .notEqual, with: value) }
    /// `key < value`.
    package static func less(_ key: String, than value: Value) -> Self { compare(key, using: .less, with: value) }
    /// `key <= value`.
    package static func lessOrEqual(_ key: String, to value: Value) -> Self {
        compare(key, using: .lessOrEqual, with: value)
    }
    /// `key > value`.
    package static func greater(_ key: String, than value: Value) -> Self { compare(key, using: .greater, with: value) }
    /// `key >= value`.
    package static func greaterOrEqual(_ key: String, to value: Value) -> Self {
        compare(key, using: .greaterOrEqual, with: value)
    }
    /// `key IN values`.
    package static func isIn(_ key: String, values: [Value]) -> Self {
        .comparison(.init(left: path(key), operator: .isIn, right: .aggregate(values.map { .constant($0) })))
    }
    /// `key BEGINSWITH prefix`.
    package static func beginsWith(_ key: String, prefix: String) -> Self {
        compare(key, using: .beginsWith, with: .string(prefix))
    }
    /// `key == nil`.
    package static func isNull(_ key: String) -> Self { compare(key, using: .equal, with: .null) }
    /// `key != nil`.
    package static func isNotNull(_ key: String) -> Self { compare(key, using: .notEqual, with: .null) }

    /// Any comparison of a property with a value.
    package static func compare(
        _ key: String, using operator: FetchRequest.Comparison.Operator, with value: Value
    ) -> Self { .comparison(.init(left: path(key), operator: `operator`, right: .constant(value))) }

    private static func path(_ key: String) -> FetchRequest.Expression {
        .keyPath(key.names)
    }
}
