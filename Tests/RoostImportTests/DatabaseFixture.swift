import Foundation
import Roost
import RoostCore
import RoostImport
import RoostMigration
import RoostStores
import Testing

#if SQLite
    import CSQLite

    /// A temporary directory for one test, removed on deallocation.
    final class ImportDirectory {
        let path = NSTemporaryDirectory() + "/roost-import-" + UUID().uuidString

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func file(_ name: String) -> String { path + "/" + name }

        func database(_ sql: String, name: String = "foreign.db") throws -> String {
            let database = try TestDatabase(file(name))
            try database.execute(sql)
            return file(name)
        }
    }

    enum TestValue: Equatable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob([UInt8])
    }

    /// A connection to a database through SQLite's C interface.
    final class TestDatabase {
        private var handle: OpaquePointer?

        init(_ path: String, isReadOnly: Bool = false) throws {
            let flags = isReadOnly ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            let code = sqlite3_open_v2(path, &handle, flags, nil)
            try #require(code == SQLITE_OK)
        }

        deinit { sqlite3_close(handle) }

        func execute(_ sql: String) throws {
            let code = sqlite3_exec(handle, sql, nil, nil, nil)
            try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle))) in \(sql.prefix(200))")
        }

        /// Adds a collation that other connections do not have.
        func addCollation(_ name: String) {
            let code = sqlite3_create_collation(handle, name, SQLITE_UTF8, nil) { _, count, left, otherCount, right in
                guard let left, let right else { return count - otherCount }
                let order = memcmp(left, right, Int(min(count, otherCount)))
                return order == 0 ? count - otherCount : order
            }
            #expect(code == SQLITE_OK)
        }

        /// Runs statements and returns SQLite's result code.
        func code(_ sql: String) -> Int32 { sqlite3_exec(handle, sql, nil, nil, nil) }

        func rows(_ sql: String) throws -> [[TestValue]] {
            var statement: OpaquePointer?
            try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
            defer { sqlite3_finalize(statement) }
            var rows: [[TestValue]] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                rows.append((0..<sqlite3_column_count(statement)).map { value(of: statement, column: $0) })
            }
            return rows
        }

        private func value(of statement: OpaquePointer?, column: Int32) -> TestValue {
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
            case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
            case SQLITE_TEXT:
                let base = sqlite3_column_text(statement, column)
                let bytes = UnsafeBufferPointer(start: base, count: Int(sqlite3_column_bytes(statement, column)))
                return .text(String(decoding: bytes, as: UTF8.self))
            case SQLITE_BLOB:
                let base = sqlite3_column_blob(statement, column)
                return .blob(
                    Array(UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(statement, column)))))
            default: return .null
            }
        }
    }

    /// An import and the store that it filled.
    struct Imported {
        let content: DatabaseImport
        let store: any PersistentStore
        let report: ConversionReport
        /// An object that owns the store's directory, kept alive as long as this value.
        private let owner: AnyObject?

        var model: ManagedObjectModel { content.model }

        /// Imports a database into a new store beside it, and checks that store.
        init(_ path: String, model: ManagedObjectModel? = nil, type: String = "sqlite") throws {
            let content = try DatabaseImport(sqlite: path, model: model) { () throws(StoreError) in }
            try self.init(content, path: path, type: type)
        }

        /// Sends the read content into a new store, and checks that store.
        init(_ content: DatabaseImport, path: String, type: String = "sqlite", owner: AnyObject? = nil) throws {
            (self.content, self.owner) = (content, owner)
            let location = StoreLocation(type: type, path: "\(path).\(type)")
            report = try MigrationManager(registry: .standard).make(
                .location(location), of: content, named: content.name)
            store = try StoreRegistry.standard.type(named: type).open(location, options: StoreOptions())
            #expect(try checkStore(store).map { "\($0)" } == [])
        }

        init(_ sql: String, in directory: ImportDirectory, model: ManagedObjectModel? = nil) throws {
            try self.init(try directory.database(sql), model: model)
        }

        func entity(_ name: String) throws -> ManagedObjectModel.Entity { try model.requireEntity(EntityName(name)) }

        /// Returns the property values of each object of an entity, by object key.
        func objects(_ entity: String) throws -> [Int64: [String: Value]] {
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let cursor = try snapshot.records(of: EntityName(entity), after: nil)
            var batch = RecordBatch(model: snapshot.model)
            var result: [Int64: [String: Value]] = [:]
            while try cursor.next(into: &batch) {
                for index in 0..<batch.count { result[batch.key(at: index)] = batch.values(at: index) }
            }
            return result
        }

        /// Returns one property's value of each object of an entity, ordered by object key.
        func values(_ entity: String, of property: String) throws -> [Value] {
            try objects(entity).sorted { $0.key < $1.key }.map { $0.value[property] ?? .null }
        }

        /// Returns the pairs of object keys that a many-to-many relationship links.
        func pairs(_ entity: String, of name: String) throws -> Set<[Int64]> {
            let relationship = try #require(try self.entity(entity).relationship(name))
            guard case .links(let number, let isFlipped) = relationship.storage else { return [] }
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let cursor = try snapshot.links(of: model.relationships[number].name, after: nil)
            var batch = LinkBatch(relationship: number)
            var result: Set<[Int64]> = []
            while try cursor.next(into: &batch) {
                for link in batch.links {
                    result.insert(isFlipped ? [link.target, link.source] : [link.source, link.target])
                }
            }
            return result
        }

        func remark(_ table: String, column: String) -> String? {
            content.plan.tables.first { $0.name == table }?.columns.first { $0.name == column }?.remark
        }
    }

    func importFailure(_ path: String, model: ManagedObjectModel? = nil) throws -> StoreError {
        do throws(StoreError) {
            _ = try DatabaseImport(sqlite: path, model: model) { () throws(StoreError) in }
        } catch { return error }
        throw StoreError(.internalInconsistency, "The import did not fail.")
    }

    func reference(_ entity: String, key: Int64) -> Value { .objectID(ObjectID(EntityName(entity), key: key)) }
#endif
