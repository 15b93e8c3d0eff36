internal import Foundation
internal import RoostCore
internal import RoostMigration
internal import RoostPredicates

extension ConformanceCheck {
    /// Reads of known content, on all types, even types that cannot write.
    static let reading: [ConformanceCheck] = [
        reading(
            "reading.scan",
            "A scan of an entity gives its objects and those of its subentities, in key order, with versions and values."
        ) { sample in
            try sample.view { snapshot in
                for entity in sample.model.entities {
                    try expectSame(
                        try snapshot.objects(of: entity.name), expected: sample.objects(of: entity),
                        what: "the objects of \(entity.name)")
                }
            }
        },
        reading("reading.scan-after", "A scan continues after any ID, whether or not it exists.") { sample in
            try sample.view { snapshot in
                for root in sample.model.roots.map({ sample.model.entities[$0] }) {
                    let objects = sample.objects(of: root)
                    let last = objects.last?.id.key ?? 0
                    for key in [1, 2, 3, last / 2, last - 1, last, last + 1, Int64.max] where key > 0 {
                        try expectSame(
                            try snapshot.objects(of: root.name, after: ObjectID(root.name, key: key)),
                            expected: objects.filter { $0.id.key > key },
                            what: "the objects of \(root.name) after \(key)")
                    }
                }
            }
        },
        reading(
            "reading.batches",
            "Each batch of a cursor replaces the previous one, is not empty and stays within its capacity. A cursor at its end stays there."
        ) { sample in
            try sample.view { snapshot in
                for entity in sample.model.entities {
                    let ids = sample.objects(of: entity).map(\.id)
                    let cursors = [
                        try snapshot.records(of: entity.name, after: nil), try snapshot.records(with: ids),
                        try snapshot.fetch(FetchRequest(entity.name)),
                    ]
                    for cursor in cursors { try expectBatches(of: cursor, sample: sample, ids: ids) }
                }
                for relationship in sample.model.linkRelationships {
                    let cursor = try snapshot.links(of: relationship.name, after: nil)
                    var batch = LinkBatch(relationship: 0, links: [Link(7, 7)])
                    var links: [Link] = []
                    while try cursor.next(into: &batch) {
                        try expect(!batch.isEmpty, "a batch holds something while next() is true")
                        links += batch.links
                    }
                    try expectEqual(links, sample.links(of: relationship), "the links of \(relationship.name)")
                    batch.links = [Link(7, 7)]
                    try expect(try !cursor.next(into: &batch) && batch.isEmpty, "a link cursor stays at its end")
                }
            }
        },
        reading(
            "reading.by-id",
            "Objects come in the order of the requested IDs. IDs of missing objects and of other entities are skipped."
        ) { sample in
            try sample.view { snapshot in
                for entity in sample.model.entities {
                    let objects = sample.objects(of: entity)
                    let known = Set(sample.objects(of: sample.model.entities[entity.root]).map(\.id.key))
                    let missing = (1...).lazy.map { Int64($0) }.first { !known.contains($0) } ?? .max
                    // Every third object from the end, with an unknown ID among them.
                    let wanted = stride(from: objects.count - 1, through: 0, by: -3).map { objects[$0] }
                    var ids = wanted.map { ObjectID(entity.name, key: $0.id.key) }
                    ids.insert(ObjectID(entity.name, key: missing), at: ids.count / 2)
                    try expectSame(
                        try snapshot.objects(with: ids), expected: wanted,
                        what: "the objects of \(entity.name) by their IDs")
                    for id in ids {
                        try expectEqual(
                            try snapshot.object(id)?.id.key, id.key == missing ? nil : id.key,
                            "the object \(id) by itself")
                    }
                    let strangers = try sample.objects(of: sample.model.entities[entity.root])
                        .filter { try !entity.includes(sample.entity(of: $0).number) }
                    try expectSame(
                        try snapshot.objects(with: strangers.map { ObjectID(entity.name, key: $0.id.key) }),
                        expected: [],
                        what: "objects of other entities, asked for as \(entity.name)")
                    for stranger in strangers {
                        let found = try snapshot.object(ObjectID(entity.name, key: stranger.id.key))
                        try expect(found == nil, "\(stranger.id) is not found as \(entity.name)")
                    }
                }
                try expectSame(try snapshot.objects(with: []), expected: [], what: "the objects of no IDs")
            }
        },
        reading(
            "reading.links",
            "All links of a relationship can be read from either end. They are ordered by source, place and target, and a scan can continue after any link."
        ) { sample in
            try sample.view { snapshot in
                for relationship in sample.model.relationships {
                    guard case .links = relationship.storage else { continue }
                    let links = sample.links(of: relationship)
                    let name = relationship.name
                    try expectEqual(try snapshot.allLinks(of: name), links, "the links of \(name)")
                    for index in [0, links.count / 3, links.count - 1] where links.indices.contains(index) {
                        try expectEqual(
                            try snapshot.allLinks(of: name, after: links[index]), Array(links[(index + 1)...]),
                            "the links of \(name) after \(links[index])")
                    }
                }
            }
        },
        reading(
            "reading.walk",
            "A to-many relationship returns the members of an object in order, and no members for an object that does not exist."
        ) { sample in
            try sample.view { snapshot in
                for relationship in sample.model.relationships {
                    if case .field = relationship.storage { continue }
                    let source = sample.model.entities[relationship.source]
                    let keys = sample.objects(of: source).map(\.id.key)
                    for key in keys.prefix(8) + keys.suffix(3) + [Int64.max] {
                        try expectEqual(
                            try snapshot.targets(of: relationship.name, from: ObjectID(source.name, key: key)),
                            sample.content.targets(of: relationship, from: key),
                            "the members of \(relationship.name) of \(key)")
                    }
                }
            }
        },
        reading(
            "reading.fetch-conditions",
            "Every operator on every attribute finds the right objects, nulls included, and the count agrees."
        ) { sample in
            try sample.view { snapshot in
                for (entity, attribute) in sample.attributes {
                    let values = sample.values(of: attribute.name, in: entity)
                    let middle = values[values.count / 2]
                    // With many objects, one constant suffices.
                    let constants = values.count > RecordBatch.capacityCount ? [middle] : [values[0], middle, .null]
                    for comparison in sample.operators(for: attribute.type) {
                        for constant in constants {
                            let predicate: FetchRequest.Predicate =
                                comparison == .isIn
                                ? .isIn(attribute.name, values: [constant, values[values.count / 3]])
                                : .compare(attribute.name, using: comparison, with: constant)
                            try sample.compare(FetchRequest(entity.name, where: predicate), snapshot: snapshot)
                            guard constant == middle else { continue }
                            try sample.compare(
                                FetchRequest(entity.name, where: !predicate, limit: 20), snapshot: snapshot)
                        }
                    }
                }
                for entity in sample.model.entities {
                    try sample.compare(
                        FetchRequest(entity.name).with { $0.includesSubentities = false }, snapshot: snapshot)
                    try sample.compare(FetchRequest(entity.name, where: .constant(false)), snapshot: snapshot)
                }
            }
        },
        reading(
            "reading.fetch-order",
            "Every attribute sorts objects in both directions, ties by key. Limit and offset apply to that order."
        ) { sample in
            try sample.view { snapshot in
                for (entity, attribute) in sample.attributes
                where sample.operators(for: attribute.type).contains(.less) {
                    for isAscending in [true, false] {
                        let order = [FetchRequest.SortDescriptor(attribute.name, ascending: isAscending)]
                        try sample.compare(FetchRequest(entity.name, sortedBy: order), snapshot: snapshot)
                        try sample.compare(
                            FetchRequest(
                                entity.name, where: .isNotNull(attribute.name), sortedBy: order, limit: 7, offset: 3),
                            snapshot: snapshot)
                    }
                    if let other = entity.attributes.last(where: { sample.operators(for: $0.type).contains(.less) }) {
                        try sample.compare(
                            FetchRequest(
                                entity.name, sortedBy: [.init(attribute.name, ascending: false), .init(other.name)],
                                limit: 50), snapshot: snapshot)
                    }
                }
            }
        },
        reading(
            "reading.fetch-references",
            "To-one relationships compare with IDs, and conditions combine with and, or and not."
        ) { sample in
            try sample.view { snapshot in
                for relationship in sample.model.relationships where relationship.storage == .field {
                    let entity = sample.model.entities[relationship.source]
                    let name = relationship.name.name
                    let values = sample.values(of: name, in: entity)
                    guard let one = values.first, let other = values.last else { continue }
                    for predicate: FetchRequest.Predicate in [
                        .equal(name, to: one), .notEqual(name, to: one), .isNull(name),
                        .isIn(name, values: [one, other]),
                        .equal(name, to: one) || .equal(name, to: other), .notEqual(name, to: one) && .isNotNull(name),
                        !(.equal(name, to: one) || .isNull(name)),
                    ] {
                        try sample.compare(FetchRequest(entity.name, where: predicate), snapshot: snapshot)
                    }
                }
            }
        },
        reading(
            "reading.unknown",
            "Requests for entities and properties that the model lacks fail with `unknownEntity` and `unknownProperty`."
        ) { sample in
            let entity = try require(sample.model.entities.first?.name, "an entity")
            try sample.view { snapshot in
                try expectError(.unknownEntity, in: "a scan") { _ = try snapshot.objects(of: "NoSuchEntity") }
                try expectError(.unknownEntity, in: "a fetch") { _ = try snapshot.keys(FetchRequest("NoSuchEntity")) }
                try expectError(.unknownEntity, in: "a count") { _ = try snapshot.count(FetchRequest("NoSuchEntity")) }
                try expectError(.unknownEntity, in: "the last key") { _ = try snapshot.lastKey(of: "NoSuchEntity") }
                try expectError(.unknownProperty, in: "a condition") {
                    _ = try snapshot.keys(FetchRequest(entity, where: .equal("noSuchProperty", to: .int(1))))
                }
                try expectError(.unknownProperty, in: "an order") {
                    _ = try snapshot.keys(FetchRequest(entity, sortedBy: [.init("noSuchProperty")]))
                }
                try expectError(.unknownProperty, in: "a walk") {
                    _ = try snapshot.targets(
                        of: RelationshipName(entity, name: "noSuchRelationship"), from: ObjectID(entity, key: 1))
                }
                try expectError(.unknownProperty, in: "the links") {
                    _ = try snapshot.allLinks(of: RelationshipName(entity, name: "noSuchRelationship"))
                }
            }
        },
        reading(
            "reading.describes-itself",
            "A store reports its type, its URL, its model, its size and the user's metadata."
        ) { sample in
            let metadata = try sample.store.metadata()
            try expectEqual(metadata.type, sample.bench.type.name, "the type in the metadata")
            try expectEqual(sample.store.type.name, sample.bench.type.name, "the type")
            try expectEqual(sample.store.location, sample.sample.location, "the URL")
            try expect(sample.model.isCompatible(with: metadata), "the model is that of the content")
            try expectEqual(sample.store.model, metadata.model, "the model")
            try expectEqual(metadata.userMetadata, sample.content.userMetadata, "the user's metadata")
            try expect(try sample.store.byteCount() >= 0, "the byte count is not negative")
            try sample.view { snapshot in
                try expectEqual(try snapshot.userMetadata(), sample.content.userMetadata, "the snapshot's metadata")
                for root in sample.model.roots.map({ sample.model.entities[$0] }) {
                    let last = try snapshot.lastKey(of: root.name)
                    let highest = sample.objects(of: root).last?.id.key ?? 0
                    try expect(
                        last >= highest, "the last key of \(root.name) is at least \(highest)", otherwise: "\(last)")
                }
            }
        },
        reading(
            "reading.digest",
            "The digest computed from a store is the same each time. It equals the digest of the content and the recorded digest."
        ) { sample in
            try sample.view { snapshot in
                let tally = try snapshot.computeTally()
                try expectEqual(tally.digest, sample.content.digest, "the digest")
                try expectEqual(try snapshot.computeTally(), tally, "the tally computed again")
                if sample.bench.fixture.capabilities.contains(.digest) {
                    try expectEqual(
                        try require(try snapshot.recordedTally(), "a recorded tally").digest, tally.digest,
                        "the recorded digest")
                } else {
                    try expect(try snapshot.recordedTally() == nil, "no tally is recorded")
                }
            }
        },
        reading(
            "reading.side-by-side",
            "Several cursors, snapshots and threads read one store without disturbing each other."
        ) { sample in
            let store = sample.store
            let expected = sample.content.contents
            let readers = (0..<3).map { _ in
                Background { try store.contents().difference(from: expected) }
            }
            try sample.view { snapshot in
                let roots = sample.model.roots.map { sample.model.entities[$0] }
                let cursors = try (roots + roots).map { try snapshot.records(of: $0.name, after: nil) }
                var read = [[StoredObject]](repeating: [], count: cursors.count)
                var batch = RecordBatch(model: snapshot.model)
                var isGoing = true
                while isGoing {
                    isGoing = false
                    for (index, cursor) in cursors.enumerated() where try cursor.next(into: &batch) {
                        read[index] += (0..<batch.count).map { StoredObject(batch.record(at: $0)) }
                        _ = try snapshot.count(FetchRequest(roots[0].name))
                        isGoing = true
                    }
                }
                for (root, objects) in zip(roots + roots, read) {
                    try expectSame(
                        objects, expected: sample.objects(of: root),
                        what: "the objects of \(root.name), read by alternating cursors")
                }
            }
            for reader in readers {
                let difference = try reader.value()
                try expect(difference == nil, "every thread reads all", otherwise: difference ?? "")
            }
        },
        reading(
            "reading.closed",
            "After a snapshot or its store is closed, every call of the snapshot and of its cursors throws `closed`."
        ) { sample in
            for closesStore in [false, true] {
                let snapshot = try sample.store.snapshot()
                let records = try snapshot.records(of: try sample.largestEntity(), after: nil)
                var batch = RecordBatch(model: snapshot.model)
                _ = try records.next(into: &batch)
                if closesStore { try sample.store.close() } else { snapshot.close() }
                let entity = try sample.largestEntity()
                try expectError(.closed, in: "a scan") { _ = try snapshot.objects(of: entity) }
                try expectError(.closed, in: "a look-up") { _ = try snapshot.objects(with: [ObjectID(entity, key: 1)]) }
                try expectError(.closed, in: "a fetch") { _ = try snapshot.keys(FetchRequest(entity)) }
                try expectError(.closed, in: "a count") { _ = try snapshot.count(FetchRequest(entity)) }
                try expectError(.closed, in: "the last key") { _ = try snapshot.lastKey(of: entity) }
                try expectError(.closed, in: "the tally") { _ = try snapshot.recordedTally() }
                try expectError(.closed, in: "the user's metadata") { _ = try snapshot.userMetadata() }
                try expectError(.closed, in: "a cursor") { _ = try records.next(into: &batch) }
                snapshot.close()
            }
            try sample.store.close()
            try expectError(.closed, in: "a snapshot") { _ = try sample.store.snapshot() }
            try expectError(.closed, in: "the metadata") { _ = try sample.store.metadata() }
        },
        reading(
            "reading.refuses-writing",
            "A store of a type that cannot write refuses every change with `unsupported`. In other types, a store opened read-only refuses every change with `readOnly`.",
            needs: [.persistence], isReadOnly: true
        ) { sample in
            let code: StoreError.Code = sample.bench.fixture.capabilities.contains(.writing) ? .readOnly : .unsupported
            let entity = try sample.largestEntity()
            try expect(sample.store.isReadOnly, "the store reports that it is read-only")
            try expectError(code, in: "setting metadata") {
                try sample.store.change { $0.userMetadata["a"] = .bool(true) }
            }
            try expectError(code, in: "a delete") {
                try sample.store.change { $0.delete(ObjectID(entity, key: 1), version: 1) }
            }
            try expectError(code, in: "reserving keys") { _ = try sample.store.reserveKeys(1, for: entity) }
            try expectError(code, in: "a bulk load") { _ = try sample.store.bulkLoader(BulkLoadOptions()) }
            try expectEqual(try sample.store.contents(), sample.content.contents, "the store is as it was")
        },
        ConformanceCheck(
            "reading.unchanged-bytes", "Reading a store that cannot be written does not change a byte of its files.",
            on: .sample, needs: [.file, .persistence]
        ) { bench in
            let sample = try bench.makeSample()
            try expect(bench.type.recognizes(fileAt: sample.location.path), "the file is recognized")
            // A type that also writes may keep a lock file or a log beside the main file.
            let paths =
                bench.fixture.capabilities.contains(.writing)
                ? [sample.location.path] : try bench.files().map { "\(bench.directory)/\($0)" }
            let before = paths.map(bench.bytes)
            let store = try bench.open(sample) { $0.isReadOnly = true }
            try expectEqual(try store.contents(), sample.content.contents, "the contents")
            _ = try store.integrityFindings()
            try store.close()
            for (path, bytes) in zip(paths, before) {
                try expect(
                    bench.bytes(of: path) == bytes, "the bytes of the file are the same", otherwise: "they changed")
            }
            if !bench.fixture.capabilities.contains(.writing) {
                try expectEqual(try bench.files().map { "\(bench.directory)/\($0)" }, paths, "the files")
            }
        },
    ]

    private static func reading(
        _ id: String, _ behavior: String, needs: [StoreCapability] = [], isReadOnly: Bool = false,
        _ body: @escaping @Sendable (OpenSample) throws -> Void
    ) -> ConformanceCheck {
        ConformanceCheck(id, behavior, on: .sample, needs: needs) { bench in
            try body(try OpenSample(bench, isReadOnly: isReadOnly))
        }
    }

    private static func expectBatches(of cursor: any RecordCursor, sample: OpenSample, ids: [ObjectID]) throws {
        var read: [ObjectID] = []
        var batch = RecordBatch(model: sample.model)
        while true {
            // The cursor must replace this record.
            batch.append(sample.anyObject.record)
            guard try cursor.next(into: &batch) else { break }
            try expect(!batch.isEmpty, "a batch holds something while next() is true")
            try expect(
                batch.count <= RecordBatch.capacityCount, "a batch holds at most its capacity",
                otherwise: "\(batch.count) records")
            read += (0..<batch.count).map { batch.id(at: $0) }
        }
        try expectEqual(read, ids, "the IDs, batch by batch")
        try expect(batch.isEmpty, "the batch is empty at the end")
        try expect(try !cursor.next(into: &batch) && batch.isEmpty, "the cursor stays at its end")
    }

    /// Fails unless both lists have the same objects in the same order, byte for byte.
    private static func expectSame(_ actual: [StoredObject], expected: [StoredObject], what: String) throws {
        var (mine, theirs) = (StoreContents(), StoreContents())
        (mine.objects[0], theirs.objects[0]) = (actual, expected)
        try expectEqual(mine, theirs, what)
    }
}
