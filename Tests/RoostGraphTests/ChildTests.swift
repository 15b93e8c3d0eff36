import Foundation
import Roost
import RoostGraph
import Testing

@Suite("Child contexts")
@MainActor
struct ChildTests {
    private func makeParent() throws -> (PersistentContainer, ManagedObjectContext, Album) {
        let container = try Music.container()
        let parent = container.makeContext("parent")
        let artist: Artist = try parent.insert()
        artist.name = "Joni"
        let album: Album = try parent.insert()
        (album.title, album.year, album.artist) = ("Blue", 1971, artist)
        for title in ["one", "two", "three"] {
            let track: Track = try parent.insert()
            track.title = title
            album.tracks.append(track)
        }
        try parent.save()
        return (container, parent, album)
    }

    @Test("a child context saves into its parent; the store changes when the parent saves")
    func oneLevel() throws {
        let (container, parent, album) = try makeParent()
        let child = parent.makeChild("edit")
        let copy = try #require(child.object(album.id))
        #expect(copy !== album && copy.title == "Blue" && copy.artist?.name == "Joni")
        copy.title = "Hejira"
        let track: Track = try child.insert()
        track.title = "four"
        copy.tracks.insert(track, at: 0)
        let removed = copy.tracks[2]
        child.delete(removed)
        let other: Artist = try child.insert()
        other.name = "Neil"
        copy.artist = other
        #expect(album.title == "Blue")
        try child.save()
        #expect(!child.hasChanges && parent.hasChanges && copy.title == "Hejira")
        #expect(album.title == "Hejira" && album.year == 1971 && album.artist?.name == "Neil")
        #expect(album.tracks.map(\.title) == ["four", "one", "three"])
        #expect(Array(album.artist?.albums ?? []) == [album])
        #expect(copy.tracks.map(\.title) == ["four", "one", "three"])
        #expect(try container.makeContext().count(FetchRequest("Track")) == 3)
        try parent.save()
        let fresh = container.makeContext()
        #expect(try fresh.count(FetchRequest("Track")) == 3)
        let saved = try #require(fresh.object(album.id))
        #expect(saved.title == "Hejira" && saved.artist?.name == "Neil")
        #expect(saved.tracks.map(\.title) == ["four", "one", "three"])
    }

    @Test("a child's save calls `didSave` once for each object that it deletes or changes")
    func hooksOfChild() throws {
        let container = try PersistentContainer(.memory, model: Note.model(), types: [Note.self])
        let parent = container.makeContext()
        for title in ["deleted", "changed"] { try (parent.insert() as Note).title = title }
        try parent.save()
        let child = parent.makeChild("edit")
        let notes = try child.fetch(Fetch<Note>(sortedBy: ["title"]))
        var calls: [String] = []
        for (note, name) in zip(notes, ["changed", "deleted"]) { note.onDidSave = { calls.append(name) } }
        notes[0].title = "new"
        child.delete(notes[1])
        try child.save()
        #expect(calls == ["changed", "deleted"])
    }

    @Test("a child context's fetches apply its parent's unsaved changes, then its own")
    func seesParent() throws {
        let (_, parent, album) = try makeParent()
        album.title = "changed"
        let new: Album = try parent.insert()
        (new.title, new.artist) = ("new", album.artist)
        album.tracks.move(from: 2, to: 0)
        parent.delete(album.tracks[1])
        let child = parent.makeChild()
        #expect(try child.count(FetchRequest("Album", where: "title IN {'changed', 'new'}")) == 2)
        let copy = try #require(try child.fetch(Fetch<Album>(where: "title == 'changed'")).first)
        #expect(copy.tracks.map(\.title) == ["three", "two"])
        #expect(copy.artist?.albums.count == 2)
        copy.title = "mine"
        #expect(try child.count(FetchRequest("Album", where: "title == 'changed'")) == 0)
        #expect(try child.count(FetchRequest("Album", where: "title == 'mine'")) == 1)
        #expect(album.title == "changed")
    }

    @Test("a child context's fetch in the background includes its parent's unsaved changes")
    func seesParentInBackground() async throws {
        let (_, parent, album) = try makeParent()
        album.title = "changed"
        let child = parent.makeChild()
        let found = try await child.fetchInBackground(Fetch<Album>(where: "title == 'changed'"))
        #expect(found.map(\.objectID) == [album.objectID])
        #expect(found.first?.title == "changed")
    }

    @Test("a grandchild context saves into its parent, and not into the grandparent")
    func grandchild() throws {
        let (_, parent, album) = try makeParent()
        album.title = "changed"
        let child = parent.makeChild()
        let copy = try #require(child.object(album.id))
        copy.title = "mine"
        let grandchild = child.makeChild()
        #expect(try grandchild.count(FetchRequest("Album", where: "artist.name == 'Joni' AND title == 'mine'")) == 1)
        try #require(grandchild.object(copy.id)).title = "ours"
        try grandchild.save()
        #expect(copy.title == "ours" && album.title == "changed")
    }

    @Test("a child context that is not saved leaves its parent unchanged")
    func discard() throws {
        let (_, parent, album) = try makeParent()
        do {
            let child = parent.makeChild()
            try #require(child.object(album.id)).title = "lost"
            child.processPendingChanges()
        }
        #expect(album.title == "Blue" && !parent.hasChanges)
    }

    @Test("a child context's save is one undo step of its parent")
    func undoOfSave() throws {
        let (_, parent, album) = try makeParent()
        let undo = UndoStack()
        parent.undo = undo
        let child = parent.makeChild("Edit")
        let copy = try #require(child.object(album.id))
        copy.title = "a"
        child.processPendingChanges()
        copy.tracks.move(from: 0, to: 2)
        child.delete(copy.tracks[0])
        try child.save()
        #expect(undo.depth == 1 && undo.undoName == "Edit" && album.tracks.count == 2)
        undo.undo()
        #expect(album.title == "Blue" && album.tracks.map(\.title) == ["one", "two", "three"] && !parent.hasChanges)
        undo.redo()
        #expect(album.title == "a" && album.tracks.map(\.title) == ["three", "one"])
    }

    @Test("a child's save that fails validation changes nothing in the parent")
    func validation() throws {
        let (_, parent, album) = try makeParent()
        let child = parent.makeChild()
        try #require(child.object(album.id)).title = "a"
        let track: Track = try child.insert()
        track.seconds = 0
        #expect { try child.save() } throws: { ($0 as? StoreError)?.code == .validationFailed }
        #expect(!parent.hasChanges && album.title == "Blue" && child.hasChanges)
        track.seconds = 1
        try child.save()
        #expect(album.title == "a" && parent.insertedObjects.count == 1)
    }

    @Test("a child's save throws and names an object that the parent deleted")
    func deletedThere() throws {
        let (_, parent, album) = try makeParent()
        let child = parent.makeChild()
        let copy = try #require(child.object(album.id))
        copy.title = "a"
        parent.delete(album)
        parent.processPendingChanges()
        #expect { try child.save() } throws: { ($0 as? StoreError)?.missingObjects == [album.objectID] }
        child.rollback()
        try child.save()
        try child.refreshAllObjects()
        #expect(try child.count(FetchRequest("Album")) == 0)
    }

    @Test("a child that merges automatically shows its parent's changes after each event")
    func following() throws {
        let (_, parent, album) = try makeParent()
        let child = parent.makeChild()
        child.mergesChangesAutomatically = true
        let copy = try #require(child.object(album.id))
        #expect(copy.title == "Blue")
        copy.year = 2
        album.title = "new"
        parent.delete(album.tracks[0])
        parent.processPendingChanges()
        #expect(copy.title == "new" && copy.year == 2 && copy.tracks.count == 2)
        album.title = "newer"
        parent.processPendingChanges()
        #expect(copy.title == "newer")
    }
}
