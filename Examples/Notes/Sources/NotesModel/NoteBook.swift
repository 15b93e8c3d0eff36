public import Roost

/// The notes of one container, with a context of its own.
///
/// A call changes and saves, or throws an error and changes nothing. A book and its context stay in
/// one isolation, because neither is `Sendable`.
public final class NoteBook {
    private let container: PersistentContainer
    let context: ManagedObjectContext

    /// Creates a book.
    public init(_ container: PersistentContainer) {
        self.container = container
        context = container.makeContext("notes")
        context.mergePolicy = .notes
    }

    // MARK: Reading

    /// Returns the notes with a tag whose text contains a word, without regard to case.
    public func list(tag: String? = nil, search: String? = nil) throws(NoteError) -> [NoteLine] {
        var conditions: [FetchRequest.Predicate] = []
        if let tag { conditions.append(.any("tags.name") == tag) }
        if let search { conditions.append(.path(\Note.text).contains(search, options: .caseInsensitive)) }
        var request = Fetch<Note>(where: conditions.isEmpty ? nil : .and(conditions), sortedBy: ["number"])
        // The tags of all notes are read in one step.
        request.prefetching = ["tags"]
        return try attempt { () throws(StoreError) in try context.fetch(request).map(NoteLine.init) }
    }

    /// Returns the tags by name, each with the number of its notes that are not done.
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
            do throws(StoreError) {
                let note = try insert(text, tags: tags, numberedFrom: least)
                least = note.number + 1
                try context.save()
                return NoteLine(note)
            } catch {
                context.rollback()
                // Another program added a note with this number meanwhile.
                guard error.code == .constraintViolation else { throw NoteError(error) }
            }
        }
    }

    /// Marks a note as done.
    public func finish(_ number: Int64) throws(NoteError) {
        try change(number) { note in note.isDone = true }
    }

    /// Replaces the text of a note.
    public func edit(_ number: Int64, text: String) throws(NoteError) {
        try change(number) { note in note.text = text }
    }

    /// Deletes a note, and the tags that no other note has.
    public func delete(_ number: Int64) throws(NoteError) {
        try change(number) { note throws(StoreError) in
            context.delete(note)
            // The fetch sees the delete, which is not saved yet.
            for tag in try context.fetch(Fetch<Tag>(where: "notes.@count == 0")) { context.delete(tag) }
        }
    }

    // MARK: Without a save

    /// Inserts a note.
    func insert(_ text: String, tags: [String], numberedFrom least: Int64 = 1) throws(StoreError) -> Note {
        let last = try context.fetch(Fetch<Note>(sortedBy: [.init("number", ascending: false)], limit: 1)).first
        let note: Note = try context.insert()
        note.number = max(least, (last?.number ?? 0) + 1)
        note.text = text
        for name in tags { note.tags.insert(try tag(name)) }
        return note
    }

    /// Returns the tag with a name, and inserts it if it does not exist.
    private func tag(_ name: String) throws(StoreError) -> Tag {
        if let tag = try context.fetch(Fetch<Tag>(where: "name == \(name)", limit: 1)).first { return tag }
        let tag: Tag = try context.insert()
        tag.name = name
        return tag
    }

    private func change(_ number: Int64, _ body: (Note) throws(StoreError) -> Void) throws(NoteError) {
        try attempt { () throws(StoreError) in
            let found = try context.fetch(Fetch<Note>(where: "number == \(number)", limit: 1))
            guard let note = found.first else {
                throw StoreError(.notFound, "Note \(number) does not exist. Use 'notes list' to see all notes.")
            }
            try body(note)
            try context.save()
        }
    }

    /// Runs `body`, and discards all changes if it fails.
    private func attempt<Result>(_ body: () throws(StoreError) -> Result) throws(NoteError) -> Result {
        do throws(StoreError) { return try body() } catch {
            context.rollback()
            throw NoteError(error)
        }
    }
}

extension MergePolicy {
    /// The policy for notes that two programs change at once.
    ///
    /// - A property that one side changed gets that side's value. If both changed it, the value of
    ///   this program holds.
    /// - A note that the other program deleted stays deleted.
    /// - Two new tags with one name become one.
    /// - Two new notes with one number are refused, so that the program takes the next number.
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
