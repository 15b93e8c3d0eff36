import Foundation
import RoostPredicates
import Testing

@testable import RoostCore
@testable import RoostQuery

/// The objects of a batch and the links between them, as a graph.
final class BatchGraph: ObjectGraph {
    private let records: RecordBatch
    private let links: [RelationshipName: [Int64: [Int64]]]
    private(set) var readCount = 0
    /// The number of calls of `appendDestinations`.
    private(set) var linkReadCount = 0

    init(_ records: RecordBatch, links: [RelationshipName: [Int64: [Int64]]] = [:]) {
        self.records = records
        self.links = links
    }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        readCount += 1
        batch.removeAll()
        for key in keys {
            for index in 0..<records.count
            where records.key(at: index) == key && records.model.entities[records.entityNumber(at: index)].root == root
            {
                batch.append(records, at: index)
            }
        }
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        linkReadCount += 1
        keys += links[relationship.name, default: [:]][key, default: []]
    }
}

/// A library: two albums with tracks, a third album without tracks, and people of two kinds.
struct Library {
    let model: ManagedObjectModel
    let records: RecordBatch
    let graph: BatchGraph

    init() throws {
        model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Album",
                attributes: [
                    .init("title", type: .string), .init("price", type: .decimal), .init("released", type: .date),
                ],
                relationships: [
                    .toOne("artist", to: "Artist", inverse: "albums"),
                    .toMany("tracks", to: "Track", inverse: "album", isOrdered: true),
                ]),
            EntityDescription(
                "Track",
                attributes: [
                    .init("name", type: .string), .init("length", type: .integer32), .init("rating", type: .double),
                    .init("link", type: .uri),
                ],
                relationships: [
                    .toOne("album", to: "Album", inverse: "tracks"), .toMany("tags", to: "Tag", inverse: "tracks"),
                ]),
            EntityDescription(
                "Tag", attributes: [.init("word", type: .string)],
                relationships: [.toMany("tracks", to: "Track", inverse: "tags")]),
            EntityDescription(
                "Artist", attributes: [.init("name", type: .string)],
                relationships: [.toMany("albums", to: "Album", inverse: "artist")]),
            EntityDescription("Band", superentity: "Artist", attributes: [.init("size", type: .integer16)]),
        ])
        var records = RecordBatch(model: model)
        func album(_ key: Int64) -> Value { .objectID(ObjectID("Album", key: key)) }
        try records.append(ObjectID("Artist", key: 1), values: ["name": "Ånne"])
        try records.append(ObjectID("Band", key: 2), values: ["name": "Blue Men", "size": 4])
        try records.append(
            ObjectID("Album", key: 1),
            values: ["title": "Blue", "price": .decimal(9.5), "artist": .objectID(ObjectID("Artist", key: 1))])
        try records.append(
            ObjectID("Album", key: 2), values: ["title": "Nil", "artist": .objectID(ObjectID("Band", key: 2))])
        try records.append(ObjectID("Album", key: 3), values: ["title": "Empty", "price": .decimal(1)])
        let tracks: [[String: Value]] = [
            ["name": "Erste", "length": 100, "rating": 1.5, "album": album(1)],
            ["name": "Zweite", "length": 200, "rating": .double(.nan), "album": album(1)],
            ["name": "élan", "length": 300, "album": album(2)],
            ["length": 400, "rating": 4.5, "album": album(2)],
            ["name": "Alone", "rating": -0.0],
        ]
        for (index, values) in tracks.enumerated() {
            try records.append(ObjectID("Track", key: Int64(index + 1)), values: values)
        }
        try records.append(ObjectID("Tag", key: 1), values: ["word": "good"])
        try records.append(ObjectID("Tag", key: 2), values: ["word": "long"])
        self.records = records
        graph = BatchGraph(
            records,
            links: [
                RelationshipName("Album", name: "tracks"): [1: [2, 1], 2: [3, 4]],
                RelationshipName("Artist", name: "albums"): [1: [1], 2: [2]],
                RelationshipName("Track", name: "tags"): [1: [1], 4: [1, 2]],
                RelationshipName("Tag", name: "tracks"): [1: [1, 4], 2: [4]],
            ])
    }

    func keys(_ entity: EntityName, where predicate: FetchRequest.Predicate) throws -> [Int64] {
        let matcher = try RecordFilter(FetchRequest(entity, where: predicate), model: model).matcher(over: graph)
        var keys: [Int64] = []
        try records.forEachRecord { (record) throws(StoreError) in
            if try matcher.matches(record) { keys.append(record.key) }
        }
        return keys
    }

    func value(_ expression: FetchRequest.Expression, of id: ObjectID) throws -> Value {
        let evaluator = try CompiledExpression(expression, for: id.entity, model: model).evaluator(over: graph)
        var value: Value?
        try records.forEachRecord { (record) throws(StoreError) in
            if record.id == id { value = try evaluator.value(of: record) }
        }
        return try #require(value)
    }
}

private typealias Predicate = FetchRequest.Predicate
private typealias Expression = FetchRequest.Expression

private func path(_ names: String...) -> Expression { .keyPath(names) }
private func compare(
    _ left: Expression, by operation: FetchRequest.Comparison.Operator, to right: Expression,
    modifier: FetchRequest.Comparison.Modifier = .direct, options: FetchRequest.Comparison.Options = []
) -> Predicate {
    .comparison(.init(left: left, operator: operation, right: right, modifier: modifier, options: options))
}
/// Returns the condition that a path has a non-null value.
private func anyValue(of expression: Expression) -> Predicate {
    compare(expression, by: .notEqual, to: .constant(.null), modifier: .any)
}
private func decimal(_ text: String) -> Value { .decimal(DecimalNumber(utf8: text.utf8)?.decimal ?? .nan) }
private func list(_ values: Value...) -> Expression { .aggregate(values.map { .constant($0) }) }

@Suite("Predicates across relationships")
struct GraphPredicateTests {
    @Test("a key path of 200 or more steps is refused, also if it consists of nested paths")
    func longPaths() throws {
        let library = try Library()
        func names(_ count: Int) -> [String] { (0..<count).map { $0 % 2 == 0 ? "album" : "tracks" } }
        for expression in [
            Expression.keyPath(names(5000)), .keyPath(names(200)),
            .path(of: .path(of: .keyPath(names(80)), ["tracks"] + names(80)), ["tracks"] + names(80)),
        ] {
            do throws(StoreError) {
                _ = try RecordFilter(FetchRequest("Track", where: anyValue(of: expression)), model: library.model)
                Issue.record("\(expression) was taken")
            } catch {
                #expect(error.code == .invalidRequest && error.message.contains("200"), "\(error)")
            }
        }
    }

    @Test("a key path of 182 steps is evaluated on a small stack")
    func longPathOnSmallStack() {
        // Each artist has one album.
        let there = Array(repeating: ["albums", "artist"], count: 90).flatMap { $0 }
        let found = Mutex<[Int64]>([])
        onSmallStack {
            let keys = try? Library().keys("Album", where: anyValue(of: .keyPath(["artist"] + there + ["name"])))
            found.withLock { $0 = keys ?? [] }
        }
        #expect(found.withLock { $0 } == [1, 2])
    }

    @Test(
        "a path through to-one relationships is null if a step is null",
        arguments: [
            (compare(path("album", "title"), by: .equal, to: .constant("Blue")), [1, 2]),
            (compare(path("album", "title"), by: .notEqual, to: .constant("Blue")), [3, 4, 5]),
            (compare(path("album", "title"), by: .equal, to: .constant(.null)), [5]),
            (compare(path("album", "artist", "name"), by: .beginsWith, to: .constant("Blue")), [3, 4]),
            (
                compare(path("album", "artist"), by: .equal, to: .constant(.objectID(ObjectID("Artist", key: 2)))),
                [3, 4]
            ),
            (
                compare(
                    path("album", "artist", "objectID"), by: .equal,
                    to: .constant(.objectID(ObjectID("Artist", key: 1)))),
                [1, 2]
            ),
            (compare(path("album"), by: .isIn, to: list(.objectID(ObjectID("Album", key: 2)), .null)), [3, 4, 5]),
            (compare(path("album", "title"), by: .isIn, to: list("Nil", "x", .null)), [3, 4, 5]),
            (compare(path("album", "price"), by: .less, to: path("length")), [1, 2]),
            (compare(path("album"), by: .equal, to: .constant(.objectID(ObjectID("Nothing", key: 1)))), []),
        ] as [(FetchRequest.Predicate, [Int64])])
    func toOne(_ predicate: FetchRequest.Predicate, expected: [Int64]) throws {
        #expect(try Library().keys("Track", where: predicate) == expected)
    }

    @Test(
        "quantifiers, aggregates and indexes in brackets examine all objects of a relationship",
        arguments: [
            (compare(path("tracks", "length"), by: .greater, to: .constant(150), modifier: .any), [1, 2]),
            (compare(path("tracks", "length"), by: .greater, to: .constant(150), modifier: .all), [2, 3]),
            (!compare(path("tracks", "length"), by: .greater, to: .constant(150), modifier: .any), [3]),
            (compare(path("tracks", "name"), by: .equal, to: .constant(.null), modifier: .any), [2]),
            (
                compare(
                    path("tracks"), by: .equal, to: .constant(.objectID(ObjectID("Track", key: 2))), modifier: .any),
                [1]
            ),
            (compare(path("tracks"), by: .contains, to: .constant(.objectID(ObjectID("Track", key: 3)))), [2]),
            (compare(.constant(.objectID(ObjectID("Track", key: 3))), by: .isIn, to: path("tracks")), [2]),
            (compare(path("tracks", "tags", "word"), by: .equal, to: .constant("long"), modifier: .any), [2]),
            (
                compare(
                    path("tracks", "name"), by: .like, to: .constant("?LAN"), modifier: .any,
                    options: [.caseInsensitive, .diacriticInsensitive]),
                [2]
            ),
            (compare(path("tracks", "length"), by: .isIn, to: list(100, 400), modifier: .any), [1, 2]),
            (compare(path("tracks", "length"), by: .between, to: list(150, 250), modifier: .any), [1]),
            (compare(path("tracks", "@count"), by: .equal, to: .constant(0)), [3]),
            (compare(path("tracks", "@sum", "length"), by: .equal, to: .constant(700)), [2]),
            (compare(path("tracks", "@sum", "length"), by: .equal, to: .constant(0)), [3]),
            (compare(path("tracks", "@avg", "length"), by: .equal, to: .constant(150)), [1]),
            (compare(path("tracks", "@max", "length"), by: .equal, to: .constant(.null)), [3]),
            (compare(path("tracks", "@min", "name"), by: .equal, to: .constant("Erste")), [1]),
            (compare(path("artist", "albums", "@count"), by: .equal, to: .constant(0)), [3]),
            (
                compare(
                    .element(of: path("tracks"), .first), by: .equal,
                    to: .constant(.objectID(ObjectID("Track", key: 2)))),
                [1]
            ),
            (compare(.path(of: .element(of: path("tracks"), .last), ["length"]), by: .equal, to: .constant(400)), [2]),
            (
                compare(
                    .element(of: path("tracks", "length"), .position(.constant(1))), by: .equal, to: .constant(100)),
                [1]
            ),
            (compare(.element(of: path("tracks"), .size), by: .equal, to: .constant(2)), [1, 2]),
        ] as [(FetchRequest.Predicate, [Int64])])
    func toMany(_ predicate: FetchRequest.Predicate, expected: [Int64]) throws {
        #expect(try Library().keys("Album", where: predicate) == expected)
    }

    @Test("an index in brackets can be a whole decimal number, such as a quotient of integers in #Predicate")
    func decimalPositions() throws {
        let library = try Library()
        let middle = #Predicate<MacroAlbum> { $0.tracks[$0.tracks.count / 2].seconds == 100 }
        #expect(try library.keys("Album", where: FetchRequest.Predicate(middle)) == [1])
        let expected: [(text: String, keys: [Int64])] = [
            ("1", [1]), ("0", []), ("0.5", []), ("-1", []), ("NaN", []), ("1e30", []), ("1e100", []),
        ]
        for (text, keys) in expected {
            let element = Expression.element(of: path("tracks", "length"), .position(.constant(decimal(text))))
            #expect(
                try library.keys("Album", where: compare(element, by: .equal, to: .constant(100))) == keys, "\(text)")
        }
    }

    @Test("SUBQUERY binds its variable to one object at a time")
    func subquery() throws {
        let library = try Library()
        func tracks(_ predicate: FetchRequest.Predicate) -> FetchRequest.Expression {
            .subquery(path("tracks"), variable: "t", predicate)
        }
        let long = compare(.path(of: .variable("t"), ["length"]), by: .greater, to: .constant(150))
        let named = compare(.path(of: .variable("t"), ["name"]), by: .beginsWith, to: .constant("Z"))
        #expect(
            try library.keys(
                "Album", where: compare(.path(of: tracks(long && named), ["@count"]), by: .greater, to: .constant(0)))
                == [1])
        #expect(
            try library.keys(
                "Album", where: compare(.path(of: tracks(long), ["@sum", "length"]), by: .equal, to: .constant(700)))
                == [
                    2
                ])
        #expect(
            try library.keys(
                "Album",
                where: compare(.path(of: tracks(long), ["name"]), by: .equal, to: .constant(.null), modifier: .any))
                == [2]
        )
        // A subquery can refer to the outer object.
        let own = compare(.path(of: .variable("t"), ["album"]), by: .equal, to: .evaluatedObject)
        #expect(
            try library.keys("Album", where: compare(.path(of: tracks(own), ["@count"]), by: .equal, to: .constant(2)))
                == [
                    1, 2,
                ])
        let nested = compare(
            .path(
                of: .subquery(
                    .path(of: .variable("t"), ["tags"]), variable: "u",
                    compare(.path(of: .variable("u"), ["word"]), by: .equal, to: .constant("long"))), ["@count"]),
            by: .equal, to: .constant(1))
        #expect(
            try library.keys(
                "Album", where: compare(.path(of: tracks(nested), ["@count"]), by: .equal, to: .constant(1))) == [
                    2
                ])
    }

    @Test(
        "comparisons with SUBQUERY's count are right, and read related objects together",
        arguments: [
            (FetchRequest.Comparison.Operator.greater, 0, [1, 2]), (.greaterOrEqual, 1, [1, 2]),
            (.notEqual, 0, [1, 2]), (.equal, 0, [3]),
            (.less, 1, [3]), (.lessOrEqual, 0, [3]), (.greater, 1, [2]), (.equal, 1, [1]),
            (.lessOrEqual, 1, [1, 3]),
        ] as [(FetchRequest.Comparison.Operator, Int64, [Int64])])
    func existence(_ operation: FetchRequest.Comparison.Operator, count: Int64, expected: [Int64]) throws {
        let library = try Library()
        let long = compare(.path(of: .variable("t"), ["length"]), by: .greater, to: .constant(150))
        let subquery = Expression.subquery(path("tracks"), variable: "t", long)
        for number in [Value.int(count), .double(Double(count))] {
            let predicate = compare(.path(of: subquery, ["@count"]), by: operation, to: .constant(number))
            #expect(try library.keys("Album", where: predicate) == expected)
        }
        // Each of the two predicates reads the tracks of two albums, with one read per album.
        #expect(library.graph.readCount == 4)
    }

    @Test("a matcher reads related objects together, and each once")
    func reading() throws {
        let library = try Library()
        let request = FetchRequest(
            "Track", where: compare(path("album", "artist", "name"), by: .notEqual, to: .constant("x")))
        let matcher = try RecordFilter(request, model: library.model).matcher(over: library.graph)
        var tracks = RecordBatch(model: library.model)
        library.records.forEachRecord { if $0.layout.entity == "Track" { tracks.append($0) } }
        matcher.prepare(tracks)
        var matches = 0
        try tracks.forEachRecord { (record) throws(StoreError) in if try matcher.matches(record) { matches += 1 } }
        #expect(matches == 5)
        // Albums are read first, then artists.
        #expect(library.graph.readCount == 2)
    }

    @Test("a predicate across relationships is unsupported without a graph")
    func noGraph() throws {
        let library = try Library()
        let request = FetchRequest("Track", where: compare(path("album", "title"), by: .equal, to: .constant("Blue")))
        let matcher = try RecordFilter(request, model: library.model).matcher(over: nil)
        let failure = #expect(throws: StoreError.self) {
            try library.records.forEachRecord { (record) throws(StoreError) in _ = try matcher.matches(record) }
        }
        #expect(failure?.code == .unsupported)
    }
}

@Suite("Functions of predicates")
struct FunctionTests {
    @Test(
        "arithmetic in predicates returns the expected number, or null",
        arguments: [
            (.add, 1, 2, 3), (.add, .int(.max), 1, decimal("9223372036854775808")), (.subtract, 1, 2.5, -1.5),
            (.multiply, .int(.max), .int(.max), decimal("85070591730234615847396907784232501249")),
            (.divide, 7, 2, 3.5), (.divide, 1, 0, .double(.infinity)), (.divide, decimal("1"), 0, .null),
            (.divide, decimal("1"), 3, decimal("0.33333333333333333333333333333333333333")),
            (.add, decimal("0.1"), decimal("0.2"), decimal("0.3")), (.add, decimal("0.5"), 0.25, 0.75),
            (.power, 2, 10, 1024), (.power, 2, 64, .double(0x1p64)), (.power, 2, -1, 0.5), (.power, -1, .int(.max), -1),
            (.modulus, -7, 3, -1), (.modulus, 7, 0, .null), (.modulus, .int(.min), -1, 0), (.modulus, 7.5, 2, 1.5),
            (.modulus, decimal("1e127"), 7, 3), (.modulus, decimal("7.5"), decimal("-2"), decimal("1.5")),
            (.bitwiseAnd, 6, 3, 2), (.bitwiseOr, 6, 3, 7), (.bitwiseXor, 6, 3, 5), (.leftShift, 1, 3, 8),
            (.rightShift, -8, 1, -4), (.leftShift, 1, 64, 0), (.add, .null, 1, .null), (.add, 1, .null, .null),
            (.add, true, true, 2),
        ] as [(FetchRequest.Function, Value, Value, Value)])
    func arithmetic(_ function: FetchRequest.Function, a: Value, b: Value, expected: Value) throws {
        let result = try Library().value(
            .function(function, [.constant(a), .constant(b)]), of: ObjectID("Track", key: 1))
        // A whole decimal equals the expected integer.
        if case .decimal(let number) = result, case .int(let whole) = expected {
            #expect(number == Decimal(whole))
        } else {
            #expect(result == expected)
        }
    }

    @Test(
        "a predicate function of one value returns the expected value, or null",
        arguments: [
            (.negate, .int(.min), decimal("9223372036854775808")), (.absolute, -3, 3), (.absolute, -2.5, 2.5),
            (.floor, -2.5, -3.0), (.ceiling, -2.5, -2.0), (.truncate, -2.5, -2.0),
            (.floor, decimal("-2.5"), decimal("-3")),
            (.ceiling, decimal("2.1"), decimal("3")), (.truncate, decimal("-2.9"), decimal("-2")), (.floor, 7, 7),
            (.floor, decimal("-1e-100"), decimal("-1")), (.ceiling, decimal("-1e-100"), decimal("0")),
            (.squareRoot, 9, 3.0), (.log, 1000, 3.0), (.naturalLog, 1, 0.0), (.exponential, 0, 1.0),
            (.onesComplement, 5, -6), (.uppercase, "straße", "STRASSE"), (.lowercase, "ÉA", "éa"),
            (.canonical, "Élan ß", "elan ss"), (.length, "e\u{301}👍", 3), (.length, .null, .null),
            (.uppercase, .null, .null), (.noIndex, "x", "x"),
        ] as [(FetchRequest.Function, Value, Value)])
    func single(_ function: FetchRequest.Function, value: Value, expected: Value) throws {
        let result = try Library().value(.function(function, [.constant(value)]), of: ObjectID("Track", key: 1))
        #expect(result == expected)
    }

    @Test(
        "a predicate function of many values ignores nulls",
        arguments: [
            (.sum, list(1, .null, 2), 3), (.sum, list(), 0), (.count, list(1, .null), 2),
            (.minimum, list(3, 1, .null), 1),
            (.maximum, list(1, .double(.nan), 3), .double(.nan)), (.average, list(1, 2), 1.5),
            (.average, list(), .null),
            (.median, list(5, 1, 3), 3), (.median, list(4, 1, 3, 2), 2.5), (.mode, list(3, 1, 3, 1, 2), 1),
            (.standardDeviation, list(2, 4, 4, 4, 5, 5, 7, 9), 2.0), (.maximum, list("a", "b"), "b"),
            (.sum, list(.int(.max), .int(.max)), decimal("18446744073709551614")),
            (.sum, list(1, 0.5), 1.5), (.sum, path("tracks", "length"), 300),
            (.minimum, path("tracks", "name"), "Erste"),
            (
                .count,
                .setOperation(.union, list(1, 2, 2, .null), list(2, 3, .null)), 4
            ), (.sum, .setOperation(.intersect, list(1, 2, 2), list(2, 3)), 2),
            (.sum, .setOperation(.minus, list(1, 2, 1), list(2, 3)), 1),
            (.count, path("tracks", "@unionOfObjects", "rating"), 2), (.average, path("tracks", "length"), 150.0),
        ] as [(FetchRequest.Function, FetchRequest.Expression, Value)])
    func many(_ function: FetchRequest.Function, values: FetchRequest.Expression, expected: Value) throws {
        #expect(try Library().value(.function(function, [values]), of: ObjectID("Album", key: 1)) == expected)
    }

    @Test(
        "a cast of a value returns null if the value does not fit",
        arguments: [
            (.number, "12", 12), (.number, "1.5", 1.5), (.number, "12x", .null), (.number, "0x10", .null),
            (.number, "nan", .null), (.string, 12, "12"), (.string, 1.5, "1.5"), (.string, decimal("1.50"), "1.5"),
            (.date, "2001-01-01T00:00:10Z", .date(Date(timeIntervalSinceReferenceDate: 10))), (.date, "soon", .null),
            (.date, 5, .date(Date(timeIntervalSinceReferenceDate: 5))), (.decimal, "1.25", decimal("1.25")),
            (.decimal, 0.1, decimal("0.1")), (.data, "AAE=", .data(Data([0, 1]))), (.uuid, "no", .null),
            (.objectID, "Track/5", .objectID(ObjectID("Track", key: 5))), (.objectID, "Nothing/5", .null),
            (.uri, "x:y", .uri("x:y")),
            (.string, .date(Date(timeIntervalSinceReferenceDate: 0)), "2001-01-01T00:00:00Z"),
            (.string, .null, .null),
        ] as [(FetchRequest.CastType, Value, Value)])
    func casts(_ type: FetchRequest.CastType, value: Value, expected: Value) throws {
        #expect(try Library().value(.cast(.constant(value), type), of: ObjectID("Track", key: 1)) == expected)
    }

    @Test("predicates add seconds to dates, and the difference of two dates is in seconds")
    func dates() throws {
        func date(_ seconds: Double) -> Value { .date(Date(timeIntervalSinceReferenceDate: seconds)) }
        func value(_ function: FetchRequest.Function, of a: Value, and b: Value) throws -> Value {
            try Library().value(.function(function, [.constant(a), .constant(b)]), of: ObjectID("Track", key: 1))
        }
        #expect(try value(.add, of: date(10), and: 5) == date(15))
        #expect(try value(.add, of: 5, and: date(10)) == date(15))
        #expect(try value(.subtract, of: date(10), and: 2.5) == date(7.5))
        #expect(try value(.subtract, of: date(10), and: date(4)) == 6.0)
    }

    @Test("an object ID in a predicate names the object's entity, not the relationship's destination")
    func identities() throws {
        let library = try Library()
        let band = Value.objectID(ObjectID("Band", key: 2))
        #expect(try library.value(path("artist"), of: ObjectID("Album", key: 2)) == band)
        #expect(try library.value(path("album", "artist"), of: ObjectID("Track", key: 3)) == band)
        #expect(try library.value(.evaluatedObject, of: ObjectID("Band", key: 2)) == band)
        #expect(
            try library.value(
                .conditional(.equal("title", to: "Blue"), path("title"), .constant("other")),
                of: ObjectID("Album", key: 2))
                == "other")
    }

    @Test("a registered function is called with values, and its misuse is refused")
    func registered() throws {
        try RegisteredFunction.register("test.reversed", argumentCount: 1, returning: .string) { values in
            guard case .string(let text) = values[0] else { return .null }
            return .string(String(text.reversed()))
        }
        try RegisteredFunction.register("test.wrong", returning: .integer64) { _ in "text" }
        try RegisteredFunction.register("test.bytes", returning: .transformable) { _ in .data(Data([1, 2])) }
        let library = try Library()
        let bytes = Expression.registered("test.bytes", [])
        #expect(try library.value(bytes, of: ObjectID("Track", key: 1)) == .data(Data([1, 2])))
        let reversed = Expression.registered("test.reversed", [path("name")])
        #expect(try library.keys("Track", where: compare(reversed, by: .equal, to: .constant("etsrE"))) == [1])
        #expect(try library.keys("Track", where: compare(reversed, by: .equal, to: .constant(.null))) == [4])
        for (expression, code) in [
            (Expression.registered("test.wrong", []), StoreError.Code.invalidValue),
            (.registered("test.reverse", [path("name")]), .invalidRequest),
            (.registered("test.reversed", []), .invalidRequest),
        ] {
            let failure = #expect(throws: StoreError.self) {
                try library.keys("Track", where: compare(expression, by: .equal, to: .constant(.null)))
            }
            #expect(failure?.code == code)
        }
        for name in ["test.reversed", "sum", ""] {
            #expect(throws: StoreError.self) {
                try RegisteredFunction.register(name, returning: .string) { _ in .null }
            }
        }
    }
}
