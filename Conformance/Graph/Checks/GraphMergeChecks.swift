internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery
internal import RoostStores

extension GraphCheck {
    /// Refreshing, rolling back and resetting.
    static let refreshing: [GraphCheck] = [
        GraphCheck(
            "refresh.merge",
            "With a pending change and a newer row, a refresh with merging updates the other properties and committedValues and keeps the pending value.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            album.title = "mine"
            album.tracks.append(try context.insert())
            try bench.change(container) { other in
                let copy = try other.existingObject(album.id)
                (copy.title, copy.year) = ("theirs", 2000)
                copy.tracks.remove(at: 0)
            }
            try context.refresh(album, mergingChanges: true)
            try expectEqual([album["title"], album["year"]], ["mine", 2000], "the values")
            try expectEqual(
                try album.committedValues(["title", "year"]), ["title": "theirs", "year": 2000], "the committed values")
            try expectEqual(album.changedValues(), ["title": "mine"], "the changed values")
            try expectEqual(album.version, 2, "the version")
            try expectEqual(album.tracks.map(\.title), ["California", "River", nil], "the tracks of both sides")
            try context.save()
            let stored = try bench.storedValues(album.objectID, in: container)
            try expectEqual([stored?["title"], stored?["year"]], ["mine", 2000], "the stored values")
        },
        GraphCheck(
            "refresh.discard",
            "With a pending change and a newer row, a refresh without merging makes the object a fault and discards its changes.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            album.title = "mine"
            try bench.change(container) { try $0.existingObject(album.id).year = 2000 }
            try context.refresh(album, mergingChanges: false)
            try expect(album.isFault && !album.hasChanges && !context.hasChanges, "a fault without changes")
            try expectEqual([album["title"], album["year"]], ["Blue", 2000], "the values")
        },
        GraphCheck(
            "refresh.both-sides",
            "After a refresh that discards changes, both sides of relationships agree, in the object and in the objects at the other end.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let (joni, neil, track): (Artist?, Artist, Track) = (
                album.artist, try context.insert(), try context.insert()
            )
            (album.artist, track.album, track.title) = (neil, album, "new")
            try expectEqual([neil.albums.count, album.tracks.count], [1, 4], "the members before")
            try context.refresh(album, mergingChanges: false)
            try expectEqual(album.artist, joni, "the reference")
            try expectEqual(joni?.albums.map(\.objectID), [album.objectID], "the albums of the artist")
            try expectEqual(neil.albums.count, 0, "the albums of the other artist")
            try expectEqual(track.album, album, "the reference of another object")
            try expectEqual(album.tracks.map(\.title).last, "new", "the member that refers to the object")
            try expectEqual(
                try context.count(Fetch<Album>(where: "tracks.@count == 4")), 1, "a fetch that counts the members")
            try context.save()
            try expectEqual(album.tracks.count, 4, "the members after the save")
        },
        GraphCheck(
            "rollback.deleted-elsewhere",
            "An object with pending changes stays when another context deletes it. After a rollback, it counts as deleted.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            context.mergesChangesAutomatically = true
            let tracks = try context.fetch(Fetch<Track>(sortedBy: ["title"]))
            for track in tracks { track.title = "mine" }
            context.processPendingChanges()
            try bench.change(container) { other in
                for track in tracks[..<2] { other.delete(try other.existingObject(track.id)) }
            }
            context.processPendingChanges()
            try expectEqual(tracks.map(\.title), ["mine", "mine", "mine"], "the titles of changed objects")
            context.rollback()
            try expectEqual(tracks.map(\.isDeleted), [true, true, false], "which objects are deleted")
            try expectEqual(tracks[2].title, "River", "the title of the other object")
            try expectEqual(try context.count(Fetch<Track>()), 1, "the number of tracks")
            try context.save()
        },
        GraphCheck(
            "rollback.all",
            "A rollback removes the inserts, restores the old values, cancels the deletes, and reads nothing.", .apple
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                try insertBlue(into: context)
                (try context.insert() as Genre).name = "gone"
                (try context.insert() as Artist).name = "other"
            }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let artist = try require(album.artist, "an artist")
            let other = try require(try context.fetch(Fetch<Artist>(where: "name == 'other'")).first, "another artist")
            let genre = try require(try context.fetch(Fetch<Genre>(where: "name == 'gone'")).first, "a genre")
            try expectEqual([artist.albums.count, other.albums.count], [1, 0], "the numbers of albums")
            let tracks = Array(album.tracks)
            (album.title, album.year) = ("changed", 1)
            album.artist = other
            album.tracks.move(from: 0, to: 2)
            let track: Track = try context.insert()
            album.tracks.append(track)
            context.delete(genre)
            context.delete(tracks[1])
            context.processPendingChanges()
            let counts = meter.counting { context.rollback() }
            try expectEqual(counts, StoreMeter.Counts(), "the reads of the rollback")
            try expect(
                !context.hasChanges && context.insertedObjects.isEmpty && context.deletedObjects.isEmpty, "no changes")
            try expect(track.context == nil && !track.isInserted, "the insert left the context")
            try expect(!genre.isDeleted && !genre.hasChanges && genre.context === context, "the delete is cancelled")
            try expectEqual([album["title"], album["year"]], ["Blue", 1971], "the old values")
            try expect(album.artist === artist, "the old artist")
            try expectEqual(Array(artist.albums), [album], "the albums of the old artist")
            try expectEqual(Array(other.albums), [], "the albums of the other artist")
            try expectEqual(Array(album.tracks), tracks, "the tracks in their order")
            let before = try bench.generation(of: container)
            try context.save()
            try expectEqual(try bench.generation(of: container), before, "the generation after a save")
        },
        GraphCheck(
            "reset.dead", "After reset, old objects have no context, and a fetch returns other instances.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let fault = try require(album.artist, "a fault")
            let inserted: Genre = try context.insert()
            album.year = 1
            context.reset()
            try expect(album.context == nil && fault.context == nil && inserted.context == nil, "no context")
            try expect(!album.hasChanges && !inserted.isInserted && !context.hasChanges, "no changes")
            try expect(context.registeredObjects.isEmpty, "no objects in the context")
            let again = try require(try context.fetch(Fetch<Album>()).first, "an album")
            try expect(again !== album && again.year == 1971, "another instance with the stored values")
            album.year = 5
            try context.save()
            try expectEqual(again.year, 1971, "the value after an old object was set")
            try expectEqual(fault.name, nil, "a property of an old fault")
        },
    ]

    /// Merging saves of other contexts.
    static let merging: [GraphCheck] = [
        GraphCheck(
            "merging.save-notice",
            "After a merge of another context's save, new values appear, and pending changes stay on top of them. Inserted objects are registered, deleted objects are isDeleted and in no fetch, and loaded to-many relationships have the new members.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let (context, other) = (container.makeContext(), container.makeContext())
            context.retainsRegisteredObjects = true
            var shown: Set<ObjectID> = []
            let observation = context.observe { shown.formUnion($0.inserted.map(\.objectID)) }
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let artist = try require(album.artist, "an artist")
            let tracks = Array(album.tracks)
            try expectEqual(artist.albums.count, 1, "the albums at first")
            let gone = tracks[1]
            try expectEqual(gone.title, "California", "the track to delete")
            album.title = "mine"
            var notices: [SaveNotice] = []
            let token = other.observeSaves { notices.append($0) }
            let copy = try other.existingObject(album.id)
            (copy.title, copy.year) = ("theirs", 2000)
            let new: Album = try other.insert()
            (new.title, new.artist) = ("new", copy.artist)
            other.delete(try other.existingObject(gone.id))
            try other.save()
            let notice = try require(notices.first, "a notice")
            try expectEqual(notice.inserted, [new.objectID], "the inserts of the notice")
            try expectEqual(notice.deleted, [gone.objectID], "the deletes of the notice")
            try expect(
                Set(notice.updated).isSuperset(of: [album.objectID, artist.objectID]), "the updates of the notice",
                otherwise: "\(notice.updated)")
            try context.mergeChanges(notice)
            try expectEqual(
                [album["title"], album["year"]], ["mine", 2000], "the values with a pending change on top")
            try expectEqual(try album.committedValues(["title"]), ["title": "theirs"], "the committed title")
            try expect(gone.isDeleted, "the deleted track")
            try expectEqual(
                try context.fetch(Fetch<Track>(sortedBy: ["title"])), [tracks[0], tracks[2]], "the tracks of a fetch")
            try expectEqual(Array(album.tracks), [tracks[0], tracks[2]], "the tracks of the album")
            try expectEqual(
                Set(artist.albums.map(\.objectID)), [album.objectID, new.objectID], "the albums of the artist")
            try context.save()
            try expectEqual(try bench.storedValues(album.objectID, in: container)?["title"], "mine", "the stored title")
            // The first inserted album is in the context, as a member of `artist.albums`. The
            // second is not.
            let second: Album = try other.insert()
            try other.save()
            try context.mergeChanges(try require(notices.last, "a notice"))
            try expect(shown.contains(second.objectID), "an observer receives the insert", otherwise: "\(shown)")
            try expect(context.registeredObject(for: second.objectID) != nil, "the insert is registered")
            withExtendedLifetime((token, observation)) {}
        },
        GraphCheck(
            "merging.ids", "A merge of lists of IDs has the same effect as a merge of a notice with these lists.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let tracks = Array(album.tracks)
            var inserted = ObjectID("Track", key: 1)
            try bench.change(container) { other in
                let copy = try other.existingObject(album.id)
                copy.year = 2000
                let track: Track = try other.insert()
                copy.tracks.append(track)
                inserted = track.objectID
                other.delete(try other.existingObject(tracks[0].id))
            }
            try expectEqual(album.year, 1971, "the year before the merge")
            try context.mergeChanges(inserted: [inserted], updated: [album.objectID], deleted: [tracks[0].objectID])
            try expectEqual(album.year, 2000, "the year")
            try expect(tracks[0].isDeleted, "the deleted track")
            try expectEqual(
                album.tracks.map(\.objectID), [tracks[1].objectID, tracks[2].objectID, inserted], "the tracks")
        },
        GraphCheck(
            "merging.pending-reference",
            "A merge of a delete keeps pending changes of other objects. No reference to the deleted object is stored: the save fails, or the reference is null.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            var (genre, track) = (ObjectID("Genre", key: 1), ObjectID("Track", key: 1))
            try bench.change(container) { context in
                (genre, track) = (try context.insert("Genre").objectID, try context.insert("Track").objectID)
            }
            let (context, other) = (container.makeContext(), container.makeContext())
            let mine = try require(try context.existingObject(with: track) as? Track, "a track")
            mine.title = "mine"
            mine.genre = try context.existingObject(with: genre) as? Genre
            var notices: [SaveNotice] = []
            let token = other.observeSaves { notices.append($0) }
            other.delete(try other.existingObject(with: genre))
            try other.save()
            for notice in notices { try context.mergeChanges(notice) }
            try expectEqual(mine.title, "mine", "the pending title")
            do {
                try context.save()
                try expectEqual(
                    try bench.storedValues(track, in: container)?["genre"] ?? .null, .null, "the stored reference")
            } catch let error as StoreError {
                try expectEqual(error.code, .objectNotFound, "the code of the error")
                mine.genre = nil
                try context.save()
            }
            try expectEqual(try bench.storedValues(track, in: container)?["title"], "mine", "the stored title")
            withExtendedLifetime(token) {}
        },
        GraphCheck(
            "merging.automatic",
            "With mergesChangesAutomatically, another context's save appears after the end of the event and never in the middle of synchronous code.",
            .both
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let (context, manual) = (container.makeContext(), container.makeContext())
            context.mergesChangesAutomatically = true
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let left = try require(try manual.fetch(Fetch<Album>()).first, "an album")
            let artist = try require(album.artist, "an artist")
            try expectEqual(album.tracks.count, 3, "the tracks at first")
            for year in 2000..<2003 as Range<Int16> {
                let shown = album.year
                try bench.change(container) { other in
                    let copy = try other.existingObject(album.id)
                    copy.year = year
                    copy.tracks.append(try other.insert())
                }
                try expectEqual(album.year, shown, "the year in the middle of synchronous code")
                try expectEqual(artist.name, "Joni", "an old fault in the same event")
                context.processPendingChanges()
                try expectEqual(album.year, year, "the year after the end of the event")
                try expectEqual(album.tracks.count, Int(year) - 2000 + 4, "the tracks after the end of the event")
            }
            manual.processPendingChanges()
            try expectEqual(left.year, 1971, "the year in a context that does not merge")
            try bench.change(container) { try $0.existingObject(album.id).year = 1 }
            _ = try context.fetch(Fetch<Genre>())
            try expectEqual(album.year, 1, "the year after a fetch")
            try bench.change(container) { try $0.existingObject(album.id).year = 2 }
            (try context.insert() as Genre).name = "new"
            try context.save()
            try expectEqual(album.year, 2, "the year after a save")
        },
        GraphCheck(
            "merging.batch",
            "After the container executes a batch update and a batch delete with cascades, contexts drop and refresh exactly the affected objects.",
            .both
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                for title in ["Blue", "Court", "Hejira"] { try insertBlue(into: context).title = title }
            }
            let context = container.makeContext()
            context.mergesChangesAutomatically = true
            let albums = try context.fetch(Fetch<Album>(sortedBy: ["title"]))
            let tracks = albums.map { Array($0.tracks) }
            for track in tracks.joined() { _ = track.title }
            let artists = albums.compactMap(\.artist)
            try expectEqual(artists.map(\.albums.count), [1, 1, 1], "the numbers of albums at first")
            var changes: [(refreshed: Set<ManagedObject>, gone: Set<ManagedObject>)] = []
            let token = context.observe { changes.append((Set($0.refreshed), Set($0.invalidated))) }
            try container.execute(
                BatchUpdateRequest("Album", where: "title != 'Hejira'", set: ["plays": .constant(5)]))
            try expectEqual(albums.map(\.plays), [0, 0, 0], "the plays before the end of the event")
            context.processPendingChanges()
            try expectEqual(albums.map(\.plays), [5, 5, 0], "the plays afterwards")
            let refreshed = changes.reduce(into: Set<ManagedObject>()) { $0.formUnion($1.refreshed) }
            try expectEqual(refreshed, Set(albums[..<2]), "the refreshed objects")
            changes = []
            try container.execute(BatchDeleteRequest(FetchRequest("Album", where: "title == 'Blue'")))
            context.processPendingChanges()
            try expect(albums[0].isDeleted && tracks[0].allSatisfy(\.isDeleted), "the deleted objects")
            try expect(!albums[1].isDeleted && !tracks[1].contains(where: \.isDeleted), "the others")
            let gone = changes.reduce(into: Set<ManagedObject>()) { $0.formUnion($1.gone) }
            try expectEqual(gone, Set(tracks[0] as [ManagedObject] + [albums[0]]), "the dropped objects")
            try expectEqual(artists.map(\.albums.count), [0, 1, 1], "the numbers of albums afterwards")
            try expectEqual(artists.map(\.albumCount), [0, 1, 1], "the derived numbers of albums afterwards")
            try expectEqual(try context.count(FetchRequest("Track")), 6, "the number of tracks")
            try container.execute(BatchInsertRequest("Genre", rows: [["name": "batch"]]))
            try expectEqual(try context.fetch(Fetch<Genre>(where: "name == 'batch'")).count, 1, "an inserted object")
            withExtendedLifetime(token) {}
        },
        GraphCheck(
            "merging.other-process",
            "When a context that merges automatically notices a new generation of the store, it refreshes the objects that another process changed.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            context.mergesChangesAutomatically = true
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let track = try require(album.tracks.first, "a track")
            _ = track.title
            // Another container represents another process.
            let foreign = try bench.container(for: try bench.store(of: container))
            try bench.change(foreign) { other in
                try other.existingObject(album.id).year = 2000
                other.delete(try other.existingObject(track.id))
            }
            context.processPendingChanges()
            _ = try context.count(FetchRequest("Genre"))
            context.processPendingChanges()
            try expectEqual(album.year, 2000, "the year")
            try expect(track.isDeleted, "the deleted track")
            try expectEqual(album.tracks.count, 2, "the tracks")
        },
    ]
}
