import Foundation
import RoostPredicates
import TestSamples
import Testing

@testable import RoostCore
@testable import RoostQuery

/// A visitor that shows a batch's records in place and fails at `damaged` keys.
private final class FaultyVisitor: RecordVisitor {
    private let records: RecordBatch
    private let damaged: Set<Int64>
    private var index = 0

    init(_ records: RecordBatch, damaged: Set<Int64> = []) {
        self.records = records
        self.damaged = damaged
    }

    func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        while index < records.count {
            index += 1
            if damaged.contains(records.key(at: index - 1)) {
                throw StoreError(.corrupted, "damaged", damagedObject: records.id(at: index - 1))
            }
            guard records.withRecord(at: index - 1, body) else { return true }
        }
        return false
    }
}

private struct ConditionGenerator {
    var generator: SeededGenerator

    mutating func element<T>(_ values: [T], or other: T) -> T { values.randomElement(using: &generator) ?? other }

    mutating func value(_ type: AttributeType) -> Value {
        Int.random(in: 0...8, using: &generator) == 0 ? .null : element(limits(of: type), or: .null)
    }

    mutating func condition(_ depth: Int) -> FetchRequest.Predicate {
        switch Int.random(in: 0...(depth == 0 ? 4 : 8), using: &generator) {
        case 5: return .not(condition(depth - 1))
        case 6: return .and((0..<Int.random(in: 0...3, using: &generator)).map { _ in condition(depth - 1) })
        case 7, 8: return .or((0..<Int.random(in: 0...3, using: &generator)).map { _ in condition(depth - 1) })
        default: return .comparison(comparison())
        }
    }

    mutating func comparison() -> FetchRequest.Comparison {
        let types = AttributeType.allCases.filter { $0 != .undefined && $0 != .composite }
        let numbers: [AttributeType] = [.integer16, .integer32, .integer64, .boolean, .decimal, .double, .float]
        let type = element(types, or: .string)
        let other = numbers.contains(type) ? element(numbers, or: type) : type
        let field = FetchRequest.Expression.keyPath([sampleName(of: type)])
        let options = FetchRequest.Comparison.Options(rawValue: element([0, 0, 1, 2, 3, 8], or: 0))
        if type == .string || type == .uri, Bool.random(using: &generator) {
            let text: [Value] = ["", "a", "É", "e", "x*", "*\0?", "?", "日", .null]
            let operation = element(
                [FetchRequest.Comparison.Operator.contains, .beginsWith, .endsWith, .like, .isIn], or: .like)
            return .init(left: field, operator: operation, right: .constant(element(text, or: .null)), options: options)
        }
        switch Int.random(in: 0...5, using: &generator) {
        case 0:
            let members = (0..<Int.random(in: 0...20, using: &generator)).map { _ in value(other) }
            return .init(
                left: field, operator: .isIn, right: .aggregate(members.map { .constant($0) }), options: options)
        case 1 where ![.objectID, .transformable].contains(type):
            return .init(
                left: field, operator: .between, right: .aggregate([.constant(value(other)), .constant(value(other))]),
                options: options)
        case 2: return .init(left: field, operator: .equal, right: .keyPath([sampleName(of: other)]), options: options)
        case 3: return .init(left: .constant(value(other)), operator: .notEqual, right: field, options: options)
        case let choice:
            let ordered: [FetchRequest.Comparison.Operator] =
                choice == 4 && ![.objectID, .transformable].contains(type)
                ? [.less, .lessOrEqual, .greater, .greaterOrEqual] : [.equal, .notEqual]
            return .init(
                left: field, operator: element(ordered, or: .equal), right: .constant(value(other)), options: options)
        }
    }
}

@Suite("Fast and plain filters")
struct FilterTwinTests {
    @Test("filters that test fields in place answer as the evaluator does", arguments: 0..<4)
    func quickFilter(seed: UInt64) throws {
        let model = try everyTypeModel()
        var generator = ConditionGenerator(generator: SeededGenerator(seed: seed))
        var records = RecordBatch(model: model)
        for key in Int64(1)...60 {
            try records.append(ObjectID("Thing", key: key), values: randomThing(using: &generator.generator))
        }
        var (matches, misses) = (0, 0)
        for _ in 0..<1500 {
            let predicate = generator.condition(3)
            let filter = try RecordFilter(FetchRequest("Thing", where: predicate), model: model)
            #expect(filter.rest == nil)
            let matcher = filter.matcher(over: nil)
            // The same condition as one node, which only the evaluator can decide.
            var compiler = PredicateCompiler(model: model, entity: try model.requireEntity("Thing"))
            let whole = try compiler.condition(predicate)
            let evaluator = PredicateEvaluator(PredicateProgram(compiler.parts, model: model), graph: nil)
            try records.forEachRecord { (record) throws(StoreError) in
                let plain = try evaluator.isTrue(whole.node, of: record)
                let quick = matcher.matchesQuickly(record)
                if quick != plain { Issue.record("\(predicate) of \(record.id)") }
                if plain { matches += 1 } else { misses += 1 }
            }
        }
        #expect(matches > 10_000 && misses > 10_000)
    }

    @Test("a field comparison gives the same keys or error whether it is compiled or not")
    func fieldComparisons() throws {
        let model = try everyTypeModel()
        let entity = try model.requireEntity("Thing")
        var generator = SeededGenerator(seed: 11)
        var records = RecordBatch(model: model)
        for key in Int64(1)...40 {
            try records.append(ObjectID("Thing", key: key), values: randomThing(using: &generator))
        }
        let constants = AttributeType.allCases.flatMap { limits(of: $0).prefix(4) } + [.null, 2.5, .decimal(.pi)]
        let operations: [FetchRequest.Comparison.Operator] = [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith,
        ]
        var (quickCount, errorCount) = (0, 0)
        for (index, field) in (entity.layout.fields.map(\.name) + ["objectID", "none"]).enumerated() {
            for constant in constants {
                for operation in operations {
                    let options = FetchRequest.Comparison.Options(rawValue: [0, 1, 8][(index + quickCount) % 3])
                    let comparison = FetchRequest.Predicate.comparison(
                        .init(
                            left: .keyPath([field]), operator: operation, right: .constant(constant), options: options))
                    let isQuick = FieldComparison.all(comparison, of: entity, model: model) != nil
                    if isQuick { quickCount += 1 }
                    let answer = answer(comparison, of: records)
                    // An OR is not a field comparison, so it is compiled.
                    #expect(FieldComparison.all(.or([comparison]), of: entity, model: model) == nil)
                    #expect(answer == self.answer(.or([comparison]), of: records), "\(comparison)")
                    if case .failure = answer {
                        errorCount += 1
                        #expect(!isQuick, "\(comparison)")
                    }
                }
            }
        }
        #expect(quickCount > 500 && errorCount > 500)
    }

    @Test("field comparisons find the fields of each subentity's records")
    func fieldComparisonsOfSubentities() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Base", attributes: [.init("number", type: .integer64), .init("text", type: .string)]),
            EntityDescription(
                "Sub", superentity: "Base", attributes: [.init("price", type: .decimal), .init("a", type: .string)]),
        ])
        var records = RecordBatch(model: model)
        for key in Int64(1)...40 {
            try records.append(
                ObjectID(key % 3 == 0 ? "Sub" : "Base", key: key),
                values: ["number": .int(key % 7), "text": key % 2 == 0 ? .string("text") : .null])
        }
        let predicate = FetchRequest.Predicate.greater("number", than: 2) && .equal("text", to: "text")
        let base = try model.requireEntity("Base")
        #expect(FieldComparison.all(predicate, of: base, model: model)?.count == 2)
        for includesSubentities in [true, false] {
            var found: [[Int64]] = []
            for predicate in [predicate, .or([predicate])] {
                let request = FetchRequest("Base", where: predicate).with {
                    $0.includesSubentities = includesSubentities
                }
                let matcher = try RecordFilter(request, model: model).matcher(over: nil)
                var keys: [Int64] = []
                records.forEachRecord { if matcher.matchesQuickly($0) { keys.append($0.key) } }
                found.append(keys)
            }
            #expect(found[0] == found[1])
            let expected = (Int64(1)...40).filter { key in
                guard key % 7 > 2, key % 2 == 0 else { return false }
                return includesSubentities || key % 3 != 0
            }
            #expect(found[0] == expected)
        }
    }

    /// Returns the keys of the records that meet a predicate, or the error.
    private func answer(_ predicate: FetchRequest.Predicate, of records: RecordBatch) -> Result<[Int64], StoreError> {
        do throws(StoreError) {
            let matcher = try RecordFilter(FetchRequest("Thing", where: predicate), model: records.model)
                .matcher(over: nil)
            var keys: [Int64] = []
            try records.forEachRecord { (record) throws(StoreError) in
                if try matcher.matches(record) { keys.append(record.key) }
            }
            return .success(keys)
        } catch {
            return .failure(error)
        }
    }

    @Test("a set of constants contains exactly the values that equal one of them")
    func sets() throws {
        let model = try everyTypeModel()
        var generator = SeededGenerator(seed: 4)
        let values = AttributeType.allCases.flatMap { limits(of: $0) } + [.null, 2, 2.0, .decimal(2), .int(1 << 53)]
        let operands = values.map { PredicateConstant($0, model: model) }
        for count in [0, 1, 2, 5, 30, 70] {
            for _ in 0..<50 {
                let chosen = (0..<count).compactMap { _ in operands.randomElement(using: &generator) }
                let set = OperandSet(chosen)
                for operand in operands {
                    let isMember = chosen.contains { PredicateOperand.equal($0.operand, operand.operand) }
                    #expect(set.contains(operand.operand) == isMember)
                }
            }
        }
    }

    @Test("a set of 10,000 constants finds each after fewer than 40 comparisons")
    func longLists() throws {
        let model = try everyTypeModel()
        let numbers = (0..<10_000).map { PredicateConstant(.int($0 * 7), model: model) }
        let texts = (0..<10_000).map { PredicateConstant(.string("text \($0)"), model: model) }
        for constants in [numbers, texts] {
            let set = OperandSet(constants)
            // Half the slots of the set are free, so a search compares few values.
            #expect(set.longestRun < 40)
            for constant in constants { #expect(set.contains(constant.operand)) }
        }
    }
}

@Suite("Fetches with conditions on related objects")
struct ResidualFetchTests {
    private let library: Library
    private let tracks: RecordBatch

    init() throws {
        library = try Library()
        var tracks = RecordBatch(model: library.model)
        for key in Int64(1)...500 {
            try tracks.append(
                ObjectID("Track", key: key),
                values: [
                    "name": .string("Track \(key)"), "length": .int(key * 7 % 100),
                    "album": .objectID(ObjectID("Album", key: key % 3 + 1)),
                ])
        }
        self.tracks = tracks
    }

    /// A condition on the record and a condition on a related record.
    private let predicate =
        FetchRequest.Predicate.less("length", than: 50)
        && .comparison(.init(left: .keyPath(["album", "title"]), operator: .notEqual, right: .constant("Nil")))

    private func keys(_ request: FetchRequest, damaged: Set<Int64> = []) throws -> ([Int64], errors: Int, visited: Int)
    {
        let fetch = try ScanningFetch(
            request, model: library.model, visiting: FaultyVisitor(tracks, damaged: damaged), graph: library.graph)
        let (keys, errors) = readAll(fetch)
        return (keys, errors.count, fetch.visitedCount)
    }

    private func readAll(_ fetch: ScanningFetch) -> ([Int64], [StoreError]) {
        var batch = RecordBatch(model: library.model)
        var (keys, errors): ([Int64], [StoreError]) = ([], [])
        var isMore = true
        while isMore {
            do throws(StoreError) {
                isMore = try fetch.next(into: &batch)
            } catch {
                #expect(batch.isEmpty)
                errors.append(error)
            }
            keys += (0..<batch.count).map { batch.key(at: $0) }
        }
        return (keys, errors)
    }

    private var expected: [Int64] { (1...500).filter { $0 * 7 % 100 < 50 && $0 % 3 != 1 } }

    @Test(
        "a fetch with a condition on related objects respects order, offset and limit", arguments: [0, 3, 400],
        [nil, 0, 1, 5, 1000])
    func windows(offset: Int, limit: Int?) throws {
        let request = FetchRequest("Track", where: predicate, limit: limit, offset: offset)
        #expect(try keys(request).0 == Array(expected.dropFirst(offset).prefix(limit ?? .max)))
        let count = try ScanningFetch.count(
            request, model: library.model, visiting: FaultyVisitor(tracks), graph: library.graph)
        #expect(count == max(0, min(limit ?? .max, expected.count - offset)))
        let sorted = FetchRequest(
            "Track", where: predicate, sortedBy: [.init("length")], limit: limit, offset: offset)
        let inOrder = expected.sorted { ($0 * 7 % 100, $0) < ($1 * 7 % 100, $1) }
        #expect(try keys(sorted).0 == Array(inOrder.dropFirst(offset).prefix(limit ?? .max)))
    }

    @Test("a fetch with a limit visits few records")
    func visits() throws {
        let all = try keys(FetchRequest("Track", where: predicate))
        #expect(all.visited == 500)
        let first = try keys(FetchRequest("Track", where: predicate, limit: 2))
        #expect(first.0.count == 2 && first.visited < 50)
    }

    @Test(
        "a fetch returns all except the damaged records", arguments: [[1], [500], [2, 3, 499], [250]] as [Set<Int64>])
    func damage(damaged: Set<Int64>) throws {
        for predicate in [predicate, .constant(true)] {
            let result = try keys(FetchRequest("Track", where: predicate), damaged: damaged)
            let whole = try keys(FetchRequest("Track", where: predicate)).0
            #expect(result.0 == whole.filter { !damaged.contains($0) })
            #expect(result.errors == damaged.count)
        }
    }

    @Test("a damaged related record excludes only the records that refer to it")
    func damagedRelated() throws {
        let fetch = try ScanningFetch(
            FetchRequest("Track", where: predicate), model: library.model, visiting: FaultyVisitor(tracks),
            graph: DamagedGraph(library.graph, damaged: 3))
        let (keys, errors) = readAll(fetch)
        #expect(keys == expected.filter { $0 % 3 != 2 })
        #expect(errors.map(\.damagedObject) == expected.filter { $0 % 3 == 2 }.map { _ in ObjectID("Album", key: 3) })
    }

    @Test("RecordPlaces finds a record's bytes by hierarchy and key, also after removals")
    func places() {
        let places = RecordPlaces()
        var model: [Int64: Int] = [:]
        var generator = SeededGenerator(seed: 6)
        let bytes = Array(repeating: UInt8(7), count: 300)
        bytes.withUnsafeBytes { bytes in
            for step in 0..<20_000 {
                let key = Int64.random(in: 0...700, using: &generator)
                let count = step % 300
                switch Int.random(in: 0...5, using: &generator) {
                case 0:
                    places.forget(key, root: 3)
                    model[key] = nil
                case 1:
                    places.replace(.init(rebasing: bytes[..<count]), at: key, root: 3)
                    // `replace` may restore a forgotten key, so the test forgets it again.
                    if model[key] != nil { model[key] = count } else { places.forget(key, root: 3) }
                default:
                    #expect(places.insert(.init(rebasing: bytes[..<count]), at: key, root: 3) == (model[key] == nil))
                    if model[key] == nil { model[key] = count }
                }
                if step % 7000 == 6999 {
                    places.removeAll()
                    model = [:]
                }
                let asked = Int64.random(in: 0...700, using: &generator)
                #expect(places.bytes(of: asked, root: 3)?.count == model[asked])
                #expect(places.bytes(of: asked, root: 4) == nil)
            }
        }
    }

    @Test("a fetch returns the records found before a slow regular expression, then throws timedOut")
    func deadline() throws {
        var tracks = RecordBatch(model: library.model)
        for key in Int64(1)...4 {
            let name = key == 3 ? String(repeating: "a", count: 40) + "!" : "aaa"
            try tracks.append(ObjectID("Track", key: key), values: ["name": .string(name)])
        }
        let request = FetchRequest(
            "Track", where: .comparison(.init(left: .keyPath(["name"]), operator: .matches, right: .constant("(a+)+"))))
        let fetch = try ScanningFetch(request, model: library.model, visiting: FaultyVisitor(tracks))
        var batch = RecordBatch(model: library.model)
        #expect(try fetch.next(into: &batch))
        #expect(batch.count == 2)
        let failure = #expect(throws: StoreError.self) { try fetch.next(into: &batch) }
        #expect(failure?.code == .timedOut)
        #expect(try !fetch.next(into: &batch))
    }
}

private final class DamagedGraph: ObjectGraph {
    private let graph: BatchGraph
    private let damaged: Int64

    init(_ graph: BatchGraph, damaged: Int64) { (self.graph, self.damaged) = (graph, damaged) }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        guard !keys.contains(damaged) else {
            throw StoreError(.corrupted, "damaged", damagedObject: ObjectID("Album", key: damaged))
        }
        try graph.read(keys, inHierarchyOf: root, into: &batch)
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) { try graph.appendDestinations(of: relationship, from: key, to: &keys) }
}

extension Result<[Int64], StoreError> {
    /// Whether both results have the same keys, or the same error with the same message.
    fileprivate static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.success(let a), .success(let b)): a == b
        case (.failure(let a), .failure(let b)): a.code == b.code && a.message == b.message
        default: false
        }
    }
}
