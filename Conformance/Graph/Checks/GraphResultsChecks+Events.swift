internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery
internal import RoostStores
internal import RoostSystem

extension GraphCheck {
    /// Events, and the differences that results report for them.
    static let resultsOfEvents: [GraphCheck] = [
        GraphCheck(
            "results.delete-and-insert",
            "A delete and an insert of one event are both in its difference. An object that is inserted and deleted in one event is in no difference.",
            .both
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            context.delete(people[1])
            let new: Person = try context.insert()
            new.name = "Bob"
            let passing: Person = try context.insert()
            passing.name = "Aaron"
            context.delete(passing)
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.deleted, [item(people[1], section: 0, item: 1)], "the deleted objects")
            try expectEqual(change.inserted, [item(new, section: 0, item: 1)], "the inserted objects")
            try expectEqual(change.entryCount, 2, "the objects of the difference")
            let another: Person = try context.insert()
            context.delete(another)
            context.processPendingChanges()
            try expectEqual(list.changes, [], "no difference of an object that came and left")
            try list.expectFetched()
        },
        GraphCheck(
            "results.there-and-back",
            "An object that leaves a result and returns to its place in one event counts as updated. In two events, it counts as deleted and then as inserted.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            for person in people { person.salary = 10 }
            try context.save()
            let list = try FollowedList(Fetch<Person>(where: "salary > 5", sortedBy: ["name"]), in: context)
            (people[1].salary, people[1].name) = (0, "Zoe")
            (people[1].salary, people[1].name) = (10, "Bob")
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.updated, [move(people[1], from: (0, 1), to: (0, 1))], "the updated object")
            try expectEqual(change.entryCount, 1, "the objects of the difference")
            people[1].salary = 0
            context.processPendingChanges()
            try expectEqual(
                try list.takeChange().deleted, [item(people[1], section: 0, item: 1)], "the object that left")
            people[1].salary = 10
            context.processPendingChanges()
            try expectEqual(
                try list.takeChange().inserted, [item(people[1], section: 0, item: 1)], "the object that came")
            try list.expectFetched()
        },
        GraphCheck(
            "results.save",
            "A save after the end of an event reports nothing, because the result already has all changes.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            people[0].name = "Bert"
            let new: Person = try context.insert()
            new.name = "Bill"
            context.delete(people[2])
            context.processPendingChanges()
            _ = try list.takeChange()
            try context.save()
            try expectEqual(list.changes, [], "no difference of the save")
            try expectEqual(list.controller.objects, [people[0], new, people[1]], "the objects after the save")
            try expectEqual(
                list.controller.place(of: new), ResultsPlace(section: 0, item: 1), "the place of the new object")
            people[1].name = "Al"
            try context.save()
            try expectEqual(
                try list.takeChange().moved, [move(people[1], from: (0, 2), to: (0, 0))], "a change that the save ends")
            try list.expectFetched()
        },
        GraphCheck(
            "results.lasting-ids",
            "If a save gives a new object another ID, the difference has the old ID as deleted and the new one as inserted, and no other object.",
            .roost
        ) { bench in
            let (container, meter) = try bench.makeMetered { context in
                for name in ["Alice", "Carol"] { (try context.insert() as Person).name = name }
            }
            let context = container.makeContext()
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            meter.setReservesKeys(false)
            let new: Person = try context.insert()
            new.name = "Bob"
            context.processPendingChanges()
            let former = item(new, section: 0, item: 1)
            try expectEqual(try list.takeChange().inserted, [former], "the inserted object")
            meter.setReservesKeys(true)
            try context.save()
            let changes = list.changes
            try expect(new.objectID != former.id, "another ID")
            try expectEqual(changes.flatMap(\.deleted), [former], "the former ID")
            try expectEqual(changes.flatMap(\.inserted), [item(new, section: 0, item: 1)], "the new ID")
            try expectEqual(changes.flatMap { $0.moved + $0.updated }, [], "no other object")
            try expectEqual(list.controller.objects[1], new, "the object at the place")
            try list.expectLaw()
            try list.expectFetched()
        },
        GraphCheck(
            "results.cascade",
            "The difference of a delete also has the objects that delete rules delete. An undo inserts all of these objects again in one difference.",
            .both
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let albums = try ["Blue", "Court"].map { title in
                let album = try insertBlue(into: context)
                album.title = title
                return album
            }
            try context.save()
            let undo = UndoStack()
            context.undo = undo
            let list = try FollowedList(
                Fetch<Track>(sortedBy: ["album.title", "title"]), in: context, sections: "album.title")
            let former = list.controller.sections.map { Array($0) }
            context.delete(albums[0])
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.deleted.map(\.id), former[0], "the deleted tracks")
            try expectEqual(change.deletedSections, [0], "the section of the album")
            try expectEqual(change.entryCount, 3, "the objects of the difference")
            undo.undo()
            let back = try list.takeChange()
            try expectEqual(back.inserted.map(\.id), former[0], "the tracks that came back")
            try expectEqual(back.insertedSections, [0], "the section that came back")
            try expectEqual(list.controller.sections.map { Array($0) }, former, "the result as it was")
            try list.expectFetched()
        },
        GraphCheck(
            "results.nullify",
            "When a related object is deleted, objects that referred to it leave the result or change their section. No other object is in the difference.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let own = try FollowedList(Fetch<Person>(where: "team != nil", sortedBy: ["name"]), in: context)
            let related = try FollowedList(
                Fetch<Person>(where: "team.name == 'Engineering'", sortedBy: ["name"]), in: context)
            let sections = try FollowedList(
                Fetch<Person>(sortedBy: ["team.name", "name"]), in: context, sections: "team.name")
            context.delete(try require(people[0].team, "a team"))
            context.processPendingChanges()
            for list in [own, related] {
                let change = try list.takeChange()
                try expectEqual(
                    change.deleted, [item(people[0], section: 0, item: 0), item(people[1], section: 0, item: 1)],
                    "the objects without a team")
                try expectEqual(change.entryCount, 2, "the objects of the difference")
            }
            let change = try sections.takeChange()
            try expectEqual(sections.controller.sections.map(\.name), ["", "Operations"], "the names of the sections")
            try expectEqual(
                Set((change.moved + change.updated).map(\.id)), Set(people[..<2].map(\.objectID)),
                "the objects that changed their section")
            try expectEqual(change.entryCount, 2, "the objects of the difference")
            people[2].team = nil
            context.processPendingChanges()
            try expectEqual(
                try own.takeChange().deleted, [item(people[2], section: 0, item: 0)], "the last object with a team")
            try expectEqual(related.changes, [], "no difference of a result that the object was not in")
            for list in [own, related, sections] { try list.expectFetched() }
        },
        GraphCheck(
            "results.several",
            "Each result of a context reports its own part of an event. The end of one result does not affect the others.",
            .both
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let all = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            let rich = try FollowedList(Fetch<Person>(where: "salary > 10", sortedBy: ["name"]), in: context)
            let teams = FollowedList(
                try FetchedResultsController<ManagedObject>(FetchRequest("Team", sortedBy: ["name"]), in: context),
                request: FetchRequest("Team", sortedBy: ["name"]), sections: nil)
            var short: FollowedList<Person>? = try FollowedList(Fetch<Person>(), in: context)
            people[0].salary = 20
            context.processPendingChanges()
            try expectEqual(try all.takeChange().updated.map(\.id), [people[0].objectID], "the updated")
            try expectEqual(try rich.takeChange().inserted, [item(people[0], section: 0, item: 0)], "the inserted")
            try expectEqual(try require(short, "a list").takeChange().updated.count, 1, "the updated, in no order")
            try expectEqual(teams.changes, [], "no difference of another entity")
            short = nil
            people[0].salary = 5
            try require(people[2].team, "a team")["name"] = "Accounting"
            context.processPendingChanges()
            try expectEqual(try all.takeChange().entryCount, 1, "the difference of all")
            try expectEqual(try rich.takeChange().deleted, [item(people[0], section: 0, item: 0)], "the deleted")
            try expectEqual(try teams.takeChange().moved.map(\.to), [ResultsPlace(section: 0, item: 0)], "the team")
        },
        GraphCheck(
            waiting: "results.sequence-end",
            "When a controller is released, its sequence gives the remaining differences and then ends.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            var controller: FetchedResultsController<Person>? = try FetchedResultsController(
                Fetch<Person>(sortedBy: ["name"]), in: context)
            let changes = try require(controller, "a controller").changes
            people[0].name = "Zoe"
            context.processPendingChanges()
            people[1].salary = 1
            context.processPendingChanges()
            controller = nil
            people[2].salary = 1
            context.processPendingChanges()
            var iterator = changes.makeAsyncIterator()
            try expectEqual(await iterator.next()?.moved.map(\.id), [people[0].objectID], "the first difference")
            try expectEqual(await iterator.next()?.updated.map(\.id), [people[1].objectID], "the second difference")
            try expectEqual(await iterator.next(), nil, "the end")
        },
        GraphCheck(
            "results.saved-only",
            "If a request excludes unsaved changes, its result shows them after a save, as one difference.", .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            var request = Fetch<Person>(sortedBy: ["name"])
            request.includesPendingChanges = false
            let controller = try FetchedResultsController(request, in: context)
            var changes: [ResultsChange] = []
            controller.onChange = { changes.append($0) }
            let ids = controller.sections.flatMap { Array($0) }
            people[0].name = "Zoe"
            context.delete(people[1])
            let new: Person = try context.insert()
            new.name = "Carl"
            context.processPendingChanges()
            try expectEqual(
                changes.flatMap { $0.inserted + $0.deleted }.map(\.id), [], "the changes before the save")
            try expectEqual(controller.sections.flatMap { Array($0) }, ids, "the result before the save")
            changes = []
            try context.save()
            try expectEqual(changes.count, 1, "the number of differences of the save")
            try expectEqual(changes.flatMap(\.inserted).map(\.id), [new.objectID], "the inserted")
            try expectEqual(changes.flatMap(\.deleted).map(\.id), [people[1].objectID], "the deleted")
            try expectEqual(changes.flatMap(\.moved).map(\.id).contains(people[0].objectID), true, "the moved")
            try expectEqual(
                controller.sections.flatMap { Array($0) }, [new, people[2], people[0]].map(\.objectID), "the result")
        },
        GraphCheck(
            "results.conflict",
            "After a save, the result has the values that a merge policy takes from the store.", .roost
        ) { bench in
            let (container, context, people) = try makeTeams(bench)
            context.mergePolicy = .mergeByPropertyStoreTrump
            let list = try FollowedList(Fetch<Person>(where: "salary < 100", sortedBy: ["name"]), in: context)
            for person in people { person.salary = 1 }
            try context.save()
            _ = try list.problems()
            try bench.change(container) { other in
                try other.existingObject(people[0].id).name = "Zoe"
                try other.existingObject(people[1].id).salary = 500
            }
            (people[0].name, people[0].salary) = ("Abe", 2)
            people[1].salary = 3
            context.processPendingChanges()
            try expectEqual(list.controller.objects, people, "the people before the save")
            try context.save()
            try expectEqual(list.controller.objects, [people[2], people[0]], "the people after the save")
            try expectEqual(
                people[0].name.map { [$0, "\(people[0].salary ?? 0)"] }, ["Zoe", "2"], "the merged values")
            try list.expectLaw()
            try list.expectFetched()
        },
        GraphCheck(
            "results.failed-save",
            "A failed save leaves a result unchanged. The result then follows the changes that make the next save succeed.",
            .roost
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let rules = FetchRequest("Rule", where: "number > 2", sortedBy: ["number"])
            let list = FollowedList(
                try FetchedResultsController<ManagedObject>(rules, in: context, sections: "required"), request: rules,
                sections: "required"
            )
            let objects = try [3, 4].map { (number: Int64) in
                let rule = try context.insert("Rule")
                (rule["required"], rule["number"]) = ("r", .int(number))
                return rule
            }
            context.processPendingChanges()
            _ = try list.takeChange()
            objects[0]["number"] = 100
            context.processPendingChanges()
            try expectEqual(
                try list.takeChange().moved, [move(objects[0], from: (0, 0), to: (0, 1))], "the moved object")
            _ = try expectError(.validationFailed, in: "a save of an object that breaks a rule") { try context.save() }
            try expectEqual(list.changes, [], "no difference of a save that failed")
            objects[0]["number"] = 1
            context.processPendingChanges()
            try expectEqual(try list.takeChange().deleted.map(\.id), [objects[0].objectID], "the object that left")
            try context.save()
            try expectEqual(list.controller.count, 1, "the number of objects")
            try list.expectLaw()
            try list.expectFetched()
        },
        GraphCheck(
            "results.refresh-all",
            "Refreshing all objects reports the changes of another context. Unsaved changes stay, and objects with the same values are in no difference.",
            .both
        ) { bench in
            let (container, context, people) = try makeTeams(bench)
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            people[0].salary = 1
            context.processPendingChanges()
            try expectEqual(try list.takeChange().updated.map(\.id), [people[0].objectID], "the updated object")
            try bench.change(container) { try $0.existingObject(people[1].id).name = "Zoe" }
            context.processPendingChanges()
            try expectEqual(list.changes, [], "no difference without a merge")
            try context.refreshAllObjects()
            let change = try list.takeChange()
            try expectEqual(change.moved, [move(people[1], from: (0, 1), to: (0, 2))], "the moved object")
            try expectEqual(change.entryCount, 1, "the objects of the difference")
            try expectEqual(people[0].salary, 1, "a value that is not saved")
            try list.expectFetched()
        },
    ]

    /// Windows of a result, batch requests, saves through another open store, and totals.
    static let resultsInWindows: [GraphCheck] = [
        GraphCheck(
            "results.window-edges",
            "Inserts and deletes before a window with an offset and a limit move its edges: as many objects enter as leave. Unchanged objects that stay in the window are in no difference.",
            .roost
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 12)
            let list = try FollowedList(Fetch<Album>(sortedBy: ["plays"], limit: 3, offset: 4), in: context)
            let first: Album = try context.insert()
            first.plays = -5
            context.processPendingChanges()
            var change = try list.takeChange()
            try expectEqual(
                change.inserted, [item(albums[3], section: 0, item: 0)], "the objects that entered at the first edge")
            try expectEqual(
                change.deleted, [item(albums[6], section: 0, item: 2)], "the objects that left at the last edge")
            try expectEqual(change.entryCount, 2, "the objects of the difference")
            context.delete(first)
            context.delete(albums[0])
            context.processPendingChanges()
            change = try list.takeChange()
            try expectEqual(
                change.deleted.map(\.id), [albums[3].objectID, albums[4].objectID], "the objects that left")
            try expectEqual(
                change.inserted, [item(albums[6], section: 0, item: 1), item(albums[7], section: 0, item: 2)],
                "the objects that entered")
            albums[11].plays = 100
            albums[10].rating = 1
            context.processPendingChanges()
            try expectEqual(list.changes, [], "no difference of changes after the window")
            albums[1].rating = 1
            context.processPendingChanges()
            try expectEqual(list.changes, [], "no difference of changes before the window")
            albums[5].plays = 200
            context.processPendingChanges()
            change = try list.takeChange()
            try expectEqual(
                change.deleted, [item(albums[5], section: 0, item: 0)], "the objects that moved out of the window")
            try expectEqual(change.inserted, [item(albums[8], section: 0, item: 2)], "the objects that replaced it")
            for album in albums[6...] { context.delete(album) }
            context.processPendingChanges()
            try expectEqual(list.controller.objects, [albums[5]], "the rest is less than the window")
            try list.expectFetched()
        },
        GraphCheck(
            "results.pages",
            "Windows can be shown one after the other: all pages together are the whole result, the last one has the rest, and one past the end is empty.",
            .roost
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 11)
            let list = try FollowedList(Fetch<Album>(sortedBy: ["plays"], limit: 4), in: context)
            var shown = list.controller.objects
            for (offset, count) in [(4, 4), (8, 3), (12, 0)] {
                try list.controller.setWindow(offset: offset, limit: 4)
                let change = try list.takeChange()
                try expectEqual(change.inserted.count, count, "the objects of the page after \(offset)")
                try expect(change.moved.isEmpty && change.updated.isEmpty, "pages have no object in common")
                shown += list.controller.objects
            }
            try expectEqual(shown, albums, "all pages")
            albums[0].plays = 500
            let new: Album = try context.insert()
            new.plays = 600
            context.processPendingChanges()
            try expectEqual(list.changes, [], "no difference past the end")
            try list.controller.setWindow(offset: 10, limit: 4)
            try expectEqual(
                try list.takeChange().inserted.map(\.id), [albums[0], new].map(\.objectID), "the last page")
            try list.controller.setWindow(offset: 10, limit: 4)
            try expectEqual(list.changes, [], "no difference of the same window")
            try list.controller.setWindow(offset: nil, limit: nil)
            try expectEqual(list.controller.count, 12, "the whole result")
            try list.expectLaw()
        },
        GraphCheck(
            "results.window-entries",
            "A difference of a window has at most one entry for each changed object, and one for each object that enters or leaves at an edge.",
            .roost
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 40)
            let list = try FollowedList(Fetch<Album>(sortedBy: ["plays"], limit: 10), in: context)
            let page = try FollowedList(Fetch<Album>(sortedBy: ["plays"], limit: 10, offset: 10), in: context)
            var random = SeededGenerator(seed: 7)
            for round in 0..<25 {
                let count = 1 + random.below(4)
                let changed = Set((0..<count).map { _ in random.below(40) })
                for number in changed { albums[number].plays = Int64(random.below(60)) }
                context.processPendingChanges()
                for window in [list, page] {
                    let entries = window.changes.reduce(0) { $0 + $1.entryCount }
                    // Each changed object can move one object over each edge.
                    try expect(
                        entries <= 3 * changed.count, "the entries of event \(round)", otherwise: "\(entries)")
                    let own = Set(window.changes.flatMap { $0.moved + $0.updated }.map(\.id))
                    try expect(
                        own.isSubset(of: changed.map { albums[$0].objectID }),
                        "only objects that changed are moved or updated")
                    try expectEqual(try window.problems(), [], "problems after event \(round)")
                }
            }
        },
        GraphCheck(
            "results.batch-order",
            "A batch update of sort keys and section values moves the objects of a result, also in a window.", .both
        ) { bench in
            let (container, context, albums) = try makeAlbums(bench, count: 10)
            context.mergesChangesAutomatically = true
            let years = try FollowedList(Fetch<Album>(sortedBy: ["year", "plays"]), in: context, sections: "year")
            let window = try FollowedList(Fetch<Album>(sortedBy: ["plays"], limit: 3), in: context)
            albums[9].rating = 5
            context.processPendingChanges()
            _ = try years.takeChange()
            try container.execute(
                BatchUpdateRequest("Album", where: "plays < 2", set: ["year": .constant(1980), "plays": .constant(50)]))
            try expectEqual(years.changes, [], "no difference before the end of the event")
            context.processPendingChanges()
            let change = try years.takeChange()
            try expectEqual(change.insertedSections, [1], "the inserted section")
            try expectEqual(
                change.moved, [move(albums[0], from: (0, 0), to: (1, 0)), move(albums[1], from: (0, 1), to: (1, 1))],
                "the moved objects")
            let edges = try window.takeChange()
            try expectEqual(
                edges.deleted.map(\.id), [albums[0], albums[1]].map(\.objectID), "the objects that left the window")
            try expectEqual(
                edges.inserted.map(\.id), [albums[3], albums[4]].map(\.objectID), "the objects that filled it")
            try container.execute(BatchDeleteRequest(FetchRequest("Album", where: "year == 1980")))
            context.processPendingChanges()
            try expectEqual(try years.takeChange().deletedSections, [1], "the deleted section")
            try expectEqual(window.changes, [], "no difference of a window without them")
            try expectEqual(albums[9].rating, 5, "a value that is not saved")
            try years.expectFetched()
            try window.expectFetched()
        },
        GraphCheck(
            "results.other-opening",
            "A result follows saves that are made through another opening of the same store.", .roost,
            needs: [.multipleProcesses, .persistence]
        ) { bench in
            let (container, context, people) = try makeTeams(bench)
            context.mergesChangesAutomatically = true
            let list = try FollowedList(Fetch<Person>(sortedBy: ["name"]), in: context)
            let other = try bench.container(for: try bench.workbench.open())
            try bench.change(other) { elsewhere in
                try elsewhere.existingObject(people[0].id).name = "Zoe"
                elsewhere.delete(try elsewhere.existingObject(people[1].id))
                (try elsewhere.insert() as Person).name = "Carl"
            }
            context.processPendingChanges()
            let snapshot = try bench.store(of: container).snapshot()
            defer { snapshot.close() }
            // Without recorded generations, the controller cannot detect the changes.
            if try snapshot.recordedTally() == nil { try list.controller.performFetch() }
            try expectEqual(list.controller.objects.map(\.name), ["Carl", "Carol", "Zoe"], "the names")
            let change = try list.takeChange()
            try expectEqual(change.moved.map(\.id), [people[0].objectID], "the moved object")
            try expectEqual(change.deleted.map(\.id), [people[1].objectID], "the deleted object")
            try expectEqual(change.entryCount, 3, "the objects of the difference")
            try list.expectFetched()
        },
        GraphCheck(
            "results.totals-null",
            "Sums ignore nulls, and follow values that change from or to null. The sum of nulls equals the sum of no objects.",
            .roost
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let totals = try ResultsTotals(Fetch<Asset>(), sums: ["size"], in: context)
            let empty = totals.sum("size")
            var calls = 0
            totals.onChange = { calls += 1 }
            let (image, video, clip): (Image, Video, Clip) = (
                try context.insert(), try context.insert(), try context.insert()
            )
            context.processPendingChanges()
            try expectEqual([totals.count, calls], [3, 1], "the number of objects without values, and of calls")
            try expectEqual(totals.sum("size"), empty, "the sum of nulls")
            (image.size, video.size, clip.size) = (1, 2, 40)
            context.processPendingChanges()
            try expectEqual(totals.sum("size"), 43, "the sum of objects of several subentities")
            video.size = nil
            image.name = "another name"
            context.processPendingChanges()
            try expectEqual(totals.sum("size"), 41, "the sum without the value that became null")
            try context.save()
            try expectEqual([totals.count, calls], [3, 3], "the number of objects and of calls after a save")
            clip.name = "another name"
            context.processPendingChanges()
            try expectEqual(calls, 3, "a change of another attribute does not call")
            for object in [image, video, clip] { context.delete(object) }
            context.processPendingChanges()
            try expectEqual(totals.sum("size"), empty, "the sum of no objects")
            try expectEqual(totals.count, 0, "the number of no objects")
            _ = try expectError(.invalidRequest, in: "the sum of names") {
                _ = try ResultsTotals(Fetch<Asset>(), sums: ["name"], in: context)
            }
            _ = try expectError(.invalidRequest, in: "totals of a window") {
                _ = try ResultsTotals(Fetch<Asset>(limit: 2), in: context)
            }
        },
        GraphCheck(
            "results.totals-related",
            "Totals of a predicate that follows a relationship count again when a related object changes.", .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            for (person, salary) in zip(people, [1, 10, 100] as [Int64]) { person.salary = salary }
            try context.save()
            let totals = try ResultsTotals(
                Fetch<Person>(where: "team.name == 'Engineering'"), sums: ["salary"], in: context)
            func expectTotals(_ count: Int, sum: Value, what: String) throws {
                try expectEqual(totals.count, count, "the number \(what)")
                try expectEqual(totals.sum("salary"), sum, "the sum \(what)")
                try expect(totals.error == nil, "no error")
            }
            try expectTotals(2, sum: 11, what: "at first")
            try require(people[2].team, "a team")["name"] = "Engineering"
            context.processPendingChanges()
            try expectTotals(3, sum: 111, what: "after the name of a team changed")
            people[0].team = nil
            context.processPendingChanges()
            try expectTotals(2, sum: 110, what: "after an object left its team")
            context.delete(try require(people[1].team, "a team"))
            context.processPendingChanges()
            try expectTotals(1, sum: 100, what: "after a team was deleted")
            context.rollback()
            try expectTotals(2, sum: 11, what: "after a rollback")
        },
    ]
}
