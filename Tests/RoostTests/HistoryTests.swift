import Foundation
import Roost
import RoostCore
import RoostMigration
import RoostStores
import Testing

@Suite("History in conversions, backups and other operations on stores")
struct HistoryTests {
    private let folder: Folder
    private let model: ManagedObjectModel

    init() throws {
        folder = try Folder()
        model = try Self.model()
    }

    private static func model(_ more: AttributeDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Track",
                attributes: [
                    .string("title"), .string("code").with { $0.preservesValueInHistoryOnDeletion = true },
                ] + more)
        ])
    }

    static let types = ["sqlite", "lmdb", "json"]

    private var recording: StoreOptions { StoreOptions().with { $0.tracksHistory = true } }

    private func location(_ type: String, named name: String = "store") -> StoreLocation {
        StoreLocation(type: type, path: folder.file(name))
    }

    /// Creates a store with three transactions; the history keeps `code` of the deleted object.
    private func makeStore(_ type: String) throws -> Store {
        let store = try Store.open(location(type), model: model, options: recording)
        try store.insert("Track", rows: [["title": "Blue", "code": "secret-1"], ["title": "Carey"]])
        try store.update("Track", set: "title = 'Hejira'", where: "title == 'Carey'")
        try store.delete("Track", where: "title == 'Blue'")
        return store
    }

    @Test("blocking and asynchronous calls read, continue and delete a history", arguments: types + ["memory"])
    func calls(type: String) async throws {
        let place = type == "memory" ? .memory : location(type)
        let store = try await Store.open(place, model: model, options: recording)
        let beginning = try await store.historyToken()
        try await store.insert("Track", rows: [["title": "Blue"], ["title": "Carey"]])
        let token = try await store.historyToken()
        var request = BatchDeleteRequest(FetchRequest("Track", where: "title == 'Blue'"))
        request.author = "cleaner"
        try await store.execute(request)
        let transactions = try await store.history(after: token)
        #expect(transactions.map(\.author) == ["cleaner"])
        #expect(transactions.first?.changes.map(\.kind) == [.delete])
        #expect(try await store.history(after: beginning).count == 2)
        var kinds: [HistoryChange.Kind] = []
        try store.forEachTransaction(HistoryRequest()) { kinds += $0.changes.map(\.kind) }
        #expect(kinds == [.insert, .insert, .delete])
        try await store.deleteHistory(before: token)
        let error = await #expect(throws: StoreError.self) { _ = try await store.history(after: beginning) }
        #expect(error?.code == .historyExpired)
        try await store.deleteHistory(before: Date.distantFuture)
        #expect(try await store.history().isEmpty)
        try await store.close()
    }

    @Test("a view's history token precedes every transaction that commits after the view begins", arguments: types)
    func view(type: String) throws {
        let store = try makeStore(type)
        let (titles, token) = try store.read { view in
            try store.insert("Track", rows: [["title": "later"]])
            return (try view.fetch("Track").map { $0["title"] }, try view.historyToken())
        }
        #expect(titles == ["Hejira"])
        #expect(try store.history(after: token).map(\.changes.count) == [1])
        try store.close()
    }

    @Test("a context records its author and name in the history")
    func contexts() async throws {
        let store = try await Store.open(location("sqlite"), model: model, options: recording)
        try await store.close()
        let container = try await PersistentContainer.open(location("sqlite"), model: model)
        let context = container.makeContext()
        context.author = "Ada"
        context.name = "editor"
        let track = try context.insert("Track")
        try track.setValue("Blue", for: "title")
        try context.save()
        let again = try await Store.open(location("sqlite"))
        let transactions = try await again.history()
        #expect(transactions.map(\.author) == ["Ada"])
        #expect(transactions.map(\.contextName) == ["editor"])
        #expect(transactions.first?.changes.map(\.kind) == [.insert])
        try await again.close()
    }

    @Test("metadata of a store without a history can be read with options that would start one", arguments: types)
    func metadata(type: String) throws {
        let store = try Store.open(location(type), model: model)
        try store.close()
        let options = recording.with { $0.historyRetention = HistoryRetention(days: 5) }
        let read = try StoreRegistry.standard.type(named: type).metadata(at: location(type), options: options)
        #expect(read.model == model)
    }

    @Test("a backup keeps the history and its tokens", arguments: types)
    func backup(type: String) throws {
        let store = try makeStore(type)
        let history = try store.history()
        try store.backUp(to: location(type, named: "backup"))
        try store.close()
        let backup = try Store.open(location(type, named: "backup"))
        #expect(try backup.history() == history)
        #expect(try backup.check().isEmpty)
        let token = try #require(history.last).token
        try backup.insert("Track", rows: [["title": "more"]])
        #expect(try backup.history(after: token).map(\.changes.count) == [1])
        #expect(try backup.history().count == history.count + 1)
        try backup.close()
    }

    @Test("compaction keeps the history and erases the bytes of deleted transactions", arguments: types)
    func compaction(type: String) throws {
        let store = try makeStore(type)
        let history = try store.history()
        try store.close()
        let maintenance = StoreMaintenance(registry: .standard)
        _ = try maintenance.compact(location(type))
        let compacted = try Store.open(location(type))
        #expect(try compacted.history() == history)
        #expect(try compacted.check().isEmpty)
        #expect(history.last?.changes.first?.preservedValues == ["code": "secret-1"])
        try compacted.deleteHistory(before: try compacted.historyToken())
        try compacted.close()
        _ = try maintenance.compact(location(type))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("store")))
        #expect(bytes.firstRange(of: Data("secret-1".utf8)) == nil)
        let last = try Store.open(location(type))
        #expect(try last.history().isEmpty)
        #expect(try last.historyToken().position == history.last?.token.position)
        try last.close()
    }

    @Test("a conversion keeps the history only on request", arguments: types, types)
    func conversion(from type: String, to other: String) throws {
        let store = try makeStore(type)
        let history = try store.history()
        try store.convert(to: location(other, named: "plain"))
        var options = ConversionOptions()
        options.keepsHistory = true
        try store.convert(to: location(other, named: "whole"), options: options)
        let plain = try Store.open(location(other, named: "plain"))
        let error = #expect(throws: StoreError.self) { _ = try plain.history() }
        #expect(error?.code == .invalidRequest)
        let whole = try Store.open(location(other, named: "whole"))
        #expect(try whole.history() == history)
        #expect(try whole.digest() == store.digest())
        #expect(try whole.check().isEmpty)
        try whole.insert("Track", rows: [["title": "more"]])
        #expect(try whole.history().count == history.count + 1)
        for store in [store, plain, whole] { try store.close() }
    }

    @Test("a migration in place restarts the history and warns of it", arguments: types, [true, false])
    func migration(type: String, keepsBackup: Bool) throws {
        let store = try makeStore(type)
        let token = try #require(try store.history().first).token
        try store.close()
        let next = try Self.model(.integer64("plays"))
        var options = MigrationOptions()
        options.keepsBackup = keepsBackup
        let report = try MigrationManager(registry: .standard).migrateInPlace(
            location(type), model: next, options: options)
        #expect(report.warnings.contains { $0.contains("history") }, "\(report.warnings)")
        let migrated = try Store.open(location(type), model: next)
        let error = #expect(throws: StoreError.self) { _ = try migrated.history(after: token) }
        #expect(error?.code == .historyExpired)
        let now = try migrated.historyToken()
        try migrated.insert("Track", rows: [["title": "more"]])
        #expect(try migrated.history(after: now).map(\.changes.count) == [1])
        #expect(try migrated.check().isEmpty)
        try migrated.close()
    }

    @Test("a migration in one transaction restarts the history and warns of it")
    func migrationInOneTransaction() throws {
        func model(_ more: AttributeDescription...) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("Track", attributes: [.string("title")]),
                EntityDescription("Note", attributes: [.string("text")] + more),
            ])
        }
        let store = try Store.open(location("sqlite"), model: try model(), options: recording)
        try store.insert("Track", rows: (1...500).map { ["title": .string("track \($0)")] })
        try store.insert("Note", rows: [["text": "a"]])
        let token = try store.historyToken()
        try store.close()
        let next = try model(.integer64("rank"))
        let report = try MigrationManager(registry: .standard).migrateInPlace(location("sqlite"), model: next)
        #expect(report.path == .oneTransaction)
        #expect(report.warnings.contains { $0.contains("history") }, "\(report.warnings)")
        let migrated = try Store.open(location("sqlite"), model: next)
        let error = #expect(throws: StoreError.self) { _ = try migrated.history(after: token) }
        #expect(error?.code == .historyExpired)
        #expect(try migrated.check().isEmpty)
        let now = try migrated.historyToken()
        try migrated.insert("Track", rows: [["title": "more"]])
        #expect(try migrated.history(after: now).map(\.changes.count) == [1])
        try migrated.close()
    }

    @Test("a dump contains no values of deleted objects", arguments: types)
    func dump(type: String) throws {
        let store = try makeStore(type)
        let text = TextSink()
        try store.dump { text.bytes += $0 }
        #expect(Data(text.bytes).firstRange(of: Data("secret-1".utf8)) == nil)
        try store.close()
    }

    @Test("a JSON store that was edited by hand restarts its history")
    func editedDocument() throws {
        let store = try makeStore("json")
        let token = try store.historyToken()
        try store.close()
        let path = folder.file("store")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let edited = text.replacingOccurrences(of: "Hejira", with: "Court")
            .split(separator: "\n").filter { !$0.hasPrefix(", \"checksum\"") }.joined(separator: "\n")
        try Data(edited.utf8).write(to: URL(fileURLWithPath: path))
        let reopened = try Store.open(location("json"))
        #expect(try reopened.fetch("Track").map { $0["title"] } == ["Court"])
        let error = #expect(throws: StoreError.self) { _ = try reopened.history(after: token) }
        #expect(error?.code == .historyExpired)
        try reopened.insert("Track", rows: [["title": "more"]])
        #expect(try reopened.history().count == 1)
        #expect(try reopened.check().isEmpty)
        try reopened.close()
    }

    @Test("a JSON journal that was not merged keeps the history")
    func unfoldedJournal() throws {
        var store: Store? = try makeStore("json")
        let history = try store?.history()
        // Deallocated without being closed, as if the program ended, so the journal stays.
        store = nil
        #expect(FileManager.default.fileExists(atPath: folder.file("store-journal")))
        let reopened = try Store.open(location("json"))
        #expect(try reopened.history() == history)
        try reopened.close()
        let again = try Store.open(location("json"))
        #expect(try again.history() == history)
        try again.close()
    }

    /// The `sqlite3` command, if any.
    private static let shell = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(
        "accepted changes of another program are one transaction of the history",
        .enabled(if: shell != nil, "needs the sqlite3 command"))
    func acceptedChanges() throws {
        let store = try makeStore("sqlite")
        let token = try store.historyToken()
        try store.close()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.shell))
        process.arguments = [folder.file("store"), "UPDATE Track SET title = 'Court'"]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        _ = try StoreMaintenance(registry: .standard).acceptExternalChanges(in: location("sqlite")) { _ in true }
        let reopened = try Store.open(location("sqlite"))
        #expect(try reopened.history(after: token).map(\.kind) == [.acceptedChanges])
        #expect(try reopened.check().isEmpty)
        try reopened.close()
    }

    @Test("a configuration turns the history on and limits it")
    func configuration() throws {
        let text = """
            { stores: { main: { type: "sqlite", path: "store",
                options: { tracksHistory: true, historyDays: 30, synchronous: "full" } } }, default: "main" }
            """
        let configuration = try folder.configuration(text)
        let options = try configuration.storeDescription().options
        #expect(options.tracksHistory == true)
        #expect(options.historyRetention == HistoryRetention(days: 30))
        #expect(options.typeOptions == ["synchronous": "full"])
    }

    @Test("the settings of a configuration include the history options of its file")
    func configurationSettings() throws {
        let text = "{stores: {main: {type: 'lmdb', path: 'x', options: {tracksHistory: true, historyDays: 30}}}}"
        let settings = try folder.configuration(text).settings
        let values = Dictionary(uniqueKeysWithValues: settings.map { ($0.key, $0.value) })
        #expect(values["stores.main.options.tracksHistory"] == "true")
        #expect(values["stores.main.options.historyDays"] == "30")
        #expect(values["stores.main.options.historyBytes"] == nil)
    }

    @Test("an SQLite store that is open elsewhere cannot turn its history on")
    func openElsewhereInSQLite() throws {
        let first = try Store.open(location("sqlite"), model: model)
        let error = #expect(throws: StoreError.self) {
            _ = try Store.open(location("sqlite"), options: recording.with { $0.timeoutSeconds = 0.05 })
        }
        #expect(error?.code == .busy)
        try first.close()
    }

    @Test("an LMDB store that is open elsewhere turns its history on for both openings")
    func openElsewhereInLMDB() throws {
        let first = try Store.open(location("lmdb"), model: model)
        let second = try Store.open(location("lmdb"), options: recording.with { $0.timeoutSeconds = 0.05 })
        try first.insert("Track", rows: [["title": "from the first"]])
        #expect(try second.history().map(\.changes.count) == [1])
        try second.close()
        try first.close()
    }
}

private final class TextSink {
    var bytes: [UInt8] = []
}
