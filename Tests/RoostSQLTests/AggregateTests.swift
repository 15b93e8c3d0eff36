import Foundation
import RoostCore
import RoostFiles
import RoostPredicates
import RoostQuery
import RoostSQL
import RoostSQLite
import Testing

@Suite("Aggregates in an SQLite store")
struct AggregateTests {
    private static let columns: [FetchRequest.FetchedProperty] = [
        .init("count", expression: .function(.count, [.evaluatedObject])),
        .init("sum16", expression: .function(.sum, [.keyPath(["i16"])])),
        .init("mean16", expression: .function(.average, [.keyPath(["i16"])])),
        .init("sum32", expression: .function(.sum, [.keyPath(["i32"])])),
        .init("least32", expression: .function(.minimum, [.keyPath(["i32"])])),
        .init("sum64", expression: .function(.sum, [.keyPath(["i64"])])),
        .init("mean64", expression: .function(.average, [.keyPath(["i64"])])),
        .init("least", expression: .function(.minimum, [.keyPath(["i64"])])),
        .init("greatest", expression: .function(.maximum, [.keyPath(["i64"])])),
        .init("loved", expression: .function(.sum, [.keyPath(["loved"])])),
        .init("anyLoved", expression: .function(.maximum, [.keyPath(["loved"])])),
        .init("rest", expression: .function(.subtract, [.keyPath(["@max", "i64"]), .keyPath(["@count"])])),
    ]

    private static let predicates: [FetchRequest.Predicate?] = [
        nil, .constant(false), .greater("i64", than: 1), .less("i64", than: 3), .less("i64", than: -5),
        .equal("loved", to: true),
        .isNotNull("i16"),
        .comparison(.init(left: .keyPath(["title"]), operator: .contains, right: .constant("a")))
            && .less("i32", than: 1),
    ]

    /// Returns the rows of a request, from records read one by one.
    private static func reference(_ request: RowRequest, in store: any PersistentStore) throws -> [[Value]] {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try rows(request, in: ShowingSnapshot(snapshot))
    }

    private static func rows(_ request: RowRequest, in snapshot: any StoreSnapshot) throws -> [[Value]] {
        let cursor = try snapshot.rows(request)
        var (rows, batch) = ([[Value]](), RowBatch())
        while try cursor.next(into: &batch) {
            for row in 0..<batch.count { rows.append(cursor.columns.indices.map { batch[row, $0] }) }
        }
        return rows
    }

    @Test(
        "aggregates that SQLite computes equal those computed from the records", arguments: 0..<8 as Range<UInt64>
    )
    func equalsRecords(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        var random = SeededRandom(seed)
        let store = try FetchTests.filled(directory, using: &random)
        defer { try? store.close() }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        for predicate in Self.predicates {
            for column in Self.columns {
                var request = RowRequest(FetchRequest("Track", where: predicate))
                request.propertiesToFetch = [column, Self.columns[0]]
                if column.name == "count" { request.propertiesToFetch = [column] }
                #expect(
                    try Self.rows(request, in: snapshot) == Self.reference(request, in: store),
                    "\(column.name) where \(predicate.map { "\($0)" } ?? "anything")")
            }
        }
    }

    @Test("SQLite computes an aggregate only if SQL alone decides the predicate")
    func answersDecidedPredicates() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(), options: StoreOptions())
        defer { try? store.close() }
        try store.change { changes in
            for key in Int64(1)...3 {
                try changes.insert(
                    ObjectID("Track", key: key),
                    values: ["i64": key == 2 ? .null : .int(.max), "i16": .int(key), "length": .double(1)])
            }
        }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let all = FetchRequest("Track")
        let asked: [WholeNumberAggregate] = [.objects, .count("i64"), .sum("i16"), .minimum("i16"), .maximum("i64")]
        #expect(
            try snapshot.wholeNumbers(asked, of: try CheckedFetchRequest(all, model: snapshot.model)) == [
                3, 2, 6, 1, .max,
            ])
        let none = FetchRequest("Track", where: .less("i16", than: 0))
        #expect(
            try snapshot.wholeNumbers(
                [.objects, .sum("i16"), .minimum("i16")], of: try CheckedFetchRequest(none, model: snapshot.model)) == [
                    0, nil, nil,
                ])
        // A property that is not a whole number, and a predicate that SQL cannot decide.
        #expect(
            try snapshot.wholeNumbers([.sum("length")], of: try CheckedFetchRequest(all, model: snapshot.model)) == nil)
        let some = FetchRequest("Track", where: .equal("number", to: .decimal(1)))
        #expect(try snapshot.wholeNumbers([.objects], of: try CheckedFetchRequest(some, model: snapshot.model)) == nil)
        // SQL cannot add two maximum integers. The sum over the records is a decimal.
        #expect(throws: StoreError.self) {
            try snapshot.wholeNumbers([.sum("i64")], of: try CheckedFetchRequest(all, model: snapshot.model))
        }
        var request = RowRequest(all)
        request.propertiesToFetch = [.init("sum", expression: .function(.sum, [.keyPath(["i64"])]))]
        let sum = Decimal(Int64.max) * 2
        #expect(try Self.rows(request, in: snapshot) == [[.decimal(sum)]])
    }

    @Test("aggregate rows of a closed SQLite snapshot throw closed")
    func throwsAfterClose() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(), options: StoreOptions())
        defer { try? store.close() }
        let snapshot = try store.snapshot()
        var request = RowRequest(FetchRequest("Track"))
        request.propertiesToFetch = [.init("sum", expression: .function(.sum, [.keyPath(["i64"])]))]
        let cursor = try snapshot.rows(request)
        snapshot.close()
        var batch = RowBatch()
        let error = #expect(throws: StoreError.self) { try cursor.next(into: &batch) }
        #expect(error?.code == .closed)
    }
}

/// A snapshot that offers only its records, so aggregates are computed from them.
private final class ShowingSnapshot: ScanningSnapshot {
    private let base: any StoreSnapshot
    init(_ base: any StoreSnapshot) { self.base = base }
    var model: ManagedObjectModel { base.model }
    func requireOpen() throws(StoreError) {}
    func close() {}
    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try base.records(of: entity, after: id)
    }
}
