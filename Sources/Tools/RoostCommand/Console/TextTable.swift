/// Rows of cells, printed with aligned columns.
struct TextTable {
    enum Alignment { case leading, trailing }

    private let columns: [(title: String, alignment: Alignment)]
    private var rows: [[String]] = []

    init(_ columns: [(title: String, alignment: Alignment)]) { self.columns = columns }

    /// Adds a row, which must have a cell for each column.
    mutating func append(_ cells: [String]) { rows.append(cells) }

    var description: String {
        let lines = [columns.map(\.title)] + rows
        let widths = columns.indices.map { column in lines.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        return lines.map { cells in
            var line = zip(columns, zip(cells, widths)).map { column, cell in
                let blanks = String(repeating: " ", count: cell.1 - DisplayWidth.of(cell.0))
                return column.alignment == .leading ? cell.0 + blanks : blanks + cell.0
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}
