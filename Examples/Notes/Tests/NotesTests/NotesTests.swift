import Foundation
import Roost
import Testing

@testable import NotesModel

/// A store in a temporary directory, which is removed at the end of the test.
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

    @Test("notes are listed by number, by tag and by a word of their text", arguments: types)
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

    @Test("a new note has a text without white space at the ends", arguments: types)
    func trimming(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        try book.add("  Buy milk\n")
        #expect(try book.list().map(\.text) == ["Buy milk"])
        #expect(throws: NoteError.self) { try book.add("   ") }
        #expect(try book.list().count == 1)
    }

    @Test("notes are in the store after their book is released", arguments: types)
    func saving(type: String) throws {
        let store = try TestStore(type)
        try NoteBook(store.container).add("Buy milk", tags: ["shop"])
        let lines = try NoteBook(store.container).list()
        #expect(lines.map(\.text) == ["Buy milk"])
        #expect(lines.map(\.tags) == [["shop"]])
    }

    @Test("notes are finished, edited and deleted, and unused tags are deleted", arguments: types)
    func changing(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        for text in ["a", "b"] { try book.add(text, tags: ["x", text]) }
        try book.finish(1)
        try book.edit(2, text: "c")
        #expect(try book.list().map(\.isDone) == [true, false])
        #expect(try book.list().map(\.text) == ["a", "c"])
        #expect(try book.tags() == [tag("a", open: 0), tag("b", open: 1), tag("x", open: 1)])
        try book.delete(2)
        #expect(try book.list().map(\.number) == [1])
        #expect(try book.tags() == [tag("a", open: 0), tag("x", open: 0)])
        #expect(throws: NoteError.self) { try book.edit(2, text: "d") }
    }

    @Test("a note that breaks a rule is not saved, and the error has a remedy", arguments: types)
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

    @Test("a note that two programs change at once keeps the changes of both", arguments: types)
    func merging(type: String) throws {
        let store = try TestStore(type)
        let (first, second) = (NoteBook(store.container), NoteBook(store.container))
        try first.add("a")
        let note = try #require(try first.context.fetch(Fetch<Note>()).first)
        try second.finish(1)
        // The first book still has the old values of the note, so its save finds a conflict.
        note.text = "b"
        try first.context.save()
        let lines = try NoteBook(store.container).list()
        #expect(lines.map(\.text) == ["b"])
        #expect(lines.map(\.isDone) == [true])
    }

    @Test("notes that two programs add at once have different numbers and share a tag", arguments: types)
    func adding(type: String) throws {
        let store = try TestStore(type)
        let (first, second) = (NoteBook(store.container), NoteBook(store.container))
        let pad = first.context.makeChild("add")
        _ = try first.insert("a", tags: ["new"], numberedFrom: 10, in: pad)
        try second.add("b", tags: ["new"])
        try first.keep(pad)
        #expect(try second.list(tag: "new").map(\.text) == ["b", "a"])
        #expect(try second.tags() == [tag("new", open: 2)])

        let other = first.context.makeChild("add")
        let note = try first.insert("c", tags: [], in: other)
        try second.add("d")
        #expect(note.number == 11)
        let error = #expect(throws: StoreError.self) { try first.keep(other) }
        #expect(error?.code == .constraintViolation)
        #expect(!first.context.hasChanges)
        #expect(try first.add("c").number == 12)
        // The shared tag remains, because the other program's note has it.
        for name in ["add 12", "add"] { #expect(try first.undo() == name) }
        #expect(try second.list(tag: "new").map(\.text) == ["b"])
        #expect(try second.list().map(\.text) == ["b", "d"])
    }

    @Test("undo reverts saved changes and redo repeats them, and both are saved", arguments: types)
    func undoing(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        #expect(throws: NoteError.self) { try book.undo() }
        try book.add("Buy milk", tags: ["shop", "today"])
        try book.add("Call Ada", tags: ["today"])
        let lines = try book.list()
        try book.finish(1)
        try book.edit(2, text: "Call Grace")
        try book.delete(1)
        #expect(try book.tags() == [tag("today", open: 1)])
        #expect(try book.undo() == "delete 1")
        #expect(try book.tags() == [tag("shop", open: 0), tag("today", open: 1)])
        #expect(try book.undo() == "edit 2")
        #expect(try book.undo() == "done 1")
        #expect(try book.list() == lines)
        #expect(try NoteBook(store.container).list() == lines)
        #expect(try book.redo() == "done 1")
        #expect(try book.list().map(\.isDone) == [true, false])
        #expect(try book.list().map(\.text) == ["Buy milk", "Call Ada"])
        for name in ["done 1", "add 2", "add 1"] { #expect(try book.undo() == name) }
        #expect(try NoteBook(store.container).list().isEmpty)
        for name in ["add 1", "add 2"] { #expect(try book.redo() == name) }
        #expect(try NoteBook(store.container).list() == lines)
        // A new change clears the redo steps.
        try book.finish(2)
        #expect(throws: NoteError.self) { try book.redo() }
    }

    @Test("a change that fails adds no undo step", arguments: types)
    func mistakes(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        try book.add("a")
        try book.edit(1, text: "b")
        #expect(throws: NoteError.self) { try book.edit(1, text: "") }
        #expect(throws: NoteError.self) { try book.finish(7) }
        #expect(try book.list().map(\.text) == ["b"])
        #expect(try book.undo() == "edit 1")
        #expect(try book.list().map(\.text) == ["a"])
    }

    @Test("undo keeps what another program changed", arguments: types)
    func undoingBesideOthers(type: String) throws {
        let store = try TestStore(type)
        let (first, second) = (NoteBook(store.container), NoteBook(store.container))
        try first.add("a")
        try first.edit(1, text: "b")
        try second.finish(1)
        #expect(try first.undo() == "edit 1")
        let lines = try NoteBook(store.container).list()
        #expect(lines.map(\.text) == ["a"])
        #expect(lines.map(\.isDone) == [true])

        // Another note has the deleted note's number now, so the delete cannot be reverted.
        try first.delete(1)
        try second.add("c")
        let error = #expect(throws: NoteError.self) { try first.undo() }
        #expect(error?.description == "Another note has the same number by now.")
        #expect(try first.list().map(\.text) == ["c"])
        try second.delete(1)
        #expect(try first.undo() == "delete 1")
        #expect(try second.list().map(\.text) == ["a"])
    }

    @Test("a draft changes its note when it is kept, in one undo step", arguments: types)
    func drafts(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        try book.add("Buy milk", tags: ["shop", "today"])
        let before = try book.list()
        let draft = try book.draft(1)
        draft.text = "Buy bread"
        draft.isDone = true
        draft.removeTag("today")
        try draft.addTag("soon")
        #expect(draft.line == NoteLine(number: 1, text: "Buy bread", isDone: true, tags: ["shop", "soon"]))
        #expect(try book.list() == before)
        try draft.keep()
        #expect(try book.list() == [draft.line])
        #expect(try NoteBook(store.container).list() == [draft.line])
        #expect(try book.tags().map(\.name) == ["shop", "soon"])
        #expect(try book.undo() == "draft 1")
        #expect(try book.list() == before)
        #expect(try book.tags().map(\.name) == ["shop", "today"])
        #expect(try book.redo() == "draft 1")
        #expect(try book.list() == [draft.line])
    }

    @Test("a draft that is discarded does not change its note", arguments: types)
    func discarding(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        try book.add("Buy milk", tags: ["shop"])
        let before = try book.list()
        var draft: Draft? = try book.draft(1)
        draft?.text = "Buy bread"
        try draft?.addTag("soon")
        draft = nil
        #expect(try book.list() == before)
        #expect(try book.tags().map(\.name) == ["shop"])
        #expect(try book.undo() == "add 1")
    }

    @Test("a draft that cannot be kept can be corrected", arguments: types)
    func mending(type: String) throws {
        let store = try TestStore(type)
        let book = NoteBook(store.container)
        try book.add("Buy milk", tags: ["shop"])
        let before = try book.list()
        let draft = try book.draft(1)
        draft.text = " "
        try draft.addTag("Two Words")
        #expect(throws: NoteError.self) { try draft.keep() }
        #expect(try book.list() == before)
        #expect(draft.hasChanges)
        draft.text = "Buy bread"
        draft.removeTag("Two Words")
        try draft.keep()
        #expect(try book.list() == [NoteLine(number: 1, text: "Buy bread", isDone: false, tags: ["shop"])])
        #expect(try book.tags().map(\.name) == ["shop"])

        let late = try book.draft(1)
        late.text = "late"
        try book.delete(1)
        let error = #expect(throws: NoteError.self) { try late.keep() }
        #expect(error?.description == "The note was deleted meanwhile. Discard the draft.")
        #expect(try book.list().isEmpty)
    }

    private func tag(_ name: String, open openCount: Int) -> TagLine { TagLine(name: name, openCount: openCount) }
}
