internal import RoostCore

extension ConformanceCheck {
    /// Checks of objects that must exist for a commit, and of deletes that leave no reference.
    static let references: [ConformanceCheck] = [
        ConformanceCheck(
            "references.existing",
            "A commit fails with `objectNotFound` if a required object does not exist. The error lists each missing object once."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.insert(ObjectID("Tag", key: 2), values: [:])
                try changes.insert(ObjectID("Dog", key: 1), values: [:])
            }
            try store.change { changes in
                try changes.update(ObjectID("Tag", key: 1), version: 1, values: [:])
                changes.delete(ObjectID("Tag", key: 2), version: 1)
            }
            let before = try store.contents()
            // The objects may have any version.
            let found = try store.change { $0.existing = [ObjectID("Tag", key: 1), ObjectID("Dog", key: 1)] }
            try expect(!found.hasChanges, "a change set that only requires objects changes nothing")
            let cases: [(String, [ObjectID], [ObjectID])] = [
                ("a deleted object", [ObjectID("Tag", key: 1), ObjectID("Tag", key: 2)], [ObjectID("Tag", key: 2)]),
                (
                    "objects that never were",
                    [ObjectID("Track", key: 1), ObjectID("Tag", key: 9), ObjectID("Track", key: 1)],
                    [ObjectID("Track", key: 1), ObjectID("Tag", key: 9)]
                ),
                ("an object under its superentity", [ObjectID("Animal", key: 1)], [ObjectID("Animal", key: 1)]),
                ("an object of another entity", [ObjectID("Robot", key: 1)], [ObjectID("Robot", key: 1)]),
                ("a key below 1", [ObjectID("Tag", key: 0)], [ObjectID("Tag", key: 0)]),
            ]
            for (name, existing, missing) in cases {
                for insertsToo in [false, true] {
                    let error = try expectError(.objectNotFound, in: "requiring \(name)") {
                        try store.change { changes in
                            changes.existing = existing
                            if insertsToo { try changes.insert(ObjectID("Tag", key: 3), values: [:]) }
                        }
                    }
                    try expectEqual(error.missingObjects, missing, "the missing objects, requiring \(name)")
                    try expectEqual(try store.contents(), before, "the contents after requiring \(name)")
                }
            }
            try expectError(.unknownEntity, in: "requiring an object of no entity") {
                try store.change { $0.existing = [ObjectID("Nothing", key: 1)] }
            }
        },
        ConformanceCheck(
            "references.existing.same-commit",
            "A commit may insert or update an object that must exist, but not delete the object."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.insert(ObjectID("Tag", key: 2), values: [:])
            }
            try store.change { changes in
                changes.existing = [ObjectID("Tag", key: 1), ObjectID("Tag", key: 3)]
                try changes.update(ObjectID("Tag", key: 1), version: 1, values: [:])
                try changes.insert(ObjectID("Tag", key: 3), values: [:])
            }
            let error = try expectError(.objectNotFound, in: "requiring an object that the commit deletes") {
                try store.change { changes in
                    changes.existing = [ObjectID("Tag", key: 2)]
                    changes.delete(ObjectID("Tag", key: 2), version: 1)
                }
            }
            try expectEqual(error.missingObjects, [ObjectID("Tag", key: 2)], "the missing object")
            try expectEqual(try store.view { try $0.objects(of: "Tag").map(\.id.key) }, [1, 2, 3], "the objects")
        },
        ConformanceCheck(
            "references.missing-ends", "Links with missing ends fail with an error that lists each missing object once."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.insert(ObjectID("Track", key: 1), values: [:])
            }
            let error = try expectError(.objectNotFound, in: "links to missing objects") {
                try store.change { changes in
                    changes.existing = [ObjectID("Album", key: 4)]
                    for link in [Link(1, 1), Link(1, 7), Link(1, 8), Link(6, 7)] {
                        try changes.add(link, to: RelationshipName("Tag", name: "tagged"))
                    }
                }
            }
            try expectEqual(
                Set(error.missingObjects),
                [
                    ObjectID("Album", key: 4), ObjectID("Track", key: 7), ObjectID("Track", key: 8),
                    ObjectID("Tag", key: 6),
                ],
                "the missing objects")
            try expectEqual(error.missingObjects.count, 4, "each is listed once")
            try expectEqual(
                try store.view { try $0.allLinks(of: RelationshipName("Tag", name: "tagged")) }, [], "the links")
        },
        ConformanceCheck(
            "references.unreferenced.fields",
            "With `requiresUnreferencedDeletes`, a delete fails with `deleteDenied` if a remaining object refers to the deleted object."
        ) { bench in
            let store = try bench.create()
            let (album, dog) = (ObjectID("Album", key: 1), ObjectID("Dog", key: 1))
            try store.change { changes in
                for key in Int64(1)...3 { try changes.insert(ObjectID("Album", key: key), values: [:]) }
                try changes.insert(dog, values: [:])
                for key in Int64(1)...2 {
                    try changes.insert(ObjectID("Track", key: key), values: ["album": .objectID(album)])
                }
                // A relationship without an inverse.
                try changes.insert(ObjectID("Indexed", key: 1), values: ["owner": .objectID(dog)])
                try changes.insert(ObjectID("Node", key: 1), values: ["parent": .objectID(ObjectID("Node", key: 1))])
            }
            func delete(
                _ ids: ObjectID..., requiring: Bool = true, _ body: (inout ChangeSet) throws -> Void = { _ in }
            ) throws {
                try store.change { changes in
                    for id in ids { changes.delete(id, version: 1) }
                    changes.requiresUnreferencedDeletes = requiring
                    try body(&changes)
                }
            }
            let before = try store.contents()
            let error = try expectError(.deleteDenied, in: "deleting objects with references") {
                try delete(album, dog, ObjectID("Album", key: 2))
            }
            try expectEqual(
                Set(error.denials.map { [$0.relationship.description, "\($0.deleted)"] }),
                [["Track.album", "\(album)"], ["Indexed.owner", "\(dog)"]], "the relationships and deleted objects")
            try expectEqual(error.denials.count, 2, "one denial for each object and relationship")
            try expect(error.denials.allSatisfy { $0.reason == .referenced }, "the reason is a reference")
            let remaining = Set(error.denials.map(\.remaining))
            try expect(
                remaining.contains(ObjectID("Indexed", key: 1))
                    && !remaining.isDisjoint(with: [ObjectID("Track", key: 1), ObjectID("Track", key: 2)]),
                "the objects that stay", otherwise: "\(remaining)")
            try expectError(.deleteDenied, in: "deleting one of two objects that refer to a third") {
                try delete(album, ObjectID("Track", key: 1))
            }
            try expectError(.deleteDenied, in: "deleting an object to which a new one refers") {
                try delete(ObjectID("Album", key: 2)) {
                    try $0.insert(ObjectID("Track", key: 9), values: ["album": .objectID(ObjectID("Album", key: 2))])
                }
            }
            try expectError(.deleteDenied, in: "deleting an object to which an updated one refers") {
                try delete(ObjectID("Album", key: 2)) {
                    try $0.update(
                        ObjectID("Track", key: 1), version: 1, values: ["album": .objectID(ObjectID("Album", key: 2))])
                }
            }
            try expectEqual(try store.contents(), before, "the contents after the denied deletes")
            // References that the same commit removes, and references of an object to itself, are
            // allowed.
            try delete(ObjectID("Album", key: 3), ObjectID("Node", key: 1))
            try delete(album, ObjectID("Track", key: 1)) {
                try $0.update(
                    ObjectID("Track", key: 2), version: 1, values: ["album": .objectID(ObjectID("Album", key: 2))])
            }
            try delete(dog, requiring: false)
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Album").map(\.id.key), [2], "the albums")
                try expectEqual(try snapshot.count(FetchRequest("Being")), 0, "the number of beings")
            }
        },
        ConformanceCheck(
            "references.unreferenced.links",
            "With `requiresUnlinkedDeletes`, a delete fails with `deleteDenied` if a remaining object links to the deleted object."
        ) { bench in
            let store = try bench.create()
            let (track, other) = (ObjectID("Track", key: 1), ObjectID("Track", key: 2))
            let (tag, shelf) = (ObjectID("Tag", key: 1), ObjectID("Shelf", key: 1))
            let nodes = [ObjectID("Node", key: 1), ObjectID("Node", key: 2)]
            let (tagged, extras) = (RelationshipName("Tag", name: "tagged"), RelationshipName("Shelf", name: "extras"))
            try store.change { changes in
                for id in [track, other, tag, shelf] + nodes { try changes.insert(id, values: [:]) }
                try changes.add(Link(1, 1), to: tagged)
                // A relationship without an inverse.
                try changes.add(Link(1, 2), to: extras)
                try changes.add(Link(1, 2), to: RelationshipName("Node", name: "friends"))
            }
            func delete(_ ids: ObjectID..., body: (inout ChangeSet) throws -> Void = { _ in }) throws {
                try store.change { changes in
                    for id in ids { changes.delete(id, version: 1) }
                    changes.requiresUnlinkedDeletes = true
                    try body(&changes)
                }
            }
            let before = try store.contents()
            let cases: [(ObjectID, RelationshipName, ObjectID)] = [
                (track, tagged, tag), (tag, RelationshipName("Track", name: "tags"), track), (other, extras, shelf),
                (nodes[0], RelationshipName("Node", name: "friends"), nodes[1]),
                (nodes[1], RelationshipName("Node", name: "friends"), nodes[0]),
            ]
            for (deleted, relationship, remaining) in cases {
                let error = try expectError(.deleteDenied, in: "deleting \(deleted)") { try delete(deleted) }
                try expectEqual(
                    error.denials,
                    [
                        DeleteDenial(
                            relationship: relationship, deleted: deleted, remaining: remaining, reason: .referenced)
                    ], "the denials of \(deleted)")
                try expectEqual(try store.contents(), before, "the contents after the delete of \(deleted)")
            }
            // Links that the same commit removes are allowed, and so is a one-way link from the
            // deleted object.
            try delete(track) { try $0.remove(Link(1, 1), from: tagged) }
            try delete(shelf)
            try delete(nodes[0], nodes[1])
            try delete(tag)
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Track").map(\.id), [other], "the tracks")
                try expectEqual(try snapshot.count(FetchRequest("Node")), 0, "the number of nodes")
            }
        },
        ConformanceCheck(
            "references.two-writers",
            "If one writer refers to an object that another deletes, only the first to commit succeeds."
        ) { bench in
            let writers = try twoWriters(on: bench)
            for (round, deletesFirst) in [false, true].enumerated() {
                let (album, track) = try prepareWriters(writers.0, round: round)
                if deletesFirst {
                    try deleteAlbum(album, in: writers.1)
                    let error = try expectError(.objectNotFound, in: "a reference to a deleted object") {
                        try refer(track, to: album, in: writers.0)
                    }
                    try expectEqual(error.missingObjects, [album], "the missing objects")
                } else {
                    try refer(track, to: album, in: writers.0)
                    let error = try expectError(.deleteDenied, in: "a delete of an object to which another refers") {
                        try deleteAlbum(album, in: writers.1)
                    }
                    try expectEqual(
                        error.denials,
                        [
                            DeleteDenial(
                                relationship: RelationshipName("Track", name: "album"), deleted: album,
                                remaining: track,
                                reason: .referenced)
                        ], "the denials")
                }
                try expectNoDanglingAlbum(writers.0)
            }
        },
        ConformanceCheck(
            "references.race", "Two writers at the same time never leave a reference to a deleted object."
        ) { bench in
            let writers = try twoWriters(on: bench)
            for round in 0..<20 {
                let (album, track) = try prepareWriters(writers.0, round: round)
                let refers = Background { () -> Bool in
                    do {
                        try refer(track, to: album, in: writers.0)
                        return true
                    } catch let error as StoreError where error.code == .objectNotFound {
                        return false
                    }
                }
                let deletes = Background { () -> Bool in
                    do {
                        try deleteAlbum(album, in: writers.1)
                        return true
                    } catch let error as StoreError where error.code == .deleteDenied {
                        return false
                    }
                }
                let done = [try refers.value(), try deletes.value()]
                try expectEqual(done.count { $0 }, 1, "the number of writers that succeed in round \(round)")
            }
            try expectNoDanglingAlbum(writers.0)
        },
    ]

    /// Returns a store opened twice, or the same open store twice if it can be opened only once.
    private static func twoWriters(
        on bench: Workbench
    ) throws -> (any PersistentStore, any PersistentStore) {
        let first = try bench.create()
        return (first, bench.fixture.capabilities.contains(.multipleProcesses) ? try bench.open() : first)
    }

    private static func prepareWriters(
        _ store: any PersistentStore, round: Int
    ) throws -> (album: ObjectID, track: ObjectID) {
        let (album, track) = (ObjectID("Album", key: Int64(round + 1)), ObjectID("Track", key: Int64(round + 1)))
        try store.change { changes in
            try changes.insert(album, values: [:])
            try changes.insert(track, values: [:])
        }
        return (album, track)
    }

    private static func refer(_ track: ObjectID, to album: ObjectID, in store: any PersistentStore) throws {
        try store.change { changes in
            try changes.update(track, version: 1, values: ["album": .objectID(album)])
            changes.existing = [album]
        }
    }

    private static func deleteAlbum(_ album: ObjectID, in store: any PersistentStore) throws {
        try store.change { changes in
            changes.delete(album, version: 1)
            changes.requiresUnreferencedDeletes = true
        }
    }

    private static func expectNoDanglingAlbum(_ store: any PersistentStore) throws {
        try store.view { snapshot in
            let albums = Set(try snapshot.objects(of: "Album").map(\.id))
            for track in try snapshot.objects(of: "Track") {
                guard case .objectID(let album)? = track.values["album"] else { continue }
                try expect(albums.contains(album), "\(track.id) refers to an album that exists", otherwise: "\(album)")
            }
        }
    }
}
