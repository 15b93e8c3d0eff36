internal import Foundation

/// A run as a table, for a terminal or as Markdown.
struct ResultTable {
    private let header: [String]
    private let rows: [[String]]

    /// Creates a table of operations that are compared with the same baseline.
    init(_ results: [OperationResult], comparedWith other: String) {
        header = [
            "operation", "objects", "Roost", other, "per", "× \(other)", "CPU × \(other)", "target", "", "private MiB",
            "\(other)'s", "disk MiB", "\(other)'s",
        ]
        rows = results.map { Self.row($0) }
    }

    private static func row(_ result: OperationResult) -> [String] {
        [
            result.name, grouped(result.trackCount), time(result.nanosecondsPerUnit(.roost)),
            time(result.nanosecondsPerUnit(.baseline)), result.unit.rawValue,
            String(format: "%.2f", result.ratio), String(format: "%.2f", result.cpuRatio),
            result.target.map { String(format: "%g", $0) } ?? "",
            result.meetsTarget.map { $0 ? "ok" : "over" } ?? "",
            mebibytes(result.roost.peakPrivateBytes), mebibytes(result.baseline.peakPrivateBytes),
            mebibytes(result.roost.diskBytes), mebibytes(result.baseline.diskBytes),
        ]
    }

    private static func time(_ nanoseconds: Double) -> String {
        if nanoseconds >= 10_000 { return String(format: "%.0f µs", nanoseconds / 1000) }
        return String(format: nanoseconds < 100 ? "%.1f ns" : "%.0f ns", nanoseconds)
    }

    private static func mebibytes(_ bytes: Int?) -> String {
        bytes.map { String(format: "%.1f", Double($0) / 1_048_576) } ?? "–"
    }

    var text: String { alignedText([header] + rows) }

    /// Returns the machine, the software and the rounds of a run in one line.
    static func heading(_ results: Results) -> String {
        let machine = results.machine
        let libraries = machine.libraries.joined(separator: ", ")
        return
            "\(machine.processor), \(machine.cores) cores, \(machine.system), \(libraries); commit \(results.commit); medians of \(results.rounds) rounds."
    }

    var markdown: String {
        let rule = "|---|" + String(repeating: "--:|", count: header.count - 1)
        let lines = ([header] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
        return ([lines[0], rule] + lines.dropFirst()).joined(separator: "\n") + "\n"
    }
}
