import CSQLite
import Foundation
import RoostCore
import RoostFiles
import RoostSQL
import Testing

@testable import RoostSQLite

@Suite("Limits of SQLite connections")
struct GuardTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try SQLiteStoreType().create(directory.location("a"), model: try Models.note(), options: StoreOptions()).close()
    }

    private func connect(
        _ access: SQLiteConnection.Access = .readWrite, options: [String: String] = [:]
    ) throws -> SQLiteConnection {
        try SQLiteDatabase.connect(
            directory.file("a"), settings: try SQLiteSettings(StoreOptions(typeOptions: options)), access: access)
    }

    @Test(
        "an SQLite connection refuses statements that Roost does not use",
        arguments: [
            "ATTACH 'other' AS other", "DETACH main", "CREATE TRIGGER t AFTER INSERT ON Note BEGIN SELECT 1; END",
            "CREATE VIEW v AS SELECT 1", "CREATE VIRTUAL TABLE v USING fts5(a)", "CREATE TEMP TABLE t (a)",
            "ALTER TABLE Note ADD COLUMN b", "DROP TABLE Note", "PRAGMA writable_schema = ON", "ANALYZE",
            "SELECT load_extension('x')", "SELECT randomblob(10)", "SELECT printf('%1000d', 1)", "VACUUM",
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c", "SAVEPOINT s",
        ])
    func refusesOtherStatements(sql: String) throws {
        let writer = try connect()
        let reader = try connect(.readOnly)
        for connection in [writer, reader] {
            #expect(throws: StoreError.self, "\(sql)") { try connection.execute(sql) }
        }
        try writer.execute("INSERT INTO Note (_id, _entity, _version, _checksum) VALUES (1, 0, 1, 0)")
        #expect(try reader.integer("SELECT COUNT(*) FROM Note") == 1)
        try reader.close()
        try writer.close()
    }

    @Test("rowTimeoutSeconds limits the time for one row, not for a statement")
    func limitsTimeForRow() throws {
        var settings = try SQLiteSettings(StoreOptions())
        #expect(settings.rowTimeout == .seconds(300))
        settings.rowTimeout = .milliseconds(20)
        let connection = try SQLiteDatabase.connect(directory.file("a"), settings: settings, access: .readOnly)
        try connection.allow(.everything)
        let numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
        #expect(code { _ = try connection.integer("\(numbers) WHERE x < 0") } == .timedOut)
        // Several hundred thousand rows exceed the time limit together, but no single row does.
        let rows = try connection.withStatement("\(numbers) LIMIT 300000") { (statement) throws(StoreError) -> Int in
            var count = 0
            while try statement.step() { count += 1 }
            return count
        }
        #expect(rows == 300_000)
        let count = try connection.withoutTimeLimit { () throws(StoreError) in
            try connection.integer("SELECT COUNT(*) FROM (\(numbers) LIMIT 500000)")
        }
        #expect(count == 500_000)
        #expect(code { _ = try connection.integer("\(numbers) WHERE x < 0") } == .timedOut)
        try connection.close()
        #expect(code { _ = try connect(.readOnly, options: ["rowTimeoutSeconds": "-1"]) } == .invalidRequest)
        let unlimited = try connect(.readOnly, options: ["rowTimeoutSeconds": "0"])
        #expect(unlimited.clock.pointee.limit == nil)
        try unlimited.close()
    }

    @Test("each limit of an SQLite connection accepts a statement below it and refuses one above it")
    func appliesLimits() throws {
        let connection = try connect(.readWrite, options: ["maximumValueBytes": "1048576"])
        try connection.allow(.everything)
        func list(_ count: Int, separator: String = ", ", _ item: (Int) -> String) -> String {
            (1...count).map(item).joined(separator: separator)
        }
        let cases: [(name: String, below: String, above: String)] = [
            ("length", "SELECT length(zeroblob(1048576))", "SELECT length(zeroblob(1048577))"),
            (
                "length of SQL", "SELECT 1 --" + String(repeating: "x", count: (1 << 20) - 11),
                "SELECT 1 --" + String(repeating: "x", count: 1 << 20)
            ),
            ("columns", "SELECT \(list(2000) { "\($0)" })", "SELECT \(list(2001) { "\($0)" })"),
            (
                "depth", "SELECT \(list(400, separator: " + ") { "\($0)" })",
                "SELECT \(list(600, separator: " + ") { "\($0)" })"
            ),
            (
                "compound", list(10, separator: " UNION ALL ") { "SELECT \($0)" },
                list(11, separator: " UNION ALL ") { "SELECT \($0)" }
            ),
            ("variables", "SELECT ?2100", "SELECT ?2101"),
            (
                "pattern", "SELECT 'a' LIKE '\(list(1000, separator: "") { _ in "%" })'",
                "SELECT 'a' LIKE '\(list(1001, separator: "") { _ in "%" })'"
            ),
            ("attached", "SELECT 1", "ATTACH ':memory:' AS other"),
            (
                "steps", "SELECT 1 IN (\(list(1000) { "\($0) + ?1" }))",
                "SELECT 1 IN (\(list(250_000) { _ in "?1" }))"
            ),
        ]
        for (name, below, above) in cases {
            #expect(throws: Never.self, "\(name)") { try connection.execute(below) }
            #expect(throws: StoreError.self, "\(name)") { try connection.execute(above) }
        }
        try connection.close()
    }

    @Test("the memory of SQLite is counted and can be limited")
    func limitsMemory() throws {
        let connection = try connect()
        #expect(sqlite3_memory_used() > 0)
        let before = SQLiteStoreType.limitMemory(toByteCount: 16 << 30)
        #expect(sqlite3_hard_heap_limit64(-1) == 16 << 30)
        #expect(SQLiteStoreType.limitMemory(toByteCount: before) == 16 << 30)
        #expect(sqlite3_hard_heap_limit64(-1) == before)
        try connection.close()
    }

    @Test("counting of SQLite's memory can be stopped only before SQLite is used")
    func stopsCountingMemory() async {
        await #expect(processExitsWith: .success) {
            let isStopped = SQLiteStoreType.stopCountingMemory()
            let directory = try TemporaryDirectory()
            let store = try SQLiteStoreType().create(
                directory.location("a"), model: try Models.note(), options: StoreOptions())
            try #require(isStopped && sqlite3_memory_used() == 0)
            try #require(!SQLiteStoreType.stopCountingMemory())
            try store.close()
        }
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let store = try SQLiteStoreType().create(
                directory.location("a"), model: try Models.note(), options: StoreOptions())
            try #require(!SQLiteStoreType.stopCountingMemory() && sqlite3_memory_used() > 0)
            try store.close()
        }
    }

    @Test("a checkpoint moves nothing while another connection writes")
    func checkpointsAfterWriter() throws {
        let writer = try connect()
        for key in 1...50 {
            try writer.execute("INSERT INTO Note (_id, _entity, _version, _checksum) VALUES (\(key), 0, 1, 0)")
        }
        let before = try directory.bytes("a")
        var other: OpaquePointer?
        defer { sqlite3_close(other) }
        try #require(sqlite3_open(directory.file("a"), &other) == SQLITE_OK)
        try #require(sqlite3_exec(other, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        #expect(try !writer.checkpoint(timeout: .milliseconds(5)))
        #expect(try directory.bytes("a") == before)
        try #require(sqlite3_exec(other, "COMMIT", nil, nil, nil) == SQLITE_OK)
        // The checkpoint restored the connection's busy timeout.
        #expect(try writer.integer("SELECT COUNT(*) FROM Note") == 50)
        #expect(try writer.integer("PRAGMA busy_timeout") == 10_000)
        #expect(try writer.checkpoint(timeout: .milliseconds(5)))
        #expect(try directory.bytes("a") != before)
        #expect(try directory.bytes("a-wal").isEmpty)
        try writer.close()
    }

    @Test("a checkpoint keeps the log until readers of older states finish")
    func checkpointsAfterReader() throws {
        let writer = try connect()
        let reader = try connect(.readOnly)
        try writer.execute("INSERT INTO Note (_id, _entity, _version, _checksum) VALUES (1, 0, 1, 0)")
        try reader.run("BEGIN")
        #expect(try reader.integer("SELECT COUNT(*) FROM Note") == 1)
        try writer.execute("INSERT INTO Note (_id, _entity, _version, _checksum) VALUES (2, 0, 1, 0)")
        #expect(try !writer.checkpoint(timeout: .milliseconds(5)))
        #expect(try reader.integer("SELECT COUNT(*) FROM Note") == 1)
        try reader.run("COMMIT")
        #expect(try writer.checkpoint(timeout: .milliseconds(5)))
        #expect(try directory.bytes("a-wal").isEmpty)
        #expect(try reader.integer("SELECT COUNT(*) FROM Note") == 2)
        try reader.close()
        try writer.close()
    }
}
