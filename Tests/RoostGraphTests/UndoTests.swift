import Foundation
import Roost
import RoostGraph
import Testing

@Suite("Undo")
@MainActor
struct UndoTests {
    @Test("undo takes back attribute values, and redo sets them again")
    func values() throws {
        let (_, context, undo) = try UndoSample.make()
        let album: Album = try context.insert()
        album.title = "one"
        try context.save()
        (album.title, album.year) = ("two", 1971)
        context.processPendingChanges()
        album.title = "three"
        context.processPendingChanges()
        #expect(undo.depth == 3)
        undo.undo()
        #expect(album.title == "two" && album.year == 1971)
        undo.undo()
        #expect(album.title == "one" && album.year != 1971)
        #expect(!album.hasChanges && !context.hasChanges)
        undo.redo()
        #expect(album.title == "two" && album.year == 1971 && album.isUpdated)
        undo.redo()
        #expect(album.title == "three" && !undo.canRedo)
        try context.save()
        undo.undo()
        #expect(album.title == "two" && album.isUpdated)
        try context.save()
        #expect(album.version == 3)
    }

    @Test("undo removes an inserted object, and redo restores the same instance")
    func insertions() throws {
        let (container, context, undo) = try UndoSample.make()
        let artist: Artist = try context.insert()
        artist.name = "Joni"
        try context.save()
        let album: Album = try context.insert()
        album.title = "Blue"
        album.artist = artist
        context.processPendingChanges()
        undo.undo()
        #expect(album.context == nil && artist.albums.isEmpty && !context.hasChanges)
        #expect(try context.count(FetchRequest("Album")) == 0)
        undo.redo()
        #expect(album.context === context && album.isInserted && album.title == "Blue")
        #expect(album.artist === artist && Array(artist.albums) == [album])
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Album", where: "artist.name == 'Joni'")) == 1)
        undo.undo()
        #expect(album.isDeleted && artist.albums.isEmpty)
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Album")) == 0)
        undo.redo()
        #expect(album.isInserted && album.artist === artist && artist.albums.contains(album))
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Album", where: "artist.name == 'Joni'")) == 1)
    }

    @Test(
        "undo of a deletion restores all relationships and their order",
        arguments: [false, true])
    func deletions(isSaved: Bool) throws {
        let (container, context, undo) = try UndoSample.make()
        let (artist, friend): (Artist, Artist) = (try context.insert(), try context.insert())
        let (album, passport): (Album, Passport) = (try context.insert(), try context.insert())
        let playlist: Playlist = try context.insert()
        (artist.name, friend.name, album.title, passport.number) = ("a", "f", "b", "1")
        playlist.name = "p"
        (album.artist, artist.passport) = (artist, passport)
        artist.friends.insert(friend)
        friend.favorite = album
        for number in 0..<4 {
            let track: Track = try context.insert()
            track.title = "\(number)"
            album.tracks.append(track)
            playlist.tracks.append(track)
        }
        album.tracks.move(from: 3, to: 0)
        playlist.tracks.move(from: 0, to: 2)
        try context.save()
        let before = try PlainGraph(reading: context)
        undo.removeAll()
        context.delete(artist)
        context.processPendingChanges()
        #expect(try context.count(FetchRequest("Track")) == 0)
        if isSaved { try context.save() }
        undo.undo()
        #expect(try before.differences(from: context) == [])
        #expect(
            context.registeredObjects.filter(\.hasChanges).isEmpty == !isSaved,
            "\(context.registeredObjects.filter(\.hasChanges).map { "\($0) \($0.changedValues()) \($0.hasPersistentChangedValues)" })"
        )
        try context.save()
        #expect(try before.differences(from: container.makeContext()) == [])
        undo.redo()
        #expect(try context.count(FetchRequest("Track")) == 0)
        #expect(playlist.tracks.isEmpty && friend.friends.isEmpty && friend.favorite == nil)
        undo.undo()
        #expect(try before.differences(from: context) == [])
        try context.save()
        #expect(try before.differences(from: container.makeContext()) == [])
    }

    @Test("a group of changes is one undo step with the group's name")
    func groups() throws {
        let (_, context, undo) = try UndoSample.make()
        let album: Album = try context.insert()
        album.title = "one"
        context.processPendingChanges()
        undo.group("Rename") {
            album.title = "two"
            context.processPendingChanges()
            album.title = "three"
        }
        #expect(undo.depth == 2 && undo.undoName == "Rename")
        undo.undo()
        #expect(album.title == "one" && undo.redoName == "Rename")
        undo.redo()
        #expect(album.title == "three")
    }

    @Test("an undo stack keeps no more steps than its limit")
    func limit() throws {
        let (_, context, _) = try UndoSample.make()
        let undo = UndoStack(limit: 2)
        context.undo = undo
        let album: Album = try context.insert()
        for title in ["a", "b", "c", "d"] {
            album.title = title
            context.processPendingChanges()
        }
        #expect(undo.depth == 2)
        for _ in 0..<5 { undo.undo() }
        #expect(album.title == "b" && !undo.canUndo)
    }

    /// Returns three saved albums, and an undone step that changed their years to 2.
    private func undoneStep() throws -> (PersistentContainer, ManagedObjectContext, UndoStack, [Album]) {
        let (container, context, undo) = try UndoSample.make()
        let albums: [Album] = try (0..<3).map { _ in try context.insert() }
        for (number, album) in albums.enumerated() { (album.title, album.year) = ("number \(number)", 1) }
        try context.save()
        undo.removeAll()
        for album in albums { album.year = 2 }
        context.processPendingChanges()
        undo.undo()
        #expect(!context.hasChanges)
        return (container, context, undo, albums)
    }

    @Test("a redo changes all objects of its step again, and a save writes them")
    func redoneObjectsAreSaved() throws {
        let (container, context, undo, albums) = try undoneStep()
        undo.redo()
        #expect(context.updatedObjects == Set(albums))
        undo.undo()
        #expect(context.updatedObjects.isEmpty)
        undo.redo()
        try context.save()
        #expect(!context.hasChanges)
        #expect(try container.makeContext().count(FetchRequest("Album", where: "year == 2")) == 3)
    }

    @Test("a redo updates all objects of its step, even with unrecorded changes pending")
    func redoBesideUnrecordedChanges() throws {
        let (container, context, undo, albums) = try undoneStep()
        undo.disable()
        albums[1].title = "two"
        let other: Album = try context.insert()
        (other.title, other.year) = ("other", 2)
        undo.enable()
        undo.redo()
        #expect(context.updatedObjects == Set(albums))
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Album", where: "year == 2")) == 4)
        #expect(try container.makeContext().count(FetchRequest("Album", where: "title == 'two'")) == 1)
    }

    @Test("a redo changes the remaining objects if one object was deleted and saved while undo was disabled")
    func redoAfterUnrecordedDeletion() throws {
        let (container, context, undo, albums) = try undoneStep()
        undo.disable()
        context.delete(albums[2])
        try context.save()
        undo.enable()
        undo.redo()
        #expect(context.updatedObjects == Set(albums[..<2]))
        try context.save()
        #expect(!context.hasChanges)
        #expect(try container.makeContext().count(FetchRequest("Album", where: "year == 2")) == 2)
    }

    @Test("undo keeps changes that were made while it was disabled")
    func disabled() throws {
        let (container, context, undo) = try UndoSample.make()
        let album: Album = try context.insert()
        (album.title, album.year) = ("one", 1)
        try context.save()
        undo.removeAll()
        album.title = "two"
        context.processPendingChanges()
        undo.disable()
        album.year = 2
        undo.enable()
        #expect(undo.depth == 1)
        undo.undo()
        #expect(album.title == "one" && album.year == 2)
        undo.redo()
        #expect(album.title == "two" && album.year == 2)
        _ = container
    }

    @Test("reading objects adds no undo step")
    func reading() throws {
        let (container, context, undo) = try UndoSample.make()
        let album: Album = try context.insert()
        (album.title, album.year) = ("one", 1)
        try context.save()
        undo.removeAll()
        context.reset()
        for album in try context.fetch(Fetch<Album>()) { _ = album.title }
        context.processPendingChanges()
        #expect(!undo.canUndo)
        _ = container
    }

    @Test("undo keeps what another context saved in properties that the step did not change")
    func merging() throws {
        let (container, context, undo) = try UndoSample.make()
        let album: Album = try context.insert()
        (album.title, album.year) = ("one", 1)
        try context.save()
        undo.removeAll()
        album.title = "two"
        try context.save()
        let other = container.makeContext()
        var notices: [SaveNotice] = []
        let token = other.observeSaves { notices.append($0) }
        let theirs = try #require(other.object(album.id))
        theirs.year = 7
        try withExtendedLifetime(token) { try other.save() }
        try context.mergeChanges(try #require(notices.first))
        #expect(undo.depth == 1)
        undo.undo()
        #expect(album.title == "one" && album.year == 7)
        try context.save()
        undo.redo()
        #expect(album.title == "two" && album.year == 7)
    }

    @Test("undo of a saved deletion restores the object's place in lists that were never read")
    func orderOfUnreadLists() throws {
        let (container, context, undo) = try UndoSample.make()
        let (album, playlist): (Album, Playlist) = (try context.insert(), try context.insert())
        (album.title, playlist.name) = ("Blue", "All")
        for number in 1...4 {
            let track: Track = try context.insert()
            track.title = "\(number)"
            album.tracks.append(track)
            playlist.tracks.append(track)
        }
        album.tracks.move(from: 0, to: 2)
        playlist.tracks.move(from: 3, to: 0)
        try context.save()
        let orders = (album.tracks.map(\.title), playlist.tracks.map(\.title))
        let second = try #require(album.tracks.first { $0.title == "2" })

        try context.refreshAllObjects()
        context.delete(second)
        try context.save()
        undo.undo()
        try context.save()
        let other = container.makeContext("other")
        let found = try #require(other.object(album.id)).tracks.map(\.title)
        #expect(found == orders.0)
        #expect(try #require(other.object(playlist.id)).tracks.map(\.title) == orders.1)
    }

    @Test("undo of a saved insertion clears all references that another context made to the object")
    func unknownReferences() throws {
        let (container, context, undo) = try UndoSample.make()
        let artist: Artist = try context.insert()
        artist.name = "a"
        let track: Track = try context.insert()
        track.title = "t"
        try context.save()
        undo.removeAll()
        let (guest, album): (Artist, Album) = (try context.insert(), try context.insert())
        (guest.name, album.title) = ("guest", "b")
        try context.save()
        var notices: [SaveNotice] = []
        let other = container.makeContext()
        let token = other.observeSaves { notices.append($0) }
        let theirs = try #require(other.object(artist.id))
        theirs.friends.insert(try #require(other.object(guest.id)))
        try #require(other.object(track.id)).album = other.object(album.id)
        theirs.favorite = other.object(album.id)
        try withExtendedLifetime(token) { try other.save() }
        for notice in notices { try context.mergeChanges(notice) }
        let before = try PlainGraph(reading: context)
        #expect(artist.friends.contains(guest) && track.album === album && artist.favorite === album)
        undo.undo()
        #expect(guest.isDeleted && artist.friends.isEmpty && artist.favorite == nil)
        // The album's delete rule for tracks is cascade, but undo deletes only what the step inserted.
        #expect(!track.isDeleted && track.album == nil)
        try context.save()
        undo.redo()
        #expect(try before.differences(from: context) == [])
        try context.save()
        #expect(try before.differences(from: container.makeContext()) == [])
        undo.undo()
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Artist")) == 1)
    }

    @Test("undo of a change to a one-to-one reference also clears the reference that another context set later")
    func pairOfOthers() throws {
        let (container, context, undo) = try UndoSample.make()
        let artist: Artist = try context.insert()
        let passports: [Passport] = try ["one", "two", "three"].map { number in
            let passport: Passport = try context.insert()
            passport.number = number
            return passport
        }
        (artist.name, artist.passport) = ("a", passports[0])
        try context.save()
        undo.removeAll()
        artist.passport = passports[1]
        try context.save()
        var notices: [SaveNotice] = []
        let other = container.makeContext()
        let token = other.observeSaves { notices.append($0) }
        try #require(other.object(artist.id)).passport = other.object(passports[2].id)
        try withExtendedLifetime(token) { try other.save() }
        for notice in notices { try context.mergeChanges(notice) }
        #expect(artist.passport === passports[2])
        undo.undo()
        #expect(artist.passport === passports[0])
        #expect(passports.map(\.holder) == [artist, nil, nil])
        try context.save()
        undo.redo()
        try context.save()
        let fresh = container.makeContext()
        let copy = try #require(fresh.object(artist.id))
        #expect(copy.passport?.number == "three" && copy.passport?.holder === copy)
        #expect(try fresh.count(FetchRequest("Passport", where: "holder != nil")) == 1)
    }
}
