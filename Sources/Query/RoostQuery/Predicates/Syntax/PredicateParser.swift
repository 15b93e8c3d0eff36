internal import RoostCore

/// Parses a predicate or an expression from left to right, with one token of lookahead.
///
/// ``part(_:)`` parses both conditions and values by operator precedence, because parentheses may
/// contain either. A limit of the recursion protects the stack. The limit is
/// ``DeepStack/shallowDepth`` on the caller's stack, and ``PredicateLimits/depth`` in a second
/// attempt on a larger stack.
struct PredicateParser {
    /// A parsed condition or value.
    struct Part {
        enum Kind {
            case condition(PredicateSyntax.Condition)
            case value(PredicateSyntax.Operand)
        }
        var kind: Kind
        var depth = 0

        init(_ condition: PredicateSyntax.Condition, depth: Int = 0) {
            kind = .condition(condition)
            self.depth = depth
        }

        init(_ value: PredicateSyntax.Operand, depth: Int = 0) {
            kind = .value(value)
            self.depth = depth
        }
    }

    struct Value {
        var operand: PredicateSyntax.Operand
        var depth: Int
    }

    /// The precedence of an operator.
    enum Strength: Int, Comparable {
        case anything, or, and, not, comparison, setOperation, sum, product, power, sign

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

        /// The minimum precedence on the right side, so that equal operators group from the left.
        var next: Self { Self(rawValue: rawValue + 1) ?? .sign }
    }

    enum Infix {
        case or, and
        case comparison(FetchRequest.Comparison.Operator)
        case setOperation(FetchRequest.SetOperation)
        case function(FetchRequest.Function)

        var strength: Strength {
            switch self {
            case .or: .or
            case .and: .and
            case .comparison: .comparison
            case .setOperation: .setOperation
            case .function(.add), .function(.subtract): .sum
            case .function(.multiply), .function(.divide): .product
            case .function: .power
            }
        }
    }

    private(set) var tokenizer: PredicateTokenizer
    private(set) var token: PredicateToken
    let arguments: [any PredicateArgument]
    var usedArguments = 0
    /// The number of active calls of ``part(_:)``.
    private var depth = 0
    var subqueryDepth = 0

    /// Whether this is the first attempt, on the caller's stack.
    private let isShallow: Bool
    /// Whether the first attempt failed because the text is nested too deep for the caller's stack.
    private(set) var needsDeepStack = false

    /// Runs `body` with a parser, and again on a larger stack if the caller's stack is too small.
    static func read<Result: Sendable>(
        _ source: PredicateText,
        _ body: @escaping @Sendable (inout PredicateParser) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var parser = try PredicateParser(source, isShallow: true)
        do throws(StoreError) {
            return try body(&parser)
        } catch {
            guard parser.needsDeepStack else { throw error }
        }
        return try DeepStack.run { () throws(StoreError) in
            var parser = try PredicateParser(source, isShallow: false)
            return try body(&parser)
        }
    }

    private init(_ source: PredicateText, isShallow: Bool) throws(StoreError) {
        self.isShallow = isShallow
        guard source.text.utf8.count <= PredicateLimits.textBytes else {
            throw StoreError(
                .limitExceeded,
                "A predicate's text may have \(PredicateLimits.textBytes) bytes, this one has \(source.text.utf8.count); give long lists as arguments, IN %@."
            )
        }
        tokenizer = PredicateTokenizer(source)
        arguments = source.arguments
        token = try tokenizer.next()
    }

    /// Parses the whole text as a condition.
    mutating func predicate() throws(StoreError) -> PredicateSyntax.Condition {
        let part = try part(.anything)
        let condition = try condition(part)
        try requireEnd("AND, OR or the end of the predicate")
        return condition
    }

    /// Parses the whole text as a value.
    mutating func expression() throws(StoreError) -> PredicateSyntax.Operand {
        let place = token.position
        let value = try value(try part(.setOperation), at: place)
        try requireEnd("An operator or the end of the expression")
        return value.operand
    }

    /// Parses the whole text as comma-separated assignments such as `plays = plays + 1`.
    mutating func assignments() throws(StoreError) -> [(name: String, value: PredicateSyntax.Operand)] {
        var assignments: [(name: String, value: PredicateSyntax.Operand)] = []
        repeat {
            let place = token.position
            if token.kind == .end { throw expected("A property, = and a value, as in plays = plays + 1,") }
            guard case .keyPath(let names, _) = try value().operand else {
                throw tokenizer.error(at: place, message: "The name of a property is expected in front of '='.")
            }
            guard keyword == "=" || keyword == "==" else { throw expected("'=' after the name of a property") }
            try advance()
            assignments.append((names.joined(separator: "."), try value().operand))
        } while try take(",")
        try requireEnd("A comma, an operator or the end of the assignments")
        return assignments
    }

    private func requireEnd(_ what: String) throws(StoreError) {
        guard token.kind == .end else { throw expected(what, among: ["AND", "OR"]) }
        guard usedArguments == arguments.count else {
            throw StoreError(
                .invalidRequest,
                "The text of the \(tokenizer.noun) has fewer placeholders (\(usedArguments)) than there are arguments (\(arguments.count))."
            )
        }
    }

    // MARK: Tokens

    mutating func advance() throws(StoreError) { token = try tokenizer.next() }

    /// Consumes the current token if it is the given sign or keyword.
    ///
    /// - Returns: Whether the token was consumed.
    mutating func take(_ text: String) throws(StoreError) -> Bool {
        guard keyword == text else { return false }
        try advance()
        return true
    }

    /// The current sign, or the current word in upper case; nil for other tokens.
    var keyword: String? {
        switch token.kind {
        case .sign(let sign): sign
        case .word(let word): word.uppercased()
        default: nil
        }
    }

    mutating func require(_ sign: String, what: String) throws(StoreError) {
        guard try take(sign) else { throw expected(what) }
    }

    /// Returns an error for the current token, with the most similar of `names` as a suggestion.
    func expected(_ what: String, among names: [String] = []) -> StoreError {
        var hint = ""
        if case .word(let word) = token.kind, let near = nearestName(to: word, among: names) {
            hint = " Did you mean \(near)?"
        }
        return tokenizer.error(at: token.position, message: "\(what) is expected, not \(token.description).\(hint)")
    }

    // MARK: Depth

    func requireDepth(at place: String.Index) throws(StoreError) {
        guard depth <= PredicateLimits.depth else { throw tooDeep(at: place) }
    }

    /// Returns the depth of a tree whose subtrees have the given depths.
    mutating func above(_ depths: Int..., at place: String.Index) throws(StoreError) -> Int {
        let depth = 1 + (depths.max() ?? 0)
        try requireStack(depth, at: place)
        guard depth <= PredicateLimits.depth else { throw tooDeep(at: place) }
        return depth
    }

    private mutating func requireStack(_ depth: Int, at place: String.Index) throws(StoreError) {
        guard isShallow, depth > DeepStack.shallowDepth else { return }
        needsDeepStack = true
        throw tooDeep(at: place)
    }

    private func tooDeep(at place: String.Index) -> StoreError {
        tokenizer.error(
            at: place, message: "Brackets, NOT and operators are nested deeper than \(PredicateLimits.depth) levels.")
    }

    // MARK: Operators

    /// Parses a condition or a value, up to an operator with a lower precedence than `strength`.
    mutating func part(_ strength: Strength) throws(StoreError) -> Part {
        depth += 1
        defer { depth -= 1 }
        let place = token.position
        try requireStack(depth, at: place)
        var left = try prefix()
        while let infix = infix(), infix.strength >= strength {
            left = try join(left, at: place, infix: infix)
        }
        return left
    }

    /// Parses a value up to the next comparison, AND, OR, comma or closing bracket.
    mutating func value() throws(StoreError) -> Value {
        let place = token.position
        return try value(try part(.setOperation), at: place)
    }

    private func infix() -> Infix? {
        guard let keyword else { return nil }
        switch keyword {
        case "OR", "||": return .or
        case "AND", "&&": return .and
        case "+": return .function(.add)
        case "-": return .function(.subtract)
        case "*": return .function(.multiply)
        case "/": return .function(.divide)
        case "**": return .function(.power)
        default:
            if let comparison = PredicateLanguage.comparison(keyword) { return .comparison(comparison) }
            return FetchRequest.SetOperation(rawValue: keyword).map { .setOperation($0) }
        }
    }

    private mutating func join(_ left: Part, at place: String.Index, infix: Infix) throws(StoreError) -> Part {
        switch infix {
        case .or: return try connect(left, at: place, word: "OR", sign: "||", strength: .and)
        case .and: return try connect(left, at: place, word: "AND", sign: "&&", strength: .not)
        case .comparison(let comparison):
            if case .condition = left.kind { throw expected("AND, OR or the end of the condition") }
            return try self.comparison(try value(left, at: place), at: place, comparison: comparison, modifier: .direct)
        case .setOperation(let operation):
            let (first, second) = try sides(left, at: place, infix: infix)
            return Part(
                .setOperation(operation, first.operand, second.operand),
                depth: try above(first.depth, second.depth, at: place))
        case .function(let function):
            let (first, second) = try sides(left, at: place, infix: infix)
            return Part(
                .function(function, [first.operand, second.operand]),
                depth: try above(first.depth, second.depth, at: place))
        }
    }

    private mutating func sides(
        _ left: Part, at place: String.Index, infix: Infix
    ) throws(StoreError) -> (Value, Value) {
        let first = try value(left, at: place)
        try advance()
        let rightPlace = token.position
        return (first, try value(try part(infix.strength.next), at: rightPlace))
    }

    /// Parses the members of an AND or OR into one list.
    private mutating func connect(
        _ first: Part, at place: String.Index, word: String, sign: String, strength: Strength
    ) throws(StoreError) -> Part {
        var members = [try condition(first)]
        var depth = first.depth
        while keyword == word || keyword == sign {
            try advance()
            let member = try part(strength)
            members.append(try condition(member))
            depth = max(depth, member.depth)
        }
        return Part(word == "OR" ? .or(members) : .and(members), depth: try above(depth, at: place))
    }

    /// Parses the rest of a comparison, starting with its operator.
    mutating func comparison(
        _ left: Value, at place: String.Index, comparison: FetchRequest.Comparison.Operator,
        modifier: FetchRequest.Comparison.Modifier
    ) throws(StoreError) -> Part {
        try advance()
        let options = try options()
        let rightPlace = token.position
        let right = try value(try part(.setOperation), at: rightPlace)
        return Part(
            .comparison(
                .init(
                    left: left.operand, operator: comparison, right: right.operand, modifier: modifier,
                    options: options)),
            depth: try above(left.depth, right.depth, at: place))
    }

    /// Parses options such as `[cd]`.
    private mutating func options() throws(StoreError) -> FetchRequest.Comparison.Options {
        guard keyword == "[" else { return [] }
        try advance()
        var options: FetchRequest.Comparison.Options = []
        if case .word(let letters) = token.kind {
            for letter in letters.lowercased() {
                guard let option = PredicateLanguage.options.first(where: { $0.letter == letter })?.option else {
                    throw expected("One or more of the options c, d, n and l")
                }
                options.insert(option)
            }
            try advance()
        }
        guard try take("]") else { throw expected("One or more of the options c, d, n and l, and then ']',") }
        return options
    }

    // MARK: Conditions and values

    func condition(_ part: Part) throws(StoreError) -> PredicateSyntax.Condition {
        if case .condition(let condition) = part.kind { return condition }
        throw comparisonExpected()
    }

    func comparisonExpected() -> StoreError {
        if let keyword, keyword.hasPrefix("UTI-") { return fileTypes(keyword) }
        let words = PredicateLanguage.comparisonWords
        return expected("A comparison (= != < <= > >= \(words.joined(separator: " ")))", among: words)
    }

    func value(_ part: Part, at place: String.Index) throws(StoreError) -> Value {
        if case .value(let operand) = part.kind { return Value(operand: operand, depth: part.depth) }
        throw tokenizer.error(at: place, message: "A value or a property is expected, not a condition.")
    }
}
