internal import Foundation
internal import RoostCore
internal import RoostPredicates

extension ConformanceCheck {
    /// Comparisons and orders of every type, with and without an index, nulls included.
    static let fetchingByType: [ConformanceCheck] = [
        byType("integer16", attribute: "i16") { [-32768, -2, -1, 0, 1, 2, 32767, 1].map { .int($0) } },
        byType("integer32", attribute: "i32") {
            [Int64(Int32.min), -1, 0, 1, 255, 256, Int64(Int32.max), 0].map { .int($0) }
        },
        byType("integer64", attribute: "i64") {
            [Int64.min, -9_007_199_254_740_993, -1, 0, 1, 9_007_199_254_740_992, 9_007_199_254_740_993, .max, -1].map {
                .int($0)
            }
        },
        byType(
            "integer64-with-doubles", attribute: "i64",
            constants: {
                [
                    0x1p53, 9_007_199_254_740_994, 0.5, -0.5, 0x1p63, -0x1p63, 1e300, -1e300, -0.0, .infinity,
                    -.infinity, .nan,
                ].map { .double($0) }
            }
        ) { [Int64.min, -1, 0, 1, 9_007_199_254_740_992, 9_007_199_254_740_993, .max].map { .int($0) } },
        byType("double", attribute: "dbl") {
            [
                -.infinity, -1e300, -1, -.leastNonzeroMagnitude, -0.0, 0, .leastNonzeroMagnitude, 0.1, 0.1 + 0.2, 0.3,
                1, 1e300, .infinity, .nan, Double(bitPattern: 0xFFF8_0000_0000_0007),
            ]
            .map { .double($0) }
        },
        byType(
            "double-with-integers", attribute: "dbl",
            constants: { [.min, -1, 0, 1, 9_007_199_254_740_993, .max].map { .int($0) } }
        ) {
            [-0x1p63, -1, -0.0, 0, 0.5, 1, 0x1p53, 0x1p63, .infinity, .nan].map { .double($0) }
        },
        byType("float", attribute: "flt") {
            [-.infinity, -1.5, -0.0, 0, 0.5, 1.5, 16_777_216, .infinity, .nan].map { .double($0) }
        },
        byType("decimal", attribute: "dec") {
            try decimals([
                "-1e127", "-99999999999999999999999999999999999999", "-1", "-0.1", "0", "1e-128", "0.1",
                "0.10000000000000000000000000000000000001",
                "1", "9007199254740993", "9007199254740992", "10", "99999999999999999999999999999999999999", "1e127",
                "NaN",
            ])
        },
        byType(
            "decimal-with-integers", attribute: "dec",
            constants: { [.min, -1, 0, 1, 9_007_199_254_740_993, .max].map { .int($0) } }
        ) {
            try decimals([
                "-9223372036854775808", "-1", "0", "0.5", "1", "9007199254740993", "9223372036854775807",
                "9223372036854775808", "1e100",
            ])
        },
        byType("string", attribute: "str") {
            [
                "", " ", "A", "B", "a", "aa", "ab", "a\u{0}", "a\u{0}b", "b", "\u{E9}", "e\u{301}", "e", "\u{7F}",
                "\u{80}", "\u{7FF}", "\u{FFFF}",
                "\u{10000}", "\u{10FFFF}", "10", "9", "%", "_", "a%", String(repeating: "long", count: 400),
                String(repeating: "long", count: 400) + "x", "a",
            ].map { .string($0) }
        },
        byType("boolean", attribute: "flag") { [.bool(true), .bool(false), .bool(true)] },
        byType("date", attribute: "day") {
            [-63_114_076_800, -1, -0.0, 0, 0.1, 0.1.nextUp, 1, 631_152_000.123_456, 1e300].map {
                .date(Date(timeIntervalSinceReferenceDate: $0))
            }
        },
        byType("uuid", attribute: "ident") {
            try [
                "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
                "7FFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
                "80000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
            ].map { .uuid(try require(UUID(uuidString: $0), "a UUID")) }
        },
        byType("uri", attribute: "link") {
            ["", "a:b", "a:B", "http://x/ä", "http://x", "http://x/"].map { .uri($0) }
        },
        byType("data", attribute: "blob") {
            [[], [0], [0, 0], [1], [127], [128], [255], [255, 0]].map { .data(Data($0 as [UInt8])) }
        },
        byType("transformable", attribute: "coded", operators: [.equal, .notEqual, .isIn]) {
            [[], [0], [1, 2, 3]].map { .data(Data($0 as [UInt8])) }
        },
        byType("object-id", attribute: "oid", operators: [.equal, .notEqual, .isIn]) {
            [ObjectID("Dog", key: 1), ObjectID("Dog", key: 2), ObjectID("Tag", key: 1), ObjectID("Track", key: .max)]
                .map { .objectID($0) }
        },
        byType("composite-string", attribute: "place.street") { ["", "a", "ab", "b"] },
        byType("composite-nested-double", attribute: "place.position.north") {
            [-1, -0.0, 0, 1, .infinity, .nan].map { .double($0) }
        },
        ConformanceCheck(
            "fetch.type.relationship",
            "To-one relationships compare with IDs: ==, !=, IN and null, with and without an index."
        ) { bench in
            let store = try bench.create()
            let owners: [Value] = [
                .objectID(ObjectID("Dog", key: 1)), .null, .objectID(ObjectID("Robot", key: 2)),
                .objectID(ObjectID("Dog", key: 1)),
                .objectID(ObjectID("Dog", key: 9)),
            ]
            try store.change { changes in
                for (index, owner) in owners.enumerated() {
                    try changes.insert(ObjectID("Indexed", key: Int64(index + 1)), values: ["owner": owner])
                }
                for (index, parent) in [1, 1, 2].enumerated() {
                    try changes.insert(
                        ObjectID("Node", key: Int64(index + 1)),
                        values: ["parent": .objectID(ObjectID("Node", key: Int64(parent)))])
                }
            }
            try store.view { snapshot in
                func expectKeys(_ predicate: FetchRequest.Predicate, keys: [Int64], entity: EntityName = "Indexed")
                    throws
                {
                    try expectEqual(
                        try snapshot.keys(FetchRequest(entity, where: predicate)), keys, "the objects with \(predicate)"
                    )
                }
                try expectKeys(.equal("owner", to: owners[0]), keys: [1, 4])
                try expectKeys(.notEqual("owner", to: owners[0]), keys: [2, 3, 5])
                try expectKeys(.isNull("owner"), keys: [2])
                try expectKeys(.isNotNull("owner"), keys: [1, 3, 4, 5])
                try expectKeys(.isIn("owner", values: [owners[2], owners[4]]), keys: [3, 5])
                try expectKeys(.isIn("owner", values: [owners[2], .null]), keys: [2, 3])
                try expectKeys(!.isIn("owner", values: [owners[0]]), keys: [2, 3, 5])
                try expectKeys(.equal("parent", to: .objectID(ObjectID("Node", key: 1))), keys: [1, 2], entity: "Node")
                try expectKeys(
                    .comparison(.init(left: .keyPath(["parent"]), operator: .equal, right: .evaluatedObject)),
                    keys: [1],
                    entity: "Node")
            }
        },
    ]

    private static func byType(
        _ name: String, attribute: String, operators: [FetchRequest.Comparison.Operator]? = nil,
        constants: (@Sendable () throws -> [Value])? = nil, values: @escaping @Sendable () throws -> [Value]
    ) -> ConformanceCheck {
        ConformanceCheck(
            "fetch.type.\(name)",
            "For \(name.replacing("-", with: " ")), every operator and sort order follows the rules of predicates, nulls included."
        ) { bench in
            let stored = try values() + [.null, .null]
            let store = try bench.create()
            let objects = try insert(stored, as: attribute, into: store)
            let operators =
                operators ?? [
                    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn,
                    .beginsWith,
                ]
            let isText = stored.contains {
                if case .string = $0 { true } else if case .uri = $0 { true } else { false }
            }
            let constants = try constants?() ?? stored
            try store.view { snapshot in
                for entity in ["Everything", "Indexed"] as [EntityName] {
                    let comparison = AttributeComparison(
                        entity: entity, attribute: attribute, constants: constants, objects: objects,
                        snapshot: snapshot)
                    for used in operators where used != .beginsWith || isText { try comparison.compare(using: used) }
                    if operators.contains(.less) { try comparison.compareOrders() }
                }
            }
        }
    }

    /// Inserts objects of `Everything` and `Indexed` with these values, and returns those of
    /// `Everything`.
    private static func insert(
        _ stored: [Value], as attribute: String, into store: any PersistentStore
    ) throws -> [(id: ObjectID, values: [String: Value])] {
        var objects: [(id: ObjectID, values: [String: Value])] = []
        try store.change { changes in
            for (index, value) in stored.shuffledForChecks.enumerated() {
                // An element of a composite is written by its dotted path and read as part of the
                // composite.
                var written: [String: Value] = [attribute: value]
                let path = attribute.split(separator: ".").map(String.init)
                if path.count > 1 {
                    written = ["place": .composite([:]), attribute: value]
                    if path.count > 2 { written["place.position"] = .composite([:]) }
                }
                for entity in ["Everything", "Indexed"] as [EntityName] {
                    try changes.insert(ObjectID(entity, key: Int64(index + 1)), values: written)
                }
                let nested = path.reversed().dropLast().reduce(value) { .composite([$1: $0]) }
                objects.append((ObjectID("Everything", key: Int64(index + 1)), [path[0]: nested]))
            }
        }
        return objects
    }
}

/// A comparison of a store's results with those of ``PlainPredicate``, for requests on one
/// attribute.
private struct AttributeComparison {
    let entity: EntityName
    /// The attribute; an element of a composite has a dotted path.
    let attribute: String
    /// The values that the attribute is compared with.
    let constants: [Value]
    let objects: [(id: ObjectID, values: [String: Value])]
    let snapshot: any StoreSnapshot

    private func compare(_ request: FetchRequest) throws {
        let expected = try PlainPredicate.keys(request, among: objects, in: snapshot.model)
        try expectEqual(try snapshot.keys(request), expected, "the objects of \(entity) for \(request)")
        try expectEqual(try snapshot.count(request), expected.count, "the count of \(entity) for \(request)")
    }

    /// Tests requests that compare the attribute with each constant or, for `IN`, with lists of
    /// constants.
    func compare(using comparison: FetchRequest.Comparison.Operator) throws {
        if comparison == .isIn {
            for size in 0...3 {
                let list = Array(constants.prefix(size)) + Array(constants.suffix(size == 3 ? 1 : 0))
                try compare(FetchRequest(entity, where: .isIn(attribute, values: list)))
                try compare(FetchRequest(entity, where: !.isIn(attribute, values: list)))
            }
            return
        }
        let key = attribute.split(separator: ".").map(String.init)
        for constant in constants {
            let predicate = FetchRequest.Predicate.compare(attribute, using: comparison, with: constant)
            try compare(FetchRequest(entity, where: predicate))
            try compare(FetchRequest(entity, where: .not(predicate)))
            try compare(
                FetchRequest(
                    entity,
                    where: .comparison(.init(left: .constant(constant), operator: comparison, right: .keyPath(key)))))
        }
    }

    /// Tests requests that are sorted by the attribute, in both directions.
    func compareOrders() throws {
        for ascending in [true, false] {
            let order = [FetchRequest.SortDescriptor(attribute, ascending: ascending)]
            try compare(FetchRequest(entity, sortedBy: order))
            try compare(FetchRequest(entity, sortedBy: order, limit: 3, offset: 2))
            for constant in constants.prefix(4) {
                try compare(
                    FetchRequest(entity, where: .greaterOrEqual(attribute, to: constant), sortedBy: order, limit: 4))
            }
        }
    }
}
