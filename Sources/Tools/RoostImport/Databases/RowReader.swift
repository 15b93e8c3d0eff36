internal import RoostCore

/// Reads the rows of one table, with any number of values for each row.
///
/// Databases limit the number of columns in a statement. If a row has more values, several
/// statements step through the rows together.
struct RowReader<Source: ForeignSource> {
    /// A column of one of the statements.
    struct Place {
        let rows: Source.Rows
        let column: Int32
    }

    private let statements: [Source.Rows]
    let places: [Place]
    let rowID: Place
    private let table: String
    private let name: String

    init(_ values: [ForeignValue], of table: Int, in source: Source) throws(StoreError) {
        let capacity = max(2, source.maximumColumnCount)
        let all = [.rowID] + values
        var (statements, places): ([Source.Rows], [Place]) = ([], [])
        var start = 0
        while start < all.count {
            let part = Array(all[start..<min(all.count, start + capacity)])
            let rows = try source.rows(part, of: table)
            statements.append(rows)
            for column in part.indices { places.append(Place(rows: rows, column: Int32(column))) }
            start += capacity
        }
        guard let first = places.first else {
            throw StoreError(.internalInconsistency, "A table was read without columns.")
        }
        self.statements = statements
        self.places = Array(places.dropFirst())
        rowID = first
        self.table = source.schema.tables[table].name
        name = source.name
    }

    /// Moves to the next row, or returns false at the end.
    func step() throws(StoreError) -> Bool {
        guard let first = statements.first else { return false }
        let hasRow = try first.step()
        for other in statements.dropFirst() {
            guard try other.step() == hasRow else {
                throw StoreError(
                    .corrupted,
                    "Two queries of table '\(table)' of '\(name)' gave different numbers of rows. Check the database for damage."
                )
            }
        }
        return hasRow
    }
}
