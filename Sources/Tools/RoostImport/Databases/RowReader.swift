internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    /// Reads the rows of one table, with any number of expressions for each row.
    ///
    /// SQLite limits the columns of a statement. More expressions are divided among several
    /// statements, which step through the rows together.
    struct RowReader {
        /// A place in the statements.
        struct Place {
            let statement: ForeignStatement
            let column: Int32
        }

        private let statements: [ForeignStatement]
        /// The place of each expression.
        let places: [Place]
        /// The place of the rowid.
        let rowID: Place
        private let table: String
        private let path: String

        /// Prepares to read.
        ///
        /// - Parameters:
        ///   - expressions: The SQL expressions to read for each row of the table `t`.
        ///   - table: The table.
        ///   - database: The connection.
        /// - Throws: Errors of the database.
        init(_ expressions: [String], of table: ForeignTable, in database: ForeignDatabase) throws(StoreError) {
            let capacity = max(2, database.maximumColumnCount)
            let all = [table.rowIDName.map { "t.\($0)" } ?? "0"] + expressions
            var (statements, places): ([ForeignStatement], [Place]) = ([], [])
            var start = 0
            while start < all.count {
                let part = all[start..<min(all.count, start + capacity)]
                let statement = try database.prepare(
                    "SELECT \(part.joined(separator: ", ")) \(Self.source(table)) \(Self.order(table))")
                statements.append(statement)
                for column in part.indices { places.append(Place(statement: statement, column: Int32(column - start))) }
                start += capacity
            }
            guard let first = places.first else {
                throw StoreError(.internalInconsistency, "A table was read without columns.")
            }
            self.statements = statements
            self.places = Array(places.dropFirst())
            rowID = first
            self.table = table.name
            path = database.path
        }

        /// Returns the FROM clause of a table.
        static func source(_ table: ForeignTable) -> String {
            // Rows are read from the table itself, not from a covering index.
            "FROM main.\(ForeignDatabase.quoted(table.name)) AS t NOT INDEXED"
        }

        /// Returns the ORDER BY clause that gives the rows the same order each time.
        static func order(_ table: ForeignTable) -> String {
            if let name = table.rowIDName { return "ORDER BY t.\(name)" }
            guard table.isWithoutRowID else { return "" }
            let columns = table.primaryKey.map { "t." + ForeignDatabase.quoted(table.columns[$0].name) }
            return "ORDER BY " + columns.joined(separator: ", ")
        }

        /// Moves to the next row.
        ///
        /// Returns false at the end.
        func step() throws(StoreError) -> Bool {
            guard let first = statements.first else { return false }
            let hasRow = try first.step()
            for other in statements.dropFirst() {
                guard try other.step() == hasRow else {
                    throw StoreError(
                        .corrupted,
                        "Table '\(table)' of '\(path)' has different numbers of rows in two passes. Check the database."
                    )
                }
            }
            return hasRow
        }
    }
#endif
