import Foundation
import TestSamples
import Testing

@testable import RoostCore
@testable import RoostQuery

/// A snapshot of a batch: everything is found by reading all of it.
final class BatchSnapshot: ScanningSnapshot {
    let model: ManagedObjectModel
    private let batch: RecordBatch

    init(_ batch: RecordBatch) { (self.batch, model) = (batch, batch.model) }

    func requireOpen() throws(StoreError) {}
    func close() {}

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        let wanted = try model.requireEntity(entity)
        return Cursor(batch) { wanted.includes($0.entityNumber) && $0.key > id?.key ?? 0 }
    }

    private final class Cursor: RecordCursor {
        private let batch: RecordBatch
        private let isWanted: (RecordReader) -> Bool
        private var index = 0

        init(_ batch: RecordBatch, isWanted: @escaping (RecordReader) -> Bool) {
            (self.batch, self.isWanted) = (batch, isWanted)
        }

        func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
            batch.removeAll()
            while index < self.batch.count, batch.count < 100 {
                self.batch.withRecord(at: index) { if isWanted($0) { batch.append($0) } }
                index += 1
            }
            return !batch.isEmpty
        }
    }
}

/// Shows the records of a batch snapshot where they are, and fails at one of them.
private final class ShowingSnapshot: ScanningSnapshot, VisitableSnapshot {
    let model: ManagedObjectModel
    private let base: BatchSnapshot
    private let damagedKey: Int64?

    init(_ base: BatchSnapshot, damagedKey: Int64? = nil) {
        (self.base, model, self.damagedKey) = (base, base.model, damagedKey)
    }

    func requireOpen() throws(StoreError) {}
    func close() {}

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try base.records(of: entity, after: id)
    }

    func makeVisitor(_ request: CheckedFetchRequest) throws(StoreError) -> (any RecordVisitor)? {
        var all = RecordBatch(model: model)
        var part = RecordBatch(model: model)
        let cursor = try base.fetch(request)
        while try cursor.next(into: &part) { for index in 0..<part.count { all.append(part, at: index) } }
        return Visitor(all, damagedKey: damagedKey)
    }

    private final class Visitor: RecordVisitor {
        private let records: RecordBatch
        private let damagedKey: Int64?
        private var index = 0

        init(_ records: RecordBatch, damagedKey: Int64?) { (self.records, self.damagedKey) = (records, damagedKey) }

        func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
            while index < records.count {
                index += 1
                guard records.key(at: index - 1) != damagedKey else {
                    throw StoreError(.corrupted, "damaged", damagedObject: records.id(at: index - 1))
                }
                guard records.withRecord(at: index - 1, body) else { return true }
            }
            return false
        }
    }
}

@Suite("Rows")
struct RowTests {
    typealias Expression = FetchRequest.Expression
    typealias Property = FetchRequest.FetchedProperty

    static let model: Result<ManagedObjectModel, any Error> = Result {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Track",
                attributes: [
                    .init("title", type: .string), .init("plays", type: .integer64), .init("seconds", type: .double),
                    .init("price", type: .decimal), .init("isLive", type: .boolean), .init("day", type: .date),
                    .init("any", type: .objectID),
                ], relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
            EntityDescription(
                "Single", superentity: "Track", attributes: [.init("side", type: .string)]),
            EntityDescription(
                "Album", attributes: [.init("title", type: .string), .init("year", type: .integer16)],
                relationships: [
                    .toMany("tracks", to: "Track", inverse: "album"), .toOne("artist", to: "Artist", inverse: "albums"),
                ]),
            EntityDescription(
                "Artist", attributes: [.init("name", type: .string)],
                relationships: [.toMany("albums", to: "Album", inverse: "artist")]),
        ])
    }

    /// Two artists, three albums (the third without an artist), eight tracks (the last two without
    /// an album).
    static func library() throws -> BatchSnapshot {
        var batch = RecordBatch(model: try model.get())
        for (key, name) in ["Ann", "Bob"].enumerated() {
            try batch.append(ObjectID("Artist", key: Int64(key + 1)), values: ["name": .string(name)])
        }
        for (key, artist) in ([1, 2, nil] as [Int64?]).enumerated() {
            try batch.append(
                ObjectID("Album", key: Int64(key + 1)),
                values: [
                    "title": .string(["Red", "blue", "Green"][key]), "year": .int(Int64(2000 + key % 2)),
                    "artist": artist.map { .objectID(ObjectID("Artist", key: $0)) } ?? .null,
                ])
        }
        let plays: [Value] = [3, 5, .null, 7, .int(.max), 1, 2, 2]
        let seconds: [Value] = [0.5, .double(.nan), 1.5, .null, -0.0, 0.0, 2.0, 2.0]
        for (key, album) in ([1, 1, 2, 2, 3, 3, nil, nil] as [Int64?]).enumerated() {
            try batch.append(
                ObjectID(key == 5 ? "Single" : "Track", key: Int64(key + 1)),
                values: [
                    "title": .string("t\(key + 1)"), "plays": plays[key], "seconds": seconds[key],
                    "price": key == 3 ? .null : .decimal(Decimal(key) / 4), "isLive": .bool(key % 2 == 0),
                    "album": album.map { .objectID(ObjectID("Album", key: $0)) } ?? .null,
                ])
        }
        return BatchSnapshot(batch)
    }

    static func rows(_ request: RowRequest, of snapshot: any StoreSnapshot) throws -> [[Value]] {
        let cursor = try snapshot.rows(request)
        var rows: [[Value]] = []
        var batch = RowBatch()
        while try cursor.next(into: &batch) {
            #expect(batch.columns == cursor.columns && batch.values.count == batch.count * batch.columns.count)
            for row in 0..<batch.count { rows.append(batch.columns.indices.map { batch[row, $0] }) }
        }
        #expect(try !cursor.next(into: &batch) && batch.isEmpty)
        return rows
    }

    private func rows(_ configure: (inout RowRequest) -> Void) throws -> [[Value]] {
        var request = RowRequest(FetchRequest("Track"))
        configure(&request)
        return try Self.rows(request, of: try Self.library())
    }

    private func refuses(_ configure: (inout RowRequest) -> Void) throws -> StoreError {
        var request = RowRequest(FetchRequest("Track"))
        configure(&request)
        let snapshot = try Self.library()
        return try #require(throws: StoreError.self) { _ = try snapshot.rows(request) }
    }

    private static func function(_ function: FetchRequest.Function, of path: String) -> Expression {
        .function(function, [.keyPath(path.names)])
    }

    // MARK: A row for each object

    @Test("rows without columns have every attribute")
    func everyAttribute() throws {
        var request = RowRequest(FetchRequest("Single"))
        let cursor = try Self.library().rows(request)
        #expect(cursor.columns == ["any", "day", "isLive", "plays", "price", "seconds", "title", "side"])
        var batch = RowBatch()
        #expect(try cursor.next(into: &batch) && batch.count == 1)
        #expect(
            batch.values(at: 0) == [
                "title": "t6", "plays": 1, "seconds": 0.0, "price": .decimal(1.25), "isLive": false,
            ])
        #expect(try batch.value("plays", at: 0) == 1)
        #expect(throws: StoreError.self) { try batch.value("play", at: 0) }
        request.includesSubentities = false
        #expect(try Self.rows(request, of: Self.library()).count == 1)
    }

    @Test("columns of rows follow to-one relationships, whose own value is an ID")
    func paths() throws {
        let found = try rows {
            $0.propertiesToFetch = [
                "album.artist.name", "album", "album.artist", Property("me", expression: .evaluatedObject),
            ]
            $0.sortDescriptors = [.init("album.artist.name", ascending: false), .init("title", ascending: false)]
        }
        #expect(
            found.map { $0[0] } == ["Bob", "Bob", "Ann", "Ann", .null, .null, .null, .null])
        #expect(
            found[0] == [
                "Bob", .objectID(ObjectID("Album", key: 2)), .objectID(ObjectID("Artist", key: 2)),
                .objectID(ObjectID("Track", key: 4)),
            ])
        #expect(found[6][3] == .objectID(ObjectID("Single", key: 6)))
    }

    @Test("offset and limit of rows count distinct rows where those are requested")
    func windows() throws {
        let albums: [Value] = try rows { $0.propertiesToFetch = ["album.title"] }.map { $0[0] }
        #expect(albums == ["Red", "Red", "blue", "blue", "Green", "Green", .null, .null])
        for offset in 0..<5 {
            #expect(
                try rows {
                    $0.propertiesToFetch = ["album.title"]
                    ($0.fetchOffset, $0.fetchLimit) = (offset, 2)
                }.map { $0[0] } == Array(albums.dropFirst(offset).prefix(2)))
            #expect(
                try rows {
                    $0.propertiesToFetch = ["album.title"]
                    $0.returnsDistinctResults = true
                    ($0.fetchOffset, $0.fetchLimit) = (offset, 2)
                }.map { $0[0] } == Array((["Red", "blue", "Green", .null] as [Value]).dropFirst(offset).prefix(2)))
        }
        let zeros = try rows {
            $0.propertiesToFetch = ["seconds"]
            $0.returnsDistinctResults = true
        }.map { $0[0] }
        #expect(zeros == [0.5, .double(.nan), 1.5, .null, -0.0, 2.0])
    }

    @Test("rows sort by a computed column, with and without a window")
    func computedOrder() throws {
        func titles(limit: Int?, offset: Int, distinct: Bool = false) throws -> [Value] {
            try rows {
                $0.propertiesToFetch = [
                    Property("parity", expression: .function(.modulus, [.keyPath(["plays"]), .constant(2)])), "title",
                ]
                $0.sortDescriptors = [
                    .init("parity", ascending: false), .init("album.title", options: .caseInsensitive),
                ]
                $0.returnsDistinctResults = distinct
                ($0.fetchLimit, $0.fetchOffset) = (limit, offset)
            }.map { $0[1] }
        }
        let all: [Value] = ["t4", "t5", "t6", "t1", "t2", "t7", "t8", "t3"]
        #expect(try titles(limit: nil, offset: 0) == all)
        #expect(try titles(limit: nil, offset: 0, distinct: true) == all)
        for offset in 0..<9 {
            #expect(try titles(limit: 3, offset: offset) == Array(all.dropFirst(offset).prefix(3)))
            #expect(try titles(limit: 3, offset: offset, distinct: true) == Array(all.dropFirst(offset).prefix(3)))
        }
    }

    // MARK: Groups

    @Test("aggregates without groups return one row, also for no objects")
    func wholes() throws {
        let columns: [Property] = [
            Property("count", expression: Self.function(.count, of: "plays")),
            Property("sum", expression: Self.function(.sum, of: "plays")),
            Property("least", expression: Self.function(.minimum, of: "title")),
            Property("mean", expression: Self.function(.average, of: "price")),
            Property("most", expression: Self.function(.maximum, of: "seconds")),
            Property("all", expression: .keyPath(["@count"])),
            Property("years", expression: .keyPath(["@max", "album", "year"])),
            Property("live", expression: Self.function(.sum, of: "isLive")),
        ]
        let found = try rows { $0.propertiesToFetch = columns }
        #expect(
            found == [
                [
                    8, .decimal(Decimal(string: "9223372036854775827") ?? 0), "t1",
                    .decimal((Decimal(28) - 3) / 4 / 7), .double(.nan), 8, 2001, 4,
                ]
            ])
        let none = try rows {
            $0.propertiesToFetch = columns
            $0.predicate = .constant(false)
        }
        #expect(none == [[0, 0, .null, .null, .null, 0, .null, 0]])
    }

    @Test(
        "an aggregate over records in place equals one over copies",
        arguments: [FetchRequest.Function.sum, .average, .minimum, .maximum], ["plays", "isLive", "seconds"])
    func shownInPlace(function: FetchRequest.Function, field: String) throws {
        for predicate: FetchRequest.Predicate? in [
            nil, .constant(false), .less("plays", than: 4), .equal("isLive", to: true),
        ] {
            var request = RowRequest(FetchRequest("Track", where: predicate))
            request.propertiesToFetch = [Property("value", expression: Self.function(function, of: field))]
            let copied = try Self.rows(request, of: Self.library())
            #expect(try Self.rows(request, of: ShowingSnapshot(Self.library())) == copied)
        }
    }

    @Test("an aggregate over records in place continues after a damaged one")
    func damageInPlace() throws {
        var request = RowRequest(FetchRequest("Track", where: .less("plays", than: 100)))
        request.propertiesToFetch = [Property("sum", expression: Self.function(.sum, of: "plays"))]
        let cursor = try ShowingSnapshot(Self.library(), damagedKey: 2).rows(request)
        var batch = RowBatch()
        let error = #expect(throws: StoreError.self) { try cursor.next(into: &batch) }
        #expect(error?.damagedObject == ObjectID("Track", key: 2))
        #expect(try cursor.next(into: &batch))
        // All but the one with five plays.
        #expect(batch.values == [Value.int(15)])
        #expect(try !cursor.next(into: &batch))
    }

    @Test("groups come in the order of their first objects")
    func groups() throws {
        let count = Property("n", expression: .function(.count, [.evaluatedObject]))
        let total = Property("total", expression: Self.function(.sum, of: "plays"))
        #expect(
            try rows {
                $0.propertiesToFetch = ["album.title", count, total]
                $0.propertiesToGroupBy = [.keyPath(["album", "title"])]
            } == [
                ["Red", 2, 8], ["blue", 2, 7], ["Green", 2, .decimal(Decimal(string: "9223372036854775808") ?? 0)],
                [.null, 2, 4],
            ])
        #expect(
            try rows {
                $0.propertiesToFetch = ["album.title", total]
                $0.propertiesToGroupBy = [.keyPath(["album"]), .keyPath(["album", "title"])]
                $0.sortDescriptors = [.init("total")]
                $0.havingPredicate = .comparison(
                    .init(left: .keyPath(["total"]), operator: .greater, right: .constant(5)))
                ($0.fetchOffset, $0.fetchLimit) = (1, 2)
            } == [["Red", 8], ["Green", .decimal(Decimal(string: "9223372036854775808") ?? 0)]])
        #expect(
            try rows {
                $0.propertiesToFetch = [count]
                $0.propertiesToGroupBy = [.keyPath(["album", "artist", "name"]), .keyPath(["isLive"])]
                $0.sortDescriptors = [.init("album.artist.name", ascending: false), .init("isLive")]
                $0.havingPredicate = .comparison(
                    .init(left: Self.function(.count, of: "title"), operator: .less, right: .constant(2)))
            } == [[1], [1], [1], [1]])
        #expect(
            try rows {
                $0.propertiesToGroupBy = [.keyPath(["seconds"])]
            } == [[0.5], [.double(.nan)], [1.5], [.null], [-0.0], [2.0]])
        #expect(
            try rows {
                $0.propertiesToFetch = [
                    Property(
                        "rate",
                        expression: .function(
                            .divide, [Self.function(.sum, of: "plays"), Self.function(.count, of: "plays")])),
                    Property("kind", expression: .constant("x")),
                ]
                $0.propertiesToGroupBy = [.keyPath(["kind"]), .keyPath(["isLive"])]
                $0.returnsDistinctResults = true
                $0.predicate = .less("plays", than: 100)
            } == [[2.5, "x"], [3.75, "x"]])
    }

    @Test("columns that make no sense are refused before the first row, and named", arguments: [false, true])
    func errors(grouped: Bool) throws {
        let groups: [Expression] = grouped ? [.keyPath(["album"])] : []
        func message(_ code: StoreError.Code, _ configure: (inout RowRequest) -> Void) throws -> String {
            let error = try refuses {
                $0.propertiesToGroupBy = groups
                configure(&$0)
            }
            #expect(error.code == code, "\(error)")
            return error.message
        }
        #expect(try message(.unknownProperty) { $0.propertiesToFetch = ["titel"] }.contains("title"))
        #expect(
            try message(.invalidRequest) {
                $0.propertiesToFetch = [Property("n", expression: Self.function(.count, of: "plays")), "title"]
            }.contains("'title'"))
        #expect(
            try message(.invalidRequest) {
                $0.propertiesToFetch = [Property("n", expression: Self.function(.sum, of: "title"))]
            }.contains("sum"))
        #expect(
            try message(.invalidRequest) {
                $0.propertiesToFetch = [Property("n", expression: .function(.sum, [Self.function(.sum, of: "plays")]))]
            }.contains("sum(plays)"))
        #expect(
            try message(.invalidRequest) {
                $0.propertiesToFetch = ["album", Property("album", expression: .evaluatedObject)]
            }
            .contains("two columns 'album'"))
        if grouped {
            #expect(
                try message(.invalidRequest) { $0.sortDescriptors = [.init("title")] }.contains("'title'"))
            #expect(
                try message(.invalidRequest) { $0.sortDescriptors = [.init("album")] }.contains("'album'"))
            #expect(
                try message(.invalidRequest) {
                    $0.havingPredicate = .equal("title", to: "x")
                }.contains("'title'"))
            #expect(
                try message(.invalidRequest) { $0.propertiesToGroupBy = [Self.function(.count, of: "title")] }
                    .contains("count(title)"))
        } else {
            #expect(try message(.invalidRequest) { $0.havingPredicate = .constant(true) }.contains("groups"))
            #expect(
                try message(.invalidRequest) {
                    $0.entity = "Album"
                    $0.propertiesToFetch = ["tracks.title"]
                }.contains("'tracks.title'"))
            #expect(
                try message(.invalidRequest) {
                    $0.entity = "Album"
                    $0.propertiesToFetch = ["tracks"]
                }.contains("'tracks'"))
            #expect(try message(.invalidRequest) { $0.fetchLimit = -1 }.contains("negative"))
            #expect(try message(.unknownEntity) { $0.entity = "Trak" }.contains("Trak"))
        }
        for isDistinct in [false, true] {
            let title: FetchRequest.FetchedProperty = grouped ? "album" : "title"
            for (limit, offset) in [(-1, nil), (nil, -1), (3, -7)] as [(Int?, Int?)] {
                #expect(
                    try message(.invalidRequest) {
                        $0.propertiesToFetch = [title]
                        $0.returnsDistinctResults = isDistinct
                        ($0.fetchLimit, $0.fetchOffset) = (limit, offset)
                    }.contains("negative"))
            }
        }
        var deep = Expression.keyPath(["plays"])
        for _ in 0..<5000 { deep = .function(.negate, [deep]) }
        #expect(
            try message(.invalidRequest) { $0.propertiesToFetch = [Property("deep", expression: deep)] }.contains("200")
        )
        var sums = Expression.keyPath(["plays"])
        for _ in 0..<150 { sums = .function(.sum, [sums]) }
        #expect(
            try message(.invalidRequest) { $0.propertiesToFetch = [Property("sums", expression: sums)] }.contains(
                "aggregate"))
    }

    @Test("columns and groups nest as deep as predicates, also on a small stack")
    func depth() throws {
        func nested(_ start: Expression, _ count: Int) -> Expression {
            (0..<count).reduce(start) { expression, _ in .function(.negate, [expression]) }
        }
        let model = try Self.library().model
        var columns = RowRequest(FetchRequest("Track"))
        columns.propertiesToFetch = [Property("n", expression: nested(.keyPath(["plays"]), 190))]
        var groups = RowRequest(FetchRequest("Track"))
        groups.propertiesToGroupBy = [nested(.keyPath(["plays"]), 190)]
        groups.propertiesToFetch = [Property("n", expression: Self.function(.count, of: "title"))]
        groups.havingPredicate = .comparison(
            .init(left: nested(Self.function(.count, of: "title"), 180), operator: .greater, right: .constant(0)))
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

    @Test("a condition on groups prefers the name of a column to a property's")
    func columnsFirst() throws {
        // The count has the name of what is grouped by.
        var request = RowRequest(FetchRequest("Track"))
        request.propertiesToFetch = [
            Property("a", expression: .keyPath(["plays"])),
            Property("plays", expression: .function(.count, [.evaluatedObject])),
        ]
        request.propertiesToGroupBy = [.keyPath(["a"])]
        let snapshot = try Self.library()
        let all = try Self.rows(request, of: snapshot)
        request.havingPredicate = .equal("plays", to: 1)
        let some = try Self.rows(request, of: snapshot)
        #expect(!some.isEmpty && some == all.filter { $0[1] == 1 })
    }

    @Test("a function over the many values of one object is not an aggregate")
    func perObject() throws {
        var request = RowRequest(FetchRequest("Album", sortedBy: [.init("title", options: .caseInsensitive)]))
        request.propertiesToFetch = [
            "title", Property("n", expression: Self.function(.count, of: "tracks")),
            Property("sum", expression: .keyPath(["tracks", "@sum", "plays"])),
        ]
        let snapshot = try Self.library()
        #expect(
            try Self.rows(request, of: snapshot) == [
                ["blue", 2, 7], ["Green", 2, .decimal(Decimal(string: "9223372036854775808") ?? 0)], ["Red", 2, 8],
            ])
        request.sortDescriptors = []
        request.propertiesToFetch = [
            Property("most", expression: .function(.maximum, [Self.function(.count, of: "tracks")]))
        ]
        #expect(try Self.rows(request, of: snapshot) == [[2]])
    }

    @Test(
        "an aggregate of a field equals the general aggregate",
        arguments: ["integer16", "integer32", "integer64", "boolean", "double", "float", "date", "decimal", "string"],
        FetchRequest.Function.allCases.filter(\.isOfMany))
    func fastAggregates(name: String, function: FetchRequest.Function) throws {
        let model = try everyTypeModel()
        let entity = try model.requireEntity("Thing")
        var random = SeededGenerator(seed: 19)
        var compiler = RowCompiler(model: model, entity: entity)
        let (source, _) = try compiler.source(.keyPath([name]), column: name)
        let isAllowed: Bool
        switch (name, function) {
        case ("date", .sum), ("date", .average), ("date", .median), ("date", .standardDeviation), ("string", .sum),
            ("string", .average), ("string", .median), ("string", .standardDeviation):
            isAllowed = false
        default: isAllowed = true
        }
        guard isAllowed else {
            #expect(throws: StoreError.self) {
                _ = try compiler.aggregate(function, of: .keyPath([name]), column: name)
            }
            return
        }
        let fast = try compiler.aggregate(function, of: .keyPath([name]), column: name).0()
        let plain = GeneralAggregate(function, source)
        let evaluator = PredicateEvaluator(compiler.program, graph: nil)
        var counts = [Int64](repeating: 0, count: 7)
        var key: Int64 = 0
        for groupCount in [1, 3, 7, 7, 7] {
            var batch = RecordBatch(model: model)
            var groups: [Int] = []
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                key += 1
                try batch.append(ObjectID("Thing", key: key), values: [name: SortTests.value(name, &random)])
                groups.append(Int.random(in: 0..<groupCount, using: &random))
                counts[groups[groups.count - 1]] += 1
            }
            try fast.add(batch, groups, groupCount, evaluator)
            try plain.add(batch, groups, groupCount, evaluator)
        }
        for group in 0..<9 {
            let found = Value(fast.value(of: group), kind: .number, model: model)
            if function == .count {
                #expect(found == .int(group < 7 ? counts[group] : 0))
            } else {
                #expect(found == Value(plain.value(of: group), kind: .number, model: model), "group \(group)")
            }
        }
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
            #expect(try Self.rows(grouped, of: snapshot).map { $0[1] } == counts.map { .int($0) })
            var distinct = RowRequest(FetchRequest("Place"))
            distinct.propertiesToFetch = [.init(path, expression: .keyPath([path]))]
            distinct.returnsDistinctResults = true
            #expect(try Self.rows(distinct, of: snapshot).count == counts.count)
        }
    }

    @Test("the mean of whole numbers is exact even if no double is their sum")
    func meanOfWholeNumbers() throws {
        var accumulator = PredicateAccumulator()
        // The sum is 9250393634618999091, which the nearest double exceeds.
        accumulator.add(.integer(9_223_372_036_854_775_807))
        accumulator.add(.integer(27_021_597_764_223_284))
        for _ in 0..<67 { accumulator.add(.integer(0)) }
        guard case .double(let mean) = accumulator.average else {
            throw StoreError(.internalInconsistency, "no double")
        }
        #expect(mean == 1.3406367586404347e+17)
    }

    @Test("fetched object IDs come in the order of the request")
    func objectIDs() throws {
        let ids = try Self.library().objectIDs(
            FetchRequest("Track", sortedBy: [.init("plays", ascending: false)], limit: 3))
        #expect(ids == [ObjectID("Track", key: 5), ObjectID("Track", key: 4), ObjectID("Track", key: 2)])
    }
}
