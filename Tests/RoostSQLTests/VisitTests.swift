import CSQLite
import Foundation
import RoostCore
import RoostFiles
import RoostPredicates
import RoostQuery
import Testing

@testable import RoostSQL
@testable import RoostSQLite

/// The cost of a fetch in instructions of SQLite's virtual machine: a few for each visited row.
@Suite("Costs of SQLite fetches")
struct VisitTests {
    /// The number of objects (default: 20 000).
    private static let count =
        ProcessInfo.processInfo.environment["ROOST_PLANNED_OBJECTS"].flatMap { Int($0) } ?? 20_000

    private static let cheap: [(String, FetchRequest)] = [
        ("equality", FetchRequest("Thing", where: .equal("number", to: .int(77)))),
        ("unique", FetchRequest("Thing", where: .equal("code", to: "c500"))),
        ("prefix", FetchRequest("Thing", where: .beginsWith("title", prefix: "t12"))),
        (
            "range",
            FetchRequest("Thing", where: .greaterOrEqual("number", to: .int(100)) && .less("number", than: .int(140)))
        ),
        ("half range", FetchRequest("Thing", where: .less("number", than: .int(30)))),
        ("list", FetchRequest("Thing", where: .isIn("title", values: ["t17", "t3", "nothing"]))),
        ("compound", FetchRequest("Thing", where: .equal("kind", to: .int(3)) && .less("number", than: .int(100)))),
        ("either", FetchRequest("Thing", where: .equal("number", to: .int(5)) || .equal("code", to: "c9"))),
        (
            "keys",
            FetchRequest(
                "Thing",
                where: .comparison(
                    .init(
                        left: .evaluatedObject, operator: .equal,
                        right: .constant(.objectID(ObjectID("Thing", key: 12))))))
        ),
        ("to-one", FetchRequest("Thing", where: .equal("group", to: .objectID(ObjectID("Group", key: 7))), limit: 3)),
        ("through to-one", FetchRequest("Thing", where: .equal("group.name", to: "g17"))),
        ("order", FetchRequest("Thing", sortedBy: [.init("number")], limit: 10, offset: 20)),
    ]

    @Test(
        "a fetch visits only the rows that it finds if an index fits, and otherwise the whole table")
    func visitsWhatItFinds() throws {
        let sample = try Sample(count: Self.count)
        for (name, request) in Self.cheap {
            let (found, steps) = try sample.steps(of: request)
            #expect(found > 0)
            #expect(steps <= 60 * (found + (request.fetchOffset ?? 0)) + 400, "\(name): \(steps) for \(found)")
        }
        // If a range covers most of the table, the table is read.
        let wide = try sample.steps(of: FetchRequest("Thing", where: .greater("number", than: .int(2))))
        #expect(wide.found == Self.count - 3 && wide.steps < 30 * Self.count)
        let (found, steps) = try sample.steps(of: FetchRequest("Thing", where: .equal("plain", to: .int(1))))
        #expect(found == 1)
        #expect(steps > 2 * Self.count)
    }

    /// A store of things with indexes, in groups of at most a hundred things.
    private final class Sample {
        private let directory: TemporaryDirectory
        private let store: any PersistentStore

        init(count: Int) throws {
            directory = try TemporaryDirectory()
            var thing = EntityDescription(
                "Thing",
                attributes: [
                    AttributeDescription("number", type: .integer64), AttributeDescription("title", type: .string),
                    AttributeDescription("kind", type: .integer16), AttributeDescription("code", type: .string),
                    AttributeDescription("plain", type: .integer64),
                ],
                relationships: [.toOne("group", to: "Group", inverse: "things")])
            thing.fetchIndexes = [
                FetchIndexDescription("byNumber", on: "number"), FetchIndexDescription("byTitle", on: "title"),
                FetchIndexDescription("byKind", on: "kind", "number"),
            ]
            thing.uniquenessConstraints = [["code"]]
            var group = EntityDescription(
                "Group", attributes: [AttributeDescription("name", type: .string)],
                relationships: [.toMany("things", to: "Thing", inverse: "group")])
            group.fetchIndexes = [FetchIndexDescription("byName", on: "name")]
            let model = try ManagedObjectModel(entities: [thing, group])
            store = try SQLiteStoreType().create(
                directory.location("a"), model: model, options: StoreOptions())
            let groupCount = max(100, count / 100)
            for start in stride(from: 1, through: count, by: 10_000) {
                try store.change { changes in
                    for key in start...min(count, start + 9_999) {
                        try changes.insert(
                            ObjectID("Thing", key: Int64(key)),
                            values: [
                                "number": .int(Int64(key * 7919 % count)), "title": .string("t\(key * 31 % count)"),
                                "kind": .int(Int64(key % 10)), "code": .string("c\(key)"), "plain": .int(Int64(key)),
                                "group": .objectID(ObjectID("Group", key: Int64(key % groupCount + 1))),
                            ])
                    }
                    guard start == 1 else { return }
                    for key in 1...groupCount {
                        try changes.insert(ObjectID("Group", key: Int64(key)), values: ["name": .string("g\(key)")])
                    }
                }
            }
        }

        func steps(of request: FetchRequest) throws -> (found: Int, steps: Int) {
            try VisitTests.steps(of: request, in: store)
        }
    }

    /// Returns the numbers of found objects and of SQLite's steps.
    private static func steps(of request: FetchRequest, in store: any PersistentStore) throws -> (
        found: Int, steps: Int
    ) {
        let snapshot = try #require(try store.snapshot() as? SQLSnapshot)
        defer { snapshot.close() }
        let checked = try CheckedFetchRequest(request, model: snapshot.model)
        let sql = try snapshot.readingStatement(for: checked).recordsSQL
        let connection = try snapshot.open()
        // Counts the steps of the statement that the fetch takes from the connection's cache.
        func count(reset: Bool) throws -> Int {
            try connection.withStatement(sql) { (statement) throws(StoreError) in
                guard let handle = (statement as? SQLiteStatement)?.handle else { return -1 }
                return Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, reset ? 1 : 0))
            }
        }
        _ = try count(reset: true)
        let cursor = try snapshot.fetch(request)
        var (batch, found) = (RecordBatch(model: snapshot.model), 0)
        while try cursor.next(into: &batch) { found += batch.count }
        return (found, try count(reset: false))
    }

    /// Creates layers of nodes with many paths: each node is connected to the whole next layer.
    private static func layers(width: Int, depth: Int, in directory: TemporaryDirectory) throws -> any PersistentStore {
        var node = EntityDescription(
            "Node",
            attributes: [
                AttributeDescription("number", type: .integer64), AttributeDescription("plain", type: .integer64),
            ],
            relationships: [
                .toMany("next", to: "Node", inverse: "previous"), .toMany("previous", to: "Node", inverse: "next"),
                .toMany("near", to: "Node", inverse: "near"),
            ])
        node.fetchIndexes = [FetchIndexDescription("byNumber", on: "number")]
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try ManagedObjectModel(entities: [node]), options: StoreOptions())
        try store.change { changes in
            for layer in 0...depth {
                for index in 0..<width {
                    let key = Int64(layer * width + index + 1)
                    try changes.insert(ObjectID("Node", key: key), values: ["number": .int(key), "plain": .int(key)])
                    guard layer < depth else { continue }
                    for next in 1...width {
                        let link = Link(key, Int64((layer + 1) * width + next))
                        try changes.add(link, to: RelationshipName("Node", name: "next"))
                        try changes.add(link, to: RelationshipName("Node", name: "near"))
                    }
                }
            }
        }
        return store
    }

    @Test(
        "a fetch through converging paths follows each link once per step",
        arguments: [
            ("ANY next.next.next.next.next.plain > 1000", 0), ("ALL next.next.next.next.next.plain > 0", 72),
            ("NONE next.next.next.next.next.plain == 0", 72), ("ANY next.next.next.next.next.number == 72", 12),
            ("ANY next.next.next.next.next.number == 0", 0), ("next.next.next.next.next CONTAINS 72", 12),
            ("SUBQUERY(next.next.next.next.next, $n, $n.plain > 1000).@count > 0", 0),
            ("ANY next.next.next.next.next.plain < number", 0), ("next.next.next.next.next.@max.plain == 72", 12),
            ("SUBQUERY(next.next, $n, ANY $n.next.next.next.plain > 1000).@count > 0", 0),
            ("ANY near.near.near.near.near.plain > 1000", 0), ("ANY near.near.near.near.near.number == 72", 36),
            ("ANY near.near.near.near.near.number > 1000", 0),
        ], [false, true])
    func followsLinksOnce(_ predicate: (text: String, count: Int), hasLimit: Bool) throws {
        let (width, depth) = (12, 5)
        let directory = try TemporaryDirectory()
        let store = try Self.layers(width: width, depth: depth, in: directory)
        var request = FetchRequest(
            "Node", where: try FetchRequest.Predicate(predicate.text, for: "Node", model: store.model))
        if hasLimit { request.fetchLimit = 1000 }
        let (found, steps) = try Self.steps(of: request, in: store)
        #expect(found == predicate.count)
        // For each node, each step reads each link once. 3 million paths begin in the first layer.
        let linkCount = width * width * depth * (predicate.text.contains("near") ? 2 : 1)
        #expect(steps < 20 * (depth + 1) * width * depth * linkCount, "\(steps)")
    }

    @Test("a snapshot throws closed after SQLite has ended its transaction")
    func throwsAfterLostTransaction() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.layers(width: 2, depth: 2, in: directory)
        let snapshot = try #require(try store.snapshot() as? SQLSnapshot)
        defer { snapshot.close() }
        let count = try snapshot.count(FetchRequest("Node"))
        let id = try #require(try snapshot.objectIDs(FetchRequest("Node")).first)
        var batch = RecordBatch(model: store.model)
        #expect(try snapshot.record(with: id, into: &batch))
        // SQLite rolls back like this when a read meets a full disk or an I/O error.
        try snapshot.open().execute("ROLLBACK")
        #expect(code { _ = try snapshot.count(FetchRequest("Node")) } == .closed)
        #expect(code { _ = try snapshot.record(with: id, into: &batch) } == .closed)
        #expect(code { _ = try snapshot.recordedTally() } == .closed)
        #expect(try store.snapshot().count(FetchRequest("Node")) == count)
    }

    @Test("an SQLite statement that has no row yet ends when its task is cancelled")
    func endsWithTask() async throws {
        let directory = try TemporaryDirectory()
        let store = try Self.layers(width: 12, depth: 5, in: directory)
        func count(_ times: Int) -> String {
            "SELECT COUNT(*) FROM " + (0..<times).map { "Node AS n\($0)" }.joined(separator: ", ")
        }
        let (long, short) = (count(5), count(2))
        let code = try await Task { () throws -> StoreError.Code? in
            let snapshot = try #require(try store.snapshot() as? SQLSnapshot)
            defer { snapshot.close() }
            withUnsafeCurrentTask { $0?.cancel() }
            let connection = try snapshot.open()
            do throws(StoreError) {
                // Two billion rows.
                _ = try connection.endingWithTask { () throws(StoreError) in try connection.integer(long) }
                return nil
            } catch {
                // A statement outside `endingWithTask` still runs.
                #expect(try connection.integer(short) == 72 * 72)
                return error.code
            }
        }.value
        #expect(code == .cancelled)
    }
}
