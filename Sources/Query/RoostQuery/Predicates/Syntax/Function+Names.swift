package import RoostCore

extension FetchRequest.Function {
    /// The number of arguments that the function takes.
    ///
    /// The functions over many values take one collection, or the values themselves.
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

    /// The sign between the two arguments, for arithmetic; nil for what is written as a call.
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

    /// The function of a name in any case, with or without the colon at its end.
    package init?(name: String) {
        guard let function = Self.byName[Self.key(name)] else { return nil }
        self = function
    }

    /// The function that SQL, or a programming language, calls by another name.
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

    /// Returns the reason why a function of Core Data is not part of the language; nil for other
    /// names.
    static func refusal(_ name: String) -> String? {
        switch key(name) {
        case "random", "randomn": "its answer would differ from call to call, and no store could agree with another"
        case "distanceto:from", "distancetolocation:fromlocation": "it needs locations, which no attribute holds"
        default: nil
        }
    }
}

/// The limits of predicates.
enum PredicateLimits {
    /// The maximum nesting of brackets, NOT and operators.
    static let depth = RecordFilter.maximumDepth
    /// The maximum number of elements of a list.
    static let elementCount = 100_000
    /// The maximum length of a predicate's text.
    static let textBytes = 1 << 20
    /// The maximum nesting of SUBQUERY.
    static let subqueryDepth = 16
}
