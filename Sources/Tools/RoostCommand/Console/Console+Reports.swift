internal import Foundation

extension Console {
    /// Prints a report: as JSON with `--json`, not at all with `--quiet`, else as `text`.
    ///
    /// `text` contains the warnings. With `--json` or `--quiet`, standard error gets the warnings.
    func printReport(
        _ report: some Encodable, text: String, warnings: [String], arguments: ParsedArguments
    ) throws {
        if arguments.has("json") {
            try printJSON(report)
        } else if !arguments.has("quiet") {
            try print(text)
        }
        for warning in warnings where arguments.has("json") || arguments.has("quiet") {
            printError("warning: \(warning)")
        }
    }
}
