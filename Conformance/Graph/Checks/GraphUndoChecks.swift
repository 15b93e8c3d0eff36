internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    static let undoing: [GraphCheck] = [
        GraphCheck("undo.none", "Without a stack, undo is nil and nothing is recorded.", .apple) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            try expect(context.undo == nil, "no stack")
            let album: Album = try context.insert()
            album.title = "before"
            context.undo = UndoStack()
            let undo = try require(context.undo, "a stack")
            try expect(!undo.canUndo && undo.depth == 0, "no step of what was changed before")
            undo.undo()
            try expectEqual(album.title, "before", "the title after an undo without steps")
        },
        GraphCheck(
            "undo.event",
            "Undo restores the state at the start of the event; redo restores the changes. Separate events are separate steps; a group is one step.",
            .apple
        ) { bench in
            let (container, context, undo) = try makeUndo(bench)
            try bench.change(container) { try insertBlue(into: $0) }
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            (album.title, album.year) = ("one", 1)
            album.title = "two"
            context.processPendingChanges()
            album.plays = 3
            context.processPendingChanges()
            undo.group("Listen") {
                album.plays += 1
                context.processPendingChanges()
                album.rating = 5
            }
            try expectEqual(undo.depth, 3, "the steps")
            try expectEqual(undo.undoName, "Listen", "the name of the group")
            undo.undo()
            try expect(album.plays == 3 && album.rating == nil, "the state before the group")
            undo.undo()
            try expect(album.plays == 0 && album.title == "two", "the state before the second event")
            undo.undo()
            try expect(album.title == "Blue" && album.year == 1971, "the state before the first event")
            try expect(!album.hasChanges && !context.hasChanges && !undo.canUndo, "no changes and no steps")
            for _ in 0..<3 { undo.redo() }
            try expectEqual(
                [album["title"], album["year"], album["plays"], album["rating"]], ["two", 1, 4, .double(5)],
                "the state after redo")
            try context.save()
            try expectEqual(
                try bench.storedValues(album.objectID, in: container)?["plays"], 4, "the stored number of plays")
            undo.undo()
            album.title = "new"
            context.processPendingChanges()
            try expect(!undo.canRedo, "no redo after a new change")
        },
        GraphCheck(
            "undo.insert",
            "After the undo of an insert, no fetch returns the object. Redo restores the same instance with its values.",
            .apple
        ) { bench in
            let (container, context, undo) = try makeUndo(bench)
            let artist: Artist = try context.insert()
            artist.name = "Joni"
            try context.save()
            let album: Album = try context.insert()
            (album.title, album.artist) = ("Blue", artist)
            context.processPendingChanges()
            undo.undo()
            try expectEqual(try context.count(FetchRequest("Album")), 0, "the albums after undo")
            try expect(album.context == nil && artist.albums.isEmpty && !context.hasChanges, "nothing of it")
            undo.redo()
            try expect(album.context === context && album.isInserted, "the same instance")
            try expectEqual(try context.fetch(Fetch<Album>(where: "artist.name == 'Joni'")), [album], "a fetch")
            try expectEqual(Array(artist.albums), [album], "the albums of the artist")
            try context.save()
            try expectEqual(try bench.storedCount("Album", in: container), 1, "the stored albums")
            undo.undo()
            try context.save()
            try expectEqual(try bench.storedCount("Album", in: container), 0, "the stored albums after undo")
        },
        GraphCheck(
            "undo.delete-relations",
            "Undo of a delete that nullified and cascaded through a cycle restores all objects, both sides of every relationship, and all orders.",
            .apple
        ) { bench in
            for isSaved in [false, true] { try undoDeletion(bench, isSaved: isSaved) }
        },
        GraphCheck(
            "undo.after-save",
            "If a saved delete is undone, the next save stores the object again with its old values and ID. If a saved change is undone, the old value becomes a pending change.",
            .both
        ) { bench in
            let (container, context, undo) = try makeUndo(bench)
            let album = try insertBlue(into: context)
            try context.save()
            let id = album.objectID
            album.title = "changed"
            try context.save()
            context.delete(album)
            try context.save()
            try expectEqual(try bench.storedCount("Album", in: container), 0, "the stored albums")
            undo.undo()
            try expect(album.context === context && album.isInserted && album.objectID == id, "the same object")
            try context.save()
            var stored = try require(try bench.storedValues(id, in: container), "the stored album")
            try expectEqual([stored["title"], stored["year"]], ["changed", 1971], "the stored values")
            undo.undo()
            try expect(album.isUpdated && album.hasPersistentChangedValues, "a pending change")
            try expectEqual(album.changedValues(), ["title": "Blue"], "the pending change")
            try context.save()
            stored = try require(try bench.storedValues(id, in: container), "the stored album")
            try expectEqual(stored["title"], "Blue", "the stored title")
            let other = container.makeContext()
            let copy = try other.existingObject(album.id)
            try expectEqual(copy.tracks.map(\.title), ["Carey", "California", "River"], "the stored tracks")
            try expectEqual(copy.artist?.name, "Joni", "the stored artist")
        },
        GraphCheck(
            "undo.faults-and-clears",
            "Firing faults creates no undo step. rollback and reset empty the stack. Changes made while undo is disabled are not in it.",
            .apple
        ) { bench in
            let (container, context, undo) = try makeUndo(bench)
            try bench.change(container) { try insertBlue(into: $0) }
            let track = try require(try context.fetch(Fetch<Track>(where: "title == 'River'")).first, "a track")
            let album = try require(track.album, "an album")
            _ = (album.title, album.tracks.count, album.artist?.name, track.playlists.count)
            context.processPendingChanges()
            try expectEqual(undo.depth, 0, "the steps after reading")
            album.title = "two"
            context.processPendingChanges()
            undo.disable()
            album.year = 2
            undo.enable()
            try expectEqual(undo.depth, 1, "the steps")
            undo.undo()
            try expect(album.title == "Blue" && album.year == 2, "changes made without undo")
            undo.redo()
            context.rollback()
            try expect(!undo.canUndo && !undo.canRedo && album.title == "Blue", "an empty stack after rollback")
            album.title = "three"
            context.processPendingChanges()
            context.reset()
            try expect(!undo.canUndo && !undo.canRedo, "an empty stack after reset")
        },
        GraphCheck(
            "undo.others",
            "Undo keeps values that another context saved, if the step did not change their properties.", .roost
        ) { bench in
            let (container, context, undo) = try makeUndo(bench)
            let album = try insertBlue(into: context)
            try context.save()
            undo.removeAll()
            album.title = "mine"
            try context.save()
            var notices: [SaveNotice] = []
            let other = container.makeContext()
            let token = other.observeSaves { notices.append($0) }
            try other.existingObject(album.id).year = 2000
            try withExtendedLifetime(token) { try other.save() }
            for notice in notices { try context.mergeChanges(notice) }
            try expectEqual(undo.depth, 1, "the steps")
            undo.undo()
            try expect(album.title == "Blue" && album.year == 2000, "the values of both sides")
            try context.save()
            let stored = try bench.storedValues(album.objectID, in: container)
            try expectEqual([stored?["title"], stored?["year"]], ["Blue", 2000], "the stored values")
        },
        GraphCheck(
            "undo.order",
            "Undo of moves, insertions and removals restores the order of lists, whether or not the changes were saved.",
            .roost
        ) { bench in
            for isSaved in [false, true] { try undoOrder(bench, isSaved: isSaved) }
        },
        GraphCheck(
            "undo.transient",
            "Undo restores transient values. A step that changes only transient values leaves nothing to save.", .apple
        ) { bench in
            let (container, context, undo) = try makeUndo(bench)
            let person: Person = try context.insert()
            person.name = "a"
            try context.save()
            let generation = try bench.generation(of: container)
            person.nick = "one"
            context.processPendingChanges()
            person.nick = "two"
            context.processPendingChanges()
            undo.undo()
            try expectEqual(person.nick, "one", "the transient value")
            undo.undo()
            try expectEqual(person.nick, nil, "the transient value before both")
            try context.save()
            try expectEqual(try bench.generation(of: container), generation, "the generation")
        },
        GraphCheck("undo.limit", "An undo stack keeps the newest steps, up to its limit.", .apple) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let undo = UndoStack(limit: 2)
            context.undo = undo
            let album: Album = try context.insert()
            for title in ["a", "b", "c", "d"] {
                album.title = title
                context.processPendingChanges()
            }
            try expectEqual(undo.depth, 2, "the steps")
            while undo.canUndo { undo.undo() }
            try expectEqual(album.title, "b", "the oldest state")
        },
    ]

    private static func undoDeletion(_ bench: GraphBench, isSaved: Bool) throws {
        let (container, context, undo) = try makeUndo(bench, name: "deletion-\(isSaved)")
        let album = try insertBlue(into: context)
        let playlist: Playlist = try context.insert()
        let person: Person = try context.insert()
        (playlist.name, person.name, person.favorite) = ("all", "p", album)
        for track in album.tracks { playlist.tracks.append(track) }
        playlist.tracks.move(from: 2, to: 0)
        album.tracks.move(from: 0, to: 1)
        let rings = try (0..<4).map { _ in try context.insert("Ring") }
        for (index, ring) in rings.enumerated() { try ring.setObject(rings[(index + 1) % 4], for: "next") }
        try context.save()
        let artist = try require(album.artist, "an artist")
        context.delete(rings[1])
        context.delete(album)
        if isSaved { try context.save() } else { context.processPendingChanges() }
        try expectEqual(try context.count(FetchRequest("Ring")), 0, "the rings")
        try expectEqual(try context.count(FetchRequest("Track")), 0, "the tracks")
        try expect(playlist.tracks.isEmpty && artist.albums.isEmpty && person.favorite == nil, "no references")
        undo.undo()
        func compare(_ context: ManagedObjectContext, text: String) throws {
            let album = try context.existingObject(album.id)
            try expectEqual(album.tracks.map(\.title), ["California", "Carey", "River"], "the tracks \(text)")
            let list = try context.existingObject(playlist.id)
            try expectEqual(list.tracks.map(\.title), ["River", "Carey", "California"], "the playlist \(text)")
            try expectEqual(list.tracks.first?.playlists.map(\.name), ["all"], "the playlists of a track \(text)")
            try expect(album.artist?.albums.contains(album) ?? false, "the artist \(text)")
            try expect(try context.existingObject(person.id).favorite === album, "the one-way reference \(text)")
            var ring = try context.existingObject(with: rings[0].objectID)
            for index in 1...4 {
                let next = try require(try ring.object("next"), "the next ring \(text)")
                try expectEqual(next.objectID, rings[index % 4].objectID, "the ring \(text)")
                ring = next
            }
            try expectEqual(try context.count(FetchRequest("Track")), 3, "the tracks \(text)")
            try expectEqual(try context.count(FetchRequest("Ring")), 4, "the rings \(text)")
        }
        try compare(context, text: "after undo")
        try expectEqual(context.hasChanges, isSaved, "changes after undo")
        try context.save()
        try compare(container.makeContext(), text: "in the store")
        undo.redo()
        try expectEqual(try context.count(FetchRequest("Ring")), 0, "the rings after redo")
        try context.save()
        try expectEqual(try bench.storedCount("Track", in: container), 0, "the stored tracks after redo")
        try expectEqual(try bench.storedCount("Ring", in: container), 0, "the stored rings after redo")
        undo.undo()
        try context.save()
        try compare(container.makeContext(), text: "in the store, again")
    }

    private static func undoOrder(_ bench: GraphBench, isSaved: Bool) throws {
        let (container, context, undo) = try makeUndo(bench, name: "order-\(isSaved)")
        let album = try insertBlue(into: context)
        let playlist: Playlist = try context.insert()
        for track in album.tracks { playlist.tracks.append(track) }
        try context.save()
        undo.removeAll()
        album.tracks.move(from: 2, to: 0)
        playlist.tracks.move(from: 0, to: 2)
        if isSaved { try context.save() } else { context.processPendingChanges() }
        let new: Track = try context.insert()
        new.title = "new"
        album.tracks.insert(new, at: 1)
        playlist.tracks.insert(new, at: 1)
        playlist.tracks.remove(at: 0)
        if isSaved { try context.save() } else { context.processPendingChanges() }
        try expectEqual(album.tracks.map(\.title), ["River", "new", "Carey", "California"], "the album")
        try expectEqual(playlist.tracks.map(\.title), ["new", "River", "Carey"], "the playlist")
        undo.undo()
        try expectEqual(album.tracks.map(\.title), ["River", "Carey", "California"], "the album after undo")
        try expectEqual(playlist.tracks.map(\.title), ["California", "River", "Carey"], "the playlist after undo")
        undo.undo()
        for text in ["after undo of both", "in the store"] {
            let other = text == "in the store" ? container.makeContext() : context
            let tracks = ["Carey", "California", "River"]
            try expectEqual(try other.existingObject(album.id).tracks.map(\.title), tracks, "the album \(text)")
            try expectEqual(try other.existingObject(playlist.id).tracks.map(\.title), tracks, "the playlist \(text)")
            try context.save()
        }
        undo.redo()
        undo.redo()
        try expectEqual(album.tracks.map(\.title), ["River", "new", "Carey", "California"], "the album after redo")
        try expectEqual(playlist.tracks.map(\.title), ["new", "River", "Carey"], "the playlist after redo")
    }

    private static func makeUndo(
        _ bench: GraphBench, name: String = "store"
    ) throws -> (container: PersistentContainer, context: ManagedObjectContext, undo: UndoStack) {
        let container = try bench.makeContainer(name: name)
        let context = container.makeContext("undo")
        let undo = UndoStack()
        context.undo = undo
        return (container, context, undo)
    }
}
