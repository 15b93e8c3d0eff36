internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    /// The kinds of values that the rows of a table have in one column.
    struct ColumnFacts {
        let declaredType: DeclaredType
        var nulls = 0
        var integers = 0
        var reals = 0
        var texts = 0
        var blobs = 0
        /// Whether all whole numbers are 0 or 1.
        var isBoolean = true
        /// Whether all whole numbers are floating-point numbers too.
        var isExactDouble = true
        /// Whether all numbers are decimals of at most 38 digits.
        ///
        /// Only determined for declared decimals.
        var isDecimal = true
        /// Whether all texts are valid UTF-8.
        var isValidText = true
        /// Whether all texts and blobs are UUIDs.
        ///
        /// Only determined for declared UUIDs.
        var isUUID = true
        var hasUpperCase = false
        var hasLowerCase = false
        /// Whether all texts are dates.
        ///
        /// Only determined for declared dates.
        var isDate = true
        /// The forms of the dates that were found.
        var dateForms: DateForm = []
        /// Whether all dates have the same form.
        var hasOneDateForm = true

        init(_ declaredType: DeclaredType) { self.declaredType = declaredType }

        /// The number of values that are not null.
        var values: Int { integers + reals + texts + blobs }

        /// Counts a value.
        mutating func add(_ statement: ForeignStatement, column: Int32) throws(StoreError) {
            switch statement.storageClass(column) {
            case .null: nulls += 1
            case .integer:
                integers += 1
                let value = statement.integer(column)
                if value < 0 || value > 1 {
                    isBoolean = false
                    if value.magnitude > 1 << 53 { isExactDouble = isExactDouble && Double(exactly: value) != nil }
                }
            case .real:
                reals += 1
                guard declaredType == .decimal, isDecimal else { return }
                isDecimal = NumberText.decimal(statement.double(column)) != nil
            case .text:
                texts += 1
                try statement.withBytes(column) { (bytes) throws(StoreError) in addText(bytes) }
            case .blob:
                blobs += 1
                guard declaredType == .uuid, isUUID else { return }
                isUUID = try statement.withBytes(column) { (bytes) throws(StoreError) in bytes.count == 16 }
            }
        }

        private mutating func addText(_ bytes: UnsafeRawBufferPointer) {
            if isValidText { isValidText = bytes.isValidUTF8 }
            switch declaredType {
            case .date where isDate:
                guard let (_, form) = DateForm.read(bytes) else { return isDate = false }
                if form != dateForms, !dateForms.isEmpty { hasOneDateForm = false }
                dateForms.formUnion(form)
            case .uuid where isUUID:
                isUUID = UUIDText.bytes(bytes) != nil
                for byte in bytes {
                    if (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte) { hasUpperCase = true }
                    if (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) { hasLowerCase = true }
                }
            default: break
            }
        }
    }

    /// Statistics about the rows of a table.
    struct TableFacts {
        var rows = 0
        var columns: [ColumnFacts]
        /// Whether all rowids are at least 1, or the table has none.
        var hasPositiveRowIDs = true
        /// For each foreign key, the number of rows with dangling values.
        var danglingRows: [Int]
        /// For each foreign key, the first row with dangling values.
        var firstDanglingRow: [Int64?]

        /// Reads all rows of a table.
        ///
        /// - Parameters:
        ///   - table: The table.
        ///   - schema: The schema, for the foreign keys.
        ///   - database: The connection.
        ///   - checkCancellation: Called regularly.
        /// - Throws: Errors of the database; errors of `checkCancellation`.
        init(
            _ table: ForeignTable, schema: ForeignSchema, database: ForeignDatabase,
            checkCancellation: () throws(StoreError) -> Void
        ) throws(StoreError) {
            columns = table.columns.map { ColumnFacts($0.declaredType) }
            danglingRows = table.foreignKeys.map { _ in 0 }
            firstDanglingRow = table.foreignKeys.map { _ in nil }
            let checks = table.foreignKeys.map { KeyLookup.danglingCheck($0, of: table, in: schema) }
            let reader = try RowReader(
                table.columns.map { "t." + ForeignDatabase.quoted($0.name) } + checks, of: table, in: database)
            let (rowID, places) = (reader.rowID, reader.places)
            let columnCount = columns.count
            var previous: Int64?
            while try reader.step() {
                rows += 1
                if rows % 4096 == 0 { try checkCancellation() }
                var row = Int64(rows)
                if table.rowIDName != nil {
                    row = rowID.statement.integer(rowID.column)
                    if row < 1 { hasPositiveRowIDs = false }
                    if let previous, row <= previous { throw Self.outOfOrder(table.name, path: database.path) }
                    previous = row
                }
                for column in 0..<columnCount {
                    try columns[column].add(places[column].statement, column: places[column].column)
                }
                for key in danglingRows.indices {
                    let place = places[columnCount + key]
                    guard place.statement.integer(place.column) != 0 else { continue }
                    danglingRows[key] += 1
                    if firstDanglingRow[key] == nil { firstDanglingRow[key] = row }
                }
            }
        }

        private static func outOfOrder(_ table: String, path: String) -> StoreError {
            StoreError(
                .corrupted,
                "Table '\(table)' of '\(path)' is damaged: its rowids do not ascend. Restore it from a backup.")
        }
    }
#endif
