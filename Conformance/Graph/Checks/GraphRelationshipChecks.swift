internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    static let relations: [GraphCheck] = [
        GraphCheck(
            "relations.inverse-to-one",
            "Right after album.artist = x, x.albums contains the album, the old artist's albums do not, and all three are updated.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                let blue = try insertBlue(into: context)
                blue.artist?.name = "old"
                (try context.insert() as Artist).name = "x"
            }
            for readsFirst in [false, true] {
                let context = container.makeContext()
                let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
                let old = try require(try context.fetch(Fetch<Artist>(where: "name == 'old'")).first, "the old artist")
                let new = try require(try context.fetch(Fetch<Artist>(where: "name == 'x'")).first, "the new artist")
                if readsFirst {
                    try expectEqual([old.albums.count, new.albums.count], [1, 0], "the numbers at first")
                }
                album.artist = new
                try expect(new.albums.contains(album) && Array(new.albums) == [album], "the new artist has the album")
                try expect(!old.albums.contains(album) && old.albums.isEmpty, "the old artist does not")
                try expectEqual(context.updatedObjects, [album, old, new], "the updated objects")
                context.rollback()
                try expect(album.artist === old && Array(old.albums) == [album] && new.albums.isEmpty, "a rollback")
                album.artist = nil
                try expect(old.albums.isEmpty, "the old artist after null")
                try context.save()
                album.artist = old
                try context.save()
            }
        },
        GraphCheck(
            "relations.inverse-to-many",
            "After x.albums.insert(a), a.artist is x, and the previous owner no longer contains a.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                let blue = try insertBlue(into: context)
                blue.artist?.name = "old"
                (try context.insert() as Artist).name = "x"
            }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let old = try require(try context.fetch(Fetch<Artist>(where: "name == 'old'")).first, "the old artist")
            let new = try require(try context.fetch(Fetch<Artist>(where: "name == 'x'")).first, "the new artist")
            new.albums.insert(album)
            try expect(album.artist === new, "the artist of the album")
            try expect(old.albums.isEmpty && new.albums.count == 1, "the numbers of members")
            new.albums.insert(album)
            try expectEqual(new.albums.count, 1, "the members after a second insertion")
            try context.save()
            let other = container.makeContext()
            try expectEqual(try other.existingObject(album.id).artist?.name, "x", "the stored artist")
            try expectEqual(try other.existingObject(old.id).albums.count, 0, "the stored albums of the old artist")
            new.albums = []
            try expect(album.artist == nil, "the artist after the set is emptied")
            old.albums = [album]
            try expect(album.artist === old, "the artist after the set is assigned")
            try context.save()
            try expectEqual(
                try bench.storedValues(album.objectID, in: container)?["artist"], .objectID(old.objectID), "stored")
        },
        GraphCheck(
            "relations.one-to-one-steals", "When a passport moves to another person, the first person has none.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            var ids: [ObjectID] = []
            try bench.change(container) { context in
                let (first, second): (Person, Person) = (try context.insert(), try context.insert())
                (first.name, second.name) = ("first", "second")
                first.passport = try context.insert("Passport")
                second.passport = try context.insert("Passport")
                ids = [first.objectID, second.objectID]
            }
            for fromPassport in [true, false] {
                let context = container.makeContext()
                let first = try require(context.object(with: ids[0]) as? Person, "a person")
                let second = try require(context.object(with: ids[1]) as? Person, "a person")
                let passport = try require(first.passport, "a passport")
                let loser = try require(second.passport, "another passport")
                if fromPassport { try passport.setObject(second, for: "holder") } else { second.passport = passport }
                try expect(first.passport == nil, "the first person has none")
                try expect(second.passport === passport, "the second person has it")
                try expect(try passport.object("holder") === second, "its holder")
                try expect(try loser.object("holder") == nil, "the other passport has no holder")
                try context.save()
                let other = container.makeContext()
                try expectEqual(try other.existingObject(with: ids[0])["passport"], .null, "the first person's, stored")
                try expectEqual(
                    try other.existingObject(with: ids[1])["passport"], .objectID(passport.objectID),
                    "the second's, stored")
                try expectEqual(
                    try other.existingObject(with: loser.objectID)["holder"], .null, "the other holder, stored")
                try bench.change(container) { context in
                    try context.existingObject(with: passport.objectID).setValue(.objectID(ids[0]), for: "holder")
                    try context.existingObject(with: loser.objectID).setValue(.objectID(ids[1]), for: "holder")
                }
            }
        },
        GraphCheck("relations.many-to-many", "A link added at either end appears once at both ends.", .apple) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let track: Track = try context.insert()
            let (first, otherTag) = (try context.insert("Tag"), try context.insert("Tag"))
            let playlist: Playlist = try context.insert()
            track.tags.insert(first)
            var tagged = try otherTag.objects("tagged")
            tagged.insert(track)
            var again = try first.objects("tagged")
            again.insert(track)
            playlist.tracks.append(track)
            track.playlists.insert(playlist)
            func examine(_ track: Track, text: String) throws {
                try expectEqual(
                    Set(track.tags.map(\.objectID)), [first.objectID, otherTag.objectID], "the tags \(text)")
                try expectEqual(track.tags.count, 2, "the number of tags \(text)")
                for tag in track.tags {
                    try expectEqual(
                        try tag.objects("tagged").map(\.objectID), [track.objectID], "the other end \(text)")
                }
                try expectEqual(track.playlists.map(\.objectID), [playlist.objectID], "the playlists \(text)")
                try expectEqual(
                    track.playlists.first?.tracks.map(\.objectID), [track.objectID],
                    "the tracks of the playlist \(text)")
            }
            try examine(track, text: "before the save")
            try context.save()
            try examine(track, text: "after the save")
            let second = container.makeContext()
            try examine(try second.existingObject(track.id), text: "in another context")
            track.tags.remove(first)
            try expectEqual(try first.objects("tagged").count, 0, "the other end after a removal")
            track.tags.insert(first)
            try context.save()
            let third = container.makeContext()
            try examine(try third.existingObject(track.id), text: "after a removal and a second insertion")
            track.tags.remove(first)
            playlist.tracks.remove(track)
            try context.save()
            let fourth = container.makeContext()
            let other = try fourth.existingObject(track.id)
            try expectEqual(other.tags.map(\.objectID), [otherTag.objectID], "the stored tags after a removal")
            try expectEqual(other.playlists.count, 0, "the stored playlists after a removal")
        },
        GraphCheck(
            "relations.append-without-reading",
            "Inserting into a to-many relationship of a fault reads nothing, however many members the relationship has.",
            .roost
        ) { bench in
            var (artist, tag, playlist) = (
                ObjectID("Artist", key: 1), ObjectID("Tag", key: 1), ObjectID("Playlist", key: 1)
            )
            let (container, meter) = try bench.makeMetered { context in
                let owner: Artist = try context.insert()
                let (label, list): (ManagedObject, Playlist) = (try context.insert("Tag"), try context.insert())
                (artist, tag, playlist) = (owner.objectID, label.objectID, list.objectID)
                for _ in 0..<1_000 {
                    (try context.insert() as Album).artist = owner
                    let track: Track = try context.insert()
                    track.tags.insert(label)
                    list.tracks.append(track)
                }
            }
            let context = container.makeContext()
            let owner = try require(context.object(with: artist) as? Artist, "an artist")
            let label = context.object(with: tag)
            let list = try require(context.object(with: playlist) as? Playlist, "a playlist")
            let counts = try meter.counting {
                owner.albums.insert(try context.insert())
                var tagged = try label.objects("tagged")
                let track: Track = try context.insert()
                tagged.insert(track)
                list.tracks.append(track)
            }
            try expectEqual(counts.linkReadCount, 0, "the reads of members")
            try expectEqual(counts.readCount, 0, "the reads at all")
            try context.save()
            let other = container.makeContext()
            try expectEqual((try other.existingObject(with: artist) as? Artist)?.albums.count, 1_001, "the albums")
            try expectEqual(try other.existingObject(with: tag).objects("tagged").count, 1_001, "the tagged tracks")
            try expectEqual((try other.existingObject(with: playlist) as? Playlist)?.tracks.count, 1_001, "the tracks")
        },
        GraphCheck(
            "relations.reflexive",
            "Setting a relationship that is its own inverse sets both sides. An object may refer to itself.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let (ann, bob, cid): (Person, Person, Person) = (
                try context.insert(), try context.insert(), try context.insert()
            )
            (ann.name, bob.name, cid.name) = ("ann", "bob", "cid")
            ann.partner = bob
            try expect(bob.partner === ann, "the other side of a to-one relationship")
            cid.partner = ann
            try expect(ann.partner === cid && bob.partner == nil, "a partner who changes")
            bob.partner = bob
            try expect(bob.partner === bob, "an object that refers to itself")
            ann.friends.insert(bob)
            try expect(Array(bob.friends) == [ann], "the other side of a to-many relationship")
            cid.friends.insert(cid)
            try expect(Array(cid.friends) == [cid], "a person who is their own friend")
            ann.manager = ann
            try expect(Array(ann.reports) == [ann], "an object that is its own manager")
            try context.save()
            let other = container.makeContext()
            func copy(_ person: Person) throws -> Person { try other.existingObject(person.id) }
            try expect(try copy(ann).partner === copy(cid) && copy(cid).partner === copy(ann), "the stored partners")
            try expect(try copy(bob).partner === copy(bob), "the stored reference to itself")
            try expectEqual(try copy(bob).friends.map(\.name), ["ann"], "the stored friends of one side")
            try expectEqual(try copy(ann).friends.map(\.name), ["bob"], "the stored friends of the other side")
            try expectEqual(try copy(cid).friends.map(\.name), ["cid"], "the stored friends of cid")
            try expectEqual(try copy(ann).reports.map(\.name), ["ann"], "the stored reports")
            bob.partner = nil
            cid.friends.remove(cid)
            try expect(bob.partner == nil && cid.friends.isEmpty, "no references to itself after their removal")
            try context.save()
            let third = container.makeContext()
            try expect(try third.existingObject(bob.id).partner == nil, "the stored partner after its removal")
            try expectEqual(try third.existingObject(cid.id).friends.count, 0, "the stored friends after the removal")
        },
        GraphCheck(
            "relations.other-context",
            "Setting a relationship to an object of another context changes nothing, and the next save throws invalidRequest.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let (context, other) = (container.makeContext(), container.makeContext())
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let artist = album.artist
            let foreign: Artist = try other.insert()
            let tag = try other.insert("Tag")
            let track = try require(album.tracks.first, "a track")
            album.artist = foreign
            try expectEqual(context.pendingError?.code, .invalidRequest, "the error that waits")
            try expect(album.artist === artist && foreign.albums.isEmpty, "no change of a to-one relationship")
            let error = try expectError(.invalidRequest, in: "the save") { try context.save() }
            try expect(
                error.message.contains("\(album.objectID)") && error.message.contains("\(foreign.objectID)"),
                "both objects in the message", otherwise: error.message)
            track.tags.insert(tag)
            try expectError(.invalidRequest, in: "a save after a to-many relationship") { try context.save() }
            foreign.albums.insert(album)
            try expect(
                context.pendingError != nil || other.pendingError != nil, "an error waits in one of the contexts")
            try expect(foreign.albums.isEmpty && track.tags.isEmpty && album.artist === artist, "no change")
            try expect(!context.hasChanges, "no changes")
        },
        GraphCheck(
            "relations.merge-by-difference",
            "If two contexts insert different members into one owner and save, both members are present without a conflict. A removal in one and an insertion in the other both take effect.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            var ids: [String: ObjectID] = [:]
            try bench.change(container) { context in
                let (tag, artist, playlist): (ManagedObject, Artist, Playlist) = (
                    try context.insert("Tag"), try context.insert(), try context.insert()
                )
                (ids["tag"], ids["artist"], ids["playlist"]) = (tag.objectID, artist.objectID, playlist.objectID)
                for name in ["a", "b", "c", "d"] {
                    let (track, album): (Track, Album) = (try context.insert(), try context.insert())
                    (track.title, album.title) = (name, name)
                    (ids["track \(name)"], ids["album \(name)"]) = (track.objectID, album.objectID)
                    guard name == "a" else { continue }
                    track.tags.insert(tag)
                    playlist.tracks.append(track)
                    album.artist = artist
                }
            }
            func change(_ context: ManagedObjectContext, name: String, inserts: Bool) throws {
                func object(_ key: String) throws -> ManagedObject {
                    try context.existingObject(with: try require(ids[key], key))
                }
                let track = try require(try object("track \(name)") as? Track, "a track")
                let album = try require(try object("album \(name)") as? Album, "an album")
                let artist = try require(try object("artist") as? Artist, "an artist")
                let playlist = try require(try object("playlist") as? Playlist, "a playlist")
                let tag = try object("tag")
                if inserts {
                    track.tags.insert(tag)
                    playlist.tracks.append(track)
                    artist.albums.insert(album)
                } else {
                    track.tags.remove(tag)
                    playlist.tracks.remove(track)
                    artist.albums.remove(album)
                }
            }
            func expectMembers(_ names: [String], text: String) throws {
                let context = container.makeContext()
                let tag = try context.existingObject(with: try require(ids["tag"], "an ID"))
                let artist = try require(
                    try context.existingObject(with: try require(ids["artist"], "an ID")) as? Artist, "an artist")
                let playlist = try require(
                    try context.existingObject(with: try require(ids["playlist"], "an ID")) as? Playlist, "a playlist")
                try expectEqual(
                    try tag.objects("tagged").compactMap { ($0 as? Track)?.title }.sorted(), names, "the tagged \(text)"
                )
                try expectEqual(playlist.tracks.compactMap(\.title).sorted(), names, "the tracks \(text)")
                try expectEqual(artist.albums.compactMap(\.title).sorted(), names, "the albums \(text)")
                try expectEqual(artist.albumCount, Int64(names.count), "the number of albums \(text)")
            }
            let (first, second) = (container.makeContext(), container.makeContext())
            try change(first, name: "b", inserts: true)
            try change(second, name: "c", inserts: true)
            try first.save()
            try second.save()
            try expectMembers(["a", "b", "c"], text: "after two insertions")
            let (third, fourth) = (container.makeContext(), container.makeContext())
            try change(third, name: "a", inserts: false)
            try change(fourth, name: "d", inserts: true)
            try third.save()
            try fourth.save()
            try expectMembers(["b", "c", "d"], text: "after a removal and an insertion")
        },
        GraphCheck(
            "relations.counts",
            "With minCount 2, an optional to-many relationship with 1 member fails at a save; 0 and 2 members succeed.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let club = try context.insert("Club")
            try context.save()
            var members = try club.objects("members")
            let added = try (0..<4).map { _ in try context.insert("ClubMember") }
            members.insert(added[0])
            let tooFew = try expectError(.validationFailed, in: "a save with 1 member") { try context.save() }
            try expectEqual(tooFew.failures.map(\.kind), [.tooFew(minimum: 2)], "the failures")
            members.insert(added[1])
            try context.save()
            members.formUnion(added[2...])
            let tooMany = try expectError(.validationFailed, in: "a save with 4 members") { try context.save() }
            try expectEqual(tooMany.failures.map(\.kind), [.tooMany(maximum: 3)], "the failures")
            members.remove(added[3])
            try context.save()
            context.delete(added[0])
            context.delete(added[1])
            try expectError(.validationFailed, in: "a save after deletes that leave 1 member") { try context.save() }
            members.removeAll()
            try context.save()
            try expectEqual(try club.objects("members").count, 0, "the members at the end")
        },
    ]

    static let orderedRelations: [GraphCheck] = [
        GraphCheck(
            "relations.ordered",
            "After inserts, moves, removals and a save, another context reads the same order.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let (album, playlist): (Album, Playlist) = (try context.insert(), try context.insert())
            let tracks = try (0..<12).map { number in
                let track: Track = try context.insert()
                track.title = "\(number)"
                return track
            }
            func expectOrder(_ text: String) throws {
                let (inAlbum, inPlaylist) = (album.tracks.map(\.title), playlist.tracks.map(\.title))
                try context.save()
                try expectEqual(album.tracks.map(\.title), inAlbum, "the album \(text), after the save")
                let other = container.makeContext()
                try expectEqual(
                    try other.existingObject(album.id).tracks.map(\.title), inAlbum, "the album \(text), stored")
                try expectEqual(
                    try other.existingObject(playlist.id).tracks.map(\.title), inPlaylist,
                    "the playlist \(text), stored")
            }
            func titles(_ numbers: [Int]) -> [String?] { numbers.map { "\($0)" } }
            for track in tracks[..<6] {
                album.tracks.append(track)
                playlist.tracks.append(track)
            }
            try expectEqual(album.tracks.map(\.title), titles([0, 1, 2, 3, 4, 5]), "the album after appending")
            try expectOrder("after appending")
            album.tracks.move(from: 5, to: 0)
            playlist.tracks.move(from: 0, to: 3)
            try expectEqual(album.tracks.map(\.title), titles([5, 0, 1, 2, 3, 4]), "the album after a move")
            try expectEqual(playlist.tracks.map(\.title), titles([1, 2, 3, 0, 4, 5]), "the playlist after a move")
            try expectOrder("after moves")
            album.tracks.insert(tracks[6], at: 1)
            playlist.tracks.insert(tracks[6], at: 0)
            album.tracks.remove(tracks[2])
            playlist.tracks.remove(at: 2)
            try expectEqual(album.tracks.map(\.title), titles([5, 6, 0, 1, 3, 4]), "the album after an insertion")
            try expectEqual(
                playlist.tracks.map(\.title), titles([6, 1, 3, 0, 4, 5]), "the playlist after an insertion")
            try expectOrder("after insertions and removals")
            album.tracks[0] = tracks[7]
            album.tracks.replaceSubrange(1..<3, with: [tracks[8], tracks[9], tracks[4]])
            playlist.tracks.replaceSubrange(0..<0, with: [tracks[5], tracks[7]])
            try expectEqual(album.tracks.map(\.title), titles([7, 8, 9, 4, 1, 3]), "the album after replacements")
            try expectEqual(
                playlist.tracks.map(\.title), titles([5, 7, 6, 1, 3, 0, 4]), "the playlist after replacements")
            try expectOrder("after replacements")
            album.tracks = OrderedToMany(album.tracks.reversed())
            try expectEqual(album.tracks.map(\.title), titles([3, 1, 4, 9, 8, 7]), "the album reversed")
            try expectOrder("reversed")
            album.tracks.remove(tracks[3])
            album.tracks.append(tracks[3])
            try expectEqual(album.tracks.map(\.title), titles([1, 4, 9, 8, 7, 3]), "the album after remove and append")
            try expectOrder("after remove and append")
            // Another context changes the list without reading it first.
            try bench.change(container) { other in
                let track: Track = try other.insert()
                track.title = "late"
                var (first, second) = (
                    try other.existingObject(album.id).tracks, try other.existingObject(playlist.id).tracks
                )
                first.append(track)
                second.append(track)
            }
            try context.refreshAllObjects()
            try expectEqual(
                album.tracks.map(\.title), titles([1, 4, 9, 8, 7, 3]) + ["late"],
                "the album after another context's append")
            try expectEqual(
                playlist.tracks.last?.title, "late", "the end of the playlist after another context's append")
        },
        GraphCheck(
            "relations.ordered-algorithms",
            "The algorithms of mutable collections (swapAt, reverse, sort) change the order of an ordered relationship and lose no member.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let (album, playlist): (Album, Playlist) = (try context.insert(), try context.insert())
            for title in ["c", "a", "d", "b"] {
                let track: Track = try context.insert()
                track.title = title
                album.tracks.append(track)
                playlist.tracks.append(track)
            }
            try context.save()
            func expectOrder(_ titles: [String?], text: String) throws {
                try expectEqual(album.tracks.map(\.title), titles, "the album \(text)")
                try expectEqual(playlist.tracks.map(\.title), titles, "the playlist \(text)")
                try context.save()
                let other = container.makeContext()
                try expectEqual(
                    try other.existingObject(album.id).tracks.map(\.title), titles, "the album \(text), stored")
                try expectEqual(
                    try other.existingObject(playlist.id).tracks.map(\.title), titles, "the playlist \(text), stored")
            }
            album.tracks.swapAt(0, 1)
            playlist.tracks.swapAt(0, 1)
            try expectOrder(["a", "c", "d", "b"], text: "after swapAt")
            album.tracks.reverse()
            playlist.tracks.reverse()
            try expectOrder(["b", "d", "c", "a"], text: "after reverse")
            album.tracks.sort { $0.title ?? "" < $1.title ?? "" }
            playlist.tracks.sort { $0.title ?? "" < $1.title ?? "" }
            try expectOrder(["a", "b", "c", "d"], text: "after sort")
        },
        GraphCheck(
            "relations.ordered-one-place",
            "After 1,000 insertions at one place, some with a save between them, another context reads the same order.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let (album, playlist): (Album, Playlist) = (try context.insert(), try context.insert())
            func makeTrack(_ title: String) throws -> Track {
                let track: Track = try context.insert()
                track.title = title
                return track
            }
            let ends = [try makeTrack("first"), try makeTrack("last")]
            for end in ends {
                album.tracks.append(end)
                playlist.tracks.append(end)
            }
            try context.save()
            var expected: [String?] = ["first", "last"]
            for number in 0..<40 {
                let track = try makeTrack("\(number)")
                album.tracks.insert(track, at: 1)
                playlist.tracks.insert(track, at: 1)
                expected.insert("\(number)", at: 1)
                try context.save()
            }
            let block = try (0..<960).map { try makeTrack("block \($0)") }
            album.tracks.insert(contentsOf: block, at: 1)
            playlist.tracks.insert(contentsOf: block, at: 1)
            expected.insert(contentsOf: block.map(\.title), at: 1)
            try context.save()
            let other = container.makeContext()
            try expectEqual(try other.existingObject(album.id).tracks.map(\.title), expected, "the album")
            try expectEqual(try other.existingObject(playlist.id).tracks.map(\.title), expected, "the playlist")
        },
        GraphCheck(
            "relations.one-way",
            "References and members of relationships without an inverse are saved, and are removed when their destination is deleted.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let shelf = try context.insert("Shelf")
            let (image, track): (Image, Track) = (try context.insert(), try context.insert())
            try shelf.setObject(image, for: "cover")
            var extras = try shelf.objects("extras")
            extras.insert(track)
            try context.save()
            let other = container.makeContext()
            let copy = try other.existingObject(with: shelf.objectID)
            try expectEqual(try copy.object("cover")?.objectID, image.objectID, "the reference")
            try expectEqual(try copy.objects("extras").map(\.objectID), [track.objectID], "the members")
            other.delete(try other.existingObject(image.id))
            other.delete(try other.existingObject(track.id))
            other.processPendingChanges()
            try expect(try copy.object("cover") == nil, "the reference after the delete")
            try expectEqual(try copy.objects("extras").count, 0, "the members after the delete")
            try other.save()
            try expectEqual(try bench.storedValues(shelf.objectID, in: container)?["cover"] ?? .null, .null, "stored")
            let third = container.makeContext()
            try expectEqual(
                try third.existingObject(with: shelf.objectID).objects("extras").count, 0, "the stored members")
        },
        GraphCheck(
            "relations.fetch-members",
            "A fetch of members by a condition includes unsaved changes, whether the inverse is to-one, to-many or missing.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let shelf = try context.insert("Shelf")
            var tracks: [ManagedObject] = []
            for title in ["a", "b", "c", "d"] {
                let track: Track = try context.insert()
                track.title = title
                tracks.append(track)
            }
            let (image, video): (Image, Video) = (try context.insert(), try context.insert())
            image["name"] = "picture"
            video["name"] = "film"
            var (extras, assets) = (try shelf.objects("extras"), try shelf.objects("assets"))
            extras.formUnion(tracks[0..<3])
            assets.insert(image)
            let tag = try context.insert("Tag")
            var tagged = try tag.objects("tagged")
            tagged.formUnion(tracks[1..<3])
            try context.save()
            func titles(_ set: ToMany<ManagedObject>, predicate: FetchRequest.Predicate? = nil) throws -> [Value] {
                try set.fetch(where: predicate, sortedBy: [.init("title", ascending: false)]).map { $0["title"] }
            }
            let condition = FetchRequest.Predicate.greater("title", than: "a")
            try expectEqual(try titles(extras), ["c", "b", "a"], "the members without an inverse")
            try expectEqual(try titles(extras, predicate: condition), ["c", "b"], "the members that meet a condition")
            try expectEqual(try titles(tagged, predicate: condition), ["c", "b"], "the members with a to-many inverse")
            try expectEqual(try assets.fetch().map(\.objectID), [image.objectID], "the members of subentities")
            // Only a link changes, not the records of its ends.
            let second = container.makeContext()
            let own = try second.existingObject(with: shelf.objectID)
            var ownExtras = try own.objects("extras")
            ownExtras.remove(try second.existingObject(with: tracks[0].objectID))
            let containing = FetchRequest("Shelf", where: try .init(format: "ANY extras.title == 'a'"))
            try expectEqual(try second.count(containing), 0, "the shelves with a track that was taken out")
            ownExtras.insert(try second.existingObject(with: tracks[3].objectID))
            let other = FetchRequest("Shelf", where: try .init(format: "ANY extras.title == 'd'"))
            try expectEqual(try second.fetch(other), [own], "the shelves with a track that was put in")
            try expectEqual(
                try second.count(FetchRequest("Shelf", where: try .init(format: "extras.@count == 3"))), 1,
                "the shelves with three tracks")
            // None of these changes is saved.
            extras.remove(tracks[2])
            extras.insert(tracks[3])
            tagged.insert(tracks[3])
            tagged.remove(tracks[1])
            tracks[2]["title"] = "A"
            assets.insert(video)
            try expectEqual(try titles(extras, predicate: condition), ["d", "b"], "after changes, without an inverse")
            try expectEqual(try titles(tagged, predicate: condition), ["d"], "after changes, with a to-many inverse")
            try expectEqual(
                try assets.fetch(where: .equal("name", to: "film")).map(\.objectID), [video.objectID],
                "after changes, of subentities")
            try expectEqual(try extras.fetch(sortedBy: ["title"], limit: 1).count, 1, "with a limit")
            try expectError(.invalidRequest, in: "a set that the program itself creates") {
                _ = try ToMany(tracks).fetch()
            }
        },
    ]
}
