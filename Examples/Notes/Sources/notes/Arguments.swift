/// The error for an invalid command.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The words and options of a command.
struct Arguments {
    /// The names of the words and options of each command.
    typealias Forms = [String: (words: [String], options: Set<String>)]

    let name: String
    private(set) var words: [String] = []
    private var options: [(name: String, value: String)] = []

    /// Reads arguments.
    ///
    /// The first argument names the command.
    init(_ arguments: [String], forms: Forms) throws(UsageError) {
        guard let name = arguments.first else { throw UsageError("A command is missing.") }
        guard let (wordNames, optionNames) = forms[name] else { throw UsageError("'\(name)' is not a command.") }
        self.name = name
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                words.append(argument)
                continue
            }
            guard optionNames.contains(argument) else {
                throw UsageError("'\(name)' does not have the option '\(argument)'.")
            }
            guard let value = rest.popFirst() else { throw UsageError("The option '\(argument)' needs a value.") }
            options.append((argument, value))
        }
        guard words.count == wordNames.count else {
            let form = ([name] + wordNames).joined(separator: " ")
            throw UsageError("The form of the command is '\(form)'. Put quotes around a text.")
        }
    }

    /// Returns the last value of an option.
    func value(_ option: String) -> String? { values(option).last }

    func values(_ option: String) -> [String] { options.filter { $0.name == option }.map(\.value) }

    /// Returns the first word as the number of a note.
    func number() throws(UsageError) -> Int64 {
        guard let number = Int64(words[0]) else { throw UsageError("'\(words[0])' is not the number of a note.") }
        return number
    }

    /// Splits a line into words.
    ///
    /// A text in quotes is one word.
    static func split(_ line: String) throws(UsageError) -> [String] {
        var words: [String] = []
        var (isInWord, isQuoted) = (false, false)
        for character in line {
            if character == "\"" {
                isQuoted.toggle()
                if !isInWord { words.append("") }
                isInWord = true
            } else if character.isWhitespace, !isQuoted {
                isInWord = false
            } else {
                if !isInWord { words.append("") }
                isInWord = true
                words[words.count - 1].append(character)
            }
        }
        guard !isQuoted else { throw UsageError("A quote is missing at the end of the text.") }
        return words
    }
}
