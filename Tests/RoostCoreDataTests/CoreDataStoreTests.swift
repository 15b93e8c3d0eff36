import RoostCore

@testable import RoostMigration

#if SQLite
    import Foundation
    import Roost
    @testable import RoostAppleModels
    @testable import RoostCoreData
    import Testing

    @Suite("Core Data stores")
    struct CoreDataStoreTests {
        static let row = CoreDataLayoutTests.row

        static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Item",
                    attributes: [AttributeDescription("n", type: .integer64), AttributeDescription("s", type: .string)])
            ])
        }

        static func store(_ more: String = "", metadata: [(String, TestPlist)] = []) throws -> AppleStore {
            try AppleStore(
                ["Item"], metadata: metadata,
                sql:
                    "\(more.hasPrefix("PRAGMA") ? more : "") CREATE TABLE ZITEM (\(row), ZN INTEGER, ZS VARCHAR); INSERT INTO ZITEM VALUES (1, 1, 1, 10, 'a'), (2, 1, 3, 20, 'b'), (42, 1, 1, NULL, NULL); \(more.hasPrefix("PRAGMA") ? "" : more)"
            )
        }

        @Test("a Core Data store's keys, versions and last key are those of the file")
        func keysAndVersions() throws {
            let opened = try Self.store("UPDATE Z_PRIMARYKEY SET Z_MAX = 50").opened(try Self.model())
            let snapshot = try opened.snapshot()
            let cursor = try snapshot.records(of: "Item", after: nil)
            var batch = RecordBatch(model: snapshot.model)
            #expect(try cursor.next(into: &batch))
            #expect(
                (0..<3).map { batch.key(at: $0) } == [1, 2, 42] && (0..<3).map { batch.version(at: $0) } == [1, 3, 1])
            #expect(try snapshot.lastKey(of: "Item") == 50)
            #expect(try snapshot.recordedTally() == nil)
            #expect(try snapshot.computeTally().digest.objectCount == 3)
        }

        @Test("a Core Data store's metadata have its UUID and only the application's keys")
        func metadata() throws {
            let opened = try Self.store(metadata: [
                ("NSStoreType", .string("SQLite")), ("_NSAutoVacuumLevel", .string("2")), ("text", .string("tä")),
                ("number", .int(-5)), ("real", .real(0.5)),
                ("flag", .bool(true)), ("date", .date(9)), ("data", .data([1, 2])),
                ("list", .array([.int(1), .dict([("k", .string("v"))])])),
                ("NSStoreModelVersionHashes", .dict([("Item", .data([7]))])),
            ]).opened(try Self.model())
            let metadata = try opened.store.metadata()
            #expect(metadata.storeUUID.description == AppleStore.uuid && metadata.type == "coredata")
            #expect(
                metadata.userMetadata == [
                    "text": .string("tä"), "number": .int(-5), "real": .double(0.5), "flag": .bool(true),
                    "date": .date(Date(timeIntervalSinceReferenceDate: 9)),
                    "data": .data(Data([1, 2])), "list": .array([.int(1), .dictionary(["k": .string("v")])]),
                ])
            #expect(opened.store.appleVersionHashes == ["Item": [7]])
        }

        @Test("a Core Data store answers counts and sorted fetches, and refuses an unknown entity")
        func requests() throws {
            let snapshot = try Self.store().opened(try Self.model()).snapshot()
            #expect(try snapshot.count(FetchRequest("Item", where: .greater("n", than: .int(10)))) == 1)
            let cursor = try snapshot.fetch(FetchRequest("Item", sortedBy: [.init("s", ascending: false)], limit: 2))
            var batch = RecordBatch(model: snapshot.model)
            #expect(try cursor.next(into: &batch))
            #expect((0..<batch.count).map { batch.key(at: $0) } == [2, 1])
            #expect(try failure { try snapshot.fetch(FetchRequest("Nothing")) }.code == .unknownEntity)
        }

        @Test("a Core Data store is read with the model in its own file")
        func modelCache() throws {
            let files = try AppleStore(
                ["Animal", "Cat < Animal", "Owner"],
                sql: """
                    CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB); INSERT INTO Z_MODELCACHE VALUES (\(AppleStore.hex(deflateStored(sampleArchive()))));
                    CREATE TABLE ZANIMAL (\(Self.row), ZCOUNT INTEGER, ZLIVES INTEGER, ZOWNER INTEGER, Z_FOK_OWNER INTEGER, ZBORN TIMESTAMP, ZWEIGHT DECIMAL, ZNAME VARCHAR, ZPHOTO BLOB);
                    CREATE TABLE ZOWNER (\(Self.row), ZTOTAL INTEGER); INSERT INTO ZOWNER VALUES (3, 3, 1, 2);
                    INSERT INTO ZANIMAL VALUES (1, 2, 1, 5, 1, 3, 512, 0, 4.5, 'tom', x'0142');
                    """)
            let found = try files.opened(nil).snapshot().objects("Cat")
            #expect(
                found == [
                    1: [
                        "count": .int(5), "lives": .bool(true), "owner": .objectID(ObjectID("Owner", key: 3)),
                        "owner#order": .int(512), "born": .date(Date(timeIntervalSinceReferenceDate: 0)),
                        "weight": .decimal(try #require(Decimal(string: "4.5"))), "name": "tom",
                        "photo": .data(Data([0x42])),
                    ]
                ])
        }

        @Test("a Core Data store without a model cache cannot be opened without a model")
        func missingModel() throws {
            let error = try failure { try Self.store().open(nil) }
            #expect(error.code == .invalidRequest && error.message.contains("--model"))
        }

        @Test("the option `model` of a Core Data store takes the path of a model file")
        func modelOption() throws {
            let files = try Self.store()
            files.close()
            try files.directory.write(
                "<model><entity name=\"Item\"><attribute name=\"n\" optional=\"YES\" attributeType=\"Integer 64\"/><attribute name=\"s\" optional=\"YES\" attributeType=\"String\"/></entity></model>",
                to: "M.xcdatamodel/contents")
            let location = StoreLocation(type: "coredata", path: files.path)
            let store = try CoreDataStoreType().open(
                location, options: StoreOptions(typeOptions: ["model": files.directory.file("M.xcdatamodel")]))
            #expect(try store.snapshot().objects("Item").count == 3)
        }

        @Test("an unknown option of a Core Data store suggests the nearest name")
        func unknownOption() throws {
            let files = try Self.closedStore()
            let location = StoreLocation(type: "coredata", path: files.path)
            let error = try failure {
                try CoreDataStoreType().open(location, options: StoreOptions(typeOptions: ["modell": "x"]))
            }
            #expect(error.message.contains("'model'"))
        }

        @Test(
            "a Core Data store refuses a model with an entity or attribute that its file lacks",
            arguments: ["Other", "Item"])
        func wrongModel(entity: String) throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(entity, attributes: [AttributeDescription("absent", type: .string)])
            ])
            #expect(try failure { try Self.store().open(model) }.code == .modelMismatch)
        }

        @Test("a Core Data store refuses a model that differs from the one in its file")
        func otherModelThanCached() throws {
            let cache = AppleStore.hex(deflateStored(sampleArchive()))
            let files = try Self.store(
                "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB); INSERT INTO Z_MODELCACHE VALUES (\(cache));")
            #expect(try failure { try files.open(try Self.model()) }.code == .modelMismatch)
        }

        @Test("a Core Data store reports a column that belongs to no property")
        func unusedColumn() throws {
            let opened = try Self.store("ALTER TABLE ZITEM ADD COLUMN ZLOST VARCHAR;").opened(try Self.model())
            #expect(
                try opened.store.notices() == [
                    "Column ZLOST of table ZITEM belongs to no property of the model; it is left out."
                ])
        }

        @Test("a conversion and its plan warn of left-out columns and rows, and of references and data read as null")
        func conversionReport() throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription("Owner", relationships: [.toMany("pets", to: "Pet", inverse: "owner")]),
                EntityDescription(
                    "Pet",
                    attributes: [
                        AttributeDescription("photo", type: .binaryData).with {
                            $0.allowsExternalBinaryDataStorage = true
                        }
                    ],
                    relationships: [.toOne("owner", to: "Owner", inverse: "pets")]),
            ])
            let row = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
            let name = Array("\u{2}3F2504E0-4F89-41D3-9A0C-0305E82C3301\0".utf8)
            let files = try AppleStore(
                ["Owner", "Pet"],
                sql: """
                    CREATE TABLE ZOWNER (\(row)); CREATE TABLE ZPET (\(row), ZOWNER INTEGER, ZPHOTO BLOB, ZLOST VARCHAR);
                    INSERT INTO ZOWNER VALUES (1, 1, 1);
                    INSERT INTO ZPET VALUES (1, 2, 1, 99, NULL, 'x'), (2, 2, 1, 1, \(AppleStore.hex(name)), NULL), (3, 77, 1, 1, NULL, NULL);
                    """)
            let opened = try files.opened(model)
            let expected = [
                "Column ZLOST of table ZPET belongs to no property of the model; it is left out.",
                "1 rows of table ZPET belong to no entity of hierarchy 'Pet'; they are left out.",
                "1 references of 'Pet.owner' refer to objects that do not exist; they are read as null.",
                "1 values of 'Pet.photo' are in data files that are not beside the store; they are read as null.",
            ]
            let manager = MigrationManager(registry: .standard)
            let destination = ConversionEndpoint.location(
                StoreLocation(type: "sqlite", path: files.directory.file("converted.sqlite")))
            let plan = try manager.plan(from: .store(opened.store), to: destination)
            #expect(plan.warnings == expected)
            let report = try manager.convert(from: .store(opened.store), to: destination)
            #expect(report.objects == 3 && report.warnings == expected)
            for text in expected { #expect(report.description.contains("warning   \(text)")) }
        }

        @Test(
            "a truncated Core Data store is reported as corrupted",
            arguments: [1, 2, 100, 1000, 4095], [4096, 65536])
        func truncated(missing: Int, pageSize: Int) throws {
            let files = try Self.store("PRAGMA page_size = \(pageSize); VACUUM;")
            let data = try #require(FileManager.default.contents(atPath: files.path))
            let copy = files.directory.file("short.sqlite")
            try data.dropLast(missing).write(to: URL(fileURLWithPath: copy))
            let model = try Self.model()
            let error = try failure {
                try CoreDataStoreType().open(
                    StoreLocation(type: "coredata", path: copy), options: StoreOptions(model: model))
            }
            #expect(error.code == .corrupted)
        }

        @Test("a damaged index in a Core Data store stops a conversion, or is a warning if damage is skipped")
        func damagedStructure() throws {
            let model = try Self.model()
            let files = try Self.store(
                "CREATE TABLE ZEXTRA (A); INSERT INTO ZEXTRA VALUES (1), (2); CREATE INDEX ZI ON ZEXTRA (A);")
            var data = try #require(FileManager.default.contents(atPath: files.path))
            // Empties the index, which is the last page of the file.
            let page = Int(data[16]) << 8 | Int(data[17])
            data.replaceSubrange(data.count - page + 3..<data.count - page + 5, with: [0, 0])
            let copy = files.directory.file("damaged.sqlite")
            try data.write(to: URL(fileURLWithPath: copy))
            let manager = MigrationManager(registry: .standard)
            let source = ConversionEndpoint.location(StoreLocation(type: "coredata", path: copy))
            let destination = ConversionEndpoint.location(
                StoreLocation(type: "sqlite", path: files.directory.file("converted.sqlite")))
            var options = ConversionOptions().with { $0.sourceModel = model }
            #expect(
                try failure { try manager.convert(from: source, to: destination, options: options) }.code == .corrupted)
            #expect(!FileManager.default.fileExists(atPath: files.directory.file("converted.sqlite")))
            #expect(try manager.plan(from: source, to: destination, options: options).refusals.count == 1)
            options.skipsDamaged = true
            let report = try manager.convert(from: source, to: destination, options: options)
            #expect(report.warnings.contains { $0.contains("SQLite reports") })
        }

        @Test("a Core Data store reports that its persistent history is left out")
        func history() throws {
            let opened = try Self.store(
                "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY); INSERT INTO ATRANSACTION VALUES (1), (2);"
            ).opened(try Self.model())
            #expect(
                try opened.store.notices() == ["The persistent history of the store (2 transactions) is left out."])
        }

        @Test("every write to a Core Data store fails with code unsupported")
        func refusesWrites() throws {
            let opened = try Self.store().opened(try Self.model())
            let (type, location) = (CoreDataStoreType(), StoreLocation(type: "coredata", path: opened.files.path))
            let model = try Self.model()
            #expect(
                try failure { try type.create(location, model: model, options: StoreOptions()) }.code == .unsupported)
            #expect(try failure { try type.destroy(location) }.code == .unsupported)
            #expect(try failure { try type.replace(location, with: location, overwriting: true) }.code == .unsupported)
            #expect(try failure { try opened.store.commit(ChangeSet(model: model)) }.code == .unsupported)
            #expect(try failure { try opened.store.reserveKeys(1, for: "Item") }.code == .unsupported)
            #expect(try failure { try opened.store.bulkLoader(BulkLoadOptions()) }.code == .unsupported)
            #expect(
                opened.store.isReadOnly && !type.capabilities.contains(.writing) && !type.capabilities.contains(.digest)
            )
        }

        @Test("calls of a closed Core Data store, except close, fail with code closed")
        func closed() throws {
            let opened = try Self.store().opened(try Self.model())
            let snapshot = try opened.snapshot()
            let cursor = try snapshot.records(of: "Item", after: nil)
            try opened.store.close()
            try opened.store.close()
            var batch = RecordBatch(model: snapshot.model)
            #expect(try failure { try cursor.next(into: &batch) }.code == .closed)
            #expect(try failure { try snapshot.count(FetchRequest("Item")) }.code == .closed)
            #expect(try failure { try opened.store.snapshot() }.code == .closed)
            #expect(try failure { try opened.store.metadata() }.code == .closed)
            #expect(try failure { try opened.store.commit(ChangeSet(model: snapshot.model)) }.code == .closed)
        }

        // MARK: Files

        @Test("a Core Data store without rows is read as empty")
        func empty() throws {
            let files = try AppleStore(["Item"], sql: "CREATE TABLE ZITEM (\(Self.row), ZN INTEGER, ZS VARCHAR)")
            #expect(try files.opened(try Self.model()).snapshot().objects("Item").isEmpty)
        }

        private func contents(_ path: String) throws -> [String: Data?] {
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            return Dictionary(
                uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: path + "/" + $0)) })
        }

        @Test("a Core Data store's log is read from a read-only directory, and no byte changes")
        func writeAheadLog() throws {
            let files = try Self.store("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;")
            // Copies the log of an open store, because closing would merge the log into the store.
            let copy = try TemporaryDirectory()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: files.path + suffix, toPath: copy.file("W.sqlite") + suffix)
            }
            let before = try contents(copy.path)
            #expect(before.keys.sorted() == ["W.sqlite", "W.sqlite-wal"])
            try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: copy.path)
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: copy.path) }
            let store = try CoreDataStoreType().open(
                StoreLocation(type: "coredata", path: copy.file("W.sqlite")),
                options: StoreOptions(model: try Self.model()))
            let snapshot = try store.snapshot()
            #expect(try snapshot.objects("Item").count == 3)
            #expect(try contents(copy.path).keys.sorted() == ["W.sqlite", "W.sqlite-wal"])
            #expect(try store.integrityFindings().isEmpty)
            snapshot.close()
            try store.close()
            #expect(CoreDataStoreType().recognizes(fileAt: copy.file("W.sqlite")))
            #expect(try contents(copy.path) == before)
        }

        @Test("a Core Data store with two hard links opens only under the name that has its log")
        func hardLinks() throws {
            let files = try Self.store("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;")
            let copy = try TemporaryDirectory()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: files.path + suffix, toPath: copy.file("W.sqlite") + suffix)
            }
            try FileManager.default.linkItem(atPath: copy.file("W.sqlite"), toPath: copy.file("other"))
            func count(_ name: String) throws -> Int {
                let store = try CoreDataStoreType().open(
                    StoreLocation(type: "coredata", path: copy.file(name)),
                    options: StoreOptions(model: try Self.model()))
                defer { try? store.close() }
                return try store.snapshot().objects("Item").count
            }
            #expect(try count("W.sqlite") == 3)
            // The log's name begins with `W.sqlite`, so a reader of `other` would miss the log.
            let error = #expect(throws: StoreError.self) { try count("other") }
            #expect(error?.code == .hasOtherNames && error?.message.contains("'W.sqlite'") == true)
            #expect(CoreDataStoreType().recognizes(fileAt: copy.file("W.sqlite")))
            try FileManager.default.removeItem(atPath: copy.file("W.sqlite-wal"))
            #expect(throws: StoreError.self) { try count("W.sqlite") }
            try FileManager.default.linkItem(atPath: files.path + "-wal", toPath: copy.file("other-wal"))
            #expect(try count("other") == 3)
            try FileManager.default.removeItem(atPath: copy.file("other-wal"))
            try FileManager.default.removeItem(atPath: copy.file("other"))
            #expect(try !contents(copy.path).keys.contains("other"))
        }

        @Test(
            "a Core Data store whose log or journal is a pipe or a directory is refused",
            arguments: ["-wal", "-journal"],
            [true, false])
        func companions(suffix: String, isPipe: Bool) throws {
            let files = try Self.store()
            let copy = try TemporaryDirectory()
            try FileManager.default.copyItem(atPath: files.path, toPath: copy.file("W.sqlite"))
            let path = copy.file("W.sqlite" + suffix)
            if isPipe {
                #expect(mkfifo(path, 0o600) == 0)
            } else {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            let error = #expect(throws: StoreError.self) {
                try CoreDataStoreType().open(
                    StoreLocation(type: "coredata", path: copy.file("W.sqlite")),
                    options: StoreOptions(model: try Self.model()))
            }
            #expect(error?.code == .notAStore && error?.message.contains("W.sqlite\(suffix)'") == true)
        }

        /// A change that spills into the file before the commit, because the cache has one page.
        private static let unfinishedChange =
            "PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN; UPDATE ZITEM SET ZN = 99, ZS = hex(randomblob(3000)); WITH RECURSIVE c(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM c WHERE i < 300) INSERT INTO ZITEM SELECT i, 1, 1, i, hex(randomblob(2000)) FROM c;"

        /// Returns a directory with `J.sqlite`, interrupted in a change, and its rollback journal.
        private func interruptedStore() throws -> TemporaryDirectory {
            let files = try Self.store()
            try files.run(Self.unfinishedChange)
            let copy = try TemporaryDirectory()
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: files.path + suffix, toPath: copy.file("J.sqlite") + suffix)
            }
            return copy
        }

        @Test("a store with a rollback journal is read in its state before the interrupted change")
        func hotJournal() throws {
            let copy = try interruptedStore()
            let before = try contents(copy.path)
            let store = try CoreDataStoreType().open(
                StoreLocation(type: "coredata", path: copy.file("J.sqlite")),
                options: StoreOptions(model: try Self.model()))
            #expect(
                try store.snapshot().objects("Item") == [
                    1: ["n": .int(10), "s": "a"], 2: ["n": .int(20), "s": "b"], 42: [:],
                ])
            try store.close()
            #expect(try contents(copy.path) == before)
        }

        @Test("an open Core Data store gives no snapshot while another program's change is in a rollback journal")
        func laterJournal() throws {
            let files = try Self.store()
            let store = try files.open(try Self.model(), closing: false)
            try files.run(Self.unfinishedChange)
            #expect(try failure { try store.snapshot() }.code == .busy)
            try files.run("ROLLBACK")
            #expect(try store.snapshot().objects("Item").count == 3)
        }

        @Test("a store opened with a rollback journal gives no snapshot after another program ends the change")
        func endedJournal() throws {
            let copy = try interruptedStore()
            let store = try CoreDataStoreType().open(
                StoreLocation(type: "coredata", path: copy.file("J.sqlite")),
                options: StoreOptions(model: try Self.model()))
            #expect(try store.snapshot().objects("Item").count == 3)
            // The test removes the journal, as a commit does.
            try FileManager.default.removeItem(atPath: copy.file("J.sqlite-journal"))
            #expect(try failure { try store.snapshot() }.code == .storeReplaced)
            try store.close()
        }

        @Test("a snapshot of a Core Data store fails after another program changes the file")
        func changedMeanwhile() throws {
            let files = try Self.store()
            let store = try files.open(try Self.model(), closing: false)
            let snapshot = try store.snapshot()
            #expect(try snapshot.objects("Item").count == 3)
            try files.run("INSERT INTO ZITEM VALUES (50, 1, 1, 1, hex(zeroblob(9000)))")
            let error = try failure { try snapshot.objects("Item") }
            #expect(error.code == .busy && error.isRetryable)
            #expect(try store.snapshot().objects("Item").count == 4)
            try files.run("CREATE TABLE ZOTHER (a)")
            #expect(try failure { try store.snapshot() }.code == .storeReplaced)
        }

        @Test("a Core Data store fails with code storeReplaced if its file is replaced")
        func replaced() throws {
            let (files, other) = (try Self.store(), try Self.store())
            let store = try files.open(try Self.model())
            other.close()
            let snapshot = try store.snapshot()
            try FileManager.default.moveItem(atPath: files.path, toPath: files.path + ".old")
            #expect(try failure { try snapshot.objects("Item") }.code == .storeReplaced)
            try FileManager.default.copyItem(atPath: other.path, toPath: files.path)
            #expect(try failure { try snapshot.objects("Item") }.code == .storeReplaced)
            #expect(try failure { try store.snapshot() }.code == .storeReplaced)
        }

        @Test("a file that is not a Core Data store is neither recognized nor opened")
        func notAStore() throws {
            let directory = try TemporaryDirectory()
            let type = CoreDataStoreType()
            func code(_ name: String) throws -> StoreError.Code {
                try failure {
                    try type.open(
                        StoreLocation(type: "coredata", path: directory.file(name)),
                        options: StoreOptions(model: try Self.model()))
                }.code
            }
            try directory.write("just text, longer than the 16 bytes with which every SQLite file begins", to: "text")
            try directory.write("", to: "empty")
            try FileManager.default.createDirectory(atPath: directory.file("folder"), withIntermediateDirectories: true)
            for name in ["text", "empty", "folder", "missing"] {
                #expect(!type.recognizes(fileAt: directory.file(name)))
            }
            #expect(try code("text") == .notAStore)
            #expect(try code("empty") == .notAStore)
            #expect(try code("folder") == .notAStore)
            #expect(try code("missing") == .notFound)
            let files = try Self.store("DROP TABLE Z_METADATA")
            files.close()
            #expect(!type.recognizes(fileAt: files.path))
            #expect(try failure { try files.open(try Self.model()) }.code == .notAStore)
            #expect(type.recognizes(fileAt: try Self.closedStore().path))
        }

        static func closedStore() throws -> AppleStore {
            let files = try store()
            files.close()
            return files
        }

        @Test("a damaged Core Data store is read or gives an error, and never crashes")
        func damaged() throws {
            let files = try Self.store(
                "WITH RECURSIVE c(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM c WHERE i < 400) INSERT INTO ZITEM SELECT i, 1, 1, i, hex(randomblob(60)) FROM c;"
            )
            files.close()
            let bytes = [UInt8](try #require(FileManager.default.contents(atPath: files.path)))
            let model = try Self.model()
            var generator = Generator(state: 11)
            for round in 0..<150 {
                var changed = bytes
                for _ in 0..<(1 + round % 20) {
                    changed[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
                }
                if round % 15 == 0 { changed = Array(changed.prefix(Int(generator.next() % UInt64(bytes.count)))) }
                try Data(changed).write(to: URL(fileURLWithPath: files.path))
                do {
                    let store = try files.open(model)
                    _ = try store.snapshot().computeTally()
                    _ = try store.integrityFindings()
                } catch let error as StoreError {
                    #expect(![.internalInconsistency, .busy].contains(error.code), "\(error)")
                }
            }
            // Overwrites everything after the first page.
            try Data(bytes.prefix(4096) + [UInt8](repeating: 0x5A, count: bytes.count - 4096)).write(
                to: URL(fileURLWithPath: files.path))
            #expect(
                [.corrupted, .notAStore].contains(
                    try failure { _ = try files.open(model).snapshot().computeTally() }.code))
        }
    }
#endif
