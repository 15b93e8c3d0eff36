internal import Foundation
internal import RoostCore
internal import RoostMigration
import RoostStores

extension ConformanceCheck {
    static let bulkLoading: [ConformanceCheck] = [
        ConformanceCheck(
            "bulk.equals-commits",
            "A bulk load gives the same contents, digest and answers as commits of the same data."
        ) { bench in
            let graph = try bench.sampleGraph(seed: 11, objectCount: 400)
            let model = graph.model
            let (loaded, committed) = (
                try bench.create(model, name: "loaded"), try bench.create(model, name: "committed")
            )
            let tally = try graph.load(into: loaded)
            try graph.commit(into: committed, objectsPerCommit: 37)
            try expectEqual(try loaded.contents(), try committed.contents(), "the contents of both")
            try expectEqual(
                tally.digest, try committed.view { try $0.computeTally() }.digest, "the digest that finish() returned")
            try expectEqual(
                try loaded.view { try $0.computeTally() }.digest, tally.digest, "the digest of the loaded store")
            if let recorded = try loaded.view({ try $0.recordedTally() }) {
                try expectEqual(recorded, tally, "the recorded tally")
            }
            try expectEqual(
                try bench.reopen(loaded).contents(), try committed.contents(), "the contents after reopening")
        },
        ConformanceCheck("bulk.versions", "Loaded records keep their versions.") { bench in
            let store = try bench.create()
            try load(store) { loader in
                var batch = RecordBatch(model: bench.model)
                for (key, version) in [(1, 1), (2, 17), (3, UInt32.max)] as [(Int64, UInt32)] {
                    try batch.append(ObjectID("Tag", key: key), version: version, values: [:])
                }
                try loader.append(batch)
            }
            try expectEqual(try store.view { try $0.objects(of: "Tag").map(\.version) }, [1, 17, .max], "the versions")
            try store.change { try $0.update(ObjectID("Tag", key: 2), version: 17, values: [:]) }
            try expectEqual(
                try store.view { try $0.object(ObjectID("Tag", key: 2))?.version }, 18, "the version after an update")
        },
        ConformanceCheck("bulk.any-order", "Records may be loaded in any order of keys and hierarchies.") { bench in
            let store = try bench.create()
            let keys = (Int64(1)...2000).shuffledForChecks
            try load(store) { loader in
                var batch = RecordBatch(model: bench.model)
                for (index, key) in keys.enumerated() {
                    try batch.append(ObjectID("Track", key: key), values: ["title": .string("t\(key)")])
                    try batch.append(ObjectID(key % 2 == 0 ? "Dog" : "Robot", key: key), values: ["age": .int(key)])
                    if index % 100 == 99 {
                        try loader.append(batch)
                        batch.removeAll()
                    }
                }
            }
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Track").map(\.id.key), keys.sorted(), "the tracks")
                try expectEqual(
                    try snapshot.objects(of: "Dog").map(\.id.key), keys.sorted().filter { $0 % 2 == 0 }, "the dogs")
                try expectEqual(
                    try snapshot.keys(FetchRequest("Being", where: .equal("age", to: 77))), [77],
                    "a being found by an index")
            }
        },
        ConformanceCheck(
            "bulk.invisible",
            "Nothing of a load is visible before `finish()`, nor later in snapshots that were taken before it."
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Track", key: 1), values: ["title": "before"]) }
            let before = try store.contents()
            let loader = try store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: bench.model)
            for key in Int64(2)...3000 { try batch.append(ObjectID("Track", key: key), values: ["title": "loaded"]) }
            try loader.append(batch)
            let meanwhile = try store.snapshot()
            defer { meanwhile.close() }
            try expectEqual(try StoreContents(of: meanwhile), before, "a snapshot taken during the load")
            _ = try loader.finish()
            try expectEqual(try StoreContents(of: meanwhile), before, "the same snapshot after the load")
            try expectEqual(try store.view { try $0.count(FetchRequest("Track")) }, 3000, "the count afterwards")
        },
        ConformanceCheck("bulk.abandon", "A load that is abandoned or deallocated leaves no trace.") {
            bench in
            let store = try filled(10, on: bench)
            let before = try store.contents()
            let tally = try store.view { try $0.computeTally() }
            for letGo in [false, true] {
                var loader: (any BulkLoader)? = try store.bulkLoader(BulkLoadOptions(lastKeys: ["Tag": 900]))
                var batch = RecordBatch(model: bench.model)
                for key in Int64(100)...3000 { try batch.append(ObjectID("Track", key: key), values: ["title": "x"]) }
                try loader?.append(batch)
                try loader?.append(
                    LinkBatch(
                        relationship: bench.model.requireLinkRelationship(RelationshipName("Tag", name: "tagged"))
                            .owner,
                        links: [Link(1, 100)]))
                if !letGo { loader?.abandon() }
                loader = nil
                try expectEqual(try store.contents(), before, "the contents")
                try expectEqual(try store.view { try $0.computeTally() }, tally, "the tally")
                try expectEqual(try store.view { try $0.lastKey(of: "Tag") }, 1, "the last key")
            }
            try store.change { try $0.insert(ObjectID("Track", key: 100), values: [:]) }
            try expectEqual(try bench.reopen(store).view { try $0.count(FetchRequest("Track")) }, 11, "the count")
        },
        ConformanceCheck(
            "bulk.abandon-many",
            "Nothing remains of an abandoned load that is larger than a page cache, in a published or an unpublished store."
        ) { bench in
            for isUnpublished in bench.type.capabilities.contains(.file) ? [false, true] : [false] {
                let store = try bench.create(name: "store-\(isUnpublished)") { $0.isUnpublished = isUnpublished }
                let before = try store.contents()
                let loader = try store.bulkLoader(BulkLoadOptions())
                let title = Value.string(String(repeating: "sixteen letters ", count: 1 << 16))
                for key in Int64(1)...24 {
                    var batch = RecordBatch(model: bench.model)
                    try batch.append(ObjectID("Track", key: key), values: ["title": title])
                    try loader.append(batch)
                }
                loader.abandon()
                try expectEqual(try store.contents(), before, "the contents")
                try expectEqual(try checkStore(store), [], "the findings")
                try store.change { try $0.insert(ObjectID("Track", key: 7), values: ["title": "x"]) }
                try expectEqual(try store.view { try $0.count(FetchRequest("Track")) }, 1, "the count")
                try store.close()
            }
        },
        ConformanceCheck(
            "bulk.last-keys",
            "Keys up to a load's `lastKeys`, or up to the last key of its records, are never reserved afterwards."
        ) { bench in
            let store = try bench.create()
            let loader = try store.bulkLoader(BulkLoadOptions(lastKeys: ["Tag": 500, "Being": 3]))
            var batch = RecordBatch(model: bench.model)
            try batch.append(ObjectID("Dog", key: 40), values: [:])
            try batch.append(ObjectID("Tag", key: 4), values: [:])
            try loader.append(batch)
            _ = try loader.finish()
            let reopened = try bench.reopen(store)
            try reopened.view { snapshot in
                try expectEqual(try snapshot.lastKey(of: "Tag"), 500, "the last key of tags")
                try expectEqual(try snapshot.lastKey(of: "Being"), 40, "the last key of beings, raised by a record")
            }
            try expect(try reopened.reserveKeys(1, for: "Tag").lowerBound > 500, "the next key of a tag")
            try expect(try reopened.reserveKeys(1, for: "Dog").lowerBound > 40, "the next key of a dog")
        },
        ConformanceCheck(
            "bulk.duplicates",
            "Loading a key that already exists in the store or in the load fails with `duplicateObject` and leaves no trace."
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Dog", key: 5), values: [:]) }
            let before = try store.contents()
            for keys in [[1, 2, 5], [7, 8, 7], [9, 9]] as [[Int64]] {
                let loader = try store.bulkLoader(BulkLoadOptions())
                try expectError(.duplicateObject, in: "loading the keys \(keys)") {
                    var batch = RecordBatch(model: bench.model)
                    for key in keys { try batch.append(ObjectID("Robot", key: key), values: [:]) }
                    try loader.append(batch)
                    _ = try loader.finish()
                }
                loader.abandon()
                try expectEqual(try store.contents(), before, "the contents")
            }
        },
        ConformanceCheck(
            "bulk.duplicate-links",
            "Loading a link that already exists in the store or in the load fails with `duplicateObject` and leaves no trace."
        ) { bench in
            for (source, relationship) in [("Node", "friends"), ("Playlist", "tracks"), ("Queue", "members")]
                as [(EntityName, String)]
            {
                let name = RelationshipName(source, name: relationship)
                let owner = try bench.model.requireLinkRelationship(name).owner
                for (isFilled, second) in [false, true].flatMap({ filled in
                    [Link(1, 2, order: 5), source == "Node" ? Link(2, 1) : Link(1, 2, order: 7, inverseOrder: 9)].map {
                        (filled, $0)
                    }
                }) {
                    let store = try bench.create(name: "\(source.text)\(isFilled)\(second.order)")
                    if isFilled {
                        try store.change { changes in
                            for entity in Set([source, "Track"]) {
                                for key in Int64(1)...3 { try changes.insert(ObjectID(entity, key: key), values: [:]) }
                            }
                        }
                    }
                    let before = try store.contents()
                    let loader = try store.bulkLoader(BulkLoadOptions())
                    try expectError(.duplicateObject, in: "loading a link of \(name) twice") {
                        try loader.append(
                            LinkBatch(relationship: owner, links: [Link(1, 2, order: 5), Link(1, 3), second]))
                        _ = try loader.finish()
                    }
                    loader.abandon()
                    try expectEqual(try store.contents(), before, "the contents")
                }
            }
            let store = try filled(5, on: bench)
            let before = try store.contents()
            let loader = try store.bulkLoader(BulkLoadOptions())
            try expectError(.duplicateObject, in: "loading a link that is in the store") {
                try loader.append(
                    LinkBatch(
                        relationship: bench.model.requireLinkRelationship(RelationshipName("Tag", name: "tagged"))
                            .owner,
                        links: [Link(1, 4)]))
                _ = try loader.finish()
            }
            loader.abandon()
            try expectEqual(try store.contents(), before, "the contents")
        },
        ConformanceCheck(
            "bulk.failed-frees",
            "A failed load releases the write lock, refuses further records with `closed`, and leaves no trace."
        ) { bench in
            for isUnpublished in bench.type.capabilities.contains(.file) ? [false, true] : [false] {
                for failsLate in [false, true] {
                    let store = try bench.create(name: "store-\(isUnpublished)-\(failsLate)") {
                        $0.timeoutSeconds = 0.2
                        $0.isUnpublished = isUnpublished
                    }
                    let loader = try store.bulkLoader(BulkLoadOptions())
                    let owner = try bench.model.requireLinkRelationship(RelationshipName("Tag", name: "tagged")).owner
                    try expectError(.duplicateObject, in: "a load") {
                        var batch = RecordBatch(model: bench.model)
                        for key in failsLate ? [1, 2] : [1, 1] as [Int64] {
                            try batch.append(ObjectID("Track", key: key), values: [:])
                        }
                        try loader.append(batch)
                        try loader.append(LinkBatch(relationship: owner, links: [Link(1, 2), Link(1, 2)]))
                        _ = try loader.finish()
                    }
                    try expectError(.closed, in: "appending afterwards") {
                        try loader.append(RecordBatch(model: bench.model))
                    }
                    try expectError(.closed, in: "finishing afterwards") { _ = try loader.finish() }
                    try store.change { try $0.insert(ObjectID("Track", key: 7), values: [:]) }
                    loader.abandon()
                    try expectEqual(try store.view { try $0.objects(of: "Track").map(\.id.key) }, [7], "the tracks")
                }
            }
        },
        ConformanceCheck(
            "bulk.other-model",
            "A load that is given records of another model fails with `modelMismatch` and ends."
        ) { bench in
            let store = try bench.create { $0.timeoutSeconds = 0.2 }
            for isConcurrent in [false, true] {
                let options = BulkLoadOptions()
                let loader =
                    isConcurrent ? try store.concurrentBulkLoader(options) : try store.bulkLoader(options)
                var batch = RecordBatch(model: try ConformanceModel.changed(for: bench.fixture))
                try batch.append(ObjectID("Track", key: 1), values: [:])
                try expectError(.modelMismatch, in: "loading records of another model") { try loader.append(batch) }
                try store.change { try $0.insert(ObjectID("Track", key: isConcurrent ? 8 : 7), values: [:]) }
                try expectError(.closed, in: "finishing afterwards") { _ = try loader.finish() }
            }
            try expectEqual(try store.view { try $0.objects(of: "Track").map(\.id.key) }, [7, 8], "the tracks")
        },
        ConformanceCheck(
            "bulk.closed-store",
            "A load whose store is closed fails with `closed`, at the latest in `finish()`. The store can be opened and written again.",
            needs: [.persistence]
        ) { bench in
            for finishes in [false, true] {
                let name = "store-\(finishes)"
                let store = try bench.create(name: name)
                let loader = try store.bulkLoader(BulkLoadOptions())
                var batch = RecordBatch(model: bench.model)
                try batch.append(ObjectID("Track", key: 1), values: [:])
                try loader.append(batch)
                try store.close()
                try expectError(.closed, in: finishes ? "finishing" : "appending") {
                    if !finishes { try loader.append(batch) }
                    _ = try loader.finish()
                }
                let again = try bench.open(name: name) { $0.timeoutSeconds = 0.2 }
                try again.change { try $0.insert(ObjectID("Track", key: 7), values: [:]) }
                try expectEqual(try again.view { try $0.objects(of: "Track").map(\.id.key) }, [7], "the tracks")
                try again.close()
                loader.abandon()
            }
        },
        ConformanceCheck(
            "bulk.constraints",
            "Loading equal unique values fails with `constraintViolation`, which names the pair, and leaves no trace.",
            needs: [.uniquenessConstraints]
        ) {
            bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Account", key: 1), values: ["email": "a"]) }
            for (values, pair) in [(["b", "c", "b"], Set([2, 4] as [Int64])), (["x", "a"], [1, 3])] {
                let loader = try store.bulkLoader(BulkLoadOptions())
                let error = try expectError(.constraintViolation, in: "loading \(values)") {
                    var batch = RecordBatch(model: bench.model)
                    for (index, value) in values.enumerated() {
                        try batch.append(ObjectID("Account", key: Int64(index + 2)), values: ["email": .string(value)])
                    }
                    try loader.append(batch)
                    _ = try loader.finish()
                }
                loader.abandon()
                try expectEqual(
                    error.violations.first.map { Set([$0.rejected.key, $0.existing.key]) }, pair, "the pair")
                try expectEqual(error.violations.first?.attributes, ["email"], "the attributes")
                try expectEqual(try store.view { try $0.count(FetchRequest("Account")) }, 1, "the count")
            }
        },
        ConformanceCheck(
            "bulk.into-filled", "A load adds to the content of a store, and returns the tally of the whole store."
        ) { bench in
            let store = try filled(20, on: bench)
            let tally = try load(store) { loader in
                var batch = RecordBatch(model: bench.model)
                for key in Int64(21)...30 { try batch.append(ObjectID("Track", key: key), values: ["title": "new"]) }
                try loader.append(batch)
                try loader.append(
                    LinkBatch(
                        relationship: bench.model.requireLinkRelationship(RelationshipName("Tag", name: "tagged"))
                            .owner,
                        links: [Link(1, 25)]))
            }
            try store.view { snapshot in
                try expectEqual(tally.digest, try snapshot.computeTally().digest, "the returned digest")
                try expectEqual(try snapshot.objects(of: "Track").count, 30, "the number of objects")
                try expectEqual(
                    try snapshot.targets(of: RelationshipName("Tag", name: "tagged"), from: ObjectID("Tag", key: 1)),
                    Array(1...20) + [25], "the links")
            }
        },
        ConformanceCheck("bulk.links-any-order", "Links may be loaded in any order and keep their places.") { bench in
            let store = try bench.create()
            let tracks = RelationshipName("Playlist", name: "tracks")
            let links = (Int64(1)...30).flatMap { source in
                (Int64(1)...30).map { Link(source, $0, order: ($0 * 7) % 31) }
            }
            try load(store) { loader in
                var batch = RecordBatch(model: bench.model)
                for entity in ["Playlist", "Track"] as [EntityName] {
                    for key in Int64(1)...30 { try batch.append(ObjectID(entity, key: key), values: [:]) }
                }
                try loader.append(batch)
                try loader.append(
                    LinkBatch(
                        relationship: bench.model.requireLinkRelationship(tracks).owner, links: links.shuffledForChecks)
                )
            }
            try store.view { snapshot in
                let expected = links.sorted { ($0.source, $0.order, $0.target) < ($1.source, $1.order, $1.target) }
                try expectEqual(try snapshot.allLinks(of: tracks), expected, "all links")
                try expectEqual(
                    try snapshot.targets(
                        of: RelationshipName("Track", name: "playlists"), from: ObjectID("Track", key: 9)),
                    Array(1...30), "the playlists of track 9")
            }
        },
        ConformanceCheck(
            "bulk.unpublished", "An unpublished store can be loaded, closed and moved to its final name.",
            needs: [.file]
        ) { bench in
            let graph = try bench.sampleGraph(seed: 5, objectCount: 300)
            let model = graph.model
            let store = try bench.create(model, name: "hidden") { $0.isUnpublished = true }
            _ = try graph.load(into: store)
            let before = try store.contents()
            try store.close()
            try bench.type.replace(bench.location("final"), with: bench.location("hidden"), overwriting: false)
            let final = try bench.open(name: "final")
            try expectEqual(try final.contents(), before, "the contents")
            try final.change { changes in
                let key = try final.reserveKeys(1, for: "Genre").lowerBound
                try changes.insert(ObjectID("Genre", key: key), values: ["name": "late"])
            }
        },
        ConformanceCheck(
            "bulk.unpublished-writers-wait",
            "A commit to an unpublished store waits for a load of many parts, and is applied after it.",
            needs: [.file]
        ) { bench in
            let store = try bench.create {
                $0.isUnpublished = true
                $0.timeoutSeconds = 60
            }
            let loader = try store.bulkLoader(BulkLoadOptions())
            let writer = Background { try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) } }
            // So much data that every store writes it in several parts.
            let text = Value.string(String(repeating: "long ", count: 20_000))
            for key in Int64(1)...400 {
                var batch = RecordBatch(model: bench.model)
                try batch.append(ObjectID("Track", key: key), values: ["title": text])
                try loader.append(batch)
            }
            let tally = try loader.finish()
            _ = try writer.value()
            try store.view { snapshot in
                try expectEqual(try snapshot.count(FetchRequest("Track")), 400, "the tracks")
                try expectEqual(try snapshot.count(FetchRequest("Tag")), 1, "the objects of the other thread")
                if let recorded = try snapshot.recordedTally() {
                    try expectLater(recorded.generation, than: tally.generation, on: bench, what: "the generation")
                }
            }
            try expectEqual(try checkStore(store).map(\.message), [], "the findings")
        },
        ConformanceCheck(
            "bulk.finished",
            "After `finish()` or `abandon()`, every call of a loader fails with `closed`. Abandoning it again does nothing."
        ) { bench in
            let store = try bench.create()
            for abandoned in [false, true] {
                let loader = try store.bulkLoader(BulkLoadOptions())
                if abandoned { loader.abandon() } else { _ = try loader.finish() }
                var batch = RecordBatch(model: bench.model)
                try batch.append(ObjectID("Tag", key: 1), values: [:])
                try expectError(.closed, in: "appending records afterwards") { try loader.append(batch) }
                try expectError(.closed, in: "finishing afterwards") { _ = try loader.finish() }
                loader.abandon()
            }
            try expectEqual(try store.view { try $0.count(FetchRequest("Tag")) }, 0, "the count")
        },
        ConformanceCheck("bulk.writers-wait", "A commit waits for a running load and then succeeds.") { bench in
            let store = try bench.create()
            let loader = try store.bulkLoader(BulkLoadOptions())
            let (started, isFinishing) = (Signal(), Mutex(false))
            let writer = Background {
                started.send()
                try store.change { try $0.insert(ObjectID("Track", key: 1), values: ["title": "after"]) }
                return isFinishing.withLock { $0 }
            }
            try started.wait()
            // A writer that did not wait would finish during this long load.
            for first in stride(from: Int64(2), to: 20_000, by: 1000) {
                var batch = RecordBatch(model: bench.model)
                for key in first..<first + 1000 { try batch.append(ObjectID("Track", key: key), values: [:]) }
                try loader.append(batch)
                try expectEqual(try store.view { try $0.count(FetchRequest("Track")) }, 0, "the count during the load")
            }
            isFinishing.withLock { $0 = true }
            _ = try loader.finish()
            try expect(try writer.value(), "the commit returns after the load was told to finish")
            try expectEqual(try store.view { try $0.count(FetchRequest("Track")) }, 20_001, "the count afterwards")
        },
        ConformanceCheck(
            "bulk.writers-time-out",
            "A commit that waits longer than the timeout fails with `busy` and writes nothing. It can be retried."
        ) { bench in
            let store = try bench.create { $0.timeoutSeconds = 0.2 }
            let loader = try store.bulkLoader(BulkLoadOptions())
            let writer = Background { () -> (StoreError?, Duration) in
                let start = ContinuousClock.now
                do throws(StoreError) {
                    var changes = ChangeSet(model: store.model)
                    try changes.insert(ObjectID("Track", key: 1), values: [:])
                    _ = try store.commit(changes)
                    return (nil, ContinuousClock.now - start)
                } catch {
                    return (error, ContinuousClock.now - start)
                }
            }
            let (error, waited) = try writer.value()
            loader.abandon()
            try expectEqual(error?.code, .busy, "the code")
            // The store's clock may be coarser, so the wait may be 20 ms shorter.
            try expect(waited >= .milliseconds(180), "it waits as long as the timeout", otherwise: "\(waited)")
            try expect(error?.isRetryable == true, "the error says that a retry can succeed")
            try store.change { try $0.insert(ObjectID("Track", key: 2), values: [:]) }
            try expectEqual(try store.view { try $0.objects(of: "Track").map(\.id.key) }, [2], "the tracks")
        },
        ConformanceCheck(
            "bulk.concurrent",
            "A load on its own thread takes batches of any size and gives the same store as a plain load."
        ) { bench in
            let owner = try bench.model.requireLinkRelationship(RelationshipName("Playlist", name: "tracks")).owner
            func load(_ loader: any BulkLoader) throws -> StoreTally {
                var key: Int64 = 0
                let full = RecordBatch.capacityCount
                for count in [1, 3, full, 5, 3 * full, 0, 1, 700, 700] {
                    var batch = RecordBatch(model: bench.model)
                    var links = LinkBatch(relationship: owner)
                    for _ in 0..<count {
                        key += 1
                        try batch.append(ObjectID("Track", key: key), values: ["title": .string("t\(key % 7)")])
                        links.links.append(Link(9, key, order: key))
                    }
                    try loader.append(batch)
                    try loader.append(links)
                }
                var batch = RecordBatch(model: bench.model)
                try batch.append(ObjectID("Playlist", key: 9), values: [:])
                try loader.append(batch)
                return try loader.finish()
            }
            let (plain, concurrent) = (try bench.create(name: "plain"), try bench.create(name: "concurrent"))
            let digest = try load(try plain.bulkLoader(BulkLoadOptions())).digest
            try expectEqual(
                try load(try concurrent.concurrentBulkLoader(BulkLoadOptions())).digest, digest, "the digest")
            try expectEqual(try concurrent.contents(), try plain.contents(), "the contents")
        },
        ConformanceCheck("bulk.empty", "An empty load succeeds and leaves the generation as it is.") { bench in
            let store = try filled(3, on: bench)
            let generation = try store.change { $0.userMetadata["last"] = .bool(true) }.generation
            let before = try store.contents()
            let tally = try load(store) { loader in
                try loader.append(RecordBatch(model: bench.model))
                try loader.append(
                    LinkBatch(
                        relationship: bench.model.requireLinkRelationship(RelationshipName("Tag", name: "tagged")).owner
                    ))
            }
            try expectEqual(try store.contents(), before, "the contents")
            try expectEqual(tally.digest, try store.view { try $0.computeTally() }.digest, "the digest")
            let next = try store.change { $0.userMetadata["last"] = .bool(false) }
            try expectEqual(next.previousGeneration, generation, "the generation before the next commit")
            try expectLater(next.generation, than: generation, on: bench, what: "the generation of the next commit")
        },
    ]

    @discardableResult
    private static func load(_ store: any PersistentStore, _ body: (any BulkLoader) throws -> Void) throws -> StoreTally
    {
        let loader = try store.bulkLoader(BulkLoadOptions())
        do {
            try body(loader)
            return try loader.finish()
        } catch {
            loader.abandon()
            throw error
        }
    }
}
