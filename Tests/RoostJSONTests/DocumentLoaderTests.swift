import Foundation
import RoostCore
import RoostFiles
import Testing

@testable import RoostJSON
@testable import RoostKeyValue

/// Returns a model without subentities and constraints, with every kind of link.
func flatModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Album", attributes: [AttributeDescription("title", type: .string)],
            relationships: [
                .toMany("tracks", to: "Track", inverse: "album"), .toMany("similar", to: "Album", inverse: "similar"),
                .toMany("genres", to: "Genre", inverse: "albums", isOrdered: true),
            ]),
        EntityDescription(
            "Genre", attributes: [AttributeDescription("name", type: .string)],
            relationships: [.toMany("albums", to: "Album", inverse: "genres", isOrdered: true)]),
        EntityDescription(
            "Track",
            attributes: [AttributeDescription("title", type: .string), AttributeDescription("length", type: .double)],
            relationships: [.toOne("album", to: "Album", inverse: "tracks"), .toMany("likes", to: "Genre")]),
    ])
}

/// Random numbers that follow from a seed (SplitMix64).
private struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

@Suite("Direct loads of JSON documents")
struct DocumentLoaderTests {
    private let bench: Bench
    private let model: ManagedObjectModel

    init() throws {
        bench = try Bench()
        model = try flatModel()
    }

    private var options: StoreOptions {
        StoreOptions().with {
            $0.storeUUID = StoreUUID(derivedFrom: [1])
            $0.userMetadata = ["place": .string("shelf")]
            $0.isUnpublished = true
        }
    }

    private enum Part {
        case records(RecordBatch)
        case links(LinkBatch)
    }

    /// Loads parts into a new store.
    ///
    /// If `isPlain` is true, the key-value engine loads. If not, the load is direct, by a
    /// `DocumentLoader`.
    private func load(
        _ parts: [Part], into name: String, isPlain: Bool, lastKeys: [EntityName: Int64] = [:]
    ) throws -> StoreTally {
        let store = try bench.type.create(bench.location(name), model: model, options: options)
        defer { try? store.close() }
        let target = try isPlain ? engine(of: store, named: name) : store
        defer { if isPlain { try? target.close() } }
        let loader = try target.bulkLoader(BulkLoadOptions(lastKeys: lastKeys))
        #expect((loader is DocumentLoader) == !isPlain)
        for part in parts {
            switch part {
            case .records(let batch): try loader.append(batch)
            case .links(let batch): try loader.append(batch)
            }
        }
        return try loader.finish()
    }

    /// Replaces the empty store with a store that loads through the key-value engine.
    private func engine(of store: any PersistentStore, named name: String) throws -> any PersistentStore {
        try store.close()
        try FileManager.default.removeItem(atPath: bench.path(name))
        let storage = try JSONStorage(
            creatingAt: bench.path(name), settings: try JSONSettings(options),
            storeUUID: try #require(options.storeUUID))
        return try KeyValueStore(
            creating: storage, type: bench.type, location: bench.location(name), model: model, options: options)
    }

    private func records(of entity: EntityName, keys: some Sequence<Int64>) throws -> Part {
        var batch = RecordBatch(model: model)
        for key in keys {
            var values: [String: Value] = [entity == "Genre" ? "name" : "title": .string("\(entity) \(key) \"é\"")]
            if entity == "Track" {
                values["length"] = .double(Double(key) / 7)
                values["album"] = .objectID(ObjectID("Album", key: key % 5 + 1))
            }
            try batch.append(ObjectID(entity, key: key), version: UInt32(key % 3 + 1), values: values)
        }
        return .records(batch)
    }

    private func links(of entity: EntityName, named name: String, links: [Link]) throws -> Part {
        var batch = LinkBatch(relationship: try model.requireRelationship(RelationshipName(entity, name: name)).number)
        batch.links = links
        return .links(batch)
    }

    /// Returns batches of records and links in the order of a document.
    private func inOrder() throws -> [Part] {
        [
            try records(of: "Album", keys: 1...4), try records(of: "Album", keys: 5...9),
            try records(of: "Genre", keys: [2, 4, 900]),
            try records(of: "Track", keys: 1...40), try records(of: "Track", keys: 50...60),
            try links(
                of: "Album", named: "genres",
                links: [Link(1, 4, order: -3, inverseOrder: 7), Link(1, 2, order: 0), Link(2, 2)]),
            try links(
                of: "Album", named: "genres", links: [Link(9, 2, order: 1), Link(9, 4, order: 1, inverseOrder: 2)]),
            try links(of: "Album", named: "similar", links: [Link(1, 2), Link(7, 3), Link(4, 4)]),
            try links(of: "Track", named: "likes", links: [Link(1, 2), Link(1, 4), Link(3, 900)]),
        ]
    }

    private func requireEqualDocuments(
        _ parts: [Part], lastKeys: [EntityName: Int64] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let written = try load(parts, into: "written", isPlain: false, lastKeys: lastKeys)
        let plain = try load(parts, into: "plain", isPlain: true, lastKeys: lastKeys)
        #expect(written == plain, sourceLocation: sourceLocation)
        #expect(try bench.text("written") == bench.text("plain"), sourceLocation: sourceLocation)
        let names = try bench.names.filter { !$0.hasSuffix(".lock") }
        #expect(names == ["plain", "written"], sourceLocation: sourceLocation)
        for name in names { try FileManager.default.removeItem(atPath: bench.path(name)) }
    }

    @Test("a direct load in document order writes the same document as the engine")
    func equalDocuments() throws {
        try requireEqualDocuments(try inOrder())
        try requireEqualDocuments(try inOrder(), lastKeys: ["Track": 7000, "Genre": 3])
        try requireEqualDocuments([])
        try requireEqualDocuments([], lastKeys: ["Track": 7])
        try requireEqualDocuments([try links(of: "Track", named: "likes", links: [Link(1, 2)])])
        try requireEqualDocuments([try records(of: "Track", keys: [9])])
    }

    @Test("a direct load in any other order writes the same document as the engine", arguments: 0..<30)
    func equalDocumentsInAnyOrder(seed: UInt64) throws {
        var random = Random(seed: seed)
        var parts = try inOrder()
        switch seed % 3 {
        case 0: parts.shuffle(using: &random)
        case 1: parts.swapAt(Int.random(in: 0..<parts.count, using: &random), parts.count - 1)
        default:
            let extra = try [
                records(of: "Track", keys: [45, 41, 44]),
                links(of: "Track", named: "likes", links: [Link(40, 2), Link(39, 2)]),
            ]
            for part in extra { parts.insert(part, at: Int.random(in: 0...parts.count, using: &random)) }
        }
        try requireEqualDocuments(parts)
    }

    @Test("a direct load refuses what the engine refuses, with the same code")
    func refusesWhatEngineRefuses() throws {
        let wrong: [[Part]] = [
            try inOrder() + [try records(of: "Album", keys: [3])],
            try inOrder() + [try links(of: "Album", named: "genres", links: [Link(1, 4, order: 50)])],
            [try links(of: "Album", named: "genres", links: [Link(1, 4, order: 1), Link(1, 4, order: 2)])],
            [
                try links(of: "Album", named: "genres", links: [Link(1, 4, order: 1)]),
                try links(of: "Album", named: "genres", links: [Link(1, 4, order: 2)]),
            ],
            try inOrder() + [try links(of: "Track", named: "likes", links: [Link(3, 900)])],
            [try links(of: "Album", named: "similar", links: [Link(1, 2), Link(2, 1)])],
            [try links(of: "Track", named: "likes", links: [Link(0, 1)])],
            try inOrder() + [try links(of: "Track", named: "likes", links: [Link(5, -1)])],
            [try links(of: "Track", named: "album", links: [Link(1, 1)])],
        ]
        for (index, parts) in wrong.enumerated() {
            var codes: [StoreError.Code?] = []
            for isPlain in [false, true] {
                let error = #expect(throws: StoreError.self, "case \(index)") {
                    try load(parts, into: "\(index)\(isPlain)", isPlain: isPlain)
                }
                codes.append(error?.code)
            }
            #expect(codes[0] == codes[1], "case \(index)")
            #expect(try bench.names.filter { $0.contains("roost-tmp") }.isEmpty)
        }
    }

    @Test("an abandoned direct load leaves an empty store that accepts commits", arguments: [false, true])
    func abandonsLoad(isPassedOn: Bool) throws {
        let store = try bench.type.create(bench.location(), model: model, options: options)
        let before = try bench.bytes()
        let loader = try store.bulkLoader(BulkLoadOptions())
        var parts = try inOrder()
        if isPassedOn { parts.swapAt(0, 1) }
        for case .records(let batch) in parts { try loader.append(batch) }
        loader.abandon()
        #expect(try bench.bytes() == before)
        #expect(try store.snapshot().recordedTally()?.digest.objectCount == 0)
        #expect(throws: StoreError.self) { try loader.finish() }
        try store.change { try $0.insert(ObjectID("Album", key: 1), values: [:]) }
        try store.close()
        let again = try bench.open()
        #expect(try again.snapshot().recordedTally()?.digest.objectCount == 1)
        try again.close()
    }

    @Test("a directly loaded store can be read, changed and loaded into again")
    func continuesAfterLoad() throws {
        let store = try bench.type.create(bench.location(), model: model, options: options)
        let loader = try store.bulkLoader(BulkLoadOptions(lastKeys: ["Track": 70]))
        for part in try inOrder() {
            switch part {
            case .records(let batch): try loader.append(batch)
            case .links(let batch): try loader.append(batch)
            }
        }
        let tally = try loader.finish()
        #expect(tally.generation.number == 1)
        #expect(try store.snapshot().recordedTally() == tally)
        #expect(try store.metadata().userMetadata == ["place": .string("shelf")])
        #expect(try store.reserveKeys(1, for: "Track").lowerBound == 71)
        try store.change { try $0.insert(ObjectID("Genre", key: 5), values: ["name": "new"]) }
        let second = try store.bulkLoader(BulkLoadOptions())
        if case .records(let batch) = try records(of: "Genre", keys: [901]) { try second.append(batch) }
        #expect(try second.finish().digest.objectCount == tally.digest.objectCount + 2)
        try store.close()
        let again = try bench.open(readOnly: true)
        #expect(try again.snapshot().recordedTally()?.digest.objectCount == tally.digest.objectCount + 2)
        try again.close()
    }

    @Test("a snapshot of a directly loaded store does not show later commits")
    func snapshotKeepsState() throws {
        let store = try bench.type.create(bench.location(), model: model, options: options)
        let loader = try store.bulkLoader(BulkLoadOptions())
        if case .records(let batch) = try records(of: "Genre", keys: 1...5) { try loader.append(batch) }
        _ = try loader.finish()
        let view = try store.snapshot()
        try store.change { try $0.insert(ObjectID("Genre", key: 6), values: ["name": "new"]) }
        #expect(try view.recordedTally()?.digest.objectCount == 5)
        #expect(try view.count(FetchRequest("Genre")) == 5)
        #expect(try store.snapshot().count(FetchRequest("Genre")) == 6)
        try store.close()
    }

    @Test("a writer that waits for a direct load continues with the loaded content", arguments: [false, true])
    func writerWaitsForLoad(isLoad: Bool) throws {
        for _ in 0..<5 {
            let store = try bench.type.create(bench.location(), model: model, options: options)
            let loader = try store.bulkLoader(BulkLoadOptions())
            if case .records(let batch) = try records(of: "Album", keys: 1...900) { try loader.append(batch) }
            let (started, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let outcome = Outcome()
            let model = model
            Thread.detachNewThread {
                started.signal()
                do {
                    if isLoad {
                        let second = try store.bulkLoader(BulkLoadOptions())
                        var batch = RecordBatch(model: model)
                        try batch.append(ObjectID("Genre", key: 6), version: 1, values: [:])
                        try second.append(batch)
                        _ = try second.finish()
                    } else {
                        try store.change { try $0.insert(ObjectID("Genre", key: 6), values: [:]) }
                    }
                } catch {
                    outcome.note(error)
                }
                ended.signal()
            }
            started.wait()
            _ = try loader.finish()
            ended.wait()
            #expect(outcome.error == nil)
            #expect(try store.snapshot().recordedTally()?.digest.objectCount == 901)
            try store.close()
            let again = try bench.open(readOnly: true)
            #expect(try again.snapshot().recordedTally()?.digest.objectCount == 901)
            try again.close()
            try bench.type.destroy(bench.location())
        }
    }

    private final class Outcome: Sendable {
        private let state = RoostCore.Mutex<String?>(nil)
        func note(_ error: any Error) { state.withLock { $0 = "\(error)" } }
        var error: String? { state.withLock { $0 } }
    }

    @Test("damage to the document of a directly loaded store is noticed when the document is read")
    func noticesDamage() throws {
        let store = try bench.type.create(bench.location(), model: model, options: options)
        let loader = try store.bulkLoader(BulkLoadOptions())
        for case .records(let batch) in try inOrder() { try loader.append(batch) }
        _ = try loader.finish()
        let text = try bench.text().replacingOccurrences(of: "Track 7 ", with: "Track 8 ")
        try bench.write(text.utf8)
        let snapshot = try store.snapshot()
        let read = #expect(throws: StoreError.self) { _ = try snapshot.computeTally() }
        #expect(read?.message.contains("checksum") ?? false)
        snapshot.close()
        // A call that needs the whole document in memory is refused as well.
        let error = #expect(throws: StoreError.self) { _ = try store.metadata() }
        #expect(error?.code == .verificationFailed)
        #expect(error?.message.contains("checksum") ?? false)
        try store.close()
    }
}
