internal import RoostCore

extension PredicateParser {
    /// Parses an operand, which may begin with a prefix operator such as `NOT` or `ANY`.
    mutating func prefix() throws(StoreError) -> Part {
        switch keyword {
        case "NOT", "!": return try negation()
        case "-": return try sign()
        case "ANY", "SOME", "ALL", "NONE": return try quantified()
        case "TRUEPREDICATE", "FALSEPREDICATE":
            let truth = keyword == "TRUEPREDICATE"
            try advance()
            return Part(.constant(truth))
        default: return try postfix()
        }
    }

    private mutating func negation() throws(StoreError) -> Part {
        let place = token.position
        try requireDepth(at: place)
        try advance()
        let part = try part(.not)
        return Part(.not(try condition(part)), depth: try above(part.depth, at: place))
    }

    /// Parses a minus sign and its operand.
    ///
    /// The sign becomes part of a number without parentheses.
    private mutating func sign() throws(StoreError) -> Part {
        let place = token.position
        try requireDepth(at: place)
        try advance()
        var isNumber = false
        if case .number = token.kind { isNumber = true }
        let operandPlace = token.position
        let value = try value(try part(.sign), at: operandPlace)
        if isNumber, case .literal(.number(let text), _) = value.operand {
            return Part(.literal(.number("-" + text), place))
        }
        return Part(.function(.negate, [value.operand]), depth: try above(value.depth, at: place))
    }

    /// Parses `ANY`, `SOME`, `ALL` or `NONE` and the comparison after it.
    private mutating func quantified() throws(StoreError) -> Part {
        let place = token.position
        let quantifier = keyword
        try requireDepth(at: place)
        try advance()
        let left = try value()
        guard let keyword, let comparison = PredicateLanguage.comparison(keyword) else { throw comparisonExpected() }
        var part = try self.comparison(
            left, at: place, comparison: comparison, modifier: quantifier == "ALL" ? .all : .any)
        if quantifier == "NONE" {
            part = Part(.not(try condition(part)), depth: try above(part.depth, at: place))
        }
        return part
    }

    // MARK: Indexes and paths

    /// Parses a value with the indexes and path steps after it.
    private mutating func postfix() throws(StoreError) -> Part {
        let place = token.position
        // Steps after a path without parentheses extend that path. Steps after parentheses are a
        // new path, which starts at the value in the parentheses.
        let isBare = keyword != "("
        var part = try primary()
        if isBare, keyword == ".", case .value(let operand) = part.kind {
            switch operand {
            case .keyPath(let names, let start):
                part = Part(.keyPath(names + (try steps()), start))
            case .evaluatedObject: part = Part(.keyPath(try steps(), place))
            default: break
            }
        }
        while true {
            switch keyword {
            case "[":
                let base = try value(part, at: place)
                try requireDepth(at: token.position)
                try advance()
                let (index, depth) = try index()
                try require("]", what: "']' after the index")
                part = Part(.element(of: base.operand, index), depth: try above(base.depth, depth, at: place))
            case ".":
                let base = try value(part, at: place)
                let stepsPlace = token.position
                let steps = try steps()
                part = Part(
                    .path(of: base.operand, steps, stepsPlace), depth: try above(base.depth, at: place))
            default: return part
            }
        }
    }

    /// Parses path steps such as `.name.@count`.
    private mutating func steps() throws(StoreError) -> [String] {
        var names: [String] = []
        while try take(".") {
            if keyword == "@" {
                names.append(try collectionOperator())
            } else {
                names += try name()
            }
        }
        return names
    }

    /// Parses a name, or a `%K` placeholder whose argument may contain several names.
    private mutating func name() throws(StoreError) -> [String] {
        switch token.kind {
        case .word(let name), .name(let name):
            try advance()
            return [name]
        case .argument("K"): return try keyPathArgument()
        default: throw expected("The name of a property")
        }
    }

    private mutating func collectionOperator() throws(StoreError) -> String {
        let place = token.position
        try advance()
        guard case .word(let word) = token.kind else {
            throw expected("The name of a collection operator, such as count,")
        }
        let known = FetchRequest.CollectionOperator.allCases.map(\.rawValue)
        guard known.contains("@" + word) else {
            let hint = nearestName(to: "@" + word, among: known).map { "Did you mean \($0)?" }
            throw tokenizer.error(
                at: place,
                message:
                    "The collection operator '@\(word)' is unknown. \(hint ?? "The operators are \(known.joined(separator: ", ")).")"
            )
        }
        try advance()
        return "@" + word
    }

    private mutating func index() throws(StoreError) -> (PredicateSyntax.Index, depth: Int) {
        switch keyword {
        case "FIRST":
            try advance()
            return (.first, 0)
        case "LAST":
            try advance()
            return (.last, 0)
        case "SIZE":
            try advance()
            return (.size, 0)
        default:
            let position = try value()
            return (.position(position.operand), position.depth)
        }
    }

    // MARK: Values

    private mutating func primary() throws(StoreError) -> Part {
        let place = token.position
        switch token.kind {
        case .string(let text):
            try advance()
            return Part(.literal(.string(text), place))
        case .number(let text):
            try advance()
            return Part(.literal(.number(text), place))
        case .name(let name):
            try advance()
            return Part(.keyPath([name], place))
        case .variable(let name):
            try advance()
            guard keyword != ":=" else { throw assignment() }
            return Part(.variable(name, place))
        case .argument("K"): return Part(.keyPath(try keyPathArgument(), place))
        case .argument(let letters): return Part(try argument(letters))
        case .word(let word): return try self.word(word)
        case .sign("("): return try brackets()
        case .sign("{"): return try aggregate()
        case .sign("@"): return Part(.keyPath([try collectionOperator()], place))
        case .sign(":="): throw assignment()
        default: throw expected("A property or a value")
        }
    }

    func fileTypes(_ keyword: String) -> StoreError {
        tokenizer.unsupported(
            at: token.position, message: "\(keyword) needs the system's table of file types, which stores do not have.")
    }

    private func assignment() -> StoreError {
        tokenizer.unsupported(
            at: token.position,
            message:
                "':=' would change a variable, and a predicate changes nothing; give the variable its value with substituting(_:)."
        )
    }

    private mutating func brackets() throws(StoreError) -> Part {
        try requireDepth(at: token.position)
        try advance()
        let part = try part(.anything)
        if try take(")") { return part }
        if case .condition = part.kind { throw expected("AND, OR or ')'", among: ["AND", "OR"]) }
        throw expected("An operator or ')'", among: PredicateLanguage.comparisonWords)
    }

    private mutating func aggregate() throws(StoreError) -> Part {
        let place = token.position
        try requireDepth(at: place)
        try advance()
        let (members, depth) = try values(upTo: "}")
        return Part(.aggregate(members), depth: depth)
    }

    /// Parses comma-separated values up to and including the closing bracket.
    ///
    /// The returned depth includes the level of the list itself.
    private mutating func values(
        upTo bracket: String, after first: [PredicateSyntax.Operand] = [], depth: Int = 0
    ) throws(StoreError) -> ([PredicateSyntax.Operand], depth: Int) {
        let place = token.position
        var (members, depth) = (first, depth)
        if first.isEmpty, try take(bracket) { return (members, depth: 1) }
        if !first.isEmpty, !(try take(",")) {
            try require(bracket, what: "A comma or '\(bracket)'")
            return (members, try above(depth, at: place))
        }
        repeat {
            guard members.count < PredicateLimits.elementCount else {
                throw StoreError(
                    .limitExceeded,
                    "A list of a predicate may have \(PredicateLimits.elementCount) elements; use several requests."
                )
            }
            let member = try value()
            members.append(member.operand)
            depth = max(depth, member.depth)
        } while try take(",")
        try require(bracket, what: "A comma or '\(bracket)'")
        return (members, try above(depth, at: place))
    }

    private mutating func word(_ word: String) throws(StoreError) -> Part {
        let place = token.position
        switch word.uppercased() {
        case "TRUE", "YES":
            try advance()
            return Part(.literal(.bool(true), place))
        case "FALSE", "NO":
            try advance()
            return Part(.literal(.bool(false), place))
        case "NULL", "NIL":
            try advance()
            return Part(.literal(.null, place))
        case "SELF":
            try advance()
            return Part(.evaluatedObject)
        case "CAST": return try cast()
        case "SUBQUERY": return try subquery()
        case "TERNARY": return try conditional()
        case "FUNCTION": return try registered()
        case "FETCH":
            throw tokenizer.unsupported(
                at: place,
                message:
                    "A predicate cannot contain FETCH; fetch the objects first, and pass them as the argument of IN %@."
            )
        case "ANYKEY":
            throw tokenizer.unsupported(
                at: place, message: "ANYKEY would compare properties of every type with one value; name the properties."
            )
        case "UTI-CONFORMS-TO", "UTI-EQUALS": throw fileTypes(word.uppercased())
        case let keyword where PredicateLanguage.isReserved(word):
            throw tokenizer.error(
                at: place,
                message:
                    "A property or a value is expected, not '\(keyword)'. Write #\(word) if it is the name of a property."
            )
        default:
            try advance()
            guard self.keyword == "(" || self.keyword == ":" else { return Part(.keyPath([word], place)) }
            return try call(word, at: place)
        }
    }

    // MARK: Calls

    /// Parses the rest of a call: `uppercase(x)`, `uppercase:(x)` or `add:to:(a, b)`.
    private mutating func call(_ word: String, at place: String.Index) throws(StoreError) -> Part {
        var name = word
        while try take(":") {
            name += ":"
            guard case .word(let part) = token.kind else { break }
            name += part
            try advance()
        }
        guard let function = FetchRequest.Function(name: name) else {
            if let reason = FetchRequest.Function.refusal(name) {
                throw tokenizer.unsupported(at: place, message: "'\(name)' cannot be used in predicates: \(reason).")
            }
            let near =
                FetchRequest.Function(nameInSQL: name)?.rawValue
                ?? nearestName(to: name, among: FetchRequest.Function.allCases.map(\.rawValue))
            throw tokenizer.error(
                at: place,
                message:
                    "The function '\(name)' is unknown; \(near.map { "did you mean '\($0)'?" } ?? "call a function of the program as FUNCTION(value, \"name\").")"
            )
        }
        try requireDepth(at: token.position)
        try require("(", what: "'(' after the name of a function")
        let (arguments, depth) = try values(upTo: ")")
        let counts = function.argumentCounts
        guard counts.contains(arguments.count) else {
            let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "at least \(counts.lowerBound)"
            let noun = counts.lowerBound == 1 ? "argument" : "arguments"
            throw tokenizer.error(
                at: place, message: "'\(function.rawValue)' takes \(wanted) \(noun), not \(arguments.count).")
        }
        return Part(.function(function, arguments), depth: depth)
    }

    /// Parses a keyword such as `CAST` and the opening parenthesis after it.
    private mutating func open(_ keyword: String) throws(StoreError) {
        try requireDepth(at: token.position)
        try advance()
        try require("(", what: "'(' after \(keyword)")
    }

    private mutating func comma() throws(StoreError) { try require(",", what: "A comma") }

    private mutating func cast() throws(StoreError) -> Part {
        try open("CAST")
        let place = token.position
        let isBare = keyword != "("
        let value = try value()
        try comma()
        let names = FetchRequest.CastType.allCases.map(\.rawValue)
        guard case .string(let name) = token.kind, let type = FetchRequest.CastType(rawValue: name) else {
            throw tokenizer.error(
                at: token.position,
                message: "The type of the value is expected as a string: \(names.joined(separator: ", ")).")
        }
        try advance()
        try require(")", what: "')'")
        // A cast of a bare literal is a notation for a constant. A literal in parentheses is cast
        // for every object.
        if isBare, case .literal(let literal, _) = value.operand, literal.isUntyped {
            return Part(.literal(.cast(literal, type), place))
        }
        return Part(.cast(value.operand, type), depth: try above(value.depth, at: place))
    }

    private mutating func subquery() throws(StoreError) -> Part {
        let place = token.position
        try open("SUBQUERY")
        subqueryDepth += 1
        defer { subqueryDepth -= 1 }
        guard subqueryDepth <= PredicateLimits.subqueryDepth else {
            throw StoreError(
                .limitExceeded, "SUBQUERY can be nested \(PredicateLimits.subqueryDepth) levels deep, not deeper.")
        }
        let collection = try value()
        try comma()
        guard case .variable(let variable) = token.kind else { throw expected("A variable such as $x") }
        try advance()
        try comma()
        let condition = try part(.anything)
        let predicate = try self.condition(condition)
        try require(")", what: "AND, OR or ')'")
        return Part(
            .subquery(collection.operand, variable: variable, predicate),
            depth: try above(collection.depth, condition.depth, at: place))
    }

    private mutating func conditional() throws(StoreError) -> Part {
        let place = token.position
        try open("TERNARY")
        let condition = try part(.anything)
        let predicate = try self.condition(condition)
        try comma()
        let first = try value()
        try comma()
        let second = try value()
        try require(")", what: "')'")
        return Part(
            .conditional(predicate, first.operand, second.operand),
            depth: try above(condition.depth, first.depth, second.depth, at: place))
    }

    private mutating func registered() throws(StoreError) -> Part {
        try open("FUNCTION")
        let target = try value()
        try comma()
        // Names that begin with U+0000 are reserved; see ``FetchRequest/Expression/readingError``.
        guard case .string(let name) = token.kind, name.unicodeScalars.first != "\u{0}" else {
            throw expected("The name of a function as a string")
        }
        try advance()
        let (arguments, depth) = try values(upTo: ")", after: [target.operand], depth: target.depth)
        return Part(.registered(name, arguments), depth: depth)
    }
}
