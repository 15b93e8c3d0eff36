/// The values of a note, which can leave the isolation of the book.
public struct NoteLine: Sendable, Hashable {
    /// The number of the note.
    public let number: Int64
    /// The text of the note.
    public let text: String
    /// Whether the note is done.
    public let isDone: Bool
    /// The names of the tags, in order.
    public let tags: [String]

    init(number: Int64, text: String, isDone: Bool, tags: [String]) {
        (self.number, self.text, self.isDone, self.tags) = (number, text, isDone, tags)
    }

    init(_ note: Note) {
        (number, text, isDone) = (note.number, note.text, note.isDone)
        tags = note.tags.map(\.name).sorted()
    }
}

/// The values of a tag.
public struct TagLine: Sendable, Hashable {
    /// The name of the tag.
    public let name: String
    /// The number of unfinished notes with the tag.
    public let openCount: Int
}
