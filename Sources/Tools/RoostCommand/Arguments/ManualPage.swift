internal import Foundation
internal import Roost

/// The manual page `roost(1)`, made from the same texts as the help.
struct ManualPage {
    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") }

    init(_ commands: [Subcommand], date: Date) {
        let day = date.formatted(.iso8601.year().month().day())
        lines = [".TH ROOST 1 \(day) \"Roost \(roostVersion)\" \"User Commands\""]
        // Without `.nh`, hyphenation would divide the names of options and fields.
        lines += [".nh", ".ad l"]
        section("NAME")
        lines.append("roost \\- \(Self.escaped(Help.summary))")
        section("SYNOPSIS")
        lines += [".B roost", "COMMAND [OPTIONS] [ARGUMENTS]"]
        section("DESCRIPTION")
        blocks(Help.stores)
        lines.append(".PP")
        blocks(Help.outputs)
        section("COMMANDS")
        for command in commands { add(command) }
        section("OPTIONS")
        add(Help.options)
        section("ENVIRONMENT")
        for (name, text) in Help.environment { item(".B \(Self.escaped(name))", text: text) }
        section("EXIT STATUS")
        for exit in Help.exitCodes {
            item(".B \(exit.code.rawValue)", text: exit.text.replacingOccurrences(of: "`", with: ""))
        }
        section("EXAMPLES")
        literal(Help.examples)
    }

    private mutating func section(_ name: String) { lines.append(".SH \(name)") }

    private mutating func add(_ command: Subcommand) {
        lines += [".SS roost \(command.name)", Self.escaped(command.summary), ".PP"]
        literal([Help.usage(command)])
        lines.append(".PP")
        blocks(command.discussion)
        add(command.allOptions)
        lines += [".PP", "Examples:"]
        literal(command.examples)
    }

    private mutating func add(_ options: [CommandOption]) {
        for option in options {
            let value = option.valueName.map { "=\\fI\(Self.escaped($0))\\fR" } ?? ""
            let letter = option.letter.map { "\\fB\\-\(Self.escaped(String($0)))\\fR, " } ?? ""
            item("\(letter)\\fB\\-\\-\(Self.escaped(option.name))\\fR\(value)", text: option.help)
        }
    }

    /// Adds a term, which is already roff source, and its meaning.
    private mutating func item(_ term: String, text: String) { lines += [".TP", term, Self.line(text)] }

    /// Adds lines that roff does not join.
    private mutating func literal(_ texts: some Sequence<String>) {
        lines += [".RS 4", ".nf"] + texts.map(Self.line) + [".fi", ".RE"]
    }

    /// Adds the blocks of a text, which are separated by empty lines.
    ///
    /// A block is a list of terms, a group of indented lines, or a paragraph.
    private mutating func blocks(_ text: String) {
        for (index, block) in text.components(separatedBy: "\n\n").enumerated() {
            let rows = block.components(separatedBy: "\n")
            if let items = Self.items(rows) {
                for (term, text) in items { item(".B \(Self.escaped(term))", text: text) }
            } else if rows.allSatisfy({ $0.hasPrefix(" ") }) {
                lines.append(".PP")
                literal(rows.map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : $0 })
            } else {
                if index > 0 { lines.append(".PP") }
                lines += rows.map(Self.line)
            }
        }
    }

    /// Returns the items of a list, or nil for any other block.
    ///
    /// Each line of a list has a word, two or more blanks and a text. An indented line continues
    /// the previous text.
    private static func items(_ rows: [String]) -> [(term: String, text: String)]? {
        var items: [(term: String, text: String)] = []
        for row in rows {
            if row.hasPrefix("    "), !items.isEmpty {
                items[items.count - 1].text += " " + row.drop { $0 == " " }
            } else if let gap = row.range(of: "  "), gap.lowerBound > row.startIndex,
                !row[..<gap.lowerBound].contains(" ")
            {
                items.append((String(row[..<gap.lowerBound]), String(row[gap.upperBound...].drop { $0 == " " })))
            } else {
                return nil
            }
        }
        return items
    }

    /// Returns a line that roff does not read as a request.
    private static func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default: result += "\\[u\(String(format: "%04X", scalar.value))]"
            }
        }
        return result
    }
}
