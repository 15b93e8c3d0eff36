import Foundation
import RoostCore
import RoostFiles
import Testing

@testable import RoostJSON
@testable import RoostKeyValue

/// Returns a model with uniqueness constraints and a hierarchy of entities.
///
/// In a document, some subentities come before the root entity, and others come after it.
private func hierarchyModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Animal", superentity: "Thing", attributes: [AttributeDescription("legs", type: .integer16)],
            uniquenessConstraints: [["legs", "name"]]),
        EntityDescription("Gene", attributes: [AttributeDescription("code", type: .string)]),
        EntityDescription("Person", superentity: "Thing").with { $0.isAbstract = true },
        EntityDescription(
            "Thing",
            attributes: [AttributeDescription("name", type: .string), AttributeDescription("code", type: .string)],
            relationships: [
                .toMany("genes", to: "Gene"), .toOne("owner", to: "Thing", inverse: "owned"),
                .toMany("owned", to: "Thing", inverse: "owner", isOrdered: true),
            ],
            uniquenessConstraints: [["code"]]),
        EntityDescription("Tree", superentity: "Thing"),
        EntityDescription("Worker", superentity: "Person", attributes: [AttributeDescription("wage", type: .decimal)]),
        EntityDescription(
            "Zebra", superentity: "Animal", attributes: [AttributeDescription("stripes", type: .integer64)]),
    ])
}

/// A reader that counts the records that are read through it.
private final class CountingReader: KeyValueReader {
    private let base: any KeyValueReader
    fileprivate(set) var recordCount = 0

    init(_ base: any KeyValueReader) { self.base = base }

    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        if space == .records { recordCount += 1 }
        try base.withValue(of: key, in: space, body)
    }

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor {
        let cursor = try base.cursor(in: space)
        return space == .records ? CountingCursor(cursor, reader: self) : cursor
    }

    func close() { base.close() }
}

private final class CountingCursor: KeyValueCursor {
    private let base: any KeyValueCursor
    private let reader: CountingReader

    init(_ base: any KeyValueCursor, reader: CountingReader) { (self.base, self.reader) = (base, reader) }

    var key: UnsafeRawBufferPointer { base.key }
    var value: UnsafeRawBufferPointer { base.value }
    func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool { try base.seek(to: key) }
    func seek(before key: UnsafeRawBufferPointer?) throws(StoreError) -> Bool { try base.seek(before: key) }
    func next() throws(StoreError) -> Bool { try base.next() }

    func visit(
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        try base.visit { (key, value) throws(StoreError) in
            reader.recordCount += 1
            return try body(key, value)
        }
    }
}

@Suite("JSON documents of hierarchies")
struct HierarchyDocumentTests {
    private let bench: Bench
    private let model: ManagedObjectModel
    private let kinds: [EntityName] = ["Thing", "Animal", "Tree", "Worker", "Zebra"]

    init() throws {
        bench = try Bench()
        model = try hierarchyModel()
    }

    private var options: StoreOptions {
        StoreOptions().with {
            $0.storeUUID = StoreUUID(derivedFrom: [1])
            $0.isUnpublished = true
        }
    }

    private func things(_ keys: some Sequence<Int64>, code: (Int64) -> Value = { .string("c\($0)") }) throws
        -> RecordBatch
    {
        var batch = RecordBatch(model: model)
        for key in keys {
            let entity = kinds[Int(key * 7 % 5)]
            var values: [String: Value] = ["name": .string("n\(key % 3) \"é\""), "code": code(key)]
            if entity == "Animal" || entity == "Zebra" { values["legs"] = .int(key) }
            if key > 1 { values["owner"] = .objectID(ObjectID(kinds[Int((key - 1) * 7 % 5)], key: key - 1)) }
            try batch.append(ObjectID(entity, key: key), version: UInt32(key % 4 + 1), values: values)
        }
        return batch
    }

    private func genes(_ keys: some Sequence<Int64>) throws -> RecordBatch {
        var batch = RecordBatch(model: model)
        for key in keys {
            try batch.append(ObjectID("Gene", key: key), version: 1, values: ["code": .string("g\(key)")])
        }
        return batch
    }

    private func links(_ links: [Link]) throws -> LinkBatch {
        var batch = LinkBatch(
            relationship: try model.requireRelationship(RelationshipName("Thing", name: "genes")).number)
        batch.links = links
        return batch
    }

    private func load(
        _ name: String, isPlain: Bool = false, _ fill: (any BulkLoader) throws -> Void
    ) throws -> (any PersistentStore) {
        if isPlain {
            let storage = try JSONStorage(
                creatingAt: bench.path(name), settings: try JSONSettings(options),
                storeUUID: StoreUUID(derivedFrom: [1]))
            let store = try KeyValueStore(
                creating: storage, type: bench.type, location: bench.location(name), model: model, options: options)
            let loader = try store.bulkLoader(BulkLoadOptions())
            try fill(loader)
            _ = try loader.finish()
            return store
        }
        let store = try bench.type.create(bench.location(name), model: model, options: options)
        do {
            let loader = try store.bulkLoader(BulkLoadOptions())
            #expect(loader is DocumentLoader)
            try fill(loader)
            _ = try loader.finish()
        } catch {
            try? store.close()
            throw error
        }
        return store
    }

    private func fill(_ loader: any BulkLoader) throws {
        try loader.append(try genes(1...40))
        try loader.append(try things(1...700))
        try loader.append(try things(701...2000))
        try loader.append(try links([Link(1, 2), Link(3, 1), Link(3, 40), Link(1999, 7)]))
    }

    private func records(in snapshot: any StoreSnapshot, of entity: EntityName) throws -> [Record] {
        let cursor = try snapshot.records(of: entity, after: nil)
        var (all, batch): ([Record], _) = ([], RecordBatch(model: snapshot.model))
        while try cursor.next(into: &batch) { all += (0..<batch.count).map { batch.record(at: $0) } }
        #expect(try !cursor.next(into: &batch) && batch.isEmpty)
        return all
    }

    @Test("a direct load of hierarchies writes the same document as the engine, and the store can read it")
    func equalDocuments() throws {
        let written = try load("written", fill)
        let snapshot = try written.snapshot()
        #expect(snapshot is DocumentSnapshot)
        #expect(try snapshot.computeTally() == snapshot.recordedTally())
        snapshot.close()
        try written.close()
        try load("plain", isPlain: true, fill).close()
        #expect(try bench.text("written") == bench.text("plain"))
        #expect(try bench.names.filter { !$0.hasSuffix(".lock") } == ["plain", "written"])
    }

    @Test("writing a document reads each record of a hierarchy at most twice")
    func readsRecordsTwice() throws {
        let store = try load("store", isPlain: true, fill)
        let storage = try #require((store as? KeyValueStore)?.storage as? JSONStorage)
        let reader = CountingReader(try storage.read())
        let draft = try DocumentDraft.write(
            from: reader, for: bench.path("copy"), settings: try JSONSettings(options), folding: nil)
        draft.discard()
        reader.close()
        #expect(draft.tally.digest.objectCount == 2040)
        // Reading the whole hierarchy for each of five entities would take 10 040 reads.
        #expect(reader.recordCount <= 2 * 2040)
        try store.close()
    }

    @Test("a direct load of only records, of a few records and a link, or of nothing writes the engine's document")
    func loadsPartsAlone() throws {
        let cases: [(any BulkLoader) throws -> Void] = [
            { loader in try loader.append(try things(1...50)) },
            { loader in
                try loader.append(try genes(1...3))
                try loader.append(try links([Link(5, 1)]))
            },
            { _ in },
        ]
        for (number, part) in cases.enumerated() {
            try load("w\(number)", part).close()
            try load("p\(number)", isPlain: true, part).close()
            #expect(try bench.text("w\(number)") == bench.text("p\(number)"))
        }
    }

    @Test("a read-once store of hierarchies gives the same records as a store read into memory")
    func readsOnce() throws {
        try load("store", fill).close()
        let once = try bench.type.open(
            bench.location(), options: StoreOptions(isReadOnly: true).with { $0.isReadOnce = true })
        #expect(once is StreamedJSONStore)
        let plain = try bench.open(readOnly: true)
        let (left, right) = (try once.snapshot(), try plain.snapshot())
        for entity in ["Gene", "Thing", "Gene", "Thing", "Animal", "Worker"] as [EntityName] {
            #expect(try records(in: left, of: entity) == records(in: right, of: entity))
        }
        #expect(try records(in: left, of: "Thing").map(\.id.key) == Array(1...2000))
        // Two scans alternate.
        let (first, second) = (try left.records(of: "Thing", after: nil), try left.records(of: "Thing", after: nil))
        var batch = RecordBatch(model: left.model)
        #expect(try first.next(into: &batch) && batch.key(at: 0) == 1)
        #expect(try second.next(into: &batch) && batch.key(at: 0) == 1)
        #expect(try left.computeTally() == right.computeTally())
        try once.close()
        try plain.close()
    }

    @Test("each hierarchy is complete every time a read-once snapshot reads it")
    func readsAgain() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Aaa", attributes: [AttributeDescription("name", type: .string)]),
            EntityDescription("Abb", superentity: "Aaa"), EntityDescription("Acc", superentity: "Aaa"),
            EntityDescription("Baa", attributes: [AttributeDescription("name", type: .string)]),
            EntityDescription("Bbb", superentity: "Baa"), EntityDescription("Caa"),
            EntityDescription("Cbb", superentity: "Caa"),
        ])
        let store = try bench.type.create(bench.location(), model: model, options: options)
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: model)
        for (key, entity) in ["Aaa", "Abb", "Acc", "Abb"].enumerated() {
            try batch.append(
                ObjectID(EntityName(entity), key: Int64(key + 1)), version: 1, values: ["name": .string("a\(key)")])
        }
        for (key, entity) in ["Bbb", "Baa", "Bbb"].enumerated() {
            try batch.append(
                ObjectID(EntityName(entity), key: Int64(key + 1)), version: 1, values: ["name": .string("b\(key)")])
        }
        try loader.append(batch)
        _ = try loader.finish()
        try store.close()
        let once = try bench.type.open(
            bench.location(), options: StoreOptions(isReadOnly: true).with { $0.isReadOnce = true })
        let plain = try bench.open(readOnly: true)
        let (left, right) = (try once.snapshot(), try plain.snapshot())
        #expect(left is DocumentSnapshot)
        // The last hierarchy is empty.
        let roots: [EntityName] = ["Aaa", "Baa", "Caa"]
        for first in roots {
            for second in roots {
                for root in [first, second, second, first] {
                    let found = try records(in: left, of: root)
                    #expect(try found == records(in: right, of: root), "\(root) after \(first), \(second)")
                }
            }
        }
        #expect(try left.computeTally() == right.computeTally())
        try once.close()
        try plain.close()
    }

    @Test("any changed byte in a document of hierarchies is noticed when all is read")
    func noticesDamage() throws {
        try load("store") { loader in
            try loader.append(try things(1...4))
            try loader.append(try links([Link(1, 2)]))
        }.close()
        let bytes = try bench.bytes()
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= 1
            try bench.write(damaged)
            #expect(throws: StoreError.self, "byte \(place)") {
                let store = try bench.type.open(
                    bench.location(),
                    options: StoreOptions(isReadOnly: true, timeoutSeconds: 0).with { $0.isReadOnce = true })
                defer { try? store.close() }
                _ = try store.snapshot().computeTally()
            }
        }
    }

    @Test("a direct load refuses a duplicate unique value with the engine's message", arguments: [2, 1500])
    func refusesDuplicateValue(second: Int64) throws {
        func fill(_ loader: any BulkLoader) throws {
            try loader.append(try things(1...2000) { $0 == second ? "c1" : .string("c\($0)") })
        }
        var messages: [String] = []
        for isPlain in [true, false] {
            do {
                try load("s\(isPlain)", isPlain: isPlain, fill).close()
                Issue.record("two objects with the code c1 were loaded")
            } catch let error as StoreError {
                #expect(error.code == .constraintViolation)
                messages.append(error.message)
            }
        }
        #expect(messages.count == 2 && messages[0] == messages[1])
    }

    @Test("a direct load accepts any number of nulls in a unique attribute")
    func acceptsNulls() throws {
        let store = try load("store") { loader in
            try loader.append(try things(1...300) { _ in .null })
        }
        try store.close()
        #expect(try bench.open(readOnly: true).snapshot().recordedTally()?.digest.objectCount == 300)
    }

    @Test("a direct load of hierarchies refuses duplicate keys, and accepts batches in any order")
    func leavesOtherOrdersToEngine() throws {
        let error = #expect(throws: StoreError.self) {
            try load("twice") { loader in
                try loader.append(try things(1...5))
                var batch = RecordBatch(model: model)
                try batch.append(ObjectID("Tree", key: 5), version: 1, values: [:])
                try batch.append(ObjectID("Worker", key: 5), version: 1, values: [:])
                try loader.append(batch)
            }
        }
        #expect(error?.code == .duplicateObject)
        func backwards(_ loader: any BulkLoader) throws {
            try loader.append(try things(11...20))
            try loader.append(try things(1...10))
            try loader.append(try genes(1...2))
            try loader.append(try links([Link(1, 2)]))
        }
        try load("written", backwards).close()
        try load("plain", isPlain: true, backwards).close()
        #expect(try bench.text("written") == bench.text("plain"))
    }

    @Test("a read-once store reports a document as corrupted if a key occurs twice in a hierarchy")
    func refusesRepeatedKey() throws {
        let store = try bench.type.create(bench.location("other"), model: model, options: options)
        let metadata = try store.metadata()
        try store.close()
        // Written like a document, but without the check for duplicate keys.
        let document = try UnfinishedDocument(for: bench.path(), settings: try JSONSettings(options))
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Animal", key: 1), version: 1, values: [:])
        try batch.append(ObjectID("Tree", key: 1), version: 1, values: [:])
        var tally = StoreTally(model: model)
        tally.add(batch)
        tally.generation = Generation(number: 1)
        var text = try DocumentText(
            document.output, metadata: metadata, generation: Generation(number: 1), foldedJournal: nil)
        try batch.forEachRecord { (record) throws(StoreError) in try text.append(record) }
        _ = try text.finish(DocumentTail(tally, lastKeys: [:]))
        _ = try document.output.finish()
        try FileManager.default.moveItem(atPath: document.path, toPath: bench.path())
        let error = #expect(throws: StoreError.self) {
            let store = try bench.type.open(
                bench.location(),
                options: StoreOptions(isReadOnly: true, timeoutSeconds: 0).with { $0.isReadOnce = true })
            defer { try? store.close() }
            #expect(store is StreamedJSONStore)
            _ = try store.snapshot().computeTally()
        }
        #expect(error?.code == .corrupted && error?.message.contains("have the key 1") == true)
    }
}
