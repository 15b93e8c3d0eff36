/// A table for people, fitted to the width of the terminal.
///
/// The first lines decide how wide the columns are; what is wider is cut and ends with `…`.
struct TablePrinter {
    /// What stands in one column of one line.
    struct Cell {
        var text: String
        var width: Int
        var isNull = false

        /// A cell with a text in which nothing is hidden and nothing obeyed.
        init(_ text: String, isNull: Bool = false) {
            self.text = text
            self.isNull = isNull
            width = DisplayWidth.of(text)
        }

        /// The cell of no value.
        static let null = Cell("NULL", isNull: true)

        /// The cell of a text; one that reads `NULL` must not be taken for no value.
        static func told(_ text: String) -> Cell {
            let bare = text.drop { $0 == "\"" }
            let isLikeNull = bare.hasPrefix("NULL") && bare.dropFirst(4).allSatisfy { $0 == "\"" }
            return Cell(isLikeNull ? "\"\(text)\"" : text)
        }

        /// The cell of bytes, which are counted.
        static func bytes(_ count: Int) -> Cell { Cell("<\(count) byte\(count == 1 ? "" : "s")>") }
    }

    private let names: [String]
    private let style: TableStyle
    private let console: Console
    /// Whether a column's cells are aligned at their ends.
    private var alignsRight: [Bool]
    /// The widths of the columns that are shown, once they are known; later columns have no room.
    private var widths: [Int] = []
    private var hasBegun = false

    init(_ names: [String], alignsRight: [Bool], style: TableStyle, console: Console) {
        (self.names, self.alignsRight, self.style, self.console) = (names, alignsRight, style, console)
    }

    /// The most bytes of a value that need be looked at: no terminal shows more.
    var byteLimit: Int { style.width == nil ? .max : 64 * 1024 }

    /// Prints lines, after the titles if they are the first.
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
