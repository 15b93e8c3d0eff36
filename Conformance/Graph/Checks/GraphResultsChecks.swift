internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery
internal import RoostSystem

extension GraphCheck {
    /// Results that follow the changes of a context.
    static let results: [GraphCheck] = resultsHere + resultsOfOthers + resultsWithRelationships + resultsReported

    /// Changes of the context itself.
    private static let resultsHere: [GraphCheck] = [
        GraphCheck(
            "results.insert-delete-update",
            "Inserts, deletes and updates report the old and new places of the fixture of teams and names.", .apple
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(
                Fetch<Person>(sortedBy: ["team.name", "name"]), in: context, sections: "team.name")
            try expectEqual(list.controller.sections.map(\.name), ["Engineering", "Operations"], "the sections")
            let new: Person = try context.insert()
            (new.name, new.team) = ("Amy", people[0].team)
            people[1].salary = 5
            context.delete(people[2])
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.inserted, [item(new, 0, 1)], "the inserted objects")
            try expectEqual(change.updated, [move(people[1], (0, 1), (0, 2))], "the updated objects")
            try expectEqual(change.deleted, [item(people[2], 1, 0)], "the deleted objects")
            try expectEqual(change.deletedSections, [1], "the deleted sections")
            try expect(change.moved.isEmpty && change.insertedSections.isEmpty, "nothing else")
            try expectEqual(list.controller.objects.map(\.name), ["Alice", "Amy", "Bob"], "the names")
            try expectEqual(
                list.controller.place(of: new), ResultsPlace(section: 0, item: 1), "the place of the new object")
            try expectEqual(list.controller.place(of: people[2]), nil, "the place of the deleted object")
            try context.save()
            try list.expectFetched()
        },
        GraphCheck(
            "results.move-section",
            "When Bob's team changes from Engineering to the new team Sales, the change has one inserted section, one move from (0,1) to (1,0), and no delete.",
            .both
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            context.delete(people[2])
            context.processPendingChanges()
            let list = try FollowedList(
                Fetch<Person>(sortedBy: ["team.name", "name"]), in: context, sections: "team.name")
            let sales = try context.insert("Team")
            sales["name"] = "Sales"
            people[1].team = sales
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.insertedSections, [1], "the inserted sections")
            try expectEqual(change.moved, [move(people[1], (0, 1), (1, 0))], "the moved objects")
            try expectEqual(change.deleted, [], "the deleted objects")
            try expect(change.inserted.isEmpty && change.updated.isEmpty && change.deletedSections.isEmpty, "no more")
        },
        GraphCheck(
            "results.sort-change-is-move",
            "A changed sort key without a new place is an update; with a new place it is a move.", .apple
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            people[0].name = "Aaron"
            context.processPendingChanges()
            var change = try list.takeChange()
            try expectEqual(change.updated, [move(people[0], (0, 0), (0, 0))], "the updated objects")
            try expect(change.moved.isEmpty, "no move")
            people[0].name = "Zoe"
            context.processPendingChanges()
            change = try list.takeChange()
            try expectEqual(change.moved, [move(people[0], (0, 0), (0, 2))], "the moved objects")
            try expect(change.updated.isEmpty, "no update: the others have kept their order")
        },
        GraphCheck(
            "results.sections",
            "Sections appear with their first object and disappear with their last one, in the order of their values; a name can be made of the value. Without a path there is one section, also without objects.",
            .both
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let years = try FollowedList(Fetch<Album>(sortedBy: ["title"]), in: context, sections: "year")
            let plain = try FollowedList(Fetch<Album>(sortedBy: ["title"]), in: context)
            let letters = try FetchedResultsController(
                Fetch<Album>(sortedBy: ["title"]), in: context, sections: "title",
                named: { if case .string(let text) = $0 { String(text.prefix(1)) } else { "" } })
            try expectEqual(years.controller.sections.map(\.count), [], "the sections of an empty result")
            try expectEqual(plain.controller.sections.map(\.count), [0], "one section without objects")
            let albums = try (0..<4).map { number in
                let album: Album = try context.insert()
                (album.title, album.year) = (
                    ["Blue", "Court", "Hejira", "Canyon"][number], [1971, 1974, 1976, 1971][number]
                )
                return album
            }
            context.processPendingChanges()
            try expectEqual(try years.takeChange().insertedSections, [0, 1, 2], "the inserted sections")
            try expectEqual(try plain.takeChange().insertedSections, [], "the sections of a result without a path")
            try expectEqual(years.controller.sections.map(\.name), ["1971", "1974", "1976"], "the names")
            try expectEqual(letters.sections.map(\.name), ["B", "C", "H"], "the first letters")
            try expectEqual(letters.sections.map(\.count), [1, 2, 1], "the numbers of objects by first letter")
            albums[1].year = 2000
            context.delete(albums[2])
            context.processPendingChanges()
            let change = try years.takeChange()
            try expectEqual(change.deletedSections, [1, 2], "the deleted sections")
            try expectEqual(change.insertedSections, [1], "the inserted sections")
            try expectEqual(years.controller.sections.map(\.name), ["1971", "2000"], "the names afterwards")
            try expectEqual(letters.sections.map(\.name), ["B", "C"], "the first letters afterwards")
        },
        GraphCheck(
            "results.predicate",
            "Objects that begin to meet the predicate are inserted, and objects that no longer meet it are deleted. Objects that nothing touched are in no difference, and an event that touches no object of the result reports none.",
            .both
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(where: "salary > 10", sortedBy: ["salary", "name"]), in: context)
            try expectEqual(list.controller.count, 0, "the objects at first")
            (people[0].salary, people[1].salary, people[2].salary) = (30, 20, 5)
            context.processPendingChanges()
            try expectEqual(
                try list.takeChange().inserted, [item(people[1], 0, 0), item(people[0], 0, 1)], "the inserted")
            people[2].name = "another name"
            context.processPendingChanges()
            try expectEqual(list.changes, [], "no difference")
            people[1].salary = 5
            people[2].salary = 40
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.deleted, [item(people[1], 0, 0)], "the deleted")
            try expectEqual(change.inserted, [item(people[2], 0, 1)], "the inserted")
            people[0].salary = 30
            context.processPendingChanges()
            try expectEqual(try list.takeChange().updated, [move(people[0], (0, 0), (0, 0))], "a value set again")
        },
        GraphCheck(
            "results.no-fetch",
            "Changes of attributes are followed without reading the store, whatever the order and the predicate compare in the objects themselves.",
            .roost
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                for number in 0..<50 {
                    let person: Person = try context.insert()
                    (person.name, person.salary) = ("name \(number)", Int64(number))
                }
            }
            let context = container.makeContext()
            let list = try FollowedList(
                Fetch<Person>(
                    where: "salary < 40 AND name CONTAINS 'N' OR name BEGINSWITH[c] 'NAME'",
                    sortedBy: [.init("name", options: .caseInsensitive)]), in: context)
            let window = try FollowedList(Fetch<Person>(sortedBy: ["salary"], limit: 10), in: context)
            let objects = try context.fetch(Fetch<Person>(sortedBy: ["salary"]))
            let counts = try meter.counting {
                (objects[0].name, objects[1].salary) = ("NAME 5b", 1_000)
                let new: Person = try context.insert()
                (new.name, new.salary) = ("Name 49b", 0)
                context.processPendingChanges()
            }
            try expectEqual(counts.readCount, 0, "the reads of the store")
            try expectEqual(try list.takeChange().entryCount, 3, "the objects of the difference")
            try expectEqual(try window.takeChange().deleted.map(\.id), [objects[1].objectID], "what left the window")
            try list.expectFetched()
            try window.expectFetched()
        },
        GraphCheck(
            "results.undo", "Undo and redo are events like others: controllers report what they change.", .both
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let undo = UndoStack()
            context.undo = undo
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            people[0].name = "Zoe"
            context.processPendingChanges()
            _ = try list.takeChange()
            undo.undo()
            try expectEqual(try list.takeChange().moved, [move(people[0], (0, 2), (0, 0))], "the moves of the undo")
            undo.redo()
            try expectEqual(try list.takeChange().moved, [move(people[0], (0, 0), (0, 2))], "the moves of the redo")
            context.delete(people[1])
            let new: Person = try context.insert()
            new.name = "Carl"
            try context.save()
            _ = try list.takeChange()
            undo.undo()
            let change = try list.takeChange()
            try expectEqual(change.inserted.map(\.id), [people[1].objectID], "the undone delete")
            try expectEqual(change.deleted.map(\.id), [new.objectID], "the undone insert")
            try list.expectFetched()
        },
        GraphCheck(
            "results.rollback", "A rollback reports what it takes back, and nothing of other objects.", .both
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            people[0].name = "Zoe"
            context.delete(people[1])
            let new: Person = try context.insert()
            new.name = "Carl"
            context.processPendingChanges()
            try expectEqual(try list.takeChange().deleted.map(\.id), [people[1].objectID], "the deleted objects")
            context.rollback()
            let change = try list.takeChange()
            try expectEqual(change.moved.map(\.id), [people[0].objectID], "the moved objects")
            try expectEqual(change.inserted.map(\.id), [people[1].objectID], "the inserted objects")
            try expectEqual(change.deleted.map(\.id), [new.objectID], "the deleted objects")
            try expectEqual(change.entryCount, 3, "the objects of the difference")
            try list.expectFetched()
        },
        GraphCheck(
            "results.reset",
            "After a reset the controller has fetched again, and reports what the discarded changes had changed.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            let id = people[0].objectID
            people[0].name = "Zoe"
            context.processPendingChanges()
            _ = try list.takeChange()
            context.reset()
            let change = try list.takeChange()
            try expectEqual(change.moved.map(\.id), [id], "the moved objects")
            try expectEqual(change.entryCount, 1, "the objects of the difference")
            let first = list.controller[ResultsPlace(section: 0, item: 0)]
            try expect(first !== people[0] && first.context === context && first.name == "Alice", "another instance")
            try list.expectFetched()
        },
    ]

    /// Changes of other contexts.
    private static let resultsOfOthers: [GraphCheck] = [
        GraphCheck(
            "results.merge",
            "What another context saved is in the result after the merge, also of objects that the context does not have: one difference for an event, on top of unsaved changes.",
            .apple
        ) { bench in
            let (container, context, people) = try makeTeams(bench)
            context.mergesChangesAutomatically = true
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            people[1].salary = 1
            context.processPendingChanges()
            _ = try list.takeChange()
            var ids: [ObjectID] = []
            try bench.change(container) { other in
                let copies = try people.map { try other.existingObject($0.id) }
                copies[0].name = "Zoe"
                copies[1].name = "Ben"
                other.delete(copies[2])
                let new: Person = try other.insert()
                new.name = "Carl"
                ids.append(new.objectID)
            }
            try bench.change(container) { other in try other.existingObject(people[0].id).name = "Yvonne" }
            try expectEqual(list.changes, [], "no difference before the end of the event")
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.inserted.map(\.id), ids, "the inserted objects")
            try expectEqual(change.deleted.map(\.id), [people[2].objectID], "the deleted objects")
            try expectEqual(
                Set((change.moved + change.updated).map(\.id)), Set(people[..<2].map(\.objectID)), "the changed objects"
            )
            try expectEqual([change.moved.count, change.updated.count], [1, 1], "the number of moves, one of two")
            try expectEqual(list.controller.objects.map(\.name), ["Ben", "Carl", "Yvonne"], "the names")
            try expectEqual(people[1].salary, 1, "an unsaved value")
            try list.expectFetched()
        },
        GraphCheck(
            "results.batch",
            "A batch update, a batch delete with cascades and a batch insert are in results after their merge.", .both
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { context in
                for title in ["Blue", "Court", "Hejira"] { try insertBlue(into: context).title = title }
            }
            let context = container.makeContext()
            context.mergesChangesAutomatically = true
            let albums = try FollowedList(Fetch<Album>(where: "plays < 10", sortedBy: ["title"]), in: context)
            let tracks = try FollowedList(Fetch<Track>(sortedBy: ["title"]), in: context)
            let genres = try FollowedList(Fetch<Genre>(sortedBy: ["name"]), in: context)
            try container.execute(BatchUpdateRequest("Album", where: "title == 'Court'", set: ["plays": .constant(50)]))
            try container.execute(BatchDeleteRequest(FetchRequest("Album", where: "title == 'Blue'")))
            try container.execute(BatchInsertRequest("Genre", rows: [["name": "batch"]]))
            context.processPendingChanges()
            try expectEqual(try albums.takeChange().deleted.count, 2, "the albums that left")
            try expectEqual(try tracks.takeChange().deleted.count, 3, "the tracks that left")
            try expectEqual(try genres.takeChange().inserted.count, 1, "the genres that came")
            for list in [albums.problems, tracks.problems, genres.problems] {
                try expectEqual(try list(), [], "problems")
            }
        },
        GraphCheck(
            "results.other-process",
            "After a commit of another container the result is fetched again, and only objects that changed are reported.",
            .roost
        ) { bench in
            let (container, context, people) = try makeTeams(bench)
            context.mergesChangesAutomatically = true
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            let foreign = try bench.container(for: try bench.store(of: container))
            guard try bench.generation(of: container).isEmpty == false else { return }
            try bench.change(foreign) { other in
                try other.existingObject(people[1].id).salary = 77
                (try other.insert() as Person).name = "Carl"
            }
            context.processPendingChanges()
            let snapshot = try bench.store(of: container).snapshot()
            defer { snapshot.close() }
            // A store that records no generations does not show that it changed.
            if try snapshot.recordedTally() == nil { try list.controller.performFetch() }
            let change = try list.takeChange()
            try expectEqual(change.updated.map(\.id), [people[1].objectID], "the updated objects")
            try expectEqual(change.inserted.count, 1, "the inserted objects")
            try expectEqual(change.entryCount, 2, "the objects of the difference")
            try list.expectFetched()
        },
        GraphCheck(
            "results.refresh",
            "Refreshing an object shows what the store has of it, and a context that does not merge sees the rest when it fetches again.",
            .both
        ) { bench in
            let (container, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            try bench.change(container) { other in
                try other.existingObject(people[0].id).name = "Zoe"
                (try other.insert() as Person).name = "Carl"
            }
            context.processPendingChanges()
            try expectEqual(list.changes, [], "no difference without a merge")
            try context.refresh(people[0], mergingChanges: false)
            try expectEqual(try list.takeChange().moved, [move(people[0], (0, 0), (0, 2))], "the moved objects")
            try list.controller.performFetch()
            try expectEqual(
                try list.takeChange().inserted.map(\.place), [ResultsPlace(section: 0, item: 1)], "the rest")
            try list.expectFetched()
        },
        GraphCheck(
            "results.child",
            "A result in a child shows the parent's unsaved changes. A save of the child is one difference in the parent, and a child without a save leaves the parent's result as it was.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            people[0].name = "Zoe"
            context.processPendingChanges()
            _ = try list.takeChange()
            let child = context.makeChild("pad")
            child.mergesChangesAutomatically = true
            let own = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: child)
            try expectEqual(own.controller.objects.map(\.name), ["Bob", "Carol", "Zoe"], "the names in the child")
            try child.existingObject(people[1].id).name = "Yvonne"
            child.delete(try child.existingObject(people[2].id))
            (try child.insert() as Person).name = "Dan"
            child.processPendingChanges()
            try expectEqual(try own.takeChange().entryCount, 3, "the difference in the child")
            try expectEqual(list.changes, [], "no difference in the parent")
            try child.save()
            let change = try list.takeChange()
            try expectEqual(
                [change.inserted.count, change.deleted.count, change.updated.count], [1, 1, 1],
                "the parent's difference")
            try list.expectFetched()
            people[1].name = "Abe"
            context.processPendingChanges()
            try expectEqual(own.controller.objects.map(\.name), ["Abe", "Dan", "Zoe"], "a change of the parent")
            try own.expectFetched()
            context.rollback()
            try own.expectFetched()
        },
        GraphCheck(
            waiting: "results.in-background",
            "A save in the background reports its changes before it waits, and changes that are made meanwhile after the event that makes them. An object that another context deletes meanwhile leaves.",
            .roost
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                for name in ["Alice", "Bob", "Carol"] { (try context.insert() as Person).name = name }
            }
            try await Self.followInBackground(container, meter)
        },
    ]

    @MainActor
    private static func followInBackground(_ container: PersistentContainer, _ meter: StoreMeter) async throws {
        let context = container.makeContext()
        context.mergesChangesAutomatically = true
        let people = try context.fetch(Fetch<Person>(sortedBy: ["name"]))
        let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
        people[0].name = "Zoe"
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        meter.beforeNextCommit {
            started.yield()
            gate.wait()
        }
        let save = Task { @MainActor in
            defer { started.finish() }
            try await context.saveInBackground()
        }
        for await _ in starts { break }
        let result = Result {
            try expectEqual(try list.takeChange().moved.count, 1, "the moves before the commit")
            people[1].name = "Xaver"
            context.delete(people[2])
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual([change.updated.count, change.deleted.count], [1, 1], "the difference during the commit")
        }
        gate.signal()
        try await save.value
        try result.get()
        try list.expectFetched()
        try expectEqual(list.controller.objects.map(\.name), ["Xaver", "Zoe"], "the names after the commit")
        let other = container.makeContext()
        other.delete(try other.existingObject(people[0].id))
        try other.save()
        context.processPendingChanges()
        try list.expectFetched()
        try expectEqual(list.controller.count, 1, "the number of objects after a deletion elsewhere")
    }

    /// Windows, orders and predicates that need other objects.
    private static let resultsWithRelationships: [GraphCheck] = [
        GraphCheck(
            "results.limit",
            "A result with a limit has the first objects: what comes before its edge pushes others out, and what leaves is replaced.",
            .roost
        ) { bench in
            let (container, context, albums) = try makeAlbums(bench, count: 12)
            let list = try FollowedList(Fetch<Album>(sortedBy: ["plays"], limit: 4), in: context)
            albums[9].plays = -1
            context.processPendingChanges()
            var change = try list.takeChange()
            try expectEqual(change.inserted, [item(albums[9], 0, 0)], "the inserted")
            try expectEqual(change.deleted, [item(albums[3], 0, 3)], "the deleted")
            context.delete(albums[0])
            albums[1].plays = 1_000
            context.processPendingChanges()
            change = try list.takeChange()
            try expectEqual(change.deleted.map(\.id), [albums[0].objectID, albums[1].objectID], "the deleted")
            try expectEqual(change.inserted.map(\.id), [albums[3].objectID, albums[4].objectID], "the inserted")
            try list.expectFetched()
            context.mergesChangesAutomatically = true
            try bench.change(container) { other in
                other.delete(try other.existingObject(albums[3].id))
                (try other.insert() as Album).plays = -5
            }
            context.processPendingChanges()
            try list.expectFetched()
            try expectEqual(list.controller.count, 4, "the number of objects")
        },
        GraphCheck(
            "results.offset",
            "A result with an offset follows what moves over both of its edges, and another window can be shown: only what comes and leaves is reported.",
            .roost
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 12)
            let list = try FollowedList(Fetch<Album>(sortedBy: ["plays"], limit: 3, offset: 4), in: context)
            try expectEqual(list.controller.objects.map(\.plays), [4, 5, 6], "the plays at first")
            context.delete(albums[0])
            context.processPendingChanges()
            try list.expectFetched()
            try expectEqual(try list.takeChange().entryCount, 2, "the objects of the difference")
            albums[11].plays = -1
            context.processPendingChanges()
            try list.expectFetched()
            _ = try list.takeChange()
            albums[5].rating = 2
            context.processPendingChanges()
            try expectEqual(try list.takeChange().updated.map(\.id), [albums[5].objectID], "the updated")
            try list.controller.setWindow(offset: 5, limit: 4)
            let change = try list.takeChange()
            try expectEqual(
                [change.deleted.count, change.inserted.count, change.entryCount], [1, 2, 3], "the new window")
            try expectEqual(list.controller.objects.map(\.plays), [5, 6, 7, 8], "the plays of the new window")
            _ = try expectError(.invalidRequest, in: "a negative offset") {
                try list.controller.setWindow(offset: -1, limit: nil)
            }
            try expectEqual(list.controller.count, 4, "the window after an error")
        },
        GraphCheck(
            "results.related-predicate",
            "A predicate along relationships follows changes of the related objects, of links and of counts.", .roost
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let albums = try ["Blue", "Court"].map { title in
                let album = try insertBlue(into: context)
                album.title = title
                return album
            }
            try context.save()
            let names = try FollowedList(
                Fetch<Track>(where: "album.artist.name == 'Neil'", sortedBy: ["title"]), in: context)
            let counts = try FollowedList(Fetch<Album>(where: "tracks.@count > 3", sortedBy: ["title"]), in: context)
            let any = try FollowedList(
                Fetch<Album>(where: "ANY tracks.title == 'new'", sortedBy: ["title"]), in: context)
            albums[0].artist?.name = "Neil"
            context.processPendingChanges()
            try expectEqual(try names.takeChange().inserted.count, 3, "the tracks that came")
            let track: Track = try context.insert()
            track.title = "new"
            albums[1].tracks.append(track)
            context.processPendingChanges()
            try expectEqual(
                try counts.takeChange().inserted.map(\.id), [albums[1].objectID], "an album with more tracks")
            try expectEqual(
                try any.takeChange().inserted.map(\.id), [albums[1].objectID], "an album with the new track")
            albums[1].artist = albums[0].artist
            context.processPendingChanges()
            try expectEqual(try names.takeChange().inserted.count, 4, "the tracks of the other album")
            for problems in [names.problems, counts.problems, any.problems] {
                try expectEqual(try problems(), [], "problems")
            }
            track.title = "old"
            context.processPendingChanges()
            try expectEqual(any.controller.count, 0, "the albums without the title")
            try context.save()
            for problems in [names.problems, counts.problems, any.problems] {
                try expectEqual(try problems(), [], "problems")
            }
        },
        GraphCheck(
            "results.related-order",
            "An order and sections along relationships follow changes of the related objects: what only those move is reported as moved, and the rest is not.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(
                Fetch<Person>(sortedBy: ["team.name", "name"]), in: context, sections: "team.name")
            try require(people[2].team, "a team")["name"] = "Accounting"
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.moved, [move(people[2], (1, 0), (0, 0))], "the moved objects")
            try expectEqual(change.entryCount, 1, "the objects of the difference")
            try expectEqual([change.deletedSections, change.insertedSections], [[1], [0]], "the sections")
            people[0].team = nil
            context.processPendingChanges()
            try expectEqual(list.controller.sections.map(\.name), ["", "Accounting", "Engineering"], "the names")
            try list.expectFetched()
        },
        GraphCheck(
            "results.text-order", "Objects are placed by the text options of the order, as a fetch places them.", .roost
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 8)
            let lists = try [
                FetchRequest.Comparison.Options.caseInsensitive, [.caseInsensitive, .diacriticInsensitive], .localized,
            ].flatMap { options in
                [
                    try FollowedList(Fetch<Album>(sortedBy: [.init("title", options: options)]), in: context),
                    try FollowedList(
                        Fetch<Album>(sortedBy: [.init("title", ascending: false, options: options)]), in: context,
                        sections: "title"),
                ]
            }
            for (album, title) in zip(albums, ["a10", "A2", "\u{e4}3", "b", "B", "a10", "\u{c4}1", "z"]) {
                album.title = title
                context.processPendingChanges()
                for list in lists { try expectEqual(try list.problems(), [], "problems") }
            }
        },
        GraphCheck(
            "results.subentities",
            "A result of an entity with subentities follows objects of all of them; without subentities only its own.",
            .both
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let all = try FollowedList(Fetch<Asset>(where: "#size > 1", sortedBy: ["name"]), in: context)
            var request = Fetch<Video>(sortedBy: ["name"])
            request.request.includesSubentities = false
            let videos = try FollowedList(request, in: context)
            let (image, video): (Image, Video) = (try context.insert(), try context.insert())
            let clip = try context.insert("Clip")
            for (object, name) in [(image, "c"), (video, "b"), (clip, "a")] as [(ManagedObject, Value)] {
                object["name"] = .string("\(name)")
                object["size"] = 5
            }
            try context.save()
            try expectEqual(all.controller.count, 3, "the assets")
            try expectEqual(videos.controller.objects.map(\.objectID), [video.objectID], "the videos")
            image.size = 0
            video.name = "!"
            context.processPendingChanges()
            try all.expectFetched()
            try videos.expectFetched()
            try expectEqual(
                all.controller.objects.map(\.objectID), [video.objectID, clip.objectID], "the assets afterwards")
        },
    ]

    /// Ways of reporting, and totals.
    private static let resultsReported: [GraphCheck] = [
        GraphCheck(
            waiting: "results.slow-reader",
            "A sequence has each difference in order. A reader that is too slow gets the whole result instead, and then differences again.",
            .roost
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 20)
            let controller = try FetchedResultsController(Fetch<Album>(sortedBy: ["plays"]), in: context)
            var rows = controller.sections.map { Array($0) }
            var iterator = controller.changes.makeAsyncIterator()
            func change(_ number: Int) {
                albums[number % 20].plays = Int64(number * 7 % 31)
                context.processPendingChanges()
            }
            for number in 0..<10 { change(number) }
            for _ in 0..<10 {
                let change = try require(await iterator.next(), "a difference")
                try expect(change.reload == nil, "a difference")
                rows = change.applying(to: rows)
            }
            try expectEqual(rows, controller.sections.map { Array($0) }, "the result after differences")
            for number in 10..<200 { change(number) }
            let whole = try require(await iterator.next(), "an element")
            try expect(whole.reload != nil, "the whole result for a slow reader")
            rows = whole.applying(to: rows)
            try expectEqual(rows, controller.sections.map { Array($0) }, "the whole result")
            change(201)
            let last = try require(await iterator.next(), "a difference")
            try expect(last.reload == nil, "a difference again")
            try expectEqual(last.applying(to: rows), controller.sections.map { Array($0) }, "the result at the end")
        },
        GraphCheck(
            "results.error",
            "If reading fails, the result stays as it was and the controller has the error. The next event fetches again and reports all that differs.",
            .roost
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                for title in ["Blue", "Court"] { try insertBlue(into: context).title = title }
            }
            let context = container.makeContext()
            let list = try FollowedList(
                Fetch<Album>(where: "artist.name == 'Joni'", sortedBy: ["artist.name", "title"]), in: context)
            let artist = try require(list.controller.objects[0].artist, "an artist")
            try expectEqual(artist.name, "Joni", "the name of the artist")
            artist.name = "Neil"
            meter.failNextRead(with: StoreError(.busy, "The read fails, because the check says so."))
            context.processPendingChanges()
            try expect(meter.endReadFailure(), "a read that failed")
            try expectEqual(list.controller.error?.code, .busy, "the code of the error")
            try expectEqual(list.changes, [], "no difference")
            try expectEqual(list.controller.count, 2, "the number of objects after the error")
            artist.name = "Neil Young"
            context.processPendingChanges()
            try expect(list.controller.error == nil, "no error after the next event")
            try expectEqual(try list.takeChange().deleted.count, 1, "the deleted objects")
            try list.expectFetched()
            try context.save()
        },
        GraphCheck(
            "results.nested",
            "The program sees the new result when it is called, also if it changes objects and ends the event then; that is reported afterwards.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            var isNested = false
            var wrong = 0
            let observer = try FetchedResultsController(Fetch<Person>(sortedBy: ["name"]), in: context)
            observer.onChange = { change in
                guard !isNested else { return }
                isNested = true
                people[1].name = "Yvonne"
                context.processPendingChanges()
                if observer.objects[0].objectID != people[1].objectID { wrong += 1 }
            }
            people[0].name = "Zoe"
            context.processPendingChanges()
            try expectEqual(wrong, 0, "results that were ahead of their difference")
            try expectEqual(list.changes.count, 2, "the number of differences")
            try list.expectFetched()
        },
        GraphCheck(
            "results.totals",
            "The number of a request's objects and sums of their attributes follow changes, merges and rollbacks without another fetch.",
            .roost
        ) { bench in
            let (container, context, albums) = try makeAlbums(bench, count: 10)
            context.mergesChangesAutomatically = true
            let totals = try ResultsTotals(
                Fetch<Album>(where: "plays > 4"), sums: ["plays", "rating"], in: context)
            var calls = 0
            totals.onChange = { calls += 1 }
            func expectTotals(_ count: Int, _ plays: Value, _ rating: Value, _ what: String) throws {
                try expectEqual(totals.count, count, "the number, \(what)")
                try expectEqual([totals.sum("plays"), totals.sum("rating")], [plays, rating], "the sums, \(what)")
            }
            try expectTotals(5, 35, .double(0), "at first")
            (albums[0].plays, albums[9].plays, albums[8].rating) = (100, 1, 0.1)
            context.processPendingChanges()
            try expectTotals(5, 126, .double(0.1), "after changes")
            albums[7].title = "another title"
            context.processPendingChanges()
            try expectEqual(calls, 1, "the calls")
            context.delete(albums[8])
            let new: Album = try context.insert()
            (new.plays, new.rating) = (6, 1e300)
            context.processPendingChanges()
            try expectTotals(5, 124, .double(1e300), "after a delete and an insert")
            new.rating = 0.25
            try context.save()
            try expectTotals(5, 124, .double(0.25), "after a save")
            try bench.change(container) { try $0.existingObject(albums[7].id).plays = 0 }
            context.processPendingChanges()
            try expectTotals(4, 117, .double(0.25), "after a merge")
            albums[6].plays = 1_000
            context.processPendingChanges()
            context.rollback()
            try expectTotals(4, 117, .double(0.25), "after a rollback")
            try expectEqual(totals.sum("year"), .null, "a sum that was not asked for")
        },
        GraphCheck(
            "results.law",
            "For 1,000 random events with sections, limits and merges, old list + change = new list = a fresh fetch.",
            .roost
        ) { bench in
            let (container, context, _) = try makeTeams(bench)
            context.mergesChangesAutomatically = true
            let other = container.makeContext("other")
            other.mergesChangesAutomatically = true
            other.mergePolicy = .mergeByPropertyObjectTrump
            context.mergePolicy = .mergeByPropertyObjectTrump
            let teams = try context.fetch(FetchRequest("Team"))
            let lists = try [
                FollowedList(Fetch<Person>(sortedBy: ["salary", "name"]), in: context, sections: "salary"),
                FollowedList(Fetch<Person>(where: "salary > 3", sortedBy: ["name"], limit: 5), in: context),
                FollowedList(Fetch<Person>(sortedBy: ["name"], limit: 4, offset: 3), in: context),
                FollowedList(
                    Fetch<Person>(where: "team.name == 'Operations'", sortedBy: ["team.name", "salary"]), in: context),
            ]
            var random = SplitMix(state: 99)
            func change(_ context: ManagedObjectContext) throws {
                let objects = try context.fetch(Fetch<Person>())
                let object = objects.isEmpty ? nil : objects[random.next(objects.count)]
                switch random.next(8) {
                case 0, 1:
                    let person: Person = try context.insert()
                    (person.name, person.salary) = ("name \(random.next(30))", Int64(random.next(6)))
                case 2: if objects.count > 10, let object { context.delete(object) }
                case 3:
                    object?.team =
                        random.next(3) == 0 ? nil : context.object(with: teams[random.next(teams.count)].objectID)
                case 4: object?.name = "name \(random.next(30))"
                default: object?.salary = Int64(random.next(6))
                }
            }
            for number in 0..<1_000 {
                for _ in 0...random.next(3) { try change(context) }
                if number % 40 == 20 {
                    for _ in 0..<3 { try change(other) }
                    try other.save()
                }
                if number % 40 == 39 { try context.save() }
                if number % 90 == 70 { context.rollback() }
                context.processPendingChanges()
                for list in lists { try expectEqual(try list.problems(), [], "problems after event \(number)") }
            }
        },
    ]

    // MARK: Fixtures

    /// Makes Alice and Bob of Engineering, and Carol of Operations.
    private static func makeTeams(
        _ bench: GraphBench
    ) throws -> (container: PersistentContainer, context: ManagedObjectContext, people: [Person]) {
        let container = try bench.makeContainer()
        let context = container.makeContext()
        let teams = try ["Engineering", "Operations"].map { name in
            let team = try context.insert("Team")
            team["name"] = .string(name)
            return team
        }
        let people = try ["Alice", "Bob", "Carol"].map { name in
            let person: Person = try context.insert()
            (person.name, person.team) = (name, teams[name == "Carol" ? 1 : 0])
            return person
        }
        try context.save()
        return (container, context, people)
    }

    /// Makes albums that were played 0, 1, 2 … times.
    private static func makeAlbums(
        _ bench: GraphBench, count: Int
    ) throws -> (container: PersistentContainer, context: ManagedObjectContext, albums: [Album]) {
        let container = try bench.makeContainer()
        let context = container.makeContext()
        let albums = try (0..<count).map { number in
            let album: Album = try context.insert()
            (album.title, album.plays) = ("title \(number)", Int64(number))
            return album
        }
        try context.save()
        return (container, context, albums)
    }

    private static func item(_ object: ManagedObject, _ section: Int, _ item: Int) -> ResultsChange.Item {
        ResultsChange.Item(id: object.objectID, place: ResultsPlace(section: section, item: item))
    }

    private static func move(
        _ object: ManagedObject, _ from: (Int, Int), _ to: (Int, Int)
    ) -> ResultsChange.Move {
        ResultsChange.Move(
            id: object.objectID, from: ResultsPlace(section: from.0, item: from.1),
            to: ResultsPlace(section: to.0, item: to.1))
    }

    /// Numbers that are the same in each run.
    private struct SplitMix {
        var state: UInt64

        mutating func next(_ count: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var number = state
            number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
            number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
            return Int((number ^ number >> 31) % UInt64(max(1, count)))
        }
    }

    /// A controller, and the result to which its differences lead.
    private final class FollowedList<Object: ManagedObjectClass> {
        let controller: FetchedResultsController<Object>
        private let request: Fetch<Object>
        private let sections: String?
        private(set) var changes: [ResultsChange] = []
        private var rows: [[ObjectID]]

        init(_ request: Fetch<Object>, in context: ManagedObjectContext, sections: String? = nil) throws {
            (self.request, self.sections) = (request, sections)
            controller = try FetchedResultsController(request, in: context, sections: sections)
            rows = controller.sections.map { Array($0) }
            controller.onChange = { [weak self] change in
                guard let self else { return }
                changes.append(change)
                rows = change.applying(to: rows)
            }
        }

        /// Takes the one difference since the last call, and checks the result.
        func takeChange() throws -> ResultsChange {
            try expectEqual(changes.count, 1, "the number of differences")
            let change = changes.removeLast()
            try expectEqual(rows, controller.sections.map { Array($0) }, "the old result with the difference")
            return change
        }

        /// Returns how the result differs from that of a fetch.
        func problems() throws -> [String] {
            changes.removeAll()
            var problems: [String] = []
            let shown = controller.sections.map { Array($0) }
            var ordered = request
            if let sections, ordered.request.sortDescriptors.first?.key != sections {
                ordered.request.sortDescriptors.insert(.init(sections), at: 0)
            } else if sections != nil, let first = ordered.request.sortDescriptors.first, !first.options.isEmpty {
                ordered.request.sortDescriptors.insert(.init(first.key, ascending: first.isAscending), at: 1)
            }
            let fetched = try controller.context.fetchIDs(ordered.request)
            let ids = shown.flatMap(\.self)
            if ids != fetched {
                let (missing, more) = (Set(fetched).subtracting(ids), Set(ids).subtracting(fetched))
                let first = zip(ids, fetched).first { $0 != $1 }
                problems.append(
                    "\(ids.count) objects without \(missing) and with \(more), first \(String(describing: first))")
            }
            if rows != shown { problems.append("the differences give \(rows), not \(shown)") }
            if let error = controller.error { problems.append("\(error)") }
            return problems
        }

        func expectFetched() throws {
            let kept = changes
            try expectEqual(try problems(), [], "problems")
            changes = kept
        }
    }
}
