internal import Foundation

/// A run as an SVG chart: one bar for each operation, from 1 to the ratio of Roost's time to the
/// baseline's.
///
/// The scale is logarithmic, so that twice as fast and twice as slow are bars of equal length. A
/// tick marks the target.
struct ResultChart {
    private static let rowHeight = 18.0
    private static let labelWidth = 250.0
    private static let plotWidth = 520.0
    private static let valueWidth = 90.0
    private static let headHeight = 64.0

    private let results: Results
    /// The logarithms (base 2) of the ratios at the left and right end of the plot.
    private let exponents: ClosedRange<Double>

    init(_ results: Results) {
        self.results = results
        let logarithms = results.operations.flatMap { [$0.ratio, $0.target ?? 1] }.filter { $0 > 0 }.map { log2($0) }
        exponents = min(-1, (logarithms.min() ?? 0).rounded(.down))...max(1, (logarithms.max() ?? 0).rounded(.up))
    }

    var svg: String {
        let height = Self.headHeight + Double(results.operations.count) * Self.rowHeight + 16
        let width = Self.labelWidth + Self.plotWidth + Self.valueWidth
        var lines = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(Int(width)) \#(Int(height))" font-family="sans-serif" font-size="11">"#,
            #"<rect width="100%" height="100%" fill="white"/>"#,
            #"<text x="8" y="20" font-size="14" font-weight="bold">Roost's time relative to C's, or to a conversion's for migrations</text>"#,
            #"<text x="8" y="36" fill="dimgray">\#(Self.escaped(subtitle))</text>"#,
        ]
        lines += gridLines(height: height)
        for (index, result) in results.operations.enumerated() {
            lines += bar(result, y: Self.headHeight + Double(index) * Self.rowHeight)
        }
        lines.append("</svg>")
        return lines.joined(separator: "\n") + "\n"
    }

    private var subtitle: String {
        let machine = results.machine
        return
            "\(machine.processor), \(machine.cores) cores, \(machine.system); commit \(results.commit); medians of \(results.rounds) rounds; black tick: first target"
    }

    /// Returns the position of a ratio from the left edge.
    private func position(_ ratio: Double) -> Double {
        let part = (log2(max(ratio, .leastNormalMagnitude)) - exponents.lowerBound)
        return Self.labelWidth + part / (exponents.upperBound - exponents.lowerBound) * Self.plotWidth
    }

    private func gridLines(height: Double) -> [String] {
        stride(from: exponents.lowerBound, through: exponents.upperBound, by: 1).flatMap { exponent in
            let x = Self.number(position(exp2(exponent)))
            let color = exponent == 0 ? "black" : "gainsboro"
            let label = exponent < 0 ? "1/\(Int(exp2(-exponent)))" : "\(Int(exp2(exponent)))"
            return [
                #"<line x1="\#(x)" y1="54" x2="\#(x)" y2="\#(Self.number(height - 12))" stroke="\#(color)"/>"#,
                #"<text x="\#(x)" y="50" text-anchor="middle" fill="dimgray">\#(label)</text>"#,
            ]
        }
    }

    private func bar(_ result: OperationResult, y: Double) -> [String] {
        let (start, end) = (position(min(1, result.ratio)), position(max(1, result.ratio)))
        let fill = result.meetsTarget.map { $0 ? "#4c956c" : "#c8553d" } ?? "#7f9bb3"
        var lines = [
            #"<text x="\#(Self.number(Self.labelWidth - 8))" y="\#(Self.number(y + 12))" text-anchor="end">\#(Self.escaped(result.name))</text>"#,
            #"<rect x="\#(Self.number(start))" y="\#(Self.number(y + 3))" width="\#(Self.number(max(1, end - start)))" height="11" fill="\#(fill)"/>"#,
            #"<text x="\#(Self.number(Self.labelWidth + Self.plotWidth + 8))" y="\#(Self.number(y + 12))">\#(String(format: "%.2f", result.ratio))</text>"#,
        ]
        if let target = result.target {
            let x = Self.number(position(target))
            lines.append(
                #"<line x1="\#(x)" y1="\#(Self.number(y + 1))" x2="\#(x)" y2="\#(Self.number(y + 16))" stroke="black" stroke-width="2"/>"#
            )
        }
        return lines
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
