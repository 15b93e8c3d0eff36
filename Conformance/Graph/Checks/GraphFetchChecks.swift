internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    /// Fetching with pending changes.
    static let fetching: [GraphCheck] = [
        GraphCheck(
            "fetch.pending",
            "With pending inserts, deletes and changes of the compared values, a fetch returns the same objects as after a save. With includesPendingChanges false, it returns the objects that match in the store, with their pending values.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                for (title, year) in [("a", 10), ("b", 20), ("c", 30), ("d", 40)] as [(String, Int16)] {
                    let album: Album = try context.insert()
                    (album.title, album.year) = (title, year)
                }
            }
            let context = container.makeContext()
            let albums = try context.fetch(Fetch<Album>(sortedBy: ["title"]))
            albums[0].year = 50
            albums[3].year = 0
            context.delete(albums[1])
            let new: Album = try context.insert()
            (new.title, new.year) = ("e", 60)
            var request = Fetch<Album>(
                where: "year >= 20", sortedBy: [FetchRequest.SortDescriptor("year", ascending: false)])
            request.includesPendingChanges = false
            try expectEqual(
                Set(try context.fetch(request)), Set(albums[1...]), "the objects of the store, without pending changes")
            try expectEqual(albums[3].year, 0, "a pending value")
            request.includesPendingChanges = true
            let before = try context.fetch(request)
            try expectEqual(before, [new, albums[0], albums[2]], "the objects")
            try expectEqual(try context.count(request), 3, "the count")
            try expectEqual(try context.fetchIDs(request.request), before.map(\.objectID), "the IDs")
            try context.save()
            try expectEqual(try context.fetch(request), before, "the objects after a save")
        },
        GraphCheck(
            "fetch.pending-window",
            "Offset and limit apply to the pending state: with alpha 5, charlie 21, delta 30 and echo 40 (bravo deleted), offset 1 and limit 2 give [charlie, delta].",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                for (name, salary) in [("alpha", 25), ("bravo", 10), ("charlie", 21), ("delta", 30)]
                    as [(String, Int64)]
                {
                    let person: Person = try context.insert()
                    (person.name, person.salary) = (name, salary)
                }
            }
            let context = container.makeContext()
            let persons = try context.fetch(Fetch<Person>(sortedBy: ["name"]))
            persons[0].salary = 5
            context.delete(persons[1])
            let echo: Person = try context.insert()
            (echo.name, echo.salary) = ("echo", 40)
            func names(offset: Int?, limit: Int?, ascending: Bool = true) throws -> [String?] {
                try context.fetch(
                    Fetch<Person>(
                        sortedBy: [FetchRequest.SortDescriptor("salary", ascending: ascending)], limit: limit,
                        offset: offset)
                ).map(\.name)
            }
            try expectEqual(try names(offset: 1, limit: 2), ["charlie", "delta"], "offset 1 and limit 2")
            let all: [String?] = ["alpha", "charlie", "delta", "echo"]
            for offset in 0...5 {
                for limit in 1...5 {
                    try expectEqual(
                        try names(offset: offset, limit: limit), Array(all.dropFirst(offset).prefix(limit)),
                        "offset \(offset) and limit \(limit)")
                    try expectEqual(
                        try names(offset: offset, limit: limit, ascending: false),
                        Array(all.reversed().dropFirst(offset).prefix(limit)),
                        "offset \(offset) and limit \(limit), descending")
                    let request = FetchRequest("Person", limit: limit, offset: offset)
                    try expectEqual(
                        try context.count(request), try context.fetch(request).count,
                        "the count with offset \(offset) and limit \(limit)")
                }
            }
        },
        GraphCheck(
            "fetch.pending-candidates",
            "If a related object has unsaved changes, the context evaluates the predicate only for objects that refer to it. The store selects the rest.",
            .roost
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                for number in 0..<20 {
                    let artist: Artist = try context.insert()
                    artist.name = "artist \(number)"
                    for _ in 0..<5 {
                        let (album, track): (Album, Track) = (try context.insert(), try context.insert())
                        (album.title, album.artist, track.album) = ("of \(number)", artist, album)
                    }
                }
            }
            let context = container.makeContext()
            let artist = try require(try context.fetch(Fetch<Artist>(where: "name == 'artist 3'")).first, "an artist")
            artist.name = "Zoe"
            context.processPendingChanges()
            var (albums, tracks): ([Album], [Track]) = ([], [])
            let counts = try meter.counting {
                albums = try context.fetch(Fetch<Album>(where: "artist.name IN {'Zoe', 'artist 3', 'artist 5'}"))
                tracks = try context.fetch(
                    Fetch<Track>(where: "album.artist.name == 'Zoe'", sortedBy: ["album.artist.name"], limit: 3))
            }
            try expectEqual(
                albums.map(\.title), Array(repeating: "of 3", count: 5) + Array(repeating: "of 5", count: 5),
                "the albums")
            try expectEqual(tracks.count, 3, "the tracks")
            try expect(counts.recordCount < 80, "few of 220 objects are read", otherwise: "\(counts.recordCount)")
        },
        GraphCheck(
            "fetch.pending-related",
            "Predicates and orders through a relationship see an unsaved change of the related object.", .roost
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                for (name, title) in [("Joni", "Blue"), ("Ella", "Ella and Louis")] {
                    let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
                    (artist.name, album.title, album.artist) = (name, title, artist)
                    let (track, playlist): (Track, Playlist) = (try context.insert(), try context.insert())
                    (track.title, playlist.name) = (title, name)
                    album.tracks.append(track)
                    playlist.tracks.append(track)
                }
            }
            let context = container.makeContext()
            let artists = try context.fetch(Fetch<Artist>(sortedBy: ["name"]))
            let albums = artists.compactMap(\.albums.first)
            artists[0].name = "Zoe"
            try expectEqual(
                try context.fetch(Fetch<Album>(where: "artist.name == 'Zoe'")), [albums[0]], "by the new name")
            try expectEqual(try context.fetch(Fetch<Album>(where: "artist.name == 'Ella'")), [], "by the old name")
            try expectEqual(
                try context.fetch(Fetch<Album>(sortedBy: ["artist.name"])), [albums[1], albums[0]],
                "in the order of names")
            albums[1].artist = artists[0]
            try expectEqual(try context.fetch(Fetch<Artist>(where: "albums.@count == 2")), [artists[0]], "by a count")
            try expectEqual(
                try context.fetch(Fetch<Artist>(where: "albums.@count == 0")), [artists[1]], "by a count of none")
            try expectEqual(
                try context.fetch(Fetch<Artist>(where: "ANY albums.title == 'Blue'")), [artists[0]], "by a moved member"
            )
            let new: Album = try context.insert()
            (new.title, new.artist) = ("new", artists[1])
            try expectEqual(
                try context.fetch(Fetch<Artist>(where: "ANY albums.title == 'new'")), [artists[1]], "by a new member")
            albums[0].title = "renamed"
            try expectEqual(
                try context.fetch(Fetch<Playlist>(where: "ANY tracks.album.title == 'renamed'")).map(\.name), ["Ella"],
                "by two steps")
            let track = try require(albums[0].tracks.first, "a track")
            let playlists = try context.fetch(Fetch<Playlist>(sortedBy: ["name"]))
            playlists[0].tracks.remove(track)
            playlists[1].tracks.append(track)
            try expectEqual(try context.fetch(Fetch<Playlist>(where: "tracks.@count == 2")), [playlists[1]], "by links")
            try expectEqual(
                try context.fetch(Fetch<Playlist>(where: "ANY tracks.album.title == 'renamed'")), [playlists[1]],
                "by links and a step")
            context.delete(track)
            try expectEqual(
                try context.fetch(Fetch<Playlist>(where: "tracks.@count == 1")), [playlists[1]], "by a deleted member")
            try expectEqual(
                try context.fetch(Fetch<Album>(where: "tracks.@count == 0", sortedBy: ["title"])), [new, albums[0]],
                "by a deleted member of an owner")
            let predicates: [FetchRequest.Predicate] = [
                "artist.name == 'Zoe'", "tracks.@count > 0", "SUBQUERY(tracks, $t, $t.title == 'Blue').@count > 0",
            ]
            let results = try predicates.map { try context.fetchIDs(FetchRequest("Album", where: $0)) }
            try context.save()
            let saved = try predicates.map { try context.fetchIDs(FetchRequest("Album", where: $0)) }
            try expectEqual(results, saved, "the results before and after the save")
        },
        GraphCheck(
            "fetch.pages",
            "With pages of 50 over 1,000 objects, access to index 120 reads the rows of one page. Changes during the walk leave each object at its index.",
            .apple
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                for number in 0..<1_000 {
                    let genre: Genre = try context.insert()
                    genre.name = "genre \(1000 + number)"
                }
            }
            let context = container.makeContext()
            let pages = try context.pages(Fetch<Genre>(sortedBy: ["name"]), of: 50)
            try expectEqual(pages.count, 1_000, "the number of objects")
            var page: [Genre] = []
            let counts = try meter.counting {
                let genre = try require(pages[120], "an object")
                page.append(genre)
                try expectEqual(genre.name, "genre 1120", "the name at index 120")
            }
            try expectEqual(counts, .init(readCount: 1, recordCount: 50), "the reads of the access")
            let rest = try meter.counting {
                for index in 100..<150 {
                    let genre = try require(pages[index], "an object")
                    page.append(genre)
                    try expectEqual(genre.name, "genre \(1000 + index)", "the name of object \(index)")
                }
            }
            try expectEqual(rest.recordCount, 0, "the records that the rest of the page reads")
            page[0].name = "a first"
            context.delete(page[1])
            (try context.insert() as Genre).name = "b"
            try expectEqual(pages.count, 1_000, "the number after changes")
            try expectEqual(pages[120]?.name, "a first", "a changed object at its old place")
            try expectEqual(pages[151]?.name, "genre 1151", "an object of another page")
            try context.save()
            try expectEqual(pages[300]?.name, "genre 1300", "an object after a save")
        },
        GraphCheck(
            "fetch.subentities",
            "In a hierarchy, a fetch obeys includesSubentities, even for pending inserts of subentities.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                (try context.insert() as Image).name = "image"
                (try context.insert() as Video).name = "video"
                (try context.insert() as Clip).name = "clip"
            }
            let context = container.makeContext()
            (try context.insert() as Clip).name = "new clip"
            (try context.insert() as Video).name = "new video"
            func names(_ entity: EntityName, includesSubentities: Bool) throws -> [Value] {
                let request = FetchRequest(entity, sortedBy: ["name"]).with {
                    $0.includesSubentities = includesSubentities
                }
                let objects = try context.fetch(request)
                try expectEqual(try context.count(request), objects.count, "the count of \(entity)")
                for object in objects {
                    let expected: ManagedObject.Type =
                        switch object.entity.name {
                        case "Image": Image.self
                        case "Video": Video.self
                        default: Clip.self
                        }
                    try expect(type(of: object) == expected, "the class of \(object)", otherwise: "\(type(of: object))")
                }
                return objects.map { $0["name"] }
            }
            try expectEqual(
                try names("Asset", includesSubentities: true), ["clip", "image", "new clip", "new video", "video"],
                "all assets")
            try expectEqual(try names("Asset", includesSubentities: false), [], "assets of no subentity")
            try expectEqual(
                try names("Video", includesSubentities: true), ["clip", "new clip", "new video", "video"], "videos")
            try expectEqual(
                try names("Video", includesSubentities: false), ["new video", "video"], "videos of no subentity")
            try expectEqual(try names("Clip", includesSubentities: false), ["clip", "new clip"], "clips")
            let typed = try context.fetch(Fetch<Video>(where: "name BEGINSWITH 'new'", sortedBy: ["name"]))
            try expectEqual(typed.map(\.name), ["new clip", "new video"], "a fetch by class")
        },
        GraphCheck(
            "fetch.count",
            "For 500 random requests, the count equals the length of the fetch, and a save changes neither.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            var random = SeededGenerator(seed: 90)
            func randomAlbum(_ context: ManagedObjectContext, artists: [Artist]) throws {
                let album: Album = try context.insert()
                album.title = ["a", "b", "c", nil].randomElement(using: &random) ?? nil
                album.year = Int16.random(in: 0..<5, using: &random)
                album.rating = Bool.random(using: &random) ? Double(Int.random(in: 0..<3, using: &random)) : nil
                album.artist = artists.randomElement(using: &random)
            }
            func randomArtist(_ context: ManagedObjectContext) throws -> Artist {
                let artist: Artist = try context.insert()
                artist.name = ["x", "y", "z"].randomElement(using: &random)
                return artist
            }
            try bench.change(container) { context in
                let artists = try (0..<6).map { _ in try randomArtist(context) }
                for _ in 0..<40 { try randomAlbum(context, artists: artists) }
            }
            let predicates: [FetchRequest.Predicate?] = [
                nil, "year > 2", "title == 'a'", "title == nil OR rating > 0", "artist.name == 'x'", "artist == nil",
                "NOT (year < 2)", "artist.albums.@count > 5", "rating BETWEEN {0, 1}", "artist.name IN {'x', 'y'}",
            ]
            let orders: [[FetchRequest.SortDescriptor]] = [
                [], ["year"], ["title", "year"], [FetchRequest.SortDescriptor("rating", ascending: false)],
                ["artist.name"],
            ]
            let context = container.makeContext()
            for round in 0..<5 {
                let albums = try context.fetch(Fetch<Album>())
                var artists = try context.fetch(Fetch<Artist>())
                artists.append(try randomArtist(context))
                for _ in 0..<5 { try randomAlbum(context, artists: artists) }
                for album in albums.shuffled(using: &random).prefix(8) {
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: context.delete(album)
                    case 1: album.artist = artists.randomElement(using: &random)
                    case 2: album.year = Int16.random(in: 0..<5, using: &random)
                    default: album.title = ["a", "b", nil].randomElement(using: &random) ?? nil
                    }
                }
                artists[0].name = ["x", "y", "z"].randomElement(using: &random)
                var answers: [(FetchRequest, [ObjectID])] = []
                for _ in 0..<100 {
                    var request = FetchRequest("Album", sortedBy: orders.randomElement(using: &random) ?? [])
                    request.predicate = predicates.randomElement(using: &random) ?? nil
                    if Bool.random(using: &random) { request.fetchLimit = Int.random(in: 1..<20, using: &random) }
                    if Bool.random(using: &random) { request.fetchOffset = Int.random(in: 0..<20, using: &random) }
                    let ids = try context.fetch(request).map(\.objectID)
                    try expectEqual(try context.count(request), ids.count, "the count of \(request) in round \(round)")
                    try expectEqual(try context.fetchIDs(request), ids, "the IDs of \(request) in round \(round)")
                    answers.append((request, ids))
                }
                try context.save()
                for (request, ids) in answers {
                    let saved = try context.fetch(request).map(\.objectID)
                    try expectEqual(ids, saved, "the objects of \(request) before the save of round \(round)")
                    try expectEqual(try context.count(request), saved.count, "the count of \(request) after the save")
                    try expectEqual(try context.fetchIDs(request), saved, "the IDs of \(request) after the save")
                }
            }
        },
        GraphCheck(
            "fetch.generations",
            "In a pinned context, fetches and faults show the old state while others save, until save, a merge, unpin or reset.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let id = try require(try container.makeContext().fetchIDs(FetchRequest("Album")).first, "an ID")
            for (index, end) in ["unpin", "reset", "save", "merge"].enumerated() {
                let context = container.makeContext()
                try context.pin()
                let year = Int16(2000 + index)
                let old: Int16 = index == 0 ? 1971 : year - 1
                try bench.change(container) { other in
                    let album = try require(try other.existingObject(with: id) as? Album, "an album")
                    album.year = year
                    (try other.insert() as Genre).name = "new"
                }
                let fault = try require(context.object(with: id) as? Album, "an album")
                try expectEqual(fault.year, old, "a fault of the pinned context")
                context.processPendingChanges()
                let genreCount = index + 1
                try expectEqual(try context.count(FetchRequest("Genre")), genreCount, "a count of the pinned context")
                try expectEqual(
                    try context.fetch(Fetch<Album>(where: "year == \(year)")), [], "a fetch of the pinned context")
                switch end {
                case "unpin": context.unpin()
                case "reset": context.reset()
                case "save":
                    (try context.insert() as Artist).name = "new"
                    try context.save()
                default: try context.mergeChanges(updated: [id])
                }
                try expectEqual(
                    try context.count(FetchRequest("Genre")), genreCount + 1, "a count after \(end)")
                try expectEqual(
                    try context.fetch(Fetch<Album>(where: "year == \(year)")).count, 1, "a fetch after \(end)")
            }
        },
    ]
}
