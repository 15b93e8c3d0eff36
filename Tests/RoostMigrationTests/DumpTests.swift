import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostFiles
import RoostMigration
import RoostSystem
import Testing

struct DumpText {
    var bytes: [UInt8] = []

    var lines: [String] { String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init) }

    init(_ text: String) { bytes = Array(text.utf8) }

    init(lines: [String]) { self.init(lines.map { $0 + "\n" }.joined()) }

    init(_ store: any PersistentStore, entities: [EntityName]? = nil) throws {
        let parts = Mutex<[UInt8]>([])
        try MigrationManager(registry: .standard).dump(store, entities: entities) { (bytes) throws(StoreError) in
            parts.withLock { $0 += bytes }
        }
        bytes = parts.withLock { $0 }
    }

    /// Loads the text in pieces of at most `chunk` bytes.
    func load(
        into destination: ConversionEndpoint, chunk: Int = 10_000, allowsDangling: Bool = false,
        options: ConversionOptions = ConversionOptions(), registry: StoreRegistry = .standard
    ) throws(StoreError) -> ConversionReport {
        let rest = Mutex(bytes[...])
        return try MigrationManager(registry: registry).load(
            into: destination, from: "text", allowsDangling: allowsDangling, options: options
        ) { (buffer) throws(StoreError) in
            rest.withLock { rest in
                let next = rest.prefix(min(chunk, buffer.count))
                rest = rest.dropFirst(next.count)
                buffer.copyBytes(from: next)
                return next.count
            }
        }
    }
}

@Suite("Dump and load")
struct DumpTests {
    @Test(
        "a dump and its load give the same store as a conversion", arguments: Sample.writingTypes, Sample.writingTypes)
    func equalsConversion(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let uuid = StoreUUID()
        let original = try Sample.store(source, at: directory.file("a"), uuid: uuid)
        let dump = try DumpText(original)
        let location = StoreLocation(type: destination, path: directory.file("b"))
        let report = try dump.load(into: .location(location))
        let loaded = try StoreRegistry.standard.open(location)
        let converted = StoreLocation(type: destination, path: directory.file("c"))
        _ = try MigrationManager(registry: .standard).convert(from: .store(original), to: .location(converted))
        let copy = try StoreRegistry.standard.open(converted)
        #expect(try StoreComparison.diff(loaded, copy) == [])
        #expect(try StoreComparison.diff(loaded, original) == [])
        #expect(try checkStore(loaded) == [])
        #expect(report.verified && report.dangling == [] && report.warnings == [])
        #expect(report.digest == (try original.snapshot().recordedTally()?.digest.description))
        #expect(try loaded.metadata().storeUUID == uuid)
        #expect(try loaded.metadata().userMetadata == original.metadata().userMetadata)
        #expect(try loaded.metadata().model == original.model)
        // Keys of deleted objects must not be reused.
        #expect(try loaded.snapshot().lastKey(of: "Shelf") == 77)
        // Unlike the digest, the texts have the versions.
        #expect(try DumpText(loaded).bytes == dump.bytes)
        #expect(try directory.names().filter { $0.contains("roost-tmp") } == [])
        for store in [original, loaded, copy] { try store.close() }
    }

    @Test("a dump keeps every value of the conformance suite's sample graph", arguments: Sample.writingTypes)
    func everyValue(type: String) throws {
        let directory = try TemporaryDirectory()
        let graph = try SampleGraph(seed: 7, objectCount: 3000)
        let original = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: directory.file("a")), model: graph.model)
        let loader = try original.bulkLoader(BulkLoadOptions())
        try graph.forEachRecordBatch { try loader.append($0) }
        try graph.forEachLinkBatch { try loader.append($0) }
        _ = try loader.finish()
        let dump = try DumpText(original)
        let copy = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: directory.file("b")), model: graph.model)
        let report = try dump.load(into: .store(copy), chunk: 777)
        #expect(report.digest == (try graph.digest.description))
        #expect(try StoreComparison.diff(original, copy) == [])
        #expect(try checkStore(copy) == [])
        // The first lines differ in the store's UUID, and the last lines in the checksum.
        #expect(try DumpText(copy).lines.dropFirst().dropLast() == dump.lines.dropFirst().dropLast())
        try original.close()
        try copy.close()
    }

    @Test("a dump of metadata with a name of 2 MiB can be loaded")
    func longMetadataName() throws {
        let directory = try TemporaryDirectory()
        let metadata = [String(repeating: "k", count: 2 << 20): MetadataValue.int(1)]
        let original = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: directory.file("a")), model: try Sample.model(),
            options: StoreOptions().with { $0.userMetadata = metadata })
        let location = StoreLocation(type: "json", path: directory.file("b"))
        _ = try DumpText(original).load(into: .location(location))
        let copy = try StoreRegistry.standard.open(location)
        #expect(try copy.metadata().userMetadata == metadata)
        try original.close()
        try copy.close()
    }

    @Test("a dump of an empty store has two lines and loads with its model", arguments: Sample.writingTypes)
    func emptyStore(type: String) throws {
        let directory = try TemporaryDirectory()
        let original = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: directory.file("a")), model: try Sample.model())
        let dump = try DumpText(original)
        #expect(dump.lines.count == 2)
        let location = StoreLocation(type: type, path: directory.file("b"))
        #expect(try dump.load(into: .location(location)).objects == 0)
        let copy = try StoreRegistry.standard.open(location)
        #expect(try copy.metadata().model == original.model)
        try copy.close()
        try original.close()
    }

    @Test("a dump contains one snapshot, despite later commits")
    func oneSnapshot() throws {
        let directory = try TemporaryDirectory()
        let store = try Sample.store("memory", at: directory.file("a"))
        let before = try DumpText(store)
        let parts = Mutex<(bytes: [UInt8], isChanged: Bool)>(([], false))
        try MigrationManager(registry: .standard).dump(store) { (bytes) throws(StoreError) in
            let isFirst = parts.withLock { parts in
                parts.bytes += bytes
                defer { parts.isChanged = true }
                return !parts.isChanged
            }
            guard isFirst else { return }
            var changes = ChangeSet(model: store.model)
            changes.delete(ObjectID("Shelf", key: 1), version: 1)
            _ = try store.commit(changes)
        }
        #expect(parts.withLock { $0.bytes } == before.bytes)
        #expect(try DumpText(store).bytes != before.bytes)
        try store.close()
    }

    @Test("a dump throws the error of its output")
    func failingSink() throws {
        let directory = try TemporaryDirectory()
        let store = try Sample.store("memory", at: directory.file("a"))
        let error = #expect(throws: StoreError.self) {
            try MigrationManager(registry: .standard).dump(store) { (_) throws(StoreError) in
                throw StoreError(.noSpace, "injected")
            }
        }
        #expect(error?.code == .noSpace)
        try store.close()
    }

    @Test("a dump that is cancelled throws cancelled")
    func cancelled() throws {
        let directory = try TemporaryDirectory()
        let store = try Sample.store("memory", at: directory.file("a"))
        let cancellation = ConversionCancellation()
        cancellation.cancel()
        let error = #expect(throws: StoreError.self) {
            try MigrationManager(registry: .standard).dump(store, cancellation: cancellation) { _ in }
        }
        #expect(error?.code == .cancelled)
        try store.close()
    }

    // MARK: Dumps of some entities

    @Test("a dump of some entities has their objects and every link that has one of these objects at an end")
    func someEntities() throws {
        let directory = try TemporaryDirectory()
        let store = try Sample.store("memory", at: directory.file("a"))
        let shelves = try DumpText(store, entities: ["Shelf"])
        #expect(shelves.lines.count { $0.hasPrefix("{\"entity\": \"Shelf\"") } == 5)
        #expect(shelves.lines.count { $0.hasPrefix("{\"entity\"") } == 5)
        #expect(shelves.lines.contains { $0.hasPrefix("{\"links\": \"Book.shelves\"") })
        #expect(!shelves.lines.contains { $0.hasPrefix("{\"links\": \"Person.friends\"") })
        let editors = try DumpText(store, entities: ["Editor"])
        #expect(editors.lines.count { $0.hasPrefix("{\"entity\": \"Editor\"") } == 500)
        #expect(editors.lines.count { $0.hasPrefix("{\"entity\"") } == 500)
        // Every friendship of the sample is between neighbors, so two of three have an editor at an end.
        let pairs = editors.lines.filter { $0.hasPrefix("{\"links\": \"Person.friends\"") }
            .reduce(0) { $0 + $1.split(separator: "], [").count }
        #expect(pairs == 999 || pairs == 1000)
        #expect(try DumpText(store, entities: ["Person", "Book", "Shelf"]).bytes == DumpText(store).bytes)
        let error = #expect(throws: StoreError.self) { try DumpText(store, entities: ["Shelv"]) }
        #expect(error?.code == .unknownEntity && error?.message.contains("'Shelf'") == true)
        try store.close()
    }

    @Test(
        "references from a partial dump to omitted objects are refused, or cleared and reported",
        arguments: Sample.writingTypes)
    func danglingReferences(type: String) throws {
        let directory = try TemporaryDirectory()
        let store = try Sample.store("memory", at: directory.file("a"))
        let dump = try DumpText(store, entities: ["Book", "Editor"])
        let location = StoreLocation(type: type, path: directory.file("b"))
        let error = #expect(throws: StoreError.self) { try dump.load(into: .location(location)) }
        #expect(error?.code == .objectNotFound)
        #expect(error?.message.contains("by 'Book.author'") == true)
        #expect(error?.message.contains("by 'Book.shelves'") == true)
        #expect(error?.message.contains("by 'Person.friends'") == true)
        #expect(try directory.names() == [])

        let report = try dump.load(into: .location(location), allowsDangling: true)
        #expect(report.verified && report.objects == 3000 + 500)
        let loaded = try StoreRegistry.standard.open(location)
        #expect(try checkStore(loaded) == [])
        // Books by editors kept their author and their place; other books have neither.
        let (before, after) = (try authors(of: store), try authors(of: loaded))
        #expect(before.count == after.count)
        var cleared = 0
        for (key, author) in before {
            let isEditor = author.entity == "Editor"
            #expect(after[key]?.entity == (isEditor ? "Editor" : nil), "\(key)")
            #expect(after[key]?.hasPlace == (isEditor && author.hasPlace), "\(key)")
            if author.entity != nil, !isEditor { cleared += 1 }
        }
        #expect(report.dangling.first { $0.relationship == "Book.author" }?.count == cleared)
        #expect(cleared > 0)
        #expect(report.relationships.isEmpty || report.relationships.map(\.relationship) == ["Person.friends"])
        try loaded.close()
        try store.close()
    }

    private func authors(
        of store: any PersistentStore
    ) throws -> [Int64: (entity: EntityName?, hasPlace: Bool)] {
        var result: [Int64: (entity: EntityName?, hasPlace: Bool)] = [:]
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let cursor = try snapshot.records(of: "Book", after: nil)
        var batch = RecordBatch(model: store.model)
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count {
                let values = batch.values(at: index)
                var entity: EntityName?
                if case .objectID(let id)? = values["author"] { entity = id.entity }
                result[batch.key(at: index)] = (entity, values["author#order"] != nil)
            }
        }
        return result
    }

    @Test("loading a partial dump reports no dangling references if the dump refers to no omitted entity")
    func completeParts() throws {
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [AttributeDescription("x", type: .integer64)]),
            EntityDescription("B", relationships: [.toMany("c", to: "C", inverse: "b")]),
            EntityDescription("C", relationships: [.toOne("b", to: "B", inverse: "c")]),
        ])
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: directory.file("a")), model: model)
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("A", key: 1), values: ["x": 5])
        try loader.append(batch)
        batch.removeAll()
        try batch.append(ObjectID("B", key: 1), values: [:])
        try loader.append(batch)
        batch.removeAll()
        try batch.append(ObjectID("C", key: 1), values: ["b": .objectID(ObjectID("B", key: 1))])
        // A dangling reference of the store itself.
        try batch.append(ObjectID("C", key: 2), values: ["b": .objectID(ObjectID("B", key: 9))])
        try loader.append(batch)
        _ = try loader.finish()
        let location = StoreLocation(type: "memory", path: directory.file("b"))
        #expect(try DumpText(store, entities: ["B", "C"]).load(into: .location(location)).dangling == [])
        let whole = StoreLocation(type: "memory", path: directory.file("c"))
        #expect(try DumpText(store).load(into: .location(whole)).dangling == [])
        let copy = try StoreRegistry.standard.open(whole)
        #expect(try StoreComparison.diff(store, copy) == [])
        for store in [store, copy] { try store.close() }
    }
}
