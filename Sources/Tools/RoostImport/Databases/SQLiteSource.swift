internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    /// A foreign SQLite database.
    final class SQLiteSource: ForeignSource {
        let schema: ForeignSchema
        private let file: SQLiteFile
        private let database: ForeignDatabase
        private var keys: SQLiteKeys?

        /// Begins a transaction and reads the schema.
        ///
        /// Calls `checkCancellation` regularly while statements run.
        ///
        /// - Throws: `notFound`, `notAStore`, `corrupted`, `busy`, `permissionDenied`, `ioFailure`;
        ///   `invalidRequest` for a store of Roost or Core Data and for a database without tables.
        init(path: String, checkCancellation: @escaping @Sendable () throws(StoreError) -> Void) throws(StoreError) {
            let file = try SQLiteFile(path: path)
            let database = try ForeignDatabase(file: path, mode: file.mode, checkCancellation: checkCancellation)
            try database.execute("PRAGMA temp_store=FILE")
            try database.execute("BEGIN")
            // The transaction begins with the first read.
            try database.execute("SELECT count(*) FROM main.sqlite_schema")
            var schema = try SQLiteSchemaReader.read(database)
            if let remark = file.remark { schema.remarks.insert(remark, at: 0) }
            (self.file, self.database, self.schema) = (file, database, schema)
        }

        var name: String { database.path }
        var maximumColumnCount: Int { database.maximumColumnCount }

        func chooseKeys(_ isNumbered: [Bool]) throws(StoreError) {
            keys = try SQLiteKeys(schema, isNumbered: isNumbered, database: database)
        }

        func rows(_ values: [ForeignValue], of table: Int) throws(StoreError) -> ForeignStatement {
            let table = schema.tables[table]
            var parts: [String] = []
            for value in values { parts.append(try sql(value, of: table)) }
            return try database.prepare(
                "SELECT \(parts.joined(separator: ", ")) \(SQLiteKeys.source(table)) \(SQLiteKeys.order(table))")
        }

        func pairs(
            from source: ForeignTable.ForeignKey, to destination: ForeignTable.ForeignKey, of table: Int
        ) throws(StoreError) -> ForeignStatement {
            let table = schema.tables[table]
            let (first, second) = (try key(source, of: table), try key(destination, of: table))
            return try database.prepare(
                "SELECT s, d, count(*) FROM (SELECT \(first) AS s, \(second) AS d \(SQLiteKeys.source(table))) WHERE s IS NOT NULL AND d IS NOT NULL GROUP BY s, d ORDER BY s, d"
            )
        }

        func verify() throws(StoreError) { try file.verify() }

        /// Does nothing, because the transaction ends when the database is deallocated.
        func close() {}

        private func sql(_ value: ForeignValue, of table: ForeignTable) throws(StoreError) -> String {
            switch value {
            case .rowID: return table.rowIDName.map { "t.\($0)" } ?? "0"
            case .column(let column): return "t." + ForeignDatabase.quoted(table.columns[column].name)
            case .reference(let foreignKey): return try key(foreignKey, of: table)
            case .isDangling(let foreignKey): return SQLiteKeys.danglingCheck(foreignKey, of: table, in: schema)
            }
        }

        private func key(_ foreignKey: ForeignTable.ForeignKey, of table: ForeignTable) throws(StoreError) -> String {
            guard let keys else {
                throw StoreError(.internalInconsistency, "A reference was read before the keys were chosen.")
            }
            return keys.key(foreignKey, of: table)
        }
    }

    extension ForeignStatement: ForeignRows {
        func cell(_ column: Int32) -> ForeignCell {
            switch storageClass(column) {
            case .null: .null
            case .integer: .integer(integer(column))
            case .real: .real(double(column))
            case .text: .text
            case .blob: .blob
            }
        }
    }
#endif
