internal import Foundation

extension Console {
    /// Prints a report: as JSON with `--json`, not at all with `--quiet`, else as `text`.
    ///
    /// `text` contains the warnings. If it is not printed, standard error gets them.
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
