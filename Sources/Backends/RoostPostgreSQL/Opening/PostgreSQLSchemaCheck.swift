#if PostgreSQL
    internal import RoostCore
    internal import RoostSQL

    /// The check that the tables and indexes of a store are declared as Roost created them.
    ///
    /// In the profile `postgresql`, the schema's comment contains a hash of these declarations
    /// only, so other programs can add tables and indexes.
    enum PostgreSQLSchemaCheck {
        /// The tables that a store may have in addition to those of the SQL engine.
        static let furtherTables = [PostgreSQLCommitKey.table, PostgreSQLLease.table]
        static let tableComment = "A table of a Roost store"
        private static let prefix = "Roost store; do not change its tables. "

        /// Marks tables by comments, and records the declarations' hash unless the profile is
        /// portable.
        ///
        /// Call this method in the transaction that created or changed the tables.
        static func record(
            _ schema: SQLSchema, location: PostgreSQLLocation, on connection: PostgreSQLConnection
        ) throws(StoreError) {
            try comment(
                schema.items.filter { !$0.isIndex }.map(\.name) + own(connection.settings.profile), on: connection)
            // The portable profile records no hash: databases describe tables differently, and some
            // describe a new table only after the commit.
            guard connection.settings.profile == .postgresql else { return }
            let number = number(of: try lines(schema, location: location, on: connection).found)
            try connection.query(
                "COMMENT ON SCHEMA \(try connection.identifier(location.schema)) IS \(try connection.literal(prefix + number))"
            )
        }

        static func comment(_ tables: [String], on connection: PostgreSQLConnection) throws(StoreError) {
            let comment = try connection.literal(tableComment)
            let comments = tables.map { "COMMENT ON TABLE \(PostgreSQLDialect().quote($0)) IS \(comment)" }
            try connection.query(comments.joined(separator: "; "))
        }

        /// Throws `corrupted` if a table or index is missing or, unless the profile is portable,
        /// was changed.
        static func require(
            _ schema: SQLSchema, location: PostgreSQLLocation, on connection: PostgreSQLConnection
        ) throws(StoreError) {
            func damaged(_ missing: String) -> StoreError {
                StoreError(
                    .corrupted, "'\(location.name)' is damaged: '\(missing)' is missing. Restore it from a backup.")
            }
            guard connection.settings.profile == .postgresql else {
                let present = Set(try PostgreSQLCatalog.tablesAndIndexes(of: location.schema, on: connection))
                for name in names(schema, connection: connection) where !present.contains(name) { throw damaged(name) }
                return
            }
            let (found, missing) = try lines(schema, location: location, on: connection)
            if let missing { throw damaged(missing) }
            let comment = try connection.query(
                "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = \(try connection.literal(location.schema))"
            )
            // A copied database may lack comments, so a missing hash is not an error.
            guard let text = comment.text(0, column: 0), text.hasPrefix(prefix) else { return }
            guard text.dropFirst(prefix.count) == number(of: found) else {
                throw StoreError(
                    .corrupted,
                    "'\(location.name)' is damaged: its tables or indexes were changed. Restore it from a backup."
                )
            }
        }

        /// Returns the additional tables of a profile.
        private static func own(_ profile: PostgreSQLProfile) -> [String] {
            furtherTables.filter { profile == .portable || $0 != PostgreSQLLease.table }
        }

        private static func names(_ schema: SQLSchema, connection: PostgreSQLConnection) -> [String] {
            (schema.items.map(\.name) + own(connection.settings.profile)).sorted()
        }

        private static func lines(
            _ schema: SQLSchema, location: PostgreSQLLocation, on connection: PostgreSQLConnection
        ) throws(StoreError) -> (found: [String], missing: String?) {
            let catalog = try PostgreSQLCatalog.description(of: location.schema, on: connection)
            var found: [String] = []
            var missing: String?
            for name in names(schema, connection: connection) {
                guard let line = catalog[name] else {
                    missing = missing ?? name
                    continue
                }
                found.append("\(name): \(line)")
            }
            return (found, missing)
        }

        private static func number(of lines: [String]) -> String {
            String(UInt64(bitPattern: PostgreSQLTextHash.value(lines.joined(separator: "\n"))), radix: 16)
        }
    }
#endif
