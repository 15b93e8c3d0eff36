import Foundation
import RoostCore
import RoostPredicates
import RoostQuery
import TestSamples
import Testing

/// An object of the test: a Swift value for Foundation, a record for the filter.
struct MacroThing: EntityRepresentable {
    var number: Int
    var ratio: Double
    var text: String
    var note: String?
    var rating: Int?
    var flag: Bool
    var seen: Bool?

    static let entityName: EntityName = "Thing"
    static func propertyName(of keyPath: AnyKeyPath) -> String? {
        switch keyPath {
        case \MacroThing.number: "number"
        case \MacroThing.ratio: "ratio"
        case \MacroThing.text: "text"
        case \MacroThing.note: "note"
        case \MacroThing.rating: "rating"
        case \MacroThing.flag: "flag"
        case \MacroThing.seen: "seen"
        default: nil
        }
    }

    var values: [String: Value] {
        [
            "number": .int(Int64(number)), "ratio": .double(ratio), "text": .string(text),
            "note": note.map { .string($0) } ?? .null, "rating": rating.map { .int(Int64($0)) } ?? .null,
            "flag": .bool(flag), "seen": seen.map { .bool($0) } ?? .null,
        ]
    }
}

@Suite("The meaning of Foundation's #Predicate")
struct MacroMeaningTests {
    typealias T = MacroThing

    let model: ManagedObjectModel
    let things: [MacroThing]

    init() throws {
        model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing",
                attributes: [
                    .init("number", type: .integer64), .init("ratio", type: .double), .init("text", type: .string),
                    .init("note", type: .string), .init("rating", type: .integer32), .init("flag", type: .boolean),
                    .init("seen", type: .boolean),
                ])
        ])
        var random = SeededGenerator(seed: 7)
        func pick<Element>(_ elements: [Element]) -> Element {
            elements[Int.random(in: 0..<elements.count, using: &random)]
        }
        things = (0..<400).map { _ in
            MacroThing(
                number: pick([-7, -3, -1, 0, 1, 2, 3, 7, 8, 1_000_003]),
                ratio: pick([-1.5, -0.0, 0, 0.5, 2, .nan, .infinity]),
                text: pick(["", "a", "ab", "b", "aXb", "xa", "A", "日本"]), note: pick([nil, "", "a", "b", "ab"]),
                rating: pick([nil, 0, 1, 3, 5]), flag: pick([true, false]), seen: pick([nil, true, false]))
        }
    }

    /// Expects that Foundation and the filter select the same objects: some, but not all.
    ///
    /// `selected`, if any, decides instead of Foundation.
    func check(
        _ predicate: Foundation.Predicate<MacroThing>, of things: [MacroThing]? = nil,
        selected: ((MacroThing) -> Bool)? = nil, sourceLocation place: SourceLocation = #_sourceLocation
    ) throws {
        let things = things ?? self.things
        var records = RecordBatch(model: model)
        for (index, thing) in things.enumerated() {
            try records.append(ObjectID("Thing", key: Int64(index + 1)), values: thing.values)
        }
        let translated = try FetchRequest.Predicate(predicate)
        let fetch = try ScanningFetch(
            FetchRequest("Thing", where: translated), model: model, source: BatchCursor(records))
        var batch = RecordBatch(model: model)
        var keys: [Int] = []
        while try fetch.next(into: &batch) { keys += (0..<batch.count).map { Int(batch.key(at: $0)) } }
        let expected = try things.indices.filter { index in
            try selected?(things[index]) ?? predicate.evaluate(things[index])
        }.map { $0 + 1 }
        let text = try translated.format()
        #expect(keys == expected, "\(text)", sourceLocation: place)
        #expect(
            !expected.isEmpty && expected.count < things.count, "\(text) distinguishes no objects",
            sourceLocation: place)
    }

    @Test("a quotient in #Predicate keeps all digits of 64 bits")
    func quotients() throws {
        let large = [Int.max, Int.max - 1, Int.min + 1, 9_007_199_254_740_993].map {
            MacroThing(number: $0, ratio: 0, text: "", note: nil, rating: nil, flag: false, seen: nil)
        }
        try check(#Predicate<T> { $0.number / 10 == 922_337_203_685_477_580 }, of: large)
        try check(#Predicate<T> { $0.number / 2 == 4_503_599_627_370_496 }, of: large)
        try check(#Predicate<T> { $0.number / 7 / 3 == -439_208_192_231_179_800 }, of: large)
    }

    @Test("#Predicate on numbers selects the same objects as in Foundation")
    func numbers() throws {
        try check(#Predicate<T> { $0.number / 2 == -1 })
        try check(#Predicate<T> { $0.number / -3 == 2 })
        try check(#Predicate<T> { $0.number % 4 == -3 })
        try check(#Predicate<T> { $0.number * 2 - 1 > $0.number + 1 })
        try check(#Predicate<T> { $0.ratio / 2 > 0.5 })
        try check(#Predicate<T> { -$0.ratio <= 0 })
        try check(#Predicate<T> { $0.ratio != $0.ratio })
        try check(#Predicate<T> { !($0.ratio < 1) })
        try check(#Predicate<T> { (-3...2).contains($0.number) })
        try check(#Predicate<T> { (1..<3).contains($0.number) })
        try check(#Predicate<T> { $0.flag ? $0.number > 1 : $0.number < 1 })
        try check(#Predicate<T> { ($0.flag ? 1 : 3) == $0.number })
    }

    @Test("#Predicate on optionals selects the same objects as in Foundation")
    func optionals() throws {
        try check(#Predicate<T> { $0.rating == nil })
        try check(#Predicate<T> { $0.rating != 3 })
        try check(#Predicate<T> { ($0.rating ?? 3) > 2 })
        try check(#Predicate<T> { $0.seen == true })
        try check(#Predicate<T> { $0.seen != true })
        try check(#Predicate<T> { $0.seen ?? true })
        try check(#Predicate<T> { !($0.seen ?? false) })
        try check(#Predicate<T> { $0.note?.contains("a") ?? false })
        try check(#Predicate<T> { $0.note?.contains("a") ?? true })
        try check(#Predicate<T> { !($0.note?.contains("a") ?? true) })
        try check(#Predicate<T> { $0.note?.contains("a") == false })
        try check(#Predicate<T> { $0.note?.contains("a") != true })
        try check(#Predicate<T> { $0.note?.contains("a") == nil })
        try check(#Predicate<T> { $0.note?.isEmpty == true })
        try check(#Predicate<T> { $0.note?.isEmpty ?? $0.flag })
        try check(#Predicate<T> { $0.rating.flatMap { $0 + 1 } == 4 })
        try check(#Predicate<T> { $0.rating.flatMap { $0 + 1 } == nil })
        try check(#Predicate<T> { ($0.rating.flatMap { $0 > 2 } ?? $0.flag) == $0.flag })
        try check(#Predicate<T> { if let rating = $0.rating { rating > 2 } else { $0.flag } })
    }

    @Test("a choice between optional conditions in #Predicate is nil if the chosen condition is nil")
    func optionalChoices() throws {
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.note?.contains("a")) == false })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.note?.contains("a")) == true })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.note?.contains("a")) != true })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.note?.contains("a")) != false })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.note?.contains("a")) == nil })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.note?.contains("a")) != nil })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.note?.contains("a")) == $0.seen })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.note?.contains("a")) ?? true })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.note?.contains("a")) ?? false })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : $0.seen) == false })
        try check(#Predicate<T> { ($0.flag ? $0.seen : $0.note?.isEmpty) == false })
        try check(#Predicate<T> { ($0.flag ? $0.seen : $0.note?.isEmpty) == nil })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : nil) == false })
        try check(#Predicate<T> { ($0.flag ? nil : $0.note?.isEmpty) != true })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : true) == false })
        try check(#Predicate<T> { ($0.flag ? $0.note?.isEmpty : false) == nil })
        try check(
            #Predicate<T> { thing in
                thing.rating.flatMap { rating in rating > 2 ? thing.note?.isEmpty : thing.seen } == false
            })
    }

    @Test("?? in #Predicate is nil if its right side is nil")
    func optionalFallbacks() throws {
        try check(#Predicate<T> { ($0.note?.isEmpty ?? ($0.number > 1)) == false })
        // Foundation throws for a forced unwrap of nil. Roost returns null.
        try check(
            #Predicate<T> { ($0.note?.isEmpty ?? ($0.rating.flatMap { $0 > 2 })!) == false },
            selected: { ($0.note?.isEmpty ?? $0.rating.map { $0 > 2 }) == false })
        // `if let note = thing.note { thing.seen } else { thing.rating.flatMap { $0 > 2 } }`, expanded.
        let conditional = Foundation.Predicate<T>({ thing in
            let note = PredicateExpressions.build_KeyPath(root: thing, keyPath: \.note)
            let seen = PredicateExpressions.build_KeyPath(root: thing, keyPath: \.seen)
            let rating = PredicateExpressions.build_KeyPath(root: thing, keyPath: \.rating)
            let fallback = PredicateExpressions.build_flatMap(rating) { rating in
                PredicateExpressions.build_Comparison(
                    lhs: rating, rhs: PredicateExpressions.build_Arg(2), op: .greaterThan)
            }
            let choice = PredicateExpressions.build_NilCoalesce(
                lhs: PredicateExpressions.build_flatMap(note) { _ in seen }, rhs: fallback)
            return PredicateExpressions.build_Equal(lhs: choice, rhs: PredicateExpressions.build_Arg(false))
        })
        try check(conditional, selected: { ($0.note == nil ? $0.rating.map { $0 > 2 } : $0.seen) == false })
    }

    @Test("#Predicate on texts and lists selects the same objects as in Foundation")
    func texts() throws {
        let (names, numbers) = (["a", "日本"], [1, 7])
        try check(#Predicate<T> { $0.text.contains("a") })
        try check(#Predicate<T> { $0.text.starts(with: "a") && !$0.text.isEmpty })
        try check(#Predicate<T> { $0.text < "a" })
        try check(#Predicate<T> { $0.text.contains(/a.?b/) })
        try check(#Predicate<T> { names.contains($0.text) })
        try check(#Predicate<T> { thing in names.contains { thing.text.starts(with: $0) } })
        try check(#Predicate<T> { thing in numbers.allSatisfy { $0 > thing.number } })
        try check(#Predicate<T> { !numbers.contains($0.number) || $0.text == ($0.note ?? "b") })
    }
}
