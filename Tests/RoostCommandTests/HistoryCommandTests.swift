import Foundation
import Roost
import Testing

@Suite("Histories of stores on the command line")
struct HistoryCommandTests {
    private func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Track", attributes: [AttributeDescription("title", type: .string)],
                relationships: [.toMany("tags", to: "Tag", inverse: "tracks")]),
            EntityDescription("Tag", relationships: [.toMany("tracks", to: "Track", inverse: "tags")]),
        ])
    }

    private func makeStore(_ type: String, in place: Workplace) throws -> Store {
        let options = StoreOptions().with { $0.tracksHistory = true }
        return try Store.open(
            StoreLocation(type: type, path: place.file("music")), model: try model(), options: options)
    }

    /// Creates a store with three transactions, and returns the tokens of the first and the last.
    private func makeTransactions(
        _ type: String, in place: Workplace
    ) throws -> (first: HistoryToken, last: HistoryToken) {
        let store = try makeStore(type, in: place)
        try store.insert("Track", rows: [["title": "Blue"], ["title": "Carey"]])
        let first = try store.historyToken()
        var request = BatchUpdateRequest("Track", where: "title == 'Blue'", set: ["title": .constant("River")])
        request.author = "editor"
        try store.execute(request)
        try store.delete("Track", where: "title == 'Carey'")
        let last = try store.historyToken()
        try store.close()
        return (first, last)
    }

    @Test("roost history prints each transaction as text, without values", arguments: Workplace.fileTypes)
    func transactions(type: String) throws {
        let place = try Workplace()
        let last = try makeTransactions(type, in: place).last
        let text = try place.roost("history", "music")
        #expect(text.code == 0 && text.errors.isEmpty)
        for line in ["  + Track/p1", "  + Track/p2", "  ! Track/p1: title", "  - Track/p2", "  token \(last)"] {
            #expect(text.output.split(separator: "\n").contains { $0 == line }, "\(line) in \(text.output)")
        }
        #expect(text.output.contains("  commit  editor\n"))
        #expect(!text.output.contains("River") && !text.output.contains("Carey"))
    }

    @Test("roost history --json prints a line for each transaction", arguments: Workplace.fileTypes)
    func transactionsAsJSON(type: String) throws {
        let place = try Workplace()
        let last = try makeTransactions(type, in: place).last
        let lines = try place.roost("history", "music", "--json").output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.count == 3)
        #expect(lines.last?["token"] as? String == "\(last)")
        #expect(lines.map { $0["kind"] as? String } == ["commit", "commit", "commit"])
        #expect(lines.compactMap { $0["author"] as? String } == ["editor"])
        #expect(lines.allSatisfy { $0["complete"] as? Bool == true })
    }

    @Test("roost history selects transactions by token, time, author and entity", arguments: Workplace.fileTypes)
    func selection(type: String) throws {
        let place = try Workplace()
        let (first, last) = try makeTransactions(type, in: place)
        let all = try place.roost("history", "music").output
        let since = try place.roost("history", "music", "--since=\(first)", "--json").output
        #expect(since.split(separator: "\n").count == 2)
        #expect(try place.roost("history", "music", "--author=editor").output.contains("! Track/p1"))
        #expect(try place.roost("history", "music", "--entity=Tag").output.isEmpty)
        #expect(try place.roost("history", "music", "--since=2000-01-01").output == all)
        #expect(try place.roost("history", "music", "--since=2100-01-01T00:00:00Z").output.isEmpty)
        #expect(try place.roost("history", "music", "--last-token").output == "\(last)\n")
    }

    @Test("roost history refuses tokens of deleted transactions, wrong times and stores without history")
    func errors() throws {
        let place = try Workplace()
        let store = try makeStore("sqlite", in: place)
        try store.insert("Track", rows: [["title": "Blue"]])
        let old = try store.historyToken()
        try store.insert("Track", rows: [["title": "Carey"]])
        try store.insert("Track", rows: [["title": "River"]])
        try store.deleteHistory(before: try store.historyToken())
        try store.close()
        try place.roost("history", "music", "--since=\(old)").expectError(3)
        try place.roost("history", "music", "--since=yesterday").expectError(2, containing: "yesterday")
        try place.roost("history", "music", "--entity=Trak").expectError(3, containing: "Trak")
        let other = try Store.open(.sqlite(place.file("other")), model: try model())
        try other.close()
        try place.roost("history", "other").expectError(3)
    }

    @Test("a history enabled by the configuration begins with the first writing command")
    func configuration() throws {
        let place = try Workplace()
        let store = try Store.open(.sqlite(place.file("music")), model: try model())
        try store.insert("Track", rows: [["title": "Blue"]])
        try store.close()
        try place.write(
            Data("{ stores: { main: { type: 'sqlite', path: 'music', options: { tracksHistory: true } } } }".utf8),
            to: "roost.json")
        #expect(try place.roost("info", "main").code == 0)
        try place.roost("history", "main").expectError(3, containing: "tracksHistory")
        #expect(try place.roost("update", "main", "Track", "--set=title = 'River'", "--yes").code == 0)
        #expect(try place.roost("history", "main").output.contains("! Track/p1: title"))
    }

    @Test("roost history --follow prints commits of another process until a signal", arguments: Workplace.fileTypes)
    func following(type: String) throws {
        let place = try Workplace()
        let store = try makeStore(type, in: place)
        try store.insert("Track", rows: [["title": "Blue"]])
        let command = try place.start(["history", "music", "--follow", "--json"])
        try command.waitForOutput(lines: 1)
        try store.insert("Track", rows: [["title": "Carey"]])
        try store.insert("Track", rows: [["title": "River"]])
        try command.waitForOutput(lines: 3)
        command.process.terminate()
        let result = try command.wait()
        #expect(result.code == 130 && !result.wasKilled)
        #expect(result.output.split(separator: "\n").count == 3)
        try store.close()
    }
}
