#if PostgreSQL
    internal import RoostCore
    internal import RoostSQL

    /// Queries of PostgreSQL's system tables.
    enum PostgreSQLCatalog {
        /// The SELECT statement for the size of all tables and indexes of a schema.
        static let byteCount =
            "SELECT COALESCE(CAST(SUM(pg_total_relation_size(c.oid)) AS BIGINT), 0) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'"

        enum Kind: Equatable {
            case missing
            /// No relations, such as tables, views or sequences.
            case empty
            case store
            /// Relations, but not the tables of a store.
            case foreign
        }

        /// Returns the kind of a schema's content.
        static func kind(of schema: String, on connection: PostgreSQLConnection) throws(StoreError) -> Kind {
            let name = try connection.literal(schema)
            let result = try connection.query(
                "SELECT n.oid, EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid), EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = '_roost_metadata' AND c.relkind = 'r') AND EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = '_roost_tallies' AND c.relkind = 'r') FROM pg_namespace n WHERE n.nspname = \(name)",
                what: "Looking at")
            guard result.rowCount == 1 else { return .missing }
            if result.text(0, column: 2) == "t" { return .store }
            return result.text(0, column: 1) == "t" ? .foreign : .empty
        }

        static func tablesAndIndexes(
            of schema: String, on connection: PostgreSQLConnection
        ) throws(StoreError) -> [String] {
            let result = try connection.query(
                "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = \(try connection.literal(schema)) AND c.relkind IN ('r', 'i')"
            )
            return (0..<result.rowCount).compactMap { result.text($0, column: 0) }
        }

        /// Returns the names of relations and types, except the given tables, their indexes and
        /// types.
        static func usedNames(
            of schema: String, without tables: [String], on connection: PostgreSQLConnection
        ) throws(StoreError) -> [String] {
            let schema = try connection.literal(schema)
            let relations = try connection.query(
                "SELECT c.relname, COALESCE(t.relname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid WHERE n.nspname = \(schema)"
            )
            let types = try connection.query(
                "SELECT y.typname, c.relname FROM pg_type y JOIN pg_namespace n ON n.oid = y.typnamespace LEFT JOIN pg_type e ON e.oid = y.typelem LEFT JOIN pg_class c ON c.oid IN (y.typrelid, e.typrelid) WHERE n.nspname = \(schema)"
            )
            let tables = Set(tables)
            return [relations, types].flatMap { result in
                (0..<result.rowCount).compactMap { row -> String? in
                    let isDropped = result.text(row, column: 1).map { tables.contains($0) } ?? false
                    return isDropped ? nil : result.text(row, column: 0)
                }
            }
        }

        static func tables(of schema: String, on connection: PostgreSQLConnection) throws(StoreError) -> [String] {
            let result = try connection.query(
                "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = \(try connection.literal(schema)) AND c.relkind = 'r' ORDER BY c.relname"
            )
            return (0..<result.rowCount).compactMap { result.text($0, column: 0) }
        }

        static func tables(
            of schema: String, with comment: String, on connection: PostgreSQLConnection
        ) throws(StoreError) -> [String] {
            let (name, text) = (try connection.literal(schema), try connection.literal(comment))
            let result = try connection.query(
                "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = \(name) AND c.relkind = 'r' AND obj_description(c.oid, 'pg_class') = \(text) ORDER BY c.relname"
            )
            return (0..<result.rowCount).compactMap { result.text($0, column: 0) }
        }

        /// Returns the schemas with temporary names of the store at a location.
        static func temporarySchemas(
            of location: PostgreSQLLocation, on connection: PostgreSQLConnection
        ) throws(StoreError) -> [String] {
            let result = try connection.query("SELECT nspname FROM pg_namespace")
            return (0..<result.rowCount).compactMap { result.text($0, column: 0) }.filter { location.isTemporary($0) }
        }

        /// Returns whether a store with a temporary name is older than a day and had no commit in
        /// the last day.
        static func isOld(_ schema: String, on connection: PostgreSQLConnection) throws(StoreError) -> Bool {
            // A time far in the future is wrong, so it counts as old.
            guard abs(PostgreSQLLocation.secondsSinceMaking(schema)) > 86_400 else { return false }
            let keys = "\(try connection.identifier(schema)).\(PostgreSQLCommitKey.table)"
            let age = try connection.query(
                "SELECT COALESCE(max(at) < clock_timestamp() - interval '1 day', true) FROM \(keys)")
            return age.text(0, column: 0) == "t"
        }

        /// Returns descriptions of the tables and indexes of a schema, by name.
        ///
        /// Stores with the same model have equal descriptions, whatever the names of their schemas.
        static func description(of schema: String, on connection: PostgreSQLConnection) throws(StoreError) -> [String:
            String]
        {
            let name = try connection.literal(schema)
            var found: [String: String] = [:]
            let columns = try connection.query(
                "SELECT c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END || COALESCE(' ' || l.collname, ''), ', ' ORDER BY a.attnum) || ' | ' || concat(c.relpersistence, c.relrowsecurity, c.relforcerowsecurity, c.relhasrules) || ' ' || (SELECT count(*) FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal) || ' ' || COALESCE((SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p'), 'no key') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped LEFT JOIN pg_collation l ON l.oid = a.attcollation WHERE n.nspname = \(name) AND c.relkind = 'r' GROUP BY c.oid, c.relname, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity, c.relhasrules"
            )
            for row in 0..<columns.rowCount {
                found[columns.text(row, column: 0) ?? ""] = "table: " + (columns.text(row, column: 1) ?? "")
            }
            let indexes = try connection.query(
                "SELECT c.relname, t.relname, i.indisunique AND i.indisvalid, i.indisvalid, (SELECT string_agg(pg_get_indexdef(i.indexrelid, k, true) || ' ' || i.indoption[k - 1], ', ' ORDER BY k) FROM generate_series(1, i.indnatts) k), pg_get_expr(i.indpred, i.indrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = \(name)"
            )
            for row in 0..<indexes.rowCount {
                let parts = (1..<6).map { indexes.text(row, column: $0) ?? "" }
                found[indexes.text(row, column: 0) ?? ""] = "index: " + parts.joined(separator: " | ")
            }
            return found
        }
    }
#endif
