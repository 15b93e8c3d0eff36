internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    static let children: [GraphCheck] = [
        GraphCheck(
            "child.parent-rollback",
            "A child that follows its parent shows a rollback of the parent: values are the committed ones, and new objects are deleted.",
            .roost
        ) { bench in
            let (_, parent, album) = try makeParent(bench)
            let child = parent.makeChild("follows")
            child.mergesChangesAutomatically = true
            let artist: Artist = try parent.insert()
            (artist.name, album.title) = ("Neil", "changed")
            album.artist = artist
            parent.processPendingChanges()
            let (copy, twin) = (try child.existingObject(album.id), try child.existingObject(artist.id))
            try expectEqual([copy.title, twin.name], ["changed", "Neil"], "the values before")
            try expectEqual(twin.albums.count, 1, "the albums before")
            parent.rollback()
            try expectEqual(copy.title, "Blue", "the title after the rollback")
            try expect(copy.artist !== twin, "the reference after the rollback")
            try expect(twin.isDeleted, "the new object is deleted")
            try expect(!child.hasChanges, "the child has no changes")
        },
        GraphCheck(
            "child.one-level",
            "After a child's save, the parent has the changes pending and the store has none. The save of the root writes them.",
            .apple
        ) { bench in
            let (container, parent, album) = try makeParent(bench)
            let child = parent.makeChild("edit")
            try expect(child.parent === parent && parent.parent == nil, "the parent")
            let copy = try child.existingObject(album.id)
            try expect(copy !== album && copy.title == "Blue", "an object of its own")
            let (track, artist): (Track, Artist) = (try child.insert(), try child.insert())
            (track.title, artist.name, copy.title, copy.artist) = ("new", "Neil", "mine", artist)
            copy.tracks.insert(track, at: 0)
            child.delete(copy.tracks[2])
            try expect(album.title == "Blue" && !parent.hasChanges, "a parent without changes")
            try child.save()
            try expect(!child.hasChanges && parent.hasChanges, "pending changes of the parent")
            try expectEqual(album.tracks.map(\.title), ["new", "Carey", "River"], "the tracks in the parent")
            try expect(album.title == "mine" && album.artist?.name == "Neil", "the values in the parent")
            try expectEqual(album.artist?.albums.map(\.title), ["mine"], "the other side in the parent")
            try expectEqual(copy.tracks.map(\.title), ["new", "Carey", "River"], "the tracks in the child")
            try expectEqual(
                try bench.storedValues(album.objectID, in: container)?["title"], "Blue", "the stored title")
            try expectEqual(try bench.storedCount("Track", in: container), 3, "the stored tracks")
            try expectEqual(try bench.storedCount("Artist", in: container), 1, "the stored artists")
            try parent.save()
            let other = container.makeContext()
            let fresh = try other.existingObject(album.id)
            try expectEqual(fresh.tracks.map(\.title), ["new", "Carey", "River"], "the stored tracks")
            try expect(fresh.title == "mine" && fresh.artist?.name == "Neil", "the stored values")
            // The child continues with the saved values.
            copy.title = "again"
            try child.save()
            try parent.save()
            try expectEqual(
                try bench.storedValues(album.objectID, in: container)?["title"], "again", "the title of a second save")
        },
        GraphCheck(
            "child.sees-parent",
            "A child's fetches and faults show unsaved changes of the parent, with the child's own changes on top.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            let parent = container.makeContext()
            let album = try insertBlue(into: parent)
            let playlist: Playlist = try parent.insert()
            playlist.tracks.append(album.tracks[0])
            try parent.save()
            album.title = "changed"
            album.tracks.move(from: 2, to: 0)
            parent.delete(album.tracks[1])
            playlist.tracks.append(album.tracks[0])
            let new: Album = try parent.insert()
            (new.title, new.artist) = ("new", album.artist)
            let child = parent.makeChild()
            let copies = try child.fetch(Fetch<Album>(sortedBy: ["title"]))
            try expectEqual(copies.map(\.title), ["changed", "new"], "the titles in the child")
            try expectEqual(copies[0].tracks.map(\.title), ["River", "California"], "the tracks in the child")
            try expectEqual(copies[0].artist?.albums.count, 2, "the albums of the artist in the child")
            let list = try child.existingObject(playlist.id)
            try expectEqual(list.tracks.map(\.title), ["River"], "the playlist in the child")
            copies[1].title = "mine"
            try expectEqual(try child.count(FetchRequest("Album", where: "title == 'new'")), 0, "a count")
            let related = FetchRequest(
                "Track", where: "album.title == 'changed' AND ANY playlists.tracks.title == 'River'")
            try expectEqual(try child.fetch(related).map { $0["title"] }, ["River"], "a fetch over relationships")
            let grandchild = child.makeChild()
            try expectEqual(
                try grandchild.fetchIDs(FetchRequest("Album", where: "title == 'mine' AND artist.name == 'Joni'")),
                [new.objectID], "a fetch of a child of the child")
            try expectEqual(
                Set(try child.fetchIDs(FetchRequest("Track"))), Set(try parent.fetchIDs(FetchRequest("Track"))),
                "all tracks")
        },
        GraphCheck(
            "child.discard",
            "Releasing an unsaved child leaves the parent unchanged. A child's save is one undo step of the parent.",
            .roost
        ) { bench in
            let (container, parent, album) = try makeParent(bench)
            do {
                let child = parent.makeChild()
                try child.existingObject(album.id).title = "lost"
                child.delete(try child.existingObject(album.tracks[0].id))
                child.processPendingChanges()
            }
            try expect(!parent.hasChanges && album.title == "Blue" && album.tracks.count == 3, "an unchanged parent")
            let undo = UndoStack()
            parent.undo = undo
            let child = parent.makeChild("Edit")
            let copy = try child.existingObject(album.id)
            copy.title = "a"
            child.processPendingChanges()
            copy.tracks.move(from: 0, to: 2)
            child.delete(copy.tracks[0])
            try child.save()
            try expectEqual(undo.depth, 1, "the steps")
            try expectEqual(undo.undoName, "Edit", "the name of the step")
            undo.undo()
            try expectEqual(album.tracks.map(\.title), ["Carey", "California", "River"], "the tracks after undo")
            try expect(album.title == "Blue" && !parent.hasChanges, "the parent after undo")
            undo.redo()
            try expectEqual(album.tracks.map(\.title), ["River", "Carey"], "the tracks after redo")
        },
        GraphCheck(
            "child.validates", "With an invalid object, the child's save throws and the parent is unchanged.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            let parent = container.makeContext()
            let child = parent.makeChild()
            let album: Album = try child.insert()
            album.title = "valid"
            let person: Person = try child.insert()
            person.nick = "longer than five"
            try expectError(.validationFailed, in: "a save of the child") { try child.save() }
            try expect(!parent.hasChanges && child.insertedObjects.count == 2, "all changes in the child")
            person.nick = "short"
            try child.save()
            try expectEqual(parent.insertedObjects.count, 2, "the inserted objects of the parent")
        },
        GraphCheck(
            "child.temporary",
            "The save of the root replaces temporary IDs in children too, and in their relationships.", .roost
        ) { bench in
            let (container, meter) = try bench.makeMetered()
            let parent = container.makeContext()
            meter.setReservesKeys(false)
            let child = parent.makeChild()
            let (artist, album): (Artist, Album) = (try child.insert(), try child.insert())
            (artist.name, album.title, album.artist) = ("Joni", "Blue", artist)
            try child.save()
            try expect(album.objectID.key < 0, "a temporary key", otherwise: "\(album.objectID)")
            try expectEqual(
                try child.fetch(Fetch<Album>(where: "artist.name == 'Joni'")), [album], "a fetch by the child")
            meter.setReservesKeys(true)
            try parent.save()
            try expect(album.objectID.key > 0 && artist.objectID.key > 0, "final keys")
            try expect(child.registeredObject(for: album.objectID) === album, "the object by its final ID")
            try expect(album.artist === artist && Array(artist.albums) == [album], "the relationship in the child")
            album.title = "later"
            try child.save()
            try parent.save()
            try expectEqual(
                try bench.storedValues(album.objectID, in: container)?["title"], "later", "the stored title")
        },
        GraphCheck(
            "child.deleted-there",
            "If a child changed an object that the parent deleted, the child's save throws objectNotFound. Neither context changes.",
            .roost
        ) { bench in
            let (container, parent, album) = try makeParent(bench)
            let child = parent.makeChild()
            let copy = try child.existingObject(album.id)
            copy.title = "mine"
            let other: Album = try child.insert()
            other.title = "other"
            parent.delete(album)
            parent.processPendingChanges()
            let error = try expectError(.objectNotFound, in: "a save of the child") { try child.save() }
            try expectEqual(error.missingObjects, [album.objectID], "the missing objects")
            try expect(parent.insertedObjects.isEmpty && child.hasChanges, "nothing passed on")
            child.delete(copy)
            try child.save()
            try expectEqual(parent.insertedObjects.count, 1, "the inserted objects of the parent")
        },
        GraphCheck(
            "child.follows",
            "A child that merges automatically shows the parent's changes, with the child's own changes on top.", .apple
        ) { bench in
            let (container, parent, album) = try makeParent(bench)
            let child = parent.makeChild()
            child.mergesChangesAutomatically = true
            let copy = try child.existingObject(album.id)
            copy.year = 2
            try expectEqual(copy.tracks.count, 3, "the tracks")
            album.title = "new"
            parent.delete(album.tracks[0])
            parent.processPendingChanges()
            try expect(copy.title == "new" && copy.year == 2 && copy.tracks.count == 2, "the changes of both")
            try child.save()
            try expect(album.title == "new" && album.year == 2, "the changes of both in the parent")
        },
    ]

    /// Returns a saved album with three tracks, its context and the container.
    ///
    /// The checks create child contexts of this context.
    private static func makeParent(
        _ bench: GraphBench
    ) throws -> (container: PersistentContainer, parent: ManagedObjectContext, album: Album) {
        let container = try bench.makeContainer()
        let parent = container.makeContext()
        let album = try insertBlue(into: parent)
        try parent.save()
        return (container, parent, album)
    }
}
