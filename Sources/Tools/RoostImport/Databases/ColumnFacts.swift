internal import RoostCore

/// Statistics about the values in one column of a table.
struct ColumnFacts {
    let declaredType: DeclaredType
    /// Whether the database accepts only values of the declared type.
    let isStrict: Bool
    var nulls = 0
    var integers = 0
    var reals = 0
    var texts = 0
    var blobs = 0
    /// Whether all whole numbers are 0 or 1.
    var isBoolean = true
    /// Whether every whole number is exact as a double.
    var isExactDouble = true
    /// Whether all numbers are decimals of at most 38 digits.
    ///
    /// Determined only if the declared type is ``DeclaredType/decimal``.
    var isDecimal = true
    var isValidText = true
    /// Whether all texts and blobs are UUIDs.
    ///
    /// Determined only if the declared type is ``DeclaredType/uuid``.
    var isUUID = true
    var hasUpperCase = false
    var hasLowerCase = false
    /// Whether all texts are dates.
    ///
    /// Determined only if the declared type is ``DeclaredType/date``.
    var isDate = true
    var dateForms: DateForm = []
    var hasOneDateForm = true

    // Counted only if the database has types for decimals and dates.
    var decimals = 0
    var dates = 0
    /// Whether no date loses digits of its seconds.
    var hasExactDates = true
    var firstTextRow: Int64?

    init(_ column: ForeignTable.Column) { (declaredType, isStrict) = (column.declaredType, column.isStrict) }

    /// The number of values that are not null.
    var values: Int { integers + reals + texts + blobs + decimals + dates }

    mutating func add<Rows: ForeignRows>(_ rows: Rows, column: Int32, row: Int64) throws(StoreError) {
        switch try rows.cell(column) {
        case .null: nulls += 1
        case .integer(let value):
            integers += 1
            if value < 0 || value > 1 {
                isBoolean = false
                if value.magnitude > 1 << 53 { isExactDouble = isExactDouble && Double(exactly: value) != nil }
            }
        case .real(let value):
            reals += 1
            guard declaredType == .decimal, isDecimal else { return }
            isDecimal = NumberText.decimal(value) != nil
        case .decimal: decimals += 1
        case .date(_, let isExact):
            dates += 1
            if !isExact { hasExactDates = false }
        case .text:
            texts += 1
            if firstTextRow == nil { firstTextRow = row }
            try rows.withBytes(column) { (bytes) throws(StoreError) in addText(bytes) }
        case .blob:
            blobs += 1
            guard declaredType == .uuid, isUUID else { return }
            isUUID = try rows.withBytes(column) { (bytes) throws(StoreError) in bytes.count == 16 }
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
    /// Whether all rowids are at least 1, or the table has no rowid.
    var hasPositiveRowIDs = true
    /// For each foreign key, the number of rows that refer to a missing row.
    var danglingRows: [Int]
    /// For each foreign key, the first row that refers to a missing row, or nil.
    var firstDanglingRow: [Int64?]

    /// Reads all rows of a table.
    init<Source: ForeignSource>(
        _ table: Int, in source: Source, checkCancellation: () throws(StoreError) -> Void
    ) throws(StoreError) {
        let number = table
        let table = source.schema.tables[number]
        columns = table.columns.map { ColumnFacts($0) }
        danglingRows = table.foreignKeys.map { _ in 0 }
        firstDanglingRow = table.foreignKeys.map { _ in nil }
        let reader = try RowReader(
            table.columns.indices.map { .column($0) } + table.foreignKeys.map { .isDangling($0) }, of: number,
            in: source)
        let (rowID, places) = (reader.rowID, reader.places)
        let columnCount = columns.count
        var previous: Int64?
        while try reader.step() {
            rows += 1
            if rows % 4096 == 0 { try checkCancellation() }
            var row = Int64(rows)
            if table.rowIDName != nil {
                row = try rowID.rows.integer(rowID.column)
                if row < 1 { hasPositiveRowIDs = false }
                if let previous, row <= previous { throw Self.outOfOrder(table.name, name: source.name) }
                previous = row
            }
            for column in 0..<columnCount {
                try columns[column].add(places[column].rows, column: places[column].column, row: row)
            }
            for key in danglingRows.indices {
                let place = places[columnCount + key]
                guard try place.rows.integer(place.column) != 0 else { continue }
                danglingRows[key] += 1
                if firstDanglingRow[key] == nil { firstDanglingRow[key] = row }
            }
        }
    }

    private static func outOfOrder(_ table: String, name: String) -> StoreError {
        StoreError(
            .corrupted,
            "Table '\(table)' of '\(name)' is damaged: the keys of its rows do not ascend. Restore it from a backup."
        )
    }
}
