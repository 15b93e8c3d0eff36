import Foundation
import Roost
import RoostCore
import RoostGraph
import Testing

@Suite("Managed objects")
struct BehaviorTests {
    @Test("a save lists all validation failures and leaves all changes pending")
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

    @Test("a save does not write an object that was set to its saved value")
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

    @Test("adding a member to an unread, unordered relationship keeps the members in the order of their keys")
    func orderOfMembers() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let artists: [Artist] = try (0..<4).map { number in
                let artist: Artist = try context.insert()
                artist.name = "\(number)"
                return artist
            }
            try context.save()
            artists[0].friends = [artists[2], artists[3]]
            try context.save()
            let other = container.makeContext()
            let artist: Artist = try #require(other.object(artists[0].id))
            artist.friends.insert(try #require(other.object(artists[1].id)))
            let keys = artists[1...].map(\.objectID.key)
            #expect(artist.friends.map(\.objectID.key) == keys)
            try other.save()
            #expect(artist.friends.map(\.objectID.key) == keys)
        }
    }

    @Test("reading a fault of an object that another context deleted returns null and marks the fault deleted")
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
        }
    }

    @Test("without deletesInaccessibleFaults, reading a deleted object fails the next save")
    func inaccessibleFault() throws {
        try Music.onEachBackend { container in
            let first = container.makeContext()
            let artist: Artist = try first.insert()
            artist.name = "a"
            try first.save()
            first.delete(artist)
            try first.save()
            let second = container.makeContext()
            second.deletesInaccessibleFaults = false
            #expect(second.object(with: artist.objectID)["name"] == .null)
            let error = #expect(throws: StoreError.self) { try second.save() }
            #expect(error?.code == .objectNotFound)
        }
    }

    @Test("a denied deletion stays pending, and its error names the object that denies it")
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

    @Test("a save fails if a changed object refers to an object that another context deleted")
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

    @Test("a merge policy merges a new object into the stored object that has the same unique values")
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

    @Test("reading references in a loop finds each destination, and each ID has one instance")
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

    @Test("objects outlive their context, keep their values and accept no new values")
    func orphans() throws {
        let container = try Music.container()
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

    @Test("observers of a context run at the end of an event and after a save")
    func observers() throws {
        let container = try Music.container()
        let context = container.makeContext()
        var events: [Int] = []
        var saves = 0
        let token = context.observe { events.append($0.inserted.count) }
        let other = context.observeSaves { saves += $0.inserted.count }
        let artist: Artist = try context.insert()
        artist.name = "a"
        context.processPendingChanges()
        try context.save()
        // The second event reports the derived attributes that the save computed.
        #expect(events == [1, 0])
        #expect(saves == 1)
        withExtendedLifetime((token, other)) {}
    }

    @Test("objects of a pinned context keep their state while another context saves")
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

    @Test("a merge of commits whose changed objects are unknown ends the pin of a context")
    func incompleteNoticesEndPin() throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        let first = container.makeContext()
        let artist: Artist = try first.insert()
        artist.name = "old"
        try first.save()
        let second = container.makeContext()
        second.mergesChangesAutomatically = true
        let copy = try second.existingObject(artist.id)
        #expect(copy.name == "old")
        try second.pin()
        artist.name = "new"
        // Two commits with too many objects for one notice.
        for _ in 0..<2 {
            for _ in 0..<SaveNotice.mostIDs {
                let other: Artist = try first.insert()
                other.name = "other"
            }
            try first.save()
        }
        second.processPendingChanges()
        #expect(copy.name == "new")
        #expect(try second.count(FetchRequest("Artist")) == 2 * SaveNotice.mostIDs + 1)
    }

    @Test("an object that an earlier read missed gets its values when a fetch finds it")
    func foundLater() throws {
        try Music.onEachBackend { container in
            let first = container.makeContext()
            let second = container.makeContext()
            try second.pin()
            let artist: Artist = try first.insert()
            artist.name = "a"
            try first.save()
            let early = second.object(with: artist.objectID)
            #expect(early["name"] == .null && early.isDeleted)
            second.unpin()
            #expect(try second.fetch(FetchRequest("Artist")) == [early])
            #expect(early["name"] == .string("a") && !early.isDeleted)
        }
    }

    @Test("inserting a class that the container does not know leaves nothing to undo")
    func unknownClass() throws {
        let container = try PersistentContainer(.memory, model: try Music.model())
        let context = container.makeContext()
        let undo = UndoStack()
        context.undo = undo
        let error = #expect(throws: StoreError.self) { _ = try context.insert(Album.self) }
        #expect(error?.code == .invalidModel)
        #expect(undo.depth == 0 && !context.hasChanges && context.registeredObjects.isEmpty)
    }

    @Test("a set that is not bound to a relationship has each object once")
    func unboundSet() throws {
        let container = try Music.container()
        let context = container.makeContext()
        let (one, two): (Album, Album) = (try context.insert(), try context.insert())
        let literal: ToMany<Album> = [one, two, one]
        #expect(literal.count == 2 && Array(literal) == [one, two])
        #expect(ToMany([two, two]).count == 1)
    }

    @Test("automatic merging applies batch updates and deletes of the container")
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

    @Test("a value of the wrong type that is set by name is refused")
    func wrongType() throws {
        let container = try Music.container()
        let context = container.makeContext()
        let artist: Artist = try context.insert()
        artist.dynamic.name = "a"
        #expect(artist.name == "a")
        #expect(throws: StoreError.self) { try artist.setValue(.int(1), for: "name") }
        #expect(artist.name == "a")
        try context.save()
    }

    @Test("a value set by name on an object that has left its context is refused")
    func setValueWithoutContext() throws {
        let container = try Music.container()
        let context = container.makeContext()
        let artist: Artist = try context.insert()
        artist.name = "a"
        try context.save()
        context.reset()
        let error = #expect(throws: StoreError.self) { try artist.setValue("b", for: "name") }
        #expect(error?.code == .closed)
        #expect(artist.name == "a")
        // The subscript cannot throw, and ignores the value.
        artist["name"] = "b"
        #expect(artist.name == "a")
        try context.save()
    }

    @Test("a reference set by name on an object that has left its context is refused", arguments: [false, true])
    func setObjectWithoutContext(isNull: Bool) throws {
        let container = try Music.container()
        let (context, other) = (container.makeContext(), container.makeContext())
        let (artist, passport): (Artist, Passport) = (try context.insert(), try context.insert())
        (artist.name, artist.passport) = ("a", passport)
        try context.save()
        context.reset()
        let stranger = try #require(other.object(passport.id))
        let error = #expect(throws: StoreError.self) {
            try artist.setObject(isNull ? nil : stranger, for: "passport")
        }
        #expect(error?.code == .closed)
        try context.save()
    }

    @Test("a to-one relationship of an object that has left its context ignores new values", arguments: [false, true])
    func toOneWithoutContext(isNull: Bool) throws {
        let container = try Music.container()
        let (context, other) = (container.makeContext(), container.makeContext())
        let (artist, passport): (Artist, Passport) = (try context.insert(), try context.insert())
        (artist.name, artist.passport) = ("a", passport)
        try context.save()
        context.reset()
        let stranger: Passport = try other.insert()
        artist.passport = isNull ? nil : stranger
        artist["passport"] = isNull ? .null : .objectID(passport.objectID)
        #expect(context.pendingError == nil && other.pendingError == nil)
        #expect(stranger.holder == nil)
        try context.save()
    }

    @Test("setting a composite of an object that has left its context has no effect")
    func compositeWithoutContext() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Place",
                attributes: [AttributeDescription("position", type: .composite, elements: [.double("x")])])
        ])
        let container = try PersistentContainer(.memory, model: model, types: [Place.self])
        let context = container.makeContext()
        let place: Place = try context.insert()
        place.position = ["x": 1.0]
        try context.save()
        context.reset()
        place.position = ["x": 2.0]
        #expect(place.position == ["x": 1.0])
        try context.save()
    }

    @Test("a misspelled property name reads as null, and the next save suggests the right name")
    func misspelledName() throws {
        let container = try Music.container()
        let context = container.makeContext()
        let artist: Artist = try context.insert()
        artist.name = "a"
        #expect(artist["nmae"] == .null)
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .unknownProperty)
        #expect(error?.message.contains("name") == true)
        try context.save()
    }

    @Test("an object of another context cannot be the destination of a relationship")
    func destinationOfOtherContext() throws {
        let container = try Music.container()
        let context = container.makeContext()
        let artist: Artist = try context.insert()
        artist.name = "a"
        try context.save()
        let other = container.makeContext()
        let stranger: Album = try other.insert()
        stranger.artist = artist
        #expect(stranger.artist == nil)
        #expect(other.pendingError?.code == .invalidRequest)
    }

    @Test("an ID of an unknown entity gives no object of the context, and cannot be a destination")
    func unknownEntity() throws {
        let container = try Music.container()
        let context = container.makeContext()
        let album: Album = try context.insert()
        let id = ObjectID("Nothing", key: 1)
        let object = context.object(with: id)
        #expect(object.context == nil && !context.registeredObjects.contains(object))
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .unknownEntity)
        let refusal = #expect(throws: StoreError.self) { try album.setValue(.objectID(id), for: "artist") }
        #expect(refusal?.code == .unknownEntity)
        #expect(album.artist == nil)
        try context.save()
    }
}

private final class Place: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Place" }
    static func propertyName(of path: AnyKeyPath) -> String? { [\Place.position: "position"][path] }
    var position: [String: Value]? {
        get { composite(slot: 0) }
        set { setComposite(newValue, slot: 0) }
    }
    static var shape: ClassShape { ClassShape("Place", properties: [.field("position", as: .composite)]) }
}
