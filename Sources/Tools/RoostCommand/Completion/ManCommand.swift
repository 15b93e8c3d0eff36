internal import Foundation
internal import Roost

extension Subcommand {
    static let man = Subcommand(
        name: "man", summary: "Print the manual page, made from the help of all commands.", usage: "",
        argumentCount: 0...0,
        discussion: """
            The page is roff source for man, groff and mandoc. Its date is today, or that of SOURCE_DATE_EPOCH.
            """,
        options: [.verbose],
        examples: ["roost man | man -l -", "roost man > /usr/local/share/man/man1/roost.1"], run: runMan)

    @Sendable private static func runMan(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        var date = Date()
        if let text = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"] {
            guard let seconds = Int64(text) else {
                throw UsageError("SOURCE_DATE_EPOCH must be a number of seconds since 1970")
            }
            date = Date(timeIntervalSince1970: Double(seconds))
        }
        try console.print(ManualPage(RoostTool.commands, date: date).text)
        return .success
    }
}
