internal import Foundation
internal import RoostCore
internal import RoostPredicates
internal import RoostQuery

extension ConformanceCheck {
    /// Rows of values: columns, aggregates, groups.
    static let rows: [ConformanceCheck] = [
        rows(
            "columns",
            behavior:
                "Rows have the requested columns, including those through to-one relationships. Without requested columns, they have every attribute."
        ) { check in
            try check.expect(
                [
                    [.objectID(ObjectID("Dog", key: 1)), "Rex", 1], [.objectID(ObjectID("Robot", key: 2)), .null, 2],
                    [.objectID(ObjectID("Dog", key: 1)), "Rex", 3], [.null, .null, 4], [.null, .null, 5],
                ], "owner, its name and a number"
            ) { $0.propertiesToFetch = ["owner", "owner.name", "i64"] }
            try check.expect([["Rex"], ["Rex"], [.null]], "in an order, in a window") {
                $0.propertiesToFetch = ["owner.name"]
                $0.sortDescriptors = [.init("owner.name", ascending: false)]
                $0.fetchLimit = 3
            }
            try check.expect([["Rex"], [.null]], "each once") {
                $0.propertiesToFetch = ["owner.name"]
                $0.returnsDistinctResults = true
            }
            try check.expect([[.null]], "each once, in a window") {
                $0.propertiesToFetch = ["owner.name"]
                $0.returnsDistinctResults = true
                ($0.fetchOffset, $0.fetchLimit) = (1, 5)
            }
            try check.expect([[3, "x"], [3, "x"], [4, "x"]], "expressions and constants") {
                $0.propertiesToFetch = [
                    .init("length", expression: .function(.length, [.keyPath(["str"])])),
                    .init("constant", expression: .constant("x")),
                ]
                $0.predicate = .isNotNull("str") && .greater("i64", than: 1)
            }
            try check.view { snapshot in
                let cursor = try snapshot.rows(RowRequest(FetchRequest("Being")))
                try expectEqual(cursor.columns, ["age", "name"], "the columns of a request that names none")
                var batch = RowBatch()
                try expect(try cursor.next(into: &batch) && batch.count == 2, "a row for each object")
                try expectEqual(batch.values(at: 0), ["name": "Rex", "age": 7], "the values that are not null")
                try expect(try !cursor.next(into: &batch) && batch.isEmpty, "no more rows")
                try expect(try !cursor.next(into: &batch) && batch.isEmpty, "no more rows ever after")
            }
        },
        rows(
            "aggregates",
            behavior:
                "Aggregates without groups give one row, even without objects. Sums of integers and decimals are exact."
        ) {
            check in
            let columns: [FetchRequest.FetchedProperty] = [
                .init("count", expression: .function(.count, [.keyPath(["str"])])),
                .init("sum", expression: .function(.sum, [.keyPath(["i64"])])),
                .init("mean", expression: .function(.average, [.keyPath(["i64"])])),
                .init("least", expression: .function(.minimum, [.keyPath(["str"])])),
                .init("greatest", expression: .function(.maximum, [.keyPath(["dbl"])])),
                .init("doubles", expression: .function(.sum, [.keyPath(["flt"])])),
                .init("decimals", expression: .function(.sum, [.keyPath(["dec"])])),
                .init("ages", expression: .function(.sum, [.keyPath(["owner", "age"])])),
                .init("median", expression: .function(.median, [.keyPath(["i64"])])),
                .init("mode", expression: .function(.mode, [.keyPath(["flag"])])),
                .init("deviation", expression: .function(.standardDeviation, [.keyPath(["flt"])])),
                .init("ratio", expression: .function(.divide, [.keyPath(["@sum", "i64"]), .keyPath(["@count"])])),
            ]
            try check.expect(
                [
                    [
                        5, 15, 3.0, "abc", .double(.nan), 3.0, .decimal(try decimal("100000000000000000000000000.3")),
                        14,
                        3, true, 0.5, 3.0,
                    ]
                ], "of all objects"
            ) { $0.propertiesToFetch = columns }
            try check.expect(
                [[0, 0, .null, .null, .null, 0, 0, 0, .null, .null, .null, .null]], "of no object"
            ) {
                $0.propertiesToFetch = columns.dropLast() + [.init("ratio", expression: .constant(.null))]
                $0.predicate = .constant(false)
            }
            // The sum is the same in every store, because values are added in the order of the
            // objects' keys.
            try check.expect([[.double((1e16 + 1.0) + -1e16)]], "floating-point numbers in the order of keys") {
                $0.entity = "Everything"
                $0.propertiesToFetch = [.init("sum", expression: .function(.sum, [.keyPath(["dbl"])]))]
                $0.sortDescriptors = []
            }
            let sum = FetchRequest.FetchedProperty("sum", expression: .function(.sum, [.keyPath(["i64"])]))
            let total = Value.decimal(try decimal("27670116110564327421"))
            try check.view { snapshot in
                for time in ["computed first", "computed again in the same snapshot"] {
                    var request = RowRequest(FetchRequest("Everything"))
                    request.propertiesToFetch = [sum]
                    let cursor = try snapshot.rows(request)
                    var batch = RowBatch()
                    try expect(try cursor.next(into: &batch), "a row of the sum")
                    try expectEqual(batch.values(at: 0)["sum"], total, "a sum beyond 64 bits, \(time)")
                }
            }
        },
        rows(
            "groups",
            behavior:
                "Objects with equal values form one group, and groups are in the order of their first objects. Group conditions and sort orders can name columns."
        ) {
            check in
            let count = FetchRequest.FetchedProperty("n", expression: .function(.count, [.evaluatedObject]))
            try check.expect([["Rex", 2], [.null, 3]], "by the owner's name") {
                $0.propertiesToFetch = ["owner.name", count]
                $0.propertiesToGroupBy = [.keyPath(["owner", "name"])]
            }
            try check.expect([[-0.0, 2], [.double(.nan), 2], [1.5, 1]], "both zeros are equal, and so are all NaNs") {
                $0.propertiesToFetch = ["dbl", count]
                $0.propertiesToGroupBy = [.keyPath(["dbl"])]
            }
            try check.expect([[2, true]], "a condition on groups, an order, a window") {
                $0.propertiesToFetch = [count, "flag"]
                $0.propertiesToGroupBy = [.keyPath(["flag"]), .keyPath(["owner"])]
                $0.havingPredicate = .comparison(.init(left: .keyPath(["n"]), operator: .greater, right: .constant(0)))
                $0.sortDescriptors = [.init("n", ascending: false), .init("flag", ascending: false)]
                $0.fetchLimit = 1
            }
            try check.expect(
                [[.objectID(ObjectID("Dog", key: 1)), 4, 2.0]], "a condition on an aggregate without a column"
            ) {
                $0.propertiesToFetch = [
                    "owner", .init("sum", expression: .function(.sum, [.keyPath(["i64"])])),
                    .init(
                        "mean",
                        expression: .function(
                            .divide, [.function(.sum, [.keyPath(["i64"])]), .function(.count, [.keyPath(["i64"])])])),
                ]
                $0.propertiesToGroupBy = [.keyPath(["owner"])]
                $0.havingPredicate =
                    .comparison(
                        .init(left: .function(.maximum, [.keyPath(["i64"])]), operator: .equal, right: .constant(3)))
            }
        },
        rows("errors", behavior: "Meaningless requests for rows are refused before the first row.") { check in
            let sum = FetchRequest.FetchedProperty("sum", expression: .function(.sum, [.keyPath(["i64"])]))
            let cases: [(StoreError.Code, String, (inout RowRequest) -> Void)] = [
                (.unknownProperty, "i46", { $0.propertiesToFetch = ["i46"] }),
                (.unknownProperty, "nothing", { $0.propertiesToFetch = ["owner.nothing"] }),
                (.unknownEntity, "Nobody", { $0.entity = "Nobody" }),
                (.invalidRequest, "keepers", { ($0.entity, $0.propertiesToFetch) = ("Being", ["keepers"]) }),
                (.invalidRequest, "keepers.name", { ($0.entity, $0.propertiesToFetch) = ("Being", ["keepers.name"]) }),
                (.invalidRequest, "'str'", { $0.propertiesToFetch = [sum, "str"] }),
                (.invalidRequest, "groups", { $0.havingPredicate = .constant(true) }),
                (.invalidRequest, "'i64'", { ($0.propertiesToFetch, $0.sortDescriptors) = ([sum], [.init("i64")]) }),
                (
                    .invalidRequest, "sum",
                    { $0.propertiesToFetch = [.init("s", expression: .function(.sum, [.keyPath(["str"])]))] }
                ),
                (
                    .invalidRequest, "two columns",
                    { $0.propertiesToFetch = [sum, .init("sum", expression: .evaluatedObject)] }
                ),
                (.invalidRequest, "negative", { $0.fetchOffset = -1 }),
            ]
            for (code, word, configure) in cases {
                var request = RowRequest(FetchRequest("Indexed"))
                configure(&request)
                try check.view { snapshot in
                    let error = try expectError(code, in: "rows of \(request)") { _ = try snapshot.rows(request) }
                    try expectTrue(error.message.contains(word), "the message names \(word)", error.message)
                }
            }
        },
        rows(
            "ids",
            behavior:
                "A request for IDs returns the IDs of the objects that a fetch returns, in the same order and window, with or without an index. Each ID has the object's own entity."
        ) { check in
            let owner = FetchRequest.Predicate.equal("owner", to: .objectID(ObjectID("Dog", key: 1)))
            let predicates: [FetchRequest.Predicate?] = [
                nil, .greater("i64", than: 2), .equal("i64", to: 3), .isIn("i64", values: [5, 1, 1]), owner,
                owner && .less("i64", than: 3),
                .equal("flag", to: true), .isNull("owner"), .isNotNull("str"), .equal("owner.name", to: "Rex"),
                .comparison(
                    .init(left: .function(.length, [.keyPath(["str"])]), operator: .equal, right: .constant(3))),
                .constant(false),
            ]
            let orders: [[FetchRequest.SortDescriptor]] = [
                [], [.init("i64", ascending: false)], [.init("flag"), .init("str")], [.init("dbl", ascending: false)],
                [.init("owner.name")], [.init("str", options: .caseInsensitive)],
            ]
            try check.view { snapshot in
                var requests: [FetchRequest] = []
                for predicate in predicates {
                    for order in orders {
                        for (limit, offset) in [(nil, nil), (2, 1), (nil, 3), (0, nil), (9, 99)] as [(Int?, Int?)] {
                            requests.append(
                                FetchRequest(
                                    "Indexed", where: predicate, sortedBy: order, limit: limit, offset: offset))
                        }
                    }
                }
                for entity in ["Being", "Animal", "Dog", "Robot"] as [EntityName] {
                    for includesSubentities in [true, false] {
                        for predicate in [nil, .greater("age", than: 1), .isNull("age")] as [FetchRequest.Predicate?] {
                            for order in [[], [.init("age", ascending: false)]] as [[FetchRequest.SortDescriptor]] {
                                requests.append(
                                    FetchRequest(
                                        entity, where: predicate, sortedBy: order
                                    ).with { $0.includesSubentities = includesSubentities })
                            }
                        }
                    }
                }
                for request in requests {
                    try expectEqual(
                        try snapshot.objectIDs(request), try snapshot.objects(request).map(\.id),
                        "the IDs of \(request)")
                }
                try expectError(.unknownProperty, in: "IDs by an unknown property") {
                    _ = try snapshot.objectIDs(FetchRequest("Indexed", where: .equal("i46", to: 1)))
                }
                try expectError(.invalidRequest, in: "IDs with a negative limit") {
                    _ = try snapshot.objectIDs(FetchRequest("Indexed", limit: -1))
                }
            }
        },
        ConformanceCheck(
            "rows.checked-request",
            "A compiled request gives the same objects, count and IDs each time. A request for another model is refused with `modelMismatch`."
        ) { bench in
            let store = try filled(20, on: bench)
            let request = FetchRequest(
                "Track", where: .notEqual("title", to: "t3"), sortedBy: [.init("title", ascending: false)], limit: 9,
                offset: 2)
            try store.view { snapshot in
                let checked = try CheckedFetchRequest(request, model: bench.model)
                let expected = try snapshot.objects(request)
                try expectEqual(expected.count, 9, "the number of objects")
                for _ in 0..<2 {
                    try expectEqual(try snapshot.drain(snapshot.fetch(checked: checked)), expected, "the objects")
                    try expectEqual(try snapshot.count(checked: checked), 9, "the count")
                    try expectEqual(try snapshot.objectIDs(checked: checked), expected.map(\.id), "the IDs")
                    _ = try snapshot.explain(checked: checked, executing: true)
                }
                let other = try CheckedFetchRequest(request, model: try ConformanceModel.changed(for: bench.fixture))
                try expectError(.modelMismatch, in: "a fetch") { _ = try snapshot.fetch(checked: other) }
                try expectError(.modelMismatch, in: "a count") { _ = try snapshot.count(checked: other) }
                try expectError(.modelMismatch, in: "IDs") { _ = try snapshot.objectIDs(checked: other) }
                try expectError(.modelMismatch, in: "a plan") {
                    _ = try snapshot.explain(checked: other, executing: true)
                }
            }
        },
        ConformanceCheck(
            "rows.object-ids",
            "A request for IDs returns the IDs of the objects that a fetch returns, in the same order.",
            on: .sample
        ) { bench in
            let sample = try OpenSample(bench, isReadOnly: false)
            let entity = try sample.largestEntity()
            try sample.view { snapshot in
                for limit in [nil, 7] as [Int?] {
                    let request = FetchRequest(entity, limit: limit, offset: 3)
                    try expectEqual(
                        try snapshot.objectIDs(request), try snapshot.objects(request).map(\.id), "the IDs")
                }
            }
        },
    ]

    /// A store whose rows a check compares with the expected ones.
    private struct RowCheck {
        let store: any PersistentStore

        func view(_ body: (any StoreSnapshot) throws -> Void) throws { try store.view(body) }

        func expect(
            _ rows: [[Value]], _ what: String, _ configure: (inout RowRequest) throws -> Void
        ) throws {
            var request = RowRequest(FetchRequest("Indexed"))
            try configure(&request)
            try store.view { snapshot in
                var found: [[Value]] = []
                let cursor = try snapshot.rows(request)
                var batch = RowBatch()
                while try cursor.next(into: &batch) {
                    for row in 0..<batch.count { found.append(batch.columns.indices.map { batch[row, $0] }) }
                }
                try expectEqual(found, rows, what)
            }
        }
    }

    private static func expectTrue(_ condition: Bool, _ what: String, _ actual: String) throws {
        try expect(condition, what, otherwise: actual)
    }

    private static func decimal(_ text: String) throws -> Decimal {
        try require(DecimalNumber(utf8: text.utf8), "a decimal").decimal
    }

    /// Creates a check on five objects of `Indexed`, two with the same owner.
    private static func rows(
        _ name: String, behavior: String, _ body: @escaping @Sendable (RowCheck) throws -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("rows.\(name)", behavior) { bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Dog", key: 1), values: ["name": "Rex", "age": 7])
                try changes.insert(ObjectID("Robot", key: 2), values: ["age": .null])
                let owners: [Value] = [
                    .objectID(ObjectID("Dog", key: 1)), .objectID(ObjectID("Robot", key: 2)),
                    .objectID(ObjectID("Dog", key: 1)),
                    .null, .null,
                ]
                let doubles: [Value] = [-0.0, .double(.nan), 1.5, 0.0, .double(-.nan)]
                for (index, owner) in owners.enumerated() {
                    let key = Int64(index + 1)
                    try changes.insert(
                        ObjectID("Indexed", key: key),
                        values: [
                            "i64": .int(key), "owner": owner, "dbl": doubles[index], "flag": .bool(index % 2 == 0),
                            "flt": index < 2 ? .double(Double(index) + 1) : .null,
                            "dec": index < 2
                                ? .decimal(try decimal(["100000000000000000000000000", "0.3"][index])) : .null,
                            "str": ["x", "abc", "def", "four", .null][index],
                        ])
                    if index < 3 {
                        try changes.insert(
                            ObjectID("Everything", key: key),
                            values: ["dbl": .double([1e16, 1, -1e16][index]), "i64": .int(.max)])
                    }
                }
            }
            try body(RowCheck(store: store))
        }
    }
}
