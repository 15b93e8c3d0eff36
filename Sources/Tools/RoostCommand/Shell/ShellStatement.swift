internal import RoostCore

enum ShellStatement {
    struct Request {
        let source: ShellSource
        let clauses: ShellClauses
    }

    case fetch(Request)
    case count(Request)
    case explain(Request)
    case assignFetch(variable: String, Request)
    case assignInsert(variable: String, entity: ShellFragment, assignments: ShellFragment)
    case insert(entity: ShellFragment, assignments: ShellFragment)
    case update(Request)
    case delete(Request)
    case undo, redo, changes, commit, rollback

    static let words = [
        "fetch", "count", "explain", "let", "insert", "update", "delete", "undo", "redo", "changes", "commit",
        "rollback",
    ]

    init(_ text: String, names: [String]) throws(ShellSyntaxError) {
        let scanned = ShellText(text)
        let start = scanned.skipBlanks(from: 0)
        let end = scanned.endOfName(from: start)
        let written = scanned.string(start..<end)
        let word = written.lowercased()
        guard Self.words.contains(word), !names.contains(written) else {
            try Self.refuseAssignment(scanned, of: written, from: end)
            guard names.contains(written) else { throw Self.unknown(written, at: start, names: names) }
            self = .fetch(try Self.request(scanned, from: start, words: ShellClauses.ofFetch))
            return
        }
        self = try Self.statement(word, text: scanned, from: end)
    }

    private static func statement(
        _ word: String, text: ShellText, from place: Int
    ) throws(ShellSyntaxError) -> ShellStatement {
        let start = text.skipBlanks(from: place)
        switch word {
        case "fetch": return .fetch(try request(text, from: start, words: ShellClauses.ofFetch))
        case "count": return .count(try request(text, from: start, words: ShellClauses.ofFetch))
        case "explain":
            let end = text.endOfName(from: start)
            let isFetch = text.string(start..<end).lowercased() == "fetch"
            return .explain(
                try request(text, from: isFetch ? text.skipBlanks(from: end) : start, words: ShellClauses.ofFetch))
        case "let": return try assignment(text, from: start)
        case "insert":
            let parts = try insertion(text, from: start)
            return .insert(entity: parts.entity, assignments: parts.assignments)
        case "update":
            let request = try request(text, from: start, words: ShellClauses.ofUpdate)
            guard request.clauses[.set] != nil else {
                throw ShellSyntaxError("'set' is missing, as in update Track set plays = plays + 1", at: text.count)
            }
            return .update(request)
        case "delete": return .delete(try request(text, from: start, words: ShellClauses.ofObjects))
        default:
            guard start == text.count else {
                throw ShellSyntaxError("nothing is expected after '\(word)'", at: start)
            }
            switch word {
            case "undo": return .undo
            case "redo": return .redo
            case "changes": return .changes
            case "commit": return .commit
            default: return .rollback
            }
        }
    }

    private static func request(
        _ text: ShellText, from start: Int, words: [ShellClauses.Word]
    ) throws(ShellSyntaxError) -> Request {
        let source = try ShellSource(text, from: start)
        return Request(source: source, clauses: try ShellClauses(text, from: source.end, words: words))
    }

    /// Reads `NAME = fetch …`, `NAME = insert …` or `NAME = a.tracks …`.
    private static func assignment(_ text: ShellText, from start: Int) throws(ShellSyntaxError) -> ShellStatement {
        let end = text.endOfName(from: start)
        let equals = text.skipBlanks(from: end)
        guard end > start, equals < text.count, text.characters[equals] == "=" else {
            throw ShellSyntaxError("a name and = are expected, as in let a = fetch Album", at: start)
        }
        let name = text.string(start..<end)
        let value = text.skipBlanks(from: equals + 1)
        let word = text.endOfName(from: value)
        let rest = text.skipBlanks(from: word)
        switch text.string(value..<word).lowercased() {
        case "insert":
            let parts = try insertion(text, from: rest)
            return .assignInsert(variable: name, entity: parts.entity, assignments: parts.assignments)
        case "fetch": return .assignFetch(variable: name, try request(text, from: rest, words: ShellClauses.ofObjects))
        default: return .assignFetch(variable: name, try request(text, from: value, words: ShellClauses.ofObjects))
        }
    }

    private static func insertion(
        _ text: ShellText, from start: Int
    ) throws(ShellSyntaxError) -> (entity: ShellFragment, assignments: ShellFragment) {
        let end = text.endOfName(from: start)
        guard end > start else { throw ShellSyntaxError("the name of an entity is expected after 'insert'", at: start) }
        return (text.fragment(start..<end), text.fragment(end..<text.count))
    }

    /// Refuses an assignment without `let`.
    private static func refuseAssignment(
        _ text: ShellText, of name: String, from end: Int
    ) throws(ShellSyntaxError) {
        let next = text.skipBlanks(from: end)
        guard next < text.count, text.characters[next] == "=" else { return }
        throw ShellSyntaxError("a variable gets objects by 'let': let \(name) = fetch …", at: next)
    }

    private static func unknown(_ word: String, at place: Int, names: [String]) -> ShellSyntaxError {
        guard !word.isEmpty else { return ShellSyntaxError("a statement is expected; '.help' lists them", at: place) }
        let hint =
            nearestName(to: word, among: words + names).map { "did you mean '\($0)'?" }
            ?? "'.help' lists the statements, and '.entities' the entities"
        return ShellSyntaxError("'\(word)' is not a statement, an entity or a variable; \(hint)", at: place)
    }
}
