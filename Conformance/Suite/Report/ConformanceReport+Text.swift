internal import Foundation

extension ConformanceReport {
    /// Returns the lines for a result; empty if the report leaves it out.
    func text(_ result: ConformanceResult) -> String {
        guard detail != .failures || result.isFailure else { return "" }
        let (word, note): (String, String?) =
            switch result.outcome {
            case .passed: ("ok", nil)
            case .passedAsOpposite(let capability): ("opposite", "no \(capability)")
            case .excluded(let exclusion, _): ("excluded", exclusion.reason)
            case .failed: ("FAIL", nil)
            }
        var line = "\(word.padding(toLength: 8, withPad: " ", startingAt: 0))  \(result.store)  \(result.check.id)"
        if let note { line += "  (\(Self.indented(note)))" }
        if detail == .everything { line += "  \(Self.milliseconds(result)) ms" }
        line += "\n"
        guard case .failed(let failure) = result.outcome else {
            return detail == .everything ? line + "          \(result.check.behavior)\n" : line
        }
        return line + """
                      \(result.check.behavior)
                      expected: \(Self.indented(failure.expected))
                      actual:   \(Self.indented(failure.actual))

            """
    }

    /// Returns the number of checks with each outcome, by store; empty if only failures are
    /// reported.
    func textSummary() -> String {
        guard detail != .failures else { return "" }
        return resultsByStore.map { "\($0.store): \(ConformanceCounts($0.results))\n" }.joined()
    }

    static func milliseconds(_ result: ConformanceResult) -> String { String(format: "%.1f", result.seconds * 1000) }

    /// Returns the text with every line after the first indented, so that none looks like a result.
    private static func indented(_ text: String) -> String {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: "\n            ")
    }
}
