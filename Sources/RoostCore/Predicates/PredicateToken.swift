/// One word, sign or literal of a predicate's text.
struct PredicateToken {
    /// What a token is.
    enum Kind: Equatable {
        /// A name, or a keyword in any case.
        case word(String)
        /// A name that was written so that it cannot be a keyword: `#first`, `#"odd name"`.
        case name(String)
        /// Text in quotes, escapes resolved.
        case string(String)
        /// A number without its sign, as it is written.
        case number(String)
        /// Anything else: operators, brackets, punctuation.
        case sign(String)
        /// The end of the text.
        case end
    }

    /// What it is.
    var kind: Kind
    /// Where it starts.
    var position: String.Index

    /// The token for messages: a keyword or sign as it stands, but never a literal's value.
    var description: String {
        switch kind {
        case .word(let word): "'\(word)'"
        case .name(let name): "the name '\(name)'"
        case .string: "a string"
        case .number: "a number"
        case .sign(let sign): "'\(sign)'"
        case .end: "the end"
        }
    }
}

/// What the predicate language knows, for the parser and for the printer.
enum PredicateLanguage {
    /// The names of values, connectives and comparisons that are supported.
    static let supportedWords: Set<String> = [
        "AND", "OR", "NOT", "IN", "BEGINSWITH", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "CAST",
        "TRUEPREDICATE", "FALSEPREDICATE",
    ]

    /// Comparisons that the language has and stores do not answer yet.
    static let unsupportedComparisons: Set<String> = [
        "LIKE", "MATCHES", "CONTAINS", "ENDSWITH", "BETWEEN", "UTI-CONFORMS-TO", "UTI-EQUALS",
    ]

    /// Everything else that the language has and stores do not answer yet.
    static let unsupportedWords: Set<String> = [
        "ANY", "SOME", "ALL", "NONE", "ANYKEY", "SUBQUERY", "FUNCTION", "FETCH", "TERNARY", "UNION", "INTERSECT",
        "MINUS", "FIRST", "LAST", "SIZE", "NOINDEX", "CASEINSENSITIVE", "CI",
    ]

    /// Whether a word can be a property's name only behind a `#`.
    static func isReserved(_ word: String) -> Bool {
        let word = word.uppercased()
        return supportedWords.contains(word) || unsupportedComparisons.contains(word) || unsupportedWords.contains(word)
    }

    /// The comparison that a word or sign means.
    static func comparison(_ text: String) -> FetchRequest.Comparison.Operator? {
        switch text {
        case "=", "==": .equal
        case "!=", "<>": .notEqual
        case "<": .lessThan
        case "<=", "=<": .lessThanOrEqual
        case ">": .greaterThan
        case ">=", "=>": .greaterThanOrEqual
        case "IN": .isIn
        case "BEGINSWITH": .beginsWith
        default: nil
        }
    }

    /// Whether a name may begin with this character.
    static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || (scalar.isASCII ? scalar.properties.isAlphabetic : scalar.properties.isXIDStart)
    }

    /// Whether a name may go on with this character.
    static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
        isNameStart(scalar) || (scalar.isASCII ? ("0"..."9").contains(scalar) : scalar.properties.isXIDContinue)
    }
}
