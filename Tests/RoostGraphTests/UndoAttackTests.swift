import Dispatch
import Foundation
import Roost
import RoostCore
import RoostGraph
import RoostStores
import Testing

@testable import RoostConformance

@Suite("Undo under attack")
@MainActor
struct UndoAttackTests {
    // MARK: Attributes

    @Test("redo of an insertion and undo of a deletion restore transient attributes")
    func transients() throws {
        let (_, context, undo) = try UndoSample.make(Note.model(), types: [Note.self])
        let note: Note = try context.insert()
        (note.title, note.cached) = ("1", "c")
        context.processPendingChanges()
        undo.undo()
        undo.redo()
        #expect(note.title == "1" && note.cached == "c")
        try context.save()
        undo.undo()
        try context.save()
        undo.redo()
        #expect(note.title == "1" && note.cached == "c")
        try context.save()
        context.delete(note)
        try context.save()
        undo.undo()
        #expect(note.title == "1" && note.cached == "c")
    }

    @Test("a transformable attribute that was set by name follows undo and redo")
    func transformable() throws {
        let (_, context, undo) = try UndoSample.make(Note.model(), types: [Note.self])
        let note: Note = try context.insert()
        note.tags = ["a"]
        context.processPendingChanges()
        let other: Note = try context.insert()
        other.tags = ["b"]
        #expect(note.tags == ["a"])
        try note.setValue(try other.value("tags"), for: "tags")
        #expect(note.tags == ["b"])
        undo.undo()
        #expect(note.tags == ["a"])
        undo.redo()
        #expect(note.tags == ["b"])
    }

    // MARK: Lists

    @Test("a new undo stack undoes a move in a list that was filled with the former stack")
    func orderWithNewStack() throws {
        let (_, context, former) = try UndoSample.make()
        let album: Album = try context.insert()
        for number in 1...3 {
            let track: Track = try context.insert()
            track.title = "\(number)"
            album.tracks.append(track)
        }
        try context.save()
        let undo = UndoStack()
        context.undo = undo
        album.tracks.move(from: 0, to: 2)
        #expect(album.tracks.map(\.title) == ["2", "3", "1"])
        context.processPendingChanges()
        undo.undo()
        #expect(album.tracks.map(\.title) == ["1", "2", "3"])
        #expect(!former.canUndo)
    }

    // MARK: Others

    @Test("undo steps refer to the stored object that replaced a new object with equal unique values")
    func replaced() throws {
        let (container, context, undo) = try UndoSample.make()
        context.mergePolicy = .mergeByPropertyObjectTrump
        let track: Track = try context.insert()
        track.title = "t"
        try context.save()
        let other = container.makeContext()
        let theirs: Album = try other.insert()
        (theirs.title, theirs.year) = ("same", 1)
        try other.save()
        let mine: Album = try context.insert()
        (mine.title, mine.year) = ("same", 1)
        context.processPendingChanges()
        track.album = mine
        context.processPendingChanges()
        track.title = "u"
        try context.save()
        #expect(mine.context == nil && track.album?.objectID == theirs.objectID)
        undo.undo()
        #expect(track.title == "t" && track.album?.objectID == theirs.objectID)
        try context.save()
        undo.undo()
        #expect(track.album == nil)
        try context.save()
        undo.redo()
        #expect(track.album?.objectID == theirs.objectID && track.album?.tracks.count == 1)
        try context.save()
    }

    @Test("undo of a saved insertion clears references that another context saved later")
    func othersAdded() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let undo = UndoStack()
            context.undo = undo
            let album: Album = try context.insert()
            album.title = "a"
            try context.save()
            let other = container.makeContext()
            var notices: [SaveNotice] = []
            let token = other.observeSaves { notices.append($0) }
            let track: Track = try other.insert()
            track.album = other.object(album.id)
            try withExtendedLifetime(token) { try other.save() }
            for notice in notices { try context.mergeChanges(notice) }
            #expect(album.tracks.count == 1)
            undo.undo()
            #expect(album.isDeleted)
            try context.save()
            let fresh = container.makeContext()
            #expect(try fresh.fetch(Fetch<Track>()).map { $0["album"] } == [.null])
            undo.redo()
            #expect(album.tracks.map(\.objectID) == [track.objectID])
            try context.save()
            let last = container.makeContext()
            #expect(try last.fetch(Fetch<Track>()).map { $0["album"] } == [.objectID(album.objectID)])
        }
    }

    @Test("undo of an insertion clears references that were set while undo was disabled")
    func disabledReference() throws {
        let (container, context, undo) = try UndoSample.make()
        let track: Track = try context.insert()
        try context.save()
        undo.removeAll()
        let album: Album = try context.insert()
        context.processPendingChanges()
        undo.disable()
        track.album = album
        undo.enable()
        undo.undo()
        #expect(album.context == nil && track.album == nil)
        try context.save()
        #expect(try container.makeContext().fetch(Fetch<Track>()).map { $0["album"] } == [.null])
        undo.redo()
        #expect(album.context === context && !context.registeredObjects.isEmpty)
        try context.save()
    }

    @Test("undo of an insertion clears one-way references that were set while undo was disabled")
    func disabledOneWay() throws {
        let (container, context, undo) = try UndoSample.make()
        let artist: Artist = try context.insert()
        artist.name = "a"
        try context.save()
        undo.removeAll()
        let album: Album = try context.insert()
        context.processPendingChanges()
        undo.disable()
        artist.favorite = album
        undo.enable()
        undo.undo()
        #expect(artist.favorite == nil)
        try context.save()
        #expect(try container.makeContext().fetch(Fetch<Artist>()).map { $0["favorite"] } == [.null])
    }

    @Test("undo of a deletion does not restore an object that another context also deleted")
    func deletedThere() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let undo = UndoStack()
            context.undo = undo
            let track: Track = try context.insert()
            try context.save()
            undo.removeAll()
            track.title = "x"
            context.processPendingChanges()
            context.delete(track)
            context.processPendingChanges()
            let other = container.makeContext()
            var notices: [SaveNotice] = []
            let token = other.observeSaves { notices.append($0) }
            other.delete(try other.existingObject(with: track.objectID))
            try withExtendedLifetime(token) { try other.save() }
            for notice in notices { try context.mergeChanges(notice) }
            context.mergePolicy = .mergeByPropertyStoreTrump
            undo.undo()
            try context.save()
            undo.undo()
            undo.redo()
            undo.redo()
            try context.save()
            #expect(!context.hasChanges)
            #expect(try container.makeContext().count(FetchRequest("Track")) == 0)
        }
    }

    /// Returns how many times longer `body` takes with four times as many objects, in this thread's
    /// CPU time.
    private func growth(_ body: (Int) throws -> Void) throws -> Double {
        func seconds(_ count: Int) throws -> Double {
            var (start, end) = (timespec(), timespec())
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
            try body(count)
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
            return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
        }
        let few = try seconds(3_000)
        return try seconds(12_000) / few
    }

    @Test("undo and redo of many insertions take linear time")
    func manyInsertions() throws {
        let growth = try growth { count in
            let (_, context, undo) = try UndoSample.make()
            let album: Album = try context.insert()
            try context.save()
            undo.removeAll()
            for _ in 0..<count {
                let track: Track = try context.insert()
                track.album = album
            }
            context.processPendingChanges()
            undo.undo()
            #expect(album.tracks.isEmpty && !context.hasChanges)
            undo.redo()
            try context.save()
            undo.undo()
            #expect(album.tracks.isEmpty)
            try context.save()
            undo.redo()
            #expect(album.tracks.count == count)
        }
        // Quadratic time would be sixteen times as long.
        #expect(growth < 10)
    }

    /// Opens a container with two stores: one for shapes and their subentities, and one for labels.
    private func shapes() throws -> PersistentContainer {
        let model = try ManagedObjectModel(
            entities: [
                EntityDescription(
                    "Shape", attributes: [.string("name")],
                    relationships: [
                        .toOne("parent", to: "Shape", inverse: "parts"),
                        .toMany("parts", to: "Shape", inverse: "parent", isOrdered: true, deleteRule: .cascade),
                        .toMany("near", to: "Shape", inverse: "near"),
                    ]),
                EntityDescription("Circle", superentity: "Shape", attributes: [.double("radius")]),
                EntityDescription("Square", superentity: "Shape", attributes: [.double("side")]),
                EntityDescription("Label", attributes: [.string("text")]),
            ], configurations: ["shapes": ["Shape", "Circle", "Square"], "labels": ["Label"]])
        return try PersistentContainer(
            [
                try PersistentContainer(.memory, model: model).stores[0],
                try PersistentContainer(.memory, model: model).stores[0],
            ], configurations: ["shapes", "labels"])
    }

    @Test("a batch delete by IDs deletes objects of one store, and is refused for two stores")
    func deleteInStores() throws {
        let container = try shapes()
        let context = container.makeContext()
        let ids = try ["Circle", "Label", "Label"].map { try context.insert($0) }
        try context.save()
        let error = #expect(throws: StoreError.self) {
            try container.execute(BatchDeleteRequest(objectIDs: ids.map(\.objectID)))
        }
        #expect(error?.code == .invalidRequest)
        #expect(try context.fetch(FetchRequest("Label")).count == 2)
        for part in [ids.suffix(2), ids.prefix(1)] {
            try container.execute(BatchDeleteRequest(objectIDs: part.map(\.objectID)))
        }
        #expect(try container.makeContext().count(FetchRequest("Shape")) == 0)
        #expect(try container.makeContext().count(FetchRequest("Label")) == 0)
    }

    @Test("undo steps and child contexts keep references to subentities, with two stores")
    func subentities() throws {
        let container = try shapes()
        let context = container.makeContext()
        let undo = UndoStack()
        context.undo = undo
        let (circle, square, last) = (
            try context.insert("Circle"), try context.insert("Square"), try context.insert("Circle")
        )
        let label = try context.insert("Label")
        label["text"] = "l"
        try context.save()
        undo.removeAll()
        let child = context.makeChild("build")
        let copies = [circle, square, last].map { child.object(with: $0.objectID) }
        var (parts, near) = (try copies[0].orderedObjects("parts"), try copies[1].objects("near"))
        parts.append(copies[2])
        parts.insert(copies[1], at: 0)
        near.insert(copies[2])
        near.insert(copies[1])
        child.object(with: label.objectID)["text"] = "m"
        try child.save()
        func check(_ isLinked: Bool) throws {
            #expect(Array(try circle.orderedObjects("parts")) == (isLinked ? [square, last] : []))
            #expect(Set(try square.objects("near")) == (isLinked ? [square, last] : []))
            #expect(label["text"] == .string(isLinked ? "m" : "l"))
        }
        try check(true)
        undo.undo()
        try check(false)
        #expect(!context.hasChanges)
        undo.redo()
        try context.save()
        try check(true)
        context.delete(circle)
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Shape")) == 0)
        undo.undo()
        try check(true)
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Shape", where: "parent != NULL")) == 2)
        undo.undo()
        try check(false)
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Shape", where: "parent != NULL")) == 0)
    }

    // MARK: Memory and time

    @Test("an undo stack's limit also drops steps that changed links")
    func limitOfLinks() throws {
        let (_, context, _) = try UndoSample.make()
        let undo = UndoStack(limit: 1)
        context.undo = undo
        let (artist, friend): (Artist, Artist) = (try context.insert(), try context.insert())
        (artist.name, friend.name) = ("a", "b")
        weak var weakAlbum: Album?
        do {
            let album: Album = try context.insert()
            try context.save()
            undo.removeAll()
            weakAlbum = album
            album.title = "x"
            artist.friends.insert(friend)
            context.processPendingChanges()
            try context.refresh(album, mergingChanges: false)
        }
        context.processPendingChanges()
        #expect(weakAlbum != nil)
        for number in 0..<3 {
            artist.rank = Int64(number)
            context.processPendingChanges()
        }
        #expect(undo.depth == 1 && weakAlbum == nil)
    }

    @Test("undo of many deletions takes linear time, even after a read of the list that held the deleted objects")
    func manyHidden() throws {
        let growth = try growth { count in
            let (_, context, undo) = try UndoSample.make()
            let album: Album = try context.insert()
            var tracks: [Track] = []
            for _ in 0..<count {
                let track: Track = try context.insert()
                track.album = album
                tracks.append(track)
            }
            try context.save()
            undo.removeAll()
            try context.refresh(album, mergingChanges: false)
            for track in tracks { context.delete(track) }
            context.processPendingChanges()
            #expect(album.tracks.isEmpty)
            undo.undo()
            #expect(album.tracks.count == count)
            undo.redo()
            #expect(album.tracks.isEmpty)
        }
        #expect(growth < 10)
    }

    // MARK: Saves in the background, and keys

    @Test("the next save writes the changes of an undo during a save in the background", arguments: [false, true])
    func inFlight(fails: Bool) async throws {
        let control = StoreMeter()
        let container = try control.makeContainer(.memory)
        let context = container.makeContext()
        let undo = UndoStack()
        context.undo = undo
        let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
        (artist.name, album.title, album.artist) = ("a", "b", artist)
        for _ in 0..<3 {
            let track: Track = try context.insert()
            album.tracks.append(track)
        }
        try context.save()
        let before = try PlainGraph(reading: context)
        undo.removeAll()
        undo.group {
            artist.name = "c"
            context.delete(album)
            context.processPendingChanges()
            artist.friends.insert(artist)
            let new: Album? = try? context.insert()
            new?.artist = artist
        }
        let error = try await control.save(context, commitError: fails ? StoreMeter.error : nil) {
            undo.undo()
            #expect(album.context === context && artist.albums.contains(album) && album.tracks.count == 3)
        }
        #expect(error?.code == (fails ? .busy : nil))
        #expect(artist.name == "a" && artist.friends.isEmpty)
        #expect(try before.differences(from: context) == [])
        try context.save()
        #expect(try before.differences(from: container.makeContext()) == [])
        undo.redo()
        #expect(artist.name == "c" && album.isDeleted && artist.albums.count == 1)
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Track")) == 0)
        undo.undo()
        try context.save()
        #expect(try before.differences(from: container.makeContext()) == [])
    }

    @Test("undo steps remain valid when new objects get their final keys")
    func temporaryKeys() throws {
        let control = StoreMeter()
        let container = try control.makeContainer(.memory)
        control.setReservesKeys(false)
        let context = container.makeContext()
        let undo = UndoStack()
        context.undo = undo
        let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
        (artist.name, album.title) = ("a", "b")
        context.processPendingChanges()
        album.artist = artist
        artist.favorite = album
        artist.friends.insert(artist)
        var tracks: [Track] = []
        for _ in 0..<3 {
            let track: Track = try context.insert()
            album.tracks.append(track)
            tracks.append(track)
        }
        context.processPendingChanges()
        album.tracks.move(from: 0, to: 2)
        context.processPendingChanges()
        undo.undo()
        undo.undo()
        undo.redo()
        control.setReservesKeys(true)
        try context.save()
        #expect(album.tracks.map(\.objectID) == tracks.map(\.objectID))
        undo.redo()
        #expect(Array(album.tracks) == [tracks[1], tracks[2], tracks[0]])
        undo.undo()
        undo.undo()
        #expect(album.tracks.isEmpty && album.artist == nil && artist.favorite == nil && artist.friends.isEmpty)
        try context.save()
        undo.redo()
        #expect(Array(album.tracks) == tracks && album.artist === artist && Array(artist.friends) == [artist])
        try context.save()
        let graph = try PlainGraph(reading: context)
        #expect(try graph.differences(from: container.makeContext()) == [])
    }
}
