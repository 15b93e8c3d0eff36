internal import RoostCore

/// Reads the rows of a text, one after the other.
protocol TextRowReader: AnyObject {
    /// The names of the columns that were found so far.
    var columns: [String] { get }
    /// The current row.
    var row: ImportRow { get }

    /// Moves to the next row.
    ///
    /// - Returns: Whether there is a next row.
    /// - Throws: `invalidValue` with the place at which the text cannot be read; `ioFailure`,
    ///   `limitExceeded`.
    func next() throws(StoreError) -> Bool

    /// Returns the bytes of a cell of the current row, in UTF-8 if the text is valid.
    ///
    /// The bytes are valid until ``next()`` is called again.
    func bytes(of cell: ImportRow.Cell) -> UnsafeRawBufferPointer
}

/// A row: its cells by column, and its place.
struct ImportRow {
    /// A value of a row.
    struct Cell {
        /// The kind of value in the text.
        enum Kind: UInt8 {
            /// The row has no such cell.
            case absent
            /// The cell is null.
            case null
            /// Characters of an unknown type, as in a CSV cell.
            case plain
            /// The characters of a JSON string.
            case text
            /// A JSON number.
            case number
            /// A JSON boolean, with the bytes `true` or `false`.
            case boolean
            /// A JSON array or object, as JSON text.
            case json
        }

        var kind: Kind
        var start = 0
        var count = 0

        static let absent = Cell(kind: .absent)
    }

    /// The number of the line that the row starts in, from 1.
    var line = 1
    /// The cells by column.
    ///
    /// If the row has fewer cells than there are columns, the missing cells at the end count as
    /// absent.
    var cells: [Cell] = []
    /// The reason why the row is invalid, without its place, or nil for a valid row.
    var problem: String?
}
