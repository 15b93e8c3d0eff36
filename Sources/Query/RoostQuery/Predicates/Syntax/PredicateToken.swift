internal import RoostCore

/// A word, sign or literal in a predicate's text.
struct PredicateToken {
    enum Kind: Equatable {
        /// A name without `#`, or a keyword such as `AND` or `and`.
        case word(String)
        /// A name in a notation that cannot be a keyword: `#first`, `#"odd name"`.
        case name(String)
        /// `$name`.
        case variable(String)
        /// A placeholder such as `%@`, without the percent sign.
        case argument(String)
        /// Text in quotes, with escapes resolved.
        case string(String)
        /// A number as written, without its sign.
        case number(String)
        /// Any other token: an operator sign, a bracket or punctuation.
        case sign(String)
        case end
    }

    var kind: Kind
    var position: String.Index
    var isInterpolated = false

    /// The token as messages show it, without the value of a string or number.
    var description: String {
        switch kind {
        case .word(let word): "'\(word)'"
        case .name(let name): "the name '\(name)'"
        case .variable(let name): "the variable '$\(name)'"
        case .argument where isInterpolated: "'\(PredicateText.Mark.text)'"
        case .argument(let letters): "'%\(letters)'"
        case .string: "a string"
        case .number: "a number"
        case .sign(let sign): "'\(sign)'"
        case .end: "the end"
        }
    }
}

/// The words and signs of the predicate language.
enum PredicateLanguage {
    /// The words that need a preceding `#` to be the name of a property.
    static let reservedWords: Set<String> = [
        "AND", "OR", "NOT", "IN", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST",
        "SIZE",
        "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TERNARY", "FUNCTION", "TRUEPREDICATE", "FALSEPREDICATE", "UNION",
        "INTERSECT", "MINUS", "UTI-CONFORMS-TO", "UTI-EQUALS",
    ]

    static func isReserved(_ word: String) -> Bool { reservedWords.contains(word.uppercased()) }

    static let comparisonWords = ["IN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "BETWEEN"]

    /// Returns the comparison for a sign or an uppercase word.
    static func comparison(_ text: String) -> FetchRequest.Comparison.Operator? {
        switch text {
        case "=", "==": .equal
        case "!=", "<>": .notEqual
        case "<": .less
        case "<=", "=<": .lessOrEqual
        case ">": .greater
        case ">=", "=>": .greaterOrEqual
        case "IN": .isIn
        case "BEGINSWITH": .beginsWith
        case "ENDSWITH": .endsWith
        case "CONTAINS": .contains
        case "LIKE": .like
        case "MATCHES": .matches
        case "BETWEEN": .between
        default: nil
        }
    }

    static func text(_ comparison: FetchRequest.Comparison.Operator) -> String {
        switch comparison {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .isIn: "IN"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .contains: "CONTAINS"
        case .like: "LIKE"
        case .matches: "MATCHES"
        case .between: "BETWEEN"
        }
    }

    /// The options with their letters, in printing order.
    static let options: [(letter: Character, option: FetchRequest.Comparison.Options)] = [
        ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .localized),
    ]

    static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || (scalar.isASCII ? scalar.properties.isAlphabetic : scalar.properties.isXIDStart)
    }

    static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
        isNameStart(scalar) || (scalar.isASCII ? ("0"..."9").contains(scalar) : scalar.properties.isXIDContinue)
    }

    /// Whether a name needs no quotes; also true for a keyword, which needs only a preceding `#`.
    static func isPlainName(_ name: some StringProtocol) -> Bool {
        guard let first = name.unicodeScalars.first else { return false }
        return isNameStart(first) && name.unicodeScalars.allSatisfy(isNamePart)
    }
}
