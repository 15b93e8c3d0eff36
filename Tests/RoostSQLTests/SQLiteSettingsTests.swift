import CSQLite
import Foundation
import RoostCore
import RoostFiles
import RoostSQL
import Testing

@testable import RoostSQLite

@Suite("Settings of SQLite connections")
struct SQLiteSettingsTests {
    private let directory: TemporaryDirectory
    private let store: any PersistentStore
    private let settings: SQLiteSettings

    init() throws {
        directory = try TemporaryDirectory()
        store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.note(), options: StoreOptions())
        settings = try SQLiteSettings(StoreOptions(timeoutSeconds: 3))
    }

    @Test(
        "a connection to an SQLite store has the required value of each pragma",
        arguments: [
            ("journal_mode", .text("wal")), ("synchronous", .integer(2)), ("wal_autocheckpoint", .integer(0)),
            ("busy_timeout", .integer(3000)), ("cell_size_check", .integer(1)), ("mmap_size", .integer(0)),
            ("trusted_schema", .integer(0)), ("encoding", .text("UTF-8")), ("page_size", .integer(4096)),
            ("application_id", .integer(0x526F_7374)), ("user_version", .integer(3)), ("auto_vacuum", .integer(0)),
        ] as [(String, SQLValue)])
    func setsPragma(name: String, value: SQLValue) throws {
        let connection = try SQLiteDatabase.connect(directory.file("a"), settings: settings, access: .readWrite)
        let found = try connection.withStatement("PRAGMA \(name)") { (statement) throws(StoreError) -> SQLValue in
            try statement.step() ? try statement.value(at: 0) : .null
        }
        #expect(found == value)
        try connection.close()
        try store.close()
    }

    @Test("a connection to an SQLite store has the required configuration and limits")
    func setsConfigurationAndLimits() throws {
        let connection = try SQLiteDatabase.connect(directory.file("a"), settings: settings, access: .readWrite)
        for (option, isOn) in [
            (SQLITE_DBCONFIG_DEFENSIVE, true), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (SQLITE_DBCONFIG_ENABLE_VIEW, false), (SQLITE_DBCONFIG_DQS_DML, false), (SQLITE_DBCONFIG_DQS_DDL, false),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false), (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
        ] { #expect(try connection.isOn(option) == isOn, "option \(option)") }
        for (limit, value) in [
            (SQLITE_LIMIT_LENGTH, Int32(256 << 20)), (SQLITE_LIMIT_SQL_LENGTH, 1 << 20), (SQLITE_LIMIT_COLUMN, 2000),
            (SQLITE_LIMIT_EXPR_DEPTH, 500), (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
            (SQLITE_LIMIT_VARIABLE_NUMBER, 2100), (SQLITE_LIMIT_WORKER_THREADS, 0),
        ] { #expect(connection.limit(limit) == value, "limit \(limit)") }
        try connection.close()
        try store.close()
    }

    @Test("a connection with the option synchronous=normal does not flush each commit")
    func acceptsNormalSynchronous() throws {
        let normal = try SQLiteDatabase.connect(
            directory.file("a"), settings: try SQLiteSettings(StoreOptions(typeOptions: ["synchronous": "normal"])),
            access: .readWrite)
        #expect(try normal.integer("PRAGMA synchronous") == 1)
        try normal.close()
        try store.close()
    }

    @Test("a read-only SQLite connection refuses writes, attached databases and extensions")
    func refusesChangesWhenReadOnly() throws {
        let reader = try SQLiteDatabase.connect(directory.file("a"), settings: settings, access: .readOnly)
        #expect(try reader.integer("PRAGMA cell_size_check") == 0)
        #expect(code { try reader.execute("DELETE FROM Note") } == .permissionDenied)
        try reader.allow(.everything)
        #expect(code { try reader.execute("DELETE FROM Note") } == .readOnly)
        #expect(code { try reader.execute("SELECT \"no such column\" FROM Note") } == .internalInconsistency)
        #expect(code { try reader.execute("ATTACH ':memory:' AS x") } != nil)
        #expect(code { try reader.execute("SELECT load_extension('x')") } != nil)
        try reader.close()
        #expect(code { try reader.execute("SELECT 1") } == .closed)
        try store.close()
    }
}

@Suite("SQLite connections")
struct SQLiteConnectionTests {
    @Test(
        "each SQLite result code maps to its store error code",
        arguments: [
            (SQLITE_BUSY, StoreError.Code.busy), (SQLITE_BUSY | 2 << 8, .busy), (SQLITE_LOCKED, .busy),
            (SQLITE_PROTOCOL, .busy),
            (SQLITE_SCHEMA, .busy), (SQLITE_NOMEM, .outOfResources), (SQLITE_IOERR | 12 << 8, .outOfResources),
            (SQLITE_READONLY, .readOnly), (SQLITE_READONLY | 4 << 8, .storeReplaced), (SQLITE_INTERRUPT, .cancelled),
            (SQLITE_IOERR, .ioFailure), (SQLITE_IOERR | 4 << 8, .ioFailure), (SQLITE_IOERR | 32 << 8, .corrupted),
            (SQLITE_IOERR | 33 << 8, .corrupted), (SQLITE_IOERR | 19 << 8, .noSpace), (SQLITE_CORRUPT, .corrupted),
            (SQLITE_CORRUPT | 1 << 8, .corrupted),
            (SQLITE_NOTADB, .notAStore), (SQLITE_FULL, .noSpace), (SQLITE_CANTOPEN, .permissionDenied),
            (SQLITE_CANTOPEN | 2 << 8, .notAStore), (SQLITE_CANTOPEN | 5 << 8, .corrupted),
            (SQLITE_CANTOPEN | 6 << 8, .permissionDenied),
            (SQLITE_PERM, .permissionDenied), (SQLITE_AUTH, .permissionDenied), (SQLITE_TOOBIG, .limitExceeded),
            (SQLITE_NOLFS, .limitExceeded), (SQLITE_CONSTRAINT | 6 << 8, .duplicateObject),
            (SQLITE_CONSTRAINT | 10 << 8, .duplicateObject),
            (SQLITE_CONSTRAINT | 8 << 8, .constraintViolation), (SQLITE_CONSTRAINT | 5 << 8, .internalInconsistency),
            (SQLITE_ERROR, .internalInconsistency), (SQLITE_MISUSE, .internalInconsistency),
            (SQLITE_MISMATCH, .internalInconsistency),
            (SQLITE_RANGE, .internalInconsistency),
        ])
    func mapsResultCode(code: Int32, expected: StoreError.Code) {
        let error = StoreError.sqlite(SQLiteError(code: code), what: "Reading", path: "a")
        #expect(error.code == expected)
        #expect(error.message.contains("'a'"))
        #expect((error.underlying as? SQLiteError)?.code == code)
    }

    @Test(
        "an error on opening an SQLite file has the store error code of its system error",
        arguments: [
            (Int32(24), StoreError.Code.outOfResources), (23, .outOfResources), (2, .notFound), (30, .readOnly),
            (13, .permissionDenied),
        ])
    func mapsOpeningError(systemCode: Int32, expected: StoreError.Code) {
        #expect(SQLiteError(code: SQLITE_CANTOPEN, systemCode: systemCode).storeCode == expected)
    }

    @Test("a value larger than maximumValueBytes is refused, and nothing is written")
    func refusesLargeValue() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.note(),
            options: StoreOptions(typeOptions: ["maximumValueBytes": "1048576"]))
        let text = Value.string(String(repeating: "x", count: 1 << 20))
        #expect(
            code { try store.change { try $0.insert(ObjectID("Note", key: 1), values: ["text": text]) } }
                == .limitExceeded)
        #expect(try store.records("Note").isEmpty)
        try store.change { try $0.insert(ObjectID("Note", key: 1), values: ["text": "small"]) }
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("an SQLite statement used after its connection closed throws closed")
    func throwsAfterConnectionClosed() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.note(), options: StoreOptions())
        try store.close()
        let connection = try SQLiteConnection(
            directory.file("a"), access: .immutable(nil), settings: try SQLiteSettings(StoreOptions()))
        let statement = try connection.prepare("SELECT name FROM _roost_metadata")
        #expect(try statement.step())
        #expect(statement.columnName(at: 0) == "name")
        try connection.close()
        #expect(code { _ = try statement.step() } == .closed)
        connection.recycle(statement)
        #expect(code { _ = try connection.prepare("SELECT 1") } == .closed)
    }
}
