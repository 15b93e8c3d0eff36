/// A table for people, fitted to the width of the terminal.
///
/// The first batch determines the widths of the columns. Wider cells are cut if lines have a
/// maximum width.
struct TablePrinter {
    struct Cell {
        var text: String
        var width: Int
        var isNull = false

        /// Creates a cell with a text that has no control characters.
        init(_ text: String, isNull: Bool = false) {
            self.text = text
            self.isNull = isNull
            width = DisplayWidth.of(text)
        }

        static let null = Cell("NULL", isNull: true)

        /// Returns the cell of a text value.
        ///
        /// The text `NULL` gets quotes, to distinguish it from null. The text `"NULL"` gets further
        /// quotes.
        static func told(_ text: String) -> Cell {
            let bare = text.drop { $0 == "\"" }
            let isLikeNull = bare.hasPrefix("NULL") && bare.dropFirst(4).allSatisfy { $0 == "\"" }
            return Cell(isLikeNull ? "\"\(text)\"" : text)
        }

        static func bytes(_ count: Int) -> Cell { Cell("<\(count) byte\(count == 1 ? "" : "s")>") }
    }

    private let names: [String]
    private let style: TableStyle
    private let console: Console
    private var alignsRight: [Bool]
    /// The widths of the visible columns, known after the first batch.
    private var widths: [Int] = []
    private var hasBegun = false

    init(_ names: [String], alignsRight: [Bool], style: TableStyle, console: Console) {
        (self.names, self.alignsRight, self.style, self.console) = (names, alignsRight, style, console)
    }

    /// The maximum number of a value's bytes that a cell needs.
    var byteLimit: Int { style.width == nil ? .max : 64 * 1024 }

    /// Prints a line for each row; the first call prints the titles first.
    mutating func write(_ cells: [[Cell]]) throws {
        if !hasBegun { try begin(cells) }
        var text = ""
        for row in cells { appendLine(row, to: &text) }
        try console.write(Array(text.utf8))
    }

    private mutating func begin(_ sample: [[Cell]]) throws {
        hasBegun = true
        let titles = names.map { Cell(VisibleText.of($0)) }
        let wanted = titles.indices.map { column in
            sample.reduce(titles[column].width) { max($0, $1[column].width) }
        }
        widths = style.width.map { TableStyle.fit(wanted, into: $0) } ?? wanted
        if widths.count < titles.count {
            let hidden = names[widths.count...].joined(separator: ", ")
            console.printError("note: no room for \(hidden); choose columns with --select, or another --format")
        }
        var text = ""
        appendLine(titles, isTitle: true, to: &text)
        try console.write(Array(text.utf8))
    }

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
                // Blanks are written only before text, so that no line ends with blanks.
                text += String(repeating: " ", count: blanks)
                blanks = 0
                text += isTitle ? style.title(shown) : (cell.isNull ? style.null(shown) : shown)
            }
            if !alignsRight[column] { blanks += padding }
        }
        text += "\n"
    }
}
