import Foundation
import Testing

@testable import RoostCore
@testable import RoostQuery

@Suite("Rows of groups")
struct GroupedRowTests {
    typealias Expression = FetchRequest.Expression
    typealias Property = FetchRequest.FetchedProperty

    private static let count = Property("n", expression: .function(.count, [.evaluatedObject]))
    private static let total = Property("total", expression: RowSamples.function(.sum, of: "plays"))

    @Test("groups come in the order of their first objects")
    func firstObjectOrder() throws {
        #expect(
            try RowSamples.rows {
                $0.propertiesToFetch = ["album.title", Self.count, Self.total]
                $0.propertiesToGroupBy = [.keyPath(["album", "title"])]
            } == [
                ["Red", 2, 8], ["blue", 2, 7], ["Green", 2, .decimal(Decimal(string: "9223372036854775808") ?? 0)],
                [.null, 2, 4],
            ])
    }

    @Test("groups are sorted, chosen by a condition, and cut by offset and limit")
    func sortedGroups() throws {
        #expect(
            try RowSamples.rows {
                $0.propertiesToFetch = ["album.title", Self.total]
                $0.propertiesToGroupBy = [.keyPath(["album"]), .keyPath(["album", "title"])]
                $0.sortDescriptors = [.init("total")]
                $0.havingPredicate = .comparison(
                    .init(left: .keyPath(["total"]), operator: .greater, right: .constant(5)))
                ($0.fetchOffset, $0.fetchLimit) = (1, 2)
            } == [["Red", 8], ["Green", .decimal(Decimal(string: "9223372036854775808") ?? 0)]])
    }

    @Test("groups can be sorted by a grouping value that no column shows")
    func hiddenGroups() throws {
        #expect(
            try RowSamples.rows {
                $0.propertiesToFetch = [Self.count]
                $0.propertiesToGroupBy = [.keyPath(["album", "artist", "name"]), .keyPath(["isLive"])]
                $0.sortDescriptors = [.init("album.artist.name", ascending: false), .init("isLive")]
                $0.havingPredicate = .comparison(
                    .init(left: RowSamples.function(.count, of: "title"), operator: .less, right: .constant(2)))
            } == [[1], [1], [1], [1]])
    }

    @Test("groups without columns return their grouping values, and 0 and -0 are one group")
    func groupsWithoutColumns() throws {
        #expect(
            try RowSamples.rows {
                $0.propertiesToGroupBy = [.keyPath(["seconds"])]
            } == [[0.5], [.double(.nan)], [1.5], [.null], [-0.0], [2.0]])
    }

    @Test("a column of groups can compute with aggregates, and a grouping value can be a constant")
    func computedColumns() throws {
        #expect(
            try RowSamples.rows {
                $0.propertiesToFetch = [
                    Property(
                        "rate",
                        expression: .function(
                            .divide,
                            [RowSamples.function(.sum, of: "plays"), RowSamples.function(.count, of: "plays")])),
                    Property("kind", expression: .constant("x")),
                ]
                $0.propertiesToGroupBy = [.keyPath(["kind"]), .keyPath(["isLive"])]
                $0.returnsDistinctResults = true
                $0.predicate = .less("plays", than: 100)
            } == [[2.5, "x"], [3.75, "x"]])
    }

    @Test("columns and conditions of groups can use a property of a grouped object")
    func groupedObject() throws {
        let title = Expression.path(of: .keyPath(["album"]), ["title"])
        #expect(
            try RowSamples.rows {
                $0.propertiesToFetch = [Property("title", expression: title), Self.count]
                $0.propertiesToGroupBy = [.keyPath(["album"])]
                $0.havingPredicate = .comparison(
                    .init(left: title, operator: .notEqual, right: .constant("Green")))
            } == [["Red", 2], ["blue", 2], [.null, 2]])
    }

    @Test("columns and groups nest as deep as predicates, also on a small stack")
    func depth() throws {
        func nested(_ start: Expression, count: Int) -> Expression {
            (0..<count).reduce(start) { expression, _ in .function(.negate, [expression]) }
        }
        let model = try RowSamples.library().model
        var columns = RowRequest(FetchRequest("Track"))
        columns.propertiesToFetch = [Property("n", expression: nested(.keyPath(["plays"]), count: 190))]
        var groups = RowRequest(FetchRequest("Track"))
        groups.propertiesToGroupBy = [nested(.keyPath(["plays"]), count: 190)]
        groups.propertiesToFetch = [Property("n", expression: RowSamples.function(.count, of: "title"))]
        groups.havingPredicate = .comparison(
            .init(
                left: nested(RowSamples.function(.count, of: "title"), count: 180), operator: .greater,
                right: .constant(0)))
        for request in [columns, groups] {
            let failure = Mutex<StoreError?>(nil)
            onSmallStack {
                do throws(StoreError) { _ = try RowPlan(request, model: model) } catch {
                    failure.withLock { $0 = error }
                }
            }
            #expect(failure.withLock { $0 } == nil)
        }
    }

    @Test("a name in a condition on groups means a column rather than a property")
    func columnsFirst() throws {
        // The column of the count has the name of a property, `plays`.
        var request = RowRequest(FetchRequest("Track"))
        request.propertiesToFetch = [
            Property("a", expression: .keyPath(["plays"])),
            Property("plays", expression: .function(.count, [.evaluatedObject])),
        ]
        request.propertiesToGroupBy = [.keyPath(["a"])]
        let snapshot = try RowSamples.library()
        let all = try RowSamples.rows(request, of: snapshot)
        request.havingPredicate = .equal("plays", to: 1)
        let some = try RowSamples.rows(request, of: snapshot)
        #expect(!some.isEmpty && some == all.filter { $0[1] == 1 })
    }

    @Test("rows group composites by elements, and object IDs by the object they name")
    func groupedCompositesAndIDs() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Place",
                attributes: [
                    .init(
                        "at", type: .composite, elements: [.init("x", type: .integer64), .init("note", type: .string)]),
                    .init("other", type: .objectID),
                ]),
            EntityDescription("City", superentity: "Place", attributes: []),
        ])
        var batch = RecordBatch(model: model)
        let values: [[String: Value]] = [
            ["at": .composite(["x": 1]), "other": .objectID(ObjectID("Place", key: 3))],
            ["at": .composite(["x": 2]), "other": .objectID(ObjectID("City", key: 3))], [:],
            ["at": .composite(["x": 1]), "other": .objectID(ObjectID("Place", key: 4))],
            ["at": .composite(["x": 1, "note": "n"]), "other": .objectID(ObjectID("Place", key: 3))],
        ]
        for (index, values) in values.enumerated() {
            try batch.append(ObjectID(index == 2 ? "City" : "Place", key: Int64(index + 1)), values: values)
        }
        let snapshot = BatchSnapshot(batch)
        for (path, counts) in [("at", [2, 1, 1, 1]), ("other", [3, 1, 1])] as [(String, [Int64])] {
            var grouped = RowRequest(FetchRequest("Place"))
            grouped.propertiesToFetch = [
                .init(path, expression: .keyPath([path])),
                .init("n", expression: .function(.count, [.evaluatedObject])),
            ]
            grouped.propertiesToGroupBy = [.keyPath([path])]
            #expect(try RowSamples.rows(grouped, of: snapshot).map { $0[1] } == counts.map { .int($0) })
            var distinct = RowRequest(FetchRequest("Place"))
            distinct.propertiesToFetch = [.init(path, expression: .keyPath([path]))]
            distinct.returnsDistinctResults = true
            #expect(try RowSamples.rows(distinct, of: snapshot).count == counts.count)
        }
    }
}
