extension PredicateParser {
    /// A value or a property, with or without brackets around it.
    mutating func value() throws(StoreError) -> PredicateBinding.Side {
        var brackets = 0
        while try take("(") { brackets += 1 }
        let place = token.position
        guard case .side(let side) = try operand() else {
            throw tokenizer.error(at: place, "A value or a property is expected, not a condition.")
        }
        for _ in 0..<brackets {
            try refuseUnsupportedOperator()
            guard try take(")") else { throw expected("')'") }
        }
        return side
    }

    /// Throws code `unsupported` for arithmetic, indexes, and comparisons that stores do not answer yet.
    func refuseUnsupportedOperator() throws(StoreError) {
        guard let keyword else { return }
        if PredicateLanguage.unsupportedComparisons.contains(keyword) {
            throw unsupported(keyword, keyword == "BETWEEN" ? "Write a >= 1 AND a <= 9" : nil)
        }
        switch keyword {
        case "+", "-", "*", "/", "**": throw unsupported("arithmetic")
        case "UNION", "INTERSECT", "MINUS": throw unsupported(keyword)
        case "[": throw unsupported("an index or an option in brackets")
        default: break
        }
    }

    mutating func list() throws(StoreError) -> [PredicateBinding.Side] {
        try advance()
        var members: [PredicateBinding.Side] = []
        if try take("}") { return members }
        repeat {
            members.append(try value())
        } while try take(",")
        guard try take("}") else { throw expected("A comma or '}'") }
        return members
    }

    // MARK: Values and properties

    /// A value, a property, or a word that is a condition.
    mutating func operand() throws(StoreError) -> Part {
        switch token.kind {
        case .string(let text):
            try advance()
            return .side(.literal(.string(text)))
        case .number(let text):
            try advance()
            return .side(.literal(.number(text)))
        case .name(let name):
            try advance()
            return .side(try keyPath(name))
        case .sign("-"):
            try advance()
            guard case .number(let text) = token.kind else { throw unsupported("arithmetic") }
            try advance()
            return .side(.literal(.number("-" + text)))
        case .word(let word): return try self.word(word)
        case .sign("{"): throw tokenizer.error(at: token.position, "A list of values can only stand behind IN.")
        case .sign("@"): throw unsupported("a collection operator such as @count")
        default: throw expected("A property or a value")
        }
    }

    mutating func word(_ word: String) throws(StoreError) -> Part {
        let keyword = word.uppercased()
        switch keyword {
        case "TRUEPREDICATE", "FALSEPREDICATE":
            try advance()
            return .condition(.constant(keyword == "TRUEPREDICATE"))
        case "TRUE", "YES", "FALSE", "NO":
            try advance()
            return .side(.literal(.bool(keyword == "TRUE" || keyword == "YES")))
        case "NULL", "NIL":
            try advance()
            return .side(.literal(.null))
        case "CAST": return .side(.literal(.typed(try cast())))
        case "SELF":
            try advance()
            return .side(try take(".") ? try keyPath(try name()) : .object)
        case _ where PredicateLanguage.supportedWords.contains(keyword): throw expected("A property or a value")
        case _ where PredicateLanguage.isReserved(word):
            throw unsupported(keyword, "Write #\(word) if it is the name of a property")
        default:
            let start = token
            try advance()
            guard self.keyword == "(" || self.keyword == ":" else { return .side(try keyPath(word)) }
            throw tokenizer.unsupported(at: start.position, "the function '\(word)'")
        }
    }

    /// The rest of a path that begins with this name.
    mutating func keyPath(_ first: String) throws(StoreError) -> PredicateBinding.Side {
        var path = [first]
        while try take(".") {
            if keyword == "@" { throw unsupported("a collection operator such as @count") }
            path.append(try name())
        }
        return try binding.property(path)
    }

    mutating func name() throws(StoreError) -> String {
        switch token.kind {
        case .word(let name), .name(let name):
            try advance()
            return name
        default: throw expected("The name of a property")
        }
    }

    mutating func cast() throws(StoreError) -> Value {
        try advance()
        guard try take("(") else { throw expected("'(' behind CAST") }
        let place = token.position
        let isNegative = try take("-")
        let literal: PredicateLiteral
        switch token.kind {
        case .string(let text) where !isNegative: literal = .string(text)
        case .number(let text): literal = .number(isNegative ? "-" + text : text)
        default: throw expected("A string or a number")
        }
        try advance()
        guard try take(",") else { throw expected("A comma") }
        let typePlace = token.position
        let names = PredicateCast.allCases.map(\.rawValue)
        guard case .string(let name) = token.kind, let type = PredicateCast(rawValue: name) else {
            throw tokenizer.error(
                at: typePlace, "The type of the value is expected as a string: \(names.joined(separator: ", ")).")
        }
        try advance()
        guard try take(")") else { throw expected("')'") }
        guard let value = type.value(literal, binding.model) else {
            throw tokenizer.error(at: place, "For a cast to \(name), \(type.expected) is expected.")
        }
        return value
    }
}
