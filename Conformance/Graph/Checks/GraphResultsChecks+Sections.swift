internal import RoostCore
internal import RoostGraph
internal import RoostQuery

extension GraphCheck {
    /// Sections and orders of results that follow changes.
    static let resultsInOrder: [GraphCheck] = [
        GraphCheck(
            "results.null-section",
            "Objects without a value form a section with an empty name, the first in ascending and the last in descending order. It exists only while it has objects.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            let rising = try FollowedList(
                Fetch<Person>(sortedBy: ["salary", "name"]), in: context, sections: "salary")
            let falling = try FollowedList(
                Fetch<Person>(sortedBy: [.init("salary", ascending: false), "name"]), in: context, sections: "salary")
            try expectEqual(rising.controller.sections.map(\.name), [""], "the sections without values")
            (people[0].salary, people[2].salary) = (2, 1)
            context.processPendingChanges()
            var change = try rising.takeChange()
            try expectEqual(change.insertedSections, [1, 2], "the inserted sections")
            try expectEqual(change.deletedSections, [], "the deleted sections")
            try expectEqual(
                change.moved, [move(people[2], from: (0, 2), to: (1, 0)), move(people[0], from: (0, 0), to: (2, 0))],
                "the moved objects")
            try expectEqual(rising.controller.sections.map(\.name), ["", "1", "2"], "the sections")
            try expectEqual(
                falling.controller.sections.map(\.name), ["2", "1", ""], "the sections of the opposite order")
            _ = try falling.takeChange()
            people[1].salary = 1
            people[0].salary = nil
            context.processPendingChanges()
            change = try rising.takeChange()
            try expectEqual(change.deletedSections, [2], "the section that lost its object")
            try expectEqual(change.insertedSections, [], "the inserted sections of an exchange")
            change = try falling.takeChange()
            try expectEqual(change.deletedSections, [0], "the section that lost its object, in the opposite order")
            try expectEqual(
                Set(change.moved),
                [move(people[0], from: (0, 0), to: (1, 0)), move(people[1], from: (2, 0), to: (0, 0))],
                "the moved objects of the opposite order")
            people[0].salary = 1
            context.processPendingChanges()
            try expectEqual(rising.controller.sections.map(\.name), ["1"], "one section for all")
            try rising.expectFetched()
            try falling.expectFetched()
        },
        GraphCheck(
            "results.section-left-and-entered",
            "If all objects of a section leave it and others enter it in one event, the section stays: it is neither deleted nor inserted.",
            .roost
        ) { bench in
            let (_, context, people) = try makeTeams(bench)
            for (person, salary) in zip(people, [1, 1, 2] as [Int64]) { person.salary = salary }
            try context.save()
            let lists = [
                try FollowedList(Fetch<Person>(sortedBy: ["team.name", "name"]), in: context, sections: "team.name"),
                try FollowedList(Fetch<Person>(sortedBy: ["salary", "name"]), in: context, sections: "salary"),
            ]
            let engineering = people[0].team
            (people[0].team, people[0].salary) = (people[2].team, 2)
            (people[1].team, people[1].salary) = (people[2].team, 2)
            (people[2].team, people[2].salary) = (engineering, 1)
            context.processPendingChanges()
            for list in lists {
                let change = try list.takeChange()
                try expectEqual([change.deletedSections, change.insertedSections], [[], []], "the sections")
                try expectEqual(
                    Set(change.moved),
                    [
                        move(people[2], from: (1, 0), to: (0, 0)), move(people[0], from: (0, 0), to: (1, 0)),
                        move(people[1], from: (0, 1), to: (1, 1)),
                    ], "the moved objects")
                try expectEqual(change.entryCount, 3, "the objects of the difference")
                try list.expectFetched()
            }
        },
        GraphCheck(
            "results.descending",
            "In a descending order, the places of inserts, moves and updates are places in that order.",
            .apple
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 4)
            let list = try FollowedList(Fetch<Album>(sortedBy: [.init("plays", ascending: false)]), in: context)
            let new: Album = try context.insert()
            new.plays = 10
            albums[0].plays = 2
            albums[3].plays = 4
            context.delete(albums[1])
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(change.inserted, [item(new, section: 0, item: 0)], "the inserted")
            try expectEqual(change.updated.map(\.id), [albums[3].objectID], "the updated")
            try expectEqual(change.deleted, [item(albums[1], section: 0, item: 2)], "the deleted")
            // Objects with equal values are in the order of their IDs.
            try expectEqual(change.moved, [move(albums[0], from: (0, 3), to: (0, 2))], "the moved")
            try expectEqual(
                list.controller.objects, [new, albums[3], albums[0], albums[2]], "the objects in their order")
            try list.expectFetched()
        },
        GraphCheck(
            "results.equal-values",
            "Objects with equal values are in the order of their IDs. A change of another property is an update in the same place.",
            .roost
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 6)
            for album in albums { (album.title, album.plays) = ("same", 1) }
            try context.save()
            let list = try FollowedList(
                Fetch<Album>(sortedBy: ["title", .init("plays", ascending: false)]), in: context)
            try expectEqual(list.controller.objects, albums, "the objects at first")
            for number in [4, 1, 5] { albums[number].rating = Double(number) }
            context.processPendingChanges()
            var change = try list.takeChange()
            try expectEqual(
                change.updated, [1, 4, 5].map { move(albums[$0], from: (0, $0), to: (0, $0)) }, "the updated objects")
            try expectEqual(change.entryCount, 3, "the objects of the difference")
            albums[2].title = "other"
            context.processPendingChanges()
            try expectEqual(
                try list.takeChange().moved, [move(albums[2], from: (0, 2), to: (0, 0))], "the moved object")
            albums[2].title = "same"
            context.processPendingChanges()
            change = try list.takeChange()
            try expectEqual(change.moved, [move(albums[2], from: (0, 0), to: (0, 2))], "the place among equal objects")
            try list.expectFetched()
        },
        GraphCheck(
            "results.several-orders",
            "A later sort key decides only between objects that are equal in the earlier ones. Each key has its own direction.",
            .apple
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 6)
            for (number, album) in albums.enumerated() { (album.year, album.rating) = (Int16(1970 + number / 3), 1) }
            try context.save()
            let list = try FollowedList(
                Fetch<Album>(sortedBy: [.init("year", ascending: false), "rating", .init("plays", ascending: false)]),
                in: context)
            try expectEqual(list.controller.objects.map(\.plays), [5, 4, 3, 2, 1, 0], "the plays at first")
            albums[0].plays = 100
            albums[3].rating = nil
            context.processPendingChanges()
            let change = try list.takeChange()
            try expectEqual(
                Set(change.moved),
                [move(albums[0], from: (0, 5), to: (0, 3)), move(albums[3], from: (0, 2), to: (0, 0))], "the moved")
            try expectEqual(change.entryCount, 2, "the objects of the difference")
            try expectEqual(list.controller.objects.map(\.plays), [3, 5, 4, 100, 2, 1], "the plays afterwards")
            try list.expectFetched()
        },
        GraphCheck(
            "results.untouched",
            "A difference names each changed object once, however often it changed, and no other object.", .roost
        ) { bench in
            let (_, context, albums) = try makeAlbums(bench, count: 30)
            let list = try FollowedList(Fetch<Album>(sortedBy: ["plays"]), in: context, sections: "year")
            for round in 0..<3 {
                for number in 0..<5 {
                    (albums[number].plays, albums[number].title) = (Int64(40 - number + round), "round \(round)")
                    albums[number].rating = Double(round)
                }
            }
            albums[6].plays = 6
            albums[29].year = 1999
            albums[28].year = 1999
            albums[28].year = 1970
            context.processPendingChanges()
            let change = try list.takeChange()
            let ids = (change.moved + change.updated).map(\.id)
            try expectEqual(
                Set(ids), Set((albums[..<5] + [albums[6], albums[28], albums[29]]).map(\.objectID)),
                "the objects of the difference")
            try expectEqual(ids.count, 8, "each is named once")
            try expectEqual(change.entryCount, 8, "no object came or left")
            try expectEqual(
                Set(change.updated.map(\.id)), [albums[6].objectID, albums[28].objectID], "the objects that stayed")
            try list.expectFetched()
        },
        GraphCheck(
            "results.empty",
            "A result becomes empty when its last object leaves, and shows later inserts, with and without sections.",
            .both
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let plain = try FollowedList(Fetch<Album>(sortedBy: ["title"]), in: context)
            let years = try FollowedList(Fetch<Album>(sortedBy: ["title"]), in: context, sections: "year")
            for round in 0..<2 {
                let album: Album = try context.insert()
                album.title = "round \(round)"
                context.processPendingChanges()
                try expectEqual(
                    try plain.takeChange().inserted, [item(album, section: 0, item: 0)], "the inserted object")
                var change = try years.takeChange()
                try expectEqual(
                    change.inserted, [item(album, section: 0, item: 0)], "the inserted object of a new section")
                try expectEqual(change.insertedSections, [0], "the inserted section")
                if round == 1 {
                    try context.save()
                    _ = (plain.changes, try plain.problems(), try years.problems())
                }
                let id = album.objectID
                context.delete(album)
                context.processPendingChanges()
                change = try years.takeChange()
                try expectEqual(change.deleted.map(\.id), [id], "the deleted object")
                try expectEqual(change.deletedSections, [0], "the deleted section")
                try expectEqual(try plain.takeChange().deletedSections, [], "a result without a path keeps its section")
                try expectEqual(years.controller.sections.count, 0, "the sections at the end")
                try expectEqual(plain.controller.sections.map(\.count), [0], "the section at the end")
            }
        },
        GraphCheck(
            "results.subentity-sections",
            "Objects of several subentities have one order and common sections. A result without subentities follows only the entity's own objects.",
            .both
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let all = try FollowedList(Fetch<Asset>(sortedBy: ["size", "name"]), in: context, sections: "size")
            let wide = try FollowedList(Fetch<Image>(where: "width > 100", sortedBy: ["width"]), in: context)
            let (image, video, clip): (Image, Video, Clip) = (
                try context.insert(), try context.insert(), try context.insert()
            )
            (image.name, video.name, clip.name) = ("b", "a", "c")
            (image.size, video.size, clip.size) = (1, 1, 2)
            context.processPendingChanges()
            _ = try all.takeChange()
            try expectEqual(wide.changes, [], "no difference of another entity")
            try expectEqual(all.controller.sections.map(\.count), [2, 1], "the numbers of objects")
            (image.width, clip.size) = (200, 1)
            context.processPendingChanges()
            let change = try all.takeChange()
            try expectEqual(change.moved, [move(clip, from: (1, 0), to: (0, 2))], "the moved object")
            try expectEqual(change.updated.map(\.id), [image.objectID], "the updated object")
            try expectEqual(change.deletedSections, [1], "the deleted section")
            try expectEqual(try wide.takeChange().inserted, [item(image, section: 0, item: 0)], "the wide image")
            try all.expectFetched()
            try wide.expectFetched()
        },
        GraphCheck(
            "results.derived-order",
            "A result that is sorted or filtered by a derived attribute follows the value that a save computes.", .roost
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let artists = try ["joni", "neil", "kate"].map { name in
                let artist: Artist = try context.insert()
                artist.name = name
                return artist
            }
            try context.save()
            let names = try FollowedList(Fetch<Artist>(sortedBy: ["upperName"]), in: context)
            let counts = try FollowedList(
                Fetch<Artist>(where: "albumCount > 0", sortedBy: [.init("albumCount", ascending: false)]), in: context)
            try expectEqual(names.controller.objects.map(\.upperName), ["JONI", "KATE", "NEIL"], "the names at first")
            artists[0].name = "zoe"
            for number in 0..<3 {
                let album: Album = try context.insert()
                album.artist = artists[number == 0 ? 2 : 1]
            }
            try context.save()
            try names.expectLaw()
            try names.expectFetched()
            try counts.expectLaw()
            try counts.expectFetched()
            try expectEqual(names.controller.objects, [artists[2], artists[1], artists[0]], "the artists by name")
            try expectEqual(counts.controller.objects, [artists[1], artists[2]], "the artists by their albums")
            try expectEqual(names.controller.objects.map(\.upperName), ["KATE", "NEIL", "ZOE"], "the names afterwards")
        },
    ]
}
