import Roost
import Testing

// Only Roost and Testing are imported, because programs need only Roost for literals.

/// A store of tracks with given titles, in a temporary folder.
struct TextStore {
    let folder: Folder
    let store: any PersistentStore

    init(_ type: String, titles: [String]) throws {
        folder = try Folder()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Track", attributes: [.string("title"), .integer64("plays", default: 0), .string("odd name")])
        ])
        store = try StoreRegistry.standard.create(folder.location(type), model: model)
        var changes = ChangeSet(model: model)
        for (index, title) in titles.enumerated() {
            try changes.insert(
                ObjectID("Track", key: Int64(index + 1)),
                values: ["title": .string(title), "plays": .int(Int64(index)), "odd name": .string(title)])
        }
        _ = try store.commit(changes)
    }

    /// Returns the keys or the error as text, because some LIKE patterns are too long.
    func outcome(_ predicate: FetchRequest.Predicate) -> String {
        do { return "\(try keys(predicate))" } catch { return "\(error)" }
    }

    func keys(_ predicate: FetchRequest.Predicate?) throws -> [Int64] {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try snapshot.objectIDs(FetchRequest("Track", where: predicate)).map(\.key)
    }
}

@Suite("Predicates and assignments in requests")
struct InterpolationTests {
    @Test("a request accepts a literal, a built condition, their combinations, or nil") func overloads() throws {
        let store = try TextStore("memory", titles: ["Blue", "Green", "Blue Moon"])
        let snapshot = try store.store.snapshot()
        defer { snapshot.close() }
        let prefix = "Blue"
        let requests = [
            FetchRequest("Track", where: "title BEGINSWITH 'Blue'"),
            FetchRequest("Track", where: "title BEGINSWITH \(prefix) AND plays >= \(0)"),
            FetchRequest("Track", where: "plays != 1"),
            FetchRequest("Track", where: .path("plays") == 0 || .path("plays") > 1),
            FetchRequest("Track", where: .path("title").beginsWith(prefix) && "plays >= 0"),
            FetchRequest("Track", where: "plays == 0" || "\(key: "odd name") == \("Blue Moon")"),
            FetchRequest("Track", where: !"title == 'Green'"),
            FetchRequest("Track", where: nil, limit: 2),
        ]
        #expect(try requests.map { try snapshot.objectIDs($0).count } == [2, 2, 2, 2, 2, 2, 2, 2])
    }

    /// The kinds of requests that contain text.
    enum Request: String, CaseIterable, CustomTestStringConvertible {
        case fetch, count, objectIDs, explain, rows, columns, groups, having, update, values, delete

        var testDescription: String { rawValue }

        func run(_ store: any PersistentStore, with predicate: FetchRequest.Predicate) throws(StoreError) {
            let request = FetchRequest("Track", where: predicate)
            let all = FetchRequest("Track")
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            switch self {
            case .fetch: _ = try snapshot.fetch(request)
            case .count: _ = try snapshot.count(request)
            case .objectIDs: _ = try snapshot.objectIDs(request)
            case .explain: _ = try snapshot.explain(request, executing: false)
            case .rows: _ = try snapshot.rows(RowRequest(request, propertiesToFetch: ["title"]))
            case .columns:
                _ = try snapshot.rows(RowRequest(all, propertiesToFetch: [.init("x", expression: "1 +")]))
            case .groups:
                _ = try snapshot.rows(
                    RowRequest(
                        all, propertiesToFetch: [.init("n", expression: "@count")], propertiesToGroupBy: ["plays +"]))
            case .having:
                _ = try snapshot.rows(
                    RowRequest(
                        all, propertiesToFetch: ["title"], propertiesToGroupBy: ["title"], havingPredicate: predicate))
            case .update:
                _ = try store.execute(BatchUpdateRequest("Track", where: predicate, set: ["plays": "plays + 1"]))
            case .values: _ = try store.execute(BatchUpdateRequest("Track", set: ["plays": "plays +"]))
            case .delete: _ = try store.execute(BatchDeleteRequest(request))
            }
        }
    }

    @Test(
        "a request with unreadable text throws before it reads or writes", arguments: Sample.types,
        Request.allCases)
    func malformed(type: String, request: Request) throws {
        let store = try TextStore(type, titles: ["Blue", "Green"])
        let title = "Blue"
        let error = #expect(throws: StoreError.self) {
            try request.run(store.store, with: "title == '\(title)' OR plays >= 0")
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("cannot be read at column") == true)
        #expect(try store.keys("plays == 0") == [1])
        #expect(try store.keys("plays == 1") == [2])
    }

    @Test("a mapping model with unreadable text is refused with the position of each error") func mapping() throws {
        let model = try Sample.model()
        let title = "x"
        var mapping = EntityMapping(
            "Notes", type: .transform, from: "Note", to: "Note",
            attributes: [PropertyMapping("title", expression: "$source.title + '\(title)'")])
        mapping.sourcePredicate = "title =="
        let problems = try #require(
            throws: StoreError.self, performing: { try MappingModel([mapping]).requireValid(from: model, to: model) })
        #expect(problems.code == .invalidMappingModel)
        #expect(problems.message.contains("The expression cannot be read at column 18: A value cannot be interpolated"))
        #expect(problems.message.contains("The predicate cannot be read at column 9: "))
        #expect(throws: StoreError.self) { try MappingModel([mapping]).document() }
    }

    @Test("an update takes assignments from a literal, and interpolated text stays a value", arguments: Sample.types)
    func assignments(type: String) throws {
        let store = try TextStore(type, titles: ["Blue", "Green"])
        let title = "' OR 1 == 1"
        let set: Assignments = "plays = plays + 10, title = \(title)"
        _ = try store.store.execute(BatchUpdateRequest("Track", where: "plays == 1", set: try set.expressions))
        #expect(try store.keys("title == \(title) AND plays == 11") == [2])
        #expect(try store.keys("title == 'Blue' AND plays == 0") == [1])
    }
}

/// Strings that would change a predicate's meaning as a part of the text.
enum Hostile {
    private static let pieces = [
        "'", "\"", "\\", "%@", "%K", "%d", "%", "$x", "$source", "#", "' OR 1 == 1", "\" OR TRUEPREDICATE OR \"",
        "') || ('",
        ") || (", "\0", "e\u{301}", "é", "\u{301}", "👩‍👩‍👧", "🇩🇪", "\u{202E}", "\u{200F}", "\u{FEFF}", "-- ", "/* */", ";",
        "'; DROP TABLE Track; --", "\n", "\r\n", "\t", "\u{2028}", "FUNCTION(1, 'now')", "CAST('1', 'NSNumber')",
        "SUBQUERY(a, $x, TRUEPREDICATE)", "{1, 2}", "NULL", "nil", "TRUEPREDICATE", "SELF", "@count", "\\'", "\\\"",
        "\\u0027",
        "\\(…)", "\\(title)", "…", "*", "?", "\\*", "[a-z]", "_", "''", "\u{10FFFF}", "\u{7F}", "ﬁ", "ß", "İ",
    ]

    /// At least 300 different strings, made of the pieces.
    static let strings: [String] = {
        var strings =
            pieces + ["", " ", String(repeating: "'\\", count: 2_000), String(repeating: "x' OR '", count: 1_000)]
        strings += pieces.map { $0 + $0 } + pieces.map { "a" + $0 + "b" }
        for step in [1, 7, 13] {
            for (index, piece) in pieces.enumerated() { strings.append(piece + pieces[(index + step) % pieces.count]) }
        }
        var seen: Set<[UInt8]> = []
        return strings.filter { seen.insert(Array($0.utf8)).inserted }
    }()
}

@Suite("Injection")
struct InjectionTests {
    /// A comparison with a string, once interpolated and once built in Swift.
    struct Comparison: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let interpolated: @Sendable (String) -> FetchRequest.Predicate
        let built: @Sendable (String) -> FetchRequest.Predicate

        static let all = [
            Self(testDescription: "==") {
                "title == \($0)"
            } built: {
                .path("title") == $0
            },
            Self(testDescription: "BEGINSWITH") {
                "title BEGINSWITH \($0)"
            } built: {
                .path("title").beginsWith($0)
            },
            Self(testDescription: "CONTAINS") {
                "title CONTAINS[c] \($0)"
            } built: {
                .path("title").contains($0, options: .caseInsensitive)
            },
            Self(testDescription: "LIKE") {
                "title LIKE \($0)"
            } built: {
                .path("title").like($0)
            },
            Self(testDescription: "IN") {
                "title IN {\($0), \($0 + "x")}"
            } built: {
                .path("title").isIn([$0, $0 + "x"])
            },
            Self(testDescription: "IN a list") {
                "title IN \([$0, "x" + $0])"
            } built: {
                .path("title").isIn([$0, "x" + $0])
            },
            Self(testDescription: "a key") {
                "\(key: "odd name") == \($0) AND title != \("")"
            } built: {
                .path("odd name") == $0 && .path("title") != ""
            },
        ]
    }

    @Test("the list of hostile strings has at least 300 entries") func hasHostileStrings() {
        #expect(Hostile.strings.count >= 300)
    }

    @Test(
        "a hostile string selects the same objects in an interpolated and a built predicate", arguments: Sample.types,
        Comparison.all)
    func answers(type: String, comparison: Comparison) throws {
        let strings = Hostile.strings
        let store = try TextStore(type, titles: strings)
        for (index, string) in strings.enumerated() {
            let (interpolated, built) = (comparison.interpolated(string), comparison.built(string))
            #expect(interpolated == built)
            let keys = store.outcome(interpolated)
            #expect(keys == store.outcome(built))
            if comparison.testDescription == "==" { #expect(keys == "[\(index + 1)]") }
        }
    }
}
