internal import RoostCore

/// The part of a statement after its objects: `where year > 1970 sort -year limit 10`.
struct ShellClauses {
    enum Word: String, CaseIterable {
        case `where`, sort, limit, offset, select, set, having, distinct
        case groupBy = "group-by"
    }

    static let ofFetch: [Word] = [.where, .sort, .limit, .offset, .select, .groupBy, .having, .distinct]
    /// The clauses that select objects.
    static let ofObjects: [Word] = [.where, .sort, .limit, .offset]
    static let ofUpdate: [Word] = [.set, .where, .sort, .limit, .offset]

    /// The clauses, each with the text after its keyword.
    private(set) var fragments: [Word: ShellFragment] = [:]

    subscript(_ word: Word) -> ShellFragment? { fragments[word] }

    /// Reads the clauses from a position to the statement's end.
    ///
    /// - Throws: `ShellSyntaxError` for text that is not a clause, and for a clause that is
    ///   repeated or incomplete.
    init(_ text: ShellText, from start: Int, words: [Word]) throws(ShellSyntaxError) {
        let first = text.skipBlanks(from: start)
        guard first < text.count else { return }
        let starts = Self.starts(text, from: first, words: words)
        guard starts.first?.range.lowerBound == first else {
            var end = first
            while end < text.count, !text.characters[end].isWhitespace { end += 1 }
            let written = text.string(first..<end)
            let names = words.map(\.rawValue)
            let hint = nearestName(to: written.lowercased(), among: names).map { "did you mean '\($0)'?" }
            throw ShellSyntaxError(
                "'\(written)' is not expected here; \(hint ?? "expected \(listed(names))")", at: first)
        }
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1].range.lowerBound : text.count
            let fragment = text.fragment(start.range.upperBound..<end)
            guard fragments[start.word] == nil else {
                throw ShellSyntaxError("'\(start.word.rawValue)' is given twice", at: start.range.lowerBound)
            }
            guard fragment.isEmpty == (start.word == .distinct) else {
                let message =
                    start.word == .distinct
                    ? "'distinct' takes no text" : "the rest of the clause is expected after '\(start.word.rawValue)'"
                throw ShellSyntaxError(message, at: start.range.upperBound)
            }
            fragments[start.word] = fragment
        }
    }

    /// Returns the keywords that begin clauses, with their ranges.
    ///
    /// A property can be named like a keyword. So a word next to an operator or a comma, or
    /// directly after a keyword other than `distinct`, is a property.
    private static func starts(
        _ text: ShellText, from start: Int, words: [Word]
    ) -> [(word: Word, range: Range<Int>)] {
        var starts: [(word: Word, range: Range<Int>)] = []
        var index = start
        while index < text.count {
            let isFirst = index == start || text.characters[index - 1].isWhitespace
            var end = isFirst && text.isOutside[index] ? text.endOfName(from: index) : index
            guard end > index else {
                index += 1
                continue
            }
            var name = text.string(index..<end).lowercased()
            if name == "group", let last = endOfBy(text, from: end) { (name, end) = ("group-by", last) }
            if let word = Word(rawValue: name), words.contains(word), isAlone(text, range: index..<end, start: start),
                starts.last.map({ $0.word != .distinct && text.fragment($0.range.upperBound..<index).isEmpty }) != true
            {
                starts.append((word, index..<end))
            }
            index = end
        }
        return starts
    }

    /// Returns the end of the `by` after `group`, or nil for another word.
    private static func endOfBy(_ text: ShellText, from start: Int) -> Int? {
        guard start < text.count, text.characters[start] == "-" || text.characters[start].isWhitespace else {
            return nil
        }
        let first = text.skipBlanks(from: start + 1)
        let end = text.endOfName(from: first)
        return text.string(first..<end).lowercased() == "by" ? end : nil
    }

    /// Returns whether a word is neither an operand nor an element of a list.
    private static func isAlone(_ text: ShellText, range: Range<Int>, start: Int) -> Bool {
        let next = text.skipBlanks(from: range.upperBound)
        if next < text.count, "=<>!+*/,.".contains(text.characters[next]) { return false }
        if range.upperBound < text.count, !text.characters[range.upperBound].isWhitespace,
            !"'\"({".contains(text.characters[range.upperBound])
        {
            return false
        }
        let before = text.string(start..<range.lowerBound).trimmingSuffix(while: \.isWhitespace)
        guard let last = before.last else { return true }
        if "=<>!+-*/,.(&|".contains(last) { return false }
        let word = before.reversed().prefix { ShellText.isNamePart($0) }.reversed()
        return !["and", "or", "not"].contains(String(word).lowercased())
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while condition: (Character) -> Bool) -> SubSequence {
        var end = endIndex
        while end > startIndex, condition(self[index(before: end)]) { end = index(before: end) }
        return self[..<end]
    }
}
