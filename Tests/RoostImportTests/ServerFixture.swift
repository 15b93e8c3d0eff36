#if SQLite && PostgreSQL
    import Foundation
    import RoostCore
    import RoostImport
    import Testing

    @testable import RoostPostgreSQL

    /// The server of the parameters in `ROOST_POSTGRES`, which `Scripts/postgres start` prints.
    enum ImportServer {
        static let parameters = ProcessInfo.processInfo.environment["ROOST_POSTGRES"].flatMap { $0.isEmpty ? nil : $0 }
        static let missing: Comment = "ROOST_POSTGRES names no server; Scripts/postgres start starts one"
    }

    extension ImportServer {
        /// Whether the server can have the type `citext`.
        static let hasTextWithoutCase: Bool = {
            guard parameters != nil else { return false }
            let rows = try? ServerSession().rows("SELECT 1 FROM pg_available_extensions WHERE name = 'citext'")
            return rows?.isEmpty == false
        }()
    }

    /// A session of a test with the server.
    final class ServerSession {
        private let connection: PostgreSQLConnection

        /// The path of the database without a schema.
        let path: String

        /// Opens a session with the database of the parameters, or with another one.
        init(database: String? = nil) throws {
            let parameters = try #require(ImportServer.parameters)
            path =
                database.map { parameters.replacingOccurrences(of: "dbname=roost", with: "dbname=\($0)") } ?? parameters
            let location = try PostgreSQLLocation(foreign: path)
            connection = try PostgreSQLConnection(
                unprepared: location, settings: try PostgreSQLSettings(StoreOptions()))
        }

        /// Runs statements.
        func execute(_ sql: String) throws(StoreError) { try connection.query(sql) }

        /// Returns a name as an SQL identifier.
        func quoted(_ name: String) throws -> String { try connection.identifier(name) }

        /// Returns the rows of a statement as the server's texts.
        func rows(_ sql: String) throws -> [[String?]] {
            let result = try connection.query(sql)
            return (0..<result.rowCount).map { row in
                (0..<result.columnCount).map { result.text(row, column: $0) }
            }
        }
    }

    /// A schema of one test with a new name, dropped at the end.
    final class ServerSchema {
        let name: String
        let session: ServerSession
        /// The directory of the stores that imports make.
        let directory: ImportDirectory

        /// Creates a schema by statements; they need no qualified names for its tables.
        init(_ sql: String = "", name: String? = nil) throws {
            self.name = name ?? "import_" + UUID().uuidString
            directory = try ImportDirectory()
            session = try ServerSession()
            let quoted = try session.quoted(self.name)
            try session.execute(
                "CREATE SCHEMA \(quoted); SET search_path = \(quoted), public; SET client_min_messages = error")
            if !sql.isEmpty { try session.execute(sql) }
        }

        deinit {
            guard let quoted = try? session.quoted(name) else { return }
            // An import that was not sent still locks the tables, which then stay on the server.
            _ = try? session.execute("SET lock_timeout = 500; DROP SCHEMA IF EXISTS \(quoted) CASCADE")
        }

        /// The path of the location.
        var path: String {
            let value = name.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "'", with: "\\'")
            return "\(ImportServer.parameters ?? "") schema='\(value)'"
        }

        func execute(_ sql: String) throws { try session.execute(sql) }
        func rows(_ sql: String) throws -> [[String?]] { try session.rows(sql) }

        func content(_ model: ManagedObjectModel? = nil) throws -> DatabaseImport {
            try DatabaseImport(postgreSQL: path, model: model) { () throws(StoreError) in }
        }

        /// Imports the schema into a new store, and checks that store.
        func imported(model: ManagedObjectModel? = nil, type: String = "sqlite") throws -> Imported {
            try Imported(try content(model), path: directory.file(UUID().uuidString), type: type, owner: self)
        }

        /// Returns the error of an import that fails.
        func failure(model: ManagedObjectModel? = nil) throws -> StoreError {
            do throws(StoreError) {
                _ = try DatabaseImport(postgreSQL: path, model: model) { () throws(StoreError) in }
            } catch { return error }
            throw StoreError(.internalInconsistency, "The import did not fail.")
        }
    }
#endif
