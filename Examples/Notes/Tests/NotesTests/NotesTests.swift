import Foundation
import Roost
import Testing

@testable import NotesModel

/// A store in a directory of its own, which is removed at the end of the test.
final class TestStore {
    let container: PersistentContainer
    private let directory: URL

    init(_ type: String) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let store = type == "memory" ? "memory:" : "\(type):notes.\(type)"
        container = try PersistentContainer.notes(
            RoostConfiguration(workingDirectory: directory.path, environment: ["ROOST_STORE": store]))
    }

    deinit {
        try? container.close()
        try? FileManager.default.removeItem(at: directory)
    }
}

@Suite("Notes")
struct NotesTests {
    static let types = ["sqlite", "lmdb", "json", "memory"]

    @Test("are listed by number, by tag and by a word of their text", arguments: types)
    func listing(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        try book.add("Buy milk", tags: ["shop", "today"])
        try book.add("Call Ada", tags: ["today"])
        try book.add("Read")
        #expect(try book.list().map(\.number) == [1, 2, 3])
        #expect(try book.list(tag: "today").map(\.text) == ["Buy milk", "Call Ada"])
        #expect(try book.list(search: "MILK").map(\.tags) == [["shop", "today"]])
        #expect(try book.list(tag: "today", search: "ada").map(\.number) == [2])
        #expect(try book.list(tag: "nothing").isEmpty)
    }

    @Test("have texts without white space at the ends", arguments: types)
    func trimming(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        try book.add("  Buy milk\n")
        #expect(try book.list().map(\.text) == ["Buy milk"])
        #expect(throws: NoteError.self) { try book.add("   ") }
        #expect(try book.list().count == 1)
    }

    @Test("are in the store after their book ended", arguments: types)
    func saving(type: String) throws {
        let store = try TestStore(type)
        try NoteBook(store.container).add("Buy milk", tags: ["shop"])
        let lines = try NoteBook(store.container).list()
        #expect(lines.map(\.text) == ["Buy milk"])
        #expect(lines.map(\.tags) == [["shop"]])
    }

    @Test("are finished, edited and deleted", arguments: types)
    func changing(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        for text in ["a", "b"] { try book.add(text, tags: ["x", text]) }
        try book.finish(1)
        try book.edit(2, text: "c")
        #expect(try book.list().map(\.isDone) == [true, false])
        #expect(try book.list().map(\.text) == ["a", "c"])
        #expect(try book.tags() == [tag("a", 0), tag("b", 1), tag("x", 1)])
        try book.delete(2)
        #expect(try book.list().map(\.number) == [1])
        // A tag that no note has is deleted with its last note.
        #expect(try book.tags() == [tag("a", 0), tag("x", 0)])
        #expect(throws: NoteError.self) { try book.edit(2, text: "d") }
    }

    @Test("that break a rule change nothing, and the error has a remedy", arguments: types)
    func rules(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        let error = #expect(throws: NoteError.self) { try book.add("", tags: ["Two Words"]) }
        let reasons = Set(error?.description.split(separator: "\n").map(String.init) ?? [])
        #expect(
            reasons == [
                "The note is empty. Write a text.", "A tag is not valid. Use small letters, digits and hyphens.",
            ])
        #expect(throws: NoteError.self) { try book.add(String(repeating: "long", count: 51)) }
        #expect(try book.list().isEmpty)
        #expect(try book.tags().isEmpty)
    }

    @Test("that two programs change at once keep the changes of both", arguments: types)
    func merging(type: String) throws {
        let store = try TestStore(type)
        let (first, second) = (NoteBook(store.container), NoteBook(store.container))
        try first.add("a")
        let note = try #require(try first.context.fetch(Fetch<Note>()).first)
        try second.finish(1)
        // The first book has read the note before, so that its save finds a conflict.
        note.text = "b"
        try first.context.save()
        let lines = try NoteBook(store.container).list()
        #expect(lines.map(\.text) == ["b"])
        #expect(lines.map(\.isDone) == [true])
    }

    @Test("that two programs add at once have numbers of their own, and share a new tag", arguments: types)
    func adding(type: String) throws {
        let store = try TestStore(type)
        let (first, second) = (NoteBook(store.container), NoteBook(store.container))
        _ = try first.insert("a", tags: ["new"], numberedFrom: 10)
        try second.add("b", tags: ["new"])
        try first.context.save()
        #expect(try second.list(tag: "new").map(\.text) == ["b", "a"])
        #expect(try second.tags() == [tag("new", 2)])

        let note = try first.insert("c", tags: [])
        try second.add("d")
        #expect(note.number == 11)
        let error = #expect(throws: StoreError.self) { try first.context.save() }
        #expect(error?.code == .constraintViolation)
        first.context.rollback()
        #expect(try first.add("c").number == 12)
    }

    private func tag(_ name: String, _ openCount: Int) -> TagLine { TagLine(name: name, openCount: openCount) }
}
