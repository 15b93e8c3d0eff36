import Foundation
import RoostCore
import RoostFiles
import RoostMemory
import RoostPredicates
import RoostQuery
import RoostSQL
import RoostSQLite
import Testing

/// Two stores with equal objects: one in SQLite, and one in memory, which uses no SQL.
struct TwinStores {
    let plain: any PersistentStore
    let sql: any PersistentStore

    init(_ directory: TemporaryDirectory, using random: inout SeededRandom, count: Int64 = 40) throws {
        let model = try Models.music()
        plain = try MemoryStoreType().create(
            StoreLocation(type: "memory", path: UUID().uuidString), model: model, options: StoreOptions())
        sql = try SQLiteStoreType().create(directory.location("a"), model: model, options: StoreOptions())
        var changes = ChangeSet(model: model)
        func pick<T>(_ values: [T?]) -> T? { values.randomElement(using: &random) ?? nil }
        func set(_ values: inout [String: Value], name: String, to value: Value?) {
            if let value { values[name] = value }
        }
        for key in 1...count / 4 {
            var values: [String: Value] = [:]
            set(&values, name: "title", to: pick(Self.texts).map { .string($0) })
            set(&values, name: "year", to: pick([1969, 1991, -1, 0, 10, nil]).map { .int($0) })
            try changes.insert(ObjectID("Album", key: key), values: values)
            try changes.insert(
                ObjectID("Tag", key: key), values: pick(Self.texts).map { ["name": .string($0)] } ?? [:])
            // Names of people are unique.
            let entity = ["Person", "Singer", "Drummer"].randomElement(using: &random) ?? "Person"
            var person: [String: Value] = key % 4 == 0 ? [:] : ["name": .string("\(pick(Self.texts) ?? "x")\(key)")]
            if entity == "Singer", key % 2 == 0 { person["voice"] = .string("v\(key)") }
            if entity == "Drummer" { set(&person, name: "voice", to: pick([1, 2, nil]).map { .int($0) }) }
            try changes.insert(ObjectID(EntityName(entity), key: key), values: person)
        }
        func other(_ entity: EntityName) -> Value {
            .objectID(ObjectID(entity, key: Int64.random(in: 1...count / 4, using: &random)))
        }
        for key in 1...count {
            var values: [String: Value] = [:]
            set(&values, name: "title", to: pick(Self.texts).map { .string($0) })
            set(&values, name: "link", to: pick(Self.texts).map { .uri($0) })
            set(&values, name: "length", to: pick(Self.numbers).map { .double($0) })
            set(&values, name: "gain", to: pick(Self.numbers).map { .double($0) })
            set(&values, name: "played", to: pick(Self.numbers).map { .date(Date(timeIntervalSinceReferenceDate: $0)) })
            set(&values, name: "i16", to: pick([0, 1, -32768, 32767, nil]).map { .int($0) })
            set(&values, name: "i32", to: pick([0, 1, -1, 2_147_483_647, nil]).map { .int($0) })
            set(&values, name: "i64", to: pick([0, 1, 2, .max, .min, 9_007_199_254_740_993, nil]).map { .int($0) })
            set(&values, name: "loved", to: pick([true, false, nil]).map { .bool($0) })
            set(&values, name: "number", to: pick([-1, 0, 0.5, 1, nil]).map { .decimal($0) })
            set(&values, name: "cover", to: pick([[], [0], [0, 1], [255], nil]).map { .data(Data($0)) })
            set(
                &values, name: "token",
                to: pick([0, 1, 2, nil]).map { .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0))) })
            if Int.random(in: 0..<4, using: &random) > 0 { values["album"] = other("Album") }
            if Int.random(in: 0..<4, using: &random) > 0 { values["artist"] = other("Person") }
            if Int.random(in: 0..<4, using: &random) > 0 {
                values["other"] = other(["Tag", "Album", "Person"].randomElement(using: &random) ?? "Tag")
            }
            if let place = pick([0.5, .nan, 2, nil]) {
                values["place"] = .composite(["lat": .double(place), "name": .string("p")])
            }
            try changes.insert(ObjectID("Track", key: key), values: values)
        }
        try Self.addLinks(count: count / 4, to: &changes, using: &random)
        _ = try plain.commit(changes)
        _ = try sql.commit(changes)
    }

    private static func addLinks(
        count: Int64, to changes: inout ChangeSet, using random: inout SeededRandom
    ) throws {
        for a in 1...count {
            for b in 1...count {
                if Int.random(in: 0..<3, using: &random) == 0 {
                    try changes.add(
                        Link(a, b, order: Int64.random(in: 0..<9, using: &random)),
                        to: RelationshipName("Album", name: "tags"))
                }
                // One end suffices, because the relationship is its own inverse. Sometimes an album
                // is similar to itself.
                if a <= b, Int.random(in: 0..<4, using: &random) == 0 {
                    try changes.add(Link(a, b), to: RelationshipName("Album", name: "similar"))
                }
            }
        }
    }

    /// Texts that differ in case or diacritics or are only canonically equivalent, and texts with
    /// wildcards, quotes or code points at the ends of ranges.
    static let texts: [String?] = [
        nil, "", "a", "A", "ab", "Ab", "äb", "a\u{308}b", "abc", "b", "É", "é", "e\u{301}", "İ", "i\u{307}", "ß", "SS",
        "a2", "a10", "A02", "\u{D7FF}", "\u{E000}x", "a\u{0}b", "\u{10FFFF}", "x*y", "x?y", "x\\y", "100%", "_", "'",
        "''",
        "\";--", "Ｆ", "👩🏽‍🚀", "\u{5D0}b",
    ]
    static let numbers: [Double?] = [
        nil, 0, -0.0, 1, 1.5, -3, .infinity, -.infinity, .nan, Double(bitPattern: 0x7FF8_0000_0000_0007),
        9_007_199_254_740_992, .leastNonzeroMagnitude,
    ]
}

/// A generator of random predicates of every kind that SQL may evaluate.
struct RandomPredicates {
    typealias Predicate = FetchRequest.Predicate
    typealias Expression = FetchRequest.Expression
    typealias Comparison = FetchRequest.Comparison

    var random: SeededRandom

    private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }

    private static let orders: [Comparison.Operator] = [
        .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ]
    private static let options: [Comparison.Options] = [
        [], [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive], .normalized,
        .localized, [.localized, .caseInsensitive],
    ]

    /// Kinds of attributes; values of one kind can be compared.
    private enum Kind: CaseIterable { case number, text, date, object, data, uuid }

    private static func attributes(of entity: String, kind: Kind) -> [String] {
        switch (entity, kind) {
        case ("Track", .number): ["i16", "i32", "i64", "length", "gain", "loved", "number", "place.lat"]
        case ("Track", .text): ["title", "link", "place.name"]
        case ("Track", .date): ["played"]
        case ("Track", .object): ["album", "artist", "other"]
        case ("Track", .data): ["cover"]
        case ("Track", .uuid): ["token"]
        case ("Album", .number): ["year"]
        case ("Album", .text): ["title"]
        case ("Person", .text), ("Tag", .text): ["name"]
        default: []
        }
    }

    private static func toOne(_ entity: String) -> [(String, String)] {
        entity == "Track" ? [("album", "Album"), ("artist", "Person")] : []
    }

    private static func toMany(_ entity: String) -> [(String, String)] {
        switch entity {
        case "Album": [("tracks", "Track"), ("tags", "Tag"), ("similar", "Album")]
        case "Person": [("tracks", "Track")]
        case "Tag": [("albums", "Album")]
        default: []
        }
    }

    private mutating func value(_ kind: Kind) -> Value {
        if Int.random(in: 0..<10, using: &random) == 0 { return .null }
        switch kind {
        case .number:
            return pick([
                0, 1, 1.5, .double(-0.0), .double(.nan), .double(.infinity), .int(.max), .double(9_007_199_254_740_992),
                .int(9_007_199_254_740_993), true, .decimal(0.5), .int(-1), .int(1991), .double(0x1p63),
            ])
        case .text: return .string(pick(TwinStores.texts) ?? "a")
        case .date: return .date(Date(timeIntervalSinceReferenceDate: (pick(TwinStores.numbers) ?? 1)))
        case .object:
            return .objectID(
                ObjectID(
                    pick(["Album", "Person", "Singer", "Tag", "Track", "Nothing"]),
                    key: Int64.random(in: 1...12, using: &random)))
        case .data: return .data(Data(pick([[], [0], [0, 1]])))
        case .uuid: return .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, pick([0, 1, 2]))))
        }
    }

    /// Returns a random path to an attribute of a kind, through to-many relationships only if
    /// `isToMany`.
    private mutating func path(
        from entity: String, to kind: Kind, isToMany: Bool
    ) -> [String]? {
        var (names, current, left) = ([String](), entity, isToMany ? Int.random(in: 1...2, using: &random) : 0)
        for _ in 0..<4 {
            let attributes = Self.attributes(of: current, kind: kind)
            if left == 0, !attributes.isEmpty, Int.random(in: 0..<3, using: &random) > 0 {
                return names + pick(attributes).split(separator: ".").map(String.init)
            }
            let isMany = left > 0 && (Self.toOne(current).isEmpty || Bool.random(using: &random))
            let next = isMany ? Self.toMany(current) : Self.toOne(current)
            guard !next.isEmpty else { break }
            let (name, destination) = pick(next)
            names.append(name)
            current = destination
            if isMany { left -= 1 }
        }
        let attributes = Self.attributes(of: current, kind: kind)
        guard left == 0, !attributes.isEmpty else { return nil }
        return names + pick(attributes).split(separator: ".").map(String.init)
    }

    /// Returns a path that starts at the object or at a variable.
    private func at(_ variable: String?, names: [String]) -> Expression {
        variable.map { .path(of: .variable($0), names) } ?? .keyPath(names)
    }

    private mutating func comparison(
        of left: Expression, kind: Kind, in entity: String, modifier: Comparison.Modifier = .direct
    ) -> Predicate {
        let options = kind == .text ? pick(Self.options) : []
        let operation: Comparison.Operator
        var right: Expression = .constant(value(kind))
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where kind != .object:
            operation = .between
            right = .aggregate([.constant(value(kind)), .constant(value(kind))])
        case 1:
            operation = .isIn
            right = .aggregate((0..<Int.random(in: 0..<5, using: &random)).map { _ in .constant(value(kind)) })
        case 2...6 where kind == .text:
            operation = pick([.contains, .beginsWith, .endsWith, .like, .isIn, .matches])
            right = .constant(
                operation == .matches
                    ? pick(["a.*", "[a-c]+", "(?:)", ".", "É|é", "(?i)ab"])
                    : operation == .like
                        ? pick(["a*", "*b", "*", "?", "??", "a?b", "*a*b*", "\\*", "x\\?y", ""]) : value(.text))
        case 2 where modifier == .direct:
            operation = pick(Self.orders)
            if kind != .object, let names = path(from: entity, to: kind, isToMany: false) { right = .keyPath(names) }
        default: operation = kind == .object ? pick([.equal, .notEqual]) : pick(Self.orders)
        }
        return .comparison(
            .init(
                left: left,
                operator: kind == .object && operation != .isIn && operation != .notEqual ? .equal : operation,
                right: right,
                modifier: modifier, options: options))
    }

    private mutating func leaf(of entity: String, at variable: String?, root: String, depth: Int) -> Predicate {
        let kind = pick(Kind.allCases)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...4:
            guard let names = path(from: entity, to: kind, isToMany: false) else { break }
            return comparison(of: at(variable, names: names), kind: kind, in: root)
        case 5, 6:
            guard let names = path(from: entity, to: kind, isToMany: true) else { break }
            let modifier: Comparison.Modifier = pick([.any, .all])
            return comparison(of: at(variable, names: names), kind: kind, in: root, modifier: modifier)
        case 7:
            // A collection operator compared with a number.
            guard let names = path(from: entity, to: .number, isToMany: true) else { break }
            let many = names.lastIndex { name in ["tracks", "tags", "similar", "albums"].contains(name) } ?? 0
            let aggregate: String = pick(["@min", "@max", "@sum", "@avg"])
            return .comparison(
                .init(
                    left: at(variable, names: Array(names[...many] + [aggregate] + names[(many + 1)...])),
                    operator: pick(Self.orders),
                    right: .constant(value(.number))))
        case 8:
            guard let (name, _) = Self.toMany(entity).randomElement(using: &random) else { break }
            return .comparison(
                .init(
                    left: at(variable, names: [name, "@count"]), operator: pick(Self.orders),
                    right: .constant(.int(Int64.random(in: 0...3, using: &random)))))
        case 9, 10:
            guard depth < 2, let (name, destination) = Self.toMany(entity).randomElement(using: &random) else { break }
            let inner = "v\(depth)"
            let subquery = Expression.subquery(
                at(variable, names: [name]), variable: inner,
                predicate(on: destination, at: inner, root: root, depth: depth + 1, levels: 1))
            return .comparison(
                .init(
                    left: .path(of: subquery, ["@count"]), operator: pick(Self.orders),
                    right: .constant(.int(Int64.random(in: 0...2, using: &random)))))
        default:
            guard let (name, destination) = Self.toMany(entity).randomElement(using: &random) else { break }
            let id = Expression.constant(
                .objectID(ObjectID(EntityName(destination), key: Int64.random(in: 1...12, using: &random))))
            return Bool.random(using: &random)
                ? .comparison(.init(left: at(variable, names: [name]), operator: .contains, right: id))
                : .comparison(.init(left: id, operator: .isIn, right: at(variable, names: [name])))
        }
        let me: Expression = variable.map { .variable($0) } ?? .evaluatedObject
        return .comparison(.init(left: me, operator: pick([.equal, .notEqual]), right: .constant(value(.object))))
    }

    mutating func predicate(
        on entity: String, at variable: String? = nil, root: String? = nil, depth: Int = 0, levels: Int
    ) -> Predicate {
        let root = root ?? entity
        guard levels > 0 else { return leaf(of: entity, at: variable, root: root, depth: depth) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
            return .and(
                (0..<Int.random(in: 1..<4, using: &random)).map { _ in
                    predicate(on: entity, at: variable, root: root, depth: depth, levels: levels - 1)
                })
        case 2:
            return .or(
                (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                    predicate(on: entity, at: variable, root: root, depth: depth, levels: levels - 1)
                })
        case 3: return .not(predicate(on: entity, at: variable, root: root, depth: depth, levels: levels - 1))
        default: return leaf(of: entity, at: variable, root: root, depth: depth)
        }
    }

    private static let sortKeys: [String: [String]] = [
        "Track": [
            "title", "link", "i16", "i32", "i64", "length", "gain", "played", "loved", "number", "token", "cover",
            "place.lat",
            "album.title", "album.year", "artist.name",
        ],
        "Album": ["title", "year"], "Person": ["name"], "Tag": ["name"],
    ]

    mutating func request() -> FetchRequest {
        let entity = pick(["Track", "Album", "Person", "Tag", "Track", "Album"])
        var request = FetchRequest(EntityName(entity))
        if Int.random(in: 0..<20, using: &random) > 0 {
            request.predicate = predicate(on: entity, levels: Int.random(in: 0..<4, using: &random))
        }
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            request.sortDescriptors.append(
                .init(
                    pick(Self.sortKeys[entity] ?? ["name"]), ascending: Bool.random(using: &random),
                    options: pick(Self.options)))
        }
        if Bool.random(using: &random) { request.fetchLimit = Int.random(in: 0..<20, using: &random) }
        if Int.random(in: 0..<4, using: &random) == 0 { request.fetchOffset = Int.random(in: 0..<9, using: &random) }
        request.includesSubentities = Int.random(in: 0..<8, using: &random) > 0
        return request
    }
}

@Suite("Translation of requests to SQL")
struct TranslationTests {
    @Test("random requests in SQL return the same objects as the evaluation of each record")
    func equalsEvaluation() throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["ROOST_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
        let requestCount = environment["ROOST_REQUESTS"].flatMap { Int($0) } ?? 2500
        var generator = RandomPredicates(random: SeededRandom(seed))
        let directory = try TemporaryDirectory()
        var fill = SeededRandom(seed &+ 1)
        let stores = try TwinStores(directory, using: &fill)
        let (plain, sql) = (try stores.plain.snapshot(), try stores.sql.snapshot())
        var (pushed, differences) = (0, 0)
        for number in 0..<requestCount where differences < 5 {
            let request = generator.request()
            let context = "ROOST_SEED=\(seed), number \(number)"
            do {
                let all = try ScanningFetch(
                    request, model: stores.plain.model, source: plain.records(of: request.entity, after: nil),
                    graph: SnapshotGraph(plain))
                let expected = try stores.plain.collect(all).map(\.id.key)
                let found = try stores.sql.collect(sql.fetch(request)).map(\.id.key)
                #expect(found == expected, "\(context): \(request)")
                let count = try sql.count(request)
                #expect(count == expected.count, "\(context): \(request)")
                let plan = try sql.explain(request, executing: false)
                if plan.filteredAfterwards.isEmpty { pushed += 1 }
                if found != expected || count != expected.count {
                    print("\(context): \(plan)")
                    differences += 1
                }
            } catch {
                Issue.record("\(context): \(error) of \(request)")
                differences += 1
            }
        }
        // SQL must evaluate most predicates itself.
        #expect(
            pushed * 10 > requestCount * 8 || differences > 0, "\(pushed) of \(requestCount) need no filter after SQL")
        plain.close()
        sql.close()
        try stores.sql.close()
        try stores.plain.close()
    }

    @Test("a pattern that takes too long throws timedOut, and the next one works")
    func limitsPatternTime() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.note(), options: StoreOptions())
        try store.change { changes in
            try changes.insert(ObjectID("Note", key: 1), values: ["text": "ab"])
            try changes.insert(
                ObjectID("Note", key: 2), values: ["text": .string(String(repeating: "a", count: 40) + "!")])
        }
        func matching(_ pattern: String) throws -> [Int64] {
            try store.keys(
                FetchRequest(
                    "Note",
                    where: .comparison(
                        .init(left: .keyPath(["text"]), operator: .matches, right: .constant(.string(pattern))))))
        }
        #expect(code { _ = try matching("(a+)+$") } == .timedOut)
        #expect(code { _ = try matching("(a") } == .invalidRequest)
        #expect(try matching("a+.") == [1, 2])
        try store.close()
    }

    /// A condition that SQL leaves to the filter, because the sum depends on the objects' order.
    private static let residual = FetchRequest.Predicate.comparison(
        .init(left: .keyPath(["tracks", "@sum", "length"]), operator: .notEqual, right: .constant(-7.5)))

    @Test("a fetch that filters after SQL throws closed when its snapshot closes")
    func endsWithSnapshot() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(), options: StoreOptions())
        let count = 3 * RecordBatch.capacityCount
        try store.change { changes in
            for key in 1...count { try changes.insert(ObjectID("Album", key: Int64(key)), values: [:]) }
        }
        let snapshot = try store.snapshot()
        let request = FetchRequest("Album", where: Self.residual)
        #expect(try snapshot.explain(request, executing: true).visitedCount == count)
        let cursor = try snapshot.fetch(request)
        var batch = RecordBatch(model: store.model)
        #expect(try cursor.next(into: &batch))
        snapshot.close()
        #expect(code { while try cursor.next(into: &batch) {} } == .closed)
        #expect(code { _ = try snapshot.explain(request, executing: false) } == .closed)
        try store.close()
    }
}
