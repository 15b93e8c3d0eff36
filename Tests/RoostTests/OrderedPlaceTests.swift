import Foundation
import Roost
import RoostCore
import Testing

/// Two writers at once never give two objects the same place in an ordered relationship.
@Suite("Places that batch requests give to objects in ordered relationships")
struct OrderedPlaceTests {
    private static let tracks = RelationshipName("Album", name: "tracks")
    private static let album = ObjectID("Album", key: 1)

    private static func model() throws(StoreError) -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Album", relationships: [.toMany("tracks", to: "Track", inverse: "album", isOrdered: true)]),
            EntityDescription(
                "Track", attributes: [.string("title")],
                relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
        ])
    }

    private static func create(_ location: StoreLocation) throws -> any PersistentStore {
        let store = try StoreRegistry.standard.create(location, model: model())
        var changes = ChangeSet(model: store.model)
        try changes.insert(album, values: [:])
        _ = try store.commit(changes)
        return store
    }

    private static func places(_ store: any PersistentStore) throws -> [Int64] {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let links = try snapshot.links(of: tracks, from: album)
        var (batch, places) = (LinkBatch(relationship: 0), [Int64]())
        while try links.next(into: &batch) { places += batch.links.map(\.order) }
        return places
    }

    private static let row: BatchInsertRequest.Row = ["album": .objectID(album), "title": "t"]

    @Test(
        "batch inserts on two threads give every object its own place", arguments: ["sqlite", "lmdb", "json", "memory"])
    func threads(type: String) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("roost-places-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let location = StoreLocation(type: type, path: directory.appendingPathComponent("store").path)
        let first = try Self.create(location)
        let failures = Mutex<[String]>([])
        let count = 25
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            do {
                // Only one writer at a time can open a JSON store, and all openings of a store in memory
                // share its content. So both threads use the first opening of these stores.
                let store = ["sqlite", "lmdb"].contains(type) ? try StoreRegistry.standard.open(location) : first
                for _ in 0..<count { _ = try store.execute(BatchInsertRequest("Track", rows: [Self.row, Self.row])) }
                if store !== first { try store.close() }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
        let places = try Self.places(first)
        #expect(places.count == 4 * count && Set(places).count == places.count, "\(places)")
        try first.close()
        if type == "memory" { try StoreRegistry.standard.type(named: type).destroy(location) }
    }

    @Test("a large batch insert and a commit during it share no place")
    func loads() throws {
        let store = try Self.create(StoreLocation(type: "memory", path: ""))
        var large = Self.row
        large["title"] = .string(String(repeating: "x", count: 40_000))
        var number = 0
        // With 20 MB, the insert becomes a bulk load. The rows read before the load already have
        // places, and the inner insert takes the same places.
        _ = try store.execute(
            BatchInsertRequest("Track") { (row) throws(StoreError) in
                number += 1
                if number == 257 { _ = try store.execute(BatchInsertRequest("Track", rows: [Self.row, Self.row])) }
                row = large
                return number > 520
            })
        let places = try Self.places(store)
        #expect(places.count == 522 && Set(places).count == 522)
    }

    @Test("a batch update conflicts if its prepared place is taken, and succeeds when it is run again")
    func updates() throws {
        let store = try Self.create(StoreLocation(type: "memory", path: ""))
        _ = try store.execute(BatchInsertRequest("Track", rows: [["title": "alone"]]))
        let request = BatchUpdateRequest(
            "Track", where: .equal("title", to: "alone"), set: ["album": .constant(.objectID(Self.album))])
        let snapshot = try store.snapshot()
        let prepared = try snapshot.prepare(request)
        snapshot.close()
        _ = try store.execute(BatchInsertRequest("Track", rows: [Self.row]))
        let error = try #require(throws: StoreError.self) { _ = try store.commit(prepared.changes) }
        #expect(error.code == .conflict && error.message.contains("'Album.tracks'"), "\(error)")
        _ = try store.execute(request)
        #expect(try Self.places(store) == [0, 1])
    }

    @Test("no object can be added after the highest place")
    func highest() throws {
        let store = try Self.create(StoreLocation(type: "memory", path: ""))
        var last = Self.row
        last["album#order"] = .int(.max)
        _ = try store.execute(BatchInsertRequest("Track", rows: [last]))
        let error = try #require(throws: StoreError.self) {
            _ = try store.execute(BatchInsertRequest("Track", rows: [Self.row]))
        }
        #expect(error.code == .limitExceeded && error.message.contains("'Album.tracks'"), "\(error)")
    }
}
