internal import RoostCore

/// Reads the rows of a text, one after the other.
protocol TextRowReader: AnyObject {
    /// The names of the columns that were met so far.
    var columns: [String] { get }
    /// The current row.
    var row: ImportRow { get }

    /// Goes to the next row.
    ///
    /// - Returns: False at the end.
    /// - Throws: `invalidValue` with a place for a text that cannot be read on; `ioFailure`,
    ///   `limitExceeded`.
    func next() throws(StoreError) -> Bool

    /// Returns the bytes of a cell of the current row, in UTF-8 if the text is valid.
    ///
    /// They are there until ``next()`` is called again.
    func bytes(of cell: ImportRow.Cell) -> UnsafeRawBufferPointer
}

/// A row: its cells by column, and its place.
struct ImportRow {
    /// A value of a row.
    struct Cell {
        /// The kind of value that the text shows.
        enum Kind: UInt8 {
            /// The row has no such cell.
            case absent
            /// The text has a null.
            case null
            /// Characters that can mean anything: a cell of CSV.
            case plain
            /// Characters that are text: a JSON string.
            case text
            /// A JSON number.
            case number
            /// A JSON boolean; its bytes are `true` or `false`.
            case boolean
            /// A JSON array or object, as JSON.
            case json
        }

        var kind: Kind
        var start = 0
        var count = 0

        static let absent = Cell(kind: .absent)
    }

    /// The number of the line that the row starts in, from 1.
    var line = 1
    /// By column; a column that is missing at the end is absent.
    var cells: [Cell] = []
    /// The reason why the row cannot be taken, without its place, or nil for a sound row.
    var problem: String?
}
