import Foundation
import Roost
import RoostCore
import RoostGraph
import RoostStores
import Testing

@testable import RoostConformance

@Suite("Child contexts under attack")
@MainActor
struct ChildAttackTests {
    enum Owner: Sendable {
        case parent, child, undo, object

        /// The orders in which a test releases the references.
        static let orders: [[Owner]] = [
            [.parent, .child, .undo, .object], [.object, .undo, .child, .parent], [.child, .parent, .object, .undo],
            [.undo, .object, .parent, .child], [.child, .object, .undo, .parent], [.undo, .child, .object, .parent],
        ]
    }

    /// The ways in which a parent can discard a child's save.
    enum Withdrawal: CaseIterable, Sendable { case rollback, reset, undo }

    private func makeParent() throws -> (StoreMeter, PersistentContainer, ManagedObjectContext, Album) {
        let control = StoreMeter()
        let container = try control.makeContainer(.memory)
        let parent = container.makeContext("parent")
        let album: Album = try parent.insert()
        (album.title, album.year) = ("Blue", 1)
        for title in ["one", "two"] {
            let track: Track = try parent.insert()
            track.title = title
            album.tracks.append(track)
        }
        try parent.save()
        return (control, container, parent, album)
    }

    /// Makes a child's save fail after the save has changed the parent.
    private func failSave(_ control: StoreMeter, parent: ManagedObjectContext, album: Album) throws {
        // The parent has read all rows, so only its delete rules read the store.
        let tracks = Array(album.tracks)
        #expect(tracks.allSatisfy { $0.title != nil })
        try parent.refresh(album, mergingChanges: false)
        let child = parent.makeChild()
        defer { withExtendedLifetime(tracks) {} }
        let copy = try #require(child.object(album.id))
        let other: Album = try child.insert()
        other.title = "new"
        child.delete(copy)
        child.processPendingChanges()
        #expect(album.title == "Blue")
        control.failNextRead()
        #expect(throws: StoreError.self) { try child.save() }
        _ = control.endReadFailure()
        #expect(child.hasChanges)
    }

    @Test("with undo disabled, a failed save of a child reverts only the child's changes")
    func disabledStack() throws {
        let (control, _, parent, album) = try makeParent()
        let undo = UndoStack()
        parent.undo = undo
        let track = album.tracks[0]
        track.title = "changed"
        parent.processPendingChanges()
        undo.disable()
        try failSave(control, parent: parent, album: album)
        #expect(track.title == "changed" && !album.isDeleted && parent.insertedObjects.isEmpty)
        #expect(!undo.isEnabled && undo.depth == 1 && !undo.canRedo)
        undo.enable()
        undo.undo()
        #expect(track.title == "one" && !parent.hasChanges)
    }

    @Test("a failed save of a child keeps the parent's open group and redo steps")
    func openGroup() throws {
        let (control, _, parent, album) = try makeParent()
        let undo = UndoStack()
        parent.undo = undo
        let track = album.tracks[0]
        undo.beginGroup("outer")
        track.title = "changed"
        try failSave(control, parent: parent, album: album)
        #expect(track.title == "changed" && !album.isDeleted && parent.insertedObjects.isEmpty)
        track.seconds = 7
        undo.endGroup()
        #expect(undo.depth == 1 && undo.undoName == "outer")
        undo.undo()
        #expect(track.title == "one" && track.seconds == nil && undo.redoName == "outer")
        try failSave(control, parent: parent, album: album)
        #expect(undo.redoName == "outer")
        undo.redo()
        #expect(track.title == "changed" && track.seconds == 7)
    }

    @Test("a save of a child inside an undo group of the parent joins the group")
    func inGroup() throws {
        let (_, _, parent, album) = try makeParent()
        let undo = UndoStack()
        parent.undo = undo
        try undo.group("outer") {
            album.year = 2
            let child = parent.makeChild("inner")
            try #require(child.object(album.id)).title = "x"
            try child.save()
            album.year = 3
        }
        #expect(undo.depth == 1 && undo.undoName == "outer" && album.title == "x")
        undo.undo()
        #expect(album.title == "Blue" && album.year == 1 && !parent.hasChanges)
    }

    @Test("a save of a child cannot be undone if the parent's undo was disabled")
    func whileDisabled() throws {
        let (_, _, parent, album) = try makeParent()
        let undo = UndoStack()
        parent.undo = undo
        album.year = 2
        parent.processPendingChanges()
        undo.disable()
        let child = parent.makeChild("inner")
        try #require(child.object(album.id)).title = "x"
        try child.save()
        undo.enable()
        #expect(undo.depth == 1)
        undo.undo()
        #expect(album.title == "x" && album.year == 1)
    }

    @Test("an object that a child inserts again is also inserted in its parent")
    func insertedAgain() throws {
        let (_, container, parent, album) = try makeParent()
        let child = parent.makeChild()
        let undo = UndoStack()
        child.undo = undo
        let copy = try #require(child.object(album.id))
        #expect(copy.tracks.count == 2)
        child.delete(copy)
        try child.save()
        try parent.save()
        let id = copy.objectID
        let fault = parent.object(with: id)
        undo.undo()
        #expect(copy.isInserted && copy.title == "Blue" && copy.tracks.count == 2)
        try child.save()
        #expect(parent.insertedObjects.count == 3)
        try parent.save()
        let fresh = container.makeContext()
        #expect(try fresh.fetch(Fetch<Album>()).map { $0.tracks.map(\.title) } == [["one", "two"]])
        _ = fault
    }

    @Test("a transformable attribute of the parent shows what a child saved")
    func transformable() throws {
        let container = try PersistentContainer(.memory, model: try Note.model(), types: [Note.self])
        let parent = container.makeContext()
        let note: Note = try parent.insert()
        (note.tags, note.cached) = (["a"], "x")
        try parent.save()
        #expect(note.tags == ["a"])
        let child = parent.makeChild()
        let copy = try #require(try child.fetch(Fetch<Note>()).first)
        copy.tags = ["b"]
        try child.save()
        #expect(note.tags == ["b"])
        try parent.save()
        #expect(try container.makeContext().fetch(Fetch<Note>()).map(\.tags) == [["b"]])
    }

    @Test("a child's reference to an object that the parent deleted is null after the save")
    func deletedDestination() throws {
        let (_, container, parent, album) = try makeParent()
        let artist: Artist = try parent.insert()
        artist.name = "a"
        try parent.save()
        let child = parent.makeChild()
        let (copy, new): (Artist, Artist) = (try #require(child.object(artist.id)), try child.insert())
        new.name = "b"
        copy.favorite = child.object(album.id)
        new.favorite = child.object(album.id)
        parent.delete(album)
        parent.processPendingChanges()
        try child.save()
        #expect(artist.favorite == nil)
        try parent.save()
        #expect(try container.makeContext().fetch(Fetch<Artist>()).map { $0["favorite"] } == [.null, .null])
    }

    @Test("an observer of the parent can undo the save of a child")
    func undoInObserver() throws {
        let (_, _, parent, album) = try makeParent()
        let undo = UndoStack()
        parent.undo = undo
        let child = parent.makeChild()
        let copy = try #require(child.object(album.id))
        let token = parent.observe { _ in if album.title == "bad" { undo.undo() } }
        copy.title = "bad"
        try withExtendedLifetime(token) { try child.save() }
        #expect(album.title == "Blue" && !parent.hasChanges && !undo.canUndo && undo.canRedo)
    }

    @Test("an observer of the parent can save another child during the save of a child")
    func saveInObserver() throws {
        let (_, _, parent, album) = try makeParent()
        let undo = UndoStack()
        parent.undo = undo
        let (child, second) = (parent.makeChild(), parent.makeChild())
        try #require(second.object(album.id)).year = 9
        let copy = try #require(child.object(album.id))
        let token = parent.observe { _ in if second.hasChanges { try? second.save() } }
        copy.title = "good"
        try withExtendedLifetime(token) { try child.save() }
        #expect(album.title == "good" && album.year == 9)
        while undo.canUndo { undo.undo() }
        #expect(album.title == "Blue" && album.year == 1 && !parent.hasChanges)
    }

    @Test("temporary keys become final in grandchildren and in their undo steps")
    func temporaryKeys() throws {
        let (control, container, parent, album) = try makeParent()
        control.setReservesKeys(false)
        let child = parent.makeChild()
        let grandchild = child.makeChild()
        let undo = UndoStack()
        grandchild.undo = undo
        let copy = try #require(grandchild.object(album.id))
        let artist: Artist = try grandchild.insert()
        artist.name = "a"
        grandchild.processPendingChanges()
        copy.artist = artist
        artist.favorite = copy
        artist.friends.insert(artist)
        let track: Track = try grandchild.insert()
        copy.tracks.insert(track, at: 0)
        try grandchild.save()
        undo.undo()
        undo.redo()
        try grandchild.save()
        try child.save()
        control.setReservesKeys(true)
        try parent.save()
        #expect(artist.objectID.key > 0 && copy.artist === artist && copy.tracks.first === track)
        #expect(album.artist?.objectID == artist.objectID && Array(artist.friends) == [artist])
        undo.undo()
        #expect(copy.artist == nil && artist.favorite == nil && artist.friends.isEmpty && copy.tracks.count == 2)
        undo.redo()
        #expect(copy.artist === artist && copy.tracks.first === track)
        undo.undo()
        try grandchild.save()
        try child.save()
        try parent.save()
        let fresh = container.makeContext()
        #expect(try fresh.count(FetchRequest("Artist", where: "favorite == NULL")) == 1)
        #expect(try fresh.fetch(Fetch<Track>()).count == 2)
    }

    @Test("a child, its parent, its objects and its undo stack can be released in any order", arguments: Owner.orders)
    func ends(order: [Owner]) throws {
        let (_, container, first, original) = try makeParent()
        var parent: ManagedObjectContext? = first
        let id = original.id
        var child: ManagedObjectContext? = first.makeChild()
        var undo: UndoStack? = UndoStack()
        child?.undo = undo
        var copy = child?.object(id)
        copy?.title = "x"
        copy?.tracks.move(from: 1, to: 0)
        child?.processPendingChanges()
        undo?.undo()
        for owner in order {
            switch owner {
            case .parent: parent = nil
            case .child: child = nil
            case .undo: undo = nil
            case .object: copy = nil
            }
            undo?.redo()
            undo?.undo()
            if let child { _ = try child.fetch(Fetch<Album>()) }
            if let copy, copy.context != nil { #expect(copy.title == "Blue") }
        }
        #expect(try container.makeContext().count(FetchRequest("Album")) == 1)
        _ = parent
    }

    @Test(
        "a child cannot save an object that its parent discarded by rollback, reset or undo",
        arguments: Withdrawal.allCases)
    func rolledBack(by withdrawal: Withdrawal) throws {
        let (_, _, parent, _) = try makeParent()
        let undo = UndoStack()
        parent.undo = undo
        let child = parent.makeChild()
        let new: Album = try child.insert()
        new.title = "new"
        try child.save()
        #expect(parent.insertedObjects.count == 1)
        switch withdrawal {
        case .rollback: parent.rollback()
        case .reset: parent.reset()
        case .undo: undo.undo()
        }
        new.title = "newer"
        #expect { try child.save() } throws: { ($0 as? StoreError)?.missingObjects == [new.objectID] }
        #expect(!parent.hasChanges)
        if withdrawal == .undo {
            undo.redo()
            try child.save()
            #expect(parent.insertedObjects.map { $0["title"] } == [.string("newer")])
            undo.undo()
            undo.undo()
            #expect(!parent.hasChanges)
        }
        child.reset()
        #expect(try child.count(FetchRequest("Album")) == 1)
    }
}
