import CSQLite
import Dispatch
import Foundation
import RoostCore
import RoostFiles
import RoostSQL
import RoostSQLite
import Testing

#if canImport(Glibc)
    import Glibc

    // Glibc's Swift module lacks this function.
    @_silgen_name("setfsuid") private func setfsuid(_ user: UInt32) -> Int32
#endif

@Suite("Opening SQLite stores")
struct OpeningTests {
    let directory: TemporaryDirectory
    let type = SQLiteStoreType()

    init() throws { directory = try TemporaryDirectory() }

    private func create(_ name: String, count: Int64 = 10) throws -> any PersistentStore {
        let store = try type.create(directory.location(name), model: try Models.note(), options: StoreOptions())
        try store.change { changes in
            for key in 1...count {
                try changes.insert(ObjectID("Note", key: key), values: ["text": .string("text \(key)")])
            }
        }
        return store
    }

    /// Runs SQL with a connection without Roost's settings, as another program would.
    private func tool(_ sql: String, on name: String) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        try #require(sqlite3_open(directory.file(name), &handle) == SQLITE_OK)
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        try #require(result == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    @Test("a closed SQLite store is one file with a lock file and keeps its commits")
    func closesToOneFile() throws {
        let store = try create("a")
        #expect(try directory.names.contains("a-wal"))
        let uuid = try store.metadata().storeUUID
        try store.close()
        try store.close()
        #expect(try directory.names == ["a", "a.lock"])
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("a"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(type.recognizes(fileAt: directory.file("a")))
        #expect(try type.metadata(at: directory.location("a"), options: StoreOptions()).storeUUID == uuid)
        let reopened = try type.open(directory.location("a"), options: StoreOptions(model: try Models.note()))
        #expect(try reopened.records("Note").count == 10)
        #expect(try reopened.metadata().model == Models.note())
        try reopened.close()
    }

    /// Writes a file of the kind `name`, which is not a store of this version.
    private func writeOtherFile(_ name: String) throws {
        switch name {
        case "foreign": try tool("CREATE TABLE t(a); INSERT INTO t VALUES (1)", on: name)
        case "empty": try directory.write([], to: name)
        case "text": try directory.write(Array("hello".utf8), to: name)
        default:
            try create("a").close()
            var bytes = try directory.bytes("a")
            bytes[63] = name == "newer" ? 99 : 1
            try directory.write(bytes, to: name)
        }
    }

    @Test(
        "a file that is not an SQLite store of a known format is refused and unchanged",
        arguments: [
            ("foreign", .notAStore), ("empty", .notAStore), ("text", .notAStore), ("newer", .unsupportedVersion),
            ("older", .unsupportedVersion),
        ] as [(String, StoreError.Code)])
    func refusesOtherFile(name: String, expected: StoreError.Code) throws {
        try writeOtherFile(name)
        let before = try directory.bytes(name)
        #expect(code { _ = try type.open(directory.location(name), options: StoreOptions()) } == expected)
        #expect(try directory.bytes(name) == before)
        #expect(try !directory.names.contains(name + "-wal"))
        if name == "foreign" { #expect(!type.recognizes(fileAt: directory.file(name))) }
    }

    @Test("a missing file, a missing directory and a directory are refused as SQLite stores")
    func refusesMissingFile() throws {
        let open = { (name: String) in
            code { _ = try self.type.open(self.directory.location(name), options: StoreOptions()) }
        }
        #expect(open("nothing") == .notFound)
        #expect(open("no/where") == .missingDirectory)
        try FileManager.default.createDirectory(atPath: directory.file("folder"), withIntermediateDirectories: false)
        #expect(open("folder") == .notAStore)
        #expect(!type.recognizes(fileAt: directory.file("folder")))
    }

    @Test("an SQLite store is not opened with another model or an unknown option, nor created again")
    func refusesWrongOptions() throws {
        try create("a").close()
        #expect(
            code {
                _ = try type.open(
                    directory.location("a"), options: StoreOptions(model: try Models.note("Note", attribute: "body")))
            } == .modelMismatch)
        #expect(
            code { _ = try type.create(directory.location("a"), model: try Models.note(), options: StoreOptions()) }
                == .alreadyExists)
        #expect(
            code {
                _ = try type.open(directory.location("a"), options: StoreOptions(typeOptions: ["synchronus": "full"]))
            }
                == .invalidRequest)
        #expect(try directory.names.filter { $0.contains("wal") || $0.contains("tmp") } == [])
        let again = try type.open(directory.location("a"), options: StoreOptions())
        #expect(try again.findings() == [])
        try again.close()
    }

    @Test(
        "an SQLite store with a foreign schema object is refused and unchanged",
        arguments: [
            "CREATE TRIGGER x AFTER INSERT ON Note BEGIN DELETE FROM Note; END", "CREATE VIEW x AS SELECT 1",
            "ALTER TABLE Note ADD COLUMN x INTEGER GENERATED ALWAYS AS (1)", "ALTER TABLE Note ADD COLUMN extra TEXT",
            "CREATE UNIQUE INDEX x ON Note(text)", "DROP TABLE _roost_keys", "CREATE VIRTUAL TABLE x USING fts5(a)",
            "DROP TABLE Note; CREATE VIEW Note AS SELECT 1 AS _id",
        ])
    func refusesForeignSchema(sql: String) throws {
        try create("a").close()
        try tool(sql, on: "a")
        let before = try directory.bytes("a")
        #expect(code { _ = try type.open(directory.location("a"), options: StoreOptions()) } == .corrupted)
        #expect(try directory.bytes("a") == before)
    }

    @Test("tables and plain indexes of other programs in a store are accepted")
    func acceptsForeignTables() throws {
        try create("a").close()
        try tool(
            "CREATE TABLE mine(a); CREATE INDEX mine_too ON Note(text); CREATE UNIQUE INDEX u ON mine(a); ANALYZE",
            on: "a")
        let store = try type.open(directory.location("a"), options: StoreOptions())
        try store.change { try $0.insert(ObjectID("Note", key: 50), values: ["text": "x"]) }
        #expect(try store.findings() == [])
        try store.close()
    }

    // MARK: Rows that another tool changed

    /// Creates a store of ten notes, in which another tool gave note 3 another text and note 5 a
    /// text that is not UTF-8.
    private func createWithEditedRows() throws {
        try create("a").close()
        try tool(
            "UPDATE Note SET text = 'edited' WHERE _id = 3; UPDATE Note SET text = CAST(X'FF' AS TEXT) WHERE _id = 5",
            on: "a")
    }

    @Test("rows that another tool changed are damaged, and a cursor continues after them")
    func readsAfterEditedRows() throws {
        try createWithEditedRows()
        let store = try type.open(directory.location("a"), options: StoreOptions())
        let snapshot = try store.snapshot()
        let cursor = try snapshot.records(of: "Note", after: nil)
        var batch = RecordBatch(model: store.model)
        var keys: [Int64] = []
        var damaged: [ObjectID?] = []
        while true {
            do {
                guard try cursor.next(into: &batch) else { break }
                keys += (0..<batch.count).map { batch.key(at: $0) }
            } catch {
                #expect(error.code == .corrupted)
                damaged.append(error.damagedObject)
            }
        }
        #expect(keys == [1, 2, 4, 6, 7, 8, 9, 10])
        #expect(damaged == [ObjectID("Note", key: 3), ObjectID("Note", key: 5)])
        #expect(code { _ = try store.collect(snapshot.records(with: [ObjectID("Note", key: 3)])) } == .corrupted)
        #expect(code { _ = try snapshot.record(with: ObjectID("Note", key: 3), into: &batch) } == .corrupted)
        #expect(code { _ = try store.collect(snapshot.fetch(FetchRequest("Note"))) } == .corrupted)
        snapshot.close()
        let findings = try store.integrityFindings().map(\.message)
        #expect(findings.contains { $0.contains("Note/p3") })
        #expect(findings.contains { $0.contains("Note/p5") })
        try store.close()
    }

    @Test(
        "a row that another tool changed can be neither updated nor deleted",
        arguments: [(3, false), (3, true), (5, false), (5, true)] as [(Int64, Bool)])
    func refusesToWriteEditedRow(key: Int64, isDeleted: Bool) throws {
        try createWithEditedRows()
        let store = try type.open(directory.location("a"), options: StoreOptions())
        let recorded = try store.digest()
        do {
            try store.change {
                if isDeleted {
                    $0.delete(ObjectID("Note", key: key), version: 1)
                } else {
                    try $0.update(ObjectID("Note", key: key), version: 1, values: ["text": "healed"])
                }
                try $0.insert(ObjectID("Note", key: 50), values: [:])
            }
            Issue.record("the change of Note/p\(key) was written")
        } catch let error as StoreError {
            #expect(error.code == .corrupted && error.damagedObject == ObjectID("Note", key: key), "\(error)")
        }
        #expect(try store.digest() == recorded)
        try store.close()
    }

    @Test("with acceptsChanges, a row that another tool changed is read and written if it is valid")
    func acceptsEditedRow() throws {
        try createWithEditedRows()
        let accepting = try type.open(
            directory.location("a"), options: StoreOptions().with { $0.acceptsChanges = true })
        let view = try accepting.snapshot()
        let edited = try accepting.collect(view.records(with: [ObjectID("Note", key: 3)]))
        #expect(try edited.map { try $0.value("text") } == ["edited"])
        view.close()
        try accepting.change { try $0.update(ObjectID("Note", key: 3), version: 1, values: ["text": "healed"]) }
        #expect(code { try accepting.change { $0.delete(ObjectID("Note", key: 5), version: 1) } } == .corrupted)
        try accepting.close()
        try tool("UPDATE Note SET text = 'text 5' WHERE _id = 5", on: "a")
        let sound = try type.open(directory.location("a"), options: StoreOptions())
        #expect(try sound.findings() == [])
        try sound.close()
    }

    @Test("text in an SQLite store is refused if and only if it is not UTF-8")
    func refusesInvalidText() throws {
        let store = try create("a", count: 1)
        try store.close()
        let samples: [[UInt8]] = [
            [0xC3, 0xA9], [0xC1, 0x81], [0xE0, 0x9F, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
            [0xEF, 0xBF, 0xBF],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80],
            [0x80], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
            [0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0xC3, 0xA9, 0x41], [0xC3, 0x41],
            [0xE2, 0x82, 0x41], [0xF0, 0x9F, 0x98, 0x41], [0xFF], Array("日本語 été 😀 plain".utf8),
        ]
        for (index, bytes) in samples.enumerated() {
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            try tool(
                "INSERT INTO Note (_id, _entity, _version, _checksum, text) VALUES (\(index + 100), 0, 1, 0, CAST(X'\(hex)' AS TEXT))",
                on: "a")
        }
        let reopened = try type.open(
            directory.location("a"), options: StoreOptions(isReadOnly: true).with { $0.acceptsChanges = true })
        let snapshot = try reopened.snapshot()
        for (index, bytes) in samples.enumerated() {
            let isValid = String(validating: bytes, as: UTF8.self) != nil
            var found: [Record] = []
            let failure = code {
                found = try reopened.collect(snapshot.records(with: [ObjectID("Note", key: Int64(index + 100))]))
            }
            #expect(failure == (isValid ? nil : .corrupted), "\(bytes)")
            if isValid {
                #expect(try found.map { try $0.value("text") } == [.string(String(decoding: bytes, as: UTF8.self))])
            }
        }
        snapshot.close()
        try reopened.close()
    }

    @Test("a log left by a crash is recovered by writers, and readers change nothing")
    func recoversLog() throws {
        let store = try create("a")
        for name in ["a", "a-wal"] { try directory.write(try directory.bytes(name), to: "b" + name.dropFirst()) }
        for name in ["a", "a-wal"] { try directory.write(try directory.bytes(name), to: "c" + name.dropFirst()) }
        try store.close()
        let (before, log) = (try directory.bytes("b"), try directory.bytes("b-wal"))
        #expect(log.count > 0)
        let reader = try type.open(directory.location("b"), options: StoreOptions(isReadOnly: true))
        #expect(try reader.records("Note").count == 10)
        try reader.close()
        #expect(try directory.bytes("b") == before)
        #expect(try directory.bytes("b-wal") == log)
        for name in ["b", "c"] {
            let recovered = try type.open(directory.location(name), options: StoreOptions())
            #expect(try recovered.records("Note").count == 10)
            #expect(try recovered.findings() == [])
            try recovered.close()
        }
        #expect(try directory.names == ["a", "a.lock", "b", "b.lock", "c", "c.lock"])
    }

    @Test("an incomplete transaction of another program is rolled back by a writer only")
    func rollsBackForeignTransaction() throws {
        try create("a").close()
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        try #require(sqlite3_open(directory.file("a"), &handle) == SQLITE_OK)
        let sql = """
            PRAGMA journal_mode = DELETE; CREATE TABLE other (x); PRAGMA cache_size = 1; BEGIN;
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO other SELECT zeroblob(900) FROM n;
            """
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
        // Copies the files as a kill would leave them. The transaction exceeds the program's cache,
        // so the file already has a part of the transaction.
        for suffix in ["", "-journal"] { try directory.write(try directory.bytes("a" + suffix), to: "b" + suffix) }
        try #require(sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) == SQLITE_OK)

        let (file, journal) = (try directory.bytes("b"), try directory.bytes("b-journal"))
        let error = #expect(throws: StoreError.self) {
            try type.open(directory.location("b"), options: StoreOptions(isReadOnly: true))
        }
        #expect(error?.message.contains("open it for writing once") == true, "\(error?.message ?? "")")
        #expect(try directory.bytes("b") == file && directory.bytes("b-journal") == journal)
        try type.open(directory.location("b"), options: StoreOptions()).close()
        let store = try type.open(directory.location("b"), options: StoreOptions(isReadOnly: true))
        #expect(try store.records("Note").count == 10)
        try store.close()
    }

    @Test("a rollback journal of another store or state is refused and kept")
    func refusesForeignJournal() throws {
        try create("a").close()
        try create("b", count: 3).close()
        let older = try directory.bytes("a")
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        try #require(sqlite3_open(directory.file("a"), &handle) == SQLITE_OK)
        let sql = """
            PRAGMA journal_mode = DELETE; CREATE TABLE other (x); PRAGMA cache_size = 1; BEGIN;
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO other SELECT zeroblob(900) FROM n;
            """
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
        let journal = try directory.bytes("a-journal")
        try #require(sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) == SQLITE_OK)
        for file in [older, try directory.bytes("b")] {
            try directory.write(file, to: "c")
            try directory.write(journal, to: "c-journal")
            for isReadOnly in [true, false] {
                let error = #expect(throws: StoreError.self) {
                    try type.open(directory.location("c"), options: StoreOptions(isReadOnly: isReadOnly)).close()
                }
                #expect(error?.code == .notAStore && error?.message.contains("c-journal'") == true)
            }
            #expect(code { try type.destroy(directory.location("c")) } == .notAStore)
            #expect(
                code { try type.replace(directory.location("c"), with: directory.location("b"), overwriting: true) }
                    == .notAStore
            )
            #expect(try directory.bytes("c") == file && directory.bytes("c-journal") == journal)
        }
    }

    @Test("a reader of an SQLite store changes no byte and cannot write")
    func changesNothingWhenReadOnly() throws {
        try create("a").close()
        let before = try directory.bytes("a")
        let reader = try type.open(directory.location("a"), options: StoreOptions(isReadOnly: true))
        #expect(try reader.records("Note").count == 10)
        #expect(code { try reader.change { try $0.insert(ObjectID("Note", key: 90), values: [:]) } } == .readOnly)
        #expect(code { _ = try reader.reserveKeys(1, for: "Note") } == .readOnly)
        #expect(code { _ = try reader.bulkLoader(BulkLoadOptions()) } == .readOnly)
        #expect(try reader.findings() == [])
        try reader.close()
        #expect(try directory.bytes("a") == before)
        #expect(try directory.names == ["a", "a.lock"])
    }

    @Test("two open instances of an SQLite store see each other's commits and locks")
    func sharesStore() throws {
        let one = try create("a", count: 1)
        let two = try type.open(directory.location("a"), options: StoreOptions(timeoutSeconds: 0.05))
        try two.change { try $0.update(ObjectID("Note", key: 1), version: 1, values: ["text": "two"]) }
        #expect(
            code { try one.change { try $0.update(ObjectID("Note", key: 1), version: 1, values: ["text": "one"]) } }
                == .conflict)
        let loader = try one.bulkLoader(BulkLoadOptions())
        #expect(code { try two.change { try $0.insert(ObjectID("Note", key: 2), values: [:]) } } == .busy)
        #expect(try two.records("Note").count == 1)
        loader.abandon()
        try two.change { try $0.insert(ObjectID("Note", key: 2), values: [:]) }
        #expect(code { try type.destroy(directory.location("a")) } == .busy)
        try one.close()
        #expect(try directory.names.contains("a-wal"))
        #expect(try two.records("Note").count == 2)
        try two.close()
        #expect(try directory.names == ["a", "a.lock"])
    }

    @Test("many threads write to and read an SQLite store at once")
    func worksOnThreads() async throws {
        let store = try create("a", count: 1)
        let other = try type.open(directory.location("a"), options: StoreOptions(timeoutSeconds: 60))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    let opener = thread % 2 == 0 ? store : other
                    for _ in 0..<25 {
                        let key = try opener.reserveKeys(1, for: "Note").lowerBound
                        try opener.change {
                            try $0.insert(ObjectID("Note", key: key), values: ["text": .string("\(key)")])
                        }
                        _ = try opener.records("Note")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.records("Note").count == 101)
        #expect(try store.findings() == [])
        try other.close()
        try store.close()
        #expect(try directory.names == ["a", "a.lock"])
    }

    @Test("the log of an SQLite store stays small over many large commits")
    func limitsLog() throws {
        let store = try create("a")
        let text = Value.string(String(repeating: "x", count: 100_000))
        for version in UInt32(1)...200 {
            try store.change { try $0.update(ObjectID("Note", key: 1), version: version, values: ["text": text]) }
        }
        #expect(try directory.bytes("a-wal").count < 10 << 20)
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("overlapping readers do not make the log grow without limit")
    func limitsLogBesideReaders() throws {
        let store = try create("a")
        let (isOver, failure) = (Mutex(false), Mutex<(any Error)?>(nil))
        // Readers are threads, because blocking tasks could keep the writer's task from running.
        let readers = DispatchGroup()
        for _ in 0..<3 {
            DispatchQueue.global().async(group: readers) {
                do {
                    // Each snapshot is opened before the previous one closes.
                    var last = try store.snapshot()
                    while !isOver.withLock({ $0 }) {
                        let next = try store.snapshot()
                        _ = try store.collect(next.records(of: "Note", after: nil))
                        last.close()
                        last = next
                    }
                    last.close()
                } catch {
                    failure.withLock { $0 = error }
                }
            }
        }
        let text = Value.string(String(repeating: "x", count: 1 << 20))
        var largest = 0
        do {
            defer {
                isOver.withLock { $0 = true }
                readers.wait()
            }
            for version in UInt32(1)...160 {
                try store.change { try $0.update(ObjectID("Note", key: 1), version: version, values: ["text": text]) }
                largest = max(largest, try StoreFile.byteCount(at: directory.file("a-wal")))
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        #expect(largest < 64 << 20, "\(largest)")
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("an SQLite file replaced while open is noticed before a write and before a snapshot")
    func noticesReplacement() throws {
        let store = try create("a")
        try create("b", count: 2).close()
        try FileManager.default.removeItem(atPath: directory.file("a"))
        try FileManager.default.moveItem(atPath: directory.file("b"), toPath: directory.file("a"))
        #expect(code { try store.change { try $0.insert(ObjectID("Note", key: 90), values: [:]) } } == .storeReplaced)
        #expect(code { _ = try store.snapshot() } == .storeReplaced)
    }

    @Test("replacing or destroying an SQLite store removes its log")
    func replacesStore() throws {
        let old = try create("a", count: 3)
        try create("b", count: 5).close()
        #expect(
            code { try type.replace(directory.location("a"), with: directory.location("b"), overwriting: true) }
                == .busy)
        // A crashed process leaves the log of the old store.
        for name in ["a", "a-wal"] { try directory.write(try directory.bytes(name), to: "c" + name.dropFirst()) }
        try old.close()
        #expect(
            code { try type.replace(directory.location("c"), with: directory.location("b"), overwriting: false) }
                == .alreadyExists)
        try type.replace(directory.location("c"), with: directory.location("b"), overwriting: true)
        #expect(try directory.names == ["a", "a.lock", "c", "c.lock"])
        let store = try type.open(directory.location("c"), options: StoreOptions())
        #expect(try store.records("Note").count == 5)
        #expect(try store.findings() == [])
        try store.close()
        try directory.write([1, 2, 3], to: "text")
        #expect(
            code { try type.replace(directory.location("text"), with: directory.location("a"), overwriting: true) }
                == .notAStore)
        #expect(code { try type.destroy(directory.location("text")) } == .notAStore)
        for name in ["a", "c"] { try type.destroy(directory.location(name)) }
        try type.destroy(directory.location("never"))
        #expect(try directory.names.filter { $0 != "text.lock" } == ["text"])
    }

    @Test(
        "entities and attributes can have names that look like SQL",
        arguments: [
            "order", "select", "a\"; DROP TABLE _roost_keys; --", "_roost_keys", "sqlite_x", "Nöte", "a'b", "rowid",
            "_id", "%s?1",
        ])
    func acceptsSQLNames(name: String) throws {
        let model: ManagedObjectModel
        do throws(StoreError) {
            model = try ManagedObjectModel(
                entities: [EntityDescription(name, attributes: [AttributeDescription(name, type: .string)])])
        } catch {
            // A name that models refuse cannot occur in a store.
            #expect(error.code == .invalidModel)
            return
        }
        let store = try type.create(directory.location("a"), model: model, options: StoreOptions())
        try store.change { try $0.insert(ObjectID(EntityName(name), key: 1), values: [name: "value"]) }
        #expect(
            try store.keys(FetchRequest(EntityName(name), where: .equal(name, to: "value"), sortedBy: [.init(name)]))
                == [1]
        )
        #expect(try store.findings() == [])
        try store.close()
        let reopened = try type.open(directory.location("a"), options: StoreOptions())
        #expect(try reopened.records(EntityName(name)).map { try $0.value(name) } == ["value"])
        try reopened.close()
    }

    @Test(
        "a store can have a file name that SQLite would interpret",
        arguments: [":memory:", "file:a?mode=memory", "a b%20c"])
    func acceptsSpecialPaths(name: String) throws {
        let store = try create(name)
        try store.close()
        #expect(try directory.names.sorted() == [name, name + ".lock"].sorted())
    }

    #if canImport(Glibc)
        @Test(
            "an SQLite store in a read-only directory can be read until a writer changes it",
            .enabled(if: geteuid() == 0), arguments: [true, false])
        func readsInReadOnlyDirectory(canLock: Bool) throws {
            let store = try create("a", count: 3_000)
            try store.close()
            let names = try directory.names
            #expect(names.contains("a.lock"))
            #expect(chmod(directory.file("a"), 0o644) == 0)
            #expect(chmod(directory.file("a.lock"), canLock ? 0o644 : 0o600) == 0)
            #expect(chmod(directory.path, 0o755) == 0)
            // `setfsuid` changes the file access of this thread only. No other thread opens files here.
            let user = setfsuid(65534)
            defer { _ = setfsuid(UInt32(bitPattern: user)) }
            let reader = try type.open(directory.location("a"), options: StoreOptions(isReadOnly: true))
            let snapshot = try reader.snapshot()
            #expect(try snapshot.count(FetchRequest("Note")) == 3_000)
            #expect(try directory.names == names)
            let cursor = try snapshot.fetch(FetchRequest("Note"))
            var batch = RecordBatch(model: reader.model)
            #expect(try cursor.next(into: &batch) && batch.count < 3_000)
            // A user with write access changes the log, and later, on closing, the file.
            _ = setfsuid(UInt32(bitPattern: user))
            let writer = try type.open(directory.location("a"), options: StoreOptions())
            try writer.change { changes in
                for key in Int64(1)...3_000 {
                    try changes.update(ObjectID("Note", key: key), version: 1, values: ["text": "changed"])
                }
            }
            #expect(code { _ = try reader.snapshot() } == .storeReplaced)
            try writer.close()
            // If the reader could lock the store, the writer left the log, so the snapshot is still
            // valid.
            #expect(code { while try cursor.next(into: &batch) {} } == (canLock ? nil : .storeReplaced))
            #expect(
                code { _ = try snapshot.records(with: [ObjectID("Note", key: 2_999)]).next(into: &batch) }
                    == (canLock ? nil : .storeReplaced))
            #expect(code { _ = try reader.snapshot() } == .storeReplaced)
            snapshot.close()
            try reader.close()
        }
    #endif
}
