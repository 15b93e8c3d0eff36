import Foundation
import TestSamples
import Testing

@testable import RoostCore
@testable import RoostQuery

@Suite("Aggregates of rows")
struct RowAggregateTests {
    typealias Property = FetchRequest.FetchedProperty

    @Test("aggregates without groups return one row, also for no objects")
    func wholes() throws {
        let columns: [Property] = [
            Property("count", expression: RowSamples.function(.count, of: "plays")),
            Property("sum", expression: RowSamples.function(.sum, of: "plays")),
            Property("least", expression: RowSamples.function(.minimum, of: "title")),
            Property("mean", expression: RowSamples.function(.average, of: "price")),
            Property("most", expression: RowSamples.function(.maximum, of: "seconds")),
            Property("all", expression: .keyPath(["@count"])),
            Property("years", expression: .keyPath(["@max", "album", "year"])),
            Property("live", expression: RowSamples.function(.sum, of: "isLive")),
        ]
        let found = try RowSamples.rows { $0.propertiesToFetch = columns }
        #expect(
            found == [
                [
                    8, .decimal(Decimal(string: "9223372036854775827") ?? 0), "t1",
                    .decimal((Decimal(28) - 3) / 4 / 7), .double(.nan), 8, 2001, 4,
                ]
            ])
        let none = try RowSamples.rows {
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
            request.propertiesToFetch = [Property("value", expression: RowSamples.function(function, of: field))]
            let copied = try RowSamples.rows(request, of: RowSamples.library())
            #expect(try RowSamples.rows(request, of: ShowingSnapshot(RowSamples.library())) == copied)
        }
    }

    @Test("an aggregate over records in place continues after a damaged one")
    func damageInPlace() throws {
        var request = RowRequest(FetchRequest("Track", where: .less("plays", than: 100)))
        request.propertiesToFetch = [Property("sum", expression: RowSamples.function(.sum, of: "plays"))]
        let cursor = try ShowingSnapshot(RowSamples.library(), damagedKey: 2).rows(request)
        var batch = RowBatch()
        let error = #expect(throws: StoreError.self) { try cursor.next(into: &batch) }
        #expect(error?.damagedObject == ObjectID("Track", key: 2))
        #expect(try cursor.next(into: &batch))
        // All except the track with five plays.
        #expect(batch.values == [Value.int(15)])
        #expect(try !cursor.next(into: &batch))
    }

    @Test(
        "the fast aggregate of a field gives the same values as the general aggregate",
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
        let plain = GeneralAggregate(function, source: source)
        let evaluator = PredicateEvaluator(compiler.program, graph: nil)
        var counts = [Int64](repeating: 0, count: 7)
        var key: Int64 = 0
        for groupCount in [1, 3, 7, 7, 7] {
            var batch = RecordBatch(model: model)
            var groups: [Int] = []
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                key += 1
                try batch.append(ObjectID("Thing", key: key), values: [name: SortTests.value(name, using: &random)])
                groups.append(Int.random(in: 0..<groupCount, using: &random))
                counts[groups[groups.count - 1]] += 1
            }
            try fast.add(batch, groups: groups, groupCount: groupCount, evaluator: evaluator)
            try plain.add(batch, groups: groups, groupCount: groupCount, evaluator: evaluator)
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

    @Test("the mean of whole numbers is exact even if no double equals their sum")
    func meanOfWholeNumbers() throws {
        var accumulator = PredicateAccumulator()
        // The sum is 9250393634618999091; the nearest double is less by 307.
        accumulator.add(.integer(9_223_372_036_854_775_807))
        accumulator.add(.integer(27_021_597_764_223_284))
        for _ in 0..<67 { accumulator.add(.integer(0)) }
        guard case .double(let mean) = accumulator.average else {
            throw StoreError(.internalInconsistency, "no double")
        }
        #expect(mean == 1.3406367586404347e+17)
    }
}
