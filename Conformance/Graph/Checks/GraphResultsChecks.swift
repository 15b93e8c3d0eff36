internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery
internal import RoostSystem

extension GraphCheck {
    static let results: [GraphCheck] = [
        resultsHere, resultsOfOthers, resultsWithRelationships, resultsReported, resultsInOrder, resultsOfEvents,
        resultsInWindows,
    ].flatMap { $0 }

    /// Changes of the context itself.
    private static let resultsHere: [GraphCheck] = [
        GraphCheck(
            "results.insert-delete-update",
            "For inserts, deletes and updates, a difference has the old and new places of the objects.", .apple
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
            try expectEqual(change.inserted, [item(new, section: 0, item: 1)], "the inserted objects")
            try expectEqual(change.updated, [move(people[1], from: (0, 1), to: (0, 2))], "the updated objects")
            try expectEqual(change.deleted, [item(people[2], section: 1, item: 0)], "the deleted objects")
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
            try expectEqual(change.moved, [move(people[1], from: (0, 1), to: (1, 0))], "the moved objects")
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
            try expectEqual(change.updated, [move(people[0], from: (0, 0), to: (0, 0))], "the updated objects")
            try expect(change.moved.isEmpty, "no move")
            people[0].name = "Zoe"
            context.processPendingChanges()
            change = try list.takeChange()
            try expectEqual(change.moved, [move(people[0], from: (0, 0), to: (0, 2))], "the moved objects")
            try expect(change.updated.isEmpty, "no update: the others have kept their order")
        },
        GraphCheck(
            "results.sections",
            "Sections are in the order of their values; each appears with its first object and disappears with its last one. A section's name can be computed from its value. Without a section path, even an empty result has one section.",
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
            "Objects that begin to meet the predicate are inserted, and objects that no longer meet it are deleted. Untouched objects are in no difference, and an event that touches no object of the result reports no difference.",
            .both
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(where: "salary > 10", sortedBy: ["salary", "name"]), in: context)
            try expectEqual(list.controller.count, 0, "the objects at first")
            (people[0].salary, people[1].salary, people[2].salary) = (30, 20, 5)
            context.processPendingChanges()
            try expectEqual(
                try list.takeChange().inserted,
                [item(people[1], section: 0, item: 0), item(people[0], section: 0, item: 1)], "the inserted")
            people[2].name = "another name"
            context.processPendingChanges()
            try expectEqual(list.changes, [], "no difference")
            people[1].salary = 5
            people[2].salary = 40
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.deleted, [item(people[1], section: 0, item: 0)], "the deleted")
            try expectEqual(change.inserted, [item(people[2], section: 0, item: 1)], "the inserted")
            people[0].salary = 30
            context.processPendingChanges()
            try expectEqual(
                try list.takeChange().updated, [move(people[0], from: (0, 0), to: (0, 0))], "a value set again")
        },
        GraphCheck(
            "results.no-fetch",
            "A result follows changes of attributes without reading the store if its order and predicate use only attributes of its own objects.",
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
            try expectEqual(
                try window.takeChange().deleted.map(\.id), [objects[1].objectID], "the objects that left the window")
            try list.expectFetched()
            try window.expectFetched()
        },
        GraphCheck(
            "results.undo", "Undo and redo are events: controllers report their changes.", .both
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let undo = UndoStack()
            context.undo = undo
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            people[0].name = "Zoe"
            context.processPendingChanges()
            _ = try list.takeChange()
            undo.undo()
            try expectEqual(
                try list.takeChange().moved, [move(people[0], from: (0, 2), to: (0, 0))], "the moves of the undo")
            undo.redo()
            try expectEqual(
                try list.takeChange().moved, [move(people[0], from: (0, 0), to: (0, 2))], "the moves of the redo")
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
            "results.rollback", "A rollback reports the changes that it reverts, and no other objects.", .both
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
            "After a reset, the controller has fetched again and reports the objects that the discarded changes affected.",
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

    private static let resultsOfOthers: [GraphCheck] = [
        GraphCheck(
            "results.merge",
            "After a merge, a result has the saves of another context in one difference, on top of unsaved changes. That includes objects that the context does not have.",
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
            try bench.change(foreign) { other in
                try other.existingObject(people[1].id).salary = 77
                (try other.insert() as Person).name = "Carl"
            }
            context.processPendingChanges()
            let snapshot = try bench.store(of: container).snapshot()
            defer { snapshot.close() }
            // Without recorded generations, the controller cannot detect the changes.
            if try snapshot.recordedTally() == nil { try list.controller.performFetch() }
            let change = try list.takeChange()
            try expectEqual(change.updated.map(\.id), [people[1].objectID], "the updated objects")
            try expectEqual(change.inserted.count, 1, "the inserted objects")
            try expectEqual(change.entryCount, 2, "the objects of the difference")
            try list.expectFetched()
        },
        GraphCheck(
            "results.refresh",
            "After an object is refreshed, a result shows its stored values. If the context does not merge, other saved changes appear when the result is fetched again.",
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
            try expectEqual(
                try list.takeChange().moved, [move(people[0], from: (0, 0), to: (0, 2))], "the moved objects")
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
            "A save in the background reports its changes before the commit. Changes made during the commit are reported at the end of their event. An object that another context deletes later leaves the result.",
            .roost
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                for name in ["Alice", "Bob", "Carol"] { (try context.insert() as Person).name = name }
            }
            try await Self.followInBackground(container, meter: meter)
        },
    ]

    @MainActor
    private static func followInBackground(_ container: PersistentContainer, meter: StoreMeter) async throws {
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
}
