import Roost
import RoostCore
import RoostGraph
import Testing

@Suite("Undo in observers and hooks")
@MainActor
struct UndoHookTests {
    @Test("an observer can undo the event that it observes")
    func undoInObserver() throws {
        let (_, context, undo) = try UndoSample.make()
        let album: Album = try context.insert()
        album.title = "good"
        try context.save()
        var heard: [String?] = []
        let token = context.observe { change in
            heard.append(album.title)
            if album.title == "bad" { undo.undo() }
        }
        album.title = "bad"
        withExtendedLifetime(token) { context.processPendingChanges() }
        #expect(album.title == "good" && !context.hasChanges)
        #expect(heard == ["bad", "good"])
        #expect(undo.canRedo)
    }

    @Test("an observer that undoes the event at a group's end does not break later groups")
    func undoAtEndOfGroup() throws {
        let (_, context, undo) = try UndoSample.make()
        let album: Album = try context.insert()
        album.title = "good"
        try context.save()
        undo.removeAll()
        var token: ObservationToken? = context.observe { _ in if album.title == "bad" { undo.undo() } }
        undo.group("bad") { album.title = "bad" }
        token = nil
        _ = token
        #expect(album.title == "good" && undo.depth == 0)
        undo.group("two events") {
            album.title = "a"
            context.processPendingChanges()
            album.title = "b"
        }
        #expect(undo.depth == 1 && undo.undoName == "two events")
        undo.undo()
        #expect(album.title == "good")
    }

    @Test("a hook that calls undo during undo keeps the order of the steps")
    func undoInHook() throws {
        let (_, context, undo) = try UndoSample.make(Note.model(), types: [Note.self])
        let note: Note = try context.insert()
        for title in ["a", "b", "c"] {
            note.title = title
            context.processPendingChanges()
        }
        note.onAwake = { undo.undo() }
        undo.undo()
        note.onAwake = nil
        while undo.canUndo, note.title != "a" { undo.undo() }
        #expect(note.title == "a")
        undo.redo()
        #expect(note.title == "b")
        undo.redo()
        #expect(note.title == "c" && !undo.canRedo)
    }

    @Test("an undo stack that an observer moves to another context during undo has no steps")
    func moveInObserver() throws {
        let (container, context, undo) = try UndoSample.make()
        let other = container.makeContext()
        let album: Album = try context.insert()
        album.title = "one"
        try context.save()
        album.title = "two"
        context.processPendingChanges()
        let token = context.observe { _ in other.undo = undo }
        withExtendedLifetime(token) { undo.undo() }
        #expect(context.undo == nil && other.undo === undo)
        #expect(!undo.canUndo && !undo.canRedo)
        undo.redo()
        #expect(album.title == "one")
    }

    @Test("a reset by an observer during undo leaves no step")
    func resetInObserver() throws {
        let (_, context, undo) = try UndoSample.make()
        let album: Album = try context.insert()
        context.processPendingChanges()
        album.title = "x"
        context.processPendingChanges()
        let token = context.observe { _ in context.reset() }
        withExtendedLifetime(token) { undo.undo() }
        #expect(!undo.canUndo && !undo.canRedo)
        undo.redo()
        #expect(album.context == nil && !context.hasChanges)
    }

    @Test("a didSave hook can undo a deletion that its save made")
    func undoInDidSave() throws {
        let (container, context, undo) = try UndoSample.make(Note.model(), types: [Note.self])
        let (first, second): (Note, Note) = (try context.insert(), try context.insert())
        (first.title, second.title) = ("1", "2")
        try context.save()
        undo.removeAll()
        context.delete(second)
        first.title = "3"
        first.onDidSave = { undo.undo() }
        try context.save()
        first.onDidSave = nil
        #expect(first.title == "1" && second.context === context && second.isInserted)
        try context.save()
        let fresh = container.makeContext()
        #expect(try Set(fresh.fetch(Fetch<Note>()).map(\.title)) == ["1", "2"])
        undo.redo()
        #expect(first.title == "3" && second.isDeleted)
        try context.save()
        #expect(try container.makeContext().fetch(Fetch<Note>()).map(\.title) == ["3"])
    }

    @Test("if an object changes in its own didSave hook, the next save includes the object")
    func changeInDidSave() throws {
        let (container, context, undo) = try UndoSample.make(Note.model(), types: [Note.self])
        let note: Note = try context.insert()
        note.title = "1"
        note.onDidSave = { note.title = "2" }
        try context.save()
        note.onDidSave = nil
        #expect(note.isUpdated && context.hasChanges)
        try context.save()
        #expect(!context.hasChanges && note.version == 2)
        note.title = "3"
        note.onDidSave = { undo.undo() }
        try context.save()
        note.onDidSave = nil
        #expect(note.title == "2")
        try context.save()
        #expect(try container.makeContext().fetch(Fetch<Note>()).map(\.title) == ["2"])
    }

    @Test("the next save deletes an object whose insertion a didSave hook undid")
    func undoInsertionInDidSave() throws {
        let (container, context, undo) = try UndoSample.make(Note.model(), types: [Note.self])
        let note: Note = try context.insert()
        note.title = "1"
        note.onDidSave = { undo.undo() }
        try context.save()
        note.onDidSave = nil
        #expect(note.isDeleted && context.deletedObjects.count == 1)
        try context.save()
        #expect(!context.hasChanges)
        #expect(try container.makeContext().count(FetchRequest("Note")) == 0)
    }
}
