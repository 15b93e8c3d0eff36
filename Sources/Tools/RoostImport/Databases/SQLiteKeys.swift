internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    /// The object keys of rows, and the SQL that finds the keys.
    ///
    /// The key of a row is its rowid. The rows of a table are numbered instead if statements cannot
    /// name the rowid, or if any rowid is below 1. If foreign keys refer to a numbered table, a
    /// temporary table on disk maps rows to numbers.
    struct SQLiteKeys {
        private let schema: ForeignSchema
        private let isNumbered: [Bool]

        /// Creates the temporary tables.
        init(_ schema: ForeignSchema, isNumbered: [Bool], database: ForeignDatabase) throws(StoreError) {
            (self.schema, self.isNumbered) = (schema, isNumbered)
            let parents = Set(schema.tables.flatMap(\.foreignKeys).map(\.parent))
            for number in parents.sorted() where isNumbered[number] {
                let table = schema.tables[number]
                let names = Self.identity(table).indices.map { "v\($0)" }.joined(separator: ", ")
                let values = Self.identity(table).map { "t." + $0 }.joined(separator: ", ")
                try database.execute("CREATE TEMP TABLE \(Self.map(number)) (key INTEGER PRIMARY KEY, \(names))")
                try database.execute(
                    "INSERT INTO temp.\(Self.map(number)) (\(names)) SELECT \(values) \(Self.source(table)) \(Self.order(table))"
                )
                try database.execute("CREATE INDEX temp.\(Self.map(number))_rows ON \(Self.map(number)) (\(names))")
            }
        }

        /// Returns the FROM clause of a table.
        static func source(_ table: ForeignTable) -> String {
            // Without NOT INDEXED, SQLite may read the rows from a covering index, in another order.
            "FROM main.\(ForeignDatabase.quoted(table.name)) AS t NOT INDEXED"
        }

        /// Returns the ORDER BY clause that makes the order of the rows repeatable.
        ///
        /// Empty if the table has a rowid without a usable name.
        static func order(_ table: ForeignTable) -> String {
            if let name = table.rowIDName { return "ORDER BY t.\(name)" }
            guard table.isWithoutRowID else { return "" }
            let columns = table.primaryKey.map { "t." + ForeignDatabase.quoted(table.columns[$0].name) }
            return "ORDER BY " + columns.joined(separator: ", ")
        }

        private static func map(_ number: Int) -> String { "roost_keys_\(number)" }

        /// Returns the columns that identify a row.
        private static func identity(_ table: ForeignTable) -> [String] {
            table.rowIDName.map { [$0] } ?? table.primaryKey.map { ForeignDatabase.quoted(table.columns[$0].name) }
        }

        /// Returns SQL for the key of the object to which a foreign key refers.
        ///
        /// In the SQL, `t` is the table with the foreign key.
        func key(_ key: ForeignTable.ForeignKey, of table: ForeignTable) -> String {
            let parent = schema.tables[key.parent]
            let source = "main.\(ForeignDatabase.quoted(parent.name)) AS p"
            let condition = Self.condition(key, of: table, parent: parent)
            guard isNumbered[key.parent] else {
                return "(SELECT p.\(parent.rowIDName ?? "rowid") FROM \(source) WHERE \(condition))"
            }
            // A unary plus removes the affinity, so that values are not converted.
            let sameRow = Self.identity(parent).enumerated().map { "k.v\($0) = +p.\($1)" }.joined(separator: " AND ")
            return
                "(SELECT k.key FROM \(source) CROSS JOIN temp.\(Self.map(key.parent)) AS k WHERE \(condition) AND \(sameRow))"
        }

        /// Returns SQL that is 1 for a row with a dangling foreign key, and 0 otherwise.
        static func danglingCheck(
            _ key: ForeignTable.ForeignKey, of table: ForeignTable, in schema: ForeignSchema
        ) -> String {
            let parent = schema.tables[key.parent]
            let values = key.columns.map { "t.\(ForeignDatabase.quoted(table.columns[$0].name)) IS NOT NULL" }
            return
                "((\(values.joined(separator: " OR "))) AND NOT EXISTS (SELECT 1 FROM main.\(ForeignDatabase.quoted(parent.name)) AS p WHERE \(condition(key, of: table, parent: parent))))"
        }

        /// Returns a condition that compares like SQLite's foreign keys, with the collation and
        /// affinity of the parent's columns.
        private static func condition(
            _ key: ForeignTable.ForeignKey, of table: ForeignTable, parent: ForeignTable
        ) -> String {
            zip(key.columns, key.parentColumns).map { column, parentColumn in
                "p.\(ForeignDatabase.quoted(parent.columns[parentColumn].name)) = +t.\(ForeignDatabase.quoted(table.columns[column].name))"
            }.joined(separator: " AND ")
        }
    }
#endif
