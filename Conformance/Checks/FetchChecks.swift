internal import Foundation
internal import RoostCore
internal import RoostPredicates

extension ConformanceCheck {
    /// Fetch requests: predicates, orders, limits and offsets.
    static let fetching: [ConformanceCheck] = [
        fetch(
            "two-valued-logic",
            behavior:
                "Predicates are true or false, never unknown. Null is unequal to every other value and has no order."
        ) { snapshot, entity in
            // Objects 1 to 4 have str = "x", "y", "" and null. The table was written by hand.
            let table: [(FetchRequest.Predicate, [Int64])] = [
                (.isNull("str"), [4]), (.isNotNull("str"), [1, 2, 3]), (.equal("str", to: "x"), [1]),
                (.notEqual("str", to: "x"), [2, 3, 4]),
                (!.equal("str", to: "x"), [2, 3, 4]), (!.notEqual("str", to: "x"), [1]),
                (.less("str", than: "y"), [1, 3]),
                (!.less("str", than: "y"), [2, 4]),
                (.greater("str", than: ""), [1, 2]), (!.greater("str", than: ""), [3, 4]),
                (.lessOrEqual("str", to: "x"), [1, 3]),
                (!.lessOrEqual("str", to: "x"), [2, 4]),
                (.greaterOrEqual("str", to: ""), [1, 2, 3]), (!.greaterOrEqual("str", to: ""), [4]),
                (.beginsWith("str", prefix: ""), [1, 2, 3]),
                (!.beginsWith("str", prefix: "x"), [2, 3, 4]), (.isIn("str", values: ["x", ""]), [1, 3]),
                (!.isIn("str", values: ["x", ""]), [2, 4]),
                (.isIn("str", values: []), []), (!.isIn("str", values: []), [1, 2, 3, 4]),
                (.isIn("str", values: ["x", .null]), [1, 4]),
                (.less("str", than: .null), []),
                (!.less("str", than: .null), [1, 2, 3, 4]), (.greaterOrEqual("str", to: .null), []),
                (!(.equal("str", to: "x") && .isNull("str")), [1, 2, 3, 4]),
                (!(.equal("str", to: "x") || .isNull("str")), [2, 3]),
                (.notEqual("str", to: "x") && .notEqual("str", to: "y"), [3, 4]),
            ]
            for (predicate, keys) in table {
                try expectEqual(
                    try snapshot.keys(FetchRequest(entity, where: predicate)), keys, "the objects with \(predicate)")
                try expectEqual(
                    try snapshot.count(FetchRequest(entity, where: predicate)), keys.count, "the count for \(predicate)"
                )
            }
        },
        fetch(
            "logic",
            behavior:
                "AND, OR and NOT nest. Without operands, AND is true and OR is false. A constant predicate matches all objects or none."
        ) {
            snapshot, entity in
            let (x, y, low): (FetchRequest.Predicate, FetchRequest.Predicate, FetchRequest.Predicate) = (
                .equal("str", to: "x"), .equal("str", to: "y"), .less("i64", than: 3)
            )
            let table: [(FetchRequest.Predicate?, [Int64])] = [
                (nil, [1, 2, 3, 4]), (.constant(true), [1, 2, 3, 4]), (.constant(false), []), (.and([]), [1, 2, 3, 4]),
                (.or([]), []),
                (.not(.and([])), []), (.not(.or([])), [1, 2, 3, 4]), (x && low, [1]), (x || y, [1, 2]),
                ((x || y) && !low, []), (!(x || y) && !low, [3, 4]),
                (!(!(!(x))), [2, 3, 4]),
                (.and([.or([x, y]), .or([x, .constant(false)]), .not(.constant(false))]), [1]),
                (x && .constant(false), []),
                (x || .constant(true), [1, 2, 3, 4]),
                (.or([.and([x, low]), .and([y, !low]), .isNull("str")]), [1, 4]),
            ]
            for (predicate, keys) in table {
                try expectEqual(
                    try snapshot.keys(FetchRequest(entity, where: predicate)), keys,
                    "the objects with \(predicate as Any)")
            }
        },
        fetch("self", behavior: "A predicate can compare the object itself with IDs.") { snapshot, entity in
            let mine = FetchRequest.Expression.evaluatedObject
            func id(_ key: Int64) -> FetchRequest.Expression { .constant(.objectID(ObjectID(entity, key: key))) }
            let table: [(FetchRequest.Comparison, [Int64])] = [
                (.init(left: mine, operator: .equal, right: id(2)), [2]),
                (.init(left: mine, operator: .notEqual, right: id(2)), [1, 3, 4]),
                (.init(left: id(3), operator: .equal, right: mine), [3]),
                (.init(left: mine, operator: .isIn, right: .aggregate([id(4), id(1), id(99)])), [1, 4]),
                (.init(left: mine, operator: .isIn, right: .aggregate([])), []),
                (.init(left: mine, operator: .equal, right: .constant(.objectID(ObjectID("Tag", key: 2)))), []),
                (.init(left: mine, operator: .equal, right: .constant(.null)), []),
            ]
            for (comparison, keys) in table {
                try expectEqual(
                    try snapshot.keys(FetchRequest(entity, where: .comparison(comparison))), keys,
                    "the objects with \(comparison)")
            }
        },
        fetch("property-with-property", behavior: "A predicate can compare two properties of one object.") {
            snapshot, entity in
            let table: [(FetchRequest.Comparison, [Int64])] = [
                (.init(left: .keyPath(["i64"]), operator: .equal, right: .keyPath(["i32"])), [1, 3]),
                (.init(left: .keyPath(["i64"]), operator: .notEqual, right: .keyPath(["i32"])), [2, 4]),
                (.init(left: .keyPath(["i64"]), operator: .less, right: .keyPath(["i32"])), [2]),
                (.init(left: .keyPath(["dbl"]), operator: .equal, right: .keyPath(["i64"])), [1]),
                (.init(left: .keyPath(["str"]), operator: .equal, right: .keyPath(["str"])), [1, 2, 3, 4]),
            ]
            for (comparison, keys) in table {
                try expectEqual(
                    try snapshot.keys(FetchRequest(entity, where: .comparison(comparison))), keys,
                    "the objects with \(comparison)")
            }
        },
        fetch(
            "nan", behavior: "NaN does not equal any value, not even itself, and is neither less nor greater than any."
        ) {
            snapshot, entity in
            // Objects 1 to 4 have dbl = 1, NaN, -0.0 and null.
            let table: [(FetchRequest.Predicate, [Int64])] = [
                (.equal("dbl", to: .double(.nan)), []), (.notEqual("dbl", to: .double(.nan)), [1, 2, 3, 4]),
                (.less("dbl", than: .double(.nan)), []),
                (.greaterOrEqual("dbl", to: .double(.nan)), []),
                (!.greaterOrEqual("dbl", to: .double(.nan)), [1, 2, 3, 4]),
                (.isIn("dbl", values: [.double(.nan), 1.0]), [1]),
                (.greater("dbl", than: .double(-.infinity)), [1, 3]),
                (.lessOrEqual("dbl", to: .double(.infinity)), [1, 3]),
                (.notEqual("dbl", to: 1.0), [2, 3, 4]),
                (.isNotNull("dbl"), [1, 2, 3]), (.equal("dbl", to: 0.0), [3]),
            ]
            for (predicate, keys) in table {
                try expectEqual(
                    try snapshot.keys(FetchRequest(entity, where: predicate)), keys, "the objects with \(predicate)")
            }
        },
        fetch(
            "sort-nulls-and-nan",
            behavior: "Nulls sort before everything and NaN after every number. A descending order is the reverse."
        ) { snapshot, entity in
            try expectEqual(
                try snapshot.keys(FetchRequest(entity, sortedBy: [.init("dbl")])), [4, 3, 1, 2], "ascending")
            try expectEqual(
                try snapshot.keys(FetchRequest(entity, sortedBy: [.init("dbl", ascending: false)])), [2, 1, 3, 4],
                "descending")
        },
        fetch(
            "unknown-names",
            behavior: "Unknown properties in a predicate or an order throw `unknownProperty`, before the first record."
        ) { snapshot, entity in
            let requests = [
                FetchRequest(entity, where: .equal("nothing", to: 1)),
                FetchRequest(entity, where: .constant(false) && .isNull("nothing")),
                FetchRequest(entity, sortedBy: [.init("nothing")]),
                FetchRequest(entity, where: .equal("place.nothing", to: "x")),
                FetchRequest(entity, sortedBy: [.init("i64"), .init("place.nothing")]),
            ]
            for request in requests {
                try expectError(.unknownProperty, in: "fetch of \(request)") { _ = try snapshot.fetch(request) }
                try expectError(.unknownProperty, in: "count of \(request)") { _ = try snapshot.count(request) }
            }
            let error = try expectError(.unknownProperty, in: "a mistyped name") {
                _ = try snapshot.fetch(FetchRequest(entity, where: .equal("fleg", to: true)))
            }
            try expect(error.message.contains("fleg"), "the message names the property", otherwise: error.message)
        },
        fetch(
            "bad-requests",
            behavior: "A negative limit or offset, and comparisons that make no sense, throw `invalidRequest`."
        ) { snapshot, entity in
            let requests = [
                FetchRequest(entity, limit: -1), FetchRequest(entity, offset: -1),
                FetchRequest(entity, where: .equal("str", to: 1)),
                FetchRequest(entity, where: .less("i64", than: "1")),
                FetchRequest(entity, where: .beginsWith("i64", prefix: "1")),
                FetchRequest(
                    entity, where: .comparison(.init(left: .keyPath(["i64"]), operator: .isIn, right: .constant(1)))),
            ]
            for request in requests {
                try expectError(.invalidRequest, in: "fetch of \(request)") { _ = try snapshot.fetch(request) }
                try expectError(.invalidRequest, in: "count of \(request)") { _ = try snapshot.count(request) }
            }
        },
        ConformanceCheck(
            "fetch.limit-and-offset",
            "Limit and offset select a part of the ordered result. An offset past its end selects nothing."
        ) { bench in
            let store = try filled(30, on: bench)
            try store.view { snapshot in
                for order in [[], [FetchRequest.SortDescriptor("title", ascending: false)]] {
                    let all = try snapshot.keys(FetchRequest("Track", sortedBy: order))
                    try expectEqual(all.count, 30, "all")
                    for (limit, offset) in [
                        (0, 0), (0, 5), (1, 0), (5, 0), (5, 28), (nil, 7), (nil, 30), (nil, 31), (30, 0), (31, 0),
                        (.max, 3), (3, .max),
                    ] as [(Int?, Int)] {
                        let request = FetchRequest("Track", sortedBy: order, limit: limit, offset: offset)
                        let expected = Array(all.dropFirst(offset).prefix(limit ?? .max))
                        try expectEqual(
                            try snapshot.keys(request), expected,
                            "limit \(limit.map(String.init) ?? "none"), offset \(offset)")
                        try expectEqual(
                            try snapshot.count(request), expected.count,
                            "the count, limit \(limit.map(String.init) ?? "none"), offset \(offset)")
                    }
                    let paged = try stride(from: 0, to: 35, by: 4).flatMap {
                        try snapshot.keys(FetchRequest("Track", sortedBy: order, limit: 4, offset: $0))
                    }
                    try expectEqual(paged, all, "the pages, one after the other")
                }
            }
        },
        fetch("sort.repeated-keys", behavior: "A repeated sort key, in either direction, changes nothing.") {
            (snapshot, entity) in
            let keys = ["dbl", "i64", "str", "i32"]
            let repeated = (0..<5000).map {
                FetchRequest.SortDescriptor(keys[$0 % keys.count], ascending: ($0 / keys.count) % 2 == 0)
            }
            try expectEqual(
                try snapshot.keys(FetchRequest(entity, sortedBy: repeated)),
                try snapshot.keys(FetchRequest(entity, sortedBy: Array(repeated.prefix(keys.count)))), "the keys")
        },
        ConformanceCheck(
            "fetch.sort.several-keys",
            "Several sort keys apply one after the other, each in its direction. Ties are ordered by ascending key."
        ) { bench in
            let store = try bench.create()
            var objects: [(id: ObjectID, values: [String: Value])] = []
            try store.change { changes in
                for key in (Int64(1)...60).shuffledForChecks {
                    var values: [String: Value] = [
                        "flag": .bool(key % 2 == 0), "str": .string("s\(key % 4)"), "dbl": .double(Double(key % 5)),
                    ]
                    if key % 7 == 0 { values["str"] = .null }
                    for entity in ["Everything", "Indexed"] as [EntityName] {
                        try changes.insert(ObjectID(entity, key: key), values: values)
                    }
                    objects.append((ObjectID("Everything", key: key), values))
                }
            }
            try store.view { snapshot in
                for entity in ["Everything", "Indexed"] as [EntityName] {
                    for (a, b, c) in [
                        (true, true, true), (true, false, true), (false, true, false), (false, false, false),
                    ] {
                        for keys in [
                            ["flag", "str", "dbl"], ["str", "dbl"], ["dbl", "flag"], ["flag", "str"], ["dbl", "i64"],
                        ] {
                            let request = FetchRequest(
                                entity, sortedBy: zip(keys, [a, b, c]).map { .init($0, ascending: $1) })
                            try expectEqual(
                                try snapshot.keys(request),
                                try PlainPredicate.keys(request, among: objects, in: store.model),
                                "the order of \(request.sortDescriptors)")
                        }
                    }
                    let ties = try snapshot.keys(
                        FetchRequest(entity, where: .equal("dbl", to: 2.0), sortedBy: [.init("dbl", ascending: false)]))
                    try expectEqual(ties, ties.sorted(), "ties of a descending order, by ascending key")
                }
            }
        },
        ConformanceCheck(
            "fetch.random",
            "Random predicates, orders and pages give the same result as a plain evaluation, with and without indexes."
        ) { bench in
            var random = SeededGenerator(seed: 20_260_101)
            let store = try bench.create()
            var objects: [(id: ObjectID, values: [String: Value])] = []
            try store.change { changes in
                for key in Int64(1)...120 {
                    var values: [String: Value] = [:]
                    for name in ["i16", "i64", "dbl", "str", "flag", "day"] where !random.oneIn(5) {
                        values[name] = smallValue(name, random: &random)
                    }
                    for entity in ["Everything", "Indexed"] as [EntityName] {
                        try changes.insert(ObjectID(entity, key: key), values: values)
                    }
                    objects.append((ObjectID("Everything", key: key), values))
                }
            }
            try store.view { snapshot in
                for round in 0..<250 {
                    for entity in ["Everything", "Indexed"] as [EntityName] {
                        var copy = random
                        let request = randomRequest(entity, random: &copy)
                        let expected = try PlainPredicate.keys(request, among: objects, in: store.model)
                        try expectEqual(try snapshot.keys(request), expected, "round \(round), \(request)")
                        try expectEqual(
                            try snapshot.count(request), expected.count, "the count, round \(round), \(request)")
                        if entity == "Indexed" { random = copy }
                    }
                }
            }
        },
        ConformanceCheck("fetch.follows-changes", "Fetches through an index follow every insert, update and delete.") {
            bench in
            let store = try bench.create()
            var random = SeededGenerator(seed: 99)
            var current: [Int64: (version: UInt32, values: [String: Value])] = [:]
            for round in 0..<40 {
                try store.change { changes in
                    for _ in 0..<8 {
                        let key = Int64(random.below(40) + 1)
                        let values: [String: Value] = [
                            "i64": smallValue("i64", random: &random), "str": smallValue("str", random: &random),
                            "dbl": smallValue("dbl", random: &random),
                        ]
                        let touched = (changes.inserts.ids + changes.updates.ids + changes.deletes.map(\.id)).contains(
                            ObjectID("Indexed", key: key))
                        if touched { continue }
                        if let object = current[key] {
                            if random.oneIn(3) {
                                changes.delete(ObjectID("Indexed", key: key), version: object.version)
                                current[key] = nil
                            } else {
                                try changes.update(
                                    ObjectID("Indexed", key: key), version: object.version, values: values)
                                current[key] = (object.version + 1, values)
                            }
                        } else {
                            try changes.insert(ObjectID("Indexed", key: key), values: values)
                            current[key] = (1, values)
                        }
                    }
                }
                let objects = current.sorted { $0.key < $1.key }.map {
                    (id: ObjectID("Indexed", key: $0.key), values: $0.value.values)
                }
                try store.view { snapshot in
                    for _ in 0..<6 {
                        let name = random.pick(["i64", "str", "dbl"])
                        let request = FetchRequest(
                            "Indexed",
                            where: .compare(
                                name, using: random.pick([.equal, .less, .greaterOrEqual]),
                                with: smallValue(name, random: &random)),
                            sortedBy: [.init(random.pick(["i64", "str", "dbl"]), ascending: random.oneIn(2))])
                        try expectEqual(
                            try snapshot.keys(request),
                            try PlainPredicate.keys(request, among: objects, in: store.model),
                            "round \(round), \(request)")
                    }
                }
            }
        },
    ]

    /// Creates a check that runs on four objects of `Everything`, and then on four of `Indexed`.
    private static func fetch(
        _ name: String, behavior: String, _ body: @escaping @Sendable (any StoreSnapshot, EntityName) throws -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("fetch.\(name)", behavior) { bench in
            let store = try bench.create()
            let rows: [[String: Value]] = [
                ["str": "x", "i64": 1, "i32": 1, "dbl": 1.0], ["str": "y", "i64": 2, "i32": 5, "dbl": .double(.nan)],
                ["str": "", "i64": 3, "i32": 3, "dbl": .double(-0.0)], ["i64": 4],
            ]
            try store.change { changes in
                for (index, row) in rows.enumerated() {
                    for entity in ["Everything", "Indexed"] as [EntityName] {
                        try changes.insert(ObjectID(entity, key: Int64(index + 1)), values: row)
                    }
                }
            }
            for entity in ["Everything", "Indexed"] as [EntityName] { try store.view { try body($0, entity) } }
        }
    }

    /// Returns one of a few values, so that predicates match some objects.
    private static func smallValue(_ name: String, random: inout SeededGenerator) -> Value {
        switch name {
        case "i16", "i64": .int(Int64(random.below(7)) - 3)
        case "dbl": .double(random.pick([-.infinity, -1.5, -0.0, 0, 1, 2.5, .nan]))
        case "str": .string(random.pick(["", "a", "ab", "b", "é", "e\u{301}", "a\u{0}"]))
        case "flag": .bool(random.oneIn(2))
        default: .date(Date(timeIntervalSinceReferenceDate: Double(random.below(5)) - 2.5))
        }
    }

    private static func randomPredicate(_ random: inout SeededGenerator, depth: Int) -> FetchRequest.Predicate {
        if depth > 0 {
            switch random.below(5) {
            case 0: return .and((0..<random.below(4)).map { _ in randomPredicate(&random, depth: depth - 1) })
            case 1: return .or((0..<random.below(4)).map { _ in randomPredicate(&random, depth: depth - 1) })
            case 2: return .not(randomPredicate(&random, depth: depth - 1))
            default: break
            }
        }
        let name = random.pick(["i16", "i64", "dbl", "str", "flag", "day"])
        switch random.below(8) {
        case 0: return random.oneIn(2) ? .isNull(name) : .isNotNull(name)
        case 1:
            return .isIn(
                name,
                values: (0..<random.below(4)).map { _ in random.oneIn(6) ? .null : smallValue(name, random: &random) })
        case 2: return .beginsWith("str", prefix: random.pick(["", "a", "e", "é"]))
        default:
            let operators: [FetchRequest.Comparison.Operator] = [
                .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
            ]
            return .compare(
                name, using: random.pick(operators), with: random.oneIn(12) ? .null : smallValue(name, random: &random))
        }
    }

    private static func randomRequest(_ entity: EntityName, random: inout SeededGenerator) -> FetchRequest {
        var request = FetchRequest(entity, where: random.oneIn(10) ? nil : randomPredicate(&random, depth: 3))
        for _ in 0..<random.below(3) {
            request.sortDescriptors.append(
                .init(random.pick(["i16", "i64", "dbl", "str", "flag", "day"]), ascending: random.oneIn(2)))
        }
        if random.oneIn(3) { request.fetchLimit = random.below(20) }
        if random.oneIn(3) { request.fetchOffset = random.below(20) }
        return request
    }
}

extension ClosedRange<Int64> {
    /// The numbers in a shuffled order that is always the same.
    var shuffledForChecks: [Int64] { Array(self).shuffledForChecks }
}

extension RecordBatch {
    var ids: [ObjectID] { (0..<count).map { id(at: $0) } }
}
