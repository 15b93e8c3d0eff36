import Foundation
import Roost
import RoostGraph
import Testing

/// The code of `docs/following-changes.md`.
extension ArticleTests {
    @Test("a sequence of saves includes every commit after its creation")
    func saves() async throws {
        let container = try Music.container()
        let store = container.stores[0]
        try await store.insert("Artist", rows: [["name": "Joni"]])
        let writer = container.makeContext()
        var names: [String] = []
        let notices = try container.saves
        let shown = try await store.fetch("Artist", sortedBy: ["name"])
        for name in ["Carole", "James"] {
            let artist: Artist = try writer.insert()
            artist.name = name
            try writer.save()
        }
        for await notice in notices {
            names += notice.inserted.map(\.description)
            if !notice.isComplete || names.count > shown.count { break }
        }
        #expect(names.count == 2)
    }

    /// A search index that holds only the IDs of its objects.
    private final class Index {
        var keys: Set<ObjectID> = []
        func add(_ record: Record) { keys.insert(record.id) }
        func update(_ id: ObjectID, in store: Store) throws {
            if try store.record(id) != nil { keys.insert(id) }
        }
        func remove(_ id: ObjectID) { keys.remove(id) }
    }

    @Test("the persistent history keeps a search index up to date")
    func history() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (path, model) = (directory.appending(path: "music.sqlite").path, try Music.model())
        let index = Index()
        let options = StoreOptions().with { $0.tracksHistory = true }
        let store = try Store.open(.sqlite(path), model: model, options: options)
        try store.insert("Track", rows: [["title": "Blue"], ["title": "Carey"]])
        // Once: read everything, and take the token of the same view.
        var token = try store.read { view in
            try view.forEach(FetchRequest("Track")) { index.add($0) }
            return try view.historyToken()
        }
        #expect(index.keys.count == 2)
        try store.insert("Track", rows: [["title": "River"]])
        try store.delete("Track", where: "title == 'Blue'")
        // Later, as often as you like:
        for transaction in try store.history(after: token) {
            for change in transaction.changes where change.id.entity == "Track" {
                switch change.kind {
                case .insert, .update: try index.update(change.id, in: store)
                case .delete: index.remove(change.id)
                }
            }
            token = transaction.token
        }
        #expect(index.keys == Set(try store.fetch("Track").map(\.id)))
        try store.deleteHistory(before: token)  // Everything up to the token.
        try store.deleteHistory(before: Date(timeIntervalSinceNow: -30 * 86_400))
        try limits()
        try store.close()
    }

    private func limits() throws {
        let options = StoreOptions().with {
            $0.tracksHistory = true
            $0.historyRetention = HistoryRetention(days: 30, byteCount: 64 << 20)
        }
        #expect(options.historyRetention?.days == 30)
    }

    @Test("sections, windows and totals of results follow changes")
    func results() throws {
        try onEachBackend { _, context, album in
            let controller = try FetchedResultsController(
                Fetch<Album>(where: "year > 1960", sortedBy: ["artist.name", "title"]), in: context,
                sections: "artist.name")
            for section in controller.sections { print(section.name, section.count) }
            #expect(controller.sections.map(\.name) == ["Joni Mitchell"])
            controller.onChange = { change in
                for item in change.deleted { print("\(item.id) was at \(item.place)") }
                for item in change.inserted { print("\(item.id) is at \(item.place)") }
                for move in change.moved { print("\(move.id) is at \(move.to)") }
                for move in change.updated { print("\(move.id) has other values") }
            }
            let list = try FetchedResultsController(Fetch<Album>(sortedBy: ["title"], limit: 50), in: context)
            let totals = try ResultsTotals(Fetch<Album>(where: "year > 1960"), sums: ["year"], in: context)
            totals.onChange = { print(totals.count, totals.sum("year")) }
            let letters = try FetchedResultsController(
                Fetch<Album>(sortedBy: ["title"]), in: context, sections: "title",
                named: { if case .string(let title) = $0 { title.prefix(1).uppercased() } else { "" } })
            for number in 0..<60 {
                let other: Album = try context.insert()
                (other.title, other.year) = ("Album \(number)", 1959)
            }
            album.title = "Hejira"
            album.year = 1976
            context.processPendingChanges()
            try list.setWindow(offset: 50, limit: 50)
            #expect(list.count == 11 && list.objects.last === album)
            #expect(letters.sections.map(\.name) == ["A", "H"])
            #expect(totals.count == 1 && totals.sum("year") == 1976)
            #expect(controller[ResultsPlace(section: 0, item: 0)] === album)
        }
    }

    @Test("a sequence of result changes delivers each change, and ends when its controller is released")
    func resultsInSequence() async throws {
        let container = try Music.container()
        let context = container.makeContext()
        func follow() async throws -> Task<[[ObjectID]], Never> {
            let controller = try FetchedResultsController(Fetch<Album>(sortedBy: ["title"]), in: context)
            let start = controller.sections.map { Array($0) }
            let changes = controller.changes
            let task = Task {
                var rows: [[ObjectID]] = start
                for await change in changes { rows = change.applying(to: rows) }
                return rows
            }
            for number in 0..<5 {
                let album: Album = try context.insert()
                album.title = "\(number)"
                context.processPendingChanges()
            }
            return task
        }
        let rows = try await follow().value
        #expect(rows.map(\.count) == [5])
        try container.close()
    }
}
