import Foundation
import Testing

@testable import RoostCommand

@Suite("The manual page")
struct ManualPageTests {
    private static func tool(_ name: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a tool on the output of `roost man`.
    private func run(_ tool: String, with arguments: [String]) throws -> CommandResult {
        let place = try Workplace()
        let page = try place.roost("man")
        #expect(page.code == 0 && page.errors == "")
        try place.write(Data(page.output.utf8), to: "roost.1")
        return try RunningCommand(
            [try #require(Self.tool(tool))] + arguments + [place.file("roost.1")], in: place.path
        ).wait()
    }

    @Test("the manual page has every command, option, exit code, variable and example")
    func contents() {
        let page = ManualPage(RoostTool.commands, date: Date(timeIntervalSince1970: 0)).text
        #expect(page.hasPrefix(".TH ROOST 1 1970-01-01 \"Roost "))
        let sections = page.components(separatedBy: "\n.SS roost ")
        #expect(sections.count == RoostTool.commands.count + 1)
        func plain(_ text: String) -> String {
            text.replacingOccurrences(of: "\\-", with: "-").replacingOccurrences(of: "\\(aq", with: "'")
                .replacingOccurrences(of: "\\(ti", with: "~")
                .replacingOccurrences(of: "\\\\f[BIR]", with: "", options: .regularExpression)
        }
        for (command, section) in zip(RoostTool.commands, sections.dropFirst()) {
            let section = plain(section)
            #expect(section.hasPrefix(command.name + "\n"))
            #expect(section.contains("\n\(Help.usage(command))\n"))
            for option in command.allOptions {
                let letter = option.letter.map { "-\($0), " } ?? ""
                let value = option.valueName.map { "=\($0)" } ?? ""
                #expect(section.contains("\n.TP\n\(letter)--\(option.name)\(value)\n\(option.help)\n"))
            }
            for example in command.examples { #expect(section.contains("\n\(example)\n")) }
            // No word of the discussion is lost.
            let words = Set(section.split(whereSeparator: \.isWhitespace))
            for word in command.discussion.split(whereSeparator: \.isWhitespace) {
                #expect(words.contains(word), "\(command.name): \(word)")
            }
        }
        for exit in Help.exitCodes { #expect(page.contains(".B \(exit.code.rawValue)\n")) }
        for (name, _) in Help.environment { #expect(page.contains(".B \(name)\n")) }
        #expect(!page.contains { !$0.isASCII })
    }

    @Test("the manual page has the date of SOURCE_DATE_EPOCH")
    func date() throws {
        let place = try Workplace()
        let page = try place.roost("man", through: ["/usr/bin/env", "SOURCE_DATE_EPOCH=86400"])
        #expect(page.output.hasPrefix(".TH ROOST 1 1970-01-02 "))
        try place.roost("man", through: ["/usr/bin/env", "SOURCE_DATE_EPOCH=x"]).expectError(2)
    }

    @Test(
        "groff formats the manual page without a warning", .enabled(if: tool("groff") != nil, "groff is not installed"))
    func groff() throws {
        let result = try run("groff", with: ["-Tascii", "-man", "-ww", "-P-c", "-rLL=100n"])
        #expect(result.code == 0 && result.errors == "")
        #expect(result.output.contains("roost convert [OPTIONS] SOURCE DEST"))
    }

    @Test(
        "mandoc finds nothing wrong in the manual page", .enabled(if: tool("mandoc") != nil, "mandoc is not installed"))
    func mandoc() throws {
        let result = try run("mandoc", with: ["-Tlint", "-Wwarning"])
        #expect(result.code == 0 && result.output == "" && result.errors == "")
    }
}
