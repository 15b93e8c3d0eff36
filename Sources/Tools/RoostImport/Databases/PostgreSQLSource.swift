internal import RoostCore

#if PostgreSQL
    internal import RoostPostgreSQL

    /// A schema of a foreign PostgreSQL database.
    ///
    /// A row's key is its primary key, if that is one integer and positive in all rows. Otherwise,
    /// each statement numbers the rows anew, so that nothing is written to the server.
    final class PostgreSQLSource: ForeignSource {
        /// The parts of a table's declaration that only statements need.
        struct Table {
            /// The table in a FROM clause.
            var sql: String
            /// The quoted column names.
            var columns: [String] = []
            var kinds: [PostgreSQLKind] = []
            var isPartitioned = false
            /// Whether the table may have values that are stored outside its rows.
            var hasLargeValues = false
        }

        let schema: ForeignSchema
        private let database: ForeignPostgreSQL
        private let tables: [Table]
        private var isNumbered: [Bool] = []

        /// Begins a transaction and reads the declarations.
        ///
        /// - Throws: Errors of the database; `invalidRequest` for a schema with a Roost store and
        ///   for a schema without tables.
        init(
            path: String, timeoutSeconds: Double,
            checkCancellation: @escaping @Sendable () throws(StoreError) -> Void
        ) throws(StoreError) {
            database = try ForeignPostgreSQL(
                path, timeoutSeconds: timeoutSeconds, checkCancellation: checkCancellation)
            try database.begin(locking: try PostgreSQLSchemaReader.tablesToLock(database))
            (schema, tables) = try PostgreSQLSchemaReader.read(database)
        }

        var name: String { database.name }
        var maximumColumnCount: Int { ForeignPostgreSQL.maximumColumnCount }

        func chooseKeys(_ isNumbered: [Bool]) throws(StoreError) { self.isNumbered = isNumbered }

        /// Does nothing: the transaction sees no changes by other sessions.
        func verify() throws(StoreError) {}

        func close() { database.close() }

        func rows(_ values: [ForeignValue], of table: Int) throws(StoreError) -> PostgreSQLRows {
            var joins: [String] = []
            var kinds: [PostgreSQLKind] = []
            let parts = values.map { value in
                switch value {
                case .rowID:
                    kinds.append(.integer)
                    return schema.tables[table].rowIDName.map { "t.\($0)" } ?? "0"
                case .column(let column):
                    kinds.append(tables[table].kinds[column])
                    return "t.\(tables[table].columns[column])"
                case .reference(let key):
                    kinds.append(.integer)
                    joins.append(join(key, of: table, number: joins.count, key: self.key(of: key.parent)))
                    return "j\(joins.count - 1).k"
                case .isDangling(let key):
                    kinds.append(.integer)
                    joins.append(join(key, of: table, number: joins.count, key: "1"))
                    let isSet = key.columns.map { "t.\(tables[table].columns[$0]) IS NOT NULL" }
                    return
                        "CASE WHEN j\(joins.count - 1).k IS NULL AND (\(isSet.joined(separator: " OR "))) THEN 1 ELSE 0 END"
                }
            }
            let sql =
                "SELECT \(parts.joined(separator: ", ")) FROM \(tables[table].sql) AS t\(joins.joined()) ORDER BY \(order(of: table, alias: "t"))"
            return PostgreSQLRows(
                try database.rows(sql, hasLargeValues: tables[table].hasLargeValues), kinds: kinds)
        }

        func pairs(
            from source: ForeignTable.ForeignKey, to destination: ForeignTable.ForeignKey, of table: Int
        ) throws(StoreError) -> PostgreSQLRows {
            let joins = [source, destination].enumerated().map { number, key in
                join(key, of: table, number: number, key: self.key(of: key.parent))
            }
            let sql =
                "SELECT s, d, count(*) FROM (SELECT j0.k AS s, j1.k AS d FROM \(tables[table].sql) AS t\(joins.joined())) AS pairs WHERE s IS NOT NULL AND d IS NOT NULL GROUP BY s, d ORDER BY s, d"
            return PostgreSQLRows(
                try database.rows(sql, hasLargeValues: false), kinds: [.integer, .integer, .integer])
        }

        /// Returns the SQL for the object key of a row in table `p`.
        private func key(of table: Int) -> String {
            if let name = schema.tables[table].rowIDName, table < isNumbered.count, !isNumbered[table] {
                return "p.\(name)"
            }
            return "row_number() OVER (ORDER BY \(order(of: table, alias: "p")))"
        }

        /// Returns a join of table `t` with the rows to which a foreign key refers.
        ///
        /// The join compares columns with the operators of the foreign key. At most one row matches
        /// each row of `t`.
        private func join(_ foreignKey: ForeignTable.ForeignKey, of table: Int, number: Int, key: String) -> String {
            let parent = tables[foreignKey.parent]
            let columns = foreignKey.parentColumns.enumerated().map { "p.\(parent.columns[$1]) AS c\($0)" }
            let conditions = foreignKey.columns.enumerated().map { place, column in
                let comparison = place < foreignKey.operators.count ? foreignKey.operators[place] : "="
                return "j\(number).c\(place) \(comparison) t.\(tables[table].columns[column])"
            }
            return
                " LEFT JOIN (SELECT \((columns + ["\(key) AS k"]).joined(separator: ", ")) FROM \(parent.sql) AS p) AS j\(number) ON \(conditions.joined(separator: " AND "))"
        }

        /// Returns the terms of an ORDER BY clause that gives the rows the same order each time.
        private func order(of table: Int, alias: String) -> String {
            let declared = schema.tables[table]
            if let name = declared.rowIDName { return "\(alias).\(name)" }
            guard declared.primaryKey.isEmpty else {
                return declared.primaryKey.map { "\(alias).\(tables[table].columns[$0])" }.joined(separator: ", ")
            }
            // The rows' physical locations do not change in the transaction.
            return tables[table].isPartitioned ? "\(alias).tableoid, \(alias).ctid" : "\(alias).ctid"
        }
    }
#endif
