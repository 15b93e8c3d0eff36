import Foundation
import RoostCore
import RoostFiles
import RoostMemory
import RoostPredicates
import RoostQuery
import RoostSQLite
import Testing

/// SQLite's own plans must use the indexes that fit a request.
@Suite("Indexes in the plans of SQLite")
struct IndexUseTests {
    typealias Predicate = FetchRequest.Predicate
    typealias Expression = FetchRequest.Expression

    private static func model() throws -> ManagedObjectModel {
        var album = EntityDescription(
            "Album",
            attributes: [
                AttributeDescription("title", type: .string), AttributeDescription("year", type: .integer32),
                AttributeDescription("genre", type: .string), AttributeDescription("code", type: .string),
            ],
            relationships: [
                .toMany("tracks", to: "Track", inverse: "album"), .toMany("tags", to: "Tag", inverse: "albums"),
            ])
        album.fetchIndexes = [
            FetchIndexDescription("byTitle", on: "title"), FetchIndexDescription("byGenreAndYear", on: "genre", "year"),
        ]
        album.uniquenessConstraints = [["code"]]
        var track = EntityDescription(
            "Track",
            attributes: [AttributeDescription("title", type: .string), AttributeDescription("length", type: .double)],
            relationships: [.toOne("album", to: "Album", inverse: "tracks")])
        track.fetchIndexes = [FetchIndexDescription("byLength", on: "length")]
        let tag = EntityDescription(
            "Tag", attributes: [AttributeDescription("name", type: .string)],
            relationships: [.toMany("albums", to: "Album", inverse: "tags")])
        return try ManagedObjectModel(entities: [album, track, tag])
    }

    private func plan(_ request: FetchRequest) throws -> FetchPlan {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Self.model(), options: StoreOptions())
        defer { try? store.close() }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try snapshot.explain(request, executing: true)
    }

    /// Inserts 1200 albums, a few with titles like `gold`.
    private static func fill(_ store: any PersistentStore) throws {
        var changes = ChangeSet(model: store.model)
        let titles = ["Gold", "gold", "GOLD", "go\u{308}ld", "Göld", "Goldfinger", "\u{212A}", "ö"]
        for key in 1...1200 as ClosedRange<Int64> {
            let title = Int(key) <= titles.count ? titles[Int(key) - 1] : "Song \(key)"
            try changes.insert(
                ObjectID("Album", key: key),
                values: ["title": .string(title), "genre": .string("\(key)"), "code": .string("\(key)")])
        }
        _ = try store.commit(changes)
    }

    @Test(
        "a case- or diacritic-insensitive search of an indexed text uses the index if few texts can match",
        arguments: [
            (#"title ==[c] "Gold""#, true), (#"title BEGINSWITH[cd] "gö""#, true), (#"title LIKE[d] "gol*""#, true),
            (#"year == NULL && title ==[c] "gold""#, true), (#"genre > "0" && title ==[c] "gold""#, true),
            (#"genre BETWEEN {"3", "3"} && title ==[c] "gold""#, false),
            (#"title BEGINSWITH[c] "song""#, false), (#"title CONTAINS[c] "gold""#, false),
            (#"title ==[c] "ö""#, false), (#"title ==[c] "gold" || year == 1"#, false),
        ])
    func foldedTexts(predicate: String, usesIndex: Bool) throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Self.model(), options: StoreOptions())
        defer { try? store.close() }
        try Self.fill(store)
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let request = FetchRequest(
            "Album", where: try FetchRequest.Predicate(predicate, for: "Album", model: store.model))
        let plan = try snapshot.explain(request, executing: true)
        #expect(plan.access.contains(.index("Album_title_index")) == usesIndex, "\(plan)")
        let memory = try MemoryStoreType().create(
            StoreLocation(type: "memory", path: ""), model: store.model, options: StoreOptions())
        try Self.fill(memory)
        let expected = try memory.snapshot()
        #expect(try snapshot.count(request) == expected.count(request))
        #expect(try snapshot.objectIDs(request) == expected.objectIDs(request))
    }

    @Test("a case-insensitive search with a limit uses the index only if very few texts can match")
    func foldedTextsWithLimit() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Self.model(), options: StoreOptions())
        defer { try? store.close() }
        var changes = ChangeSet(model: store.model)
        for key in 1...9000 as ClosedRange<Int64> {
            let title = key <= 1050 ? "Gold \(key)" : "Song \(key)"
            try changes.insert(
                ObjectID("Album", key: key), values: ["title": .string(title), "code": .string("\(key)")])
        }
        _ = try store.commit(changes)
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var request = FetchRequest(
            "Album", where: try FetchRequest.Predicate(#"title BEGINSWITH[c] "gold""#, for: "Album", model: store.model)
        )
        func usesIndex() throws -> Bool {
            try snapshot.explain(request, executing: false).access.contains(.index("Album_title_index"))
        }
        #expect(try usesIndex())
        request.fetchLimit = 1
        #expect(try !usesIndex())
        #expect(try snapshot.objectIDs(request).map(\.key) == [1])
    }

    @Test(
        "a search in an index of texts finds objects although the recorded counts are damaged",
        .enabled(if: Shell.path != nil), arguments: [(#"title ==[c] "gold""#, [1, 2, 3]), (#"title > "o""#, [7, 8])])
    func searchesBesideDamage(predicate: String, keys: [Int64]) throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Self.model(), options: StoreOptions())
        try Self.fill(store)
        try store.close()
        try Shell.run("DELETE FROM _roost_tallies WHERE kind = 'generation'", on: directory.file("a"))
        let damaged = try SQLiteStoreType().open(directory.location("a"), options: StoreOptions(isReadOnly: true))
        defer { try? damaged.close() }
        let snapshot = try damaged.snapshot()
        defer { snapshot.close() }
        let request = FetchRequest(
            "Album", where: try FetchRequest.Predicate(predicate, for: "Album", model: damaged.model))
        #expect(try snapshot.objectIDs(request).map(\.key) == keys)
    }

    private static func any(_ path: [String], operator operation: FetchRequest.Comparison.Operator, value: Value)
        -> Predicate
    {
        .comparison(.init(left: .keyPath(path), operator: operation, right: .constant(value), modifier: .any))
    }

    @Test(
        "each kind of condition or order searches its index",
        arguments: [
            ("equality", FetchRequest("Album", where: .equal("title", to: "a")), ["Album_title_index"]),
            ("prefix", FetchRequest("Album", where: .beginsWith("title", prefix: "a")), ["Album_title_index"]),
            (
                "range", FetchRequest("Album", where: .greater("title", than: "a") && .less("title", than: "b")),
                ["Album_title_index"]
            ),
            (
                "BETWEEN",
                FetchRequest(
                    "Track",
                    where: .comparison(
                        .init(
                            left: .keyPath(["length"]), operator: .between,
                            right: .aggregate([.constant(1), .constant(2)])))),
                ["Track_length_index"]
            ),
            ("floating greater", FetchRequest("Track", where: .greater("length", than: 5.5)), ["Track_length_index"]),
            ("IN", FetchRequest("Album", where: .isIn("title", values: ["a", "b"])), ["Album_title_index"]),
            (
                "IN a long list",
                FetchRequest("Album", where: .isIn("title", values: (0..<3000).map { .string("\($0)") })),
                ["Album_title_index"]
            ),
            (
                "compound", FetchRequest("Album", where: .equal("genre", to: "a") && .greater("year", than: 1970)),
                ["Album_genre_year_index"]
            ),
            ("constraint", FetchRequest("Album", where: .equal("code", to: "a")), ["Album_code_unique"]),
            (
                "OR", FetchRequest("Album", where: .equal("title", to: "a") || .equal("code", to: "a")),
                ["Album_title_index", "Album_code_unique"]
            ),
            (
                "to-one", FetchRequest("Track", where: .equal("album", to: .objectID(ObjectID("Album", key: 1)))),
                ["Track_album_index"]
            ),
            (
                "to-one path", FetchRequest("Track", where: .equal("album.title", to: "a")),
                ["Album_title_index", "Track_album_index"]
            ),
            ("order", FetchRequest("Album", sortedBy: [.init("title")], limit: 5), ["Album_title_index"]),
            (
                "order downwards", FetchRequest("Track", sortedBy: [.init("length", ascending: false)], limit: 5),
                ["Track_length_index"]
            ),
            (
                "ANY of an indexed attribute",
                FetchRequest("Album", where: any(["tracks", "length"], operator: .greater, value: 5)),
                ["Track_length_index"]
            ),
            (
                "ANY of another attribute",
                FetchRequest("Album", where: any(["tracks", "title"], operator: .contains, value: "a"), limit: 3),
                ["Track_album_index"]
            ),
            (
                "an element of many",
                FetchRequest(
                    "Album",
                    where: .comparison(
                        .init(
                            left: .keyPath(["tags"]), operator: .contains,
                            right: .constant(.objectID(ObjectID("Tag", key: 1)))))),
                ["Album_tags_inverse"]
            ),
            ("count", FetchRequest("Album", where: .greater("tracks.@count", than: 3)), ["Track_album_index"]),
        ] as [(String, FetchRequest, [String])])
    func searchesIndex(name: String, request: FetchRequest, indexes: [String]) throws {
        let plan = try plan(request)
        let used = plan.access.compactMap { access -> String? in if case .index(let name) = access { name } else { nil }
        }
        #expect(indexes.allSatisfy(used.contains), "\(name): \(plan)")
        #expect(plan.filteredAfterwards.isEmpty)
        // An ascending index replaces the sort. In descending order, equal objects still need
        // sorting by ascending keys.
        if name == "order" { #expect(plan.order == .asFound, "\(plan)") }
    }

    @Test("a fetch without a limit evaluates a to-many condition once for all objects")
    func evaluatesConditionOnce() throws {
        let condition = Self.any(["tracks", "title"], operator: .contains, value: "a")
        for predicate: Predicate in [
            condition,
            .comparison(
                .init(
                    left: .path(
                        of: .subquery(
                            .keyPath(["tracks"]), variable: "t",
                            .comparison(
                                .init(
                                    left: .path(of: .variable("t"), ["title"]), operator: .contains,
                                    right: .constant("a")))),
                        ["@count"]), operator: .greater, right: .constant(2))),
        ] {
            let all = try plan(FetchRequest("Album", where: predicate))
            #expect(all.access.contains(.keys) && !all.access.contains(.index("Track_album_index")), "\(all)")
            // If another condition leaves few objects, each is tested alone.
            let few = try plan(FetchRequest("Album", where: .equal("title", to: "a") && predicate))
            #expect(few.access.contains(.index("Track_album_index")), "\(few)")
        }
    }

    @Test("a condition on object IDs searches the keys of the table")
    func searchesKeys() throws {
        let ids = (1...2000).map { Expression.constant(.objectID(ObjectID("Album", key: $0))) }
        for predicate: Predicate in [
            .comparison(.init(left: .evaluatedObject, operator: .equal, right: ids[0])),
            .comparison(.init(left: .evaluatedObject, operator: .isIn, right: .aggregate(ids))),
        ] {
            #expect(try plan(FetchRequest("Album", where: predicate)).access.contains(.keys))
        }
    }

    @Test("a fetch plan shows its SQL statement without values, and the conditions that the statement decides")
    func explainsParts() throws {
        let sum = Predicate.comparison(
            .init(left: .keyPath(["tracks", "@sum", "length"]), operator: .greater, right: .constant(3)))
        let plan = try plan(
            FetchRequest("Album", where: .equal("title", to: "secret") && sum, sortedBy: [.init("year")], limit: 3))
        #expect(plan.decidedByAccess.count == 1 && plan.filteredAfterwards.count == 1)
        #expect(plan.order == .best(3) && plan.visitedCount == 0)
        guard case .statement(let sql)? = plan.access.first else {
            Issue.record("no statement: \(plan)")
            return
        }
        #expect(sql.hasPrefix("SELECT ") && !sql.contains("secret"))
    }
}
