internal import Foundation

/// A run as a table, for a terminal or as Markdown.
struct ResultTable {
    private static let header = [
        "operation", "objects", "Roost", "C", "per", "× C", "CPU × C", "target", "", "private MiB", "C's", "disk MiB",
        "C's",
    ]
    private let rows: [[String]]

    init(_ results: [OperationResult]) {
        rows = results.map { Self.row($0) }
    }

    private static func row(_ result: OperationResult) -> [String] {
        [
            result.name, count(result.trackCount), time(result.roost.medianSeconds, result),
            time(result.baseline.medianSeconds, result), result.unit.rawValue,
            String(format: "%.2f", result.ratio), String(format: "%.2f", result.cpuRatio),
            result.target.map { String(format: "%g", $0) } ?? "",
            result.meetsTarget.map { $0 ? "ok" : "over" } ?? "",
            mebibytes(result.roost.peakPrivateBytes), mebibytes(result.baseline.peakPrivateBytes),
            mebibytes(result.roost.diskBytes), mebibytes(result.baseline.diskBytes),
        ]
    }

    /// The time of one unit, in nanoseconds or microseconds.
    private static func time(_ seconds: Double, _ result: OperationResult) -> String {
        let nanoseconds = result.unitCount > 0 ? seconds / Double(result.unitCount) * 1e9 : 0
        if nanoseconds >= 10_000 { return String(format: "%.0f µs", nanoseconds / 1000) }
        return String(format: nanoseconds < 100 ? "%.1f ns" : "%.0f ns", nanoseconds)
    }

    private static func count(_ count: Int) -> String {
        var digits = Array(String(count))
        for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(" ", at: place) }
        return String(digits)
    }

    private static func mebibytes(_ bytes: Int?) -> String {
        bytes.map { String(format: "%.1f", Double($0) / 1_048_576) } ?? "–"
    }

    /// With columns that line up.
    var text: String {
        let widths = Self.header.indices.map { column in
            ([Self.header] + rows).map { $0[column].count }.max() ?? 0
        }
        return ([Self.header] + rows).map { row in
            row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + space : space + row[column]
            }.joined(separator: "  ").trimmingCharacters(in: .whitespaces)
        }.joined(separator: "\n") + "\n"
    }

    /// As a table of Markdown.
    var markdown: String {
        let rule = "|---|" + String(repeating: "--:|", count: Self.header.count - 1)
        let lines = ([Self.header] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
        return ([lines[0], rule] + lines.dropFirst()).joined(separator: "\n") + "\n"
    }
}
