internal import RoostCore

/// One word, sign or literal of a predicate's text.
struct PredicateToken {
    /// The kinds of tokens.
    enum Kind: Equatable {
        /// A name, or a keyword in any case.
        case word(String)
        /// A name that was written so that it cannot be a keyword: `#first`, `#"odd name"`.
        case name(String)
        /// `$name`.
        case variable(String)
        /// `%@` and the like: a value that the program gives; the letters after the percent sign.
        case argument(String)
        /// Text in quotes, escapes resolved.
        case string(String)
        /// A number without its sign, as it is written.
        case number(String)
        /// Anything else: operators, brackets, punctuation.
        case sign(String)
        /// The end of the text.
        case end
    }

    /// The kind of the token.
    var kind: Kind
    /// The start of the token.
    var position: String.Index
    /// Whether it is an argument that is interpolated.
    var isInterpolated = false

    /// The token for messages: a keyword or sign as written, but never a literal's value.
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

/// The words and signs of the predicate language, for the parser and for the printer.
enum PredicateLanguage {
    /// Words that need a `#` to be the name of a property.
    static let reservedWords: Set<String> = [
        "AND", "OR", "NOT", "IN", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST",
        "SIZE",
        "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TERNARY", "FUNCTION", "TRUEPREDICATE", "FALSEPREDICATE", "UNION",
        "INTERSECT", "MINUS", "UTI-CONFORMS-TO", "UTI-EQUALS",
    ]

    /// Whether a word needs a `#` to be the name of a property.
    static func isReserved(_ word: String) -> Bool { reservedWords.contains(word.uppercased()) }

    /// The comparisons as words.
    static let comparisonWords = ["IN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "BETWEEN"]

    /// The comparison that a word in upper case or a sign means.
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

    /// Returns the text of a comparison.
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

    /// The options by their letters, in the order they are printed in.
    static let options: [(letter: Character, option: FetchRequest.Comparison.Options)] = [
        ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .localized),
    ]

    /// Whether a name may begin with this character.
    static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || (scalar.isASCII ? scalar.properties.isAlphabetic : scalar.properties.isXIDStart)
    }

    /// Whether a name may contain this character after the first.
    static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
        isNameStart(scalar) || (scalar.isASCII ? ("0"..."9").contains(scalar) : scalar.properties.isXIDContinue)
    }

    /// Whether a name can be written as it is, apart from keywords.
    static func isPlainName(_ name: some StringProtocol) -> Bool {
        guard let first = name.unicodeScalars.first else { return false }
        return isNameStart(first) && name.unicodeScalars.allSatisfy(isNamePart)
    }
}
