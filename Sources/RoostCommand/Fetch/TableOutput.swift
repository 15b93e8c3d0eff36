internal import RoostCore
internal import RoostText

/// Records as a table for people, fitted to the width of the terminal.
///
/// The first batch decides how wide the columns are; what is wider is cut and ends with `…`. Memory is that of one batch.
struct TableOutput: RecordOutput {
    private struct Cell {
        var text: String
        var width: Int
        var isNull = false
    }

    private let rows: RecordRowWriter
    private let style: TableStyle
    private let console: Console
    private let alignsRight: [Bool]
    /// The widths of the columns that are shown, once they are known; those behind them have no room.
    private var widths: [Int] = []
    private var hasBegun = false

    init(_ rows: RecordRowWriter, _ style: TableStyle, _ console: Console) {
        self.rows = rows
        self.style = style
        self.console = console
        alignsRight = rows.columns.columns.map(\.isNumeric)
    }

    mutating func write(_ batch: RecordBatch) throws {
        var cells: [[Cell]] = []
        cells.reserveCapacity(batch.count)
        try batch.forEachRecord { record in
            cells.append(try rows.columns.columns.indices.map { try cell($0, record) })
        }
        if !hasBegun { try begin(cells) }
        var text = ""
        for row in cells { appendLine(row, to: &text) }
        try console.write(Array(text.utf8))
    }

    mutating func end() throws { if !hasBegun { try begin([]) } }

    // MARK: Widths

    private mutating func begin(_ sample: [[Cell]]) throws {
        hasBegun = true
        let titles = rows.columns.columns.map { column in
            let title = VisibleText.of(column.name)
            return Cell(text: title, width: DisplayWidth.of(title))
        }
        let wanted = titles.indices.map { column in
            sample.reduce(titles[column].width) { max($0, $1[column].width) }
        }
        widths = style.width.map { TableStyle.fit(wanted, into: $0) } ?? wanted
        if widths.count < titles.count {
            let hidden = rows.columns.columns[widths.count...].map(\.name).joined(separator: ", ")
            console.printError("note: no room for \(hidden); choose columns with --select, or another --format")
        }
        var text = ""
        appendLine(titles, isTitle: true, to: &text)
        try console.write(Array(text.utf8))
    }

    // MARK: Cells

    /// The most bytes of a value that are looked at: no terminal shows more.
    private static let byteLimit = 64 * 1024

    private func cell(_ column: Int, _ record: RecordReader) throws -> Cell {
        guard let field = rows.columns.columns[column].field(of: record) else {
            return try plain(column, record)
        }
        if record.isNull(field) { return Cell(text: "NULL", width: 4, isNull: true) }
        switch field.kind {
        case .data, .transformable:
            let count = record.bytes(field).count
            return ascii("<\(count) byte\(count == 1 ? "" : "s")>")
        case .date:
            if let text = DateText.text(record.double(field)) { return ascii(text) }
            return try plain(column, record)
        case .string, .uri:
            let bytes = record.bytes(field)
            let text = VisibleText.of(
                String(decoding: bytes.prefix(style.width == nil ? bytes.count : Self.byteLimit), as: UTF8.self))
            // A text that reads NULL must not be taken for no value.
            let shown = Self.toldFromNull(text)
            return Cell(text: shown, width: DisplayWidth.of(shown))
        default: return try plain(column, record)
        }
    }

    /// A text that is `NULL` within any number of quotes, in one more pair of them.
    private static func toldFromNull(_ text: String) -> String {
        let bare = text.drop { $0 == "\"" }
        return bare.hasPrefix("NULL") && bare.dropFirst(4).allSatisfy { $0 == "\"" } ? "\"\(text)\"" : text
    }

    private func plain(_ column: Int, _ record: RecordReader) throws -> Cell {
        var cell = TextBuffer()
        _ = try rows.appendText(column, of: record, to: &cell)
        let text = VisibleText.of(cell.withBytes { String(decoding: $0, as: UTF8.self) })
        return Cell(text: text, width: DisplayWidth.of(text))
    }

    private func ascii(_ text: String) -> Cell { Cell(text: text, width: text.utf8.count) }

    // MARK: Lines

    private func appendLine(_ cells: [Cell], isTitle: Bool = false, to text: inout String) {
        var blanks = 0
        for (column, width) in widths.enumerated() {
            if column > 0 { blanks += 2 }
            let cell = cells[column]
            var shown = cell.text
            var used = cell.width
            if used > width, style.width != nil {
                shown = DisplayWidth.fitted(shown, columns: width)
                used = DisplayWidth.of(shown)
            }
            let padding = max(0, width - used)
            if alignsRight[column] { blanks += padding }
            if !shown.isEmpty {
                // Blanks are written only in front of something, so that no line ends with any.
                text += String(repeating: " ", count: blanks)
                blanks = 0
                text += isTitle ? style.title(shown) : (cell.isNull ? style.null(shown) : shown)
            }
            if !alignsRight[column] { blanks += padding }
        }
        text += "\n"
    }
}
