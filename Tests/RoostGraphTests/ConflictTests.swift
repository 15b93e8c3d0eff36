import Roost
import RoostConformance
import RoostCore
import RoostGraph
import Testing

/// Cases in which random histories found defects.
@Suite("Conflicts")
struct ConflictTests {
    /// Objects that each of two contexts has read.
    struct Sample {
        let contexts: [ManagedObjectContext]
        var artists: [[Artist]] = []
        var albums: [[Album]] = []
        var tracks: [[Track]] = []
        var passports: [[Passport]] = []
        var playlists: [[Playlist]] = []

        let fresh: ManagedObjectContext

        init(_ container: PersistentContainer) throws {
            fresh = container.makeContext()
            let (first, second) = (container.makeContext("first"), container.makeContext("second"))
            contexts = [first, second]
            func pair<T: ManagedObjectClass>(_ count: Int, _ fill: (T, Int) -> Void) throws -> [T] {
                try (0..<count).map { number in
                    let object: T = try first.insert()
                    fill(object, number)
                    return object
                }
            }
            let artists: [Artist] = try pair(3) { $0.name = "\($1)" }
            let albums: [Album] = try pair(3) { $0.title = "\($1)" }
            let tracks: [Track] = try pair(3) { $0.title = "\($1)" }
            let passports: [Passport] = try pair(2) { $0.number = "\($1)" }
            let playlists: [Playlist] = try pair(1) { $0.name = "\($1)" }
            for track in tracks[..<2] { playlists[0].tracks.append(track) }
            for track in tracks { albums[0].tracks.append(track) }
            for number in 0..<2 { artists[number].passport = passports[number] }
            try first.save()
            func copies<T: ManagedObject>(_ objects: [T]) throws -> [[T]] {
                [objects, try objects.map { try #require(try second.existingObject(with: $0.objectID) as? T) }]
            }
            self.artists = try copies(artists)
            self.albums = try copies(albums)
            self.tracks = try copies(tracks)
            self.passports = try copies(passports)
            self.playlists = try copies(playlists)
            for list in self.playlists { #expect(list[0].tracks.count == 2) }
            for list in self.albums { #expect(list[0].tracks.count == 3) }
        }
    }

    @Test(
        "after a save with conflicting one-to-one references, both objects of each pair refer to each other",
        arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump, .rollback])
    func pairs(_ policy: MergePolicy) throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.artists[0][2].passport = sample.passports[0][0]
            try sample.contexts[0].save()
            sample.contexts[1].mergePolicy = policy
            sample.artists[1][1].passport = sample.passports[1][0]
            try sample.contexts[1].save()
            #expect(!sample.contexts[1].hasChanges)
            #expect(try PlainGraph(reading: container.makeContext()).inconsistencies == [])
        }
    }

    @Test("a save keeps a one-to-one reference that only another context changed")
    func theirPairs() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.artists[0][2].passport = sample.passports[0][0]
            try sample.contexts[0].save()
            sample.contexts[1].mergePolicy = .mergeByPropertyObjectTrump
            sample.artists[1][0].rank = 7
            try sample.contexts[1].save()
            let fresh = container.makeContext()
            let artist = try #require(try fresh.existingObject(with: sample.artists[0][2].objectID) as? Artist)
            #expect(artist.passport?.objectID == sample.passports[0][0].objectID)
            #expect(try PlainGraph(reading: fresh).inconsistencies.isEmpty)
        }
    }

    @Test("after two contexts set an album's artist, a refresh lists the album only under this context's artist")
    func lists() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.albums[0][0].artist = sample.artists[0][0]
            try sample.contexts[0].save()
            let (mine, theirs) = (sample.artists[1][1], sample.artists[1][0])
            #expect(mine.albums.isEmpty && theirs.albums.isEmpty)
            sample.albums[1][0].artist = mine
            try sample.contexts[1].refreshAllObjects()
            #expect(theirs.albums.isEmpty)
            #expect(Array(mine.albums) == [sample.albums[1][0]])
        }
    }

    @Test("a save does not restore tracks that another context removed from a playlist")
    func removedMembers() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.playlists[0][0].tracks.remove(sample.tracks[0][0])
            try sample.contexts[0].save()
            sample.playlists[1][0].tracks.append(sample.tracks[1][2])
            try sample.contexts[1].save()
            let playlist = try sample.fresh.existingObject(sample.playlists[0][0].id)
            #expect(playlist.tracks.map(\.title) == ["1", "2"])
        }
    }

    @Test("a save keeps a track order that another context changed")
    func places() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.albums[0][0].tracks.move(from: 2, to: 0)
            try sample.contexts[0].save()
            for track in sample.tracks[1] { track.title = (track.title ?? "") + "x" }
            try sample.contexts[1].refreshAllObjects()
            try sample.contexts[1].save()
            let album = try sample.fresh.existingObject(sample.albums[0][0].id)
            #expect(album.tracks.map(\.title) == ["2x", "0x", "1x"])
        }
    }

    @Test("a save that deletes tracks succeeds if another context deleted or moved them")
    func agreement() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.contexts[0].delete(sample.tracks[0][0])
            sample.albums[0][0].tracks.move(from: 2, to: 1)
            try sample.contexts[0].save()
            for track in sample.tracks[1] { sample.contexts[1].delete(track) }
            try sample.contexts[1].save()
            #expect(try container.makeContext().count(FetchRequest("Track")) == 0)
            #expect(!sample.contexts[1].hasChanges)
        }
    }

    @Test("an artist set to its saved name can be saved again after its derived attributes change")
    func derived() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            let (context, artist) = (sample.contexts[0], sample.artists[0][0])
            artist.name = "0"
            sample.albums[0][0].artist = artist
            try context.save()
            #expect(artist.version == 2 && artist.albumCount == 1)
            artist.name = "new"
            try context.save()
            #expect(artist.version == 3)
        }
    }

    @Test("a list read after a refresh omits a deleted track until a rollback restores it")
    func deletedMembers() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.contexts[1].delete(sample.tracks[1][0])
            sample.contexts[1].processPendingChanges()
            sample.tracks[0][0].album = sample.albums[0][1]
            try sample.contexts[0].save()
            try sample.contexts[1].refreshAllObjects()
            #expect(sample.albums[1][1].tracks.isEmpty)
            sample.contexts[1].rollback()
            #expect(sample.albums[1][1].tracks.count == 1)
        }
    }

    @Test("the rollback policy discards conflicting values and keeps new links")
    func links() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.artists[0][0].rank = 1
            try sample.contexts[0].save()
            sample.contexts[1].mergePolicy = .rollback
            sample.artists[1][0].rank = 2
            sample.artists[1][0].friends.insert(sample.artists[1][0])
            try sample.contexts[1].save()
            #expect(!sample.contexts[1].hasChanges)
            let artist = try sample.fresh.existingObject(sample.artists[0][0].id)
            #expect(artist.rank == 1 && artist.friends.count == 1)
        }
    }

    @Test("after a friend is added to and removed from an unread list, a save writes only the last operation")
    func addedAndRemoved() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.artists[0][0].friends.insert(sample.artists[0][1])
            try sample.contexts[0].save()
            sample.artists[1][0].friends.insert(sample.artists[1][1])
            sample.artists[1][0].friends.remove(sample.artists[1][1])
            sample.artists[1][0].friends.insert(sample.artists[1][2])
            sample.artists[1][0].friends.remove(sample.artists[1][2])
            sample.artists[1][0].friends.insert(sample.artists[1][2])
            try sample.contexts[1].save()
            #expect(
                try sample.fresh.existingObject(sample.artists[0][0].id).friends.map(\.objectID)
                    == [sample.artists[0][2].objectID])
            #expect(try sample.fresh.existingObject(sample.artists[0][1].id).friends.isEmpty)
        }
    }

    @Test("after a read error stops delete rules, the next save throws, and the save after it applies the rules")
    func failedDelete() throws {
        let control = StoreMeter()
        let container = try control.makeContainer(.memory)
        let sample = try Sample(container)
        let context = sample.contexts[1]
        try context.refresh(sample.albums[1][0], mergingChanges: false)
        #expect(sample.albums[1][0].title == "0")
        control.failNextRead()
        context.delete(sample.albums[1][0])
        context.processPendingChanges()
        #expect(throws: StoreError.self) { try context.save() }
        try context.save()
        #expect(try sample.fresh.count(FetchRequest("Track")) == 0)
    }

    @Test("deleting an album does not conflict with another context's deletion of the album's artist")
    func goneLists() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            sample.albums[0][0].artist = sample.artists[0][0]
            try sample.contexts[0].save()
            let context = sample.contexts[1]
            try context.refreshAllObjects()
            #expect(sample.artists[1][0].albums.count == 1)
            context.delete(sample.albums[1][0])
            context.processPendingChanges()
            sample.passports[1][0].number = "mine"
            sample.contexts[0].delete(sample.artists[0][0])
            try sample.contexts[0].save()
            try context.refreshAllObjects()
            #expect(!context.updatedObjects.contains(sample.artists[1][0]))
            #expect(try context.count(FetchRequest("Artist")) == 2)
            try context.save()
        }
    }

    @Test("a refresh and a late deletion notice keep an object that was inserted again")
    func insertedAgain() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            let third = container.makeContext()
            let copy = try third.existingObject(sample.tracks[0][0].id)
            #expect(copy.title == "0")
            sample.contexts[0].delete(sample.tracks[0][0])
            try sample.contexts[0].save()
            sample.contexts[1].mergePolicy = .mergeByPropertyObjectTrump
            sample.tracks[1][0].title = "again"
            try sample.contexts[1].save()
            try third.refresh(copy, mergingChanges: true)
            #expect(copy.title == "again")
            // A late notice of the deletion has no effect.
            try sample.contexts[1].mergeChanges(deleted: [copy.objectID])
            #expect(!sample.tracks[1][0].isDeleted && sample.tracks[1][0].title == "again")
        }
    }

    @Test(
        "a merge policy keeps a track in the album to which another context moved it",
        arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .rollback])
    func movedThere(_ policy: MergePolicy) throws {
        let container = try Music.container()
        let sample = try Sample(container)
        let (mine, other) = (sample.contexts[0], sample.contexts[1])
        #expect(sample.albums[0][1].tracks.count == 0)
        let new: Track = try other.insert()
        new.title = "new"
        sample.albums[1][1].tracks.append(new)
        sample.albums[1][1].tracks.insert(sample.tracks[1][0], at: 0)
        try other.save()
        sample.tracks[0][0].title = "changed"
        mine.mergePolicy = policy
        try mine.save()
        let wanted = [sample.tracks[0][0].objectID, new.objectID]
        #expect(sample.albums[0][1].tracks.map(\.objectID) == wanted)
        try mine.save()
        let fresh = container.makeContext()
        #expect(try fresh.existingObject(sample.albums[0][1].id).tracks.map(\.objectID) == wanted)
        #expect(try fresh.existingObject(sample.albums[0][0].id).tracks.count == 2)
    }

    @Test("an appended track is last after another context renumbered the album's tracks")
    func appendAfterNewPlaces() throws {
        try Music.onEachBackend { container in
            let sample = try Sample(container)
            #expect(sample.albums[0][0].tracks.map(\.title) == ["0", "1", "2"])
            // The final order is unchanged, but every place is different.
            for _ in 0..<3 {
                sample.albums[1][0].tracks.move(from: 0, to: 2)
                try sample.contexts[1].save()
            }
            let last: Track = try sample.contexts[0].insert()
            last.title = "last"
            sample.albums[0][0].tracks.append(last)
            try sample.contexts[0].save()
            let album = try sample.fresh.existingObject(sample.albums[0][0].id)
            #expect(album.tracks.map(\.title) == ["0", "1", "2", "last"])
        }
    }

    @Test(
        "after a read error during a merge of one-to-one references, the next save leaves consistent pairs",
        arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump, .rollback])
    func readErrorDuringMerge(_ policy: MergePolicy) throws {
        let meter = StoreMeter()
        let container = try meter.makeContainer(.memory)
        let sample = try Sample(container)
        let context = sample.contexts[1]
        sample.artists[0][2].passport = sample.passports[0][0]
        try sample.contexts[0].save()
        context.mergePolicy = policy
        sample.artists[1][1].passport = sample.passports[1][0]
        meter.beforeNextCommit { meter.failNextRead() }
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == StoreMeter.error.code)
        #expect(sample.artists[1][1].passport === sample.passports[1][0])
        try context.save()
        #expect(!context.hasChanges)
        #expect(try PlainGraph(reading: container.makeContext()).inconsistencies == [])
    }

    @Test("resolving a conflict does not read the destinations of ordinary references")
    func unreadDestinations() throws {
        let container = try Music.container()
        let (first, second) = (container.makeContext("first"), container.makeContext("second"))
        let (album, track): (Album, Track) = (try first.insert(), try first.insert())
        (album.title, track.title, track.album) = ("a", "t", album)
        try first.save()
        let copy = try second.existingObject(track.id)
        let fault = try #require(copy.album)
        track.seconds = 5
        try first.save()
        second.mergePolicy = .mergeByPropertyObjectTrump
        copy.title = "mine"
        try second.save()
        #expect(copy.title == "mine" && copy.seconds == 5)
        #expect(fault.isFault)
    }

    @Test("a custom policy can keep an object that its context deleted")
    func keptDelete() throws {
        let container = try Music.container()
        let (mine, other) = (container.makeContext("mine"), container.makeContext("other"))
        let artist: Artist = try mine.insert()
        artist.name = "a"
        try mine.save()
        let copy = try other.existingObject(artist.id)
        (copy.name, copy.rank) = ("theirs", 5)
        try other.save()
        mine.delete(artist)
        mine.mergePolicy = MergePolicy(
            "keeping",
            resolve: { conflict in
                #expect(conflict.mine == nil)
                return .keep(["name": "kept", "rank": 7])
            }, resolveConstraint: { _ in .fail })
        try mine.save()
        #expect(!artist.isDeleted && !mine.hasChanges)
        let saved = try container.makeContext().existingObject(artist.id)
        #expect(saved.name == "kept" && saved.rank == 7)
        #expect(artist.name == "kept" && artist.rank == 7)
    }

    @Test("deleting an unread object that another context deleted leaves nothing pending")
    func deletedTwice() throws {
        let container = try Music.container()
        let (mine, other) = (container.makeContext("mine"), container.makeContext("other"))
        let artist: Artist = try other.insert()
        artist.name = "a"
        try other.save()
        let fault = try #require(mine.object(artist.id))
        other.delete(artist)
        try other.save()
        mine.delete(fault)
        try mine.save()
        #expect(!mine.hasChanges)
        try mine.save()
    }

    @Test("a track that a failed save renumbered is not pending after another context deleted it")
    func placeOfDeletedTrack() throws {
        let container = try Music.container()
        let (mine, other) = (container.makeContext("mine"), container.makeContext("other"))
        let album: Album = try other.insert()
        for title in ["one", "two"] {
            let track: Track = try other.insert()
            track.title = title
            album.tracks.append(track)
        }
        try other.save()
        let own = try #require(mine.object(album.id))
        own.title = "mine"
        own.tracks.move(from: 1, to: 0)
        album.title = "other"
        try other.save()
        #expect(throws: StoreError.self) { try mine.save() }
        let moved = try #require(mine.updatedObjects.first { $0.objectID.entity == "Track" })
        other.delete(other.object(with: moved.objectID))
        var notices: [SaveNotice] = []
        let token = other.observeSaves { notices.append($0) }
        try withExtendedLifetime(token) { try other.save() }
        try mine.mergeChanges(try #require(notices.first))
        #expect(mine.updatedObjects == [own])
        #expect(try mine.count(FetchRequest("Track")) == 1)
        #expect(own.tracks.count == 1)
    }

    @Test("a link that two contexts added is removed when one of them deletes the track")
    func linkOfBoth() throws {
        let container = try Music.container()
        let (mine, other) = (container.makeContext("mine"), container.makeContext("other"))
        let (playlist, track): (Playlist, Track) = (try other.insert(), try other.insert())
        (playlist.name, track.title) = ("all", "one")
        try other.save()
        var notices: [SaveNotice] = []
        let token = other.observeSaves { notices.append($0) }
        let (own, member) = (try #require(mine.object(playlist.id)), try #require(mine.object(track.id)))
        member.playlists.insert(own)
        playlist.tracks.append(track)
        try other.save()
        try mine.mergeChanges(try #require(notices.last))
        #expect(own.tracks.count == 1 && member.playlists.count == 1)
        other.delete(track)
        try withExtendedLifetime(token) { try other.save() }
        try mine.mergeChanges(try #require(notices.last))
        #expect(own.tracks.isEmpty)
        #expect(member.isDeleted)
    }

    @Test("the overwrite policy also overwrites the former partner in a one-to-one relationship")
    func partnerOfUndecided() throws {
        let container = try Music.container()
        let (mine, other) = (container.makeContext("mine"), container.makeContext("other"))
        let (first, second): (Artist, Artist) = (try other.insert(), try other.insert())
        let passport: Passport = try other.insert()
        (first.name, second.name, passport.number, second.passport) = ("first", "second", "1", passport)
        try other.save()
        let own = try #require(mine.object(passport.id))
        let (newHolder, oldHolder) = (try #require(mine.object(first.id)), try #require(mine.object(second.id)))
        #expect(own.holder === oldHolder && oldHolder.name == "second" && newHolder.name == "first")
        // In the end, the other context has changed only the holder's name.
        second.passport = nil
        second.name = "theirs"
        try other.save()
        second.passport = passport
        try other.save()
        newHolder.passport = own
        mine.mergePolicy = .overwrite
        try mine.save()
        let fresh = container.makeContext()
        #expect(try #require(fresh.object(second.id)).name == "second")
        #expect(try #require(fresh.object(first.id)).passport?.number == "1")
    }

    @Test("a track that is moved out of an unread list and appended again is last")
    func backAtTheEnd() throws {
        let container = try Music.container()
        let context = container.makeContext()
        let (album, other): (Album, Album) = (try context.insert(), try context.insert())
        let (first, second): (Track, Track) = (try context.insert(), try context.insert())
        (first.title, second.title, other.title) = ("first", "second", "other")
        album.tracks.append(first)
        try context.save()
        try context.refresh(album, mergingChanges: false)
        album.tracks.append(second)
        other.tracks.append(first)
        album.tracks.append(first)
        #expect(album.tracks.map(\.title) == ["second", "first"])
        try context.save()
        let fresh = container.makeContext()
        #expect(try #require(fresh.object(album.id)).tracks.map(\.title) == ["second", "first"])
    }

    @Test("an object changed by deinitializers of other objects during an event is updated and saved")
    func changingAtTheEnd() throws {
        let model = try ManagedObjectModel(entities: [EntityDescription("Node", attributes: [.string("name")])])
        let container = try PersistentContainer(.memory, model: model, types: [Node.self])
        let context = container.makeContext()
        let last: Node = try context.insert()
        try context.save()
        for number in 0..<50 {
            let node: Node = try context.insert()
            node["name"] = .string("\(number)")
            node.other = last
        }
        try context.save()
        context.processPendingChanges()
        #expect(last["name"] == "ended")
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Node", where: "name == 'ended'")) == 1)
    }

    @Test("a request with a path from a constant object sees that object's unsaved changes")
    func constantObject() throws {
        let container = try Music.container()
        let context = container.makeContext()
        let (album, track): (Album, Track) = (try context.insert(), try context.insert())
        (album.title, album.year, track.title, track.seconds) = ("Blue", 1971, "River", 1999)
        try context.save()
        album.year = 1999
        let year = FetchRequest.Expression.path(of: .constant(.objectID(album.objectID)), ["year"])
        let request = FetchRequest(
            "Track", where: .comparison(.init(left: .keyPath(["seconds"]), operator: .equal, right: year)))
        #expect(try context.count(request) == 1)
        #expect(try context.fetch(request) == [track])
    }
}

/// An object whose deinitialization changes another object.
private final class Node: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Node" }
    static var shape: ClassShape { ClassShape("Node", properties: [.field("name", as: .string)]) }
    static func propertyName(of path: AnyKeyPath) -> String? { nil }
    var other: Node?

    deinit { other?["name"] = "ended" }
}
