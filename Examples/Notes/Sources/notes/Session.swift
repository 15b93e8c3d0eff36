import NotesModel

/// A session that runs commands line by line, with undo and with drafts of notes.
///
/// Undo reverts only the changes of the session.
struct Session {
    static let usage = """
        add TEXT [--tag TAG]..., list [--tag TAG] [--search TEXT], done N, edit N TEXT, delete N, tags
                                               As on the command line.
        undo                                   Take back the last change of the session.
        redo                                   Repeat the change that was taken back last.
        draft N                                Edit a note in a draft.
        quit                                   End the session.
        """
    static let draftUsage = """
        text TEXT                              Replace the text.
        tag TAG, untag TAG                     Add a tag, or remove it.
        done, open                             Mark the note as done, or as open.
        show                                   Show the draft.
        keep                                   Make all changes of the draft.
        discard                                Make none of them.
        """
    private static let forms: Arguments.Forms = Command.forms.merging([
        "undo": ([], []), "redo": ([], []), "draft": (["N"], []), "quit": ([], []),
    ]) { own, _ in own }
    private static let draftForms: Arguments.Forms = [
        "text": (["TEXT"], []), "tag": (["TAG"], []), "untag": (["TAG"], []), "done": ([], []), "open": ([], []),
        "show": ([], []), "keep": ([], []), "discard": ([], []), "help": ([], []),
    ]

    private let book: NoteBook
    private var draft: Draft?
    private(set) var isOver = false

    init(_ book: NoteBook) { self.book = book }

    /// The prompt, which shows the number of an open draft.
    var prompt: String { draft.map { "draft \($0.line.number)> " } ?? "> " }

    /// Runs the command of one line, and returns the lines to print.
    mutating func run(_ line: String) throws -> [String] {
        let words = try Arguments.split(line)
        if words.isEmpty { return [] }
        if let draft { return try run(words, in: draft) }
        let read = try Arguments(words, forms: Self.forms)
        switch read.name {
        case "undo": return ["Took back: \(try book.undo())"]
        case "redo": return ["Repeated: \(try book.redo())"]
        case "draft":
            let draft = try book.draft(try read.number())
            self.draft = draft
            return [Command.line(draft.line)]
        case "quit": isOver = true
        case "help", "--help": return [Self.usage]
        default: return try Command(words).run(book)
        }
        return []
    }

    private mutating func run(_ words: [String], in draft: Draft) throws -> [String] {
        let read = try Arguments(words, forms: Self.draftForms)
        switch read.name {
        case "text": draft.text = read.words[0]
        case "tag": try draft.addTag(read.words[0])
        case "untag": draft.removeTag(read.words[0])
        case "done": draft.isDone = true
        case "open": draft.isDone = false
        case "keep":
            // If the draft breaks a rule, it remains open for corrections.
            defer { if !draft.hasChanges { self.draft = nil } }
            try draft.keep()
            return []
        case "discard":
            self.draft = nil
            return []
        case "help": return [Self.draftUsage]
        default: break
        }
        return [Command.line(draft.line)]
    }
}
