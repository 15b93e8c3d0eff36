internal import Foundation
internal import RoostCore
internal import RoostMigration
internal import RoostQuery

extension ConformanceCheck {
    static let snapshots: [ConformanceCheck] = [
        ConformanceCheck("snapshots.unchanged", "A snapshot shows the store as it was, whatever is committed later.") {
            bench in
            let store = try filled(20, on: bench)
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let before = try StoreContents(of: snapshot)
            let tally = try snapshot.recordedTally()
            let metadata = try snapshot.userMetadata()
            // First read after the change, to detect a snapshot that begins only at its first read.
            let unread = try store.snapshot()
            defer { unread.close() }
            try store.change { changes in
                changes.userMetadata = ["later": .string("later")]
                for key in Int64(1)...10 { changes.delete(ObjectID("Track", key: key), version: 1) }
                for key in Int64(11)...15 {
                    try changes.update(ObjectID("Track", key: key), version: 1, values: ["title": "later"])
                }
                for key in Int64(30)...40 {
                    try changes.insert(ObjectID("Track", key: key), values: ["title": "later"])
                }
                try changes.remove(Link(1, 12), from: RelationshipName("Tag", name: "tagged"))
                try changes.add(Link(1, 30), to: RelationshipName("Tag", name: "tagged"))
            }
            try expectEqual(
                try unread.targets(of: RelationshipName("Tag", name: "tagged"), from: ObjectID("Tag", key: 1)),
                Array(1...20),
                "the links of a snapshot that was not read before")
            try expectEqual(try StoreContents(of: unread), before, "a snapshot that was not read before")
            try expectEqual(try StoreContents(of: snapshot), before, "the contents as they were")
            try expectEqual(try snapshot.count(FetchRequest("Track")), 20, "the count as it was")
            try expectEqual(try snapshot.recordedTally(), tally, "the tally as it was")
            try expectEqual(try snapshot.userMetadata(), metadata, "the user's metadata as they were")
            try expectEqual(
                try store.view { try $0.userMetadata()["later"] }, .string("later"), "the metadata in a new snapshot")
            try expectEqual(
                try snapshot.keys(FetchRequest("Track", where: .equal("title", to: "later"))), [],
                "the result of a fetch")
            try expectEqual(
                try snapshot.object(ObjectID("Track", key: 1))?.version, 1, "the version of a deleted object")
            try expectEqual(try snapshot.objects(with: [ObjectID("Track", key: 30)]).count, 0, "a later object")
            try expectEqual(try snapshot.lastKey(of: "Track"), 20, "the last key")
            try expectEqual(
                try snapshot.targets(of: RelationshipName("Tag", name: "tagged"), from: ObjectID("Tag", key: 1)),
                Array(1...20),
                "the links")
            try expectEqual(try store.view { try $0.count(FetchRequest("Track")) }, 21, "the count in a new snapshot")
        },
        ConformanceCheck(
            "snapshots.many",
            "Many snapshots of different states can be open together, and each shows exactly its own state."
        ) {
            bench in
            let store = try bench.create()
            var snapshots: [any StoreSnapshot] = []
            defer { for snapshot in snapshots { snapshot.close() } }
            for key in Int64(1)...40 {
                snapshots.append(try store.snapshot())
                try store.change { try $0.insert(ObjectID("Track", key: key), values: ["title": .string("\(key)")]) }
            }
            for (index, snapshot) in snapshots.enumerated().reversed() {
                try expectEqual(
                    try snapshot.objects(of: "Track").map(\.id.key), (0..<index).map { Int64($0 + 1) },
                    "the objects in snapshot \(index)")
                snapshot.close()
            }
        },
        ConformanceCheck("snapshots.sees-commits", "A snapshot taken after a commit shows all of it.") { bench in
            let store = try bench.create()
            for key in Int64(1)...30 {
                try store.change { try $0.insert(ObjectID("Track", key: key), values: [:]) }
                try expectEqual(
                    try store.view { try $0.count(FetchRequest("Track")) }, Int(key), "the count after commit \(key)")
            }
        },
        ConformanceCheck("snapshots.cursor-stays", "A cursor continues to read its snapshot while others commit.") {
            bench in
            let store = try filled(3000, on: bench)
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let cursor = try snapshot.records(of: "Track", after: nil)
            var batch = RecordBatch(model: bench.model)
            try expect(try cursor.next(into: &batch), "there is a first batch")
            var keys = (0..<batch.count).map { batch.key(at: $0) }
            try store.change { changes in
                for key in Int64(1)...3000 { changes.delete(ObjectID("Track", key: key), version: 1) }
            }
            while try cursor.next(into: &batch) { keys += (0..<batch.count).map { batch.key(at: $0) } }
            try expectEqual(keys, (1...3000).map { Int64($0) }, "the keys")
        },
        ConformanceCheck(
            "snapshots.reading-while-writing",
            "Readers on other threads see only whole commits, and never an older state after a newer one."
        ) { bench in
            let store = try bench.create()
            let stop = Mutex(false)
            // Every commit writes its number into all ten objects, so a mixed state would show.
            try store.change { changes in
                for key in Int64(1)...10 { try changes.insert(ObjectID("Everything", key: key), values: ["i64": 0]) }
                changes.userMetadata["round"] = .int(0)
            }
            let readers = (0..<3).map { _ in
                Background { () -> Int in
                    var (last, rounds) = (Int64(0), 0)
                    while rounds < 3 || !stop.withLock({ $0 }) {
                        let (numbers, metadata) = try store.view { snapshot in
                            (
                                try snapshot.objects(of: "Everything").map { $0.values["i64"] },
                                try snapshot.userMetadata()
                            )
                        }
                        guard numbers.count == 10, Set(numbers).count == 1, case .int(let number)?? = numbers.first
                        else {
                            throw Mismatch(expected: "ten objects of one commit", actual: "\(numbers)")
                        }
                        try expectEqual(metadata["round"], .int(number), "the metadata of the same commit")
                        try expect(number >= last, "no older state after a newer", otherwise: "\(number) after \(last)")
                        last = number
                        rounds += 1
                    }
                    return rounds
                }
            }
            do {
                defer { stop.withLock { $0 = true } }
                for round in UInt32(1)...60 {
                    try store.change { changes in
                        for key in Int64(1)...10 {
                            try changes.update(
                                ObjectID("Everything", key: key), version: round, values: ["i64": .int(Int64(round))])
                        }
                        changes.userMetadata["round"] = .int(Int64(round))
                    }
                }
            }
            for reader in readers { _ = try reader.value() }
        },
        ConformanceCheck(
            "snapshots.never-waits", "Taking and reading a snapshot does not wait for a running bulk load."
        ) { bench in
            let store = try filled(10, on: bench)
            let loader = try store.bulkLoader(BulkLoadOptions())
            let reader = Background { try store.view { try $0.count(FetchRequest("Track")) } }
            let count = try reader.value()
            loader.abandon()
            try expectEqual(count, 10, "the count")
        },
        ConformanceCheck(
            "snapshots.closed",
            "After `close()` every call of a snapshot and of its cursors throws `closed`; closing again does nothing."
        ) { bench in
            let store = try filled(3000, on: bench)
            let snapshot = try store.snapshot()
            let records = try snapshot.records(of: "Track", after: nil)
            let links = try snapshot.links(of: RelationshipName("Tag", name: "tagged"), after: nil)
            var batch = RecordBatch(model: bench.model)
            _ = try records.next(into: &batch)
            snapshot.close()
            snapshot.close()
            try expectClosed(snapshot, records: records, links: links)
            try expectEqual(try store.view { try $0.count(FetchRequest("Track")) }, 3000, "the store is still usable")
        },
        ConformanceCheck("snapshots.let-go", "A snapshot that is deallocated without closing does not block the store.")
        { bench in
            let store = try bench.create()
            for key in Int64(1)...200 {
                _ = try store.snapshot()
                try store.change { try $0.insert(ObjectID("Tag", key: key), values: [:]) }
            }
            try expectEqual(try store.view { try $0.count(FetchRequest("Tag")) }, 200, "the count")
        },
    ]

    static let cursors: [ConformanceCheck] = [
        ConformanceCheck("cursors.after", "A scan continues after any ID, whether or not it exists.") { bench in
            let store = try bench.create()
            try store.change { changes in
                for key in 1...50 { try changes.insert(ObjectID("Tag", key: Int64(key * 2)), values: [:]) }
            }
            try store.view { snapshot in
                for key in Int64(1)...101 {
                    try expectEqual(
                        try snapshot.objects(of: "Tag", after: ObjectID("Tag", key: key)).map(\.id.key),
                        (1...50).map { Int64($0 * 2) }.filter { $0 > key },
                        "the keys after \(key)")
                }
            }
        },
        ConformanceCheck(
            "cursors.other-model",
            "A batch that was made for another model is refused with `modelMismatch`. Neither batch nor cursor changes."
        ) { bench in
            let store = try filled(5, on: bench)
            try store.view { snapshot in
                var other = RecordBatch(model: try ConformanceModel.changed(for: bench.fixture))
                try other.append(ObjectID("Track", key: 77), version: 1, values: [:])
                let cursors: [(String, any RecordCursor)] = [
                    ("a scan", try snapshot.records(of: "Track", after: nil)),
                    ("a look-up", try snapshot.records(with: (1...5).map { ObjectID("Track", key: $0) })),
                    ("a fetch", try snapshot.fetch(FetchRequest("Track"))),
                    (
                        "a sorted fetch",
                        try snapshot.fetch(FetchRequest("Track", sortedBy: [.init("title", ascending: true)]))
                    ),
                ]
                for (name, cursor) in cursors {
                    try expectError(.modelMismatch, in: name) { _ = try cursor.next(into: &other) }
                    try expectEqual((0..<other.count).map { other.key(at: $0) }, [77], "the batch after \(name)")
                    var batch = RecordBatch(model: bench.model)
                    try expect(try cursor.next(into: &batch), "\(name) stays usable")
                    try expectEqual(batch.count, 5, "the records of \(name)")
                }
            }
        },
        ConformanceCheck(
            "snapshots.close-while-shown",
            "If a snapshot is closed while a visitor reads it, the visitor gets only records of that snapshot, and then throws `closed`."
        ) { bench in
            let store = try filled(3000, on: bench)
            let snapshot = try store.snapshot()
            guard let visitor = try snapshot.visitor(CheckedFetchRequest(FetchRequest("Track"), model: bench.model))
            else {
                return snapshot.close()
            }
            var keys: [Int64] = []
            do throws(StoreError) {
                _ = try visitor.visit { record in
                    if keys.count == 10 {
                        snapshot.close()
                        // Reuses memory that closing the snapshot may have released too early.
                        if let other = try? store.snapshot() {
                            _ = try? other.objects(of: "Tag")
                            other.close()
                        }
                    }
                    keys.append(record.key)
                    return true
                }
            } catch {
                try expectEqual(error.code, .closed, "the error")
            }
            try expect(keys.count > 10, "the visitor received some records")
            try expectEqual(keys, Array(1...Int64(keys.count)), "the keys")
            try expectError(.closed, in: "visiting afterwards") { _ = try visitor.visit { _ in true } }
        },
        ConformanceCheck(
            "cursors.batches",
            "A long scan comes in several batches, in order and without gaps. No batch is empty or holds more records than its capacity."
        ) { bench in
            let store = try filled(5000, on: bench)
            try store.view { snapshot in
                let cursor = try snapshot.records(of: "Track", after: nil)
                var batch = RecordBatch(model: bench.model)
                var keys: [Int64] = []
                var batches = 0
                while try cursor.next(into: &batch) {
                    try expect(!batch.isEmpty, "a batch holds something while next() is true")
                    try expect(
                        batch.count <= RecordBatch.capacityCount, "a batch holds at most its capacity",
                        otherwise: "\(batch.count) records")
                    keys += (0..<batch.count).map { batch.key(at: $0) }
                    batches += 1
                }
                try expectEqual(keys, (1...5000).map { Int64($0) }, "the keys")
                try expect(batches > 1, "there are several batches")
            }
        },
        ConformanceCheck("cursors.batch-bytes", "Large records fill a batch by their bytes, not by their number.") {
            bench in
            let store = try bench.create()
            let size = 100_000
            try store.change { changes in
                for key in Int64(1)...12 {
                    try changes.insert(
                        ObjectID("Everything", key: key),
                        values: ["blob": .data(Data(repeating: UInt8(key), count: size))])
                }
            }
            try store.view { snapshot in
                let cursor = try snapshot.records(of: "Everything", after: nil)
                var batch = RecordBatch(model: bench.model)
                var count = 0
                while try cursor.next(into: &batch) {
                    try expect(
                        batch.byteCount <= RecordBatch.capacityBytes + size + 1000,
                        "at most one record beyond the capacity",
                        otherwise: "\(batch.byteCount) bytes")
                    count += batch.count
                }
                try expectEqual(count, 12, "the number of records")
            }
        },
        ConformanceCheck(
            "cursors.end-stays",
            "At its end, a cursor returns false and empties the batch, and so does every later call."
        ) {
            bench in
            let store = try filled(3, on: bench)
            try store.view { snapshot in
                let cursors = [
                    try snapshot.records(of: "Track", after: nil), try snapshot.records(of: "Dog", after: nil),
                    try snapshot.records(with: [ObjectID("Track", key: 2), ObjectID("Track", key: 77)]),
                    try snapshot.records(with: []),
                    try snapshot.fetch(FetchRequest("Track", where: .equal("title", to: "t2"))),
                    try snapshot.fetch(FetchRequest("Track", limit: 0)),
                ]
                for (index, cursor) in cursors.enumerated() {
                    var batch = RecordBatch(model: bench.model)
                    while try cursor.next(into: &batch) {}
                    for _ in 0..<3 {
                        try batch.append(ObjectID("Tag", key: 1), values: [:])
                        try expect(!(try cursor.next(into: &batch)), "cursor number \(index) stays at its end")
                        try expect(batch.isEmpty, "cursor number \(index) empties the batch at its end")
                    }
                }
                for cursor in [
                    try snapshot.links(of: RelationshipName("Tag", name: "tagged"), after: nil),
                    try snapshot.links(of: RelationshipName("Tag", name: "tagged"), from: ObjectID("Tag", key: 1)),
                    try snapshot.links(of: RelationshipName("Album", name: "songs"), from: ObjectID("Album", key: 1)),
                ] {
                    var batch = LinkBatch(relationship: 0)
                    while try cursor.next(into: &batch) {}
                    for _ in 0..<3 {
                        batch.links = [Link(1, 1)]
                        try expect(!(try cursor.next(into: &batch)), "a link cursor stays at its end")
                        try expect(batch.isEmpty, "a link cursor empties the batch at its end")
                    }
                }
            }
        },
        ConformanceCheck("cursors.replace-contents", "A cursor replaces the content of the batch that it is given.") {
            bench in
            let store = try filled(5, on: bench)
            try store.view { snapshot in
                var batch = RecordBatch(model: bench.model)
                for key in Int64(100)...110 { try batch.append(ObjectID("Tag", key: key), values: [:]) }
                _ = try snapshot.records(of: "Track", after: nil).next(into: &batch)
                try expectEqual(
                    (0..<batch.count).map { batch.id(at: $0) }, (1...5).map { ObjectID("Track", key: $0) },
                    "the IDs in the batch")
                var links = LinkBatch(relationship: 0, links: [Link(9, 9)])
                _ = try snapshot.links(of: RelationshipName("Tag", name: "tagged"), after: nil).next(into: &links)
                try expectEqual(links.links, (1...5).map { Link(1, $0) }, "the links in the batch")
            }
        },
        ConformanceCheck("cursors.side-by-side", "Several cursors of one snapshot do not disturb each other.") {
            bench in
            let store = try filled(2500, on: bench)
            try store.view { snapshot in
                let cursors = try (0..<4).map {
                    try snapshot.records(of: "Track", after: ObjectID("Track", key: Int64($0 * 100 + 1)))
                }
                var batch = RecordBatch(model: bench.model)
                var keys = [[Int64]](repeating: [], count: 4)
                var isGoing = true
                while isGoing {
                    isGoing = false
                    for (index, cursor) in cursors.enumerated() where try cursor.next(into: &batch) {
                        keys[index] += (0..<batch.count).map { batch.key(at: $0) }
                        _ = try snapshot.count(FetchRequest("Tag"))
                        isGoing = true
                    }
                }
                for index in 0..<4 {
                    try expectEqual(
                        keys[index], (index * 100 + 2...2500).map { Int64($0) }, "the keys of cursor \(index)")
                }
            }
        },
        ConformanceCheck("cursors.abandoned", "A cursor may be abandoned before its end.") { bench in
            let store = try filled(3000, on: bench)
            try store.view { snapshot in
                for _ in 0..<50 {
                    var batch = RecordBatch(model: bench.model)
                    _ = try snapshot.records(of: "Track", after: nil).next(into: &batch)
                    _ = try snapshot.fetch(FetchRequest("Track", sortedBy: [.init("title")])).next(into: &batch)
                }
            }
            try store.change { try $0.insert(ObjectID("Track", key: 5000), values: [:]) }
        },
        ConformanceCheck("cursors.unknown-entity", "Reading an entity that the model lacks throws `unknownEntity`.") {
            bench in
            let store = try bench.create()
            try store.view { snapshot in
                try expectError(.unknownEntity, in: "a scan") { _ = try snapshot.objects(of: "Nobody") }
                try expectError(.unknownEntity, in: "a fetch") { _ = try snapshot.keys(FetchRequest("Nobody")) }
                try expectError(.unknownEntity, in: "a count") { _ = try snapshot.count(FetchRequest("Nobody")) }
                try expectError(.unknownEntity, in: "the last key") { _ = try snapshot.lastKey(of: "Nobody") }
            }
        },
    ]

    /// Returns a store with tracks 1…count, each linked to tag 1, and album 1 with three songs.
    ///
    /// The tracks have the titles t1, t2, ….
    static func filled(_ count: Int, on bench: Workbench) throws -> any PersistentStore {
        let store = try bench.create()
        try store.change { changes in
            try changes.insert(ObjectID("Tag", key: 1), values: [:])
            try changes.insert(ObjectID("Album", key: 1), values: [:])
            for key in 1...count {
                var values: [String: Value] = ["title": .string("t\(key)")]
                if key <= 3 {
                    (values["album"], values["album#order"]) = (.objectID(ObjectID("Album", key: 1)), .int(Int64(-key)))
                }
                try changes.insert(ObjectID("Track", key: Int64(key)), values: values)
                try changes.add(Link(1, Int64(key)), to: RelationshipName("Tag", name: "tagged"))
            }
        }
        return store
    }

    static func expectClosed(_ snapshot: any StoreSnapshot, records: any RecordCursor, links: any LinkCursor) throws {
        let tagged = RelationshipName("Tag", name: "tagged")
        try expectError(.closed, in: "recordedTally()") { _ = try snapshot.recordedTally() }
        try expectError(.closed, in: "userMetadata()") { _ = try snapshot.userMetadata() }
        try expectError(.closed, in: "lastKey(of:)") { _ = try snapshot.lastKey(of: "Tag") }
        try expectError(.closed, in: "records(of:after:)") { _ = try snapshot.objects(of: "Track") }
        try expectError(.closed, in: "records(with:)") { _ = try snapshot.objects(with: [ObjectID("Track", key: 1)]) }
        try expectError(.closed, in: "links(of:after:)") { _ = try snapshot.allLinks(of: tagged) }
        try expectError(.closed, in: "links(of:from:)") {
            _ = try snapshot.targets(of: tagged, from: ObjectID("Tag", key: 1))
        }
        try expectError(.closed, in: "fetch(_:)") { _ = try snapshot.keys(FetchRequest("Track")) }
        try expectError(.closed, in: "count(_:)") { _ = try snapshot.count(FetchRequest("Track")) }
        try expectError(.closed, in: "objectIDs(_:)") { _ = try snapshot.objectIDs(FetchRequest("Track")) }
        try expectError(.closed, in: "record(with:into:)") { _ = try snapshot.object(ObjectID("Track", key: 1)) }
        try expectError(.closed, in: "links(of:from:) of several objects") {
            _ = try snapshot.drain(snapshot.links(of: tagged, from: [ObjectID("Tag", key: 1)]))
        }
        try expectError(.closed, in: "a record cursor") {
            var batch = RecordBatch(model: snapshot.model)
            _ = try records.next(into: &batch)
        }
        try expectError(.closed, in: "a link cursor") {
            var batch = LinkBatch(relationship: 0)
            _ = try links.next(into: &batch)
        }
    }
}
