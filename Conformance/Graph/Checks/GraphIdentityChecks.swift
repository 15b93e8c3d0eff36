internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    static let identity: [GraphCheck] = [
        GraphCheck(
            "identity.unique", "An object fetched twice and reached by a relationship is one instance.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let first = try context.fetch(Fetch<Album>(where: "title == 'Blue'"))
            let second = try context.fetch(Fetch<Album>())
            try expectEqual(first.count, 1, "the number of albums")
            try expect(first[0] === second[0], "two fetches give one instance")
            let track = try require(try context.fetch(Fetch<Track>()).first, "a track")
            try expect(track.album === first[0], "a relationship gives the same instance")
            try expect(first[0].artist?.albums.first === first[0], "an inverse relationship gives the same instance")
            try expect(
                try context.existingObject(first[0].id) === first[0]
                    && context.object(with: first[0].objectID) === first[0],
                "the ID gives the same instance")
        },
        GraphCheck(
            "identity.final-key",
            "After a save, an inserted object has the same ID as before, and another context finds it by that ID.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let album: Album = try context.insert()
            album.title = "Blue"
            let id = album.objectID
            try expect(id.key > 0, "a final key at once", otherwise: "\(id)")
            try context.save()
            try expectEqual(album.objectID, id, "the ID after the save")
            let other = container.makeContext()
            try expectEqual(try other.existingObject(album.id).title, "Blue", "the title in another context")
        },
        GraphCheck(
            "identity.temporary",
            "If a store cannot reserve keys at an insert, the object gets a temporary ID without a URI. A save that can reserve keys replaces the ID, even in references of other new objects.",
            .both
        ) { bench in
            let (container, meter) = try bench.makeMetered()
            let context = container.makeContext()
            meter.setReservesKeys(false)
            let artist: Artist = try context.insert()
            let album: Album = try context.insert()
            let playlist: Playlist = try context.insert()
            let track: Track = try context.insert()
            let clip: Clip = try context.insert()
            let shelf = try context.insert("Shelf")
            (artist.name, album.title, track.title, clip.name) = ("Joni", "Blue", "Carey", "clip")
            album.artist = artist
            album.tracks.append(track)
            playlist.tracks.append(track)
            var tags = track.tags
            tags.insert(try context.insert("Tag"))
            try shelf.setObject(clip, for: "cover")
            for object in [artist, album, playlist, track, clip, shelf] as [ManagedObject] {
                try expect(object.objectID.key < 0, "a temporary key", otherwise: "\(object.objectID)")
                try expectEqual(try container.uri(of: object.objectID), nil, "the URI of a temporary ID")
            }
            try expectEqual(
                try context.fetch(Fetch<Album>(where: "artist.name == 'Joni'")), [album], "a fetch before the save")
            let old = album.objectID
            meter.setReservesKeys(true)
            try context.save()
            for object in [artist, album, playlist, track, clip, shelf] as [ManagedObject] {
                try expect(object.objectID.key > 0, "a final key", otherwise: "\(object.objectID)")
                try expect(context.registeredObject(for: object.objectID) === object, "the object by its final ID")
            }
            try expect(context.registeredObject(for: old) == nil, "no object by the temporary ID")
            try expect(album.artist === artist && artist.albums.contains(album), "the relationship in the context")
            try expectEqual(Array(playlist.tracks), [track], "the tracks of the playlist in the context")
            let other = container.makeContext()
            let copy = try other.existingObject(album.id)
            try expectEqual(copy.artist?.name, "Joni", "the artist in another context")
            try expectEqual(copy.tracks.map(\.title), ["Carey"], "the tracks in another context")
            try expectEqual(
                try other.existingObject(playlist.id).tracks.map(\.title), ["Carey"], "the playlist in another context")
            try expectEqual(try other.existingObject(track.id).tags.count, 1, "the tags in another context")
            try expectEqual(
                try other.existingObject(with: shelf.objectID).object("cover")?.objectID, clip.objectID,
                "a reference to an entity with subentities")
        },
        GraphCheck(
            "identity.object-with-id",
            "For an ID of no object, object(with:) gives a fault without reading, a property access makes it inaccessible, and existingObject(with:) throws objectNotFound.",
            .apple
        ) { bench in
            let (container, meter) = try bench.makeMetered()
            let context = container.makeContext()
            let id = ObjectID("Album", key: 999)
            var found: ManagedObject?
            let counts = meter.counting { found = context.object(with: id) }
            let object = try require(found, "an object")
            try expectEqual(counts.readCount, 0, "the reads of object(with:)")
            try expect(object.isFault && !object.isDeleted, "a fault")
            try expectEqual(object["title"], .null, "a property")
            try expect(object.isDeleted, "the object is inaccessible")
            try expectError(.objectNotFound, in: "existingObject(with:)") { _ = try context.existingObject(with: id) }
            let fresh = container.makeContext()
            try expectError(.objectNotFound, in: "existingObject(with:) at first") {
                _ = try fresh.existingObject(with: ObjectID("Album", key: 998))
            }
        },
        GraphCheck(
            "identity.registered",
            "registeredObject(for:) returns only an object that is already in the context, and reads nothing.", .apple
        ) { bench in
            let (container, meter) = try bench.makeMetered { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let track = try require(try container.makeContext().fetchIDs(FetchRequest("Track")).first, "a track's ID")
            let counts = try meter.counting {
                try expect(context.registeredObject(for: album.objectID) === album, "the album is registered")
                try expect(context.registeredObject(for: track) == nil, "the track is not")
            }
            try expectEqual(counts, StoreMeter.Counts(), "the reads")
        },
        GraphCheck(
            "identity.weak",
            "An unchanged object that the program released is read again on request. A changed one is still in the context.",
            .apple
        ) { bench in
            let (container, meter) = try bench.makeMetered { try insertBlue(into: $0) }
            let context = container.makeContext()
            func read(isChanged: Bool) throws -> ObjectID {
                let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
                if isChanged { album.year = 2000 }
                return album.objectID
            }
            let id = try read(isChanged: false)
            try expect(context.registeredObject(for: id) == nil, "a released object has left the context")
            let counts = try meter.counting {
                try expectEqual(try context.existingObject(with: id)["title"], "Blue", "the title, read again")
            }
            try expect(counts.readCount > 0, "the object was read again")
            _ = try read(isChanged: true)
            try expectEqual(context.registeredObject(for: id)?["year"], 2000, "a changed object stays")
            try context.save()
            try expectEqual(try bench.storedValues(id, in: container)?["year"], 2000, "the saved change")
        },
        GraphCheck(
            "identity.subentity", "An ID that names a superentity gives an object with its actual entity and class.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            var key: Int64 = 0
            try bench.change(container) { context in
                let clip: Clip = try context.insert()
                (clip.name, clip.source) = ("clip", "tape")
                key = clip.objectID.key
            }
            for entity in ["Asset", "Video", "Clip"] as [EntityName] {
                let context = container.makeContext()
                let object = try context.existingObject(with: ObjectID(entity, key: key))
                let clip = try require(object as? Clip, "a Clip for an ID of entity \(entity), not \(type(of: object))")
                try expectEqual(clip.objectID, ObjectID("Clip", key: key), "its ID")
                try expectEqual(clip.entity.name, "Clip", "its entity")
                try expectEqual(clip.source, "tape", "its own attribute")
                let lazy = container.makeContext().object(with: ObjectID(entity, key: key))
                try expect(lazy is Clip, "object(with:) of \(entity) gives a Clip", otherwise: "\(type(of: lazy))")
            }
            // This context's event begins before the insert, so the context cannot know the object's entity yet.
            let early = container.makeContext()
            _ = try early.count(FetchRequest("Asset"))
            try bench.change(container) { context in
                let clip: Clip = try context.insert()
                (clip.name, clip.source) = ("late", "disk")
                key = clip.objectID.key
            }
            let fault = early.object(with: ObjectID("Asset", key: key))
            early.processPendingChanges()
            _ = try early.fetch(FetchRequest("Asset"))
            try expectEqual(fault.objectID, ObjectID("Clip", key: key), "the ID after a fetch")
            try expectEqual(fault["source"], "disk", "its own attribute after a fetch")
        },
        GraphCheck(
            "identity.uri",
            "The URI of a saved object gives the same object in another container of the same store. The URI of a foreign store gives nil.",
            .apple, needs: [.persistence]
        ) { bench in
            let container = try bench.makeContainer()
            var id = ObjectID("Album", key: 1)
            try bench.change(container) { id = try insertBlue(into: $0).objectID }
            let uri = try require(try container.uri(of: id), "a URI")
            let foreign = try bench.makeContainer(name: "foreign")
            try expectEqual(try foreign.objectID(uri: uri), nil, "the ID in a container of another store")
            try expectEqual(try container.objectID(uri: "https://example.org/x"), nil, "the ID of another text")
            let again = try bench.reopen(container)
            let found = try require(try again.objectID(uri: uri), "an ID in the reopened store")
            try expectEqual(found, id, "the ID")
            try expectEqual(try again.makeContext().existingObject(with: found)["title"], "Blue", "the title")
        },
    ]

    /// Inserts the album 'Blue' of Joni with its tracks Carey, California and River.
    @discardableResult
    static func insertBlue(into context: ManagedObjectContext) throws -> Album {
        let artist: Artist = try context.insert()
        artist.name = "Joni"
        let genre: Genre = try context.insert()
        genre.name = "folk"
        let album: Album = try context.insert()
        (album.title, album.year, album.artist) = ("Blue", 1971, artist)
        for name in ["Carey", "California", "River"] {
            let track: Track = try context.insert()
            (track.title, track.genre) = (name, genre)
            album.tracks.append(track)
        }
        return album
    }
}
