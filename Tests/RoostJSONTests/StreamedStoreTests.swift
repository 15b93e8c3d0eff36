import Foundation
import RoostCore
import RoostFiles
import RoostJSONText
import RoostText
import Testing

@testable import RoostJSON

@Suite("Read-once JSON stores")
struct StreamedStoreTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    /// Creates a store with records of two entities and none of a third, and with links, some from
    /// an object to itself.
    private func fill(_ model: ManagedObjectModel? = nil) throws {
        let store = try bench.type.create(
            bench.location(), model: try model ?? flatModel(),
            options: StoreOptions().with { $0.userMetadata = ["place": .string("shelf")] })
        try store.change { changes in
            for key in Int64(1)...2500 {
                try changes.insert(
                    ObjectID("Track", key: key),
                    values: ["title": .string("Track \(key)"), "length": .double(Double(key) / 3)])
            }
            for key in Int64(1)...9 { try changes.insert(ObjectID("Album", key: key), values: ["title": "Blue"]) }
            for key in Int64(2)...9 {
                try changes.add(Link(1, key), to: RelationshipName("Album", name: "similar"))
                try changes.add(Link(key, key), to: RelationshipName("Album", name: "similar"))
            }
        }
        _ = try store.reserveKeys(3, for: "Genre")
        try store.close()
    }

    private func openOnce() throws -> any PersistentStore {
        try bench.type.open(
            bench.location(), options: StoreOptions(isReadOnly: true, timeoutSeconds: 0).with { $0.isReadOnce = true })
    }

    private func records(in snapshot: any StoreSnapshot, of entity: EntityName) throws -> [Record] {
        let cursor = try snapshot.records(of: entity, after: nil)
        var (all, batch): ([Record], _) = ([], RecordBatch(model: snapshot.model))
        while try cursor.next(into: &batch) { all += (0..<batch.count).map { batch.record(at: $0) } }
        #expect(try !cursor.next(into: &batch) && batch.isEmpty)
        return all
    }

    private func links(in snapshot: any StoreSnapshot, of entity: EntityName, named name: String) throws -> [Link] {
        let relationship = try snapshot.model.requireRelationship(RelationshipName(entity, name: name))
        let cursor = try snapshot.links(of: relationship.name, after: nil)
        var (all, batch): ([Link], _) = ([], LinkBatch(relationship: relationship.number))
        while try cursor.next(into: &batch) { all += batch.links }
        return all
    }

    @Test("a read-once store gives the same contents as a store read into memory")
    func sameContents() throws {
        try fill()
        let (once, plain) = (try openOnce(), try bench.open(readOnly: true))
        #expect(once is StreamedJSONStore)
        #expect(try once.metadata() == plain.metadata())
        #expect(try once.byteCount() == plain.byteCount())
        let (left, right) = (try once.snapshot(), try plain.snapshot())
        #expect(try left.recordedTally() == right.recordedTally())
        #expect(try left.userMetadata() == right.userMetadata())
        for entity in ["Album", "Genre", "Track", "Album", "Track"] as [EntityName] {
            #expect(try records(in: left, of: entity) == records(in: right, of: entity))
            #expect(try left.lastKey(of: entity) == right.lastKey(of: entity))
        }
        #expect(try records(in: left, of: "Track").count == 2500)
        for name in ["similar", "genres", "similar"] {
            #expect(try links(in: left, of: "Album", named: name) == links(in: right, of: "Album", named: name))
        }
        #expect(try left.computeTally() == right.computeTally())
        try once.close()
        try plain.close()
    }

    @Test("two cursors of a read-once snapshot read side by side")
    func readsSideBySide() throws {
        try fill()
        let once = try openOnce()
        let snapshot = try once.snapshot()
        let (first, second) = (
            try snapshot.records(of: "Album", after: nil), try snapshot.records(of: "Track", after: nil)
        )
        var batch = RecordBatch(model: snapshot.model)
        #expect(try second.next(into: &batch) && batch.key(at: 0) == 1)
        #expect(try first.next(into: &batch) && batch.count == 9)
        #expect(try second.next(into: &batch) && batch.key(at: 0) == 1025)
        try once.close()
    }

    @Test("a read-once store answers fetches, refuses commits and throws closed after its close")
    func answersFetches() throws {
        try fill()
        let once = try openOnce()
        #expect(once is StreamedJSONStore)
        let snapshot = try once.snapshot()
        // The fetch reads the store into memory.
        #expect(try snapshot.count(FetchRequest("Track")) == 2500)
        #expect(throws: StoreError.self) { try snapshot.records(of: "Nothing", after: nil) }
        #expect(throws: StoreError.self) { try once.commit(ChangeSet(model: once.model)) }
        try once.close()
        let closed = #expect(throws: StoreError.self) { _ = try snapshot.records(of: "Album", after: nil) }
        #expect(closed?.code == .closed)
    }

    @Test("a read-once store with a journal or without checksum is read into memory")
    func fallsBackToMemory() throws {
        try fill()
        let writer = try bench.open()
        try writer.change { try $0.insert(ObjectID("Genre", key: 50), values: [:]) }
        let reader = try openOnce()
        #expect(!(reader is StreamedJSONStore))
        #expect(try records(in: reader.snapshot(), of: "Genre").count == 1)
        try reader.close()
        try writer.close()
        #expect(try openOnce() is StreamedJSONStore)
        try bench.edit("store", replacing: "Track 7\"", with: "Track 77\"")
        #expect(try !(openOnce() is StreamedJSONStore))
    }

    @Test("reading a whole read-once document detects any changed byte")
    func noticesDamage() throws {
        let store = try bench.type.create(bench.location(), model: try flatModel(), options: StoreOptions())
        try store.change { changes in
            for key in Int64(1)...5 { try changes.insert(ObjectID("Album", key: key), values: ["title": "Blue"]) }
            try changes.add(Link(1, 2), to: RelationshipName("Album", name: "similar"))
        }
        try store.close()
        let bytes = try bench.bytes()
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= 1
            try bench.write(damaged)
            #expect(throws: StoreError.self, "byte \(place)") {
                let store = try openOnce()
                defer { try? store.close() }
                _ = try store.snapshot().computeTally()
            }
        }
    }

    @Test("a snapshot of a read-once store does not show later commits")
    func snapshotKeepsState() throws {
        try fill()
        let once = try openOnce()
        let view = try once.snapshot()
        let writer = try bench.open()
        try writer.change { try $0.insert(ObjectID("Album", key: 50), values: ["title": "Red"]) }
        // Closing replaces the document.
        try writer.close()
        #expect(try view.recordedTally()?.digest.objectCount == 2509)
        #expect(try view.count(FetchRequest("Album")) == 9)
        #expect(try records(in: view, of: "Album").count == 9)
        #expect(try once.snapshot().count(FetchRequest("Album")) == 9)
        try once.close()
    }

    @Test("a read-once document overwritten while it is read throws busy")
    func noticesOverwriting() throws {
        try fill()
        let once = try openOnce()
        let view = try once.snapshot()
        #expect(try records(in: view, of: "Album").count == 9)
        // The same file gets other content with correct checksums.
        let other = try bench.type.create(bench.location("other"), model: try flatModel(), options: StoreOptions())
        try other.change { changes in
            for key in Int64(1)...3 { try changes.insert(ObjectID("Album", key: key), values: ["title": "Red"]) }
        }
        try other.close()
        let file = try #require(FileHandle(forWritingAtPath: bench.path()))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(try bench.bytes("other")))
        try file.close()
        for read in [
            { _ = try self.records(in: view, of: "Album") }, { _ = try view.count(FetchRequest("Album")) },
            { _ = try once.snapshot() },
        ] {
            let error = #expect(throws: StoreError.self) { try read() }
            #expect(error?.code == .busy)
        }
        try once.close()
    }

    /// Changes the text and updates its checksum.
    private func rewrite(_ old: String, as new: String) throws {
        try bench.edit("store", replacing: old, with: new)
        var text = try bench.text()
        text = String(text.dropLast(3)) + "\n, "
        var checksum = TextChecksum()
        checksum.add(Array(text.utf8))
        try bench.write((text + "\"checksum\": \"\(checksum.text)\"\n}\n").utf8)
    }

    @Test(
        "a read-once document whose entries are misordered or do not match its tally is refused as corrupted",
        arguments: [
            ("{\"id\": 5, ", "{\"id\": 3, "), ("\"Album\": [\n", "\"Track\": [\n"), ("\"Album\": [5", "\"Album\": [6"),
            ("\"title\": \"Blue\"", "\"title\": \"Red\""), ("[1, 2]", "[1, 3]"), ("[1, 2]", "[2, 1]"),
        ])
    func refusesWrongOrder(old: String, new: String) throws {
        let store = try bench.type.create(bench.location(), model: try flatModel(), options: StoreOptions())
        try store.change { changes in
            for key in Int64(1)...5 { try changes.insert(ObjectID("Album", key: key), values: ["title": "Blue"]) }
            try changes.add(Link(1, 2), to: RelationshipName("Album", name: "similar"))
        }
        try store.close()
        try rewrite("\"generation\": 1", as: "\"generation\": 2")
        #expect(try openOnce().snapshot().computeTally().digest.objectCount == 5)
        try rewrite(old, as: new)
        let error = #expect(throws: StoreError.self) { _ = try openOnce().snapshot().computeTally() }
        #expect(error?.code == .corrupted)
    }
}
