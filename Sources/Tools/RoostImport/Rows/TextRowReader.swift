internal import RoostCore

/// Reads the rows of a text.
protocol TextRowReader: AnyObject {
    /// The names of the columns that were found so far.
    var columns: [String] { get }
    var row: ImportRow { get }

    /// Moves to the next row, or returns false at the end.
    ///
    /// - Throws: `invalidValue` with the place at which the text cannot be read; `ioFailure`,
    ///   `limitExceeded`.
    func next() throws(StoreError) -> Bool

    /// Returns the bytes of a cell, which are valid until ``next()`` is called.
    ///
    /// The bytes are UTF-8 if the text is valid.
    func bytes(of cell: ImportRow.Cell) -> UnsafeRawBufferPointer
}

struct ImportRow {
    struct Cell {
        enum Kind: UInt8 {
            /// The row has no cell in the column.
            case absent
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

    /// The number of the row's first line, from 1.
    var line = 1
    /// The cells by column.
    ///
    /// Missing cells at the end count as absent.
    var cells: [Cell] = []
    /// The reason why the row is invalid, without the line number, or nil.
    var problem: String?
}
