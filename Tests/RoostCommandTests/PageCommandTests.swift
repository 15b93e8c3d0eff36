import Foundation
import Roost
import TestSamples
import Testing

@testable import RoostCommand

enum CommandPage {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// README.md and every page of docs that is not generated from the help.
    static let all: [String] = {
        let docs = root.appendingPathComponent("docs").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: docs)) ?? []
        return ["README.md"]
            + names.filter { $0.hasSuffix(".md") && $0 != "command-line.md" }.sorted().map { "docs/\($0)" }
    }()

    /// Returns the code blocks of a page in the given language; an empty name selects plain blocks.
    static func blocks(_ page: String, language: String) throws -> [String] {
        let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
        var blocks: [String] = []
        var current: (language: String, lines: [Substring])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("```") else {
                current?.lines.append(line)
                continue
            }
            if let block = current {
                if block.language == language { blocks.append(block.lines.joined(separator: "\n")) }
                current = nil
            } else {
                current = (String(line.dropFirst(3)), [])
            }
        }
        return blocks
    }

    /// Splits a command line into commands and their words, as a POSIX shell does.
    ///
    /// Redirections and their files are left out. A comment ends the line.
    static func commands(_ line: String) -> [[String]] {
        var (commands, words, word, quote): ([[String]], [String], String?, Character?) = ([], [], nil, nil)
        func endWord() {
            if let word { words.append(word) }
            word = nil
        }
        func endCommand() {
            endWord()
            // A redirection is its operator and the file after it.
            while let place = words.firstIndex(where: { $0 == ">" || $0 == "<" }) {
                words.removeSubrange(place..<min(words.count, place + 2))
            }
            // Assignments of variables precede the program.
            let command = words.drop { $0.prefixMatch(of: #/[A-Z_]+=/#) != nil }
            if !command.isEmpty { commands.append(Array(command)) }
            words = []
        }
        characters: for character in line {
            switch (character, quote) {
            case (let character, .some(let open)) where character == open: quote = nil
            case ("'", nil), ("\"", nil): (quote, word) = (character, word ?? "")
            case (" ", nil): endWord()
            case ("|", nil), ("&", nil), (";", nil): endCommand()
            case ("#", nil) where word == nil: break characters
            default: word = (word ?? "") + String(character)
            }
        }
        endCommand()
        return commands
    }
}

@Suite("Command lines in the documentation")
struct PageCommandTests {
    @Test(
        "each roost command line on a page has a known command, options and number of arguments",
        arguments: CommandPage.all)
    func commandLines(page: String) throws {
        let blocks = try CommandPage.blocks(page, language: "sh") + CommandPage.blocks(page, language: "")
        for line in blocks.flatMap({ $0.split(separator: "\n") }) {
            // A line with the prompt of `roost shell` is a statement.
            guard line.prefixMatch(of: #/roost( \(\d+ changed\))?>/#) == nil else { continue }
            let line = line.hasPrefix("$ ") ? line.dropFirst(2) : line
            for words in CommandPage.commands(String(line)) where words[0] == "roost" && words.count > 1 {
                let command = RoostTool.commands.first { $0.name == words[1] }
                let found = try #require(command, "\(page): \(line)")
                #expect(throws: Never.self, "\(page): \(line)") {
                    _ = try ParsedArguments(Array(words.dropFirst(2)), for: found)
                }
            }
        }
    }

    @Test("the import of a file prints what docs/importing.md shows")
    func importing() throws {
        let place = try Workplace()
        let sessions = try CommandPage.blocks("docs/importing.md", language: "sh").filter { $0.hasPrefix("$ ") }
        #expect(sessions.count >= 2)
        for session in sessions {
            for step in ("\n" + session).components(separatedBy: "\n$ ").dropFirst() {
                let lines = step.components(separatedBy: "\n")
                let words = try #require(CommandPage.commands(lines[0]).first)
                let expected = lines.dropFirst().joined(separator: "\n")
                if words[0] == "cat" {
                    try place.write(Data((expected + "\n").utf8), to: words[1])
                    continue
                }
                let result = try place.start(Array(words.dropFirst())).wait()
                // The page leaves out durations.
                let shown = (result.output + result.errors).split(separator: "\n")
                    .filter { !$0.hasPrefix("seconds ") }.joined(separator: "\n")
                #expect(result.code == 0 && shown == expected, "\(lines[0])")
            }
        }
    }

    @Test(
        "the commands of the README's first screen run one after the other",
        .enabled(if: CorpusFolder.chinook != nil, "the corpus is not beside the package"))
    func firstScreen() throws {
        let place = try Workplace()
        try FileManager.default.copyItem(
            atPath: try #require(CorpusFolder.chinook), toPath: place.file("chinook.db"))
        let block = try #require(try CommandPage.blocks("README.md", language: "sh").first)
        let lines = block.components(separatedBy: "\n")
        // The browser is tested by Scripts/browse-test.
        let script = lines.filter { !$0.hasPrefix("roost browse") }
        #expect(script.count == lines.count - 1)
        let program = URL(fileURLWithPath: try #require(Workplace.program)).deletingLastPathComponent().path
        try place.write(Data("set -e\nPATH='\(program)':$PATH\n\(script.joined(separator: "\n"))\n".utf8), to: "script")
        let run = try RunningCommand(["/bin/sh", "script"], in: place.path).wait()
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output.contains("Bohemian Rhapsody") || run.output.contains("A Kind Of Magic"), "\(run.output)")
        let csv = String(decoding: try place.bytes("tracks.csv"), as: UTF8.self)
        #expect(csv.split(separator: "\n").count == 3504)
    }
}

#if Interactive
    @Suite(
        "Sessions of the shell in the documentation",
        .enabled(
            if: CorpusFolder.chinook != nil && Terminal.isAvailable,
            "the corpus is not beside the package, or setsid is missing"
        ),
        .serialized)
    struct PageSessionTests {
        private static func makeStore() throws -> Workplace {
            let place = try Workplace()
            let imported = try place.roost(
                "import", "sqlite:" + (try #require(CorpusFolder.chinook)), "sqlite:chinook.sqlite")
            try #require(imported.code == 0, "\(imported.errors)")
            return place
        }

        /// Returns the prompts of a session, each with the typed statement and the lines after it.
        private static func steps(_ block: String) -> [(prompt: String, statement: String, lines: [String])] {
            var steps: [(prompt: String, statement: String, lines: [String])] = []
            for line in block.components(separatedBy: "\n") {
                if let match = line.prefixMatch(of: #/(roost(?: \(\d+ changed\))?>) ?/#) {
                    steps.append((String(match.1), String(line[match.range.upperBound...]), []))
                } else if !steps.isEmpty {
                    steps[steps.count - 1].lines.append(line)
                }
            }
            return steps
        }

        @Test("a session in docs/shell.md shows each prompt and each line of the page in order", arguments: 0..<4)
        func session(number: Int) throws {
            let blocks = try CommandPage.blocks("docs/shell.md", language: "").filter { $0.hasPrefix("roost> ") }
            try #require(blocks.count == 4)
            let place = try Self.makeStore()
            let terminal = try Terminal(["shell", "chinook.sqlite"], in: place)
            for step in Self.steps(blocks[number]) {
                try terminal.expect(step.prompt + " ")
                guard !step.statement.isEmpty else { continue }
                // The third session commits a change of an object that another program changes meanwhile.
                if number == 2, step.statement == "commit" {
                    let other = try place.roost(
                        "update", "chinook.sqlite", "Album", "--set=Title = 'Other'",
                        "--where=Title BEGINSWITH 'For Those About'", "--yes")
                    try #require(other.code == 0, "\(other.errors)")
                }
                try terminal.type(step.statement + "\r")
                for line in step.lines { try terminal.expect(line) }
            }
            try terminal.type(".quit\r")
            #expect(try terminal.end() == 0, "\(terminal.shown)")
        }

        @Test("a script of docs/shell.md prints what the page shows")
        func script() throws {
            let place = try Self.makeStore()
            let block = try #require(
                try CommandPage.blocks("docs/shell.md", language: "sh").first { $0.hasPrefix("$ cat report") })
            let parts = block.components(separatedBy: "\n$ roost shell chinook.sqlite --read-only < report\n")
            try #require(parts.count == 2)
            let script = parts[0].components(separatedBy: "\n").dropFirst().joined(separator: "\n")
            let result = try place.shell(script + "\n", on: "chinook.sqlite", options: "--read-only")
            #expect(result.code == 0 && result.output == parts[1] + "\n", "\(result)")
        }
    }
#endif
