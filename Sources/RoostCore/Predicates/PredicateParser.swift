extension FetchRequest.Predicate {
    /// Reads a predicate from text in the language of Core Data's predicate format strings, as far as stores answer it.
    ///
    /// Comparisons `=` `==` `!=` `<>` `<` `<=` `=<` `>` `>=` `=>`, `IN {…}` and `BEGINSWITH`; `AND` `&&`, `OR` `||`, `NOT` `!`,
    /// parentheses; `TRUEPREDICATE`, `FALSEPREDICATE`. Keywords in any case. A side is a property (a dotted path leads into a
    /// composite; `#name` where the name is a keyword, `#"odd name"` where it has other characters), `SELF`, or a value: a string in
    /// single or double quotes, a number, `TRUE` `YES` `FALSE` `NO`, `NULL` `NIL`, or `CAST("…", "NSDate")` and the like.
    ///
    /// A value becomes one of the property's type: a string a date (``DateText``), a UUID, a URI, data (base64) or an object
    /// (`"Album/5"`); a whole number an object's key. A number of at most nine digits means the nearest 32-bit number where
    /// it meets a float.
    ///
    /// - Parameters:
    ///   - text: The predicate.
    ///   - entity: The entity whose properties the names mean.
    ///   - model: The model that has the entity.
    /// - Throws: `invalidRequest` with the column and what is expected there, also for nesting deeper than
    ///   ``RecordFilter/maximumDepth``; `unsupported` naming what the language has and stores do not answer yet; `unknownEntity`,
    ///   `unknownProperty`; `invalidValue` naming the property whose type a value does not fit.
    /// - Complexity: O(*n*) in the text.
    public init(_ text: String, for entity: EntityName, model: ManagedObjectModel) throws(StoreError) {
        let binding = PredicateBinding(entity: try model.requireEntity(entity), model: model)
        var parser = try PredicateParser(text, binding)
        self = try parser.predicate()
    }
}

/// Reads a predicate from left to right, looking one token ahead; open brackets are kept in a list, so that depth costs no stack.
struct PredicateParser {
    /// What stands between two connectives or brackets: whether it is a condition or a value shows only at its end.
    enum Part {
        case condition(FetchRequest.Predicate)
        case side(PredicateBinding.Side)
    }

    /// What was read inside one pair of brackets so far, or outside of all.
    private struct Level {
        /// Finished members of an OR.
        var alternatives: [FetchRequest.Predicate] = []
        /// Finished members of the AND that is being read.
        var members: [FetchRequest.Predicate] = []
        /// How many times the next condition is negated.
        var negations = 0

        /// Whether nothing was finished yet.
        var isFresh: Bool { alternatives.isEmpty && members.isEmpty && negations == 0 }

        /// Negates a condition as often as it was asked for.
        mutating func negated(_ condition: FetchRequest.Predicate) -> FetchRequest.Predicate {
            defer { negations = 0 }
            return (0..<negations).reduce(condition) { result, _ in .not(result) }
        }

        /// Ends the AND that is being read.
        mutating func addAlternative(_ last: FetchRequest.Predicate) {
            alternatives.append(members.isEmpty ? last : .and(members + [last]))
            members = []
        }

        /// Everything as one condition.
        mutating func closed(_ last: FetchRequest.Predicate) -> FetchRequest.Predicate {
            addAlternative(last)
            return alternatives.count == 1 ? alternatives[0] : .or(alternatives)
        }
    }

    let binding: PredicateBinding
    private(set) var tokenizer: PredicateTokenizer
    private(set) var token: PredicateToken
    private var level = Level()
    /// The levels around the present one, from the outside in.
    private var outerLevels: [Level] = []
    private var depth = 0

    init(_ text: String, _ binding: PredicateBinding) throws(StoreError) {
        self.binding = binding
        tokenizer = PredicateTokenizer(text)
        token = try tokenizer.next()
    }

    /// Reads the whole text.
    mutating func predicate() throws(StoreError) -> FetchRequest.Predicate {
        while true {
            try openBrackets()
            if let result = try close(try operand()) { return result }
        }
    }

    // MARK: Tokens

    mutating func advance() throws(StoreError) { token = try tokenizer.next() }

    /// Goes on when the token is one of these signs and, in any case, keywords.
    mutating func take(_ texts: String...) throws(StoreError) -> Bool {
        guard let keyword, texts.contains(keyword) else { return false }
        try advance()
        return true
    }

    /// The sign or, in upper case, the word that the token is.
    var keyword: String? {
        switch token.kind {
        case .sign(let sign): sign
        case .word(let word): word.uppercased()
        default: nil
        }
    }

    func expected(_ what: String) -> StoreError {
        tokenizer.error(at: token.position, "\(what) is expected, not \(token.description).")
    }

    func unsupported(_ what: String, _ remedy: String? = nil) -> StoreError {
        tokenizer.unsupported(at: token.position, what, remedy)
    }

    // MARK: Brackets and connectives

    /// Reads every NOT and opening bracket in front of an operand.
    private mutating func openBrackets() throws(StoreError) {
        while true {
            let place = token.position
            if try take("NOT", "!") {
                level.negations += 1
            } else if try take("(") {
                outerLevels.append(level)
                level = Level()
            } else {
                return
            }
            depth += 1
            guard depth <= RecordFilter.maximumDepth else {
                throw tokenizer.error(
                    at: place, "Brackets and NOT are nested deeper than \(RecordFilter.maximumDepth) levels.")
            }
        }
    }

    /// Puts an operand where it belongs, together with the connective or the brackets behind it; the whole predicate at its end.
    private mutating func close(_ operand: Part) throws(StoreError) -> FetchRequest.Predicate? {
        var part = operand
        while true {
            part = try comparison(part)
            if case .side = part, level.isFresh, keyword == ")", let outer = outerLevels.popLast() {
                // Brackets around a value.
                try advance()
                leave(for: outer)
                continue
            }
            depth -= level.negations
            let condition = level.negated(try condition(part))
            if try take("AND", "&&") {
                level.members.append(condition)
                return nil
            }
            if try take("OR", "||") {
                level.addAlternative(condition)
                return nil
            }
            part = .condition(level.closed(condition))
            guard let outer = outerLevels.popLast() else {
                guard token.kind == .end else { throw expected("AND, OR or the end of the predicate") }
                return try self.condition(part)
            }
            guard try take(")") else { throw expected("AND, OR or ')'") }
            leave(for: outer)
        }
    }

    /// Goes on behind a closing bracket.
    private mutating func leave(for outer: Level) {
        level = outer
        depth -= 1
    }

    /// The condition that a part is; a value alone is none.
    private func condition(_ part: Part) throws(StoreError) -> FetchRequest.Predicate {
        if case .condition(let predicate) = part { return predicate }
        throw expected("A comparison (= != < <= > >= IN BEGINSWITH)")
    }

    // MARK: Comparisons

    /// The comparison that begins with a value, or the part as it is when none follows.
    private mutating func comparison(_ part: Part) throws(StoreError) -> Part {
        guard case .side(let left) = part else { return part }
        try refuseUnsupportedOperator()
        guard let keyword, let comparison = PredicateLanguage.comparison(keyword) else { return part }
        try advance()
        if self.keyword == "[" { throw unsupported("options such as [cd]") }
        if comparison == .isIn {
            guard self.keyword == "{" else { throw expected("A list of values in braces, such as {1, 2},") }
            return .condition(try binding.membership(left, try list()))
        }
        let right = try value()
        try refuseUnsupportedOperator()
        return .condition(try binding.comparison(left, comparison, right))
    }
}
