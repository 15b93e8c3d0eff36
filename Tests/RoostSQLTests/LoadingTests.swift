import Foundation
import RoostCore
import RoostFiles
import Testing

@testable import RoostSQL
@testable import RoostSQLite

@Suite("Bulk loading an SQLite store")
struct LoadingTests {
    static func batches(_ model: ManagedObjectModel, areNew: Bool = false) throws -> (
        records: [RecordBatch], links: LinkBatch
    ) {
        var batches: [RecordBatch] = []
        for (entity, count) in [("Album", 300), ("Track", 2500), ("Tag", 40)] as [(EntityName, Int64)] {
            var batch = RecordBatch(model: model)
            for key in 1...count {
                var values: [String: Value] =
                    entity == "Tag" ? ["name": .string("t\(key)")] : ["title": .string("title \(key)")]
                if entity == "Track" {
                    values["album"] = .objectID(ObjectID("Album", key: key % 300 + 1))
                    values["album#order"] = .int(key)
                    values["number"] = .decimal(Decimal(key) / 8)
                }
                try batch.append(ObjectID(entity, key: key), version: areNew ? 1 : UInt32(key % 3 + 1), values: values)
                if batch.isFull {
                    batches.append(batch)
                    batch.removeAll()
                }
            }
            batches.append(batch)
        }
        var people = RecordBatch(model: model)
        for key in Int64(1)...100 {
            try people.append(
                ObjectID(key % 2 == 0 ? "Singer" : "Drummer", key: key), values: ["name": .string("p\(key)")])
        }
        batches.append(people)
        let tags = try model.requireRelationship(RelationshipName("Album", name: "tags"))
        var links: [Link] = []
        for album in Int64(1)...300 {
            for place in Int64(1)...5 { links.append(Link(album, (album * 7 + place * 11) % 40 + 1, order: 9 - place)) }
        }
        return (batches, LinkBatch(relationship: tags.number, links: links))
    }

    @Test("a load into an SQLite store gives the same content as commits", arguments: [true, false])
    func equalsCommits(isUnpublished: Bool) throws {
        let directory = try TemporaryDirectory()
        let (type, model) = (SQLiteStoreType(), try Models.music())
        let (records, links) = try Self.batches(model)
        let committed = try type.create(directory.location("a"), model: model, options: StoreOptions())
        for batch in try Self.batches(model, areNew: true).0 {
            var changes = ChangeSet(model: model)
            changes.inserts = batch
            _ = try committed.commit(changes)
        }
        var changes = ChangeSet(model: model)
        changes.addedLinks = [links]
        _ = try committed.commit(changes)

        let loaded = try type.create(
            directory.location("b"), model: model, options: StoreOptions().with { $0.isUnpublished = isUnpublished })
        let loader = try loaded.bulkLoader(BulkLoadOptions(lastKeys: ["Person": 5000]))
        for batch in records { try loader.append(batch) }
        try loader.append(links)
        let tally = try loader.finish()
        #expect(code { try loader.append(links) } == .closed)
        #expect(try committed.digest() == tally.digest)
        #expect(try loaded.digest() == tally.digest)
        let versions = records.flatMap { batch in
            (0..<batch.count).map { (batch.id(at: $0).entity, batch.version(at: $0)) }
        }
        #expect(try loaded.records("Track").map(\.version) == versions.filter { $0.0 == "Track" }.map(\.1))
        #expect(try loaded.reserveKeys(1, for: "Singer").lowerBound > 5000)
        #expect(try loaded.findings() == [])
        #expect(try committed.findings() == [])
        try loaded.close()
        try committed.close()
        let reopened = try type.open(directory.location("b"), options: StoreOptions())
        #expect(try reopened.digest() == tally.digest)
        #expect(try reopened.findings() == [])
        try reopened.close()
        #expect(try directory.names == ["a", "a.lock", "b", "b.lock"])
    }

    @Test("an abandoned SQLite load leaves nothing, and the store remains usable", arguments: [true, false])
    func abandonsLoad(isUnpublished: Bool) throws {
        let directory = try TemporaryDirectory()
        let model = try Models.music()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: model,
            options: StoreOptions().with {
                $0.userMetadata = ["a": .int(1)]
                $0.isUnpublished = isUnpublished
            })
        let identity = try store.metadata()
        for _ in 0..<2 {
            let loader = try store.bulkLoader(BulkLoadOptions())
            let (records, links) = try Self.batches(model)
            for batch in records { try loader.append(batch) }
            try loader.append(links)
            loader.abandon()
            #expect(try store.digest()?.objectCount == 0)
            #expect(try store.findings() == [])
            #expect(try store.metadata() == identity)
        }
        try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
        try store.close()
        let reopened = try SQLiteStoreType().open(directory.location("a"), options: StoreOptions(model: model))
        #expect(try reopened.records("Tag").count == 1)
        try reopened.close()
    }

    @Test("a cancelled load stops building its index", arguments: [true, false])
    func cancelsIndexing(isUnpublished: Bool) throws {
        let directory = try TemporaryDirectory()
        var note = EntityDescription("Note", attributes: [AttributeDescription("number", type: .integer64)])
        note.fetchIndexes = [FetchIndexDescription("byNumber", on: "number")]
        let model = try ManagedObjectModel(entities: [note])
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: model, options: StoreOptions().with { $0.isUnpublished = isUnpublished })
        /// Returns the number of cancellation checks of a load, and its error code.
        ///
        /// Check number `limit` cancels the load.
        func load(limit: Int) throws -> (count: Int, code: StoreError.Code?) {
            let count = Mutex(0)
            let loader = try store.bulkLoader(
                BulkLoadOptions(checkCancellation: { () throws(StoreError) in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    guard number < limit else { throw StoreError(.cancelled, "It was cancelled.") }
                }))
            var batch = RecordBatch(model: model)
            for key in Int64(1)...60_000 {
                try batch.append(ObjectID("Note", key: key), values: ["number": .int(key * 7919 % 60_000)])
                guard batch.isFull || key == 60_000 else { continue }
                try loader.append(batch)
                batch.removeAll()
            }
            let code = code { _ = try loader.finish() }
            if code != nil { loader.abandon() }
            return (count.withLock { $0 }, code)
        }
        // One check comes before the creation of the index, and at least two during it.
        #expect(try load(limit: 3) == (3, .cancelled))
        #expect(try store.digest()?.objectCount == 0)
        #expect(try store.findings() == [])
        let all = try load(limit: .max)
        #expect(all.count > 3 && all.code == nil)
        #expect(try store.digest()?.objectCount == 60_000)
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("an SQLite store is unusable after a load that cannot be undone")
    func becomesUnusable() throws {
        let directory = try TemporaryDirectory()
        let model = try Models.music()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: model, options: StoreOptions().with { $0.isUnpublished = true })
        let loader = try store.bulkLoader(BulkLoadOptions())
        for batch in try Self.batches(model).records { try loader.append(batch) }
        // The directory prevents a log with this name.
        try FileManager.default.createDirectory(
            atPath: directory.file("a-wal"), withIntermediateDirectories: false)
        loader.abandon()
        #expect(code { _ = try store.digest() } == .corrupted)
        #expect(code { _ = try store.bulkLoader(BulkLoadOptions()) } == .corrupted)
        #expect(code { try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) } } == .corrupted)
        try FileManager.default.removeItem(atPath: directory.file("a-wal"))
        try store.close()
    }

    @Test("an SQLite store can be destroyed even if abandoning a load failed to restore its state")
    func destroysEmptiedStore() throws {
        let directory = try TemporaryDirectory()
        let store = try #require(
            try SQLiteStoreType().create(
                directory.location("a"), model: try Models.music(),
                options: StoreOptions().with { $0.isUnpublished = true })
                as? SQLStore)
        let connection = try #require(try store.database.beginLoading { _ in true })
        let failure = code {
            try store.database.abandonLoading(connection) { (_) throws(StoreError) in
                throw StoreError(.noSpace, "The disk is full.")
            }
        }
        #expect(failure == .noSpace)
        try store.close()
        try SQLiteStoreType().destroy(directory.location("a"))
        #expect(try directory.names.isEmpty)
    }

    @Test("a key reserved before an abandoned load is not given out again")
    func keepsReservedKeys() throws {
        let directory = try TemporaryDirectory()
        let model = try Models.music()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: model, options: StoreOptions().with { $0.isUnpublished = true })
        // These keys are the whole first block that the store reserves.
        let key = try store.reserveKeys(64, for: "Tag").lowerBound
        let loader = try store.bulkLoader(BulkLoadOptions())
        for batch in try Self.batches(model).records { try loader.append(batch) }
        loader.abandon()
        #expect(try store.reserveKeys(1, for: "Tag").lowerBound >= key + 64)
        try store.change { try $0.insert(ObjectID("Tag", key: key), values: [:]) }
        #expect(try store.findings() == [])
        try store.close()
        let reopened = try SQLiteStoreType().open(directory.location("a"), options: StoreOptions(model: model))
        #expect(try reopened.reserveKeys(1, for: "Tag").lowerBound > key)
        try reopened.close()
    }

    @Test("a load into an SQLite store lists at most 1000 pairs with an equal unique value, and counts all")
    func countsEqualValues() throws {
        let directory = try TemporaryDirectory()
        let model = try Models.music()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: model, options: StoreOptions().with { $0.isUnpublished = true })
        var people = RecordBatch(model: model)
        for key in 1...1503 { try people.append(ObjectID("Singer", key: Int64(key)), values: ["name": "A"]) }
        let error = try #require(throws: StoreError.self) {
            let loader = try store.bulkLoader(BulkLoadOptions())
            try loader.append(people)
            _ = try loader.finish()
        }
        #expect(error.violations.count == 1000)
        #expect(error.message.contains("There are 1501 more such pairs"))
    }

    @Test("a load into an SQLite store names both objects with an equal unique value", arguments: [true, false])
    func namesEqualValues(isUnpublished: Bool) throws {
        let directory = try TemporaryDirectory()
        let model = try Models.music()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: model, options: StoreOptions().with { $0.isUnpublished = isUnpublished })
        var people = RecordBatch(model: model)
        try people.append(ObjectID("Singer", key: 1), values: ["name": "A"])
        try people.append(ObjectID("Drummer", key: 2), values: ["name": "B"])
        try people.append(ObjectID("Drummer", key: 3), values: ["name": "A"])
        var failure: StoreError?
        do {
            let loader = try store.bulkLoader(BulkLoadOptions())
            try loader.append(people)
            _ = try loader.finish()
        } catch { failure = error }
        #expect(failure?.code == .constraintViolation)
        #expect(
            failure?.violations == [
                ConstraintViolation(
                    entity: "Person", attributes: ["name"], rejected: ObjectID("Drummer", key: 3),
                    existing: ObjectID("Singer", key: 1))
            ])
        #expect(try store.digest()?.objectCount == 0)
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("a load into an SQLite store refuses a duplicate key and then throws closed", arguments: [true, false])
    func refusesDuplicateKey(isUnpublished: Bool) throws {
        let directory = try TemporaryDirectory()
        let model = try Models.music()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: model, options: StoreOptions().with { $0.isUnpublished = isUnpublished })
        var tags = RecordBatch(model: model)
        try tags.append(ObjectID("Tag", key: 1), values: [:])
        try tags.append(ObjectID("Tag", key: 1), values: [:])
        let loader = try store.bulkLoader(BulkLoadOptions())
        #expect(code { try loader.append(tags) } == .duplicateObject)
        #expect(code { _ = try loader.finish() } == .closed)
        loader.abandon()
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("a load into a published store is invisible to snapshots and blocks writers")
    func isolatesLoad() throws {
        let directory = try TemporaryDirectory()
        let model = try Models.music()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: model, options: StoreOptions(timeoutSeconds: 0.05))
        try store.change { try $0.insert(ObjectID("Tag", key: 1_000), values: [:]) }
        let loader = try store.bulkLoader(BulkLoadOptions())
        for batch in try Self.batches(model).records { try loader.append(batch) }
        #expect(try store.digest()?.objectCount == 1)
        #expect(code { try store.change { try $0.insert(ObjectID("Tag", key: 1_001), values: [:]) } } == .busy)
        let tally = try loader.finish()
        #expect(tally.digest.objectCount == 2941)
        #expect(try store.digest() == tally.digest)
        #expect(try store.findings() == [])
        try store.close()
    }
}
