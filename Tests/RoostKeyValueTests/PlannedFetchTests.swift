import Foundation
import RoostCore
import RoostKeyValue
import RoostMemory
import RoostPredicates
import RoostQuery
import Testing

/// Fetches through indexes, compared with the same fetches by reading everything.
@Suite("Planned fetches")
struct PlannedFetchTests {
    @Test("random fetches through indexes find the same objects as a scan", arguments: 0..<24)
    func equalsScan(seed: Int) throws {
        var generator = SeededGenerator(UInt64(seed) + 1)
        let sample = try PlanSample(count: 150, using: &generator)
        var used: Set<String> = []
        for _ in 0..<150 {
            let request = sample.request(using: &generator)
            let expected = try sample.scanned(request)
            let plan = try sample.snapshot.explain(request, executing: true)
            let found = try sample.snapshot.keys(request)
            #expect(found == expected, "seed \(seed): \(request) by \(plan)")
            if plan.access != [.scan] { used.insert("\(plan.access)\(plan.order == .asFound)") }
            if found != expected { return }
        }
        // With few different plans, the test would compare little.
        #expect(used.count > 20)
    }

    @Test("a sorted fetch takes its order from an index, in both directions")
    func takesOrderFromIndex() throws {
        var generator = SeededGenerator(77)
        let sample = try PlanSample(count: 400, using: &generator)
        var orders = 0
        for key in ["text", "number", "real", "price", "date", "small", "link"] {
            for isAscending in [true, false] {
                for (limit, offset) in [(1, 0), (7, 3), (90, 0), (1000, 350)] {
                    let request = FetchRequest(
                        "Item", sortedBy: [.init(key, ascending: isAscending)], limit: limit, offset: offset)
                    #expect(try sample.snapshot.keys(request) == sample.scanned(request), "\(request)")
                    let plan = try sample.snapshot.explain(request, executing: false)
                    if plan.order == .asFound { orders += 1 }
                }
            }
        }
        #expect(orders == 7 * 2 * 4)
    }
}

extension PlannedFetchTests {
    @Test("an order by folded text or through a relationship uses no index")
    func sortsOtherOrders() throws {
        var generator = SeededGenerator(78)
        let sample = try PlanSample(count: 100, using: &generator)
        for descriptor: FetchRequest.SortDescriptor in [
            .init("text", options: .caseInsensitive), .init("text", options: .localized), .init("owner.text"),
        ] {
            let request = FetchRequest("Item", sortedBy: [descriptor], limit: 30)
            #expect(try sample.snapshot.keys(request) == sample.scanned(request))
            #expect(try sample.snapshot.explain(request, executing: false).order == .best(30))
        }
    }
}

extension PlannedFetchTests {
    @Test("a fetch with lists of values for a compound index finds each object once, in order")
    func mergesLists() throws {
        var generator = SeededGenerator(79)
        let sample = try PlanSample(count: 300, using: &generator)
        let flags = FetchRequest.Predicate.isIn("flag", values: [.bool(true), .bool(false)])
        let cursor = try sample.snapshot.fetch(FetchRequest("Item", where: .isNotNull("plain")))
        var (batch, numbers) = (RecordBatch(model: sample.snapshot.model), Set<Int64>())
        while try cursor.next(into: &batch) {
            batch.forEachRecord { record in
                if let field = record.layout.field("plain"), case .int(let number) = record.value(field) {
                    numbers.insert(number)
                }
            }
        }
        let values = numbers.sorted().prefix(5).map { Value.int($0) }
        #expect(values.count > 2)
        var usedCount = 0
        for isAscending in [true, false] {
            for (limit, offset) in [(1000, 0), (5, 3)] {
                let request = FetchRequest(
                    "Item", where: flags && .isIn("plain", values: values),
                    sortedBy: [.init("flag", ascending: isAscending)],
                    limit: limit, offset: offset)
                #expect(try sample.snapshot.keys(request) == sample.scanned(request))
                #expect(try sample.snapshot.count(request) == sample.scanned(request).count)
                let plan = try sample.snapshot.explain(request, executing: false)
                if plan.access == [.index("flagPlain")] { usedCount += 1 }
            }
        }
        #expect(usedCount == 4)
    }
}

/// Counts of the records and index entries that fetches visit.
@Suite("Visits of fetches")
struct FetchVisitTests {
    static var count: Int { ProcessInfo.processInfo.environment["ROOST_PLANNED_OBJECTS"].flatMap { Int($0) } ?? 20_000 }

    private static let store = Result { try VisitSample.store(count: count) }

    private func visits(_ request: FetchRequest) throws -> (found: Int, visited: Int, plan: FetchPlan) {
        let snapshot = try Self.store.get().snapshot()
        defer { snapshot.close() }
        let plan = try snapshot.explain(request, executing: true)
        return (try snapshot.keys(request).count, try #require(plan.visitedCount), plan)
    }

    @Test(
        "a fetch through an index visits at most 8 entries more than it finds",
        arguments: [
            ("equality", FetchRequest.Predicate.equal("number", to: .int(77))),
            ("unique", .equal("code", to: "c500")),
            ("prefix", .beginsWith("title", prefix: "t12")),
            ("range", .greaterOrEqual("number", to: .int(100)) && .less("number", than: .int(140))),
            ("half range", .less("number", than: .int(30))),
            ("list", .isIn("title", values: ["t17", "t3", "nothing"])),
            ("compound", .equal("kind", to: .int(3)) && .greater("number", than: .int(900))),
            ("compound equality", .equal("kind", to: .int(3)) && .equal("number", to: .int(907))),
            ("descending", .greater("score", than: .double(0.97))),
            (
                "either",
                .equal("number", to: .int(5)) || .equal("code", to: "c9") || .beginsWith("title", prefix: "t777")
            ),
            (
                "keys",
                .comparison(
                    .init(
                        left: .evaluatedObject, operator: .equal,
                        right: .constant(.objectID(ObjectID("Thing", key: 12)))))
            ),
            ("through to-one", .equal("group.name", to: .string("g17"))),
            ("wide range", .greaterOrEqual("number", to: .int(500))),
            ("to-one", .equal("group", to: .objectID(ObjectID("Group", key: 7)))),
        ])
    func visitsOnlyMatches(_ name: String, of predicate: FetchRequest.Predicate) throws {
        let (found, visited, plan) = try visits(FetchRequest("Thing", where: predicate))
        #expect(found > 0)
        #expect(visited <= found + 8, "\(name): \(plan)")
        #expect(plan.access != [.scan])
        #expect(plan.filteredAfterwards.isEmpty)
    }

    @Test(
        "a fetch in index order visits at most 100 entries beyond its offset and limit",
        arguments: [
            FetchRequest("Thing", sortedBy: [.init("number")], limit: 10, offset: 20),
            FetchRequest("Thing", sortedBy: [.init("number", ascending: false)], limit: 10, offset: 20),
            FetchRequest("Thing", sortedBy: [.init("score")], limit: 10),
            FetchRequest("Thing", sortedBy: [.init("score", ascending: false)], limit: 10),
            FetchRequest("Thing", sortedBy: [.init("kind"), .init("number")], limit: 30),
            FetchRequest(
                "Thing", sortedBy: [.init("kind", ascending: false), .init("number", ascending: false)], limit: 30),
            FetchRequest("Thing", where: .equal("kind", to: .int(2)), sortedBy: [.init("number")], limit: 5),
            FetchRequest(
                "Thing", where: .equal("kind", to: .int(2)), sortedBy: [.init("number", ascending: false)], limit: 5),
            FetchRequest("Thing", where: .equal("group", to: .objectID(ObjectID("Group", key: 7))), limit: 3),
        ])
    func visitsOnlyWindow(_ request: FetchRequest) throws {
        let (found, visited, plan) = try visits(request)
        #expect(found == request.fetchLimit)
        #expect(plan.order == .asFound)
        let reach = (request.fetchOffset ?? 0) + (request.fetchLimit ?? 0)
        #expect(visited <= reach + 100, "\(plan)")
    }

    @Test("a condition without an index visits every object")
    func visitsAllWithoutIndex() throws {
        let (_, visited, plan) = try visits(FetchRequest("Thing", where: .notEqual("number", to: .int(1))))
        #expect(visited == Self.count)
        #expect(plan.access == [.scan])
        #expect(plan.filteredAfterwards.count == 1)
    }

    @Test("alternative conditions across one relationship read its destinations once")
    func readsDestinationsOnce() throws {
        let either =
            FetchRequest.Predicate.compare("group.name", using: .contains, with: "77")
            || .compare("group.name", using: .endsWith, with: "5")
            || .equal("group.name", to: "g3")
        let (found, visited, plan) = try visits(FetchRequest("Thing", where: either))
        #expect(plan.access == [.relationship("Thing.group")])
        #expect(plan.filteredAfterwards.isEmpty)
        #expect(found > Self.count / 10 && visited <= found + 1000 + 8, "\(visited) for \(found)")
        // A further condition uses its own index.
        let (_, _, mixed) = try visits(FetchRequest("Thing", where: either || .equal("number", to: .int(5))))
        #expect(mixed.access == [.index("byNumber"), .relationship("Thing.group")])
    }

    @Test("a condition that no object can meet visits nothing")
    func visitsNothing() throws {
        let (found, visited, plan) = try visits(
            FetchRequest("Thing", where: .less("number", than: .int(3)) && .greater("number", than: .double(4.5))))
        #expect((found, visited) == (0, 0))
        #expect(plan.access == [.nothing])
    }
}

/// A store of many things with indexed values, in 100 groups.
private enum VisitSample {
    static func store(count: Int) throws -> any PersistentStore {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing",
                attributes: [
                    AttributeDescription("number", type: .integer64), AttributeDescription("title", type: .string),
                    AttributeDescription("kind", type: .integer16), AttributeDescription("score", type: .double),
                    AttributeDescription("code", type: .string),
                ],
                relationships: [.toOne("group", to: "Group", inverse: "things")],
                uniquenessConstraints: [["code"]]
            ).with {
                $0.fetchIndexes = [
                    FetchIndexDescription("byNumber", on: "number"), FetchIndexDescription("byTitle", on: "title"),
                    FetchIndexDescription("byKind", on: "kind", "number"),
                    FetchIndexDescription("byScore", elements: [.init("score", isAscending: false)]),
                ]
            },
            EntityDescription("Group", relationships: [.toMany("things", to: "Thing", inverse: "group")]),
        ])
        let store = try KeyValueStore(
            creating: MemoryStorage(), type: MemoryStoreType(), location: StoreLocation(type: "memory", path: ""),
            model: model,
            options: StoreOptions(timeoutSeconds: 10))
        var next = 1
        while next <= count {
            var changes = ChangeSet(model: model)
            for key in next...min(count, next + 9_999) {
                try changes.insert(
                    ObjectID("Thing", key: Int64(key)),
                    values: [
                        "number": .int(Int64(key * 7919 % count)), "title": .string("t\(key * 31 % count)"),
                        "kind": .int(Int64(key % 10)), "score": .double(Double(key * 17 % count) / Double(count)),
                        "code": .string("c\(key)"), "group": .objectID(ObjectID("Group", key: Int64(key % 100 + 1))),
                    ])
            }
            if next == 1 {
                for key in 1...100 {
                    try changes.insert(ObjectID("Group", key: Int64(key)), values: ["name": .string("g\(key)")])
                }
            }
            _ = try store.commit(changes)
            next += 10_000
        }
        return store
    }
}

extension EntityDescription {
    fileprivate init(_ name: String, relationships: [RelationshipDescription]) {
        self.init(
            name, attributes: [AttributeDescription("name", type: .string)], relationships: relationships)
        fetchIndexes = [FetchIndexDescription("byName", on: "name")]
    }
}

/// Random objects of a model with indexes of every kind, and random requests for them.
private struct PlanSample {
    let model: ManagedObjectModel
    let snapshot: any StoreSnapshot

    static let texts: [String] = {
        let long = String(repeating: "long ", count: 110)
        return [
            "", "a", "ab", "abc", "b", "\0", "a\0", "a\0b", "ä", "é", "ß", "😀", "\u{10FFFF}", long, long + "a",
            long + "b",
            long + long, String(repeating: "x", count: 486), String(repeating: "x", count: 487),
            String(repeating: "x", count: 488), String(repeating: "x", count: 489),
        ]
    }()
    static let reals: [Double] = [
        0, -0.0, 1, -1, 1.5, 2, .nan, .infinity, -.infinity, 9007199254740992, 0x1p63, -0x1p63, .leastNonzeroMagnitude,
        1e300,
    ]
    static let numbers: [Int64] = [0, 1, -1, 2, 3, 5, 100, .max, .min, 9007199254740993, 9007199254740992]
    static let decimals = ["0", "1", "-1", "1.5", "-1.5", "NaN", "0.001", "1000000000000000000000", "2"]

    private static func makeModel() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Item",
                attributes: [
                    AttributeDescription("number", type: .integer64), AttributeDescription("small", type: .integer16),
                    AttributeDescription("real", type: .double), AttributeDescription("single", type: .float),
                    AttributeDescription("price", type: .decimal), AttributeDescription("text", type: .string),
                    AttributeDescription("other", type: .string), AttributeDescription("link", type: .uri),
                    AttributeDescription("flag", type: .boolean), AttributeDescription("date", type: .date),
                    AttributeDescription("data", type: .binaryData), AttributeDescription("code", type: .string),
                    AttributeDescription("part", type: .integer32), AttributeDescription("plain", type: .integer32),
                ],
                relationships: [
                    .toOne("owner", to: "Item", inverse: "owned"), .toMany("owned", to: "Item", inverse: "owner"),
                    .toMany("friends", to: "Item", inverse: "friends"),
                    .toMany("likes", to: "Special", inverse: "likers", isOrdered: true),
                ],
                uniquenessConstraints: [["code", "part"]]
            ).with {
                $0.fetchIndexes = [
                    FetchIndexDescription("number", on: "number"),
                    FetchIndexDescription("small", elements: [.init("small", isAscending: false)]),
                    FetchIndexDescription("real", on: "real"),
                    FetchIndexDescription("realDown", elements: [.init("real", isAscending: false)]),
                    FetchIndexDescription("single", on: "single"), FetchIndexDescription("price", on: "price"),
                    FetchIndexDescription("text", on: "text"),
                    FetchIndexDescription("otherDown", elements: [.init("other", isAscending: false)]),
                    FetchIndexDescription("link", on: "link"), FetchIndexDescription("date", on: "date"),
                    FetchIndexDescription("data", on: "data"),
                    FetchIndexDescription("flagText", on: "flag", "text"),
                    FetchIndexDescription("flagPlain", on: "flag", "plain"),
                    FetchIndexDescription(
                        "mixed", elements: [.init("small"), .init("text", isAscending: false), .init("real")]),
                    FetchIndexDescription("owner", on: "owner", "number"),
                ]
            },
            EntityDescription(
                "Special", superentity: "Item", attributes: [AttributeDescription("extra", type: .integer64)],
                relationships: [.toMany("likers", to: "Item", inverse: "likes")]
            ).with { $0.fetchIndexes = [FetchIndexDescription("extra", on: "extra", "text")] },
        ])
    }

    init(count: Int, using generator: inout SeededGenerator) throws {
        model = try Self.makeModel()
        let store = try KeyValueStore(
            creating: MemoryStorage(), type: MemoryStoreType(), location: StoreLocation(type: "memory", path: ""),
            model: model,
            options: StoreOptions(timeoutSeconds: 10))
        var changes = ChangeSet(model: model)
        var specials: [Int64] = []
        for key in 1...Int64(count) {
            let isSpecial = Bool.random(using: &generator)
            var values: [String: Value] = [:]
            for field in try model.requireEntity(isSpecial ? "Special" : "Item").layout.fields
            where field.name != "code" && Int.random(in: 0..<8, using: &generator) > 0 {
                values[field.name] = Self.value(field.name, using: &generator)
            }
            if Int.random(in: 0..<4, using: &generator) > 0 { values["code"] = .string("\(key / 3)") }
            if values["code"] != nil { values["part"] = .int(key % 3) }
            if isSpecial { specials.append(key) }
            try changes.insert(ObjectID(isSpecial ? "Special" : "Item", key: key), values: values)
        }
        for _ in 0..<count {
            let (a, b) = (
                Int64.random(in: 1...Int64(count), using: &generator), Int64.random(in: 1...20, using: &generator)
            )
            try changes.add(Link(a, b), to: RelationshipName("Item", name: "friends"))
            if let special = specials.randomElement(using: &generator) {
                try changes.add(Link(a, special, order: a % 3), to: RelationshipName("Item", name: "likes"))
            }
        }
        _ = try store.commit(changes)
        snapshot = try store.snapshot()
    }

    /// Returns the keys found by reading everything.
    func scanned(_ request: FetchRequest) throws -> [Int64] {
        let source = try snapshot.records(of: request.entity, after: nil)
        let batch = try snapshot.all(
            try ScanningFetch(request, model: model, source: source, graph: SnapshotGraph(snapshot)))
        return (0..<batch.count).map { batch.key(at: $0) }
    }

    static func value(_ name: String, using generator: inout SeededGenerator) -> Value? {
        func one<Element>(_ list: [Element]) -> Element? { list.randomElement(using: &generator) }
        switch name {
        case "number": return one(numbers).map { .int($0) }
        case "small", "part", "plain", "extra": return .int(Int64.random(in: -2...4, using: &generator))
        case "real": return one(reals).map { .double($0) }
        case "single": return one([0, 1, -1, 1.5, .nan, .infinity]).map { .double($0) }
        case "price": return one(decimals).flatMap { Decimal(string: $0) }.map { .decimal($0) }
        case "text", "other": return one(texts).map { .string($0) }
        case "link": return one(["http://a", "http://a/b", "x:y"]).map { .uri($0) }
        case "flag": return .bool(Bool.random(using: &generator))
        case "date": return one([0.0, -1, 1, 1e9]).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case "data": return one([[], [0], [0, 0], [1], [0xFF], [0xFF, 0xFF]]).map { .data(Data($0)) }
        case "code": return .string("\(Int.random(in: 0..<60, using: &generator))")
        case "owner": return .objectID(ObjectID("Item", key: Int64.random(in: 1...20, using: &generator)))
        default: return nil
        }
    }

    /// Returns null or a value to compare with a property.
    ///
    /// The value for a number or Boolean property may come from another such property.
    static func constant(_ name: String, using generator: inout SeededGenerator) -> Value {
        if Int.random(in: 0..<12, using: &generator) == 0 { return .null }
        let isNumber = ["number", "small", "part", "plain", "extra", "real", "single", "price", "flag"].contains(name)
        guard isNumber, Int.random(in: 0..<3, using: &generator) == 0 else {
            return value(name, using: &generator) ?? .null
        }
        let other = ["number", "real", "price", "flag", "small"].randomElement(using: &generator) ?? "real"
        return value(other, using: &generator) ?? .null
    }

    static let names = [
        "number", "small", "real", "single", "price", "text", "other", "link", "flag", "date", "data", "code", "part",
        "plain", "owner",
    ]

    func predicate(_ depth: Int, using generator: inout SeededGenerator) -> FetchRequest.Predicate {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &generator) {
        case 6, 7:
            return .and((0..<3).map { _ in predicate(depth - 1, using: &generator) })
        case 8: return .or((0..<2).map { _ in predicate(depth - 1, using: &generator) })
        case 9: return .not(predicate(depth - 1, using: &generator))
        default: break
        }
        let name = Self.names.randomElement(using: &generator) ?? "number"
        if Int.random(in: 0..<15, using: &generator) == 0 {
            return .comparison(
                .init(
                    left: .evaluatedObject, operator: .isIn,
                    right: .aggregate(
                        (0..<4).map { _ in
                            .constant(.objectID(ObjectID("Special", key: Int64.random(in: 1...200, using: &generator))))
                        })))
        }
        if Int.random(in: 0..<3, using: &generator) == 0 { return related(name, using: &generator) }
        let isText = name == "text" || name == "other"
        switch Int.random(in: 0..<9, using: &generator) {
        case 0, 1: return .equal(name, to: Self.constant(name, using: &generator))
        case 2: return .isIn(name, values: (0..<3).map { _ in Self.constant(name, using: &generator) })
        case 3 where isText, 4 where isText:
            let text = Self.texts.randomElement(using: &generator) ?? ""
            return .beginsWith(name, prefix: String(text.prefix(Int.random(in: 0...500, using: &generator))))
        case 3 where name != "owner": return .less(name, than: Self.constant(name, using: &generator))
        case 4 where name != "owner": return .lessOrEqual(name, to: Self.constant(name, using: &generator))
        case 5 where name != "owner": return .greater(name, than: Self.constant(name, using: &generator))
        case 6 where name != "owner": return .greaterOrEqual(name, to: Self.constant(name, using: &generator))
        case 7 where name != "owner" && Bool.random(using: &generator):
            return .comparison(
                .init(
                    left: .keyPath([name]), operator: .between,
                    right: .aggregate((0..<2).map { _ in .constant(Self.constant(name, using: &generator)) })))
        case 7: return .notEqual(name, to: Self.constant(name, using: &generator))
        default: return .equal(name, to: Self.constant(name, using: &generator))
        }
    }

    /// Returns a condition on the destinations of relationships.
    private func related(
        _ name: String, using generator: inout SeededGenerator
    ) -> FetchRequest.Predicate {
        func number(_ most: Int) -> Int { Int.random(in: 0...most, using: &generator) }
        let constant = Self.constant(name, using: &generator)
        let comparisons: [FetchRequest.Comparison.Operator] =
            name == "owner"
            ? [.equal, .notEqual] : [.equal, .notEqual, .less, .greaterOrEqual, .greater, .lessOrEqual]
        let comparison = comparisons.randomElement(using: &generator) ?? .equal
        let manys = ["owned", "friends", "likes"]
        let many = manys.randomElement(using: &generator) ?? "owned"
        switch number(6) {
        case 0, 1:
            return .comparison(
                .init(left: .keyPath(["owner", name]), operator: comparison, right: .constant(constant)))
        case 2:
            return .comparison(
                .init(left: .keyPath(["owner", "owner", name]), operator: comparison, right: .constant(constant)))
        case 3:
            return .comparison(
                .init(left: .keyPath([many, name]), operator: comparison, right: .constant(constant), modifier: .any))
        case 4:
            let path = [["owner", many, name], [many, "owner", name], [many, many, name]].randomElement(
                using: &generator)
            return .comparison(
                .init(
                    left: .keyPath(path ?? [many, name]), operator: comparison, right: .constant(constant),
                    modifier: .any))
        case 5:
            let object = Value.objectID(ObjectID("Item", key: Int64(number(30) + 1)))
            return .comparison(
                .init(left: .keyPath([many]), operator: .equal, right: .constant(object), modifier: .any))
        default:
            let inner = FetchRequest.Predicate.comparison(
                .init(left: .path(of: .variable("x"), [name]), operator: comparison, right: .constant(constant)))
            let counts: [FetchRequest.Comparison.Operator] = [
                .equal, .notEqual, .greater, .greaterOrEqual, .less,
            ]
            return .comparison(
                .init(
                    left: .path(of: .subquery(.keyPath([many]), variable: "x", inner), ["@count"]),
                    operator: counts.randomElement(using: &generator) ?? .equal,
                    right: .constant(.int(Int64(number(3))))))
        }
    }

    func request(using generator: inout SeededGenerator) -> FetchRequest {
        let isSpecial = Int.random(in: 0..<5, using: &generator) == 0
        let names = Self.names.filter { $0 != "owner" } + (isSpecial ? ["extra"] : [])
        let isAscending = Bool.random(using: &generator)
        return FetchRequest(
            isSpecial ? "Special" : "Item",
            where: Int.random(in: 0..<6, using: &generator) == 0 ? nil : predicate(2, using: &generator),
            sortedBy: (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                .init(
                    names.randomElement(using: &generator) ?? "number",
                    ascending: Int.random(in: 0..<5, using: &generator) == 0 ? !isAscending : isAscending)
            },
            limit: Bool.random(using: &generator) ? nil : Int.random(in: 0...40, using: &generator),
            offset: Bool.random(using: &generator) ? 0 : Int.random(in: 0...20, using: &generator)
        ).with { $0.includesSubentities = Int.random(in: 0..<8, using: &generator) > 0 }
    }
}
