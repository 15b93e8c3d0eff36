internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery
internal import RoostSystem

extension GraphCheck {
    /// Windows, orders and predicates that depend on related objects.
    static let resultsWithRelationships: [GraphCheck] = [
        GraphCheck(
            "results.limit",
            "A result with a limit has the first objects: objects that enter displace the last ones, and objects that leave are replaced.",
            .roost
        ) { bench in
            let (container, context, albums) = try makeAlbums(bench, count: 12)
            let list = try FollowedList(Fetch<Album>(sortedBy: ["plays"], limit: 4), in: context)
            albums[9].plays = -1
            context.processPendingChanges()
            var change = try list.takeChange()
            try expectEqual(change.inserted, [item(albums[9], section: 0, item: 0)], "the inserted")
            try expectEqual(change.deleted, [item(albums[3], section: 0, item: 3)], "the deleted")
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
            "A result with an offset follows moves over both edges. Showing another window reports only the objects that enter and leave.",
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
            "Orders and sections along relationships follow changes of related objects. A difference has only the objects that such a change moves.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let list = try FollowedList(
                Fetch<Person>(sortedBy: ["team.name", "name"]), in: context, sections: "team.name")
            try require(people[2].team, "a team")["name"] = "Accounting"
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.moved, [move(people[2], from: (1, 0), to: (0, 0))], "the moved objects")
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

    /// Ways of reporting changes, and totals.
    static let resultsReported: [GraphCheck] = [
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
            "When a result calls the program, it is already up to date, even if the program then changes objects and ends the event. Those changes are reported afterwards.",
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
            func expectTotals(_ count: Int, plays: Value, rating: Value, what: String) throws {
                try expectEqual(totals.count, count, "the number, \(what)")
                try expectEqual([totals.sum("plays"), totals.sum("rating")], [plays, rating], "the sums, \(what)")
            }
            try expectTotals(5, plays: 35, rating: .double(0), what: "at first")
            (albums[0].plays, albums[9].plays, albums[8].rating) = (100, 1, 0.1)
            context.processPendingChanges()
            try expectTotals(5, plays: 126, rating: .double(0.1), what: "after changes")
            albums[7].title = "another title"
            context.processPendingChanges()
            try expectEqual(calls, 1, "the calls")
            context.delete(albums[8])
            let new: Album = try context.insert()
            (new.plays, new.rating) = (6, 1e300)
            context.processPendingChanges()
            try expectTotals(5, plays: 124, rating: .double(1e300), what: "after a delete and an insert")
            new.rating = 0.25
            try context.save()
            try expectTotals(5, plays: 124, rating: .double(0.25), what: "after a save")
            try bench.change(container) { try $0.existingObject(albums[7].id).plays = 0 }
            context.processPendingChanges()
            try expectTotals(4, plays: 117, rating: .double(0.25), what: "after a merge")
            albums[6].plays = 1_000
            context.processPendingChanges()
            context.rollback()
            try expectTotals(4, plays: 117, rating: .double(0.25), what: "after a rollback")
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
            var random = SeededGenerator(seed: 99)
            func change(_ context: ManagedObjectContext) throws {
                let objects = try context.fetch(Fetch<Person>())
                let object = objects.isEmpty ? nil : objects[random.below(objects.count)]
                switch random.below(8) {
                case 0, 1:
                    let person: Person = try context.insert()
                    (person.name, person.salary) = ("name \(random.below(30))", Int64(random.below(6)))
                case 2: if objects.count > 10, let object { context.delete(object) }
                case 3:
                    object?.team =
                        random.below(3) == 0 ? nil : context.object(with: teams[random.below(teams.count)].objectID)
                case 4: object?.name = "name \(random.below(30))"
                default: object?.salary = Int64(random.below(6))
                }
            }
            for number in 0..<1_000 {
                for _ in 0...random.below(3) { try change(context) }
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
}
