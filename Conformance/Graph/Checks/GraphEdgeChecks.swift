internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    /// Edge cases of the other groups and of their combinations.
    static let edges: [GraphCheck] = [
        GraphCheck(
            "identity.temporary-unavailable",
            "If the store can reserve keys neither at the insert nor at the save, the save throws the store's error, and everything stays pending. Once keys are available, a save replaces temporary IDs and stores the objects.",
            .roost
        ) { bench in
            let (container, meter) = try bench.makeMetered()
            let context = container.makeContext()
            meter.setReservesKeys(false)
            let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
            (artist.name, album.artist) = ("Joni", artist)
            for _ in 0..<2 {
                try expectError(.busy, in: "a save without keys") { try context.save() }
                try expect(artist.isInserted && album.artist === artist, "everything is pending")
            }
            let dropped: Genre = try context.insert()
            context.delete(dropped)
            context.processPendingChanges()
            try expect(dropped.context == nil, "an object with a temporary key leaves the context")
            context.rollback()
            try expect(artist.context == nil && !context.hasChanges, "a rollback removes objects with temporary keys")
            let again: Album = try context.insert()
            again.title = "again"
            let before = again.objectID
            meter.setReservesKeys(true)
            try context.save()
            try expect(again.objectID != before && again.objectID.key > 0, "a final key")
            try expectEqual(try bench.storedCount("Album", in: container), 1, "the stored albums")
        },
        GraphCheck(
            "identity.outlives-context",
            "An object that outlives its context keeps its values, ignores changes, and has no context.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            func take() throws -> (Album, ManagedObject, Genre) {
                let context = container.makeContext()
                let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
                let fault = try require(album.artist, "a fault")
                let genre: Genre = try context.insert()
                genre.name = "new"
                album.year = 5
                return (album, fault, genre)
            }
            let (album, fault, genre) = try take()
            try expect(album.context == nil && fault.context == nil && genre.context == nil, "no context")
            try expectEqual([album["title"], album["year"], genre["name"]], ["Blue", 5, "new"], "the values")
            try expectEqual(fault["name"], .null, "a value of a fault")
            try expect(!album.hasChanges && !genre.isInserted && !album.isDeleted, "no changes")
            album.title = "other"
            album.artist = nil
            album.tracks = []
            genre.tracks.removeAll()
            try expectEqual(album.title, "Blue", "the title after it was set")
            try expectEqual(album.tracks.count, 0, "the tracks, which cannot be read")
            _ = [
                album.description, fault.description, "\(album.changedValues())", "\(genre.hasPersistentChangedValues)",
            ]
            try expectEqual(try bench.storedCount("Genre", in: container), 1, "the stored genres")
        },
        GraphCheck(
            "faults.few-of-many",
            "Objects of a large result keep their own values after the program releases the others.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                for number in 0..<3_000 {
                    let album: Album = try context.insert()
                    (album.title, album.plays) = (String(repeating: "title \(number) ", count: 20), Int64(number))
                }
            }
            let context = container.makeContext()
            var kept: [Album] = []
            for (index, album) in try context.fetch(Fetch<Album>()).enumerated() where index % 300 == 7 {
                kept.append(album)
            }
            try expect(
                context.registeredObjects.count < 20, "the others left", otherwise: "\(context.registeredObjects.count)"
            )
            var count = 0
            try context.forEach(Fetch<Album>()) { album in
                if album.plays % 100 == 3 { album.title = "changed" }
                count += 1
            }
            try expectEqual(count, 3_000, "the number of objects of a pass")
            try expectEqual(context.updatedObjects.count, 30, "the changed objects, which stay")
            for album in kept {
                try expectEqual(
                    album.title, String(repeating: "title \(album.plays) ", count: 20), "a title that was kept")
            }
            try context.save()
            try expectEqual(
                try context.count(FetchRequest("Album", where: "title == 'changed'")), 30, "the stored changes")
        },
        GraphCheck(
            "relations.ordered-merge",
            "If two contexts insert members into one ordered relationship and save, both then see the same list with all members.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            var (albumID, playlistID) = (ObjectID("Album", key: 1), ObjectID("Playlist", key: 1))
            try bench.change(container) { context in
                let (album, playlist): (Album, Playlist) = (try context.insert(), try context.insert())
                for title in ["a", "b", "c"] {
                    let track: Track = try context.insert()
                    track.title = title
                    album.tracks.append(track)
                    playlist.tracks.append(track)
                }
                (albumID, playlistID) = (album.objectID, playlist.objectID)
            }
            func change(_ context: ManagedObjectContext, title: String, at place: Int?) throws {
                let album = try require(try context.existingObject(with: albumID) as? Album, "an album")
                let playlist = try require(try context.existingObject(with: playlistID) as? Playlist, "a playlist")
                let track: Track = try context.insert()
                track.title = title
                if let place {
                    album.tracks.insert(track, at: place)
                    playlist.tracks.insert(track, at: place)
                } else {
                    album.tracks.append(track)
                    playlist.tracks.append(track)
                }
            }
            func titles(_ context: ManagedObjectContext) throws -> [String] {
                try [albumID, playlistID].map { id in
                    try context.existingObject(with: id).orderedObjects("tracks").map { ($0 as? Track)?.title ?? "-" }
                        .joined()
                }
            }
            for (place, round) in [(nil, "x"), (1, "y"), (0, "z")] as [(Int?, String)] {
                let (first, second) = (container.makeContext(), container.makeContext())
                try change(first, title: "\(round)1", at: place)
                try change(second, title: "\(round)2", at: place)
                try first.save()
                try second.save()
                try first.refreshAllObjects()
                let other = container.makeContext()
                let lists = try titles(other)
                try expectEqual(try titles(first), lists, "the lists of one context, and those stored")
                try expectEqual(try titles(second), lists, "the lists of the other context, and those stored")
                for list in lists {
                    try expect(
                        list.contains("\(round)1") && list.contains("\(round)2"), "both members", otherwise: list)
                    let old = list.filter("abc".contains)
                    try expectEqual(old, "abc", "the order of the old members in \(list)")
                }
            }
            // Insertions between members with equal or close places.
            let context = container.makeContext()
            for place in [1, 2, 5] { try change(context, title: "m\(place)", at: place) }
            let expected = try titles(context)
            try context.save()
            let other = container.makeContext()
            try expectEqual(try titles(other), expected, "the lists after insertions between")
        },
        GraphCheck(
            "relations.set-members",
            "After a set or list is assigned, exactly its objects are members, whatever was pending before.", .roost
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
            let albums = try (0..<4).map { _ in try context.insert() as Album }
            let tracks = try (0..<4).map { _ in try context.insert() as Track }
            artist.albums = [albums[0], albums[1]]
            album.tracks = [tracks[0], tracks[1], tracks[2]]
            try context.save()
            artist.albums.insert(albums[2])
            artist.albums.remove(albums[0])
            artist.albums = [albums[0], albums[3]]
            album.tracks.remove(tracks[1])
            album.tracks = [tracks[3], tracks[1], tracks[0]]
            try expectEqual(Set(artist.albums), [albums[0], albums[3]], "the set")
            try expect(albums[1].artist == nil && albums[2].artist == nil, "the albums outside the set")
            try expectEqual(Array(album.tracks), [tracks[3], tracks[1], tracks[0]], "the list")
            try context.save()
            let other = container.makeContext()
            try expectEqual(
                Set(try other.existingObject(artist.id).albums.map(\.objectID)),
                [albums[0].objectID, albums[3].objectID],
                "the stored set")
            try expectEqual(
                try other.existingObject(album.id).tracks.map(\.objectID),
                [tracks[3], tracks[1], tracks[0]].map(\.objectID),
                "the stored list")
            artist.albums = artist.albums
            album.tracks = album.tracks
            try expect(!artist.hasPersistentChangedValues && !album.hasPersistentChangedValues, "no differences")
        },
        GraphCheck(
            "delete.new-destination",
            "If a new object is deleted before the save, references to it are cleared, and it leaves to-many relationships. No dangling reference is stored.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let track = try require(album.tracks.first, "a track")
            let (artist, genre, extra): (Artist, Genre, Track) = (
                try context.insert(), try context.insert(), try context.insert()
            )
            let (shelf, tag, image): (ManagedObject, ManagedObject, Image) = (
                try context.insert("Shelf"), try context.insert("Tag"), try context.insert()
            )
            album.artist = artist
            track.genre = genre
            track.tags.insert(tag)
            album.tracks.append(extra)
            try shelf.setObject(image, for: "cover")
            for object in [artist, genre, extra, tag, image] as [ManagedObject] { context.delete(object) }
            context.processPendingChanges()
            try expect(album.artist == nil && track.genre == nil && track.tags.isEmpty, "the references")
            try expectEqual(album.tracks.count, 3, "the tracks")
            try expect(try shelf.object("cover") == nil, "the one-way reference")
            try context.save()
            let other = container.makeContext()
            let copy = try other.existingObject(album.id)
            try expect(copy.artist == nil && copy.tracks.first?.genre == nil, "the stored references")
            try expectEqual(copy.tracks.count, 3, "the stored tracks")
            try expectEqual(
                try other.existingObject(with: shelf.objectID)["cover"], .null, "the stored one-way reference")
        },
        GraphCheck(
            "delete.reference-to-deleted",
            "A reference that is set to a deleted object is not stored as a dangling one: the save fails, or the reference is null.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                try insertBlue(into: context)
                _ = try context.insert("Tag")
            }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let track = try require(album.tracks.first, "a track")
            let (artist, tag) = (
                try require(album.artist, "an artist"),
                try require(try context.fetch(FetchRequest("Tag")).first, "a tag")
            )
            album.artist = nil
            context.delete(artist)
            context.delete(tag)
            context.processPendingChanges()
            album.artist = artist
            track.tags.insert(tag)
            do {
                try context.save()
            } catch let error as StoreError {
                try expect(
                    [.objectNotFound, .deleteDenied, .validationFailed, .invalidRequest].contains(error.code),
                    "an expected error code", otherwise: "\(error)")
                album.artist = nil
                track.tags.remove(tag)
                context.delete(artist)
                context.delete(tag)
                try context.save()
            }
            try expectEqual(try bench.storedCount("Artist", in: container), 0, "the stored artists")
            try expectEqual(
                try bench.storedValues(album.objectID, in: container)?["artist"] ?? .null, .null, "the reference")
            let other = container.makeContext()
            try expectEqual(try other.existingObject(track.id).tags.count, 0, "the stored tags")
            try expect(album.artist == nil && track.tags.isEmpty, "the references in the context")
        },
        GraphCheck(
            "delete.links",
            "Deleting an object ends its many-to-many links, in loaded relationships and in the store, and keeps the order of the remaining members.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                let playlist: Playlist = try context.insert()
                let tag = try context.insert("Tag")
                for title in ["a", "b", "c"] {
                    let track: Track = try context.insert()
                    track.title = title
                    track.tags.insert(tag)
                    playlist.tracks.append(track)
                }
            }
            for readsFirst in [true, false] {
                let context = container.makeContext()
                let playlist = try require(try context.fetch(Fetch<Playlist>()).first, "a playlist")
                let tag = try require(try context.fetch(FetchRequest("Tag")).first, "a tag")
                if readsFirst {
                    try expectEqual([playlist.tracks.count, try tag.objects("tagged").count], [3, 3], "the members")
                }
                let track = try require(try context.fetch(Fetch<Track>(where: "title == 'b'")).first, "a track")
                context.delete(track)
                context.processPendingChanges()
                try expectEqual(playlist.tracks.map(\.title), ["a", "c"], "the playlist")
                try expectEqual(try tag.objects("tagged").count, 2, "the tagged tracks")
                guard !readsFirst else {
                    context.rollback()
                    try expectEqual(playlist.tracks.map(\.title), ["a", "b", "c"], "the playlist after a rollback")
                    continue
                }
                try context.save()
                try expectEqual(playlist.tracks.map(\.title), ["a", "c"], "the playlist after the save")
                let other = container.makeContext()
                try expectEqual(
                    try other.existingObject(playlist.id).tracks.map(\.title), ["a", "c"], "the stored playlist")
                try expectEqual(
                    try other.existingObject(with: tag.objectID).objects("tagged").count, 2, "the stored links")
                context.delete(tag)
                context.delete(playlist)
                try context.save()
                try expectEqual(try bench.storedCount("Track", in: container), 2, "the stored tracks")
            }
        },
        GraphCheck(
            "delete.cascade-unsaved",
            "A cascade deletes members that were added or moved before the save, and spares members that were removed.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            var ids: [ObjectID] = []
            try bench.change(container) { context in
                for name in ["a", "b"] {
                    let owner = try context.insert("Owner")
                    owner["name"] = .string(name)
                    var leaves = try owner.objects("leaves")
                    for _ in 0..<2 { leaves.insert(try context.insert("Leaf")) }
                    ids += [owner.objectID] + leaves.map(\.objectID)
                }
            }
            let context = container.makeContext()
            let objects = try ids.map { try context.existingObject(with: $0) }
            let (first, second) = (objects[0], objects[3])
            let new = try context.insert("Leaf")
            var leaves = try first.objects("leaves")
            leaves.insert(new)
            leaves.insert(objects[4])
            leaves.remove(objects[1])
            context.delete(first)
            context.processPendingChanges()
            try expectEqual(context.deletedObjects, [first, objects[2], objects[4]], "the deleted objects")
            try expect(new.context == nil, "the new member left the context")
            try context.save()
            let other = container.makeContext()
            try expectEqual(
                Set(try other.fetchIDs(FetchRequest("Leaf"))), [objects[1].objectID, objects[5].objectID],
                "the stored members")
            try expectEqual(
                try other.existingObject(with: second.objectID).objects("leaves").map(\.objectID),
                [objects[5].objectID],
                "the members of the other owner")
        },
        GraphCheck(
            "save.from-hook", "A save from a hook of a save throws invalidRequest, and the outer save succeeds.", .roost
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let draft: Draft = try context.insert()
            var codes: [StoreError.Code?] = []
            draft.whenSaving = { draft in
                do { try draft.context?.save() } catch { codes.append((error as? StoreError)?.code) }
            }
            try context.save()
            try expectEqual(codes, [.invalidRequest], "the errors of the inner saves")
            try expectEqual(try bench.storedCount("Draft", in: container), 1, "the stored drafts")
        },
        GraphCheck(
            "save.inserts-and-deletes-in-hooks",
            "Objects that willSave inserts and deletes are a part of the same save.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { (try $0.insert() as Genre).name = "old" }
            let context = container.makeContext()
            let old = try require(try context.fetch(Fetch<Genre>()).first, "a genre")
            let draft: Draft = try context.insert()
            draft.title = "first"
            draft.whenSaving = { draft in
                guard let context = draft.context, draft.next == nil else { return }
                guard let next = try? context.insert(Draft.self) else { return }
                next.title = "second"
                draft.next = next
                context.delete(old)
            }
            try context.save()
            try expect(!context.hasChanges, "no changes")
            let other = container.makeContext()
            try expectEqual(
                try other.fetch(Fetch<Draft>(sortedBy: ["title"])).map(\.title), ["first", "second"], "the drafts")
            try expectEqual(try other.existingObject(draft.id).next?.title, "second", "the relationship")
            try expectEqual(try other.count(FetchRequest("Genre")), 0, "the genres")
        },
        GraphCheck(
            "save.closed",
            "After close, every read and save of a context throws closed, and using its objects does not stop the program.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let artist = try require(album.artist, "a fault")
            album.year = 1
            try container.close()
            try expectError(.closed, in: "a fetch") { _ = try context.fetch(Fetch<Album>()) }
            try expectError(.closed, in: "a count") { _ = try context.count(FetchRequest("Album")) }
            try expectError(.closed, in: "a save") { try context.save() }
            try expectEqual(artist.name, nil, "a property of a fault")
            try expectError(.closed, in: "a save after a getter") { try context.save() }
            try expectEqual(album.title, "Blue", "a property that was read")
            try expectEqual(album.tracks.count, 0, "members that were not read")
            context.rollback()
        },
    ]
}
