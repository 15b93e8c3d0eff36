import Foundation
import RoostCore
import RoostMemory
import Testing

@testable import RoostKeyValue

@Suite("Bulk loads of the key-value engine")
struct BulkLoadTests {
    /// Loads the content of `source` into a new store.
    ///
    /// `reversed` loads the hierarchies, and the links of each batch, in reverse order.
    private func copy(_ source: TestStore, unpublished: Bool, reversed: Bool = false) throws -> TestStore {
        let target = try TestStore(StoreOptions(timeoutSeconds: 0).with { $0.isUnpublished = unpublished })
        let snapshot = try source.snapshot()
        let loader = try target.store.bulkLoader(BulkLoadOptions(lastKeys: ["Artist": 70]))
        for root in reversed ? source.model.roots.reversed() : source.model.roots {
            let cursor = try snapshot.records(of: source.model.entities[root].name, after: nil)
            var batch = RecordBatch(model: source.model)
            while try cursor.next(into: &batch) { try loader.append(batch) }
        }
        for relationship in source.model.linkRelationships {
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            var batch = LinkBatch(relationship: relationship.number)
            while try cursor.next(into: &batch) {
                if reversed { batch.links.reverse() }
                try loader.append(batch)
            }
        }
        let tally = try loader.finish()
        #expect(try target.snapshot().recordedTally() == tally)
        return target
    }

    @Test("a loaded key-value store equals the committed store", arguments: [true, false], [true, false])
    func equalsCommits(unpublished: Bool, reversed: Bool) throws {
        let source = try TestStore()
        try source.fill()
        try source.commit { try $0.update(source.artist(2), version: 1, values: ["name": "Bob"]) }
        let target = try copy(source, unpublished: unpublished, reversed: reversed)
        #expect(try target.digest() == (try source.digest()))
        #expect(try target.findings() == [])
        let snapshot = try target.snapshot()
        #expect(try snapshot.record(target.artist(2))?.version == 2)
        #expect(try snapshot.targets(of: "Artist", by: "albums", from: target.artist(1)) == [2, 3, 1])
        #expect(try snapshot.targets(of: "Genre", by: "chart", from: target.genre(1)) == [3, 1])
        #expect(try snapshot.keys(FetchRequest("Artist", where: .equal("code", to: "c"))) == [3])
        #expect(try snapshot.lastKey(of: "Band") == 70)
        #expect(try snapshot.lastKey(of: "Album") == 3)
        #expect(try target.store.reserveKeys(1, for: "Artist") == 71..<72)
    }

    @Test("a key-value load that is cancelled while it finishes leaves nothing", arguments: [true, false])
    func cancelsLoad(isUnpublished: Bool) throws {
        let target = try TestStore(StoreOptions(timeoutSeconds: 0).with { $0.isUnpublished = isUnpublished })
        let loader = try target.store.bulkLoader(
            BulkLoadOptions(checkCancellation: { () throws(StoreError) in
                throw StoreError(.cancelled, "It was cancelled.")
            }))
        var batch = RecordBatch(model: target.model)
        try batch.append(target.artist(1), values: ["name": "A", "code": "a"])
        try loader.append(batch)
        #expect(code { _ = try loader.finish() } == .cancelled)
        #expect(code { _ = try loader.finish() } == .closed)
        #expect(try target.digest().objectCount == 0)
        #expect(try target.findings() == [])
    }

    @Test("a key-value load that cannot be flushed leaves nothing and can be repeated")
    func repeatsAfterFailedFlush() throws {
        let options = StoreOptions(timeoutSeconds: 0).with { $0.isUnpublished = true }
        let target = try TestStore(options, isTrusted: false, failingSyncCount: 1)
        let before = try target.snapshot().recordedTally()
        for attempt in 0..<2 {
            let loader = try target.store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: target.model)
            try batch.append(target.artist(1), values: ["name": "A", "code": "a"])
            try loader.append(batch)
            guard attempt == 0 else {
                _ = try loader.finish()
                continue
            }
            #expect(code { _ = try loader.finish() } == .noSpace)
            #expect(try target.snapshot().recordedTally() == before)
            #expect(try target.findings() == [])
        }
        #expect(try target.digest().objectCount == 1)
        #expect(try target.findings() == [])
    }

    @Test("if a load into a filled unpublished store cannot be flushed, its outcome is unknown and its keys are used")
    func outcomeOfFailedFlush() throws {
        let options = StoreOptions(timeoutSeconds: 0).with { $0.isUnpublished = true }
        let target = try TestStore(options, isTrusted: false, failingSyncCount: 1)
        try target.commit { try $0.insert(target.artist(1), values: ["name": "A", "code": "a"]) }
        let loaded = try target.store.reserveKeys(1, for: "Artist").upperBound
        let loader = try target.store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: target.model)
        try batch.append(target.artist(loaded), values: ["name": "B", "code": "b"])
        try loader.append(batch)
        #expect(code { _ = try loader.finish() } == .outcomeUnknown)
        #expect(try target.digest().objectCount == 2)
        #expect(try target.store.reserveKeys(1, for: "Artist").lowerBound > loaded)
        #expect(try target.findings() == [])
    }

    @Test("a key-value load of many batches shows nothing before its end")
    func loadsManyBatches() throws {
        let target = try TestStore(StoreOptions(timeoutSeconds: 0).with { $0.isUnpublished = true })
        let loader = try target.store.bulkLoader(BulkLoadOptions())
        var (batch, expected) = (RecordBatch(model: target.model), StoreTally(model: target.model))
        let cover = Value.data(Data(repeating: 1, count: 40_000))
        for key in Int64(1)...1000 {
            try batch.append(
                target.album(key),
                values: ["title": .string("T\(key % 7)"), "price": .decimal(Decimal(key)), "cover": cover])
            if batch.isFull || key == 1000 {
                expected.add(batch)
                try loader.append(batch)
                batch.removeAll()
            }
        }
        #expect(try target.snapshot().ids(of: "Album") == [])
        #expect(try target.snapshot().recordedTally() == StoreTally(model: target.model))
        expected.generation = Generation(number: 1)
        #expect(try loader.finish() == expected)
        #expect(try target.digest() == expected.digest)
        #expect(try target.findings() == [])
    }

    @Test("an abandoned key-value load leaves no trace", arguments: [true, false])
    func abandonsLoad(unpublished: Bool) throws {
        let target = try TestStore(StoreOptions(timeoutSeconds: 0).with { $0.isUnpublished = unpublished })
        let before = try target.digest()
        let loader = try target.store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: target.model)
        for key in Int64(1)...20 {
            batch.removeAll()
            try batch.append(target.album(key), values: ["cover": .data(Data(repeating: 1, count: 3_000_000))])
            try loader.append(batch)
        }
        loader.abandon()
        loader.abandon()
        #expect(code { try loader.append(batch) } == .closed)
        #expect(code { _ = try loader.finish() } == .closed)
        #expect(try target.digest() == before)
        #expect(try target.snapshot().ids(of: "Album") == [])
        #expect(try target.findings() == [])
        try target.fill()
    }

    @Test("a key-value load blocks other writers until it is released")
    func blocksWriters() throws {
        let target = try TestStore()
        do {
            let loader = try target.store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: target.model)
            try batch.append(target.genre(1), values: [:])
            try loader.append(batch)
            #expect(code { try target.commit { try $0.insert(target.genre(2), values: [:]) } } == .busy)
            #expect(try target.snapshot().ids(of: "Genre") == [])
        }
        #expect(try target.snapshot().ids(of: "Genre") == [])
        try target.commit { try $0.insert(target.genre(2), values: [:]) }
    }

    @Test("a key-value load that finds equal unique values names both objects in its error", arguments: [10, 6000])
    func namesEqualValues(length: Int) throws {
        let target = try TestStore()
        let loader = try target.store.bulkLoader(BulkLoadOptions())
        let code = String(repeating: "k", count: length)
        var batch = RecordBatch(model: target.model)
        try batch.append(target.artist(1), values: ["code": .string(code)])
        try batch.append(target.artist(2), values: ["code": .string(code + "2")])
        try batch.append(ObjectID("Band", key: 3), values: ["code": .string(code)])
        do {
            try loader.append(batch)
            _ = try loader.finish()
            Issue.record("the load must fail")
        } catch {
            #expect(error.code == .constraintViolation)
            #expect(error.violations.map(\.rejected) == [ObjectID("Band", key: 3)])
            #expect(error.violations.map(\.existing) == [target.artist(1)])
        }
        #expect(try target.snapshot().ids(of: "Artist") == [])
        #expect(try target.findings() == [])
    }

    @Test(
        "a key-value load refuses a link that occurs twice",
        arguments: [("Genre", "chart"), ("Artist", "partners"), ("Album", "genres")])
    func refusesRepeatedLink(entity: EntityName, name: String) throws {
        for second in [Link(1, 2, order: 7, inverseOrder: 9), Link(1, 2, order: 5, inverseOrder: 6)] {
            let target = try TestStore()
            let (number, _) = try target.model.requireLinkRelationship(RelationshipName(entity, name: name))
            let first = Link(1, 2, order: 5, inverseOrder: 6)
            let loader = try target.store.bulkLoader(BulkLoadOptions())
            try loader.append(LinkBatch(relationship: number, links: [first, Link(1, 3, order: 6), second]))
            #expect(code { _ = try loader.finish() } == .duplicateObject)
            #expect(try target.digest() == TestStore().digest())
        }
    }

    @Test("a key-value load refuses a key that occurs twice in a hierarchy")
    func refusesRepeatedKey() throws {
        let target = try TestStore()
        var batch = RecordBatch(model: target.model)
        try batch.append(target.artist(5), values: [:])
        try batch.append(target.artist(4), values: [:])
        try batch.append(ObjectID("Band", key: 5), values: [:])
        let loader = try target.store.bulkLoader(BulkLoadOptions())
        #expect(code { try loader.append(batch) } == .duplicateObject)
        loader.abandon()
        #expect(try target.snapshot().ids(of: "Artist") == [])
    }

    @Test("a load into a filled key-value store adds to it and refuses collisions")
    func addsToFilledStore() throws {
        let target = try TestStore()
        try target.fill()
        var batch = RecordBatch(model: target.model)
        try batch.append(target.album(50), values: ["title": "New", "artist": .objectID(target.artist(2))])
        let relationship = try target.model.requireRelationship(RelationshipName("Genre", name: "chart"))
        guard case .links(let owner, let isFlipped) = relationship.storage else { return #expect(Bool(false)) }
        let link = Link(1, 50, order: 99, inverseOrder: 98)
        let loader = try target.store.bulkLoader(BulkLoadOptions())
        try loader.append(batch)
        try loader.append(LinkBatch(relationship: owner, links: [isFlipped ? link.flipped : link]))
        let tally = try loader.finish()
        #expect(tally.generation.number == 2)
        #expect(try target.digest() == tally.digest)
        #expect(try target.snapshot().targets(of: "Genre", by: "chart", from: target.genre(1)).sorted() == [1, 3, 50])
        #expect(try target.findings() == [])
        for link in [link, Link(1, 3, order: 99, inverseOrder: 98)] {
            let loader = try target.store.bulkLoader(BulkLoadOptions())
            let links = LinkBatch(relationship: owner, links: [isFlipped ? link.flipped : link])
            #expect(code { try loader.append(links) } == .duplicateObject)
            #expect(try target.digest() == tally.digest)
        }
        let second = try target.store.bulkLoader(BulkLoadOptions())
        batch.removeAll()
        try batch.append(target.artist(60), values: ["code": "a"])
        try second.append(batch)
        #expect(code { _ = try second.finish() } == .constraintViolation)
        #expect(try target.digest() == tally.digest)
    }
}
