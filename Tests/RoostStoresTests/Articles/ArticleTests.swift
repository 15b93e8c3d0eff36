import Foundation
import Roost
import RoostCore
import Testing

/// The code of `docs/stores.md` and `docs/queries.md`, run on each type of store that can be
/// written.
@Suite("Code in the pages about stores and queries")
struct ArticleTests {
    private let folder = Result { try Folder() }

    private func makeModel() throws -> ManagedObjectModel {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Album", attributes: [.string("title", isOptional: false), .integer16("year", minimum: 1900)],
                relationships: [
                    .toMany("tracks", to: "Track", inverse: "album", isOrdered: true, deleteRule: .cascade)
                ],
                uniquenessConstraints: [["title"]]),
            EntityDescription(
                "Track",
                attributes: [
                    .string("title", isOptional: false, maximumLength: 80), .integer32("plays", default: 0, minimum: 0),
                    .double("length"), .derived("albumTitle", type: .string, from: "album.title"),
                ],
                relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
        ])
        return model
    }

    struct Track: Codable, Sendable {
        var objectID: ObjectID?
        var title: String
        var plays: Int?
        var album: ObjectID?
    }

    @Test("the code of docs/stores.md gives the results that the page states", arguments: Sample.types)
    func stores(type: String) async throws {
        let (location, model) = (try folder.get().location(type), try makeModel())
        let copy = try folder.get().location("json", name: "copy")
        let store = try open(location, model: model)
        try synchronous(store)
        try await store.update("Track", set: "plays = 0")
        for try await track in store.records(Track.self, where: "album != nil") {
            print(track.title)
        }
        #expect(try await store.count("Track", where: "plays != 0") == 0)
        try await store.convert(to: copy)
        try finish(store, copy: copy)
    }

    @Test("the first program of docs/stores.md prints the album that it updated", arguments: Sample.types)
    func program(type: String) throws {
        let location = try folder.get().location(type)
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Artist", attributes: [.string("name", isOptional: false)],
                relationships: [.toMany("albums", to: "Album", inverse: "artist")]),
            EntityDescription(
                "Album", attributes: [.string("title"), .integer16("year")],
                relationships: [.toOne("artist", to: "Artist", inverse: "albums")]),
        ])
        let store = try Store.open(location, model: model)
        let artists = try store.insert("Artist", rows: [["name": "Joni Mitchell"]], result: .objectIDs).objectIDs ?? []
        try store.insert("Album", rows: artists.map { ["title": "Blue", "year": 1971, "artist": .objectID($0)] })

        let prefix = "Bl"
        try store.update("Album", set: "year = year + 1", where: "title BEGINSWITH \(prefix)")
        for album in try store.fetch("Album", where: "artist.name == \("Joni Mitchell")", sortedBy: ["year"]) {
            print(album.id, album["title"], album["year"])
        }
        try store.close()

        #expect(printed == ["Album/p1 \"Blue\" 1972"])
    }

    private func open(_ location: StoreLocation, model: ManagedObjectModel) throws -> Store {
        let store = try Store.open(location, model: model)
        return store
    }

    private func synchronous(_ store: Store) throws {
        try store.insert("Album", rows: [["title": "Blue", "year": 1971], ["title": "Hejira", "year": 1976]])
        let albums =
            try store.insert("Album", rows: [["title": "Mingus", "year": 1979]], result: .objectIDs).objectIDs ?? []
        try store.insert("Track", rows: [["title": "Goodbye Pork Pie Hat", "album": .objectID(albums[0])]])
        #expect(try store.fetch("Track").map { $0["albumTitle"] } == ["Mingus"])
        try rules(store)
        let rows: [[String: Value]] = [
            ["title": "Blue", "year": 1971], ["title": "Wild Things Run Fast", "year": 1982],
        ]
        try store.insert("Album", rows: rows, onConflict: .update)
        #expect(try store.count("Album") == 4)

        let prefix = "B"
        try store.update("Track", set: "plays = plays + 1", where: "album.title BEGINSWITH \(prefix)")
        try store.update("Album", set: ["year": 1977], where: "title == \("Hejira")")
        try store.delete("Album", where: "year < 1972")
        #expect(try store.fetch("Album", sortedBy: ["year"]).map { $0["year"] } == [1977, 1979, 1982])

        let titles = try store.fetch("Album", where: "year > 1970", sortedBy: ["title"]).map { $0["title"] }
        let count = try store.count("Track", where: "plays > 0")
        let album = try store.record("Album", key: 2)
        #expect(titles == ["Hejira", "Mingus", "Wild Things Run Fast"])
        #expect(count == 0 && album?["title"] == "Hejira")
        var longest = 0.0
        try store.forEach(FetchRequest("Track", where: "length != nil")) { track in
            if case .double(let length) = track["length"] { longest = max(longest, length) }
        }
        #expect(longest == 0)
        let average = try store.read { view in
            let tracks = try view.count("Track")
            let albums = try view.count("Album")
            return albums == 0 ? 0 : tracks / albums
        }
        #expect(average == 0)
        try store.insert([Track(title: "Amelia", plays: 4), Track(title: "Coyote")])
        try store.forEach(Track.self, where: "plays > 3") { track in print(track.title) }
        let tracks = try store.fetch(Track.self, sortedBy: ["title"], limit: 10)
        #expect(tracks.map(\.title) == ["Amelia", "Coyote", "Goodbye Pork Pie Hat"])
        #expect(tracks.map(\.plays) == [4, 0, 0])
        #expect(tracks.map(\.album) == [nil, nil, albums[0]])
    }

    private func rules(_ store: Store) throws {
        do {
            try store.insert("Album", rows: [["year": 1980], ["title": "Shadows", "year": 19]])
        } catch {
            for failure in error.failures { print(failure.code, failure) }
        }
        let error = #expect(throws: StoreError.self) {
            try store.insert("Album", rows: [["year": 1980], ["title": "Shadows", "year": 19]])
        }
        #expect(
            error?.failures.map { "\($0.code) \($0)" } == [
                "1570 'title' of row 1 (Album) is mandatory and has no value.",
                "1620 'year' of row 2 (Album) is less than its minimum.",
            ])
    }

    private func finish(_ store: Store, copy: StoreLocation) throws {
        let isSame = try store.digest() == Store.open(copy, ifMissing: .fail).digest()
        let findings = try store.check()
        #expect(isSame && findings.isEmpty)
        try store.close()
        #expect(throws: StoreError.self) { try store.count("Track") }
    }

    @Test("the code of docs/queries.md gives the results that the page states", arguments: Sample.types)
    func queries(type: String) throws {
        let store = try Store.open(try folder.get().location(type), model: try makeModel())
        let ids = try #require(
            try store.insert(
                "Album",
                rows: [
                    ["title": "Blue", "year": 1971], ["title": "Hejira", "year": 1976],
                    ["title": "Mingus", "year": 1979],
                ], result: .objectIDs
            ).objectIDs)
        try store.insert(
            "Track",
            rows: [
                ["title": "Carey", "plays": 5, "album": .objectID(ids[0])],
                ["title": "River", "plays": 2, "album": .objectID(ids[0])],
                ["title": "Coyote", "plays": 9, "album": .objectID(ids[1])],
            ])
        let year = 1975
        let early = try store.fetch("Album", where: "year < \(year)")
        #expect(early.map { $0["title"] } == ["Blue"])
        let input = "' OR 1 == 1 OR title == '"
        let none = try store.fetch("Album", where: "title == \(input)")
        #expect(none.isEmpty)
        let name = "title"
        let sorted = try store.fetch("Album", where: "\(key: name) LIKE \("B*")", sortedBy: [.init(name)])
        #expect(sorted.map { $0["title"] } == ["Blue"])
        let popular = try store.fetch("Track", where: .path("plays") > 3 && .path("album.year") < 1980)
        let full = try store.fetch("Album", where: .path("tracks").count >= 2)
        #expect(popular.map { $0["title"] } == ["Carey", "Coyote"])
        #expect(full.map { $0["title"] } == ["Blue"])
        let newest = try store.fetch(
            "Album", sortedBy: [.init("year", ascending: false), "title"], limit: 2, offset: 1)
        #expect(newest.map { $0["title"] } == ["Hejira", "Blue"])
        let request = RowRequest(
            FetchRequest("Track", where: "album != nil", sortedBy: ["albumTitle"]),
            propertiesToFetch: ["albumTitle", .init("plays", expression: "@sum.plays")],
            propertiesToGroupBy: [.keyPath(["albumTitle"])])
        try store.read { view in
            try view.forEachRow(request) { row in print(row) }
        }
        var rows: [[String: Value]] = []
        try store.read { view in try view.forEachRow(request) { rows.append($0) } }
        #expect(rows == [["albumTitle": "Blue", "plays": 7], ["albumTitle": "Hejira", "plays": 9]])
        let plan = try store.explain(FetchRequest("Album", where: "title == \("Blue")"))
        print(plan)
        #expect("\(plan)".isEmpty == false)
    }

    @Test(
        "every Swift block of docs/stores.md and docs/queries.md is code of a test", arguments: ["stores", "queries"])
    func quotations(page: String) throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("docs/\(page).md"), encoding: .utf8)
        let source = Self.squeezed(try String(contentsOf: here, encoding: .utf8))
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count >= 6)
        for block in blocks {
            // The page's program opens a file; the test opens a location of each type.
            let code = Self.squeezed(
                block.replacing("import Roost\n", with: "").replacing(".sqlite(\"music.sqlite\")", with: "location"))
            if !source.contains(code) { Issue.record("not compiled: \(block)") }
        }
    }

    /// Returns a text without white space, which the formatter changes.
    private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}
