import Roost

/// A note that is edited in a scratch pad: the notes change when the draft is kept, and not before.
///
/// A draft that is not kept leaves nothing.
public final class Draft {
    private let note: Note
    private let pad: ManagedObjectContext
    private let book: NoteBook

    init(_ note: Note, pad: ManagedObjectContext, book: NoteBook) {
        (self.note, self.pad, self.book) = (note, pad, book)
    }

    /// The note as the draft has it.
    public var line: NoteLine { NoteLine(note) }
    /// Whether the draft has changes that were not kept.
    public var hasChanges: Bool { pad.hasChanges }

    /// The text of the note.
    public var text: String {
        get { note.text }
        set { note.text = newValue }
    }

    /// Whether the note is done.
    public var isDone: Bool {
        get { note.isDone }
        set { note.isDone = newValue }
    }

    /// Gives the note a tag.
    public func addTag(_ name: String) throws(NoteError) {
        do throws(StoreError) { note.tags.insert(try NoteBook.tag(name, in: pad)) } catch { throw NoteError(error) }
    }

    /// Takes a tag from the note.
    public func removeTag(_ name: String) {
        for tag in note.tags where tag.name == name { note.tags.remove(tag) }
    }

    /// Makes all changes of the draft, as one step of undo.
    ///
    /// If they break a rule, nothing changes, and the draft can be mended.
    public func keep() throws(NoteError) {
        guard hasChanges else { return }
        do throws(StoreError) {
            try NoteBook.deleteUnusedTags(in: pad)
            try book.keep(pad)
        } catch { throw NoteError(error) }
    }
}
