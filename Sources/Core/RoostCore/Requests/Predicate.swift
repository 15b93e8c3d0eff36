extension FetchRequest {
    /// A condition on an object, as a tree.
    ///
    /// For each object, a predicate is either true or false, and never unknown as in SQL.
    ///
    /// Null equals only null, so `!=` is true if exactly one side is null. Comparisons of other
    /// kinds, such as `<` and `BEGINSWITH`, are false if a side is null. Core Data uses the same
    /// rules for predicates in memory. Numbers of different types compare by value, and NaN equals
    /// nothing. Strings compare by code point.
    public indirect enum Predicate: Hashable, Sendable {
        /// True or false for every object.
        case constant(Bool)
        /// A comparison.
        case comparison(Comparison)
        /// True if all predicates are true, or if the list is empty.
        case and([Predicate])
        /// True if at least one predicate is true.
        case or([Predicate])
        /// True if the predicate is false.
        case not(Predicate)
    }

    /// A comparison of two expressions.
    public struct Comparison: Hashable, Sendable {
        /// The relation of two values.
        public enum Operator: String, Hashable, Sendable, CaseIterable {
            /// `==`; two nulls are equal.
            case equal
            /// `!=`, the opposite of ``equal``.
            ///
            /// NaN differs from every value, including itself.
            case notEqual
            /// The left value `<` the right one.
            case less
            /// The left value `<=` the right one.
            case lessOrEqual
            /// The left value `>` the right one.
            case greater
            /// The left value `>=` the right one.
            case greaterOrEqual
            /// `BETWEEN {low, high}`: the left value is at least the first and at most the second
            /// element of the right side.
            case between
            /// The left value is an element of the right side.
            ///
            /// If both sides are strings, the left string is a part of the right string.
            case isIn
            /// The right value is an element of the left side.
            ///
            /// If both sides are strings, the right string is a part of the left string.
            case contains
            /// The left string starts with the right one.
            case beginsWith
            /// The left string ends with the right one.
            case endsWith
            /// The whole left string matches the pattern, in which `*` matches any text, `?`
            /// matches one character, and `\` escapes the next character.
            case like
            /// The whole left string matches the regular expression.
            case matches
        }

        /// The treatment of a left side with many values.
        public enum Modifier: String, Hashable, Sendable, CaseIterable {
            /// The two sides are compared as single values.
            case direct
            /// `ALL`: true if the comparison is true for every element of the left side, or if
            /// the left side is empty.
            case all
            /// `ANY`, `SOME`: true if the comparison is true for at least one element of the left
            /// side.
            ///
            /// `NONE` is parsed as `.not` of this comparison.
            case any
        }

        /// The options for comparing strings.
        public struct Options: OptionSet, Hashable, Sendable {
            /// The options as bits, with the values of Core Data.
            public let rawValue: Int
            /// Creates options from bits.
            public init(rawValue: Int) { self.rawValue = rawValue }
            /// `[c]`: ignores case, by the rules of Unicode.
            public static let caseInsensitive = Self(rawValue: 1)
            /// `[d]`: ignores diacritics, by the rules of Unicode.
            public static let diacriticInsensitive = Self(rawValue: 2)
            /// `[n]`: the strings are already normalized and are compared unchanged.
            public static let normalized = Self(rawValue: 4)
            /// `[l]`: `<`, `<=`, `>` and `>=` use the localized standard order.
            ///
            /// Other operators are not affected.
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
        /// The options for comparing strings; they have no effect on other values.
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
extension FetchRequest.Predicate {
    /// `key == value`; null matches objects without a value.
    package static func equal(_ key: String, to value: Value) -> Self { compare(key, using: .equal, with: value) }
    /// `key != value`; null matches objects with a value.
    package static func notEqual(_ key: String, to value: Value) -> Self { compare(key, using: .notEqual, with: value) }
    package static func less(_ key: String, than value: Value) -> Self { compare(key, using: .less, with: value) }
    package static func lessOrEqual(_ key: String, to value: Value) -> Self {
        compare(key, using: .lessOrEqual, with: value)
    }
    package static func greater(_ key: String, than value: Value) -> Self { compare(key, using: .greater, with: value) }
    package static func greaterOrEqual(_ key: String, to value: Value) -> Self {
        compare(key, using: .greaterOrEqual, with: value)
    }
    package static func isIn(_ key: String, values: [Value]) -> Self {
        .comparison(.init(left: path(key), operator: .isIn, right: .aggregate(values.map { .constant($0) })))
    }
    package static func beginsWith(_ key: String, prefix: String) -> Self {
        compare(key, using: .beginsWith, with: .string(prefix))
    }
    package static func isNull(_ key: String) -> Self { compare(key, using: .equal, with: .null) }
    package static func isNotNull(_ key: String) -> Self { compare(key, using: .notEqual, with: .null) }

    package static func compare(
        _ key: String, using operator: FetchRequest.Comparison.Operator, with value: Value
    ) -> Self { .comparison(.init(left: path(key), operator: `operator`, right: .constant(value))) }

    private static func path(_ key: String) -> FetchRequest.Expression {
        .keyPath(key.names)
    }
}
