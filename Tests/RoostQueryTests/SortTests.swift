import Foundation
import TestSamples
import Testing

@testable import RoostCore
@testable import RoostQuery

/// A cursor that returns one batch after the other.
private final class ListCursor: RecordCursor {
    private var batches: ArraySlice<RecordBatch>

    init(_ batches: [RecordBatch]) { self.batches = batches[...] }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        guard let first = batches.popFirst() else { return false }
        batch = first
        return true
    }
}

private final class ListGraph: ObjectGraph {
    private let batches: [RecordBatch]
    private(set) var readCount = 0

    init(_ batches: [RecordBatch]) { self.batches = batches }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        batch.removeAll()
        readCount += 1
        for key in keys {
            for list in batches {
                for index in 0..<list.count
                where list.key(at: index) == key && list.model.entities[list.entityNumber(at: index)].root == root {
                    batch.append(list, at: index)
                }
            }
        }
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {}
}

@Suite("Sorting")
struct SortTests {
    /// Compares two texts by the definition of the localized standard order.
    ///
    /// The result is negative if `left` is first, and 0 for equal texts.
    private static func localizedOrder(_ left: String, _ right: String) -> Int {
        enum Part: Equatable {
            case number(String)
            case byte(UInt8)
        }
        func parts(_ text: String) -> [Part] {
            var parts: [Part] = []
            var digits: String?
            for byte in text.utf8 {
                if (48...57).contains(byte) {
                    digits = (digits ?? "") + String(UnicodeScalar(byte))
                    continue
                }
                if let run = digits { parts.append(.number(String(run.drop { $0 == "0" }))) }
                digits = nil
                parts.append(.byte(byte))
            }
            if let run = digits { parts.append(.number(String(run.drop { $0 == "0" }))) }
            return parts
        }
        func order(_ a: [UInt8], _ b: [UInt8]) -> Int { a == b ? 0 : (a.lexicographicallyPrecedes(b) ? -1 : 1) }
        func partOrder(_ a: Part, _ b: Part) -> Int {
            switch (a, b) {
            case (.number(let a), .number(let b)):
                return a.utf8.count != b.utf8.count
                    ? a.utf8.count - b.utf8.count : order(Array(a.utf8), Array(b.utf8))
            case (.byte(let a), .byte(let b)): return Int(a) - Int(b)
            case (.number, .byte(let b)): return 48 - Int(b)
            case (.byte(let a), .number): return Int(a) - 48
            }
        }
        func fold(_ text: String, options: String.CompareOptions) -> String {
            text.folding(options: options, locale: nil)
        }
        let both: String.CompareOptions = [.caseInsensitive, .diacriticInsensitive]
        let (a, b) = (parts(fold(left, options: both)), parts(fold(right, options: both)))
        for (a, b) in zip(a, b) where a != b { return partOrder(a, b) }
        if a.count != b.count { return a.count - b.count }
        let (c, d) = (
            Array(fold(left, options: .caseInsensitive).utf8), Array(fold(right, options: .caseInsensitive).utf8)
        )
        return c == d ? order(Array(left.utf8), Array(right.utf8)) : order(c, d)
    }

    private static let pieces = [
        "", "0", "00", "1", "01", "9", "10", "2", "a", "A", "é", "É", "e\u{301}", "z", "-", " ", "\u{0}", "ß", "ẞ",
        "İ", "ı", "🎷", ":", "/", "123456789012345678901234567890",
    ]

    @Test("the localized standard order agrees with its definition on random texts")
    func localizedStandard() throws {
        var random = SeededGenerator(seed: 42)
        func text() -> String {
            (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.pieces.randomElement(using: &random) ?? "" }
                .joined()
        }
        func key(_ text: String) -> [UInt8] {
            var key: [UInt8] = []
            Array(text.utf8).withUnsafeBytes { StandardTextOrder.append($0, to: &key) }
            return key
        }
        for _ in 0..<20_000 {
            let (a, b) = (text(), text())
            let expected = Self.localizedOrder(a, b)
            let (left, right) = (key(a), key(b))
            let order = left == right ? 0 : (left.lexicographicallyPrecedes(right) ? -1 : 1)
            #expect(order == expected.signum(), "\(a.debugDescription) \(b.debugDescription)")
        }
    }

    /// Returns null or one of a few similar values.
    static func value(_ name: String, using random: inout SeededGenerator) -> Value {
        guard Int.random(in: 0..<6, using: &random) > 0 else { return .null }
        switch name {
        case "integer16", "integer32", "integer64":
            return .int([-30000, -1, 0, 1, 255, 256, 30000].randomElement(using: &random) ?? 0)
        case "double", "float":
            return .double([-.infinity, -1.5, -0.0, 0, 1.5, .infinity, .nan].randomElement(using: &random) ?? 0)
        case "date":
            return .date(
                Date(timeIntervalSinceReferenceDate: [-1e9, -0.0, 0, 0.5, .nan].randomElement(using: &random) ?? 0))
        case "decimal":
            let texts = ["-1e100", "-12", "-1.5", "0", "0.001", "1", "10", "9.99", "1e100", "NaN"]
            return (texts.randomElement(using: &random)).flatMap { DecimalNumber(utf8: $0.utf8) }.map {
                .decimal($0.decimal)
            } ?? .null
        case "boolean": return .bool(Bool.random(using: &random))
        default: return .string((0..<2).map { _ in pieces.randomElement(using: &random) ?? "" }.joined())
        }
    }

    private func things(_ count: Int, using random: inout SeededGenerator) throws -> RecordBatch {
        var things = RecordBatch(model: try everyTypeModel())
        let names = ["integer16", "integer32", "integer64", "double", "float", "date", "decimal", "boolean", "string"]
        for key in 1...count {
            var values: [String: Value] = [:]
            for name in names { values[name] = Self.value(name, using: &random) }
            if key % 3 != 0 {
                values["next"] = .objectID(ObjectID("Thing", key: Int64(Int.random(in: 1...count + 5, using: &random))))
            }
            try things.append(ObjectID("Thing", key: Int64(key)), values: values)
        }
        return things
    }

    private func keys(
        _ request: FetchRequest, of things: RecordBatch, step: Int = 7, graph: (any ObjectGraph)? = nil
    ) throws -> [Int64] {
        var batches: [RecordBatch] = []
        for start in stride(from: 0, to: things.count, by: step) {
            var batch = RecordBatch(model: things.model)
            for index in start..<min(start + step, things.count) { batch.append(things, at: index) }
            batches.append(batch)
        }
        let fetch = try ScanningFetch(
            request, model: things.model, source: ListCursor(batches), graph: graph ?? ListGraph([things]))
        var keys: [Int64] = []
        var batch = RecordBatch(model: things.model)
        while try fetch.next(into: &batch) { keys += (0..<batch.count).map { batch.key(at: $0) } }
        return keys
    }

    @Test(
        "sorting by encoded keys agrees with sorting by records",
        arguments: [
            "integer16", "integer32", "integer64", "double", "float", "date", "decimal", "boolean", "string",
        ], [true, false])
    func keysAgreeWithRecords(name: String, ascending: Bool) throws {
        var random = SeededGenerator(seed: 7)
        let things = try things(300, using: &random)
        let plain = FetchRequest.SortDescriptor(name, ascending: ascending)
        // Sorting by `nowhere` is an error.
        let nowhere = FetchRequest.SortDescriptor("owner.things.title")
        #expect(throws: StoreError.self) {
            try keys(FetchRequest("Thing", sortedBy: [nowhere, plain]), of: things)
        }
        // `made` is null for every object: it forces encoded keys, but does not change the order.
        let made = FetchRequest.SortDescriptor("previous.integer64")
        for (limit, offset) in [(nil, 0), (5, 0), (3, 40), (0, 2)] as [(Int?, Int)] {
            let byRecords = try keys(
                FetchRequest("Thing", sortedBy: [plain, .init("integer32")], limit: limit, offset: offset), of: things)
            let byKeys = try keys(
                FetchRequest("Thing", sortedBy: [made, plain, .init("integer32")], limit: limit, offset: offset),
                of: things
            )
            #expect(byRecords == byKeys)
        }
    }

    @Test(
        "a limited sort returns the beginning of the whole order",
        arguments: ["integer64", "string"], [true, false])
    func limitedOrder(name: String, ascending: Bool) throws {
        var random = SeededGenerator(seed: 13)
        let things = try things(2500, using: &random)
        let order = [FetchRequest.SortDescriptor(name, ascending: ascending)]
        // No predicate, one on a field, one on a function's result, and one on another object.
        let predicates: [FetchRequest.Predicate?] = [
            nil, .notEqual("integer64", to: 1),
            .comparison(
                .init(left: .function(.absolute, [.keyPath(["integer64"])]), operator: .notEqual, right: .constant(1))),
            .notEqual("next.integer64", to: 1),
        ]
        for predicate in predicates {
            let whole = try keys(FetchRequest("Thing", where: predicate, sortedBy: order), of: things, step: 100)
            #expect(whole.count > 1500)
            for (limit, offset) in [(1, 0), (20, 7)] {
                let request = FetchRequest("Thing", where: predicate, sortedBy: order, limit: limit, offset: offset)
                #expect(try keys(request, of: things, step: 100) == Array(whole.dropFirst(offset).prefix(limit)))
            }
        }
    }

    @Test("a sort by a path through relationships uses the values at its end", arguments: [nil, 4, 100] as [Int?])
    func paths(limit: Int?) throws {
        var random = SeededGenerator(seed: 11)
        let things = try things(400, using: &random)
        var numbers: [Int64: Int64] = [:]
        var nexts: [Int64: Int64] = [:]
        for index in 0..<things.count {
            if case .int(let number) = try things.value("integer64", at: index) {
                numbers[things.key(at: index)] = number
            }
            if case .objectID(let id) = try things.value("next", at: index) { nexts[things.key(at: index)] = id.key }
        }
        let expected = (0..<things.count).map { things.key(at: $0) }.sorted { a, b in
            let left = nexts[a].flatMap { nexts[$0] }.flatMap { numbers[$0] } ?? .min
            let right = nexts[b].flatMap { nexts[$0] }.flatMap { numbers[$0] } ?? .min
            return left == right ? a < b : left > right
        }
        for step in [1, 7, 400] {
            let found = try keys(
                FetchRequest(
                    "Thing", sortedBy: [.init("next.next.integer64", ascending: false)], limit: limit, offset: 3),
                of: things, step: step)
            #expect(found == Array(expected.dropFirst(3).prefix(limit ?? .max)))
        }
    }

    @Test("a sort with a limit keeps few records in memory")
    func boundedMemory() throws {
        var random = SeededGenerator(seed: 3)
        let things = try things(100, using: &random)
        let source = RepeatingCursor(things, times: 200)
        let request = FetchRequest("Thing", sortedBy: [.init("string", options: .localized)])
        let encoder = try #require(try RecordSortOrder(request, model: things.model).encoder)
        let matching = MatchingRecords(
            CursorVisitor(source, model: things.model), filter: try RecordFilter(request, model: things.model),
            graph: nil)
        let sort = KeyedSort(matching, by: encoder, model: things.model, graph: nil, offset: 2, limit: 10)
        var batch = RecordBatch(model: things.model)
        #expect(try !sort.fill(&batch))
        #expect(batch.count == 10)
        #expect(source.givenCount == 20_000)
        #expect(sort.highestKeptCount <= 2 * 12 + 2 * RecordBatch.capacityCount)
    }

    @Test("a sort by related objects reads them together")
    func batchedReading() throws {
        var random = SeededGenerator(seed: 5)
        let things = try things(500, using: &random)
        let graph = ListGraph([things])
        _ = try keys(FetchRequest("Thing", sortedBy: [.init("next.string")]), of: things, step: 500, graph: graph)
        #expect(graph.readCount <= 6)
    }

    @Test("an error of a related object ends a sorted fetch and has no damaged object")
    func relatedError() throws {
        final class FailingGraph: ObjectGraph {
            func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
                throw StoreError(.corrupted, "damaged", damagedObject: ObjectID("Thing", key: keys[0]))
            }
            func appendDestinations(
                of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
            ) throws(StoreError) {}
        }
        var random = SeededGenerator(seed: 5)
        let things = try things(50, using: &random)
        let fetch = try ScanningFetch(
            FetchRequest("Thing", sortedBy: [.init("next.string")]), model: things.model, source: ListCursor([things]),
            graph: FailingGraph())
        var batch = RecordBatch(model: things.model)
        let error = #expect(throws: StoreError.self) { try fetch.next(into: &batch) }
        #expect(error?.code == .corrupted && error?.damagedObject == nil)
        #expect(try !fetch.next(into: &batch))
    }
}

/// A cursor that returns the same records repeatedly.
private final class RepeatingCursor: RecordCursor {
    private let records: RecordBatch
    private var times: Int
    private(set) var givenCount = 0

    init(_ records: RecordBatch, times: Int) { (self.records, self.times) = (records, times) }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        guard times > 0 else { return false }
        times -= 1
        givenCount += records.count
        records.forEachRecord { batch.append($0) }
        return true
    }
}
