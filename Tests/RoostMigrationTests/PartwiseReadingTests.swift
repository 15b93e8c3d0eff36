import Roost
import RoostCore
import Testing

@testable import RoostMigration

@Suite("Reading a finished destination in parts")
struct PartwiseReadingTests {
    /// Creates a store with gaps between its keys, so that parts end between, on and after keys.
    private func store(_ type: String, in directory: TemporaryDirectory) throws -> any PersistentStore {
        let store = try Sample.store(type, at: directory.file("a"), people: 40)
        var changes = ChangeSet(model: store.model)
        changes.deletes = [10, 25, 26, 80].map { .init(ObjectID("Book", key: $0), version: 1) }
        _ = try store.commit(changes)
        return store
    }

    /// Returns the tally of a store of the same model with 100,000 times the content.
    private func exaggerated(_ tally: StoreTally) -> StoreTally {
        var tally = tally
        for number in tally.entities.indices { tally.entities[number].count *= 100_000 }
        for number in tally.relationships.indices { tally.relationships[number].count *= 100_000 }
        return tally
    }

    @Test(
        "partwise verification reads each record and link once, with one thread and with three",
        arguments: Sample.writingTypes)
    func findsAll(type: String) throws {
        let directory = try TemporaryDirectory()
        let store = try store(type, in: directory)
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var expected = try snapshot.computeTally()
        expected.generation = .initial
        let parts = try ContentPart.parts(of: exaggerated(expected), snapshot: snapshot, checkingStructure: true)
        #expect(parts.count > 40)
        let destinationWriter = DestinationWriter(
            destination: .store(store), sourceName: "a", options: ConversionOptions(), registry: .standard)
        for threads in [1, 3] {
            let reading = PartwiseReading(
                destinationWriter, store: store, parts: parts, expecting: CopiedContent(tally: expected),
                memory: PrivateMemory())
            let others = try (1..<threads).map { _ in
                try WorkerThread("reader") { () throws(StoreError) in
                    let own = try store.snapshot()
                    defer { own.close() }
                    reading.run(own)
                }
            }
            reading.run(snapshot)
            for other in others { try other.join().get() }
            #expect(try reading.result().tally == expected)
        }
    }

    @Test("small content is one part for each hierarchy and each relationship with links")
    func keepsSmallContentWhole() throws {
        let directory = try TemporaryDirectory()
        let store = try Sample.store("memory", at: directory.file("a"))
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let tally = try snapshot.computeTally()
        let model = store.model
        let parts = try ContentPart.parts(of: tally, snapshot: snapshot, checkingStructure: false)
        #expect(parts.count == model.roots.count + model.linkRelationships.count)
    }

    @Test("a finished JSON document is verified in whole lists, whatever its size")
    func readsDocumentsWhole() throws {
        let directory = try TemporaryDirectory()
        let source = try Sample.store("memory", at: directory.file("a"))
        let location = StoreLocation(type: "json", path: directory.file("b"))
        let store = try StoreRegistry.standard.type(named: "json")
            .create(location, model: source.model, options: StoreOptions().with { $0.isUnpublished = true })
        defer { try? store.close() }
        let snapshot = try source.snapshot()
        let loader = try store.bulkLoader(BulkLoadOptions())
        for root in source.model.roots {
            let cursor = try snapshot.records(of: source.model.entities[root].name, after: nil)
            var batch = RecordBatch(model: source.model)
            while try cursor.next(into: &batch) { try loader.append(batch) }
        }
        let tally = try loader.finish()
        let written = try store.snapshot()
        defer { written.close() }
        #expect(written is any SequentialSnapshot)
        // Smaller parts would read the document into memory, once for each thread.
        let parts = try ContentPart.parts(of: exaggerated(tally), snapshot: written, checkingStructure: true)
        #expect(parts.count == 1 + store.model.roots.count + store.model.linkRelationships.count)
    }

    @Test("partwise verification throws the first error of a read")
    func endsWithFirstError() throws {
        let directory = try TemporaryDirectory()
        let base = try Sample.store("memory", at: directory.file("a"))
        let store = FaultyStore(base, faults: Faults(failsAtRead: 2))
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let tally = try snapshot.computeTallyOf(base)
        let parts = try ContentPart.parts(of: exaggerated(tally), snapshot: snapshot, checkingStructure: true)
        let destinationWriter = DestinationWriter(
            destination: .store(store), sourceName: "a", options: ConversionOptions(), registry: .standard)
        let reading = PartwiseReading(
            destinationWriter, store: store, parts: parts, expecting: CopiedContent(tally: tally),
            memory: PrivateMemory())
        reading.run(snapshot)
        let error = #expect(throws: StoreError.self) { try reading.result() }
        #expect(error?.code == .ioFailure)
    }
}

extension StoreSnapshot {
    fileprivate func computeTallyOf(_ base: any PersistentStore) throws(StoreError) -> StoreTally {
        let snapshot = try base.snapshot()
        defer { snapshot.close() }
        return try snapshot.computeTally()
    }
}
