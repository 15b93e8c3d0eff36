import NotesModel

/// A command that cannot be understood.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A command of the command line.
enum Command: Equatable {
    case add(text: String, tags: [String])
    case list(tag: String?, search: String?)
    case done(Int64)
    case edit(Int64, text: String)
    case delete(Int64)
    case tags
    case help

    static let usage = """
        notes add TEXT [--tag TAG]...          Add a note.
        notes list [--tag TAG] [--search TEXT] Show notes.
        notes done N                           Mark a note as done.
        notes edit N TEXT                      Replace the text of a note.
        notes delete N                         Delete a note.
        notes tags                             Show the tags and the numbers of their open notes.

        The notes are in the store that ROOST_STORE or the file roost.json names, or in notes.sqlite.
        """

    /// Reads the arguments of the command line.
    init(_ arguments: [String]) throws(UsageError) {
        guard let name = arguments.first else { throw UsageError("A command is missing.") }
        let allowed: [String: (words: [String], options: Set<String>)] = [
            "add": (["TEXT"], ["--tag"]), "list": ([], ["--tag", "--search"]), "done": (["N"], []),
            "edit": (["N", "TEXT"], []), "delete": (["N"], []), "tags": ([], []), "help": ([], []), "--help": ([], []),
        ]
        guard let (wordNames, optionNames) = allowed[name] else { throw UsageError("'\(name)' is not a command.") }
        var (words, options): ([String], [(name: String, value: String)]) = ([], [])
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                words.append(argument)
                continue
            }
            guard optionNames.contains(argument) else {
                throw UsageError("'notes \(name)' does not have the option '\(argument)'.")
            }
            guard let value = rest.popFirst() else { throw UsageError("The option '\(argument)' needs a value.") }
            options.append((argument, value))
        }
        guard words.count == wordNames.count else {
            let form = ([name] + wordNames).joined(separator: " ")
            throw UsageError("The form of the command is 'notes \(form)'. Put quotes around a text.")
        }
        func value(_ option: String) -> String? { options.last { $0.name == option }?.value }
        switch name {
        case "add": self = .add(text: words[0], tags: options.map(\.value))
        case "list": self = .list(tag: value("--tag"), search: value("--search"))
        case "done": self = .done(try Self.number(words[0]))
        case "edit": self = .edit(try Self.number(words[0]), text: words[1])
        case "delete": self = .delete(try Self.number(words[0]))
        case "tags": self = .tags
        default: self = .help
        }
    }

    private static func number(_ text: String) throws(UsageError) -> Int64 {
        guard let number = Int64(text) else { throw UsageError("'\(text)' is not the number of a note.") }
        return number
    }

    /// Runs the command, and returns the lines to print.
    func run(_ book: NoteBook) throws(NoteError) -> [String] {
        switch self {
        case .add(let text, let tags): return [Self.line(try book.add(text, tags: tags))]
        case .list(let tag, let search): return try book.list(tag: tag, search: search).map(Self.line)
        case .done(let number): try book.finish(number)
        case .edit(let number, let text): try book.edit(number, text: text)
        case .delete(let number): try book.delete(number)
        case .tags: return try book.tags().map { "\($0.name) \($0.openCount)" }
        case .help: return [Self.usage]
        }
        return []
    }

    private static func line(_ note: NoteLine) -> String {
        let tags = note.tags.map { " #\($0)" }.joined()
        return "\(note.number) [\(note.isDone ? "x" : " ")] \(note.text)\(tags)"
    }
}
