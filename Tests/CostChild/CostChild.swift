import CallCounter
import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration

/// The child process of CostTests; it counts the costs of a store's operations.
///
/// Most modes write a line for each operation:
/// `<name>\t<allocations>\t<bytes>\t<flushes>\t<steps>\t<count>`. The first four numbers are
/// divided by the last one, the number of objects, reads or commits. The child writes no lines if
/// calls cannot be counted.
///
/// - `CostChild <type> <directory>`: the operations of the store contract, `PersistentStore`.
/// - `CostChild door <type> <directory>`: the operations of a `Store`, each beside the same
///   operation of the contract.
/// - `CostChild graph <type> <directory>`: the operations of a context.
/// - `CostChild graph-memory <type> <directory>`: the memory of objects, a line for each kind:
///   `<name>\t<bytes>`.
/// - `CostChild graph-times <type> <directory>`: change sets, undo and redo of 100 000 changed
///   objects: `<name>\t<median>\t<minimum>`, in nanoseconds for each object.
/// - `CostChild graph-window <type> <number> <directory>`: the memory of a
///   `FetchedResultsController` over that many rows, with and without a window: `<name>\t<bytes>`.
/// - `CostChild convert <from> <to> <directory>`: a conversion.
/// - `CostChild links <type> <number> <directory>`: a load of links in the order of the end that
///   owns them, and again in the order of the other end.
///
/// `Scripts/costs` runs the first three under callgrind, which counts instructions between
/// `callcounter_begin()` and `callcounter_end()`.
@main
struct CostChild {
    static func main() {
        guard callcounter_works() != 0 else { return }
        let arguments = CommandLine.arguments
        do {
            switch arguments.count {
            case 3: try store(arguments[1], in: URL(fileURLWithPath: arguments[2]))
            case 4 where arguments[1] == "door":
                try DoorCosts(arguments[2], in: URL(fileURLWithPath: arguments[3])).run()
            case 4 where arguments[1] == "graph":
                try GraphCosts(arguments[2], in: URL(fileURLWithPath: arguments[3])).run()
            case 4 where arguments[1] == "graph-memory":
                try GraphCosts(arguments[2], in: URL(fileURLWithPath: arguments[3])).memory()
            case 4 where arguments[1] == "graph-times":
                try GraphCosts(arguments[2], in: URL(fileURLWithPath: arguments[3])).times()
            case 5 where arguments[1] == "graph-window":
                try GraphCosts(arguments[2], in: URL(fileURLWithPath: arguments[4])).window(of: Int(arguments[3]) ?? 0)
            case 5 where arguments[1] == "convert":
                try conversion(from: arguments[2], to: arguments[3], in: URL(fileURLWithPath: arguments[4]))
            case 5 where arguments[1] == "links":
                try links(arguments[2], count: Int(arguments[3]) ?? 0, in: URL(fileURLWithPath: arguments[4]))
            default:
                throw StoreError(
                    .invalidRequest,
                    "usage: CostChild <type> <directory> | door <type> <directory> | graph <type> <directory> | graph-memory <type> <directory> | graph-times <type> <directory> | graph-window <type> <number> <directory> | convert <from> <to> <directory> | links <type> <number> <directory>"
                )
            }
        } catch {
            FileHandle.standardError.write(Data("CostChild: \(error)\n".utf8))
            exit(3)
        }
    }

    static func measure(_ name: String, per count: Int, _ body: () throws -> Void) throws {
        let before = callcounter_read()
        callcounter_begin()
        try body()
        callcounter_end()
        let after = callcounter_read()
        let numbers = [
            after.allocations - before.allocations, after.written_bytes - before.written_bytes,
            after.flushes - before.flushes, after.sqlite_steps - before.sqlite_steps,
        ]
        let line =
            ([name] + numbers.map { "\(Double($0) / Double(count))" } + ["\(count)"]).joined(separator: "\t") + "\n"
        try FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    }

    /// Returns the options of a new store.
    ///
    /// The map of LMDB is small, because callgrind has little address space.
    static func options(_ typeName: String) -> StoreOptions {
        StoreOptions().with { if typeName == "lmdb" { $0.typeOptions = ["mapSize": "\(1 << 30)"] } }
    }

    private static func track(_ key: Int64) -> [String: Value] {
        [
            "title": .string("A title of \(key % 97)"), "year": .int(1950 + key % 70),
            "seconds": .double(Double(key) / 7),
        ]
    }

    private static func store(_ typeName: String, in directory: URL) throws {
        let type = try StoreRegistry.standard.type(named: typeName)
        let location = StoreLocation(type: typeName, path: directory.appendingPathComponent("store").path)
        let graph = try SampleGraph(seed: 1, objectCount: 5_000)
        let store = try type.create(location, model: graph.model, options: Self.options(typeName))
        // The batches are created first, so that only the work of the store is counted.
        var (records, links) = ([RecordBatch](), [LinkBatch]())
        try graph.forEachRecordBatch { records.append($0) }
        try graph.forEachLinkBatch { links.append($0) }
        try measure("load, per object", per: graph.objectCount) {
            let loader = try store.bulkLoader(BulkLoadOptions())
            for batch in records { try loader.append(batch) }
            for batch in links { try loader.append(batch) }
            _ = try loader.finish()
        }
        let tracks = try store.snapshot().count(FetchRequest("Track"))
        try reading(store, trackCount: tracks)
        try committing(store, firstKey: Int64(tracks) + 1)
        try measure("close", per: 1) { try store.close() }
    }

    private static func reading(_ store: any PersistentStore, trackCount: Int) throws {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        func drain(_ cursor: any RecordCursor) throws -> Int {
            var (batch, count) = (RecordBatch(model: store.model), 0)
            while try cursor.next(into: &batch) { count += batch.count }
            return count
        }
        // The first round is not counted, because it creates statements and pages.
        for isCounted in [false, true] {
            func run(_ name: String, per count: Int, _ body: () throws -> Void) throws {
                if isCounted { try measure(name, per: count, body) } else { try body() }
            }
            try run("scan, per object", per: trackCount) { _ = try drain(snapshot.records(of: "Track", after: nil)) }
            try run("point read", per: 500) {
                for key in Int64(1)...500 { _ = try drain(snapshot.records(with: [ObjectID("Track", key: key * 3)])) }
            }
            try run("filter scan, per object visited", per: trackCount) {
                _ = try snapshot.count(FetchRequest("Track", where: .greater("seconds", than: 200)))
            }
            try run("sort with limit 100, per object visited", per: trackCount) {
                _ = try drain(snapshot.fetch(FetchRequest("Track", sortedBy: [.init("title")], limit: 100)))
            }
            try run("look-up by index", per: 50) {
                for year in Int64(1960)..<2010 {
                    _ = try drain(snapshot.fetch(FetchRequest("Track", where: .equal("year", to: .int(year)))))
                }
            }
            try run("count", per: 1) { _ = try snapshot.count(FetchRequest("Track")) }
            try run("links from one object", per: 100) {
                for key in Int64(1)...100 {
                    let cursor = try snapshot.links(
                        of: RelationshipName("Playlist", name: "tracks"), from: ObjectID("Playlist", key: key))
                    var batch = LinkBatch(relationship: 0)
                    while try cursor.next(into: &batch) {}
                }
            }
        }
    }

    private static func committing(_ store: any PersistentStore, firstKey: Int64) throws {
        var key = firstKey
        func commit(inserting count: Int) throws {
            var changes = ChangeSet(model: store.model)
            for _ in 0..<count {
                try changes.insert(ObjectID("Track", key: key), values: track(key))
                key += 1
            }
            _ = try store.commit(changes)
        }
        try commit(inserting: 1)
        try measure("commit of 1 object", per: 100) { for _ in 0..<100 { try commit(inserting: 1) } }
        try measure("commit of 1000 objects, per object", per: 2_000) {
            for _ in 0..<2 { try commit(inserting: 1_000) }
        }
        let inserted = firstKey..<key
        try measure("update, per object", per: inserted.count) {
            var changes = ChangeSet(model: store.model)
            for key in inserted { try changes.update(ObjectID("Track", key: key), version: 1, values: track(key + 1)) }
            _ = try store.commit(changes)
        }
        try measure("delete, per object", per: inserted.count) {
            var changes = ChangeSet(model: store.model)
            for key in inserted { changes.delete(ObjectID("Track", key: key), version: 2) }
            _ = try store.commit(changes)
        }
    }

    /// Loads links between albums and tags, in both orders.
    ///
    /// Each album has ten scattered tags, and each tag has a hundred albums.
    private static func links(_ typeName: String, count: Int, in directory: URL) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Album", relationships: [.toMany("tags", to: "Tag", inverse: "albums")]),
            EntityDescription("Tag", relationships: [.toMany("albums", to: "Album", inverse: "tags")]),
        ])
        guard let relationship = model.linkRelationships.first else { return }
        // Keys of several bytes, so that few links fill a large table.
        let first = Int64(1) << 40
        let byTag = (0..<Int64(count)).map { Link(first + $0 * 618_033 % Int64(count) / 10, first + $0 / 100) }
        let byAlbum = byTag.sorted { ($0.source, $0.target) < ($1.source, $1.target) }
        for isFlipped in [false, true] {
            let type = try StoreRegistry.standard.type(named: typeName)
            let location = StoreLocation(
                type: typeName, path: directory.appendingPathComponent("links\(isFlipped)").path)
            let store = try type.create(
                location, model: model, options: StoreOptions().with { $0.isUnpublished = true })
            let name = "links in the order of \(isFlipped ? "the other end" : "the end that owns them"), per link"
            try measure(name, per: count) {
                let loader = try store.bulkLoader(BulkLoadOptions())
                var batch = LinkBatch(relationship: relationship.number)
                for link in isFlipped ? byTag : byAlbum {
                    batch.links.append(link)
                    guard batch.isFull else { continue }
                    try loader.append(batch)
                    batch.removeAll()
                }
                try loader.append(batch)
                _ = try loader.finish()
            }
            try store.close()
        }
    }

    private static func conversion(from source: String, to destination: String, in directory: URL) throws {
        let graph = try SampleGraph(seed: 1, objectCount: 5_000)
        func location(_ type: String, name: String) -> StoreLocation {
            StoreLocation(type: type, path: directory.appendingPathComponent(name).path)
        }
        let type = try StoreRegistry.standard.type(named: source)
        let store = try type.create(location(source, name: "source"), model: graph.model, options: StoreOptions())
        _ = try graph.load(into: store)
        try store.close()
        try measure("\(source) to \(destination), per object", per: graph.objectCount) {
            _ = try MigrationManager().convert(
                from: .location(location(source, name: "source")),
                to: .location(location(destination, name: "destination")))
        }
    }
}
