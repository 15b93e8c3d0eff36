import Foundation
import RoostCore
import RoostPredicates
import RoostSQLite
import Testing

/// Roost's own filter evaluates conditions that are too large for one SQL statement, so no request
/// fails at a limit of the database.
@Suite("Large SQL requests")
struct TranslationLimitTests {
    typealias Predicate = FetchRequest.Predicate
    typealias Expression = FetchRequest.Expression

    /// Checks that both stores return the same objects for each predicate.
    private func compare(_ predicates: [Predicate], of entity: EntityName = "Album") throws {
        let directory = try TemporaryDirectory()
        var random = SeededRandom(7)
        let stores = try TwinStores(directory, using: &random, count: 16)
        for (number, predicate) in predicates.enumerated() {
            let request = FetchRequest(entity, where: predicate)
            #expect(try stores.sql.keys(request) == stores.plain.keys(request), "number \(number)")
        }
        try stores.sql.close()
        try stores.plain.close()
    }

    /// Returns `depth + 1` nested subqueries on similar albums, each changed by `wrap`.
    private static func similar(_ depth: Int, from start: Expression, _ wrap: (Predicate) -> Predicate) -> Predicate {
        let name = "v\(depth)"
        let inner: Predicate =
            depth == 0
            ? .comparison(.init(left: .path(of: .variable(name), ["year"]), operator: .greater, right: .constant(1970)))
            : similar(depth - 1, from: .path(of: .variable(name), ["similar"]), wrap)
        return wrap(
            .comparison(
                .init(
                    left: .path(of: .subquery(start, variable: name, inner), ["@count"]), operator: .greater,
                    right: .constant(0))))
    }

    @Test("nested subqueries of each depth find the same objects as in memory", arguments: 0..<8)
    func nestsSubqueries(depth: Int) throws {
        try compare([
            Self.similar(depth, from: .keyPath(["similar"])) { $0 },
            Self.similar(depth, from: .keyPath(["similar"])) { .not($0) },
            Self.similar(depth, from: .keyPath(["similar"])) { .or([.and([$0, .constant(true)]), .not(.not($0))]) },
        ])
    }

    @Test(
        "paths over many relationships find the same objects as in memory", arguments: [1, 3, 10, 15, 16, 17, 30, 70])
    func followsLongPaths(count: Int) throws {
        let names = Array(repeating: ["album", "tracks"], count: count).flatMap { $0 }
        // This path has at most four steps, because each to-many relationship multiplies the paths.
        try compare(
            [
                .comparison(
                    .init(
                        left: .keyPath(names.dropLast(max(0, names.count - 4)) + ["title"]), operator: .equal,
                        right: .constant("a"),
                        modifier: .any)),
                .and(
                    (0..<count).map { _ in
                        .comparison(
                            .init(left: .keyPath(["album", "title"]), operator: .notEqual, right: .constant("a")))
                    }
                ),
                .or(
                    (0..<count).map {
                        .comparison(
                            .init(
                                left: .keyPath(["album", "tags", "@count"]), operator: .equal,
                                right: .constant(.int(Int64($0)))))
                    }),
            ], of: "Track")
    }

    @Test(
        "deeply nested conditions find the same objects as in memory", arguments: [1, 2, 3, 5, 8, 10, 12, 20, 50, 90])
    func nestsConditions(depth: Int) throws {
        let leaves: [Predicate] = [
            .equal("title", to: "a"),
            .comparison(
                .init(left: .keyPath(["tracks", "title"]), operator: .like, right: .constant("a*"), modifier: .any)),
            .comparison(
                .init(
                    left: .keyPath(["tracks", "artist", "name"]), operator: .contains, right: .constant("A"),
                    modifier: .all,
                    options: .caseInsensitive)),
            .comparison(.init(left: .keyPath(["tracks", "@count"]), operator: .greater, right: .constant(2))),
            .comparison(
                .init(
                    left: .keyPath(["tracks", "@max", "length"]), operator: .between,
                    right: .aggregate([.constant(0), .constant(2)]))),
            .isIn("title", values: (0..<600).map { .string("\($0)") }),
            Self.similar(2, from: .keyPath(["similar"])) { $0 },
        ]
        var predicates: [Predicate] = []
        for leaf in leaves {
            var (nots, ors, mixed) = (leaf, leaf, leaf)
            for level in 0..<depth {
                nots = .not(nots)
                ors = .or([ors, .equal("year", to: .int(Int64(level)))])
                mixed = level % 2 == 0 ? .not(mixed) : .and([.notEqual("year", to: .int(Int64(-level))), mixed])
            }
            predicates += [nots, ors, .not(mixed)]
        }
        try compare(predicates)
    }

    @Test("conditions with many subselects find the same objects as in memory", arguments: [1, 15, 16, 17, 100, 1000])
    func joinsManyTerms(count: Int) throws {
        let terms = (0..<count).map { number -> Predicate in
            .comparison(
                .init(
                    left: .keyPath(["tracks", "title"]), operator: .equal, right: .constant(.string("\(number)")),
                    modifier: .any))
        }
        let paths = (0..<count).map { number -> Predicate in
            .comparison(
                .init(
                    left: .path(
                        of: .subquery(
                            .keyPath(["tracks"]), variable: "t",
                            .comparison(
                                .init(
                                    left: .path(of: .variable("t"), ["artist", "name"]), operator: .endsWith,
                                    right: .constant(.string("\(number)"))))), ["@count"]), operator: .equal,
                    right: .constant(1)))
        }
        try compare([.or(terms), .and(terms.map { .not($0) }), .not(.or(terms)), .or(paths), .and(paths)])
    }

    @Test(
        "lists of up to 100 000 values find the same objects as in memory",
        arguments: [0, 499, 501, 2100, 10_000, 100_000])
    func acceptsLongLists(count: Int) throws {
        let texts =
            (0..<max(0, count - 4)).map { Value.string("\(UnicodeScalar(UInt8($0 % 128)))\"\\\($0)") } + [
                "a", "é", "\u{10FFFF}",
            ]
        try compare(
            [
                .isIn("i64", values: (1..<max(1, count)).map { .int(Int64($0) - 5) } + [.int(.max)]),
                .isIn("length", values: (0..<count).map { .double(Double($0) / 2) }),
                .isIn("length", values: (0..<count).map { .int(Int64($0)) }), .isIn("title", values: texts),
                .isIn("title", values: texts + [.null]),
                .isIn(
                    "token",
                    values: (0..<count).map {
                        .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8($0 % 256))))
                    }),
                .comparison(
                    .init(
                        left: .evaluatedObject, operator: .isIn,
                        right: .aggregate((0..<count).map { .constant(.objectID(ObjectID("Track", key: Int64($0)))) }))),
                .isIn("album", values: (0..<count).map { .objectID(ObjectID("Album", key: Int64($0))) }),
                .isIn("other", values: (0..<count).map { .objectID(ObjectID("Singer", key: Int64($0))) }),
                .comparison(
                    .init(
                        left: .keyPath(["title"]), operator: .isIn, right: .aggregate(texts.map { .constant($0) }),
                        options: .caseInsensitive)),
            ], of: "Track")
    }
}
