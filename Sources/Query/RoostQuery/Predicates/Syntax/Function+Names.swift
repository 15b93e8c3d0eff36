package import RoostCore

extension FetchRequest.Function {
    /// The numbers of arguments that the parser allows.
    ///
    /// For a function of many values, such as `sum`, ``PredicateCompiler`` later requires exactly
    /// one argument, usually a collection.
    package var argumentCounts: ClosedRange<Int> {
        switch self {
        case .now: 0...0
        case .add, .subtract, .multiply, .divide, .power, .modulus: 2...2
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift: 2...2
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation:
            1...PredicateLimits.elementCount
        default: 1...1
        }
    }

    /// The infix operator, if any.
    var sign: String? {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .power: "**"
        default: nil
        }
    }

    /// Creates the function with the given name, regardless of case and of a trailing colon.
    package init?(name: String) {
        guard let function = Self.byName[Self.key(name)] else { return nil }
        self = function
    }

    /// Creates the function for a common name in SQL or in programming languages, such as `avg`.
    init?(nameInSQL name: String) {
        switch Self.key(name) {
        case "avg", "mean": self = .average
        case "minimum": self = .minimum
        case "maximum": self = .maximum
        case "stdev", "stddev_pop", "standarddeviation": self = .standardDeviation
        case "upper", "ucase": self = .uppercase
        case "lower", "lcase": self = .lowercase
        case "ceil": self = .ceiling
        case "pow", "power": self = .power
        case "mod": self = .modulus
        case "truncate": self = .truncate
        case "getdate", "current_timestamp": self = .now
        default: return nil
        }
    }

    private static func key(_ name: String) -> String {
        var name = name.lowercased()
        if name.last == ":" { name.removeLast() }
        return name
    }

    private static let byName = Dictionary(
        allCases.map { (key($0.rawValue), $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns why the language lacks the named function of Core Data; nil for any other name.
    static func refusal(_ name: String) -> String? {
        switch key(name) {
        case "random", "randomn": "each call would return another value"
        case "distanceto:from", "distancetolocation:fromlocation": "it needs locations, which no attribute holds"
        default: nil
        }
    }
}

/// Limits for the text of predicates.
enum PredicateLimits {
    /// The maximum nesting of parentheses, NOT and operators.
    static let depth = RecordFilter.maximumDepth
    /// The maximum number of elements of a list.
    static let elementCount = 100_000
    static let textBytes = 1 << 20
    static let subqueryDepth = 16
}
