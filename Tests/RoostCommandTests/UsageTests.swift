import Foundation
import Testing

@testable import RoostCommand

@Suite("The command line")
struct UsageTests {
    @Test("help of the program and of each command has usage and examples")
    func help() throws {
        let place = try Workplace()
        let overview = try place.roost("--help")
        #expect(overview.code == 0 && overview.errors == "")
        for command in RoostTool.commands {
            #expect(overview.output.contains("  \(command.name) "))
            for result in [
                try place.roost(command.name, "--help"), try place.roost(command.name, "-h"),
                try place.roost("help", command.name),
            ] {
                #expect(result.code == 0 && result.errors == "")
                #expect(result.output.contains("Usage: roost \(command.name)"))
                #expect(result.output.contains("Examples:\n  roost \(command.name)"))
            }
        }
        let version = try place.roost("--version")
        #expect(version.code == 0)
        #expect(version.output.hasPrefix("roost "))
        #expect(try place.roost("version").output == version.output)
        let nothing = try place.roost()
        #expect(nothing.code == 2 && nothing.errors == "")
        #expect(try nothing.output == place.roost("--help").output)
    }

    @Test(
        "a wrong command line gets a hint and exits with 2",
        arguments: [
            (["conver"], "did you mean 'convert'?"), (["--hlep"], "did you mean '--help'?"),
            (["convert", "a"], "needs SOURCE DEST"), (["convert", "a", "b", "c"], "unexpected argument 'c'"),
            (["convert", "--overwite", "a", "b"], "did you mean '--overwrite'?"),
            (["info", "-x", "a"], "unknown option '-x'"),
            (["diff", "a", "b", "--limit"], "needs a value"), (["diff", "a", "b", "--limit=x"], "whole number"),
            (["diff", "a", "b", "--limit=0"], "at least 1, not '0'"),
            // The option has taken the first store as its value.
            (["convert", "--timeout", "a", "b"], "option '--timeout' needs a whole number, not 'a'"),
            (["info", "--json=yes", "a"], "takes no value"),
            (["model", "prnt", "x"], "did you mean 'print'?"), (["model", "diff", "x"], "needs OLD NEW"),
            (["model", "history", "x", "y"], "needs one BUNDLE"),
            (["model", "histroy", "x"], "did you mean 'history'?"),
            (["demo", "extra"], "unexpected argument 'extra'"), (["help", "nothing"], "unknown command 'nothing'"),
            (["info", "a", "--model-version=1"], "needs '--model'"),
        ] as [([String], String)])
    func wrongUsage(arguments: [String], message: String) throws {
        try Workplace().start(arguments).wait().expectError(2, containing: message)
    }

    @Test("options are read in short, long, joined and repeated form")
    func parsing() throws {
        func parse(_ arguments: [String]) throws -> ParsedArguments { try ParsedArguments(arguments, for: .diff) }
        #expect(try parse(["a", "--limit", "3", "b"]).value("limit") == "3")
        #expect(try parse(["a", "--limit=3", "b"]).positions == ["a", "b"])
        #expect(try parse(["-l3", "a", "b"]).value("limit") == "3")
        #expect(try parse(["-vl", "3", "a", "b"]).has("verbose"))
        #expect(try parse(["--limit=1", "--limit=2", "a", "b"]).value("limit") == "2")
        #expect(try parse(["--model=a=b", "a", "b"]).value("model") == "a=b")
        #expect(try parse(["--", "--json", "-x"]).positions == ["--json", "-x"])
        #expect(try parse(["-", "b"]).positions == ["-", "b"])
        #expect(try parse(["a", "--help"]).has("help"))
    }

    @Test("printing help to a closed pipe or descriptor does not crash")
    func closedPipe() throws {
        let place = try Workplace()
        let program = try #require(Workplace.program)
        let result = try RunningCommand(
            ["/bin/sh", "-c", "'\(program)' --help | true; '\(program)' convert --help >&-; true"], in: place.path
        ).wait()
        #expect(result.code == 0 && !result.wasKilled)
        #expect(!result.errors.contains("Fatal"))
    }

    /// Output would be written into a store whose file gets the number of a closed descriptor.
    @Test("a command with closed standard output and error writes into no store", arguments: Workplace.fileTypes)
    func closedOutput(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 50)
        let program = try #require(Workplace.program)
        func run(_ command: String) throws -> CommandResult {
            try RunningCommand(["/bin/sh", "-c", "'\(program)' \(command)"], in: place.path).wait()
        }
        try run("info \(type):a >&-").expectError(3, containing: "Bad file descriptor")
        #expect(try run("convert \(type):a \(type):b <&- >&- 2>&-").code == 3)
        #expect(try run("convert \(type):a \(type):c --quiet <&- >&- 2>&-").code == 0)
        #expect(try run("convert \(type):a \(type):c <&- >&- 2>&-").code == 3)
        for name in ["a", "b", "c"] {
            #expect(try place.roost("check", "\(type):\(name)").code == 0)
            let lock = place.file("\(name).lock")
            if FileManager.default.fileExists(atPath: lock) { #expect(try place.bytes("\(name).lock").isEmpty) }
        }
        #expect(try place.roost("diff", "a", "c").code == 0)
    }

    @Test(
        "info prints the version of the store's library with --verbose or --json",
        arguments: Workplace.fileTypes.filter { ["sqlite", "lmdb"].contains($0) })
    func libraries(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 10)
        let info = try place.roost("info", "a", "--verbose").output
        #expect(info.contains("library") && info.contains(type == "sqlite" ? "SQLite 3." : "LMDB 0.9."))
        #expect(try !place.roost("info", "a").output.contains("library"))
        let libraries = try #require(try place.roost("info", "a", "--json").json()["libraries"] as? [[String: Any]])
        #expect(libraries.first?["version"] as? String != nil)
    }

    /// With `ROOST_WRITE_DOCS=1`, updates the page before the comparison.
    @Test("docs/command-line.md is the text of the help")
    func page() throws {
        let location = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/command-line.md")
        let text = Help.page(RoostTool.commands)
        if ProcessInfo.processInfo.environment["ROOST_WRITE_DOCS"] != nil { try Data(text.utf8).write(to: location) }
        #expect(String(decoding: try Data(contentsOf: location), as: UTF8.self) == text)
    }

    /// `roost demo` creates the stores; commands that change stores get `--dry-run`.
    @Test("the examples in the README and in the help succeed", .enabled(if: Workplace.fileTypes.contains("lmdb")))
    func examples() throws {
        let place = try Workplace()
        try #require(try place.roost("demo", "--objects=500").code == 0)
        let program = try #require(Workplace.program)
        let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("README.md")
        let lines = try String(contentsOf: readme, encoding: .utf8).split(separator: "\n").map(String.init)
        let reading = ["info", "check", "fetch", "dump"]
        let changing = ["update", "delete"]
        let examples = (lines + RoostTool.commands.flatMap(\.examples)).filter { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 2, words[0] == "roost" else { return false }
            return (reading + changing).contains(words[1]) && words[2].contains("music.") && !line.contains("|")
        }
        #expect(examples.count >= 12)
        for example in examples {
            let rest = example.dropFirst("roost ".count).prefix { $0 != "#" }
            let isChange = changing.contains { rest.hasPrefix($0) }
            let command = "'\(program)' \(rest)" + (isChange ? " --dry-run" : "")
            let result = try RunningCommand(["/bin/sh", "-c", command], in: place.path).wait()
            #expect(result.code == 0 && result.errors.isEmpty, "\(example)\n\(result.errors)")
        }
    }

    @Test(
        "an error message of one sentence ends without a period, and a longer message ends with punctuation",
        arguments: [
            ("It is so.", "It is so"), ("it is so; do that", "it is so; do that"),
            ("It is so. Do that.", "It is so. Do that."),
            ("It is so. Do that", "It is so. Do that."), ("Is it so?", "Is it so?"), ("a..", "a.."), ("", ""),
            ("One. Is it?", "One. Is it?"),
        ])
    func fullStops(message: String, printed: String) {
        #expect(Console.punctuated(message) == printed)
    }

    @Test("empty lists in JSON are printed as []")
    func emptyLists() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 50)
        let json = try place.roost("convert", "a", "json:b", "--json").output
        #expect(json.contains("\n  \"skipped\": [],\n") && json.contains("\n  \"objects\": 50,\n"))
    }

    @Test("tables align their columns")
    func tables() {
        var table = TextTable([("hop", .leading), ("objects", .trailing), ("digest", .leading)])
        table.append(["a -> b", "7", "x"])
        table.append(["c", "1234567890", ""])
        #expect(
            table.description == """
                hop        objects  digest
                a -> b           7  x
                c       1234567890
                """)
    }
}
