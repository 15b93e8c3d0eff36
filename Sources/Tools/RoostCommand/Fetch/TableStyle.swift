/// The width of tables, and whether they have colors.
struct TableStyle: Sendable {
    /// The maximum width of a line in terminal columns, or nil for no limit.
    var width: Int?
    /// Whether titles and nulls have colors.
    var hasColors: Bool

    /// Creates the style for an environment.
    ///
    /// The width is `COLUMNS` if that is a number, else `terminalWidth`, which is 0 if unknown and
    /// nil outside a terminal. Colors are off outside a terminal, on the terminal `dumb`, and if
    /// `NO_COLOR` is set and not empty.
    init(environment: [String: String], terminalWidth: Int?) {
        let width = environment["COLUMNS"].flatMap { Int($0) } ?? terminalWidth ?? 0
        self.width = width > 0 ? width : nil
        let refusesColors = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        hasColors = terminalWidth != nil && !refusesColors
    }

    func title(_ text: String) -> String { hasColors ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func null(_ text: String) -> String { hasColors ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

    /// The width below which a cell is not useful.
    private static let leastWidth = 6

    /// Returns the widths of the columns that fit into a line, with two blanks between columns.
    ///
    /// The widest columns shrink first. The last columns that do not fit are left out.
    static func fit(_ wanted: [Int], into line: Int) -> [Int] {
        var shown = wanted
        func least() -> Int { shown.reduce(2 * max(0, shown.count - 1)) { $0 + min($1, leastWidth) } }
        while shown.count > 1, least() > line { shown.removeLast() }
        let room = max(1, line - 2 * (shown.count - 1))
        // Finds the maximum column width with which all columns fit.
        var (low, high) = (1, max(1, shown.max() ?? 1))
        while low < high {
            let middle = (low + high + 1) / 2
            if shown.reduce(0, { $0 + min($1, middle) }) <= room { low = middle } else { high = middle - 1 }
        }
        shown = shown.map { min($0, low) }
        // The first shortened columns get the remaining room.
        var rest = room - shown.reduce(0, +)
        for index in shown.indices where rest > 0 && shown[index] < wanted[index] {
            shown[index] += 1
            rest -= 1
        }
        return shown
    }
}
