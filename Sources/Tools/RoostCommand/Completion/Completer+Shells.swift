extension Completer {
    /// Returns the output for a completion script, one candidate on each line.
    ///
    /// - Parameter arguments: Either `words`, followed by the words after `roost`; or `bash`,
    ///   followed by the line up to the cursor, and by the characters at which Bash divides words.
    /// - Returns: For `words`, each candidate followed by a tab and its meaning. For `bash`,
    ///   replacements of the last word. Otherwise, an empty string.
    func answer(_ arguments: [String]) -> String {
        switch arguments.first {
        case "words":
            return candidates(Array(arguments.dropFirst())).map { "\($0.text)\t\($0.help)" }.joined(separator: "\n")
        case "bash" where arguments.count == 3:
            return bash(ShellLine(arguments[1]), breaks: arguments[2]).joined(separator: "\n")
        default:
            return ""
        }
    }

    /// Returns the candidates in the form that Bash requires.
    ///
    /// Outside quotes, candidates are escaped, and each begins after the last `:` or `=` at which
    /// Bash divides the word.
    private func bash(_ line: ShellLine, breaks: String) -> [String] {
        let candidates = candidates(Array(line.words.dropFirst())).map(\.text)
        // Bash does not split quoted text, and adds the quotes itself.
        guard !line.isQuoted, let current = line.words.last else { return candidates }
        let cut = current.lastIndex { ":=".contains($0) && breaks.contains($0) }
        let count = cut.map { current.distance(from: current.startIndex, to: $0) + 1 } ?? 0
        return candidates.map { ShellLine.quoted(String($0.dropFirst(count)), keepsHome: count == 0) }
    }
}

/// A command line as a shell reads it, up to the cursor.
struct ShellLine {
    /// The words without quotes; the last word is at the cursor, and may be empty.
    private(set) var words = [""]
    /// Whether the last word has an open quote.
    private(set) var isQuoted = false

    init(_ text: String) {
        var quote: Character?
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\" where quote != "'": if let next = rest.popFirst() { words[words.count - 1].append(next) }
            case "'" where quote != "\"", "\"" where quote != "'": quote = quote == nil ? character : nil
            case " " where quote == nil, "\t" where quote == nil: if words.last != "" { words.append("") }
            default: words[words.count - 1].append(character)
            }
        }
        isQuoted = quote != nil
    }

    /// Returns a word with a backslash before each character that is special in a shell.
    ///
    /// `keepsHome` exempts a leading `~/`.
    static func quoted(_ word: String, keepsHome: Bool) -> String {
        var result = ""
        for (index, character) in word.enumerated() {
            let isHome = keepsHome && index == 0 && word.hasPrefix("~/")
            if character.isASCII, !character.isLetter, !character.isNumber, !"_@%+=:,./-".contains(character), !isHome {
                result.append("\\")
            }
            result.append(character)
        }
        return result
    }
}
