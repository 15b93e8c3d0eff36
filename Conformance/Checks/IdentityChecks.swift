internal import Foundation
internal import RoostCore

extension ConformanceCheck {
    /// Keys and IDs.
    static let identity: [ConformanceCheck] = [
        ConformanceCheck(
            "identity.reserve.disjoint", "Reserved keys are positive, as many as requested, and never returned twice."
        ) { bench in
            let store = try bench.create()
            var seen: Set<Int64> = []
            for count in [1, 5, 1, 1000, 3] {
                let keys = try store.reserveKeys(count, for: "Tag")
                try expectEqual(keys.count, count, "the number of keys")
                for key in keys {
                    try expect(key > 0, "keys are positive", otherwise: "\(key)")
                    try expect(seen.insert(key).inserted, "keys are given out once", otherwise: "\(key) came twice")
                }
            }
        },
        ConformanceCheck(
            "identity.reserve.hierarchy",
            "All entities of one hierarchy share a sequence of keys. Each hierarchy has its own sequence."
        ) { bench in
            let store = try bench.create()
            let dog = try store.reserveKeys(10, for: "Dog")
            let robot = try store.reserveKeys(10, for: "Robot")
            let being = try store.reserveKeys(10, for: "Being")
            try expect(
                !dog.overlaps(robot) && !robot.overlaps(being) && !dog.overlaps(being),
                "no key is given out twice in the hierarchy")
            try store.view { snapshot in
                // The last key may be above the returned keys, because a store may reserve more
                // than requested.
                try expect(
                    try snapshot.lastKey(of: "Animal") >= being.upperBound - 1,
                    "the last key of the hierarchy is not below the reserved keys")
                try expectEqual(try snapshot.lastKey(of: "Tag"), 0, "the last key of another hierarchy")
            }
        },
        ConformanceCheck(
            "identity.reserve.bad-requests",
            "Reserving keys for an unknown entity, or fewer than one key, fails and uses no key."
        ) {
            bench in
            let store = try bench.create()
            try expectError(.unknownEntity, in: "reserving for an unknown entity") {
                _ = try store.reserveKeys(1, for: "Nothing")
            }
            for count in [0, -1, Int.min] {
                try expectError(.invalidRequest, in: "reserving \(count) keys") {
                    _ = try store.reserveKeys(count, for: "Tag")
                }
            }
            try expectEqual(try store.view { try $0.lastKey(of: "Tag") }, 0, "the last key")
        },
        ConformanceCheck(
            "identity.reserve.exhausted", "When the keys run out, reserving fails with `limitExceeded` and uses no key."
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Tag", key: .max - 5), values: [:]) }
            try expectError(.limitExceeded, in: "reserving more keys than there are") {
                _ = try store.reserveKeys(100, for: "Tag")
            }
            try expectError(.limitExceeded, in: "reserving as many keys as there are numbers") {
                _ = try store.reserveKeys(Int.max, for: "Tag")
            }
            try expectEqual(try store.view { try $0.lastKey(of: "Tag") }, .max - 5, "the last key")
        },
        ConformanceCheck(
            "identity.reserve.survives", "Reserved keys stay used after reopening, even if no object ever had them."
        ) { bench in
            let store = try bench.create()
            let first = try store.reserveKeys(50, for: "Tag")
            let reopened = try bench.reopen(store)
            let second = try reopened.reserveKeys(1, for: "Tag")
            try expect(
                second.lowerBound >= first.upperBound, "later keys are higher", otherwise: "\(second) after \(first)")
        },
        ConformanceCheck(
            "identity.deleted-keys", "The key of a deleted object is never reserved again, even after reopening."
        ) { bench in
            var store = try bench.create()
            let key = try store.reserveKeys(1, for: "Tag").lowerBound
            try store.change { try $0.insert(ObjectID("Tag", key: key), values: [:]) }
            try store.change { $0.delete(ObjectID("Tag", key: key), version: 1) }
            try expect(try store.reserveKeys(1, for: "Tag").lowerBound > key, "the next key is higher")
            store = try bench.reopen(store)
            try expect(
                try store.reserveKeys(1, for: "Tag").lowerBound > key + 1,
                "the next key after reopening is higher still")
            try expect(try store.view { try $0.lastKey(of: "Tag") } >= key, "the last key is not lowered")
        },
        ConformanceCheck(
            "identity.explicit-among-reserved",
            "Keys that a program chose in a commit or a load, and keys up to the load's `lastKeys`, are not reserved afterwards."
        ) { bench in
            let store = try bench.create()
            func reserve(above mark: Int64) throws {
                let keys = try store.reserveKeys(12, for: "Tag")
                try expect(keys.lowerBound > mark, "the next keys are above \(mark)", otherwise: "\(keys)")
                try store.change { for key in keys { try $0.insert(ObjectID("Tag", key: key), values: [:]) } }
            }
            var mark = try store.reserveKeys(1, for: "Tag").lowerBound
            try store.change { changes in
                for key in [mark + 8, mark + 1000] { try changes.insert(ObjectID("Tag", key: key), values: [:]) }
            }
            mark += 1000
            try reserve(above: mark)
            mark = try store.reserveKeys(1, for: "Tag").lowerBound
            var batch = RecordBatch(model: bench.model)
            for key in [mark + 3, mark + 9000] { try batch.append(ObjectID("Tag", key: key), values: [:]) }
            let loader = try store.bulkLoader(BulkLoadOptions(lastKeys: ["Tag": mark + 10_000]))
            try loader.append(batch)
            _ = try loader.finish()
            try reserve(above: mark + 10_000)
        },
        ConformanceCheck(
            "identity.explicit-keys", "After an insert with a key that was not reserved, reserved keys are higher."
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Dog", key: 1_000_000), values: [:]) }
            try expectEqual(try store.view { try $0.lastKey(of: "Being") }, 1_000_000, "the last key")
            try expect(try store.reserveKeys(1, for: "Robot").lowerBound > 1_000_000, "the next key is higher")
            try store.change { try $0.insert(ObjectID("Dog", key: 5), values: [:]) }
            try expect(try store.view { try $0.lastKey(of: "Being") } > 1_000_000, "a low key does not lower the mark")
        },
        ConformanceCheck(
            "identity.extreme-keys",
            "Keys from 1 to the greatest 64-bit integer can be used, and are ordered as numbers."
        ) { bench in
            let keys: [Int64] = [
                1, 2, 127, 128, 255, 256, 65_535, 65_536, 1 << 31, 1 << 32, 1 << 53 + 1, .max - 1, .max,
            ]
            let store = try bench.create()
            try store.change { changes in
                for key in keys.shuffledForChecks { try changes.insert(ObjectID("Tag", key: key), values: [:]) }
            }
            try bench.reopen(store).view { snapshot in
                try expectEqual(try snapshot.objects(of: "Tag").map(\.id.key), keys, "the keys")
                try expectEqual(
                    try snapshot.objects(of: "Tag", after: ObjectID("Tag", key: 65_535)).map(\.id.key),
                    Array(keys.drop { $0 <= 65_535 }),
                    "the keys after 65535")
                try expectEqual(
                    try snapshot.objects(of: "Tag", after: ObjectID("Tag", key: .max)).count, 0,
                    "objects after the last key")
            }
        },
        ConformanceCheck(
            "identity.insert.version",
            "An insert with a version above 1 fails with `invalidRequest` and writes nothing."
        ) { bench in
            let store = try bench.create()
            for version in [2, 17, .max] as [UInt32] {
                try expectError(.invalidRequest, in: "an insert of version \(version)") {
                    try store.change { changes in
                        try changes.insert(ObjectID("Dog", key: 2), values: [:])
                        try changes.inserts.append(ObjectID("Dog", key: 1), version: version, values: [:])
                    }
                }
            }
            try expectEqual(try store.view { try $0.count(FetchRequest("Dog")) }, 0, "the count")
            try store.change { try $0.inserts.append(ObjectID("Dog", key: 1), version: 0, values: [:]) }
            try expectEqual(try store.view { try $0.objects(of: "Dog").map(\.version) }, [1], "the version")
        },
        ConformanceCheck(
            "identity.read.after",
            "Reading continues after an ID of the same hierarchy. An ID of another hierarchy throws `invalidRequest`, and an ID of an unknown entity throws `unknownEntity`."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                for key in Int64(1)...4 {
                    try changes.insert(ObjectID(key % 2 == 0 ? "Dog" : "Robot", key: key), values: [:])
                }
            }
            try store.view { snapshot in
                for (after, keys) in [
                    (ObjectID("Being", key: 1), [2, 4]), (ObjectID("Robot", key: 2), [4]),
                    (ObjectID("Dog", key: -7), [2, 4]),
                    (ObjectID("Animal", key: .min), [2, 4]), (ObjectID("Dog", key: .max), []),
                ] as [(ObjectID, [Int64])] {
                    try expectEqual(
                        try snapshot.objects(of: "Dog", after: after).map(\.id.key), keys, "the dogs after \(after)")
                }
                try expectError(.invalidRequest, in: "reading after an ID of another hierarchy") {
                    _ = try snapshot.records(of: "Dog", after: ObjectID("Tag", key: 1))
                }
                try expectError(.unknownEntity, in: "reading after an ID of no entity") {
                    _ = try snapshot.records(of: "Dog", after: ObjectID("Nothing", key: 1))
                }
            }
        },
        ConformanceCheck(
            "identity.insert.duplicate",
            "Inserting a key that is in use in its hierarchy fails with `duplicateObject` and writes nothing."
        ) {
            bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Dog", key: 1), values: ["name": "a"]) }
            let before = try store.contents()
            for entity in ["Dog", "Animal", "Robot"] as [EntityName] {
                try expectError(.duplicateObject, in: "inserting \(entity)/p1 beside Dog/p1") {
                    try store.change { changes in
                        try changes.insert(ObjectID("Dog", key: 2), values: [:])
                        try changes.insert(ObjectID(entity, key: 1), values: [:])
                    }
                }
                try expectEqual(try store.contents(), before, "the contents are as before")
            }
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
        },
        ConformanceCheck(
            "identity.insert.duplicate-in-change-set",
            "Inserting one key twice in a change set fails with `duplicateObject`."
        ) { bench in
            let store = try bench.create()
            try expectError(.duplicateObject, in: "inserting p1 twice") {
                try store.change { changes in
                    try changes.insert(ObjectID("Dog", key: 1), values: [:])
                    try changes.insert(ObjectID("Robot", key: 1), values: [:])
                }
            }
            try expectEqual(try store.view { try $0.objects(of: "Being").count }, 0, "the number of objects")
        },
        ConformanceCheck(
            "identity.read.order", "Records are read by ID in the requested order. IDs without a record are skipped."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                for key in 1...9 { try changes.insert(ObjectID("Tag", key: Int64(key)), values: [:]) }
                try changes.insert(ObjectID("Track", key: 2), values: [:])
                try changes.insert(ObjectID("Dog", key: 2), values: [:])
            }
            try store.view { snapshot in
                let mixed = [
                    ObjectID("Track", key: 2), ObjectID("Tag", key: 2), ObjectID("Dog", key: 2),
                    ObjectID("Tag", key: 1),
                    ObjectID("Track", key: 2), ObjectID("Tag", key: 2),
                ]
                try expectEqual(
                    try snapshot.objects(with: mixed).map(\.id), mixed,
                    "IDs of several hierarchies, some asked for twice")
                let asked: [Int64] = [7, 100, 2, 9, 1, 55, 3]
                try expectEqual(
                    try snapshot.objects(with: asked.map { ObjectID("Tag", key: $0) }).map(\.id.key), [7, 2, 9, 1, 3],
                    "the keys found")
                try expectEqual(try snapshot.objects(with: []).count, 0, "objects for no IDs")
            }
        },
        ConformanceCheck(
            "identity.read.hierarchy",
            "An ID finds the record of its entity or of a subentity, never of another entity."
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Dog", key: 1), values: ["name": "Rex"]) }
            try store.view { snapshot in
                for entity in ["Dog", "Animal", "Being"] as [EntityName] {
                    try expectEqual(
                        try snapshot.objects(with: [ObjectID(entity, key: 1)]).map(\.id), [ObjectID("Dog", key: 1)],
                        "the objects that \(entity)/p1 finds")
                }
                try expectEqual(
                    try snapshot.objects(with: [ObjectID("Robot", key: 1)]).map(\.id), [],
                    "the objects that Robot/p1 finds")
                try expectEqual(
                    try snapshot.objects(with: [ObjectID("Tag", key: 1)]).map(\.id), [], "the objects that Tag/p1 finds"
                )
            }
            try store.change { try $0.insert(ObjectID("Animal", key: 2), values: [:]) }
            try expectEqual(
                try store.view { try $0.objects(with: [ObjectID("Dog", key: 2)]).count }, 0,
                "the objects that Dog/p2 finds, which is an animal and not a dog")
        },
        ConformanceCheck("identity.read.many", "Reading thousands of records by ID gives each one, in order.") {
            bench in
            let store = try bench.create()
            try store.change { changes in
                for key in 1...5000 {
                    try changes.insert(ObjectID("Track", key: Int64(key)), values: ["title": .string("t\(key)")])
                }
            }
            let asked = (1...5000).map { Int64($0) }.shuffledForChecks
            try store.view { snapshot in
                let found = try snapshot.objects(with: asked.map { ObjectID("Track", key: $0) })
                try expectEqual(found.map(\.id.key), asked, "the keys")
                try expect(
                    found.allSatisfy { $0.values["title"] == .string("t\($0.id.key)") }, "each has its own title")
            }
        },
        ConformanceCheck(
            "identity.reserve.threads", "Threads that reserve keys at the same time never get the same one."
        ) { bench in
            let store = try bench.create()
            let workers = (0..<4).map { _ in
                Background {
                    var keys: [Int64] = []
                    for _ in 0..<20 { keys += Array(try store.reserveKeys(3, for: "Tag")) }
                    return keys
                }
            }
            let keys = try workers.flatMap { try $0.value() }
            try expectEqual(Set(keys).count, 240, "the number of different keys")
        },
    ]
}

extension Array {
    /// The elements in a shuffled order that is always the same.
    var shuffledForChecks: [Element] {
        var random = SeededGenerator(seed: 42)
        return shuffled(using: &random)
    }
}
