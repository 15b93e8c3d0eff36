import Foundation
import Roost
import RoostCore
import RoostImport
import RoostMigration
import Testing

#if SQLite
    import CSQLite

    @Suite("Files of imported databases")
    struct DatabaseFileTests {
        private let directory: ImportDirectory

        init() throws { directory = try ImportDirectory() }

        @Test("an import refuses a missing file, a directory and an empty file")
        func missing() throws {
            #expect(try importFailure(directory.file("absent.db")).code == .notFound)
            #expect(try importFailure(directory.path).code == .notAStore)
            #expect(FileManager.default.createFile(atPath: directory.file("empty.db"), contents: Data()))
            #expect(try importFailure(directory.file("empty.db")).message.contains("is empty"))
        }

        @Test("an import of a database refuses text and encrypted files")
        func noDatabase() throws {
            for content in [
                Data("id,name\n1,x\n".utf8), Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }),
            ] {
                #expect(FileManager.default.createFile(atPath: directory.file("x.db"), contents: content))
                let error = try importFailure(directory.file("x.db"))
                #expect(error.code == .notAStore)
                #expect(error.message.contains("or it is encrypted"))
            }
        }

        @Test("the error for an import of a Roost or Core Data store names the command to convert the store")
        func stores() throws {
            let model = try ManagedObjectModel(entities: [EntityDescription("A", attributes: [.string("x")])])
            let location = StoreLocation(type: "sqlite", path: directory.file("a.roost"))
            let store = try StoreRegistry.standard.type(named: "sqlite").create(
                location, model: model, options: StoreOptions())
            #expect(try importFailure(location.path).message.contains("roost convert"))
            try store.close()
            #expect(try importFailure(location.path).message.contains("is a Roost store"))
            let other = try directory.database("CREATE TABLE Z_METADATA (a); CREATE TABLE Z_PRIMARYKEY (a);")
            #expect(try importFailure(other).message.contains("roost convert coredata:"))
        }

        @Test("an import refuses a database without tables")
        func noTables() throws {
            let error = try importFailure(try directory.database("CREATE VIEW v AS SELECT 1;"))
            #expect(error.code == .invalidRequest)
            #expect(error.message.hasSuffix("has no tables to import."))
        }

        @Test("an import reports a damaged or truncated database as corrupted", arguments: [0, 1, 2, 3, 4])
        func damaged(page: Int) throws {
            let path = try directory.database(
                "CREATE TABLE t (a TEXT); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO t SELECT 'text ' || i FROM n;"
            )
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(bytes.count > 5 * 4096)
            if page == 0 {
                bytes.removeLast(100)
            } else {
                for place in page * 4096..<(page * 4096 + 2048) { bytes[place] = 0xA5 }
            }
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(try importFailure(path).code == .corrupted)
        }

        @Test("an import of a database with random bytes never fails as an internal inconsistency", arguments: 0..<8)
        func fuzzed(seed: Int) throws {
            let path = try directory.database(
                """
                CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'x' UNIQUE);
                CREATE TABLE c (p_id INT REFERENCES p ON DELETE CASCADE, a, b AS (a + 1)); CREATE INDEX i ON c (a);
                INSERT INTO p VALUES (1, 'x'); INSERT INTO c (p_id, a) VALUES (1, 2);
                """)
            let original = try Data(contentsOf: URL(fileURLWithPath: path))
            var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1
            for round in 0..<150 {
                var bytes = original
                for _ in 0...round % 4 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    let place = round % 2 == 0 ? 100 + Int(state >> 33) % 3996 : 3000 + Int(state >> 33) % 1096
                    bytes[place] = UInt8(truncatingIfNeeded: state >> 20)
                }
                try bytes.write(to: URL(fileURLWithPath: path))
                do throws(StoreError) {
                    _ = try DatabaseImport(sqlite: path, model: nil) { () throws(StoreError) in }
                } catch {
                    #expect(error.code != .internalInconsistency)
                }
            }
        }

        @Test("an import fails as busy while another connection locks the database")
        func busy() throws {
            let path = try directory.database("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
            let other = try TestDatabase(path)
            try other.execute("BEGIN EXCLUSIVE")
            #expect(try importFailure(path).code == .busy)
            try other.execute("COMMIT")
        }

        @Test("an import reads rows that are only in the write-ahead log")
        func writeAheadLog() throws {
            let path = try directory.database(
                "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);")
            let other = try TestDatabase(path)
            try other.execute("PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (2)")
            #expect(try Imported(path).values("t", of: "a") == [.int(1), .int(2)])
            let copy = directory.file("copy.db")
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            #expect(try Imported(copy).values("t", of: "a") == [.int(1), .int(2)])
            #expect(!FileManager.default.fileExists(atPath: copy + "-shm"))
        }

        @Test("an import through a symbolic link reads the log of the target")
        func symbolicLink() throws {
            let path = try directory.database(
                "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);")
            let other = try TestDatabase(path)
            try other.execute("PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (2)")
            try FileManager.default.createDirectory(atPath: directory.file("links"), withIntermediateDirectories: true)
            let link = directory.file("links/link.db")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
            #expect(try Imported(link).values("t", of: "a") == [.int(1), .int(2)])
        }

        @Test("an import of a database in WAL mode warns if the file has another hard link")
        func hardLink() throws {
            let path = try directory.database(
                "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);")
            try FileManager.default.linkItem(atPath: path, toPath: directory.file("other.db"))
            #expect(try Imported(path).report.warnings.count { $0.contains("other names") } == 1)
        }

        @Test("an import reads one state of a database while another connection writes", arguments: ["DELETE", "WAL"])
        func consistent(journal: String) throws {
            let path = try directory.database(
                "PRAGMA journal_mode = \(journal); CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TABLE u (a);")
            let other = try TestDatabase(path)
            _ = try other.rows("SELECT * FROM t")
            let content = try DatabaseImport(sqlite: path, model: nil) { () throws(StoreError) in }
            // With a rollback journal, the import's lock refuses the writer.
            #expect(other.code("INSERT INTO t VALUES ('text')") == (journal == "WAL" ? SQLITE_OK : SQLITE_BUSY))
            let location = StoreLocation(type: "sqlite", path: path + ".sqlite")
            let report = try MigrationManager(registry: .standard).make(.location(location), of: content, named: path)
            #expect(report.objects == 1)
        }

        @Test("an import that began without a log file fails as busy if the database changes before its rows are read")
        func changed() throws {
            let path = try directory.database(
                "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);")
            let content = try DatabaseImport(sqlite: path, model: nil) { () throws(StoreError) in }
            let other = try TestDatabase(path)
            try other.execute("INSERT INTO t VALUES ('text')")
            let location = StoreLocation(type: "sqlite", path: path + ".sqlite")
            let manager = MigrationManager(registry: .standard)
            let error = #expect(throws: StoreError.self) {
                _ = try manager.make(.location(location), of: content, named: path)
            }
            #expect(error?.code == .busy)
            #expect(!FileManager.default.fileExists(atPath: location.path))
        }

        @Test(
            "an import accepts a path with characters that URLs or SQL would quote",
            arguments: ["a?b=c#d%41.db", "naïve 'x' \"y\".db", "file:x.db"])
        func path(name: String) throws {
            let path = try directory.database("CREATE TABLE t (a); INSERT INTO t VALUES (1);", name: name)
            #expect(try Imported(path).values("t", of: "a") == [.int(1)])
        }

        @Test("an import changes neither the database nor its directory")
        func untouched() throws {
            let path = try directory.database(
                "CREATE TABLE p (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; CREATE TABLE c (a, b, FOREIGN KEY (a, b) REFERENCES p); INSERT INTO p VALUES (1, 2);"
            )
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            _ = try DatabaseImport(sqlite: path, model: nil) { () throws(StoreError) in }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["foreign.db"])
        }

        @Test("an import cancelled while it sends rows leaves no store")
        func cancelledSending() throws {
            let path = try directory.database(
                """
                CREATE TABLE t (a);
                WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO t (a) SELECT i FROM n;
                """)
            let isCancelled = Mutex(false)
            let content = try DatabaseImport(sqlite: path, model: nil) { () throws(StoreError) in
                if isCancelled.withLock({ $0 }) { throw StoreError(.cancelled, "Enough.") }
            }
            isCancelled.withLock { $0 = true }
            let location = StoreLocation(type: "sqlite", path: path + ".sqlite")
            let error = #expect(throws: StoreError.self) {
                _ = try MigrationManager(registry: .standard).make(.location(location), of: content, named: path)
            }
            #expect(error?.code == .cancelled)
            #expect(!FileManager.default.fileExists(atPath: location.path))
        }

        @Test("an import cancelled while it reads throws the caller's error", arguments: [false, true])
        func cancelled(hasJoin: Bool) throws {
            let path = try directory.database(
                """
                CREATE TABLE t (a\(hasJoin ? " UNIQUE, b REFERENCES t (a)" : ""));
                WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO t (a) SELECT i FROM n;
                """)
            let error = #expect(throws: StoreError.self) {
                _ = try DatabaseImport(sqlite: path, model: nil) { () throws(StoreError) in
                    throw StoreError(.cancelled, "Enough.")
                }
            }
            #expect(error?.code == .cancelled)
            #expect(error?.message == "Enough.")
        }
    }
#endif
