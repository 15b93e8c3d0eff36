internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    /// Faults: objects whose values are read on first use.
    static let faults: [GraphCheck] = [
        GraphCheck("faults.fire-once", "Reading three properties of a fault reads one record.", .apple) { bench in
            var id = ObjectID("Album", key: 1)
            let (container, meter) = try bench.makeMetered { id = try insertBlue(into: $0).objectID }
            let context = container.makeContext()
            let album = try require(context.object(with: id) as? Album, "an album")
            try expect(album.isFault, "a fault")
            let counts = try meter.counting {
                try expectEqual(album.title, "Blue", "the title")
                try expectEqual(album.year, 1971, "the year")
                try expectEqual(album.rating, nil, "the rating")
            }
            try expectEqual(counts, .init(readCount: 1, recordCount: 1), "the reads")
            try expect(!album.isFault, "no fault any more")
        },
        GraphCheck(
            "faults.quiet-members",
            "objectID, entity, isFault, isDeleted, hasChanges, ==, hashValue and description of a fault read nothing.",
            .apple
        ) { bench in
            var id = ObjectID("Album", key: 1)
            let (container, meter) = try bench.makeMetered { id = try insertBlue(into: $0).objectID }
            let context = container.makeContext()
            let album = context.object(with: id)
            let counts = try meter.counting {
                try expectEqual(album.objectID, id, "the ID")
                try expectEqual(album.entity.name, "Album", "the entity")
                try expect(!album.isDeleted && !album.hasChanges && !album.isInserted && !album.isUpdated, "no changes")
                try expect(album == album && album.hashValue == album.hashValue, "equal to itself")
                try expect(
                    album.description.contains("\(id)"), "the ID in the description", otherwise: album.description)
                try expect(!album.hasPersistentChangedValues && album.changedValues().isEmpty, "no changed values")
                try expect(album.hasFault(for: "tracks"), "the tracks are unread")
                try expect(album.isFault, "still a fault")
            }
            try expectEqual(counts, StoreMeter.Counts(), "the reads")
        },
        GraphCheck(
            "faults.relationship",
            "For a realized object, hasFault(for:) is true without reading, and false after count.", .apple
        ) { bench in
            let (container, meter) = try bench.makeMetered { try insertBlue(into: $0) }
            let context = container.makeContext()
            let artist = try require(try context.fetch(Fetch<Artist>()).first, "an artist")
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let counts = try meter.counting {
                try expect(artist.hasFault(for: "albums") && album.hasFault(for: "tracks"), "unread relationships")
            }
            try expectEqual(counts, StoreMeter.Counts(), "the reads")
            try expectEqual([artist.albums.count, album.tracks.count], [1, 3], "the numbers of members")
            try expect(!artist.hasFault(for: "albums") && !album.hasFault(for: "tracks"), "read relationships")
        },
        GraphCheck(
            "faults.gone",
            "If another context deleted a fault's row, by default the fault's properties read as null, isDeleted is true, and the fault is not validated. With deletesInaccessibleFaults false, the next save throws objectNotFound.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            var id = ObjectID("Rule", key: 1)
            try bench.change(container) { context in
                let rule = try context.insert("Rule")
                rule["required"] = "there"
                id = rule.objectID
                try context.insert("Genre")["name"] = "folk"
            }
            let (lenient, strict) = (container.makeContext(), container.makeContext())
            strict.deletesInaccessibleFaults = false
            let (fault, strictFault) = (lenient.object(with: id), strict.object(with: id))
            try bench.change(container) { $0.delete(try $0.existingObject(with: id)) }
            try expectEqual(fault["required"], .null, "a property")
            try expectEqual(fault["number"], .null, "another property")
            try expect(fault.isDeleted, "isDeleted")
            let genre = try require(try lenient.fetch(FetchRequest("Genre")).first, "a genre")
            genre["name"] = "jazz"
            try lenient.save()
            try expectEqual(strictFault["required"], .null, "a property")
            try expectError(.objectNotFound, in: "the next save") { try strict.save() }
        },
        GraphCheck(
            "faults.after-delete-saved",
            "After a saved delete, the object's context is nil and isDeleted is false. Reading a relationship of the object gives an empty result and sets pendingError of the former context.",
            .both
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let artist = try require(try context.fetch(Fetch<Artist>()).first, "an artist")
            context.delete(artist)
            try context.save()
            try expect(artist.context == nil, "no context")
            try expect(!artist.isDeleted && !artist.hasChanges, "not deleted any more")
            try expectEqual(Array(artist.albums), [], "the albums")
            try expectEqual(context.pendingError?.code, .closed, "the error that waits in the former context")
        },
        GraphCheck(
            "faults.no-overwrite",
            "A fetch that returns a changed object keeps its pending values. An unchanged realized object keeps its values unless refreshesObjects is set.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                for name in ["a", "b"] { (try context.insert() as Album).title = name }
            }
            let context = container.makeContext()
            let albums = try context.fetch(Fetch<Album>(sortedBy: ["title"]))
            albums[0].year = 2000
            try bench.change(container) {
                for album in try $0.fetch(Fetch<Album>()) { (album.year, album.plays) = (1, 1) }
            }
            try expectEqual(try context.fetch(Fetch<Album>(sortedBy: ["title"])), albums, "the objects")
            try expectEqual(albums.map(\.year), [2000, 1970], "the values after a fetch")
            var request = Fetch<Album>(sortedBy: ["title"])
            request.refreshesObjects = true
            _ = try context.fetch(request)
            try expectEqual(albums.map(\.year), [2000, 1], "the values after a fetch that refreshes")
        },
        GraphCheck(
            "faults.latched",
            "If the store fails once while a getter fires a fault, save throws that error and writes nothing; after rollback, the context works.",
            .roost
        ) { bench in
            var id = ObjectID("Album", key: 1)
            let (container, meter) = try bench.makeMetered { id = try insertBlue(into: $0).objectID }
            let context = container.makeContext()
            let genre: Genre = try context.insert()
            genre.name = "new"
            let album = try require(context.object(with: id) as? Album, "an album")
            meter.failNextRead(with: StoreError(.ioFailure, "The disk fails, because the check says so."))
            try expectEqual(album.title, nil, "the title")
            try expectEqual(context.pendingError?.code, .ioFailure, "the error that waits")
            let before = try bench.generation(of: container)
            try expectError(.ioFailure, in: "the next save") { try context.save() }
            try expectEqual(try bench.generation(of: container), before, "the generation")
            context.rollback()
            try expectEqual(context.pendingError?.code, nil, "the error after a rollback")
            try expectEqual(album.title, "Blue", "the title after a rollback")
            album.year = 1972
            try context.save()
            try expectEqual(try bench.storedValues(id, in: container)?["year"], 1972, "the stored year")
            try expectEqual(try bench.storedCount("Genre", in: container), 1, "the number of genres")
        },
        GraphCheck(
            "faults.latched-write",
            "A value that a program computes from a failed read is never stored: setters of an unreadable fault change nothing.",
            .roost
        ) { bench in
            var id = ObjectID("Album", key: 1)
            let (container, meter) = try bench.makeMetered { id = try insertBlue(into: $0).objectID }
            let context = container.makeContext()
            let album = try require(context.object(with: id) as? Album, "an album")
            meter.failNextRead(with: StoreError(.ioFailure, "The disk fails, because the check says so."))
            album.plays += 1
            album.artist = nil
            try expectError(.ioFailure, in: "the next save") { try context.save() }
            context.rollback()
            try context.save()
            let stored = try bench.storedValues(id, in: container)
            try expectEqual([stored?["title"], stored?["plays"]], ["Blue", 0], "the stored values")
        },
        GraphCheck(
            "faults.one-state",
            "Faults and members that are read in one event show one state of the store. A fetch begins the next event, which shows the saves of others.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            var (blue, court) = (ObjectID("Album", key: 1), ObjectID("Album", key: 1))
            try bench.change(container) { context in
                (blue, court) = (try insertBlue(into: context).objectID, try insertBlue(into: context).objectID)
            }
            let context = container.makeContext()
            let albums = try [blue, court].map { try require(context.object(with: $0) as? Album, "an album") }
            try expectEqual(albums[0].title, "Blue", "the first read of the event")
            try bench.change(container) { other in
                for album in try other.fetch(Fetch<Album>()) {
                    album.title = "new"
                    album.tracks.append(try other.insert())
                }
            }
            try expectEqual(albums[1].title, "Blue", "a fault in the same event")
            try expectEqual(albums[1].tracks.count, 3, "the members in the same event")
            let new = Fetch<Album>(where: "title == 'new'")
            try expectEqual(try context.fetch(new).count, 2, "the fetched objects in the next event")
            try context.refresh(albums[1], mergingChanges: false)
            try expectEqual(albums[1].title, "new", "a fault in the next event")
            try expectEqual(albums[1].tracks.count, 4, "the members in the next event")
        },
        GraphCheck(
            "faults.company",
            "Reading artist.name in a loop over 1,000 albums of 300 artists does at most 10 reads of the store.", .roost
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                let artists = try (0..<300).map { number in
                    let artist: Artist = try context.insert()
                    artist.name = "artist \(number)"
                    return artist
                }
                for number in 0..<1_000 {
                    let album: Album = try context.insert()
                    (album.title, album.artist) = ("album \(number)", artists[number * 7 % 300])
                }
            }
            let context = container.makeContext()
            let albums = try context.fetch(Fetch<Album>())
            var names: Set<String> = []
            let counts = meter.counting {
                for album in albums { if let name = album.artist?.name { names.insert(name) } }
            }
            try expectEqual(names.count, 300, "the number of names")
            try expect(counts.readCount <= 10, "at most 10 reads", otherwise: "\(counts)")
        },
        GraphCheck(
            "faults.prefetch",
            "With prefetching of \"artist\" and \"tracks.genre\", walking the result reads nothing more.",
            .apple
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                for _ in 0..<20 { try insertBlue(into: context) }
            }
            let context = container.makeContext()
            var request = Fetch<Album>()
            request.prefetching = ["artist", "tracks.genre"]
            let albums = try context.fetch(request)
            var names: [String] = []
            let counts = meter.counting {
                for album in albums {
                    names.append(album.artist?.name ?? "-")
                    for track in album.tracks { names.append("\(track.title ?? "-") \(track.genre?.name ?? "-")") }
                }
            }
            try expectEqual(names.count, 80, "the number of names")
            try expect(!names.contains { $0.contains("-") }, "every name is there")
            try expectEqual(counts, StoreMeter.Counts(), "the reads of the walk")
        },
        GraphCheck(
            "faults.awake",
            "awakeFromFetch is called once when the row arrives; values that it sets are not changes.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            var id = ObjectID("Draft", key: 1)
            try bench.change(container) { context in
                let draft: Draft = try context.insert()
                draft.title = "awake"
                id = draft.objectID
            }
            let context = container.makeContext()
            let draft = try require(context.object(with: id) as? Draft, "a draft")
            try expectEqual(draft.calls, [], "the calls before the row arrives")
            try expectEqual(draft.title, "awake", "the title")
            _ = try context.fetch(Fetch<Draft>())
            try expectEqual(draft.calls, ["awakeFromFetch"], "the calls")
            try expectEqual(draft.cached, "from fetch", "the transient value that it set")
            try expectEqual(draft.count, 8, "the stored value that it set")
            try expect(!draft.hasChanges && !draft.isUpdated && !context.hasChanges, "no changes")
            try expect(!draft.hasPersistentChangedValues, "no changed stored values")
            try expectEqual(draft.changedValues(), [:], "the changed values")
            let before = try bench.generation(of: container)
            try context.save()
            try expectEqual(try bench.generation(of: container), before, "the generation after a save")
        },
        GraphCheck(
            "faults.turn-into",
            "Refreshing a realized object without merging calls willTurnIntoFault and didTurnIntoFault once each and discards transient values.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { (try $0.insert() as Person).name = "Ann" }
            let context = container.makeContext()
            let person = try require(try context.fetch(Fetch<Person>()).first, "a person")
            context.withoutTracking { person.nick = "annie" }
            try expectEqual(person.nick, "annie", "the transient value")
            try context.refresh(person, mergingChanges: false)
            try expectEqual(person.turns, ["will", "did"], "the calls")
            try expect(person.isFault, "a fault")
            try expectEqual(person.nick, nil, "the transient value afterwards")
            try expectEqual(person.name, "Ann", "the name, read again")
            try context.refresh(person, mergingChanges: false)
            try context.refresh(person, mergingChanges: false)
            try expectEqual(
                person.turns, ["will", "did", "will", "did"],
                "the calls after two more refreshes, the second of a fault")
        },
    ]
}
