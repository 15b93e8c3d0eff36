#if SQLite && PostgreSQL
    import Foundation
    import RoostCore
    import RoostImport
    import Testing

    @testable import RoostPostgreSQL

    /// The PostgreSQL server whose connection parameters are in `ROOST_POSTGRES`.
    ///
    /// `Scripts/postgres start` starts such a server and prints the parameters.
    enum ImportServer {
        static let parameters = ProcessInfo.processInfo.environment["ROOST_POSTGRES"].flatMap { $0.isEmpty ? nil : $0 }
        static let missing: Comment = "ROOST_POSTGRES names no server; Scripts/postgres start starts one"
    }

    extension ImportServer {
        /// Whether the server has the extension `citext`, a text type that ignores case.
        static let hasTextWithoutCase: Bool = {
            guard parameters != nil else { return false }
            let rows = try? ServerSession().rows("SELECT 1 FROM pg_available_extensions WHERE name = 'citext'")
            return rows?.isEmpty == false
        }()
    }

    final class ServerSession {
        private let connection: PostgreSQLConnection

        /// The location path of the database, without a schema.
        let path: String

        /// Opens a session with the given database; nil for the database in the parameters.
        init(database: String? = nil) throws {
            let parameters = try #require(ImportServer.parameters)
            path =
                database.map { parameters.replacingOccurrences(of: "dbname=roost", with: "dbname=\($0)") } ?? parameters
            let location = try PostgreSQLLocation(foreign: path)
            connection = try PostgreSQLConnection(
                unprepared: location, settings: try PostgreSQLSettings(StoreOptions()))
        }

        func execute(_ sql: String) throws(StoreError) { try connection.query(sql) }

        /// Returns a name as an SQL identifier.
        func quoted(_ name: String) throws -> String { try connection.identifier(name) }

        /// Returns the rows of a statement, each value as the text that the server sent.
        func rows(_ sql: String) throws -> [[String?]] {
            let result = try connection.query(sql)
            return (0..<result.rowCount).map { row in
                (0..<result.columnCount).map { result.text(row, column: $0) }
            }
        }
    }

    /// A new schema on the server for one test, dropped on deallocation.
    final class ServerSchema {
        let name: String
        let session: ServerSession
        /// The directory of the stores that imports make.
        let directory: ImportDirectory

        /// Creates a schema, and runs statements whose unqualified names refer to that schema.
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
            // If a prepared import was not sent, it still locks the tables, and the schema stays on the server.
            _ = try? session.execute("SET lock_timeout = 500; DROP SCHEMA IF EXISTS \(quoted) CASCADE")
        }

        var path: String {
            let value = name.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "'", with: "\\'")
            return "\(ImportServer.parameters ?? "") schema='\(value)'"
        }

        func execute(_ sql: String) throws { try session.execute(sql) }
        func rows(_ sql: String) throws -> [[String?]] { try session.rows(sql) }

        func content(_ model: ManagedObjectModel? = nil) throws -> DatabaseImport {
            try DatabaseImport(postgreSQL: path, model: model) { () throws(StoreError) in }
        }

        func imported(model: ManagedObjectModel? = nil, type: String = "sqlite") throws -> Imported {
            try Imported(try content(model), path: directory.file(UUID().uuidString), type: type, owner: self)
        }

        func failure(model: ManagedObjectModel? = nil) throws -> StoreError {
            do throws(StoreError) {
                _ = try DatabaseImport(postgreSQL: path, model: model) { () throws(StoreError) in }
            } catch { return error }
            throw StoreError(.internalInconsistency, "The import did not fail.")
        }
    }
#endif
