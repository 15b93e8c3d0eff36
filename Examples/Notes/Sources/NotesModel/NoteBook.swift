public import Roost

/// The notes of one container, in a separate context.
///
/// Each method saves its changes, or throws an error and changes nothing. ``undo()`` reverts a
/// change.
///
/// A book and its context stay in one isolation, because neither is `Sendable`.
public final class NoteBook {
    private let container: PersistentContainer
    private let history = UndoStack(limit: 100)
    let context: ManagedObjectContext

    /// Creates a book.
    public init(_ container: PersistentContainer) {
        self.container = container
        context = container.makeContext("notes")
        context.mergePolicy = .notes
        // Undo keeps notes in memory. Merging updates them when another program changes them.
        context.mergesChangesAutomatically = true
        context.undo = history
    }

    // MARK: Reading

    /// Returns the notes that have `tag` and contain `search`, ignoring case, sorted by number.
    public func list(tag: String? = nil, search: String? = nil) throws(NoteError) -> [NoteLine] {
        var conditions: [FetchRequest.Predicate] = []
        if let tag { conditions.append(.any("tags.name") == tag) }
        if let search { conditions.append(.path(\Note.text).contains(search, options: .caseInsensitive)) }
        var request = Fetch<Note>(where: conditions.isEmpty ? nil : .and(conditions), sortedBy: ["number"])
        // The tags of all notes are read in one step.
        request.prefetching = ["tags"]
        return try attempt { () throws(StoreError) in try context.fetch(request).map(NoteLine.init) }
    }

    /// Returns the tags, sorted by name, each with the number of its notes that are not done.
    public func tags() throws(NoteError) -> [TagLine] {
        try attempt { () throws(StoreError) in
            try context.fetch(Fetch<Tag>(sortedBy: ["name"])).map { tag in
                TagLine(name: tag.name, openCount: tag.notes.count { !$0.isDone })
            }
        }
    }

    // MARK: Changing

    /// Adds a note with the next number.
    @discardableResult
    public func add(_ text: String, tags: [String] = []) throws(NoteError) -> NoteLine {
        var least: Int64 = 1
        while true {
            let pad = context.makeChild()
            do throws(StoreError) {
                let note = try insert(text, tags: tags, numberedFrom: least, in: pad)
                least = note.number + 1
                pad.name = "add \(note.number)"
                try keep(pad)
                return NoteLine(note)
            } catch {
                // Another program added a note with this number meanwhile.
                guard error.code == .constraintViolation else { throw NoteError(error) }
            }
        }
    }

    /// Marks a note as done.
    public func finish(_ number: Int64) throws(NoteError) {
        try change(number, name: "done") { note, _ in note.isDone = true }
    }

    /// Replaces the text of a note.
    public func edit(_ number: Int64, text: String) throws(NoteError) {
        try change(number, name: "edit") { note, _ in note.text = text }
    }

    /// Deletes a note, and the tags that no other note has.
    public func delete(_ number: Int64) throws(NoteError) {
        try change(number, name: "delete") { note, pad throws(StoreError) in
            pad.delete(note)
            try Self.deleteUnusedTags(in: pad)
        }
    }

    /// Returns a draft of a note, for several changes that are saved together.
    public func draft(_ number: Int64) throws(NoteError) -> Draft {
        try attempt { () throws(StoreError) in
            let pad = context.makeChild("draft \(number)")
            return Draft(try note(number, in: pad), pad: pad, book: self)
        }
    }

    private func change(
        _ number: Int64, name: String, _ body: (Note, ManagedObjectContext) throws(StoreError) -> Void
    ) throws(NoteError) {
        try attempt { () throws(StoreError) in
            let pad = context.makeChild("\(name) \(number)")
            try body(try note(number, in: pad), pad)
            try keep(pad)
        }
    }

    // MARK: Undo

    /// Reverts the last change.
    ///
    /// - Returns: The name of the change, such as "edit 2".
    public func undo() throws(NoteError) -> String {
        guard let name = history.undoName else { throw NoteError("There is nothing to undo.") }
        return try attempt { () throws(StoreError) in
            history.undo()
            try save(orElse: history.redo)
            return name
        }
    }

    /// Repeats the change that was reverted last.
    ///
    /// - Returns: The name of the change.
    public func redo() throws(NoteError) -> String {
        guard let name = history.redoName else { throw NoteError("There is nothing to redo.") }
        return try attempt { () throws(StoreError) in
            history.redo()
            try save(orElse: history.undo)
            return name
        }
    }

    // MARK: Scratch pads

    /// Saves the changes of a scratch pad, which become one step of undo.
    ///
    /// The pad checks the changes first. If they break a rule, they remain in the pad.
    func keep(_ pad: ManagedObjectContext) throws(StoreError) {
        guard pad.hasChanges else { return }
        try pad.save()
        try save(orElse: history.undo)
    }

    /// Saves the context.
    ///
    /// If the store refuses the save, calls `restore`.
    private func save(orElse restore: () -> Void) throws(StoreError) {
        do throws(StoreError) { try context.save() } catch {
            restore()
            throw error
        }
    }

    func insert(
        _ text: String, tags: [String], numberedFrom least: Int64 = 1, in pad: ManagedObjectContext
    ) throws(StoreError) -> Note {
        let last = try pad.fetch(Fetch<Note>(sortedBy: [.init("number", ascending: false)], limit: 1)).first
        let note: Note = try pad.insert()
        note.number = max(least, (last?.number ?? 0) + 1)
        note.text = text
        for name in tags { note.tags.insert(try Self.tag(name, in: pad)) }
        return note
    }

    private func note(_ number: Int64, in pad: ManagedObjectContext) throws(StoreError) -> Note {
        let found = try pad.fetch(Fetch<Note>(where: "number == \(number)", limit: 1))
        guard let note = found.first else {
            throw StoreError(.notFound, "Note \(number) does not exist. Use 'notes list' to see all notes.")
        }
        return note
    }

    /// Returns the tag with the given name, inserted if necessary.
    static func tag(_ name: String, in pad: ManagedObjectContext) throws(StoreError) -> Tag {
        if let tag = try pad.fetch(Fetch<Tag>(where: "name == \(name)", limit: 1)).first { return tag }
        let tag: Tag = try pad.insert()
        tag.name = name
        return tag
    }

    /// Deletes the tags that no note has.
    static func deleteUnusedTags(in pad: ManagedObjectContext) throws(StoreError) {
        // The fetch includes unsaved changes.
        for tag in try pad.fetch(Fetch<Tag>(where: "notes.@count == 0")) { pad.delete(tag) }
    }

    private func attempt<Result>(_ body: () throws(StoreError) -> Result) throws(NoteError) -> Result {
        do throws(StoreError) { return try body() } catch { throw NoteError(error) }
    }
}

extension MergePolicy {
    /// The policy for notes that two programs change at once.
    ///
    /// - A property that one side changed gets that side's value. If both changed it, this
    ///   program's value is used.
    /// - A note that either program deleted is deleted.
    /// - Two new tags with one name become one.
    /// - A new note with a stored note's number is refused; this program uses the next number.
    static let notes = MergePolicy(
        "notes",
        resolve: { conflict in
            guard let mine = conflict.mine else { return .delete }
            guard var values = conflict.theirs else { return .acceptTheirs }
            for name in conflict.changedHere { values[name] = mine[name] ?? .null }
            return .keep(values)
        },
        resolveConstraint: { conflict in conflict.attributes == ["name"] ? .keepStored : .fail })
}
