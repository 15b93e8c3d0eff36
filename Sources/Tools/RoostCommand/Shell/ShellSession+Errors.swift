internal import RoostCore

extension ShellSession {
    /// Runs `body`, and throws its `UsageError` as `ShellSyntaxError` with a position.
    func placing<Result>(_ clauses: ShellClauses, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as UsageError {
            throw Self.placed(error.message, clauses: clauses)
        }
    }

    /// Returns an error with the position of its clause or of a name that the message quotes.
    private static func placed(_ message: String, clauses: ShellClauses) -> ShellSyntaxError {
        guard let match = message.firstMatch(of: /'--([a-z-]+)'/),
            let word = ShellClauses.Word(rawValue: String(match.output.1)), let clause = clauses[word]
        else {
            let error = located(message, clause: clauses[.where])
            return error.column == nil
                ? ShellSyntaxError(error.message, at: place(ofNameIn: message, clauses: clauses)) : error
        }
        return located(message, clause: clause)
    }

    /// Returns the position of a name that the message quotes, or nil.
    private static func place(ofNameIn message: String, clauses: ShellClauses) -> Int? {
        for match in message.matches(of: #/'([^']+)'/#) {
            for clause in clauses.fragments.values.sorted(by: { $0.column < $1.column }) {
                guard let range = clause.text.firstRange(of: match.output.1) else { continue }
                return clause.column + clause.text.distance(from: clause.text.startIndex, to: range.lowerBound)
            }
        }
        return nil
    }

    /// Returns an error, with the position of the mistake if known.
    ///
    /// The position comes from a column that the message names. If the message names an option
    /// instead, the position is the beginning of the clause.
    static func located(_ message: String, clause: ShellFragment?) -> ShellSyntaxError {
        let place =
            #/^(?:The [a-z]+ cannot be read at column (\d+)|At column (\d+) of (?:the [a-z]+|'--[a-z-]+')|'--[a-z-]+' cannot be read at column (\d+)): /#
        guard let match = message.firstMatch(of: place),
            let column = [match.output.1, match.output.2, match.output.3].lazy.compactMap({ $0 }).first.flatMap({
                Int($0)
            })
        else {
            let named = message.contains("'--") ? clause?.column : nil
            return ShellSyntaxError(inWords(message), at: named)
        }
        return ShellSyntaxError(
            inWords(String(message[match.range.upperBound...])), at: clause.map { $0.column + column - 1 })
    }

    /// Returns a message in which clause names replace option names.
    static func inWords(_ message: String) -> String {
        message
            .replacing(/option '--([a-z-]+)'/) { "'\($0.output.1)'" }
            .replacing(/'--([a-z-]+)'/) { "'\($0.output.1)'" }
            .replacing(/--(select|sort|where|limit|offset|having|group-by|set)\b=?/) { "\($0.output.1) " }
            .replacing(#/ {2,}/#, with: " ")
    }
}
