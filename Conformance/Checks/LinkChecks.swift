internal import RoostCore

private let tracks = RelationshipName("Playlist", name: "tracks")
private let playlists = RelationshipName("Track", name: "playlists")
private let tagged = RelationshipName("Tag", name: "tagged")
private let tags = RelationshipName("Track", name: "tags")
private let members = RelationshipName("Queue", name: "members")
private let queues = RelationshipName("Track", name: "queues")
private let extras = RelationshipName("Shelf", name: "extras")
private let friends = RelationshipName("Node", name: "friends")
private let songs = RelationshipName("Album", name: "songs")
private let children = RelationshipName("Node", name: "children")

extension ConformanceCheck {
    /// Links of many-to-many relationships and of to-many relationships without an inverse.
    static let links: [ConformanceCheck] = [
        linked("many-to-many", behavior: "A many-to-many link is visible from both ends, under both names.") { store in
            try store.change { changes in
                for link in [Link(1, 1), Link(1, 2), Link(2, 1), Link(3, 3)] { try changes.add(link, to: tagged) }
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: tagged, from: ObjectID("Tag", key: 1)), [1, 2], "the tracks of tag 1")
                try expectEqual(
                    try snapshot.targets(of: tags, from: ObjectID("Track", key: 1)), [1, 2], "the tags of track 1")
                try expectEqual(
                    try snapshot.targets(of: tags, from: ObjectID("Track", key: 2)), [1], "the tags of track 2")
                try expectEqual(
                    try snapshot.targets(of: tags, from: ObjectID("Track", key: 4)), [], "the tags of track 4")
                try expectEqual(
                    try snapshot.allLinks(of: tagged), [Link(1, 1), Link(1, 2), Link(2, 1), Link(3, 3)],
                    "all links by source and target")
            }
        },
        linked(
            "inverse-walk",
            behavior:
                "All links of a relationship can also be read under the name of its inverse. Source and target are then exchanged."
        ) {
            store in
            try store.change { changes in
                for link in [Link(1, 3, order: 9), Link(2, 1, order: 4), Link(3, 1, order: 2)] {
                    try changes.add(link, to: tracks)
                }
            }
            try store.view { snapshot in
                let flipped = try snapshot.allLinks(of: playlists)
                try expectEqual(
                    flipped.map { [$0.source, $0.target] }, [[1, 2], [1, 3], [3, 1]], "track and playlist, by track")
                try expectEqual(flipped.map(\.inverseOrder), [4, 2, 9], "the places in the playlists")
            }
        },
        linked(
            "added-from-inverse",
            behavior: "A link that is added under the inverse's name equals the link that is added from the other end."
        ) {
            store in
            try store.change { changes in
                try changes.add(Link(5, 2, inverseOrder: 30), to: playlists)
                try changes.add(Link(6, 2, inverseOrder: 20), to: playlists)
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: tracks, from: ObjectID("Playlist", key: 2)), [6, 5], "the tracks in order")
                try expectEqual(
                    try snapshot.allLinks(of: tracks), [Link(2, 6, order: 20), Link(2, 5, order: 30)], "the links")
            }
            try store.change { try $0.remove(Link(5, 2), from: playlists) }
            try expectEqual(
                try store.view { try $0.allLinks(of: tracks) }, [Link(2, 6, order: 20)], "the links after a removal")
        },
        linked(
            "order",
            behavior:
                "An ordered relationship keeps its order exactly. Ties are ordered by key, and places need not be consecutive."
        ) { store in
            let places: [(Int64, Int64)] = [
                (1, 70), (2, -5), (3, 70), (4, .min), (5, .max), (6, 0), (7, 70), (8, -5), (9, 1 << 40),
            ]
            try store.change { changes in
                for (key, place) in places { try changes.add(Link(1, key, order: place), to: tracks) }
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: tracks, from: ObjectID("Playlist", key: 1)), [4, 2, 8, 6, 1, 3, 7, 9, 5],
                    "the tracks in order")
                let sorted: [Int64] = [.min, -5, -5, 0, 70, 70, 70, 1 << 40, .max]
                try expectEqual(try snapshot.allLinks(of: tracks).map(\.order), sorted, "the places")
                try expectEqual(
                    try snapshot.drain(snapshot.links(of: tracks, from: ObjectID("Playlist", key: 1))).map(\.order),
                    sorted,
                    "the places, from the playlist")
                try expectEqual(
                    try snapshot.drain(snapshot.links(of: playlists, from: ObjectID("Track", key: 9))).map(
                        \.inverseOrder),
                    [1 << 40], "the place, from the track")
            }
        },
        linked("order-both-ends", behavior: "A relationship that is ordered at both ends keeps both orders.") { store in
            try store.change { changes in
                try changes.add(Link(1, 1, order: 3, inverseOrder: 20), to: members)
                try changes.add(Link(1, 2, order: 1, inverseOrder: 10), to: members)
                try changes.add(Link(2, 1, order: 5, inverseOrder: 10), to: members)
                try changes.add(Link(3, 1, order: 5, inverseOrder: 15), to: members)
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: members, from: ObjectID("Queue", key: 1)), [2, 1], "the members of queue 1"
                )
                try expectEqual(
                    try snapshot.targets(of: queues, from: ObjectID("Track", key: 1)), [2, 3, 1],
                    "the queues of track 1")
                try expectEqual(
                    try snapshot.allLinks(of: members),
                    [
                        Link(1, 2, order: 1, inverseOrder: 10), Link(1, 1, order: 3, inverseOrder: 20),
                        Link(2, 1, order: 5, inverseOrder: 10), Link(3, 1, order: 5, inverseOrder: 15),
                    ], "the links")
            }
        },
        linked("reorder", behavior: "Adding a link that exists replaces its places and creates no second link.") {
            store in
            try store.change { changes in
                for key in 1...4 { try changes.add(Link(1, Int64(key), order: Int64(key)), to: tracks) }
            }
            try store.change { changes in
                try changes.add(Link(1, 1, order: 10), to: tracks)
                try changes.add(Link(1, 3, order: 0), to: tracks)
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: tracks, from: ObjectID("Playlist", key: 1)), [3, 2, 4, 1],
                    "the tracks in order"
                )
                try expectEqual(try snapshot.allLinks(of: tracks).count, 4, "the number of links")
                try expectEqual(
                    try snapshot.targets(of: playlists, from: ObjectID("Track", key: 1)), [1],
                    "the playlists of track 1")
            }
        },
        linked(
            "unordered-places",
            behavior: "Places at an unordered end are dropped, so that links of the same objects are equal."
        ) {
            store in
            try store.change { try $0.add(Link(1, 1, order: 5, inverseOrder: 6), to: tagged) }
            try expectEqual(try store.view { try $0.allLinks(of: tagged) }, [Link(1, 1)], "the link")
        },
        linked(
            "remove",
            behavior: "Removing a link removes it from both ends. Removing a link that does not exist does nothing."
        ) {
            store in
            try store.change { changes in for key in 1...3 { try changes.add(Link(1, Int64(key)), to: tagged) } }
            try store.change { changes in
                try changes.remove(Link(1, 2), from: tagged)
                try changes.remove(Link(2, 2), from: tagged)
                try changes.remove(Link(99, 99), from: tagged)
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: tagged, from: ObjectID("Tag", key: 1)), [1, 3], "the tracks of tag 1")
                try expectEqual(
                    try snapshot.targets(of: tags, from: ObjectID("Track", key: 2)), [], "the tags of track 2")
            }
        },
        linked(
            "remove-ordered",
            behavior: "An ordered link is removed by its keys alone, whatever places the removal names."
        ) {
            store in
            try store.change { try $0.add(Link(1, 1, order: 7, inverseOrder: 8), to: members) }
            try store.change { try $0.remove(Link(1, 1, order: 1), from: members) }
            try store.view { snapshot in
                try expectEqual(try snapshot.allLinks(of: members), [], "the links")
                try expectEqual(
                    try snapshot.targets(of: queues, from: ObjectID("Track", key: 1)), [], "the queues of track 1")
            }
        },
        linked("remove-before-add", behavior: "In one change set, removals are applied before additions.") { store in
            try store.change { try $0.add(Link(1, 1, order: 1), to: tracks) }
            try store.change { changes in
                try changes.add(Link(1, 1, order: 2), to: tracks)
                try changes.remove(Link(1, 1), from: tracks)
            }
            try expectEqual(try store.view { try $0.allLinks(of: tracks) }, [Link(1, 1, order: 2)], "the links")
        },
        linked(
            "reflexive",
            behavior:
                "A link of a relationship that is its own inverse is visible from both ends, and a scan returns it once."
        ) {
            store in
            try store.change { changes in
                try changes.add(Link(3, 1), to: friends)
                try changes.add(Link(1, 2), to: friends)
                try changes.add(Link(1, 3), to: friends)
                try changes.add(Link(4, 4), to: friends)
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: friends, from: ObjectID("Node", key: 1)), [2, 3], "the friends of 1")
                try expectEqual(
                    try snapshot.targets(of: friends, from: ObjectID("Node", key: 2)), [1], "the friends of 2")
                try expectEqual(
                    try snapshot.targets(of: friends, from: ObjectID("Node", key: 3)), [1], "the friends of 3")
                try expectEqual(
                    try snapshot.targets(of: friends, from: ObjectID("Node", key: 4)), [4], "the friends of 4")
                try expectEqual(
                    try snapshot.allLinks(of: friends), [Link(1, 2), Link(1, 3), Link(4, 4)], "each pair once")
            }
            try store.change { changes in
                try changes.remove(Link(2, 1), from: friends)
                try changes.remove(Link(4, 4), from: friends)
            }
            try expectEqual(try store.view { try $0.allLinks(of: friends) }, [Link(1, 3)], "the pairs after removing")
        },
        linked("no-inverse", behavior: "A to-many relationship without an inverse holds links, in key order.") {
            store in
            try store.change { changes in
                for link in [Link(1, 9), Link(1, 3), Link(2, 9)] { try changes.add(link, to: extras) }
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: extras, from: ObjectID("Shelf", key: 1)), [3, 9], "the extras of shelf 1")
                try expectEqual(try snapshot.allLinks(of: extras), [Link(1, 3), Link(1, 9), Link(2, 9)], "all links")
            }
        },
        linked(
            "ends-exist",
            behavior: "A link whose source or target does not exist after the change is refused with `objectNotFound`."
        ) { store in
            for link in [Link(1, 1000), Link(1000, 1)] {
                for relationship in [tagged, tags, tracks, extras] {
                    try expectError(.objectNotFound, in: "the link \(link.source)-\(link.target) of \(relationship)") {
                        try store.change { try $0.add(link, to: relationship) }
                    }
                }
            }
            try expectError(.objectNotFound, in: "a link to an object deleted in the same change set") {
                try store.change { changes in
                    changes.delete(ObjectID("Track", key: 1), version: 1)
                    try changes.add(Link(1, 1), to: tagged)
                }
            }
            try store.view { snapshot in
                for relationship in [tagged, tracks, extras] {
                    try expectEqual(try snapshot.allLinks(of: relationship), [], "links of \(relationship)")
                }
            }
        },
        linked("to-new-object", behavior: "A link may connect objects that are inserted in the same change set.") {
            store in
            try store.change { changes in
                try changes.add(Link(500, 600), to: tagged)
                try changes.insert(ObjectID("Tag", key: 500), values: [:])
                try changes.insert(ObjectID("Track", key: 600), values: [:])
            }
            try expectEqual(try store.view { try $0.allLinks(of: tagged) }, [Link(500, 600)], "the links")
        },
        linked(
            "deleted-with-object",
            behavior: "Deleting an object removes its links, in every relationship and from both ends."
        ) { store in
            try store.change { changes in
                try changes.add(Link(1, 5), to: tagged)
                try changes.add(Link(2, 5), to: tagged)
                try changes.add(Link(2, 6), to: tagged)
                try changes.add(Link(1, 5, order: 3), to: tracks)
                try changes.add(Link(1, 6, order: 2), to: tracks)
                try changes.add(Link(1, 5), to: extras)
                try changes.add(Link(1, 5, order: 1, inverseOrder: 1), to: members)
            }
            try store.change { $0.delete(ObjectID("Track", key: 5), version: 1) }
            try store.view { snapshot in
                try expectEqual(try snapshot.allLinks(of: tagged), [Link(2, 6)], "the tags")
                try expectEqual(try snapshot.allLinks(of: tracks), [Link(1, 6, order: 2)], "the playlists")
                try expectEqual(try snapshot.allLinks(of: extras), [], "the extras")
                try expectEqual(try snapshot.allLinks(of: members), [], "the queues")
                try expectEqual(
                    try snapshot.targets(of: tagged, from: ObjectID("Tag", key: 1)), [], "the tracks of tag 1")
                try expectEqual(
                    try snapshot.targets(of: tags, from: ObjectID("Track", key: 5)), [], "the tags of a deleted object")
            }
            try store.change { $0.delete(ObjectID("Tag", key: 2), version: 1) }
            try expectEqual(
                try store.view { try $0.targets(of: tags, from: ObjectID("Track", key: 6)) }, [], "the tags of track 6")
        },
        linked(
            "deleted-reflexive",
            behavior:
                "Deleting an object removes its links of a reflexive relationship, both to itself and to other objects."
        ) { store in
            try store.change { changes in
                for link in [Link(1, 2), Link(2, 3), Link(2, 2), Link(1, 3)] { try changes.add(link, to: friends) }
            }
            try store.change { $0.delete(ObjectID("Node", key: 2), version: 1) }
            try store.view { snapshot in
                try expectEqual(try snapshot.allLinks(of: friends), [Link(1, 3)], "the pairs")
                try expectEqual(
                    try snapshot.targets(of: friends, from: ObjectID("Node", key: 3)), [1], "the friends of 3")
            }
        },
        linked("after", behavior: "A walk over links continues after any link, whether or not it exists.") { store in
            try store.change { changes in
                for source in 1...4 {
                    for target in 1...5 {
                        try changes.add(Link(Int64(source), Int64(target), order: Int64(10 - target)), to: tracks)
                    }
                }
            }
            try store.view { snapshot in
                let all = try snapshot.allLinks(of: tracks)
                try expectEqual(all.count, 20, "the number of links")
                for index in all.indices {
                    try expectEqual(
                        try snapshot.allLinks(of: tracks, after: all[index]), Array(all[(index + 1)...]),
                        "the links after number \(index)")
                }
                try expectEqual(
                    try snapshot.allLinks(of: tracks, after: Link(2, 99, order: 7)),
                    all.filter { ($0.source, $0.order) > (2, 7) },
                    "the links after a link that does not exist")
                let flipped = try snapshot.allLinks(of: playlists)
                try expectEqual(
                    try snapshot.allLinks(of: playlists, after: flipped[6]), Array(flipped[7...]),
                    "the flipped links after number 6")
            }
        },
        linked(
            "after-any",
            behavior:
                "A walk over links can continue after a link in any form: reversed, or with meaningless places or keys."
        ) { store in
            let friends = RelationshipName("Node", name: "friends")
            try store.change { changes in
                for link in [Link(1, 2), Link(1, 3), Link(2, 4), Link(3, 3)] { try changes.add(link, to: friends) }
                for link in [Link(1, 1, order: -5), Link(1, 2, order: 3), Link(2, 1, order: .max)] {
                    try changes.add(link, to: tracks)
                }
            }
            func least(_ relationship: RelationshipName, after: Link, count: Int) throws {
                try store.view { snapshot in
                    let all = try snapshot.allLinks(of: relationship)
                    try expectEqual(
                        try snapshot.allLinks(of: relationship, after: after), Array(all.suffix(count)),
                        "the links of \(relationship) after \(after)")
                }
            }
            for (after, count) in [
                (Link(2, 1), 3), (Link(3, 1, order: 9, inverseOrder: -9), 2), (Link(4, 2), 1), (Link(3, 3), 0),
                (Link(-1, 2), 4), (Link(2, -1), 4), (Link(1, 0), 4), (Link(.min, .max, order: .max), 4),
                (Link(.max, .max), 0),
            ] { try least(friends, after: after, count: count) }
            for (after, count) in [
                (Link(-1, 9, order: 9), 3), (Link(.min, .min, order: .min, inverseOrder: .min), 3),
                (Link(0, 0, order: .max), 3), (Link(1, .min, order: -5), 3),
                (Link(1, .max, order: -5, inverseOrder: 4), 2),
                (Link(1, -1, order: 4), 1), (Link(2, 0, order: .max), 1), (Link(2, 1, order: .max, inverseOrder: 7), 0),
                (Link(.max, -1), 0),
            ] { try least(tracks, after: after, count: count) }
            for (after, count) in [
                (Link(-1, 9), 3), (Link(1, 1, order: 77, inverseOrder: -5), 2), (Link(1, -1, inverseOrder: -5), 3),
                (Link(2, .min), 1), (Link(.max, 1), 0),
            ] { try least(playlists, after: after, count: count) }
        },
        linked(
            "impossible-keys",
            behavior: "A link with a key below 1 is refused with `invalidRequest`, and nothing is written."
        ) { store in
            for (relationship, link) in [
                (tracks, Link(0, 1)), (tracks, Link(1, 0)), (tracks, Link(-1, 1)), (tracks, Link(1, .min)),
                (RelationshipName("Node", name: "friends"), Link(2, -2)),
            ] {
                try expectError(.invalidRequest, in: "adding \(link)") {
                    try store.change { changes in
                        try changes.add(Link(1, 1), to: tracks)
                        try changes.add(link, to: relationship)
                    }
                }
                try expectError(.invalidRequest, in: "removing \(link)") {
                    try store.change { changes in
                        try changes.add(Link(1, 1), to: tracks)
                        try changes.remove(link, from: relationship)
                    }
                }
                let loader = try store.bulkLoader(BulkLoadOptions())
                defer { loader.abandon() }
                try expectError(.invalidRequest, in: "loading \(link)") {
                    try loader.append(
                        LinkBatch(
                            relationship: store.model.requireLinkRelationship(relationship).owner, links: [link]))
                    _ = try loader.finish()
                }
            }
            try expectEqual(try store.view { try $0.allLinks(of: tracks) }, [], "the links")
        },
        linked(
            "inverse-number",
            behavior:
                "A batch of links is refused with `invalidRequest` if its relationship stores no links, or is the inverse of the relationship that stores them."
        ) { store in
            for relationship in store.model.relationships {
                if case .links(relationship.number, _) = relationship.storage { continue }
                let batch = LinkBatch(relationship: relationship.number, links: [Link(1, 1)])
                var changes = ChangeSet(model: store.model)
                changes.addedLinks = [batch]
                try expectError(.invalidRequest, in: "a commit of links of \(relationship.name)") {
                    _ = try store.commit(changes)
                }
                let loader = try store.bulkLoader(BulkLoadOptions())
                defer { loader.abandon() }
                try expectError(.invalidRequest, in: "a load of links of \(relationship.name)") {
                    try loader.append(batch)
                    _ = try loader.finish()
                }
            }
            try expectEqual(try store.view { try $0.allLinks(of: tracks) }, [], "the links")
        },
        linked(
            "many", behavior: "Thousands of links of one object come back complete and in order, over several batches."
        ) {
            store in
            let count = 10_000
            try store.change { changes in
                for key in 1...count { try changes.insert(ObjectID("Track", key: Int64(100_000 + key)), values: [:]) }
                for key in 1...count {
                    try changes.add(Link(1, Int64(100_000 + key), order: Int64((key * 7919) % count)), to: tracks)
                }
            }
            let expected = (1...count).sorted { ($0 * 7919) % count < ($1 * 7919) % count }.map { Int64(100_000 + $0) }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: tracks, from: ObjectID("Playlist", key: 1)), expected,
                    "the tracks in order")
                try expectEqual(try snapshot.allLinks(of: tracks).map(\.target), expected, "the walk of all links")
            }
        },
        linked(
            "requests",
            behavior: "Reading the links of an unknown, to-one or derived relationship fails with the matching code."
        ) { store in
            try store.view { snapshot in
                try expectError(.unknownEntity, in: "links of an unknown entity") {
                    _ = try snapshot.allLinks(of: RelationshipName("No", name: "x"))
                }
                try expectError(.unknownProperty, in: "links of an unknown relationship") {
                    _ = try snapshot.allLinks(of: RelationshipName("Tag", name: "x"))
                }
                try expectError(.unknownProperty, in: "links of an attribute") {
                    _ = try snapshot.allLinks(of: RelationshipName("Track", name: "title"))
                }
                try expectError(.invalidRequest, in: "all links of a to-one relationship") {
                    _ = try snapshot.allLinks(of: RelationshipName("Track", name: "album"))
                }
                try expectError(.invalidRequest, in: "all links of a derived relationship") {
                    _ = try snapshot.allLinks(of: songs)
                }
                try expectError(.unknownProperty, in: "links of an unknown relationship from an object") {
                    _ = try snapshot.targets(of: RelationshipName("Tag", name: "x"), from: ObjectID("Tag", key: 1))
                }
                try expectEqual(
                    try snapshot.targets(of: tagged, from: ObjectID("Tag", key: 12_345)), [],
                    "links of an object that does not exist")
            }
        },
        linked("polymorphic", behavior: "Links connect objects of subentities.") { store in
            try store.change { changes in
                try changes.insert(ObjectID("Dog", key: 1), values: [:])
                try changes.insert(ObjectID("Robot", key: 2), values: [:])
                try changes.add(Link(1, 1), to: RelationshipName("Node", name: "owned"))
                try changes.add(Link(1, 2), to: RelationshipName("Node", name: "owned"))
                try changes.add(Link(2, 3), to: RelationshipName("Robot", name: "keepers"))
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: RelationshipName("Node", name: "owned"), from: ObjectID("Node", key: 1)),
                    [1, 2],
                    "the links that node 1 owns")
                for entity in ["Robot", "Being"] as [EntityName] {
                    try expectEqual(
                        try snapshot.targets(
                            of: RelationshipName(entity, name: "keepers"), from: ObjectID(entity, key: 2)),
                        [1, 3],
                        "the keepers of the robot, asked as \(entity)")
                }
                try expectEqual(
                    try snapshot.allLinks(of: RelationshipName("Being", name: "keepers")),
                    [Link(1, 1), Link(2, 1), Link(2, 3)], "all links")
            }
        },
        linked(
            "source",
            behavior:
                "A link that is read from an object has that object as its source, even if it was added from the other end."
        ) {
            store in
            try store.change { changes in
                try changes.add(Link(2, 7, order: 1), to: tracks)
                try changes.add(Link(1, 3), to: friends)
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.drain(snapshot.links(of: playlists, from: ObjectID("Track", key: 7))).map {
                        [$0.source, $0.target]
                    }, [[7, 2]],
                    "source and target from the track")
                try expectEqual(
                    try snapshot.drain(snapshot.links(of: friends, from: ObjectID("Node", key: 3))).map {
                        [$0.source, $0.target]
                    }, [[3, 1]],
                    "source and target from the higher node")
            }
        },
        linked(
            "grouped",
            behavior:
                "The links of several objects are returned object by object in the requested order, as if each object were read alone."
        ) { store in
            try store.change { changes in
                for link in [Link(1, 1), Link(1, 2), Link(3, 3), Link(2, 1)] { try changes.add(link, to: tagged) }
                for link in [Link(2, 7, order: 5), Link(2, 3, order: 9), Link(1, 7, order: 2), Link(3, 1, order: -1)] {
                    try changes.add(link, to: tracks)
                }
                for link in [Link(1, 3), Link(2, 3), Link(3, 3), Link(3, 9)] { try changes.add(link, to: friends) }
                for (key, parent) in [(11, 1), (12, 3), (13, 1)] as [(Int64, Int64)] {
                    try changes.insert(
                        ObjectID("Node", key: key), values: ["parent": .objectID(ObjectID("Node", key: parent))])
                }
                for (key, place) in [(21, 4), (22, 3)] as [(Int64, Int64)] {
                    try changes.insert(
                        ObjectID("Track", key: key),
                        values: ["album": .objectID(ObjectID("Album", key: 3)), "album#order": .int(place)])
                }
            }
            try store.view { snapshot in
                for relationship in [tagged, tags, tracks, playlists, friends, children, songs] {
                    // 99 does not exist, 10 has no links, and 3 is in the list twice.
                    let ids = [3, 99, 1, 10, 2, 7, 3].map { ObjectID(relationship.entity, key: $0) }
                    let expected = try ids.flatMap { try snapshot.drain(snapshot.links(of: relationship, from: $0)) }
                    try expect(!expected.isEmpty, "there are links of \(relationship)")
                    try expectEqual(
                        try snapshot.drain(snapshot.links(of: relationship, from: ids)), expected,
                        "the links of \(relationship)")
                    try expectEqual(
                        try snapshot.drain(snapshot.links(of: relationship, from: [])), [], "the links of no object")
                }
                try expectError(.unknownProperty, in: "links of an unknown relationship") {
                    _ = try snapshot.links(
                        of: RelationshipName("Tag", name: "nothing"), from: [ObjectID("Tag", key: 1)])
                }
                try expectError(.unknownEntity, in: "links of an object of an unknown entity") {
                    _ = try snapshot.links(of: tagged, from: [ObjectID("Tag", key: 1), ObjectID("Nobody", key: 1)])
                }
                try expectError(.invalidRequest, in: "links of a to-one relationship") {
                    _ = try snapshot.links(
                        of: RelationshipName("Node", name: "parent"), from: [ObjectID("Node", key: 1)])
                }
            }
        },
        ConformanceCheck(
            "links.grouped-batches",
            "The links of several objects fill batch after batch. After the snapshot is closed, the cursor throws `closed`."
        ) { bench in
            let store = try filled(LinkBatch.capacityCount + 500, on: bench)
            let count = Int64(LinkBatch.capacityCount + 500)
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let (tag, album) = (ObjectID("Tag", key: 1), ObjectID("Album", key: 1))
            let cursor = try snapshot.links(of: tagged, from: [tag, ObjectID("Tag", key: 2), tag])
            var batch = LinkBatch(relationship: 0, links: [Link(9, 9)])
            var targets: [Int64] = []
            while try cursor.next(into: &batch) {
                try expect(
                    !batch.isEmpty && batch.count <= LinkBatch.capacityCount, "a batch holds at most its capacity")
                targets += batch.links.map(\.target)
            }
            try expectEqual(targets, Array(1...count) + Array(1...count), "the targets")
            for _ in 0..<3 {
                batch.links = [Link(1, 1)]
                try expect(!(try cursor.next(into: &batch)) && batch.isEmpty, "the cursor stays at its end")
            }
            let started = try snapshot.links(of: tagged, from: [tag, tag])
            let waiting = try snapshot.links(of: songs, from: [album, album])
            try expect(try started.next(into: &batch), "there are links")
            snapshot.close()
            for (name, cursor) in [("a cursor under way", started), ("a cursor that was not asked", waiting)] {
                try expectError(.closed, in: name) { _ = try cursor.next(into: &batch) }
            }
        },
        linked("reopen", behavior: "Links and their places survive closing and opening.", reopening: true) { store in
            try expectEqual(
                try store.view { try $0.allLinks(of: members) },
                [Link(1, 2, order: -3, inverseOrder: .max), Link(1, 1, order: 0, inverseOrder: .min)], "the links")
        },
    ]
}
