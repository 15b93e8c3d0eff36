import Foundation
import Roost
import RoostCore
import RoostGraph
import Testing

@Suite("Managed objects")
struct BehaviorTests {
    @Test("list every failure of a save, and everything stays pending")
    func failures() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let artist: Artist = try context.insert()
            let track: Track = try context.insert()
            track.seconds = 0
            let long: Artist = try context.insert()
            long.name = String(repeating: "x", count: 41)
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .validationFailed)
            #expect(Set(error?.failures.map(\.code) ?? []) == [1570, 1620, 1660])
            #expect(error?.description.contains("xxx") == false)
            #expect(context.insertedObjects == [artist, track, long])
            (artist.name, long.name, track.seconds) = ("a", "b", 1)
            try context.save()
            #expect(!context.hasChanges)
        }
    }

    @Test("do not write a row that was set to what it was")
    func sameValue() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let artist: Artist = try context.insert()
            artist.name = "a"
            try context.save()
            artist.name = "a"
            #expect(artist.isUpdated)
            #expect(!artist.hasPersistentChangedValues)
            let generation = try container.stores[0].digest()
            try context.save()
            #expect(artist.version == 1)
            #expect(try container.stores[0].digest() == generation)
            #expect(!context.hasChanges)
        }
    }

    @Test("that another context deleted read as null and count as deleted")
    func gone() throws {
        try Music.onEachBackend { container in
            let first = container.makeContext()
            let artist: Artist = try first.insert()
            artist.name = "a"
            try first.save()
            let second = container.makeContext()
            let fault = second.object(with: artist.objectID)
            #expect(fault.isFault && !fault.isDeleted)
            first.delete(artist)
            try first.save()
            #expect(fault["name"] == .null)
            #expect(fault.isDeleted)
            try second.save()
            #expect(throws: StoreError.self) { try second.existingObject(with: artist.objectID) }
            let third = container.makeContext()
            third.deletesInaccessibleFaults = false
            #expect(third.object(with: artist.objectID)["name"] == .null)
            let error = #expect(throws: StoreError.self) { try third.save() }
            #expect(error?.code == .objectNotFound)
        }
    }

    @Test("that a delete rule denies stay, and the error names both")
    func deny() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let playlist: Playlist = try context.insert()
            let track: Track = try context.insert()
            playlist.tracks.append(track)
            try context.save()
            context.delete(playlist)
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.failures.first?.kind == .deleteDenied(track.objectID))
            #expect(playlist.isDeleted)
            context.delete(track)
            try context.save()
            #expect(try context.count(FetchRequest("Playlist")) == 0)
        }
    }

    @Test("cannot be referred to by a save after another context deleted them")
    func concurrentReference() throws {
        try Music.onEachBackend { container in
            let first = container.makeContext()
            let artist: Artist = try first.insert()
            artist.name = "a"
            let album: Album = try first.insert()
            try first.save()
            album.artist = artist
            let second = container.makeContext()
            second.delete(try second.existingObject(artist.id))
            try second.save()
            let error = #expect(throws: StoreError.self) { try first.save() }
            #expect(error?.missingObjects == [artist.objectID] || error?.code == .conflict, "\(error as Any)")
            #expect(try container.makeContext().existingObject(album.id).artist == nil)
        }
    }

    @Test("with a unique value that is taken are merged into the stored object")
    func unique() throws {
        try Music.onEachBackend { container in
            let first = container.makeContext()
            let stored: Album = try first.insert()
            (stored.title, stored.year, stored.rating) = ("Blue", 1971, 1)
            try first.save()
            for policy in [MergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump] {
                let second = container.makeContext()
                let album: Album = try second.insert()
                (album.title, album.year, album.rating) = ("Blue", 1971, policy.name.contains("Object") ? 5 : 9)
                let track: Track = try second.insert()
                album.tracks.append(track)
                #expect(throws: StoreError.self) { try second.save() }
                second.mergePolicy = policy
                try second.save()
                #expect(try second.count(FetchRequest("Album")) == 1)
                #expect(track.album?.objectID == stored.objectID)
                #expect(track.album?.rating == 5)
                second.delete(track)
                try second.save()
            }
        }
    }

    @Test("read a loop over references in a few steps, and keep one instance for an ID")
    func company() throws {
        try Music.onEachBackend { container in
            let first = container.makeContext()
            let artists = try (0..<30).map { number in
                let artist: Artist = try first.insert()
                artist.name = "artist \(number)"
                return artist
            }
            for number in 0..<100 {
                let album: Album = try first.insert()
                (album.title, album.artist) = ("album \(number)", artists[number * 7 % 30])
            }
            try first.save()
            let second = container.makeContext()
            let albums = try second.fetch(Fetch<Album>(sortedBy: ["title"]))
            var names: Set<String> = []
            for album in albums { names.insert(album.artist?.name ?? "") }
            #expect(names.count == 30)
            #expect(try second.fetch(Fetch<Album>(sortedBy: ["title"])) == albums)
        }
    }

    @Test("outlive their context, and show what they had")
    func orphans() throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        var kept: [Artist] = []
        do {
            let context = container.makeContext()
            let artist: Artist = try context.insert()
            artist.name = "kept"
            try context.save()
            kept.append(artist)
            kept.append(try context.insert())
        }
        #expect(kept[0].name == "kept")
        #expect(kept[0].context == nil)
        kept[0].name = "changed"
        #expect(kept[0].name == "kept")
        #expect(kept[0].albums.isEmpty)
        kept.removeAll()
        try container.close()
    }

    @Test("are told at the end of an event and after a save")
    func observers() throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        let context = container.makeContext()
        var events: [Int] = []
        var saves = 0
        let token = context.observe { events.append($0.inserted.count) }
        let other = context.observeSaves { saves += $0.inserted.count }
        let artist: Artist = try context.insert()
        artist.name = "a"
        context.processPendingChanges()
        try context.save()
        #expect(events == [1])
        #expect(saves == 1)
        withExtendedLifetime((token, other)) {}
    }

    @Test("keep the state of a pinned context while others save")
    func pinned() throws {
        try Music.onEachBackend { container in
            let first = container.makeContext()
            let artist: Artist = try first.insert()
            artist.name = "old"
            try first.save()
            let second = container.makeContext()
            try second.pin()
            artist.name = "new"
            let more: Artist = try first.insert()
            more.name = "more"
            try first.save()
            #expect(try second.count(FetchRequest("Artist")) == 1)
            #expect(try second.existingObject(artist.id).name == "old")
            second.unpin()
            #expect(try second.count(FetchRequest("Artist")) == 2)
        }
    }

    @Test("follow batch requests of the container")
    func batches() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            context.mergesChangesAutomatically = true
            let (one, two): (Artist, Artist) = (try context.insert(), try context.insert())
            (one.name, two.name, one.rank) = ("one", "two", 1)
            let album: Album = try context.insert()
            album.artist = two
            try context.save()
            try container.execute(
                BatchUpdateRequest("Artist", where: "name == 'one'", set: ["rank": .constant(.int(7))]))
            try container.execute(BatchDeleteRequest(FetchRequest("Artist", where: "name == 'two'")))
            context.processPendingChanges()
            #expect(one.rank == 7)
            #expect(two.isDeleted)
            #expect(album.isDeleted)
            #expect(try context.fetch(Fetch<Artist>()) == [one])
        }
    }

    @Test("take values by name, and refuse what does not fit")
    func names() throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        let context = container.makeContext()
        let artist: Artist = try context.insert()
        artist.dynamic.name = "a"
        #expect(artist.name == "a")
        #expect(throws: StoreError.self) { try artist.setValue(.int(1), for: "name") }
        #expect(artist.name == "a")
        #expect(artist["nmae"] == .null)
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .unknownProperty)
        #expect(error?.message.contains("name") == true)
        try context.save()
        let other = container.makeContext()
        let stranger: Album = try other.insert()
        stranger.artist = artist
        #expect(stranger.artist == nil)
        #expect(other.pendingError?.code == .invalidRequest)
    }
}
