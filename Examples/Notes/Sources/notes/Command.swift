import NotesModel

/// A command of the command line, or of a session.
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
        notes session                          Read commands line by line, with undo and drafts.

        The notes are in the store that ROOST_STORE or the file roost.json names, or in notes.sqlite.
        """

    static let forms: Arguments.Forms = [
        "add": (["TEXT"], ["--tag"]), "list": ([], ["--tag", "--search"]), "done": (["N"], []),
        "edit": (["N", "TEXT"], []), "delete": (["N"], []), "tags": ([], []), "help": ([], []), "--help": ([], []),
    ]

    init(_ arguments: [String]) throws(UsageError) {
        let read = try Arguments(arguments, forms: Self.forms)
        switch read.name {
        case "add": self = .add(text: read.words[0], tags: read.values("--tag"))
        case "list": self = .list(tag: read.value("--tag"), search: read.value("--search"))
        case "done": self = .done(try read.number())
        case "edit": self = .edit(try read.number(), text: read.words[1])
        case "delete": self = .delete(try read.number())
        case "tags": self = .tags
        default: self = .help
        }
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

    static func line(_ note: NoteLine) -> String {
        let tags = note.tags.map { " #\($0)" }.joined()
        return "\(note.number) [\(note.isDone ? "x" : " ")] \(note.text)\(tags)"
    }
}
