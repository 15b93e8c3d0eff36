internal import Foundation
internal import RoostCore
internal import RoostPredicates

extension ConformanceCheck {
    /// Change sets: their effect and their atomicity.
    static let changes: [ConformanceCheck] = [
        ConformanceCheck(
            "changes.insert-update-delete", "Inserts, updates and deletes of one change set happen together."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                for key in 1...3 {
                    try changes.insert(ObjectID("Track", key: Int64(key)), values: ["title": .string("old \(key)")])
                }
            }
            try store.change { changes in
                changes.delete(ObjectID("Track", key: 1), version: 1)
                try changes.update(ObjectID("Track", key: 2), version: 1, values: ["title": "new"])
                try changes.insert(ObjectID("Track", key: 4), values: ["title": "added"])
            }
            let objects = try bench.reopen(store).view { try $0.objects(of: "Track") }
            try expectEqual(objects.map(\.id.key), [2, 3, 4], "the keys")
            try expectEqual(objects.map { $0.values["title"] }, ["new", "old 3", "added"], "the titles")
            try expectEqual(objects.map(\.version), [2, 1, 1], "the versions")
        },
        ConformanceCheck(
            "changes.update.replaces-all", "An update replaces all values: those it does not name become null."
        ) { bench in
            let store = try bench.create()
            let full = try fullValues(seed: 5)
            try store.change { changes in
                try changes.insert(ObjectID("Everything", key: 1), values: full)
                try changes.insert(ObjectID("Indexed", key: 1), values: full)
            }
            try store.change { changes in
                try changes.update(ObjectID("Everything", key: 1), version: 1, values: ["i64": 7])
                try changes.update(ObjectID("Indexed", key: 1), version: 1, values: ["i64": 7])
            }
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Everything").map(\.values), [["i64": 7]], "the values")
                try expectEqual(
                    try snapshot.objects(of: "Indexed").map(\.values), [["i64": 7]], "the values of the indexed object")
                try expectEqual(
                    try snapshot.keys(
                        FetchRequest("Indexed", where: .isNull("str") && .isNull("dbl") && .isNull("day"))), [1],
                    "the objects that the indexes find")
            }
        },
        ConformanceCheck(
            "changes.empty", "An empty change set succeeds, changes nothing and leaves the generation as it is."
        ) {
            bench in
            let store = try bench.create()
            let first = try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            let before = try store.contents()
            let receipt = try store.change { _ in }
            try expectEqual(receipt.generation, first.generation, "the generation")
            try expectEqual(try store.contents(), before, "the contents")
        },
        ConformanceCheck(
            "changes.generation",
            "Each commit that changes anything gives a generation that was never used before. A failed commit changes nothing."
        ) { bench in
            let store = try bench.create()
            let first = try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }.generation
            let second = try store.change { try $0.update(ObjectID("Tag", key: 1), version: 1, values: [:]) }.generation
            try expectError(.conflict, in: "a stale update") {
                try store.change { try $0.update(ObjectID("Tag", key: 1), version: 1, values: [:]) }
            }
            let third = try store.change { $0.userMetadata["a"] = .int(1) }
            try expectEqual(third.previousGeneration, second, "the generation after a failed commit")
            let reopened = try bench.reopen(store)
            let fourth = try reopened.change { $0.delete(ObjectID("Tag", key: 1), version: 2) }.generation
            let all = [first, second, third.generation, fourth]
            try expectEqual(Set(all).count, 4, "the number of generations, \(all)")
            if let recorded = try reopened.view({ try $0.recordedTally() }) {
                try expectEqual(recorded.generation, fourth, "the recorded generation")
            }
        },
        ConformanceCheck(
            "changes.generation.order", "A later commit has a later generation, also after reopening.",
            needs: [.totalOrder]
        ) { bench in
            var store = try bench.create()
            var last = try store.change { $0.userMetadata["a"] = .int(0) }.generation
            for round in Int64(1)...6 {
                if round == 4 { store = try bench.reopen(store) }
                let next = try store.change { $0.userMetadata["a"] = .int(round) }.generation
                try expectLater(next, than: last, on: bench, what: "the generation of commit \(round)")
                last = next
            }
        },
        ConformanceCheck(
            "changes.receipt.previous",
            "A receipt names the generation before its commit: the generation of the last commit by any writer."
        ) { bench in
            let store = try bench.create()
            let isShared = bench.fixture.capabilities.contains(.multipleProcesses)
            let other = isShared ? try bench.open() : store
            var last = try store.change { $0.userMetadata["a"] = .int(0) }
            try expect(last.hasChanges, "the first commit changes something")
            for round in Int64(1)...4 {
                let next = try (round % 2 == 0 ? store : other).change { $0.userMetadata["a"] = .int(round) }
                try expectEqual(next.previousGeneration, last.generation, "the generation before commit \(round)")
                try expect(next.hasChanges, "commit \(round) changes something")
                last = next
            }
            for (name, change) in [("an empty change set", nil), ("an unchanged metadata value", Int64(4))] {
                let idle = try store.change { if let change { $0.userMetadata["a"] = .int(change) } }
                try expectEqual(idle.previousGeneration, last.generation, "the generation before \(name)")
                try expectEqual(idle.generation, last.generation, "the generation after \(name)")
                try expect(!idle.hasChanges, "\(name) changes nothing")
            }
        },
        ConformanceCheck(
            "changes.receipt.objects",
            "A receipt lists the objects that the commit inserted, updated and deleted, and the ends of its links."
        ) { bench in
            let store = try bench.create()
            let tagged = RelationshipName("Tag", name: "tagged")
            let ids = (1...4).map { ObjectID("Track", key: Int64($0)) }
            let first = try store.change { changes in
                for id in [ids[1], ids[0], ids[2]] { try changes.insert(id, values: [:]) }
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.add(Link(1, 1), to: tagged)
            }
            try expectEqual(
                Set(first.insertedIDs), Set(ids[0...2] + [ObjectID("Tag", key: 1)]), "the inserted objects")
            try expectEqual(first.insertedIDs.count, 4, "the number of inserted objects")
            try expectEqual(first.updatedIDs + first.deletedIDs, [], "the other objects")
            try expectEqual(Set(first.relinkedIDs), [ids[0], ObjectID("Tag", key: 1)], "the ends of the new link")
            let second = try store.change { changes in
                try changes.insert(ids[3], values: [:])
                try changes.update(ids[1], version: 1, values: ["title": "b"])
                changes.delete(ids[2], version: 1)
                try changes.remove(Link(1, 1), from: tagged)
                try changes.add(Link(1, 4), to: tagged)
            }
            try expectEqual(second.insertedIDs, [ids[3]], "the inserted objects of the second commit")
            try expectEqual(second.updatedIDs, [ids[1]], "the updated objects")
            try expectEqual(second.deletedIDs, [ids[2]], "the deleted objects")
            try expectEqual(
                Set(second.relinkedIDs), [ids[0], ids[3], ObjectID("Tag", key: 1)], "the ends of the changed links")
            try expectEqual(second.relinkedIDs.count, 3, "each end is listed once")
            let idle = try store.change { try $0.add(Link(1, 4), to: tagged) }
            try expectEqual(idle.relinkedIDs, [], "the ends of a link that already existed")
        },
        ConformanceCheck(
            "changes.no-effect",
            "A change set without effect leaves the generation as it is, for example if it removes a link that is absent or adds one that is present."
        ) { bench in
            let store = try bench.create()
            let tagged = RelationshipName("Tag", name: "tagged")
            let first = try store.change { changes in
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.insert(ObjectID("Track", key: 1), values: [:])
                try changes.add(Link(1, 1), to: tagged)
                changes.userMetadata["a"] = .int(1)
            }
            let (before, tally) = (try store.contents(), try store.view { try $0.recordedTally() })
            let idle: [(String, (inout ChangeSet) throws -> Void)] = [
                ("removing metadata that are not there", { $0.userMetadata["b"] = .some(nil) }),
                ("setting metadata to what they are", { $0.userMetadata["a"] = .int(1) }),
                ("removing a link that is not there", { try $0.remove(Link(1, 7), from: tagged) }),
                ("adding a link that is there", { try $0.add(Link(1, 1), to: tagged) }),
            ]
            for (name, change) in idle {
                try expectEqual(try store.change(change).generation, first.generation, "the generation after \(name)")
                try expectEqual(try store.contents(), before, "the contents after \(name)")
                try expectEqual(try store.view { try $0.recordedTally() }, tally, "the recorded tally after \(name)")
            }
        },
        ConformanceCheck(
            "changes.atomic.every-part",
            "If one part of a change set is refused, none of the set is written: no object, link or metadata."
        ) {
            bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Track", key: 1), values: ["title": "a"])
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.insert(ObjectID("Tag", key: 2), values: [:])
                try changes.add(Link(1, 1), to: RelationshipName("Tag", name: "tagged"))
            }
            let before = try store.contents()
            let digest = try store.view { try $0.recordedTally() }
            let faults: [(String, StoreError.Code, (inout ChangeSet) throws -> Void)] = [
                ("a stale update", .conflict, { try $0.update(ObjectID("Tag", key: 2), version: 9, values: [:]) }),
                ("a stale delete", .conflict, { $0.delete(ObjectID("Tag", key: 99), version: 1) }),
                ("a stale reference", .conflict, { $0.unchanged = [.init(ObjectID("Tag", key: 2), version: 3)] }),
                ("a taken key", .duplicateObject, { try $0.insert(ObjectID("Tag", key: 2), values: [:]) }),
                (
                    "a link to nothing", .objectNotFound,
                    { try $0.add(Link(2, 77), to: RelationshipName("Tag", name: "tagged")) }
                ),
                (
                    "a link from nothing", .objectNotFound,
                    { try $0.add(Link(77, 1), to: RelationshipName("Tag", name: "tagged")) }
                ),
                ("a missing object", .objectNotFound, { $0.existing = [ObjectID("Tag", key: 77)] }),
                (
                    "a delete of a linked object", .deleteDenied,
                    { changes in
                        changes.removedLinks = []
                        changes.addedLinks = []
                        changes.requiresUnlinkedDeletes = true
                    }
                ),
            ]
            for (name, code, fault) in faults {
                try expectError(code, in: name) {
                    try store.change { changes in
                        try changes.insert(ObjectID("Track", key: 50), values: ["title": "b"])
                        try changes.update(ObjectID("Track", key: 1), version: 1, values: ["title": "c"])
                        changes.delete(ObjectID("Tag", key: 1), version: 1)
                        try changes.remove(Link(1, 1), from: RelationshipName("Tag", name: "tagged"))
                        try changes.add(Link(2, 1), to: RelationshipName("Tag", name: "tagged"))
                        changes.userMetadata["k"] = .int(1)
                        try fault(&changes)
                    }
                }
                try expectEqual(try store.contents(), before, "the contents after \(name)")
                try expectEqual(try store.view { try $0.recordedTally() }, digest, "the recorded tally after \(name)")
            }
            // The store is usable afterwards.
            try store.change { try $0.insert(ObjectID("Track", key: 50), values: [:]) }
        },
        ConformanceCheck(
            "changes.durable", "Everything that was committed is present after closing and reopening.",
            needs: [.persistence]
        ) { bench in
            var store = try bench.create()
            for round in 1...5 {
                try store.change { changes in
                    for key in 1...20 {
                        try changes.insert(
                            ObjectID("Track", key: Int64(round * 100 + key)),
                            values: ["title": .string("\(round)/\(key)")])
                    }
                }
                let before = try store.contents()
                store = try bench.reopen(store)
                try expectEqual(try store.contents(), before, "the contents after reopening, round \(round)")
            }
        },
        ConformanceCheck("changes.large", "A change set of many thousand objects is one commit.") { bench in
            let store = try bench.create()
            let count = 20_000
            let receipt = try store.change { changes in
                for key in 1...count {
                    try changes.insert(ObjectID("Track", key: Int64(key)), values: ["title": .string("title \(key)")])
                }
            }
            let next = try store.change { changes in
                for key in 1...count where key % 3 == 0 {
                    changes.delete(ObjectID("Track", key: Int64(key)), version: 1)
                }
                for key in 1...count where key % 3 == 1 {
                    try changes.update(ObjectID("Track", key: Int64(key)), version: 1, values: ["title": "u"])
                }
            }
            try expectLater(next.generation, than: receipt.generation, on: bench, what: "the generation")
            try store.view { snapshot in
                try expectEqual(try snapshot.count(FetchRequest("Track")), count - count / 3, "the number of objects")
                try expectEqual(
                    try snapshot.count(FetchRequest("Track", where: .equal("title", to: "u"))), (count + 2) / 3,
                    "the number of updated objects")
            }
        },
        ConformanceCheck("changes.unordered-keys", "Inserts may come in any order of keys and entities.") { bench in
            let store = try bench.create()
            let keys = (1...300).map { Int64($0) }.shuffledForChecks
            try store.change { changes in
                for key in keys {
                    try changes.insert(ObjectID("Track", key: key), values: ["title": .string("\(key)")])
                    try changes.insert(ObjectID(key % 2 == 0 ? "Dog" : "Robot", key: key), values: [:])
                }
            }
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Track").map(\.id.key), keys.sorted(), "the tracks")
                try expectEqual(try snapshot.objects(of: "Being").map(\.id.key), keys.sorted(), "the beings")
            }
        },
        ConformanceCheck(
            "changes.unknown-link-relationship",
            "A change set accepts only links of relationships that are stored as links. It refuses links of to-one relationships, of their inverses and of unknown relationships."
        ) { bench in
            let store = try bench.create()
            try expectError(.invalidRequest, in: "a link of a to-one relationship") {
                try store.change { try $0.add(Link(1, 1), to: RelationshipName("Track", name: "album")) }
            }
            try expectError(.invalidRequest, in: "a link of a derived relationship") {
                try store.change { try $0.add(Link(1, 1), to: RelationshipName("Album", name: "songs")) }
            }
            try expectError(.unknownProperty, in: "a link of no relationship") {
                try store.change { try $0.add(Link(1, 1), to: RelationshipName("Track", name: "nothing")) }
            }
        },
        ConformanceCheck(
            "changes.other-model",
            "Inserts and updates made for another model than the store's fail with `modelMismatch` and change nothing."
        ) { bench in
            let store = try filled(5, on: bench)
            let before = try store.contents()
            let other = try ConformanceModel.changed(for: bench.fixture)
            for changesUpdates in [false, true] {
                var records = RecordBatch(model: other)
                try records.append(ObjectID("Track", key: changesUpdates ? 1 : 99), version: 1, values: [:])
                var changes = ChangeSet(model: bench.model)
                if changesUpdates { changes.updates = records } else { changes.inserts = records }
                try expectError(.modelMismatch, in: changesUpdates ? "updating" : "inserting") {
                    _ = try store.commit(changes)
                }
            }
            try expectEqual(try store.contents(), before, "the contents")
        },
        ConformanceCheck(
            "changes.impossible-objects",
            "Commits and loads of objects with a key below 1, or of an abstract entity, fail with `invalidRequest`."
        ) { bench in
            let store = try bench.create { $0.timeoutSeconds = 0.2 }
            for (entity, key) in [("Tag", 0), ("Tag", -5), ("Being", 3)] as [(EntityName, Int64)] {
                var records = RecordBatch(model: bench.model)
                records.beginRecord(try bench.model.requireEntity(entity).layout, key: key, version: 1)
                records.endRecord()
                var changes = ChangeSet(model: bench.model)
                changes.inserts = records
                try expectError(.invalidRequest, in: "inserting \(entity)/p\(key)") { _ = try store.commit(changes) }
                let loader = try store.bulkLoader(BulkLoadOptions())
                try expectError(.invalidRequest, in: "loading \(entity)/p\(key)") {
                    try loader.append(records)
                    _ = try loader.finish()
                }
                loader.abandon()
            }
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            try expectEqual(try store.view { try $0.objects(of: "Tag").map(\.id.key) }, [1], "the tags")
        },
        ConformanceCheck(
            "changes.threads",
            "Each commit is applied as a whole, and none is lost, if several threads commit at the same time."
        ) {
            bench in
            let store = try bench.create()
            let workers = (0..<4).map { worker in
                Background { () -> Int in
                    for round in 0..<15 {
                        try store.change { changes in
                            for place in 0..<3 {
                                try changes.insert(
                                    ObjectID("Track", key: Int64(worker * 1000 + round * 10 + place + 1)),
                                    values: ["title": .string("\(worker)")])
                            }
                        }
                    }
                    return 15
                }
            }
            for worker in workers { _ = try worker.value() }
            try expectEqual(try store.view { try $0.count(FetchRequest("Track")) }, 4 * 15 * 3, "the number of objects")
        },
    ]
}
