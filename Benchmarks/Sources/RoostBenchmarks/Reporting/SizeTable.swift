internal import Foundation

/// A table with one number for each operation and number of tracks, and a summary of each row.
struct SizeTable {
    let sizes: [Int]
    /// The heading of the last column.
    let summaryTitle: String
    /// The rows: the name, one cell for each size, and the summary.
    private(set) var rows: [[String]] = []

    init(sizes: [Int], summaryTitle: String) {
        self.sizes = sizes
        self.summaryTitle = summaryTitle
    }

    mutating func add(_ name: String, cells: [String], summary: String) { rows.append([name] + cells + [summary]) }

    var text: String { alignedText([["operation"] + sizes.map { grouped($0) } + [summaryTitle]] + rows) }
}

/// Returns a table of the time per object for several sizes.
///
/// The last column, the ratio of the greatest to the smallest time, shows how far from linear the
/// operation is.
func scalingTable(_ results: [OperationResult], sizes: [Int]) -> String {
    var table = SizeTable(sizes: sizes, summaryTitle: "factor")
    for side in Side.allCases {
        for name in results.map(\.name).uniqued() {
            let times: [Double?] = sizes.map { size in
                results.first { $0.name == name && $0.trackCount == size }.map { $0.nanosecondsPerUnit(side) }
            }
            let known = times.compactMap { $0 }
            let factor = (known.max() ?? 0) / max(known.min() ?? 1, .leastNormalMagnitude)
            table.add(
                side == .roost ? name : baselineName(name, in: results),
                cells: times.map { $0.map { String(format: "%.0f ns", $0) } ?? "–" },
                summary: String(format: "%.2f", factor))
        }
    }
    return table.text
}

/// Returns a table of the processor time per additional object from one size to the next.
///
/// The fixed cost of a store is excluded.
func growthTable(_ results: [OperationResult], sizes: [Int]) -> String {
    var table = SizeTable(sizes: Array(sizes.dropFirst()), summaryTitle: "factor")
    for side in Side.allCases {
        for name in results.map(\.name).uniqued() {
            let measured = sizes.map { size in results.first { $0.name == name && $0.trackCount == size } }
            let times: [Double?] = zip(measured, measured.dropFirst()).map { smaller, larger in
                guard let smaller, let larger, larger.unitCount > smaller.unitCount else { return nil }
                let seconds = larger.medianCPUSeconds(side) - smaller.medianCPUSeconds(side)
                return seconds / Double(larger.unitCount - smaller.unitCount) * 1e9
            }
            let known = times.compactMap { $0 }
            let factor = (known.max() ?? 0) / max(known.min() ?? 1, .leastNormalMagnitude)
            table.add(
                side == .roost ? name : baselineName(name, in: results),
                cells: times.map { $0.map { String(format: "%.0f ns", $0) } ?? "–" },
                summary: String(format: "%.2f", factor))
        }
    }
    return table.text
}

/// Returns the heading of the row for an operation's baseline.
private func baselineName(_ name: String, in results: [OperationResult]) -> String {
    "\(name), \(results.first { $0.name == name }?.baselineTitle ?? "")"
}

extension [String] {
    /// Returns each element once, in the order of its first occurrence.
    func uniqued() -> [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

/// Returns the number with a space between groups of three digits.
func grouped(_ number: Int) -> String {
    var digits = Array(String(number))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(" ", at: place) }
    return String(digits)
}

/// Returns rows with aligned columns, the first left and the others right.
func alignedText(_ rows: [[String]]) -> String {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
        row.indices.map { column in
            let space = String(repeating: " ", count: widths[column] - row[column].count)
            return column == 0 ? row[column] + space : space + row[column]
        }.joined(separator: "  ").trimmingCharacters(in: .whitespaces)
    }.joined(separator: "\n") + "\n"
}
