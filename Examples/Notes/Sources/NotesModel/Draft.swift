import Roost

/// A copy of a note for editing.
///
/// The note itself changes only in ``keep()``.
public final class Draft {
    private let note: Note
    private let pad: ManagedObjectContext
    private let book: NoteBook

    init(_ note: Note, pad: ManagedObjectContext, book: NoteBook) {
        (self.note, self.pad, self.book) = (note, pad, book)
    }

    /// The note with the changes of the draft.
    public var line: NoteLine { NoteLine(note) }
    /// Whether the draft has changes that are not saved.
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

    /// Adds a tag to the note.
    public func addTag(_ name: String) throws(NoteError) {
        do throws(StoreError) { note.tags.insert(try NoteBook.tag(name, in: pad)) } catch { throw NoteError(error) }
    }

    /// Removes a tag from the note.
    public func removeTag(_ name: String) {
        for tag in note.tags where tag.name == name { note.tags.remove(tag) }
    }

    /// Saves all changes of the draft, as one step of undo.
    ///
    /// If they break a rule, nothing is saved, and the draft can be corrected.
    public func keep() throws(NoteError) {
        guard hasChanges else { return }
        do throws(StoreError) {
            try NoteBook.deleteUnusedTags(in: pad)
            try book.keep(pad)
        } catch { throw NoteError(error) }
    }
}
