internal import Foundation
internal import RoostCore
internal import RoostPredicates

extension ConformanceCheck {
    static let versions: [ConformanceCheck] = [
        ConformanceCheck("versions.count-up", "A new object has version 1, and each update raises the version by 1.") {
            bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Track", key: 1), values: [:])
                try changes.inserts.append(ObjectID("Track", key: 2), version: 0, values: [:])
            }
            try expectEqual(
                try store.view { try $0.objects(of: "Track").map(\.version) }, [1, 1], "the versions after the insert")
            for version in UInt32(1)...5 {
                try store.change {
                    try $0.update(ObjectID("Track", key: 1), version: version, values: ["title": .string("\(version)")])
                }
                try expectEqual(
                    try store.view { try $0.objects(of: "Track").map(\.version) }, [version + 1, 1], "the versions")
            }
        },
        ConformanceCheck(
            "versions.conflict.all-listed",
            "A conflict lists every stale object, with its current record if it still exists."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                for key in 1...6 {
                    try changes.insert(ObjectID("Track", key: Int64(key)), values: ["title": .string("t\(key)")])
                }
            }
            try store.change { changes in
                try changes.update(ObjectID("Track", key: 1), version: 1, values: ["title": "changed 1"])
                try changes.update(ObjectID("Track", key: 2), version: 1, values: ["title": "changed 2"])
                changes.delete(ObjectID("Track", key: 3), version: 1)
                changes.delete(ObjectID("Track", key: 4), version: 1)
            }
            let before = try store.contents()
            let error = try expectError(.conflict, in: "a stale change set") {
                try store.change { changes in
                    try changes.update(ObjectID("Track", key: 1), version: 1, values: ["title": "mine"])
                    changes.delete(ObjectID("Track", key: 2), version: 1)
                    try changes.update(ObjectID("Track", key: 3), version: 1, values: ["title": "mine"])
                    changes.delete(ObjectID("Track", key: 4), version: 1)
                    try changes.update(ObjectID("Track", key: 5), version: 1, values: ["title": "mine"])
                    changes.delete(ObjectID("Track", key: 6), version: 1)
                }
            }
            let conflicts = error.conflicts.sorted { $0.id.key < $1.id.key }
            try expectEqual(conflicts.map(\.id), (1...4).map { ObjectID("Track", key: $0) }, "the objects in conflict")
            try expectEqual(conflicts.map(\.expectedVersion), [1, 1, 1, 1], "the expected versions")
            try expectEqual(conflicts.map { $0.current?.version }, [2, 2, nil, nil], "their current versions")
            try expectEqual(
                try conflicts.map { try $0.current?.value("title") }, ["changed 1", "changed 2", nil, nil],
                "their current titles")
            try expectEqual(try store.contents(), before, "nothing was written")
        },
        ConformanceCheck(
            "versions.conflict.future", "A version higher than the current one is as stale as a lower one."
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            for version in [UInt32(0), 2, .max] {
                let error = try expectError(.conflict, in: "an update at version \(version)") {
                    try store.change { try $0.update(ObjectID("Tag", key: 1), version: version, values: [:]) }
                }
                try expectEqual(error.conflicts.map(\.expectedVersion), [version], "the expected version")
                try expectEqual(error.conflicts.map { $0.current?.version }, [1], "the current version")
            }
        },
        ConformanceCheck(
            "versions.conflict.second-writer", "Of two writers with the same version the second one gets the conflict."
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Track", key: 1), values: ["title": "start"]) }
            try store.change { try $0.update(ObjectID("Track", key: 1), version: 1, values: ["title": "first"]) }
            try expectError(.conflict, in: "the second writer") {
                try store.change { try $0.update(ObjectID("Track", key: 1), version: 1, values: ["title": "second"]) }
            }
            try expectEqual(
                try store.view { try $0.object(ObjectID("Track", key: 1))?.values["title"] }, "first", "the title")
            try store.change { try $0.update(ObjectID("Track", key: 1), version: 2, values: ["title": "second"]) }
            try expectEqual(
                try store.view { try $0.object(ObjectID("Track", key: 1))?.values["title"] }, "second",
                "the title after a retry")
        },
        ConformanceCheck(
            "versions.unchanged.holds",
            "A commit succeeds if the objects that must be unchanged are unchanged, and they keep their versions."
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            try store.change { changes in
                changes.unchanged = [.init(ObjectID("Tag", key: 1), version: 1)]
                try changes.insert(ObjectID("Tag", key: 2), values: [:])
            }
            try expectEqual(try store.view { try $0.objects(of: "Tag").map(\.version) }, [1, 1], "the versions")
        },
        ConformanceCheck(
            "versions.unchanged.stale",
            "A commit is a conflict if an object that must be unchanged was changed or deleted."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.insert(ObjectID("Tag", key: 2), values: [:])
            }
            try store.change { changes in
                try changes.update(ObjectID("Tag", key: 1), version: 1, values: [:])
                changes.delete(ObjectID("Tag", key: 2), version: 1)
            }
            let error = try expectError(.conflict, in: "a change set with stale references") {
                try store.change { changes in
                    changes.unchanged = [
                        .init(ObjectID("Tag", key: 1), version: 1), .init(ObjectID("Tag", key: 2), version: 1),
                    ]
                    try changes.insert(ObjectID("Tag", key: 3), values: [:])
                }
            }
            try expectEqual(
                Set(error.conflicts.map(\.id)), [ObjectID("Tag", key: 1), ObjectID("Tag", key: 2)],
                "the objects in conflict")
            try expectEqual(
                error.conflicts.sorted { $0.id.key < $1.id.key }.map { $0.current?.version }, [2, nil],
                "their current versions")
            try expectEqual(try store.view { try $0.objects(of: "Tag").map(\.id.key) }, [1], "the objects")
        },
        ConformanceCheck(
            "versions.last-place",
            "A commit that expects a last place in an ordered relationship is a conflict only if a later place is in use."
        ) { bench in
            let store = try bench.create()
            let (album, songs) = (ObjectID("Album", key: 1), RelationshipName("Album", name: "songs"))
            let (playlist, tracks) = (ObjectID("Playlist", key: 1), RelationshipName("Playlist", name: "tracks"))
            func insert(_ key: Int64, place: Int64, expecting last: Int64?) throws {
                try store.change { changes in
                    changes.lastPlaces = [
                        .init(album, in: songs, place: last), .init(playlist, in: tracks, place: last),
                    ]
                    try changes.insert(
                        ObjectID("Track", key: key), values: ["album": .objectID(album), "album#order": .int(place)])
                    try changes.add(Link(1, key, order: place), to: tracks)
                }
            }
            try store.change { changes in
                try changes.insert(album, values: [:])
                try changes.insert(playlist, values: [:])
            }
            try insert(1, place: 5, expecting: nil)
            try insert(2, place: -7, expecting: 5)
            try insert(3, place: 6, expecting: 5)
            for (last, name) in [(nil, "no place"), (-7, "a low place"), (5, "the place before the last")]
                as [(Int64?, String)]
            {
                _ = try expectError(.conflict, in: "a commit that expects \(name)") {
                    try insert(4, place: 7, expecting: last)
                }
                for expected in [
                    ChangeSet.LastPlace(album, in: songs, place: last), .init(playlist, in: tracks, place: last),
                ] {
                    _ = try expectError(.conflict, in: "a commit that changes nothing else and expects \(name)") {
                        try store.change { $0.lastPlaces = [expected] }
                    }
                }
            }
            try insert(4, place: 9, expecting: 8)
            try store.view { snapshot in
                try expectEqual(snapshot.targets(of: songs, from: album), [2, 1, 3, 4], "the songs")
                try expectEqual(snapshot.targets(of: tracks, from: playlist), [2, 1, 3, 4], "the tracks")
            }
            _ = try expectError(.invalidRequest, in: "a commit that expects a place in an unordered relationship") {
                try store.change {
                    $0.lastPlaces = [.init(ObjectID("Tag", key: 1), in: .init("Tag", name: "tagged"), place: nil)]
                }
            }
        },
        ConformanceCheck(
            "versions.after-delete",
            "Updating or deleting an object that was deleted is a conflict without a current record."
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            try store.change { $0.delete(ObjectID("Tag", key: 1), version: 1) }
            for attempt in ["update", "delete"] {
                let error = try expectError(.conflict, in: "the \(attempt) of a deleted object") {
                    try store.change { changes in
                        if attempt == "update" {
                            try changes.update(ObjectID("Tag", key: 1), version: 1, values: [:])
                        } else {
                            changes.delete(ObjectID("Tag", key: 1), version: 1)
                        }
                    }
                }
                try expectEqual(error.conflicts.count, 1, "the number of conflicts")
                try expect(error.conflicts.first?.current == nil, "the current record is nil")
            }
        },
        ConformanceCheck(
            "versions.other-entity",
            "A change must name the object's own entity. Naming another entity of the hierarchy is a conflict."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Dog", key: 1), values: ["name": "Rex"])
                try changes.insert(ObjectID("Animal", key: 2), values: [:])
            }
            let before = try store.contents()
            for id in [ObjectID("Animal", key: 1), ObjectID("Robot", key: 1), ObjectID("Dog", key: 2)] {
                let changes: [(String, (inout ChangeSet) throws -> Void)] = [
                    ("update", { try $0.update(id, version: 1, values: [:]) }),
                    ("delete", { $0.delete(id, version: 1) }),
                    ("reference", { $0.unchanged = [.init(id, version: 1)] }),
                ]
                for (name, change) in changes {
                    let error = try expectError(.conflict, in: "a \(name) of \(id)") { try store.change(change) }
                    try expectEqual(error.conflicts.map(\.id), [id], "the object in conflict")
                    try expect(error.conflicts.first?.current == nil, "the current record of \(id) is nil")
                    try expectEqual(try store.contents(), before, "the contents after a \(name) of \(id)")
                }
            }
        },
        ConformanceCheck("versions.race", "Threads that increment one object with retries lose no increment.") {
            bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Everything", key: 1), values: ["i64": 0]) }
            let workers = (0..<3).map { _ in
                Background { () -> Int in
                    var done = 0
                    while done < 10 {
                        let object = try require(
                            try store.view { try $0.object(ObjectID("Everything", key: 1)) }, "the counter")
                        guard case .int(let count)? = object.values["i64"] else {
                            throw Mismatch(expected: "a number", actual: "none")
                        }
                        do {
                            try store.change {
                                try $0.update(object.id, version: object.version, values: ["i64": .int(count + 1)])
                            }
                            done += 1
                        } catch let error as StoreError where error.code == .conflict {}
                    }
                    return done
                }
            }
            for worker in workers { _ = try worker.value() }
            let object = try require(try store.view { try $0.object(ObjectID("Everything", key: 1)) }, "the counter")
            try expectEqual(object.values["i64"], .int(30), "the count")
            try expectEqual(object.version, 31, "the version")
        },
    ]
}
