import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

@Suite("Text of predicates in stores")
struct PredicateTextTests {
    typealias P = FetchRequest.Predicate

    private static let numbers: [Value] = [
        0, 1, 1.5, 0.1, .double(-0.0), .double(.nan), .double(.infinity), .int(.max), .int(16_777_217),
        .double(9_007_199_254_740_992), .double(Double(Float(0.1))), true, .decimal(Decimal(string: "0.1") ?? 0), .null,
    ]
    private static let texts: [Value] = ["", "a", "ab", "a\"\\", "\u{0}\n\u{7F}", "\u{10FFFF}", "é", "e\u{301}", .null]
    private static let dates: [Value] = [0, 0.1, -0.1, .nan, .infinity, 7e8].map {
        .date(Date(timeIntervalSinceReferenceDate: $0))
    }
    private static let uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
    private static let beings: [Value] = [
        .objectID(ObjectID("Dog", key: 2)), .objectID(ObjectID("Robot", key: 3)), .null,
    ]
    private static let objects: [Value] = [
        .objectID(ObjectID("Dog", key: 2)), .objectID(ObjectID("Robot", key: 3)),
        .objectID(ObjectID("Indexed", key: 4)), .null,
    ]

    /// Returns a value that some objects have, or a similar value.
    private static func value(of name: String, using random: inout SeededGenerator) -> Value {
        switch name {
        case "str": random.pick(texts)
        case "link": random.oneIn(4) ? .null : .uri(random.pick(["", "a", "a b", "\u{0}"]))
        case "day": random.oneIn(6) ? .null : random.pick(dates)
        case "ident": random.oneIn(3) ? .null : .uuid(uuid)
        case "blob", "coded": .data(Data(random.pick([[], [0], [0, 1], [255]])))
        case "owner", "oid": random.pick(objects)
        default: random.pick(numbers)
        }
    }

    private static func leaf(_ random: inout SeededGenerator) -> P {
        let orders: [FetchRequest.Comparison.Operator] = [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
        ]
        let ordered = ["i16", "i32", "i64", "dec", "dbl", "flt", "flag", "str", "link", "day", "ident", "place.number"]
        switch random.below(10) {
        case 0:
            let name = random.pick(["owner", "oid", "coded"])
            return .compare(name, using: random.pick([.equal, .notEqual]), with: value(of: name, using: &random))
        case 1: return .beginsWith(random.pick(["str", "link"]), prefix: random.pick(["", "a", "\u{0}", "é"]))
        case 2, 3:
            let name = random.pick(ordered + ["owner", "oid"])
            return .isIn(name, values: (0..<random.below(4)).map { _ in value(of: name, using: &random) })
        case 4:
            return .comparison(
                .init(
                    left: .evaluatedObject, operator: .isIn,
                    right: .aggregate((0..<random.below(3)).map { _ in .constant(random.pick(objects)) })))
        case 5:
            let names = ["i16", "i64", "dec", "dbl", "flt", "flag"]
            return .comparison(
                .init(
                    left: .keyPath([random.pick(names)]), operator: random.pick(orders),
                    right: .keyPath([random.pick(names)])))
        case 6:
            let name = random.pick(ordered.filter { $0 != "place.number" })
            return .comparison(
                .init(
                    left: .constant(value(of: name, using: &random)), operator: random.pick(orders),
                    right: .keyPath([name])))
        case 7: return random.oneIn(2) ? .isNull("place") : .constant(random.oneIn(2))
        default:
            let name = random.pick(ordered)
            return .compare(name, using: random.pick(orders), with: value(of: name, using: &random))
        }
    }

    private static func predicate(depth: Int, using random: inout SeededGenerator) -> P {
        guard depth > 0 else { return leaf(&random) }
        switch random.below(6) {
        case 0, 1: return .and((0..<random.below(4)).map { _ in predicate(depth: depth - 1, using: &random) })
        case 2, 3: return .or((0..<random.below(4)).map { _ in predicate(depth: depth - 1, using: &random) })
        case 4: return .not(predicate(depth: depth - 1, using: &random))
        default: return leaf(&random)
        }
    }

    private static func fill(_ store: any PersistentStore, using random: inout SeededGenerator) throws {
        var changes = ChangeSet(model: store.model)
        for key in Int64(1)...150 {
            var values: [String: Value] = [:]
            for name in ["i16", "i32", "i64"] where !random.oneIn(4) {
                values[name] = .int(random.pick([0, 1, -1, 32767]))
            }
            values["i64"] = random.oneIn(3) ? .int(random.pick([.max, .min, 16_777_217])) : values["i64"]
            values["dbl"] = random.oneIn(4) ? nil : .double(random.pick([0, -0.0, 0.1, 1.5, .nan, .infinity]))
            values["flt"] = random.oneIn(4) ? nil : .double(Double(random.pick([0, 0.1, 1.5, .nan] as [Float])))
            values["dec"] =
                random.oneIn(4) ? nil : .decimal(random.pick(["0", "0.1", "1.5"].compactMap { Decimal(string: $0) }))
            values["flag"] = random.oneIn(4) ? nil : .bool(random.oneIn(2))
            for name in ["str", "link", "day", "ident", "blob", "coded", "owner", "oid"] where !random.oneIn(4) {
                values[name] = name == "owner" ? random.pick(beings) : value(of: name, using: &random)
            }
            if random.oneIn(2) { values["place"] = .composite(random.oneIn(2) ? ["number": 1] : [:]) }
            try changes.insert(ObjectID("Indexed", key: key), values: values)
        }
        _ = try store.commit(changes)
    }

    private static func keys(_ predicate: P, in snapshot: any StoreSnapshot) throws -> [Int64] {
        let cursor = try snapshot.fetch(FetchRequest("Indexed", where: predicate))
        var batch = RecordBatch(model: snapshot.model)
        var keys: [Int64] = []
        while try cursor.next(into: &batch) { keys += (0..<batch.count).map { batch.key(at: $0) } }
        return keys
    }

    @Test("a printed predicate that is read again chooses the same objects", arguments: StoreFixture.writable)
    func roundTrip(fixture: StoreFixture) throws {
        let seed = RandomSeed.named("ROOST_PREDICATE_SEED")
        var random = SeededGenerator(seed: seed)
        let bench = try Workbench(fixture)
        defer { bench.discard() }
        let store = try bench.create()
        try Self.fill(store, using: &random)
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var chosen = 0
        for round in 0..<400 {
            let predicate = Self.predicate(depth: random.below(4), using: &random)
            let text = try predicate.format(for: "Indexed", model: store.model)
            let again = try P(text, for: "Indexed", model: store.model)
            let expected = try Self.keys(predicate, in: snapshot)
            chosen += expected.count
            #expect(
                try Self.keys(again, in: snapshot) == expected, "ROOST_PREDICATE_SEED=\(seed), round \(round): \(text)")
            let printed = try again.format(for: "Indexed", model: store.model)
            #expect(printed == text, "ROOST_PREDICATE_SEED=\(seed), round \(round)")
        }
        #expect(chosen > 0)
    }
}
