import RoostCore

#if SQLite
    import CSQLite
    import Foundation
    @testable import RoostCoreData
    import Testing

    /// A small store in Apple's layout, made by SQL for one test.
    final class AppleStore {
        struct Failure: Error { let message: String }

        let directory: TemporaryDirectory
        let path: String
        private var handle: OpaquePointer?
        static let uuid = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"

        /// Creates a store from SQL.
        ///
        /// `entities` has the names in the order of their numbers; `Sub < Super` is a subentity.
        init(_ entities: [String], metadata: [(String, TestPlist)] = [], sql: String) throws {
            directory = try TemporaryDirectory()
            path = directory.file("Store.sqlite")
            guard sqlite3_open(path, &handle) == SQLITE_OK else { throw Failure(message: "open") }
            try run(
                """
                CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
                CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
                INSERT INTO Z_METADATA VALUES (1, '\(Self.uuid)', \(Self.hex(TestPlist.dict(metadata).binary)));
                """)
            let names = entities.map { $0.split(separator: " ").first.map(String.init) ?? "" }
            for (index, text) in entities.enumerated() {
                let parts = text.split(separator: " ").map(String.init)
                let parent = parts.count == 3 ? (names.firstIndex(of: parts[2]) ?? -1) + 1 : 0
                try run("INSERT INTO Z_PRIMARYKEY VALUES (\(index + 1), '\(names[index])', \(parent), 0)")
            }
            try run(sql)
        }

        deinit { close() }

        func run(_ sql: String) throws {
            guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
                throw Failure(message: String(cString: sqlite3_errmsg(handle)))
            }
        }

        func close() {
            if let handle { _ = sqlite3_close_v2(handle) }
            handle = nil
        }

        static func hex(_ bytes: [UInt8]) -> String { "x'" + bytes.map { String(format: "%02x", $0) }.joined() + "'" }

        /// Opens the store for reading; if `closing`, calls ``close()`` first.
        func open(_ model: ManagedObjectModel?, closing: Bool = true) throws -> CoreDataStore {
            if closing { close() }
            let store = try CoreDataStoreType().open(
                StoreLocation(type: "coredata", path: path), options: StoreOptions(model: model))
            return try #require(store as? CoreDataStore)
        }

        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    extension StoreSnapshot {
        func objects(_ entity: EntityName) throws -> [Int64: [String: Value]] {
            var objects: [Int64: [String: Value]] = [:]
            let cursor = try records(of: entity, after: nil)
            var batch = RecordBatch(model: model)
            while try cursor.next(into: &batch) {
                for index in 0..<batch.count { objects[batch.key(at: index)] = batch.values(at: index) }
            }
            return objects
        }

        func allLinks(_ name: String, of entity: EntityName) throws -> [Link] {
            try Self.read(links(of: RelationshipName(entity, name: name), after: nil))
        }

        func targets(_ name: String, of key: Int64, in entity: EntityName) throws -> [Int64] {
            try Self.read(links(of: RelationshipName(entity, name: name), from: ObjectID(entity, key: key))).map(
                \.target)
        }

        private static func read(_ cursor: any LinkCursor) throws -> [Link] {
            var links: [Link] = []
            var batch = LinkBatch(relationship: 0)
            while try cursor.next(into: &batch) { links += batch.links }
            return links
        }
    }
#endif
