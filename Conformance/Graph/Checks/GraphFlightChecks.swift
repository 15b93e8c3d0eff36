internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    /// Saves in the background, during which objects change.
    static let flights: [GraphCheck] = [
        GraphCheck(
            waiting: "save.in-background",
            "After saveInBackground, only changes made during the save are pending. If the save fails, the earlier changes are pending too.",
            .roost
        ) { bench in
            for fails in [false, true] {
                let flight = try Flight(bench, fails: fails)
                try await changeAttributes(flight)
                let stored = try flight.ids.map { try bench.storedValues($0, in: flight.container)?["title"] }
                try expectEqual(stored, ["both", "first", "during"], "the stored titles")
                try expectEqual(try bench.storedCount("Genre", in: flight.container), 2, "the stored genres")
            }
        },
        GraphCheck(
            waiting: "save.in-background-relationships",
            "Changes of relationships that are made during saveInBackground are pending afterwards, and the next save stores them.",
            .roost
        ) { bench in
            for fails in [false, true] { try await changeRelationships(try Flight(bench, fails: fails)) }
        },
        GraphCheck(
            waiting: "save.in-background-order",
            "Moves, insertions and removals of members of ordered relationships during saveInBackground are pending afterwards, and the next save stores them.",
            .roost
        ) { bench in
            for fails in [false, true] { try await changeOrder(try Flight(bench, fails: fails)) }
        },
        GraphCheck(
            waiting: "save.in-background-delete",
            "Objects that are deleted during saveInBackground are deleted by the next save, even if saveInBackground inserts them.",
            .roost
        ) { bench in
            for fails in [false, true] { try await deleteObjects(try Flight(bench, fails: fails)) }
        },
        GraphCheck(
            waiting: "save.in-background-rollback",
            "A rollback during saveInBackground discards what is pending; afterwards objects have the values of the store, and can be changed and saved.",
            .roost
        ) { bench in
            for fails in [false, true] { try await rollBack(try Flight(bench, fails: fails)) }
        },
        GraphCheck(
            waiting: "save.in-background-conflict",
            "A save in the background resolves conflicts as the policy says. Changes made meanwhile are not lost, and invalid ones are not stored.",
            .roost
        ) { bench in
            let flight = try Flight(bench, fails: false)
            try await resolveConflict(flight)
            let stored = try bench.storedValues(flight.ids[0], in: flight.container)
            try expectEqual([stored?["title"], stored?["year"]], ["mine", 2000], "the stored values")
            try expectEqual(
                try bench.storedValues(flight.ids[1], in: flight.container)?["title"], "during", "another title")
        },
    ]

    /// A store with the albums a, b and c, for saves whose commit waits until the check has changed
    /// objects.
    private struct Flight: Sendable {
        let container: PersistentContainer
        let meter: StoreMeter
        let ids: [ObjectID]
        let fails: Bool

        init(_ bench: GraphBench, fails: Bool) throws {
            var ids: [ObjectID] = []
            let (container, meter) = try bench.makeMetered(name: "store-\(fails)") { context in
                for title in ["a", "b", "c"] {
                    let album: Album = try context.insert()
                    album.title = title
                    ids.append(album.objectID)
                }
            }
            (self.container, self.meter, self.ids, self.fails) = (container, meter, ids, fails)
        }

        /// Saves, and runs `body` while the commit waits.
        @MainActor
        func save(
            _ context: ManagedObjectContext, allowing code: StoreError.Code? = nil, during body: () throws -> Void
        ) async throws {
            let failure = StoreError(.busy, "The commit fails, because the check says so.")
            let error = try await meter.save(context, commitError: fails ? failure : nil, during: body)
            if let code, error?.code == code { return }
            try expectEqual(error?.code, fails ? .busy : nil, "the error of the save")
        }

        @MainActor
        func albums(_ context: ManagedObjectContext) throws -> [Album] {
            try ids.map { try require(try context.existingObject(with: $0) as? Album, "an album") }
        }
    }

    @MainActor
    private static func changeAttributes(_ flight: Flight) async throws {
        let fails = flight.fails
        let context = flight.container.makeContext()
        let albums = try flight.albums(context)
        let first: Genre = try context.insert()
        (albums[0].title, albums[1].title) = ("first", "first")
        var second: Genre?
        try await flight.save(context) {
            (albums[0].title, albums[2].title) = ("both", "during")
            second = try context.insert()
        }
        try expect(context.hasChanges, "changes are pending")
        try expect(albums[0].isUpdated && albums[2].isUpdated, "changes made meanwhile are pending")
        try expectEqual(albums.map(\.title), ["both", "first", "during"], "the titles")
        try expectEqual([albums[1].isUpdated, first.isInserted], [fails, fails], "whether the rest is pending")
        try expectEqual(second?.isInserted, true, "whether an object that was inserted meanwhile is pending")
        try expectEqual(albums[0].changedValues(), ["title": "both"], "the changed values")
        try expectEqual(
            try albums[0].committedValues(["title"]), ["title": fails ? "a" : "first"], "the committed values")
        try expectEqual(albums.map(\.version), fails ? [1, 1, 1] : [2, 2, 1], "the versions")
        try await context.saveInBackground()
        try expect(!context.hasChanges, "no changes at the end", otherwise: "\(context.updatedObjects)")
        try expectEqual(albums.map(\.version), fails ? [2, 2, 2] : [3, 2, 2], "the versions at the end")
    }

    @MainActor
    private static func changeRelationships(_ flight: Flight) async throws {
        let context = flight.container.makeContext()
        let albums = try flight.albums(context)
        let artists = try (0..<2).map { _ in try context.insert() as Artist }
        let tracks = try (0..<4).map { _ in try context.insert() as Track }
        let tags = try (0..<2).map { _ in try context.insert("Tag") }
        albums[0].artist = artists[0]
        albums[1].artist = artists[0]
        tracks[0].tags.insert(tags[0])
        tracks[2].tags.insert(tags[0])
        tracks[3].tags.insert(tags[1])
        try await flight.save(context) {
            // The tag is removed and added again. The result must also be correct if the save
            // fails.
            tracks[3].tags.remove(tags[1])
            tracks[3].tags.insert(tags[1])
            albums[1].artist = artists[1]
            artists[1].albums.insert(albums[2])
            tracks[0].tags.insert(tags[1])
            tracks[1].tags.insert(tags[0])
            tracks[2].tags.remove(tags[0])
        }
        func examine(_ context: ManagedObjectContext, text: String) throws {
            func same<Object: ManagedObject>(_ object: Object) throws -> Object {
                try require(try context.existingObject(with: object.objectID) as? Object, "an object")
            }
            try expectEqual(
                try same(artists[0]).albums.map(\.objectID), [albums[0].objectID], "the first albums \(text)")
            try expectEqual(
                Set(try same(artists[1]).albums.map(\.objectID)), [albums[1].objectID, albums[2].objectID],
                "the second albums \(text)")
            try expectEqual(
                try albums.map { try same($0).artist?.objectID }, [artists[0], artists[1], artists[1]].map(\.objectID),
                "the artists \(text)")
            let expected: [[ManagedObject]] = [tags, [tags[0]], [], [tags[1]]]
            for (track, tags) in zip(tracks, expected) {
                try expectEqual(
                    Set(try same(track).tags.map(\.objectID)), Set(tags.map(\.objectID)),
                    "the tags of \(track.objectID) \(text)")
            }
            try expectEqual(
                Set(try same(tags[0]).objects("tagged").map(\.objectID)), Set(tracks[..<2].map(\.objectID)),
                "the tagged tracks \(text)")
        }
        try examine(context, text: "before the second save")
        try expect(tracks[0].isUpdated || tracks[0].isInserted, "a track that got a tag meanwhile is pending")
        try await context.saveInBackground()
        try expect(!context.hasChanges, "no changes at the end", otherwise: "\(context.updatedObjects)")
        try examine(context, text: "after the second save")
        let other = flight.container.makeContext()
        try examine(other, text: "in the store")
    }

    @MainActor
    private static func changeOrder(_ flight: Flight) async throws {
        let context = flight.container.makeContext()
        let albums = try flight.albums(context)
        let playlists = try (0..<3).map { _ in try context.insert() as Playlist }
        let tracks = try (0..<5).map { number in
            let track: Track = try context.insert()
            track.title = "\(number)"
            return track
        }
        for track in tracks[..<4] {
            albums[0].tracks.append(track)
            for playlist in playlists { playlist.tracks.append(track) }
        }
        try await flight.save(context) {
            // A move, a removal with an insertion, and an insertion into an unchanged relationship.
            albums[0].tracks.move(from: 3, to: 0)
            playlists[0].tracks.move(from: 3, to: 0)
            playlists[1].tracks.remove(tracks[1])
            playlists[1].tracks.insert(tracks[4], at: 0)
            playlists[2].tracks.append(tracks[4])
            albums[1].tracks.append(tracks[4])
        }
        func examine(_ context: ManagedObjectContext, text: String) throws {
            func titles(_ object: ManagedObject) throws -> String {
                try context.existingObject(with: object.objectID).orderedObjects("tracks").map {
                    ($0 as? Track)?.title ?? "-"
                }.joined()
            }
            try expectEqual(
                try [albums[0], playlists[0], playlists[1], playlists[2], albums[1]].map(titles),
                ["3012", "3012", "4023", "01234", "4"], "the tracks \(text)")
        }
        try examine(context, text: "before the second save")
        try await context.saveInBackground()
        try expect(!context.hasChanges, "no changes at the end", otherwise: "\(context.updatedObjects)")
        try examine(context, text: "after the second save")
        let other = flight.container.makeContext()
        try examine(other, text: "in the store")
    }

    @MainActor
    private static func deleteObjects(_ flight: Flight) async throws {
        let context = flight.container.makeContext()
        let albums = try flight.albums(context)
        let genres = try (0..<2).map { _ in try context.insert() as Genre }
        albums[0].title = "first"
        try await flight.save(context) {
            context.delete(albums[0])
            context.delete(albums[1])
            context.delete(genres[0])
            context.processPendingChanges()
        }
        try expect(albums[0].isDeleted && albums[1].isDeleted, "the deleted objects")
        try expectEqual(try context.count(FetchRequest("Album")), 1, "the albums before the second save")
        try expectEqual(try context.count(FetchRequest("Genre")), 1, "the genres before the second save")
        try await context.saveInBackground()
        try expect(!context.hasChanges, "no changes at the end", otherwise: "\(context.registeredObjects)")
        let other = flight.container.makeContext()
        try expectEqual(try other.fetchIDs(FetchRequest("Album")), [flight.ids[2]], "the stored albums")
        try expectEqual(try other.fetchIDs(FetchRequest("Genre")), [genres[1].objectID], "the stored genres")
    }

    @MainActor
    private static func rollBack(_ flight: Flight) async throws {
        let context = flight.container.makeContext()
        let albums = try flight.albums(context)
        (albums[0].title, albums[1].title) = ("first", "first")
        try await flight.save(context) {
            albums[1].title = "during"
            albums[2].title = "during"
            context.rollback()
        }
        context.processPendingChanges()
        let saved: [String?] = flight.fails ? ["a", "b", "c"] : ["first", "first", "c"]
        try expectEqual(albums.map(\.title), saved, "the titles afterwards")
        try expect(!context.hasChanges, "no changes", otherwise: "\(context.updatedObjects)")
        for album in albums { album.title = "last" }
        try await context.saveInBackground()
        let other = flight.container.makeContext()
        try expectEqual(try flight.albums(other).map(\.title), ["last", "last", "last"], "the stored titles")
    }

    @MainActor
    private static func resolveConflict(_ flight: Flight) async throws {
        let context = flight.container.makeContext()
        context.mergePolicy = .mergeByPropertyObjectTrump
        let albums = try flight.albums(context)
        let there = flight.container.makeContext()
        let copy = try require(try there.existingObject(with: flight.ids[0]) as? Album, "an album")
        (copy.title, copy.year) = ("theirs", 2000)
        try there.save()
        let draft: Draft = try context.insert()
        draft.title = "valid"
        albums[0].title = "mine"
        var (late, genre): (Draft?, Genre?)
        try await flight.save(context, allowing: .validationFailed) {
            albums[1].title = "during"
            draft.title = "much too long to be a title of a draft"
            late = try context.insert()
            late?.title = "much too long to be a title of a draft, too"
            genre = try context.insert()
        }
        try expectEqual(albums[1].title, "during", "a title that changed meanwhile")
        let other = flight.container.makeContext()
        for stored in try other.fetch(Fetch<Draft>()) {
            try expectEqual(stored.title, "valid", "a stored title")
        }
        draft.title = "fits"
        late?.title = "fits"
        try context.save()
        try expectEqual([albums[0]["title"], albums[0]["year"]], ["mine", 2000], "the values")
        try expectEqual(albums[0].version, 3, "the version")
        try expect(!context.hasChanges && genre?.version == 1, "no changes")
        try expectEqual(try other.count(FetchRequest("Draft", where: "title == 'fits'")), 2, "the stored drafts")
    }
}
