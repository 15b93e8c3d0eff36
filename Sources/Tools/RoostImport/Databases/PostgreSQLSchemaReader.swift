internal import RoostCore

#if PostgreSQL
    internal import RoostPostgreSQL

    /// Reads the schema of a foreign PostgreSQL database from the server's system tables.
    struct PostgreSQLSchemaReader {
        let database: ForeignPostgreSQL
        var schema = ForeignSchema()
        private var tables: [PostgreSQLSource.Table] = []
        /// The table positions by oid.
        var numbers: [String: Int] = [:]
        /// For each table, the column positions by the server's column numbers.
        var columns: [[Int: Int]] = []

        private init(_ database: ForeignPostgreSQL) { self.database = database }

        /// Returns the declarations of the schema, and the parts that only statements need.
        ///
        /// - Throws: `invalidRequest` for a schema without tables; errors of the database.
        static func read(
            _ database: ForeignPostgreSQL
        ) throws(StoreError) -> (ForeignSchema, [PostgreSQLSource.Table]) {
            var reader = PostgreSQLSchemaReader(database)
            try reader.readTables()
            try reader.readColumns()
            try reader.readIndexes()
            try reader.readForeignKeys()
            try reader.readOthers()
            return (reader.schema, reader.tables)
        }

        /// Returns the SELECT for the tables that the import locks.
        static func tablesToLock(_ database: ForeignPostgreSQL) throws(StoreError) -> String {
            "SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = \(try database.literal(database.schema)) AND c.relkind IN ('r', 'p') AND pg_catalog.has_table_privilege(c.oid, 'SELECT') ORDER BY 1"
        }

        func isInSchema(_ column: String) throws(StoreError) -> String {
            "\(column) = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = \(try database.literal(database.schema)))"
        }

        mutating func leaveOut(_ sentence: String) { schema.remarks.append(sentence) }

        // MARK: Tables

        private mutating func readTables() throws(StoreError) {
            let isHere = try isInSchema("c.relnamespace")
            let rows = try database.query(
                """
                SELECT c.oid, c.relname, c.relkind, c.relispartition, p.relname AS parent,
                    has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'),
                    c.relrowsecurity AND row_security_active(c.oid),
                    c.relkind = 'p' OR COALESCE(pg_relation_size(NULLIF(c.reltoastrelid, 0)) > 0, false),
                    EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'),
                    EXISTS (SELECT 1 FROM pg_description d WHERE d.classoid = 'pg_class'::regclass AND d.objoid = c.oid),
                    EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                        AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0)
                FROM pg_class c
                LEFT JOIN LATERAL (SELECT q.relname FROM pg_inherits h JOIN pg_class q ON q.oid = h.inhparent
                    WHERE h.inhrelid = c.oid AND q.relnamespace = c.relnamespace ORDER BY h.inhseqno LIMIT 1) p ON true
                WHERE \(isHere) AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
                ORDER BY c.relname COLLATE "C"
                """)
            var partitionCounts: [String: Int] = [:]
            for row in rows {
                let row = CatalogRow(row)
                let (name, kind) = (row.text(1), row.text(2))
                switch kind {
                case "v": leaveOut("View '\(name)' is left out.")
                case "m": leaveOut("Materialized view '\(name)' is left out.")
                case "f": leaveOut("Foreign table '\(name)' is left out.")
                case "S": if !row.isTrue(10) { leaveOut("Sequence '\(name)' is left out.") }
                case _ where row.isTrue(3) && !row.isNull(4): partitionCounts[row.text(4), default: 0] += 1
                case _ where !row.isTrue(5):
                    leaveOut("Table '\(name)' is left out, because the user has no right to read it.")
                case _ where row.isTrue(6):
                    leaveOut("Table '\(name)' is left out, because row-level security hides rows of it from the user.")
                default: try addTable(row)
                }
            }
            for (number, table) in schema.tables.enumerated() {
                guard let count = partitionCounts[table.name] else { continue }
                schema.tables[number].remarks.append(
                    count == 1
                        ? "Its partition is left out; the rows are imported with the table."
                        : "Its \(count) partitions are left out; the rows are imported with the table.")
            }
            guard !schema.tables.isEmpty else {
                throw StoreError(
                    .invalidRequest, "'\(database.name)' has no tables to import\(try database.otherSchemas()).")
            }
        }

        private mutating func addTable(_ row: CatalogRow) throws(StoreError) {
            let name = row.text(1)
            var table = ForeignTable(name)
            table.hasCheck = row.isTrue(8)
            if !row.isNull(4) { table.remarks.append("Its inheritance from '\(row.text(4))' is left out.") }
            if row.isTrue(9) { table.remarks.append("Comments are left out.") }
            let isPartitioned = row.text(2) == "p"
            let sql = "\(try database.quoted(database.schema)).\(try database.quoted(name))"
            numbers[row.text(0)] = schema.tables.count
            schema.add(table)
            // ONLY leaves out the rows of inheriting tables, which are imported separately.
            tables.append(
                PostgreSQLSource.Table(
                    sql: isPartitioned ? sql : "ONLY \(sql)", isPartitioned: isPartitioned,
                    hasLargeValues: row.isTrue(7)))
            columns.append([:])
        }

        // MARK: Columns

        private mutating func readColumns() throws(StoreError) {
            let isHere = try isInSchema("c.relnamespace")
            let rows = try database.query(
                """
                WITH RECURSIVE bases AS (
                    SELECT t.oid, t.oid AS base FROM pg_type t WHERE t.typtype <> 'd'
                    UNION ALL
                    SELECT t.oid, b.base FROM pg_type t JOIN bases b ON t.typbasetype = b.oid WHERE t.typtype = 'd')
                SELECT c.oid, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), t.typname,
                    t.typnamespace = 'pg_catalog'::regnamespace, a.atttypid <> t.oid, a.attnotnull,
                    pg_get_expr(d.adbin, d.adrelid), a.attgenerated, a.attidentity,
                    CASE WHEN a.attcollation <> y.typcollation THEN l.collname END,
                    NOT COALESCE(l.collisdeterministic, true), has_column_privilege(c.oid, a.attnum, 'SELECT')
                FROM pg_attribute a
                JOIN pg_class c ON c.oid = a.attrelid
                JOIN pg_type y ON y.oid = a.atttypid
                JOIN bases b ON b.oid = a.atttypid
                JOIN pg_type t ON t.oid = b.base
                LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                LEFT JOIN pg_collation l ON l.oid = a.attcollation
                WHERE \(isHere) AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
                ORDER BY c.oid, a.attnum
                """)
            for row in rows {
                let row = CatalogRow(row)
                guard let table = numbers[row.text(0)], let number = Int(row.text(1)) else { continue }
                try addColumn(row, number: number, of: table)
            }
        }

        private mutating func addColumn(_ row: CatalogRow, number: Int, of table: Int) throws(StoreError) {
            let name = row.text(2)
            guard row.isTrue(13) else {
                schema.tables[table].remarks.append(
                    "Column '\(name)' is left out, because the user has no right to read it.")
                return
            }
            var type = PostgreSQLType(
                row.text(3), base: row.text(4), isBuiltIn: row.isTrue(5), isDomain: row.isTrue(6))
            let position = schema.tables[table].columns.count
            let isGenerated = !row.text(9).isEmpty
            var defaultText = isGenerated ? nil : row.isNull(8) ? nil : row.text(8)
            if !row.text(10).isEmpty || defaultText?.hasPrefix("nextval(") == true {
                defaultText = nil
                type.remarks.append("the sequence that numbers new rows is left out")
            }
            if row.isTrue(12) { type.isFolding = true }
            schema.tables[table].add(
                ForeignTable.Column(
                    name: name, declaredType: type.declaredType, isStrict: true, isMandatory: row.isTrue(7),
                    defaultText: defaultText,
                    defaultLiteral: defaultText.flatMap { SchemaLiteral(postgreSQL: $0, type: type) },
                    collation: row.isNull(11) ? "BINARY" : row.text(11), isFolding: type.isFolding,
                    isGenerated: isGenerated))
            if !type.remarks.isEmpty { schema.tables[table].columnRemarks[position] = type.remarks }
            tables[table].columns.append(try database.quoted(name))
            tables[table].kinds.append(type.kind)
            columns[table][number] = position
        }

        func quoted(_ column: Int, of table: Int) -> String { tables[table].columns[column] }

        func isInteger(_ column: Int, of table: Int) -> Bool { tables[table].kinds[column] == .integer }
    }

    /// A row of the server's system tables.
    struct CatalogRow {
        private let values: [String?]

        init(_ values: [String?]) { self.values = values }

        func isNull(_ column: Int) -> Bool { column >= values.count || values[column] == nil }
        func text(_ column: Int) -> String { column < values.count ? values[column] ?? "" : "" }
        func isTrue(_ column: Int) -> Bool { text(column) == "t" }

        /// Returns the numbers in a text such as `1 2` or `{1,2}`.
        func numbers(_ column: Int) -> [Int] {
            text(column).split { !$0.isNumber && $0 != "-" }.compactMap { Int($0) }
        }
    }
#endif
