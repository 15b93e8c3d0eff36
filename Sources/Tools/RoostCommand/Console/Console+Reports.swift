internal import Foundation

extension Console {
    /// Prints what a command did: as JSON with `--json`, nothing with `--quiet`, else `text`, in
    /// which the warnings are.
    ///
    /// Where they would not be seen in a text they go to standard error.
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
