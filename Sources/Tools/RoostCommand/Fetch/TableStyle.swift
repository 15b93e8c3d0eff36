/// How tables look: their width and whether they have colors.
struct TableStyle: Sendable {
    /// The most columns of the terminal that a line may take; nil for any number.
    var width: Int?
    /// Whether titles and nulls are set apart by colors.
    var hasColors: Bool

    /// The style for an environment.
    ///
    /// The width is that of `COLUMNS` if it is set, else that of the terminal; `NO_COLOR`, set and
    /// not empty, and the terminal `dumb` have no colors.
    ///
    /// - Parameters:
    ///   - environment: The variables of the process.
    ///   - terminalWidth: The columns of the terminal, 0 where it does not say; nil where output
    ///     goes elsewhere.
    init(environment: [String: String], terminalWidth: Int?) {
        let width = environment["COLUMNS"].flatMap { Int($0) } ?? terminalWidth ?? 0
        self.width = width > 0 ? width : nil
        let refusesColors = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        hasColors = terminalWidth != nil && !refusesColors
    }

    func title(_ text: String) -> String { hasColors ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func null(_ text: String) -> String { hasColors ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

    /// The columns below which a cell is of no use to anybody.
    private static let leastWidth = 6

    /// Widths for columns that fit into a line, two blanks between them: the widest give way first.
    ///
    /// Columns for which there is no room at all are left out at the end.
    static func fit(_ wanted: [Int], into line: Int) -> [Int] {
        var shown = wanted
        func least() -> Int { shown.reduce(2 * max(0, shown.count - 1)) { $0 + min($1, leastWidth) } }
        while shown.count > 1, least() > line { shown.removeLast() }
        let room = max(1, line - 2 * (shown.count - 1))
        // The highest limit under which all of them fit.
        var (low, high) = (1, max(1, shown.max() ?? 1))
        while low < high {
            let middle = (low + high + 1) / 2
            if shown.reduce(0, { $0 + min($1, middle) }) <= room { low = middle } else { high = middle - 1 }
        }
        shown = shown.map { min($0, low) }
        // What is left goes to the first that were cut.
        var rest = room - shown.reduce(0, +)
        for index in shown.indices where rest > 0 && shown[index] < wanted[index] {
            shown[index] += 1
            rest -= 1
        }
        return shown
    }
}
