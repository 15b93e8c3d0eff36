import Foundation
import RoostCore
import RoostSQL
import RoostSQLite
import Testing

@Suite("Fetches from an SQLite store")
struct FetchTests {
    /// What a request gives by reading everything and evaluating it record by record.
    static func reference(_ request: FetchRequest, _ store: any PersistentStore) throws -> [Int64] {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let scan = try ScanningFetch(
            request, model: store.model, source: snapshot.records(of: request.entity, after: nil))
        return try store.collect(scan).map(\.id.key)
    }

    static func filled(_ directory: TemporaryDirectory) throws -> any PersistentStore {
        let store = try SQLiteStoreType().create(directory.url("a"), model: try Models.music(), options: StoreOptions())
        var generator = SystemRandomNumberGenerator()
        let texts = [
            "", "a", "ab", "abc", "b", "é", "\u{D7FF}", "\u{E000}x", "a\u{0}b", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}z",
        ]
        let numbers: [Double] = [
            0, -0.0, 1, 1.5, -3, .infinity, -.infinity, .nan, Double(bitPattern: 0x7FF8_0000_0000_0007),
            9_007_199_254_740_992, .leastNonzeroMagnitude,
        ]
        try store.change { changes in
            for key in Int64(1)...200 {
                var values: [String: Value] = [:]
                if let text = texts.randomElement(using: &generator), key % 5 != 0 { values["title"] = .string(text) }
                if let number = numbers.randomElement(using: &generator), key % 7 != 0 {
                    values["length"] = .double(number)
                }
                if let number = numbers.randomElement(using: &generator), key % 7 != 1 {
                    values["gain"] = .double(number)
                }
                if let number = numbers.randomElement(using: &generator), key % 7 != 2 {
                    values["played"] = .date(Date(timeIntervalSinceReferenceDate: number))
                }
                if key % 3 != 0 {
                    values["i64"] = .int([0, 1, 2, .max, .min, 9_007_199_254_740_993].randomElement() ?? 0)
                }
                if key % 4 != 0 { values["loved"] = .bool(Bool.random()) }
                if key % 6 != 0 { values["number"] = .decimal(Decimal(Int.random(in: -2...2)) / 2) }
                if key % 2 != 0 {
                    values["token"] = .uuid(
                        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8.random(in: 0...3))))
                }
                if key % 8 != 0 { values["cover"] = .data(Data([[], [0], [0, 1], [255]].randomElement() ?? [])) }
                if key % 3 != 1 {
                    values["artist"] = .objectID(
                        ObjectID(Bool.random() ? "Singer" : "Drummer", Int64.random(in: 1...3)))
                }
                if key % 3 != 2 {
                    values["other"] = .objectID(ObjectID(Bool.random() ? "Tag" : "Singer", Int64.random(in: 1...3)))
                }
                if key % 2 == 0 { values["place"] = .composite(key % 4 == 0 ? ["lat": .double(Double(key % 3))] : [:]) }
                try changes.insert(ObjectID("Track", key), values: values)
            }
            for key in Int64(1)...9 {
                try changes.insert(
                    ObjectID(key % 2 == 0 ? "Singer" : "Drummer", key), values: ["name": .string("n\(key)")])
            }
        }
        return store
    }

    typealias P = FetchRequest.Predicate

    static func leaf() -> P {
        let comparisons: [FetchRequest.Comparison.Operator] = [
            .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
        ]
        let comparison = comparisons.randomElement() ?? .equal
        let numbers: [Value] = [
            0, 1, 1.5, .double(-0.0), .double(.nan), .double(.infinity), .int(.max), .double(9_007_199_254_740_992),
            true, .null,
        ]
        let number = numbers.randomElement() ?? .null
        let texts: [Value] = ["", "a", "ab", "\u{10FFFF}", "\u{D7FF}", .null]
        let text = texts.randomElement() ?? .null
        let ids: [Value] = [
            .objectID(ObjectID("Singer", 2)), .objectID(ObjectID("Tag", 1)), .objectID(ObjectID("Track", 5)), .null,
        ]
        let id = ids.randomElement() ?? .null
        switch Int.random(in: 0..<12) {
        case 0: return .compare("title", comparison, text)
        case 1: return .beginsWith("title", ["", "a", "ab", "\u{10FFFF}", "\u{D7FF}", "x"].randomElement() ?? "")
        case 2:
            return .compare(
                ["length", "gain", "i64", "loved", "place.lat"].randomElement() ?? "i64", comparison, number)
        case 3:
            return .compare("number", comparison, [.decimal(1), .int(1), .double(0.5), .null].randomElement() ?? .null)
        case 4:
            return .compare(
                "played", comparison,
                [
                    .date(Date(timeIntervalSinceReferenceDate: 1)), .date(Date(timeIntervalSinceReferenceDate: .nan)),
                    .null,
                ].randomElement() ?? .null)
        case 5:
            return .compare("token", comparison, .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))))
        case 6: return .compare(["artist", "other"].randomElement() ?? "other", Bool.random() ? .equal : .notEqual, id)
        case 7:
            return .isIn(
                ["i64", "length"].randomElement() ?? "i64",
                (0..<Int.random(in: 0..<5)).map { _ in numbers.randomElement() ?? .null })
        case 8: return .isIn("title", (0..<Int.random(in: 0..<5)).map { _ in texts.randomElement() ?? .null })
        case 9: return .comparison(.init(.evaluatedObject, Bool.random() ? .equal : .notEqual, .constant(id)))
        case 10: return .compare("cover", comparison, .data(Data([0])))
        default:
            return Bool.random()
                ? .isNull("place") : .comparison(.init(.constant(number), comparison, .keyPath(["i64"])))
        }
    }

    static func random(_ depth: Int) -> P {
        guard depth > 0 else { return leaf() }
        switch Int.random(in: 0..<6) {
        case 0, 1: return .and((0..<Int.random(in: 0..<4)).map { _ in random(depth - 1) })
        case 2, 3: return .or((0..<Int.random(in: 0..<4)).map { _ in random(depth - 1) })
        case 4: return .not(random(depth - 1))
        default: return leaf()
        }
    }

    @Test("random requests give what reading everything gives")
    func equivalence() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.filled(directory)
        let keys = ["title", "length", "gain", "played", "i64", "loved", "number", "token", "cover", "place.lat"]
        for _ in 0..<600 {
            let sorts = (0..<Int.random(in: 0..<3)).compactMap { _ in
                keys.randomElement().map { FetchRequest.SortDescriptor($0, ascending: Bool.random()) }
            }
            let request = FetchRequest(
                "Track", where: Int.random(in: 0..<8) == 0 ? nil : Self.random(Int.random(in: 0..<4)), sortedBy: sorts,
                limit: Bool.random() ? Int.random(in: 0..<50) : nil, offset: Bool.random() ? Int.random(in: 0..<20) : 0)
            let expected = try Self.reference(request, store)
            #expect(try store.keys(request) == expected, "\(request)")
            let snapshot = try store.snapshot()
            #expect(try snapshot.count(request) == expected.count, "\(request)")
            snapshot.close()
        }
        try store.close()
    }

    @Test("large and deep predicates are answered")
    func large() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.filled(directory)
        var deep = P.equal("i64", 1)
        for level in 0..<150 { deep = level % 2 == 0 ? .not(deep) : .or([deep, .equal("i64", .int(Int64(level)))]) }
        for predicate: P in [
            .isIn("i64", (0..<50_000).map { .int($0) }), .or((0..<5000).map { .equal("i64", .int($0)) }),
            .and((0..<5000).map { .notEqual("i64", .int($0 + 3)) }),
            .or((0..<1500).map { .equal("title", .string("\($0)")) }), deep,
        ] {
            let request = FetchRequest("Track", where: predicate)
            #expect(try store.keys(request) == Self.reference(request, store))
        }
        #expect(
            try store.keys(FetchRequest("Person", where: .beginsWith("name", "n"), includesSubentities: false)) == [])
        #expect(try store.keys(FetchRequest("Singer", where: .beginsWith("name", "n"))) == [2, 4, 6, 8])
        #expect(code { _ = try store.keys(FetchRequest("Track", where: .equal("title", 5))) } == .invalidRequest)
        #expect(code { _ = try store.keys(FetchRequest("Track", where: .equal("nothing", 5))) } == .unknownProperty)
        try store.close()
    }
}
