internal import Foundation
internal import RoostCore
internal import RoostMigration
import RoostStores

extension ConformanceCheck {
    static let digests: [ConformanceCheck] = [
        ConformanceCheck(
            "digest.recorded-is-computed",
            "After every kind of change, the recorded tally equals the tally computed from the contents.",
            needs: [.digest]
        ) { bench in
            var store = try bench.create()
            func compare(_ what: String) throws {
                try store.view { snapshot in
                    let (recorded, computed) = (
                        try require(try snapshot.recordedTally(), "a recorded tally"), try snapshot.computeTally()
                    )
                    try expect(
                        recorded == computed, "after \(what): \(describe(computed))", otherwise: describe(recorded))
                }
            }
            try compare("nothing")
            try store.change { changes in
                for key in Int64(1)...5 {
                    try changes.insert(ObjectID("Track", key: key), values: ["title": .string("\(key)")])
                    try changes.insert(ObjectID(key % 2 == 0 ? "Dog" : "Robot", key: key), values: ["age": .int(key)])
                    try changes.insert(ObjectID("Node", key: key), values: [:])
                    try changes.insert(ObjectID("Playlist", key: key), values: [:])
                }
            }
            try compare("inserts")
            try store.change { try $0.update(ObjectID("Track", key: 1), version: 1, values: ["title": "changed"]) }
            try compare("an update")
            try store.change { try $0.update(ObjectID("Track", key: 1), version: 2, values: ["title": "changed"]) }
            try compare("an update to the same values")
            try store.change { changes in
                for link in [Link(1, 2), Link(3, 1), Link(2, 2)] {
                    try changes.add(link, to: RelationshipName("Node", name: "friends"))
                }
                for link in [Link(1, 1, order: 5), Link(1, 2, order: 3), Link(2, 2)] {
                    try changes.add(link, to: RelationshipName("Playlist", name: "tracks"))
                }
            }
            try compare("links")
            try store.change { changes in
                try changes.add(Link(1, 1, order: 6), to: RelationshipName("Playlist", name: "tracks"))
                try changes.add(Link(2, 1), to: RelationshipName("Node", name: "friends"))
                try changes.remove(Link(1, 3), from: RelationshipName("Node", name: "friends"))
                try changes.remove(Link(4, 4), from: RelationshipName("Node", name: "friends"))
            }
            try compare("replaced, repeated and removed links")
            try store.change { changes in
                changes.delete(ObjectID("Node", key: 2), version: 1)
                changes.delete(ObjectID("Track", key: 2), version: 1)
                changes.delete(ObjectID("Robot", key: 1), version: 1)
            }
            try compare("deletes with links")
            try expectError(.conflict, in: "a stale update") {
                try store.change { try $0.update(ObjectID("Track", key: 1), version: 1, values: [:]) }
            }
            try compare("a failed commit")
            store = try bench.reopen(store)
            try compare("reopening")
            let loader = try store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: bench.model)
            try batch.append(ObjectID("Track", key: 70), values: [:])
            try loader.append(batch)
            _ = try loader.finish()
            try compare("a bulk load")
        },
        ConformanceCheck(
            "digest.content-not-history", "Stores with equal contents and different histories have equal digests."
        ) { bench in
            let (a, b) = (try bench.create(name: "a"), try bench.create(name: "b"))
            try a.change { changes in
                for key in Int64(1)...20 {
                    try changes.insert(ObjectID("Track", key: key), values: ["title": .string("t\(key)")])
                }
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.add(Link(1, 3), to: RelationshipName("Tag", name: "tagged"))
            }
            try b.change { changes in
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                for key in (Int64(1)...40).reversed() {
                    try changes.insert(ObjectID("Track", key: key), values: ["title": "other"])
                }
            }
            try b.change { try $0.add(Link(1, 5), to: RelationshipName("Tag", name: "tagged")) }
            for key in Int64(1)...40 {
                try b.change { changes in
                    if key > 20 {
                        changes.delete(ObjectID("Track", key: key), version: 1)
                    } else {
                        try changes.update(
                            ObjectID("Track", key: key), version: 1, values: ["title": .string("t\(key)")])
                    }
                }
            }
            try b.change { changes in
                try changes.remove(Link(1, 5), from: RelationshipName("Tag", name: "tagged"))
                try changes.add(Link(1, 3), to: RelationshipName("Tag", name: "tagged"))
            }
            let (first, second) = (
                try a.view { try $0.computeTally().digest }, try b.view { try $0.computeTally().digest }
            )
            try expectEqual(second, first, "the digest")
            if let recorded = try b.view({ try $0.recordedTally() }) {
                try expectEqual(recorded.digest, first, "the recorded digest")
            }
        },
        ConformanceCheck(
            "digest.sees-everything",
            "Any difference of an object, a value, a key, an entity, a link or a position in an order changes the digest."
        ) { bench in
            let base: (inout ChangeSet) throws -> Void = { changes in
                try changes.insert(ObjectID("Track", key: 1), values: ["title": "a"])
                try changes.insert(ObjectID("Playlist", key: 1), values: [:])
                try changes.insert(ObjectID("Playlist", key: 2), values: [:])
                try changes.add(Link(1, 1, order: 1), to: RelationshipName("Playlist", name: "tracks"))
            }
            let variants: [(String, (inout ChangeSet) throws -> Void)] = [
                ("nothing", { _ in }), ("an object", { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }),
                ("a key", { try $0.insert(ObjectID("Tag", key: 2), values: [:]) }),
                ("an entity", { try $0.insert(ObjectID("Dog", key: 1), values: [:]) }),
                ("a sibling entity", { try $0.insert(ObjectID("Animal", key: 1), values: [:]) }),
                ("a null", { try $0.insert(ObjectID("Album", key: 1), values: [:]) }),
                ("an empty string", { try $0.insert(ObjectID("Album", key: 1), values: ["title": ""]) }),
                ("another string", { try $0.insert(ObjectID("Album", key: 1), values: ["title": "b"]) }),
                ("a zero", { try $0.insert(ObjectID("Everything", key: 1), values: ["dbl": 0.0]) }),
                ("a negative zero", { try $0.insert(ObjectID("Everything", key: 1), values: ["dbl": .double(-0.0)]) }),
                ("a link", { try $0.add(Link(2, 1, order: 1), to: RelationshipName("Playlist", name: "tracks")) }),
                ("a place", { try $0.add(Link(1, 1, order: 2), to: RelationshipName("Playlist", name: "tracks")) }),
            ]
            var seen: [StoreDigest: String] = [:]
            for (index, (name, variant)) in variants.enumerated() {
                let store = try bench.create(name: "store\(index)")
                try store.change(base)
                try store.change(variant)
                let digest = try store.view { try $0.computeTally().digest }
                if let recorded = try store.view({ try $0.recordedTally() }) {
                    try expectEqual(recorded.digest, digest, "the recorded digest with \(name)")
                }
                try expect(
                    seen[digest] == nil, "\(name) makes a digest of its own",
                    otherwise: "the same as with \(seen[digest] ?? "")")
                seen[digest] = name
            }
        },
        ConformanceCheck("digest.emptied", "A store that was filled and emptied has the digest of an empty one.") {
            bench in
            let store = try filled(50, on: bench)
            try store.change { changes in
                for key in Int64(1)...50 { changes.delete(ObjectID("Track", key: key), version: 1) }
                changes.delete(ObjectID("Tag", key: 1), version: 1)
                changes.delete(ObjectID("Album", key: 1), version: 1)
            }
            try expectEqual(
                try store.view { try $0.computeTally().digest }, StoreTally(model: bench.model).digest,
                "the computed digest")
            if let recorded = try store.view({ try $0.recordedTally() }) {
                try expectEqual(recorded.digest, StoreTally(model: bench.model).digest, "the recorded digest")
            }
        },
        ConformanceCheck(
            "digest.reference", "The digest is the sum of the record and link hashes that RoostCore computes.",
            needs: [.digest]
        ) { bench in
            let graph = try bench.sampleGraph(seed: 77, objectCount: 200)
            let model = graph.model
            let store = try bench.create(model)
            try graph.commit(into: store, objectsPerCommit: 50)
            try expectEqual(try bench.reopen(store).recordedTally().digest, graph.digest, "the digest")
        },
    ]
}
