import CSV
import Foundation
import Roost
import RoostCore
import Testing

/// Tests of the content that is read from CSV files.
@Suite("CSV files")
struct CSVReadingTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("csv-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func open(_ text: String, model: ManagedObjectModel? = nil) throws -> any PersistentStore {
        let file = folder.appendingPathComponent("file.csv")
        try Data(text.utf8).write(to: file)
        return try CSVStoreType().open(StoreLocation(type: "csv", path: file.path), options: StoreOptions(model: model))
    }

    private func rows(_ cursor: any RecordCursor, model: ManagedObjectModel) throws -> [[String: Value]] {
        var (batch, rows) = (RecordBatch(model: model), [[String: Value]]())
        while try cursor.next(into: &batch) { rows += (0..<batch.count).map { batch.values(at: $0) } }
        return rows
    }

    private func error(_ body: () throws -> Void) -> StoreError? {
        do { try body() } catch { return error as? StoreError }
        return nil
    }

    private func cities() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "City", attributes: [.string("name"), .integer32("people"), .double("north"), .boolean("capital")])
        ])
    }

    @Test("CSV rows, quoted as in RFC 4180, are read as objects of entity Row")
    func quoting() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try open("name,note\r\nAda,\"one, \"\"two\"\"\nthree\"\r\n,\r\nBob,last")
        let snapshot = try store.snapshot()
        let expected: [[String: Value]] = [
            ["name": "Ada", "note": "one, \"two\"\nthree"], [:], ["name": "Bob", "note": "last"],
        ]
        #expect(try rows(snapshot.records(of: "Row", after: nil), model: store.model) == expected)
        #expect(
            try rows(snapshot.records(of: "Row", after: ObjectID("Row", key: 2)), model: store.model) == [expected[2]])
        #expect(
            try rows(
                snapshot.records(with: [ObjectID("Row", key: 3), ObjectID("Row", key: 9), ObjectID("Row", key: 1)]),
                model: store.model)
                == [expected[2], expected[0]])
        #expect(try snapshot.lastKey(of: "Row") == 3)
        #expect(try checkStore(store).isEmpty)
        #expect(try snapshot.computeTally().digest.objectCount == 3)
        #expect(try store.metadata() == store.metadata())
    }

    @Test("a CSV file opened with a model has the model's types and answers fetches")
    func types() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = "capital,name,north,people\ntrue,Paris,48.86,2103000\nfalse,Lyon,45.76,522250\n,Ys,,\n"
        let store = try open(text, model: try cities())
        let snapshot = try store.snapshot()
        let large = FetchRequest("City", where: .path("people") > 1000, sortedBy: [.init("north")])
        #expect(
            try rows(snapshot.fetch(large), model: store.model) == [
                ["name": "Lyon", "people": 522_250, "north": 45.76, "capital": false],
                ["name": "Paris", "people": 2_103_000, "north": 48.86, "capital": true],
            ])
        #expect(try snapshot.count(large) == 2)
        #expect(try snapshot.count(FetchRequest("City")) == 3)
    }

    @Test("reading a CSV file reports each row that does not fit the model, and returns all others")
    func damage() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = "capital,name,north,people\n,A,,1\n,B,,many\n,C,,3\n,D\n,E,,5000000000\n,F,,6\n"
        let store = try open(text, model: try cities())
        let cursor = try store.snapshot().records(of: "City", after: nil)
        var (batch, names, damaged) = (RecordBatch(model: store.model), [Value](), [ObjectID?]())
        var isMore = true
        while isMore {
            do throws(StoreError) {
                isMore = try cursor.next(into: &batch)
                for index in 0..<batch.count { names.append(try batch.value("name", at: index)) }
            } catch {
                #expect(error.code == .corrupted)
                #expect(!error.message.contains("many"))
                damaged.append(error.damagedObject)
            }
        }
        #expect(names == ["A", "C", "F"])
        #expect(damaged == [ObjectID("City", key: 2), ObjectID("City", key: 4), ObjectID("City", key: 5)])
        #expect(try checkStore(store).count == 3)
    }

    @Test("a file that is not CSV or does not fit the model is refused")
    func refusals() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(error { _ = try open("") }?.code == .notAStore)
        #expect(error { _ = try open("a,\n1,2") }?.code == .notAStore)
        #expect(error { _ = try open("a,a\n1,2") }?.code == .notAStore)
        #expect(error { _ = try open("name\nAda", model: try cities()) }?.code == .modelMismatch)
        let missing = StoreLocation(type: "csv", path: folder.path + "/missing.csv")
        #expect(error { _ = try CSVStoreType().open(missing, options: StoreOptions()) }?.code == .notFound)
    }

    @Test("a CSV store refuses writes and, when closed, every call except close")
    func lifeCycle() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try open("name\nAda\nBob\n")
        let snapshot = try store.snapshot()
        let cursor = try snapshot.records(of: "Row", after: nil)
        #expect(store.isReadOnly)
        for _ in 0..<2 {
            let code: StoreError.Code = error { _ = try store.metadata() } == nil ? .unsupported : .closed
            #expect(error { _ = try store.commit(ChangeSet(model: store.model)) }?.code == code)
            #expect(error { _ = try store.reserveKeys(1, for: "Row") }?.code == code)
            #expect(error { _ = try store.bulkLoader(BulkLoadOptions()) }?.code == code)
            try store.close()
        }
        var batch = RecordBatch(model: store.model)
        #expect(error { _ = try cursor.next(into: &batch) }?.code == .closed)
        #expect(error { _ = try snapshot.count(FetchRequest("Row")) }?.code == .closed)
        #expect(error { _ = try store.integrityFindings() }?.code == .closed)
    }

    @Test("taking a snapshot of a CSV store fails with `storeReplaced` after the file's columns change")
    func replaced() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try open("name\nAda\n")
        let before = try store.snapshot()
        try Data("name\nAda\nBob\n".utf8).write(to: URL(fileURLWithPath: store.location.path))
        #expect(try before.count(FetchRequest("Row")) == 1)
        #expect(try store.snapshot().count(FetchRequest("Row")) == 2)
        try Data("first,last\nAda,L\n".utf8).write(to: URL(fileURLWithPath: store.location.path))
        #expect(error { _ = try store.snapshot() }?.code == .storeReplaced)
    }
}
