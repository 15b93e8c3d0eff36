import Foundation
import RoostCore
import RoostPredicates
import RoostQuery
import TestSamples
import Testing

/// A cursor that returns the records of a batch, a few at a time.
final class BatchCursor: RecordCursor {
    private let records: RecordBatch
    private let step: Int
    private var index = 0

    init(_ records: RecordBatch, step: Int = 3) {
        self.records = records
        self.step = step
    }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        while index < records.count, batch.count < step {
            batch.append(records, at: index)
            index += 1
        }
        return !batch.isEmpty
    }
}

@Suite("Predicates and orders")
struct RecordFilterTests {
    let model: ManagedObjectModel
    let records: RecordBatch

    init() throws {
        model = try everyTypeModel()
        var records = RecordBatch(model: model)
        let rows: [[String: Value]] = [
            ["integer64": 1, "string": "Rob", "double": .double(.nan), "boolean": true],
            ["integer64": 2, "string": "Robert", "double": 2.5, "decimal": .decimal(2)],
            ["integer64": 3, "double": -0.0, "owner": .objectID(ObjectID("Person", key: 4))],
            ["string": "rob", "double": 0.0, "composite": .composite(["depth": 1.5])],
            ["integer64": .int(.max), "string": "é", "double": .double(.infinity)],
        ]
        for (index, values) in rows.enumerated() {
            try records.append(ObjectID("Thing", key: Int64(index + 1)), values: values)
        }
        self.records = records
    }

    func keys(_ request: FetchRequest) throws -> [Int64] {
        let fetch = try ScanningFetch(request, model: model, source: BatchCursor(records))
        var batch = RecordBatch(model: model)
        var keys: [Int64] = []
        while try fetch.next(into: &batch) { keys += (0..<batch.count).map { batch.key(at: $0) } }
        #expect(try ScanningFetch.count(request, model: model, source: BatchCursor(records)) == keys.count)
        return keys
    }

    @Test(
        "predicates choose records by two-valued logic",
        arguments: [
            (FetchRequest.Predicate.equal("string", to: "Rob"), [1]),
            (.notEqual("string", to: "Rob"), [2, 3, 4, 5]), (!(.equal("string", to: "Rob")), [2, 3, 4, 5]),
            (.isNull("string"), [3]), (.isNotNull("string"), [1, 2, 4, 5]),
            (.beginsWith("string", prefix: "Rob"), [1, 2]), (.beginsWith("string", prefix: ""), [1, 2, 4, 5]),
            (.less("string", than: "rob"), [1, 2]), (.greater("string", than: "rob"), [5]),
            (.less("integer64", than: 3), [1, 2]), (!(.less("integer64", than: 3)), [3, 4, 5]),
            (.greaterOrEqual("integer64", to: 2.5), [3, 5]), (.equal("integer64", to: .decimal(2)), [2]),
            (.less("integer64", than: .double(0x1p63)), [1, 2, 3, 5]),
            (.equal("double", to: 0.0), [3, 4]), (.equal("double", to: .double(.nan)), []),
            (.notEqual("double", to: .double(.nan)), [1, 2, 3, 4, 5]), (.greater("double", than: 0.0), [2, 5]),
            (.equal("decimal", to: 2), [2]), (.equal("boolean", to: true), [1]),
            (.notEqual("boolean", to: true), [2, 3, 4, 5]),
            (.isIn("string", values: ["rob", "é", .null]), [3, 4, 5]), (.isIn("integer64", values: []), []),
            (.equal("owner", to: .objectID(ObjectID("Company", key: 4))), [3]), (.isNull("owner"), [1, 2, 4, 5]),
            (
                .comparison(
                    .init(
                        left: .evaluatedObject, operator: .isIn,
                        right: .aggregate([.constant(.objectID(ObjectID("Thing", key: 2)))]))),
                [2]
            ),
            (.equal("composite.depth", to: 1.5), [4]), (.isNotNull("composite"), [4]),
            (.and([]), [1, 2, 3, 4, 5]), (.or([]), []), (.constant(false), []),
            (.less("integer64", than: 3) && .beginsWith("string", prefix: "Robe"), [2]),
            (.equal("integer64", to: 1) || .equal("integer64", to: 3), [1, 3]),
        ] as [(FetchRequest.Predicate, [Int64])])
    func predicates(_ predicate: FetchRequest.Predicate, expected: [Int64]) throws {
        #expect(try keys(FetchRequest("Thing", where: predicate)) == expected)
    }

    @Test(
        "an ascending order puts nulls first and NaN last, a descending order the reverse, and keys break ties",
        arguments: [
            ([FetchRequest.SortDescriptor("double")], [3, 4, 2, 5, 1]),
            ([.init("double", ascending: false)], [1, 5, 2, 3, 4]),
            ([.init("string")], [3, 1, 2, 4, 5]), ([.init("integer64")], [4, 1, 2, 3, 5]),
            ([.init("boolean"), .init("integer64", ascending: false)], [5, 3, 2, 4, 1]),
        ] as [([FetchRequest.SortDescriptor], [Int64])])
    func orders(_ order: [FetchRequest.SortDescriptor], expected: [Int64]) throws {
        #expect(try keys(FetchRequest("Thing", sortedBy: order)) == expected)
        for offset in 0...6 {
            for limit in 0...6 {
                let page = try keys(FetchRequest("Thing", sortedBy: order, limit: limit, offset: offset))
                #expect(page == Array(expected.dropFirst(offset).prefix(limit)))
            }
        }
    }

    @Test("random nested conditions select the same records as their equivalents in Swift")
    func nestedConditions() throws {
        var generator = SeededGenerator(seed: 77)
        let integers: [Int64?] = [1, 2, 3, nil, .max]
        func condition(_ depth: Int) -> (FetchRequest.Predicate, (Int64?) -> Bool) {
            let number = Int64.random(in: 0...4, using: &generator)
            switch depth == 0 ? Int.random(in: 0...3, using: &generator) : Int.random(in: 0...7, using: &generator) {
            case 0: return (.equal("integer64", to: .int(number)), { $0 == number })
            case 1: return (.less("integer64", than: .int(number)), { $0.map { $0 < number } ?? false })
            case 2:
                return (
                    .isIn("integer64", values: [.int(number), .null, .int(2)]), { $0 == number || $0 == nil || $0 == 2 }
                )
            case 3: return (.constant(number > 1), { _ in number > 1 })
            case 4:
                let (inner, meaning) = condition(depth - 1)
                return (!inner, { !meaning($0) })
            default:
                let parts = (0..<Int(number)).map { _ in condition(depth - 1) }
                return number % 2 == 0
                    ? (.and(parts.map(\.0)), { value in parts.allSatisfy { $0.1(value) } })
                    : (.or(parts.map(\.0)), { value in parts.contains { $0.1(value) } })
            }
        }
        for _ in 0..<500 {
            let (predicate, meaning) = condition(4)
            let expected = integers.indices.filter { meaning(integers[$0]) }.map { Int64($0 + 1) }
            #expect(try keys(FetchRequest("Thing", where: predicate)) == expected, "\(predicate)")
        }
    }

    @Test(
        "a comparison means the same with the field on either side",
        arguments: AttributeType.allCases.filter { $0 != .undefined })
    func mirrored(type: AttributeType) throws {
        let mirrors: [FetchRequest.Comparison.Operator: FetchRequest.Comparison.Operator] = [
            .equal: .equal, .notEqual: .notEqual, .less: .greater, .greater: .less,
            .lessOrEqual: .greaterOrEqual, .greaterOrEqual: .lessOrEqual,
        ]
        let name = sampleName(of: type)
        var things = RecordBatch(model: model)
        for (index, value) in (limits(of: type) + [.null]).enumerated() {
            try things.append(
                ObjectID("Thing", key: Int64(index + 1)), values: type == .composite ? [:] : [name: value])
        }
        func keys(_ comparison: FetchRequest.Comparison) throws -> [Int64] {
            let request = FetchRequest("Thing", where: .comparison(comparison))
            let fetch = try ScanningFetch(request, model: model, source: BatchCursor(things, step: 100))
            var batch = RecordBatch(model: model)
            _ = try fetch.next(into: &batch)
            return (0..<batch.count).map { batch.key(at: $0) }
        }
        var comparisonCount = 0
        for value in AttributeType.allCases.flatMap({ limits(of: $0) }) + [.null] {
            for (comparison, mirror) in mirrors {
                // Values that cannot be compared are refused in both orders.
                let field = FetchRequest.Expression.keyPath([name])
                let plain = try? keys(.init(left: .constant(value), operator: mirror, right: field))
                let fast = try? keys(.init(left: field, operator: comparison, right: .constant(value)))
                #expect(fast == plain, "\(name) \(comparison) \(value)")
                if plain != nil { comparisonCount += 1 }
            }
        }
        #expect(comparisonCount >= 2)
    }

    @Test("a comparison of a reference means the same with the reference on either side")
    func mirroredReferences() throws {
        var things = RecordBatch(model: model)
        for key: Int64 in 1...3 {
            try things.append(
                ObjectID("Thing", key: key), values: key == 3 ? [:] : ["next": .objectID(ObjectID("Thing", key: key))])
        }
        for id in [ObjectID("Thing", key: 1), ObjectID("Tag", key: 1), ObjectID("Thing", key: 9)] {
            for comparison in [FetchRequest.Comparison.Operator.equal, .notEqual] {
                func keys(_ left: FetchRequest.Expression, _ right: FetchRequest.Expression) throws -> [Int64] {
                    let request = FetchRequest(
                        "Thing", where: .comparison(.init(left: left, operator: comparison, right: right)))
                    let fetch = try ScanningFetch(request, model: model, source: BatchCursor(things))
                    var batch = RecordBatch(model: model)
                    _ = try fetch.next(into: &batch)
                    return (0..<batch.count).map { batch.key(at: $0) }
                }
                let (field, constant) = (
                    FetchRequest.Expression.keyPath(["next"]), FetchRequest.Expression.constant(.objectID(id))
                )
                #expect(try keys(field, constant) == keys(constant, field))
            }
        }
        #expect(try self.keys(FetchRequest("Thing", where: .isNull("next"))) == [1, 2, 3, 4, 5])
    }

    @Test(
        "a limited fetch returns the beginning of the whole order, for every type",
        arguments: AttributeType.allCases.filter { ![.undefined, .composite, .transformable, .objectID].contains($0) },
        [true, false])
    func firstOfMany(type: AttributeType, isAscending: Bool) throws {
        var generator = SeededGenerator(seed: 9)
        var values = limits(of: type) + [.null]
        if type == .string {
            values += (0..<400).map { _ in
                .string(
                    String(
                        (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                            "ab\u{0}é".randomElement(using: &generator) ?? "a"
                        }))
            }
        }
        var things = RecordBatch(model: model)
        for key in Int64(1)...6000 {
            let value = values.randomElement(using: &generator) ?? .null
            try things.append(ObjectID("Thing", key: key), values: [sampleName(of: type): value])
        }
        func keys(limit: Int?) throws -> [Int64] {
            let request = FetchRequest(
                "Thing", sortedBy: [.init(sampleName(of: type), ascending: isAscending)], limit: limit, offset: 3)
            let fetch = try ScanningFetch(request, model: model, source: BatchCursor(things, step: 1000))
            var batch = RecordBatch(model: model)
            var keys: [Int64] = []
            while try fetch.next(into: &batch) { keys += (0..<batch.count).map { batch.key(at: $0) } }
            return keys
        }
        let all = try keys(limit: nil)
        #expect(all.count == 5997)
        for limit in [1, 40, 1500] { #expect(try keys(limit: limit) == Array(all.prefix(limit))) }
    }

    @Test("a fetch with offset and limit returns that window of 20,000 sorted records")
    func topOfMany() throws {
        var many = RecordBatch(model: model)
        var generator = SeededGenerator(seed: 5)
        let numbers = (0..<20_000).map { _ in Int64.random(in: 0...5_000, using: &generator) }
        for (index, number) in numbers.enumerated() {
            try many.append(ObjectID("Thing", key: Int64(index + 1)), values: ["integer64": .int(number)])
        }
        let request = FetchRequest("Thing", sortedBy: [.init("integer64")], limit: 50, offset: 25)
        let fetch = try ScanningFetch(request, model: model, source: BatchCursor(many, step: 1000))
        var batch = RecordBatch(model: model)
        #expect(try fetch.next(into: &batch))
        let expected = numbers.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
        #expect((0..<50).map { batch.key(at: $0) } == expected[25..<75].map { Int64($0.offset + 1) })
        #expect(try !fetch.next(into: &batch))
    }

    @Test(
        "comparisons that cannot be made, and unknown names, are errors",
        arguments: [
            (FetchRequest.Predicate.equal("string", to: 1), StoreError.Code.invalidRequest),
            (.less("owner", than: .objectID(ObjectID("Person", key: 1))), .invalidRequest),
            (.equal("strin", to: "x"), .unknownProperty),
            (.beginsWith("integer64", prefix: "1"), .invalidRequest), (.less("composite", than: 1), .invalidRequest),
            ((0..<300).reduce(FetchRequest.Predicate.constant(true)) { inner, _ in .not(inner) }, .invalidRequest),
        ])
    func badPredicates(_ predicate: FetchRequest.Predicate, code: StoreError.Code) {
        let failure = #expect(throws: StoreError.self) { try keys(FetchRequest("Thing", where: predicate)) }
        #expect(failure?.code == code)
    }

    @Test(
        "wrong orders, limits and entities are errors",
        arguments: [
            (FetchRequest("Nothing"), StoreError.Code.unknownEntity),
            (FetchRequest("Thing", limit: -1), .invalidRequest),
            (FetchRequest("Thing", offset: -1), .invalidRequest),
            (FetchRequest("Thing", sortedBy: [.init("owner")]), .invalidRequest),
            (FetchRequest("Thing", sortedBy: [.init("x")]), .unknownProperty),
        ])
    func badRequests(_ request: FetchRequest, code: StoreError.Code) {
        let failure = #expect(throws: StoreError.self) { try keys(request) }
        #expect(failure?.code == code)
    }
}
