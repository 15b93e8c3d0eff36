import Foundation
import Roost
import RoostGraph
import Testing

/// The code of `docs/undo.md`.
extension ArticleTests {
    @Test("undo takes back the changes of an event, and redo repeats them")
    func steps() throws {
        try onEachBackend { _, context, album in
            let undo = UndoStack(limit: 100)
            context.undo = undo
            album.title = "Hejira"
            album.year = 1976
            undo.undo()
            #expect(album.title == "Blue" && album.year == 1971 && !context.hasChanges)
            undo.redo()
            #expect(album.title == "Hejira" && album.year == 1976)

            album.title = "Mingus"
            context.processPendingChanges()
            album.year = 1979
            context.processPendingChanges()
            #expect(undo.depth == 3)
        }
    }

    @Test("a group of events is one undo step with a name")
    func groups() throws {
        try onEachBackend { _, context, album in
            let undo = UndoStack()
            context.undo = undo
            album.title = "Mingus"
            context.processPendingChanges()
            album.year = 1979
            context.processPendingChanges()
            undo.group("Rename") {
                album.title = "Court and Spark"
                context.processPendingChanges()
                album.year = 1974
            }
            let command = undo.canUndo ? "Undo \(undo.undoName ?? "")" : "Undo"
            #expect(command == "Undo Rename")
            undo.undo()
            #expect(album.title == "Mingus" && album.year == 1979)
            #expect(undo.redoName == "Rename" && undo.canRedo)
            album.isLive = true
            #expect(!undo.canRedo && undo.depth == 3)
        }
    }

    @Test("undo skips changes that were made without tracking, and a rollback removes all steps")
    func untracked() throws {
        try onEachBackend { _, context, album in
            let undo = UndoStack()
            context.undo = undo
            for year in [1976, 1979, 1974] as [Int16] {
                album.year = year
                context.processPendingChanges()
            }
            album.isLive = true
            #expect(undo.depth == 4)
            undo.disable()
            album.rating = 4.5
            undo.enable()
            undo.undo()
            #expect(album.rating == 4.5 && !album.isLive)
            context.withoutTracking { album.cover = Data([1]) }
            #expect(undo.depth == 3)
            context.rollback()
            #expect(!undo.canUndo && !undo.canRedo)
        }
    }

    @Test("undo of a delete also restores the objects that delete rules deleted", arguments: [false, true])
    func undoneDelete(isSaved: Bool) throws {
        try onEachBackend { container, context, album in
            let undo = UndoStack()
            context.undo = undo
            let artist = try #require(album.artist)
            let id = album.id
            if isSaved {
                context.delete(artist)
                try context.save()
                undo.undo()
                try context.save()
            } else {
                context.delete(artist)
                undo.undo()
                #expect(!context.hasChanges)
            }
            #expect(album.artist === artist && Array(artist.albums) == [album] && album.id == id)
            #expect(album.tracks.map(\.title) == ["All I Want", "Carey", "River"])
            let other = container.makeContext()
            let copy = try other.existingObject(id)
            #expect(copy.tracks.map(\.title) == ["All I Want", "Carey", "River"])
        }
    }

    @Test("undo of saved changes keeps what other contexts saved")
    func undoneSaves() throws {
        try onEachBackend { container, context, album in
            let undo = UndoStack()
            context.undo = undo
            context.mergesChangesAutomatically = true
            album.title = "Hejira"
            try context.save()
            let other = container.makeContext()
            try other.existingObject(album.id).year = 1976
            try other.save()
            context.processPendingChanges()
            #expect(undo.depth == 1)
            undo.undo()
            #expect(album.title == "Blue" && album.year == 1976 && album.isUpdated)
            try context.save()
            undo.redo()
            #expect(album.title == "Hejira" && album.year == 1976)
        }
    }

    @Test("undo replaces a value that another context saved since the step")
    func undoneSaveOfOneProperty() throws {
        try onEachBackend { container, context, album in
            let undo = UndoStack()
            context.undo = undo
            context.mergesChangesAutomatically = true
            album.title = "Hejira"
            try context.save()
            let other = container.makeContext()
            try other.existingObject(album.id).title = "Mingus"
            try other.save()
            context.processPendingChanges()
            #expect(album.title == "Mingus")
            undo.undo()
            #expect(album.title == "Blue")
        }
    }

    @Test("a save that fails keeps the changes and their undo steps")
    func failedSave() throws {
        try onEachBackend { _, context, album in
            let undo = UndoStack()
            context.undo = undo
            album.title = "Hejira"
            try context.save()
            undo.undo()
            album.artist?.name = String(repeating: "long", count: 20)
            #expect(throws: StoreError.self) { try context.save() }
            #expect(undo.depth == 1 && album.title == "Blue")
            undo.undo()
            try context.save()
        }
    }

    @Test("undo does not restore an object that another context deleted")
    func undoneSaveOfDeletedObject() throws {
        try onEachBackend { container, context, album in
            let undo = UndoStack()
            context.undo = undo
            context.mergesChangesAutomatically = true
            album.title = "Hejira"
            try context.save()
            let other = container.makeContext()
            other.delete(try other.existingObject(album.id))
            try other.save()
            context.processPendingChanges()
            #expect(album.isDeleted && undo.depth == 1)
            undo.undo()
            #expect(album.isDeleted && !context.hasChanges)
            #expect(try container.makeContext().count(Fetch<Album>()) == 0)
        }
    }

    @Test("redo does not restore an object that another context deleted")
    func deletedElsewhere() throws {
        try onEachBackend { container, context, album in
            let undo = UndoStack()
            context.undo = undo
            context.mergesChangesAutomatically = true
            album.year = 1
            context.processPendingChanges()
            let other = container.makeContext()
            other.delete(try other.existingObject(album.id))
            undo.undo()
            try other.save()
            context.processPendingChanges()
            undo.redo()
            #expect(album.isDeleted && !context.hasChanges)
        }
    }

    @Test("undo and rollback call awake(from:) on the objects that they change")
    func awaking() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Square", attributes: [.double("width", isOptional: false, default: 1)])
        ])
        let container = try PersistentContainer(.memory, model: model, types: [Square.self])
        let context = container.makeContext()
        let undo = UndoStack()
        context.undo = undo
        let square: Square = try context.insert()
        context.processPendingChanges()
        square.width = 3
        #expect(square.area == 9)
        undo.undo()
        #expect(square.area == 1)
        try context.save()
        square.width = 5
        #expect(square.area == 25)
        context.rollback()
        #expect(square.area == 1)
    }

    @Test("a scratch pad's save changes its parent, and the parent's save changes the store")
    func pads() throws {
        try onEachBackend { container, context, album in
            let undo = UndoStack()
            context.undo = undo
            let pad = context.makeChild("Edit Album")
            let draft = try pad.existingObject(album.id)
            draft.title = "Hejira"
            draft.tracks.move(from: 2, to: 0)
            #expect(draft !== album && draft.id == album.id)
            #expect(album.title == "Blue" && !context.hasChanges)
            #expect(pad.parent === context && context.parent == nil)

            try pad.save()
            #expect(!pad.hasChanges && draft.title == "Hejira")
            #expect(album.title == "Hejira" && album.tracks.first?.title == "River")
            let other = container.makeContext()
            #expect(try other.existingObject(album.id).title == "Blue")
            try context.save()
            try other.refreshAllObjects()
            #expect(try other.existingObject(album.id).title == "Hejira")

            #expect(undo.depth == 1 && undo.undoName == "Edit Album")
            undo.undo()
            #expect(album.title == "Blue" && album.tracks.first?.title == "All I Want")
        }
    }

    @Test("a scratch pad inserts with final IDs and sees its parent's unsaved changes")
    func padInserts() throws {
        try onEachBackend { container, context, album in
            album.title = "unsaved"
            let pad = context.makeChild()
            #expect(try pad.count(Fetch<Album>(where: "title == 'unsaved'")) == 1)
            let track: Track = try pad.insert()
            track.title = "Amelia"
            track.album = pad.object(album.id)
            let id = track.id
            try pad.save()
            try context.save()
            #expect(try context.existingObject(id).album === album)
            #expect(try container.makeContext().existingObject(id).title == "Amelia")

            do {
                let pad = context.makeChild()
                try pad.existingObject(album.id).title = "discarded"
            }
            #expect(album.title == "unsaved" && !context.hasChanges)
        }
    }

    @Test("a scratch pad's save that fails leaves the parent unchanged")
    func padErrors() throws {
        try onEachBackend { _, context, album in
            let pad = context.makeChild()
            let draft = try pad.existingObject(album.id)
            draft.artist?.name = String(repeating: "long", count: 20)
            let invalid = #expect(throws: StoreError.self) { try pad.save() }
            #expect(invalid?.code == .validationFailed && !context.hasChanges && pad.hasChanges)
            draft.artist?.name = "Joni"

            draft.title = "Hejira"
            context.delete(album)
            let error = #expect(throws: StoreError.self) { try pad.save() }
            #expect(error?.code == .objectNotFound && error?.missingObjects == [album.objectID])
            #expect(album.artist?.name != "Joni")
            pad.delete(draft)
            try pad.save()
            try context.save()
        }
    }

    @Test("a scratch pad with mergesChangesAutomatically merges its parent's changes, and the last saved value wins")
    func followingPads() throws {
        try onEachBackend { _, context, album in
            let (pad, second) = (context.makeChild(), context.makeChild())
            pad.mergesChangesAutomatically = true
            let (draft, still) = (try pad.existingObject(album.id), try second.existingObject(album.id))
            draft.year = 1
            let gone = draft.tracks[0]
            #expect(gone.title == "All I Want" && still.year == 1971)
            album.title = "Hejira"
            context.delete(album.tracks[0])
            context.processPendingChanges()
            #expect(draft.title == "Hejira" && draft.year == 1)
            #expect(gone.isDeleted && draft.tracks.count == 2)
            #expect(still.title == "Blue")
            try second.refreshAllObjects()
            #expect(still.title == "Hejira")

            // Both contexts set the year. The last save wins.
            still.year = 2
            try pad.save()
            try second.save()
            #expect(album.year == 2 && album.title == "Hejira" && draft.year == 2)

            // A pad can have its own undo stack and its own pads.
            let undo = UndoStack()
            second.undo = undo
            still.year = 3
            let inner = second.makeChild()
            try inner.existingObject(album.id).title = "Mingus"
            try inner.save()
            #expect(still.title == "Mingus" && album.title == "Hejira" && undo.depth == 2)
            undo.undo()
            undo.undo()
            #expect(still.title == "Hejira" && still.year == 2 && !second.hasChanges)
        }
    }
}

/// A square that computes its area from its width.
final class Square: ManagedObject, ManagedObjectClass {
    static let entityName: EntityName = "Square"
    static let shape = ClassShape("Square", properties: [.field("width", as: .double)])

    static func propertyName(of path: AnyKeyPath) -> String? { path == \Square.width ? "width" : nil }

    private(set) var area = 1.0

    var width: Double {
        get { double(slot: 0) }
        set {
            setDouble(newValue, slot: 0)
            area = width * width
        }
    }

    override func awake(from events: SnapshotEvents) { area = width * width }
}
