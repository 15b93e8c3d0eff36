import Foundation
import RoostCore
import RoostFiles
import RoostQuery
import RoostSQL
import RoostSQLite
import Testing

@Suite("Fetches from an SQLite store")
struct FetchTests {
    /// Returns the keys that a request finds when every record is read and evaluated.
    static func reference(_ request: FetchRequest, in store: any PersistentStore) throws -> [Int64] {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let scan = try ScanningFetch(
            request, model: store.model, source: snapshot.records(of: request.entity, after: nil))
        return try store.collect(scan).map(\.id.key)
    }

    static func filled(_ directory: TemporaryDirectory, using random: inout SeededRandom) throws -> any PersistentStore
    {
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(), options: StoreOptions())
        try store.change { changes in
            for key in Int64(1)...200 {
                try changes.insert(ObjectID("Track", key: key), values: values(key, using: &random))
            }
            for key in Int64(1)...9 {
                try changes.insert(
                    ObjectID(key % 2 == 0 ? "Singer" : "Drummer", key: key), values: ["name": .string("n\(key)")])
            }
        }
        return store
    }

    private static let texts = [
        "", "a", "ab", "abc", "b", "é", "\u{D7FF}", "\u{E000}x", "a\u{0}b", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}z",
    ]

    private static let numbers: [Double] = [
        0, -0.0, 1, 1.5, -3, .infinity, -.infinity, .nan, Double(bitPattern: 0x7FF8_0000_0000_0007),
        9_007_199_254_740_992, .leastNonzeroMagnitude,
    ]

    /// Returns random values of a track; the key decides which are null.
    private static func values(_ key: Int64, using random: inout SeededRandom) -> [String: Value] {
        var values: [String: Value] = [:]
        if let text = texts.randomElement(using: &random), key % 5 != 0 { values["title"] = .string(text) }
        if let number = numbers.randomElement(using: &random), key % 7 != 0 {
            values["length"] = .double(number)
        }
        if let number = numbers.randomElement(using: &random), key % 7 != 1 {
            values["gain"] = .double(number)
        }
        if let number = numbers.randomElement(using: &random), key % 7 != 2 {
            values["played"] = .date(Date(timeIntervalSinceReferenceDate: number))
        }
        if key % 3 != 0 {
            values["i64"] = .int(
                [0, 1, 2, .max, .min, 9_007_199_254_740_993].randomElement(using: &random) ?? 0)
        }
        if key % 3 != 1 { values["i16"] = .int([0, 1, -32768, 32767].randomElement(using: &random) ?? 0) }
        if key % 4 != 1 {
            values["i32"] = .int([0, -1, 2_147_483_647].randomElement(using: &random) ?? 0)
        }
        if key % 5 != 1, let text = texts.randomElement(using: &random) { values["link"] = .uri(text) }
        if key % 4 != 0 { values["loved"] = .bool(Bool.random(using: &random)) }
        if key % 6 != 0 { values["number"] = .decimal(Decimal(Int.random(in: -2...2, using: &random)) / 2) }
        if key % 2 != 0 {
            values["token"] = .uuid(
                UUID(
                    uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8.random(in: 0...3, using: &random))
                ))
        }
        if key % 8 != 0 {
            values["cover"] = .data(Data([[], [0], [0, 1], [255]].randomElement(using: &random) ?? []))
        }
        if key % 3 != 1 {
            values["artist"] = .objectID(
                ObjectID(
                    Bool.random(using: &random) ? "Singer" : "Drummer",
                    key: Int64.random(in: 1...3, using: &random))
            )
        }
        if key % 3 != 2 {
            values["other"] = .objectID(
                ObjectID(
                    Bool.random(using: &random) ? "Tag" : "Singer", key: Int64.random(in: 1...3, using: &random)
                ))
        }
        if key % 2 == 0 { values["place"] = .composite(key % 4 == 0 ? ["lat": .double(Double(key % 3))] : [:]) }
        return values
    }

    typealias P = FetchRequest.Predicate

    private static let comparisons: [FetchRequest.Comparison.Operator] = [
        .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ]

    private static let numberConstants: [Value] = [
        0, 1, 1.5, .double(-0.0), .double(.nan), .double(.infinity), .int(.max), .double(9_007_199_254_740_992),
        true, .null,
    ]

    private static let textConstants: [Value] = ["", "a", "ab", "\u{10FFFF}", "\u{D7FF}", .null]

    private static let idConstants: [Value] = [
        .objectID(ObjectID("Singer", key: 2)), .objectID(ObjectID("Tag", key: 1)),
        .objectID(ObjectID("Track", key: 5)), .null,
    ]

    static func leaf(using random: inout SeededRandom) -> P {
        let comparison = comparisons.randomElement(using: &random) ?? .equal
        let number = numberConstants.randomElement(using: &random) ?? .null
        let text = textConstants.randomElement(using: &random) ?? .null
        let id = idConstants.randomElement(using: &random) ?? .null
        let kind = Int.random(in: 0..<18, using: &random)
        switch kind {
        case 0: return .compare("title", using: comparison, with: text)
        case 1:
            return .beginsWith(
                "title", prefix: ["", "a", "ab", "\u{10FFFF}", "\u{D7FF}", "x"].randomElement(using: &random) ?? "")
        case 2:
            return .compare(
                ["length", "gain", "i64", "loved", "place.lat"].randomElement(using: &random) ?? "i64",
                using: comparison, with: number)
        case 3:
            return .compare(
                "number", using: comparison,
                with: [.decimal(1), .int(1), .double(0.5), .null].randomElement(using: &random) ?? .null)
        case 4:
            return .compare(
                "played", using: comparison,
                with: [
                    .date(Date(timeIntervalSinceReferenceDate: 1)), .date(Date(timeIntervalSinceReferenceDate: .nan)),
                    .null,
                ].randomElement(using: &random) ?? .null)
        case 5:
            return .compare(
                "token", using: comparison, with: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))))
        case 6:
            return .compare(
                ["artist", "other"].randomElement(using: &random) ?? "other",
                using: Bool.random(using: &random) ? .equal : .notEqual, with: id)
        case 7, 8, 15, 16: return list(kind, using: &random)
        case 9:
            return .comparison(
                .init(
                    left: .evaluatedObject, operator: Bool.random(using: &random) ? .equal : .notEqual,
                    right: .constant(id)))
        case 11: return .compare("link", using: comparison, with: text)
        case 12:
            return .compare(
                "i64", using: comparison,
                with: .double([0.5, -0.5, 0x1p63, -0x1p63, 0x1p53 + 2, -.infinity].randomElement(using: &random) ?? 0))
        case 13:
            return .compare(
                ["i16", "i32"].randomElement(using: &random) ?? "i16", using: comparison,
                with: [.int(.max), .int(-32768), .double(1.5), .bool(true), .decimal(3), .null].randomElement(
                    using: &random)
                    ?? .null)
        case 14:
            return .comparison(.init(left: .keyPath(["length"]), operator: comparison, right: .keyPath(["gain"])))
        case 10: return .compare("cover", using: comparison, with: .data(Data([0])))
        default:
            return Bool.random(using: &random)
                ? .isNull("place")
                : .comparison(.init(left: .constant(number), operator: comparison, right: .keyPath(["i64"])))
        }
    }

    private static func list(_ kind: Int, using random: inout SeededRandom) -> P {
        switch kind {
        case 7:
            return .isIn(
                ["i64", "length"].randomElement(using: &random) ?? "i64",
                values: (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                    numberConstants.randomElement(using: &random) ?? .null
                })
        case 8:
            return .isIn(
                "title",
                values: (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                    textConstants.randomElement(using: &random) ?? .null
                })
        case 15:
            return .isIn(
                ["artist", "other"].randomElement(using: &random) ?? "other",
                values: (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                    idConstants.randomElement(using: &random) ?? .null
                })
        default:
            return .isIn(
                ["token", "played", "number", "loved"].randomElement(using: &random) ?? "token", values: [.null])
        }
    }

    static func predicate(_ depth: Int, using random: inout SeededRandom) -> P {
        guard depth > 0 else { return leaf(using: &random) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
            return .and((0..<Int.random(in: 0..<4, using: &random)).map { _ in predicate(depth - 1, using: &random) })
        case 2, 3:
            return .or((0..<Int.random(in: 0..<4, using: &random)).map { _ in predicate(depth - 1, using: &random) })
        case 4: return .not(predicate(depth - 1, using: &random))
        default: return leaf(using: &random)
        }
    }

    @Test("random fetches from an SQLite store return the same objects as a scan of its records")
    func equalsScan() throws {
        let directory = try TemporaryDirectory()
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["ROOST_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
        var random = SeededRandom(seed)
        let store = try Self.filled(directory, using: &random)
        let keys = [
            "title", "link", "i16", "length", "gain", "played", "i64", "loved", "number", "token", "cover", "place.lat",
        ]
        for number in 0..<(environment["ROOST_REQUESTS"].flatMap { Int($0) } ?? 600) {
            let sorts = (0..<Int.random(in: 0..<3, using: &random)).compactMap { _ in
                keys.randomElement(using: &random).map {
                    FetchRequest.SortDescriptor($0, ascending: Bool.random(using: &random))
                }
            }
            let request = FetchRequest(
                "Track",
                where: Int.random(in: 0..<8, using: &random) == 0
                    ? nil : Self.predicate(Int.random(in: 0..<4, using: &random), using: &random), sortedBy: sorts,
                limit: Bool.random(using: &random) ? Int.random(in: 0..<50, using: &random) : nil,
                offset: Bool.random(using: &random) ? Int.random(in: 0..<20, using: &random) : 0)
            let expected = try Self.reference(request, in: store)
            #expect(try store.keys(request) == expected, "ROOST_SEED=\(seed), number \(number): \(request)")
            let snapshot = try store.snapshot()
            #expect(try snapshot.count(request) == expected.count, "ROOST_SEED=\(seed), number \(number): \(request)")
            snapshot.close()
        }
        try store.close()
    }

    @Test("predicates with thousands of terms or 150 levels find the same objects as a scan")
    func answersLargePredicates() throws {
        let directory = try TemporaryDirectory()
        var random = SeededRandom(1)
        let store = try Self.filled(directory, using: &random)
        var deep = P.equal("i64", to: 1)
        for level in 0..<150 {
            deep = level % 2 == 0 ? .not(deep) : .or([deep, .equal("i64", to: .int(Int64(level)))])
        }
        for predicate: P in [
            .isIn("i64", values: (0..<50_000).map { .int($0) }), .or((0..<5000).map { .equal("i64", to: .int($0)) }),
            .and((0..<5000).map { .notEqual("i64", to: .int($0 + 3)) }),
            .or((0..<1500).map { .equal("title", to: .string("\($0)")) }), deep,
        ] {
            let request = FetchRequest("Track", where: predicate)
            #expect(try store.keys(request) == Self.reference(request, in: store))
        }
        #expect(
            try store.keys(
                FetchRequest("Person", where: .beginsWith("name", prefix: "n")).with { $0.includesSubentities = false })
                == [])
        #expect(try store.keys(FetchRequest("Singer", where: .beginsWith("name", prefix: "n"))) == [2, 4, 6, 8])
        #expect(code { _ = try store.keys(FetchRequest("Track", where: .equal("title", to: 5))) } == .invalidRequest)
        #expect(code { _ = try store.keys(FetchRequest("Track", where: .equal("nothing", to: 5))) } == .unknownProperty)
        try store.close()
    }
}
