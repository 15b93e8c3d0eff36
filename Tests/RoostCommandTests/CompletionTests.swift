import Foundation
import Testing

@testable import RoostCommand

@Suite("Completion")
struct CompletionTests {
    private static let choices = Subcommand(
        name: "pick", summary: "Pick.", usage: "STORE ENTITY", argumentCount: 2...2, discussion: "",
        options: [
            CommandOption(
                "format", letter: "f", value: "FORMAT", help: "table, json, jsonl or csv; table unless given."),
            CommandOption("mode", value: "fast|slow", help: "How."), .json,
        ], examples: [], run: { _, _ in .success })

    private func texts(_ words: [String], _ commands: [Subcommand] = RoostTool.commands) -> [String] {
        Completer(commands).candidates(words).map(\.text)
    }

    /// The answer of the program, in a directory.
    private func asked(_ words: [String], in place: Workplace) throws -> [String] {
        let result = try place.start([Completer.commandName, "words"] + words).wait()
        #expect(result.code == 0 && result.errors == "")
        return result.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
    }

    @Test("offers every command, and its options, to whoever types their beginning")
    func commandsAndOptions() {
        #expect(texts([""]) == RoostTool.commands.map(\.name) + ["help"])
        #expect(texts(["--"]) == ["--help", "--version"])
        #expect(texts(["help", ""]) == RoostTool.commands.map(\.name))
        for command in RoostTool.commands {
            #expect(texts([String(command.name.prefix(3))]).contains(command.name))
            let options = texts([command.name, "-"])
            #expect(options == command.allOptions.map { "--\($0.name)\($0.valueName == nil ? "" : "=")" })
        }
        #expect(texts(["nothing", ""]) == [])
        #expect(texts(["info", "--", "--"]) == [])
    }

    @Test(
        "offers what can stand where the cursor is",
        arguments: [
            (["model", ""], ["print", "validate", "graph", "generate", "diff", "history"]),
            (["model", "v"], ["validate"]),
            (["model", "nothing", ""], []), (["model", "print", "x", ""], []), (["completions", "z"], ["zsh"]),
            (["conformance", "sqlite", "mem"], ["memory"]), (["config", ""], []), (["diff", "--limit", ""], []),
            (["diff", "--limit="], []),
            (["pick", "--format="], ["table", "json", "jsonl", "csv"].map { "--format=" + $0 }),
            (["pick", "--format", "js"], ["json", "jsonl"]), (["pick", "-f", "c"], ["csv"]),
            (["pick", "--mode", ""], ["fast", "slow"]), (["pick", "--json="], []), (["pick", "--js"], ["--json"]),
        ] as [([String], [String])])
    func places(words: [String], wanted: [String]) {
        #expect(texts(words, RoostTool.commands + [Self.choices]) == wanted)
    }

    /// For unknown words of a usage or an option, files are offered, or nothing.
    @Test("knows the choices of options by their help")
    func choicesOfOptions() {
        let found = Dictionary(
            (RoostTool.commands + [Self.choices]).flatMap(\.options).filter { !$0.choices.isEmpty }
                .map { ($0.name, $0.choices) }
        ) { $1 }
        #expect(found["format"]?.contains("json") == true)
        #expect(found["mode"] == ["fast", "slow"])
        #expect(found["timeout"] == nil && found["model"] == nil && found["verbose"] == nil)
    }

    @Test("offers names of the configuration, types, and files, also behind a type", arguments: Workplace.fileTypes)
    func stores(type: String) throws {
        let place = try Workplace()
        try place.write(Data("{stores: {main: {type: '\(type)', path: 'x'}}}".utf8), to: "roost.json")
        try FileManager.default.createDirectory(atPath: place.file("my data/deep"), withIntermediateDirectories: true)
        for name in ["my data/a b", "my data/a b.lock", "my data/a b-wal", ".hidden", "my\tfile", "ä"] {
            try place.write(Data(), to: name)
        }
        let all = try asked(["info", ""], in: place)
        #expect(all.prefix(4) == ["main", "my data/", "roost.json", "ä"])
        #expect(all.contains("\(type):") && all.contains("coredata:") == (type == "sqlite" || all.contains("sqlite:")))
        #expect(try asked(["info", "m"], in: place) == ["main", "my data/", "memory:"])
        #expect(try asked(["info", "\(type):my"], in: place) == ["\(type):my data/"])
        #expect(
            try asked(["info", "\(type):my data/"], in: place) == ["\(type):my data/a b", "\(type):my data/deep/"])
        #expect(try asked(["info", "./."], in: place) == ["./.hidden"])
        #expect(try asked(["info", "nowhere/"], in: place) == [])
        #expect(try asked(["info", "memory:"], in: place) == [])
        #expect(try !asked(["convert", "main", ""], in: place).contains("coredata:"))
        #expect(try asked(["demo", "--directory="], in: place) == ["--directory=my data/"])
        #expect(try asked(["info", "--config=ro"], in: place) == ["--config=roost.json"])
        // A configuration elsewhere, and one that is wrong, about which only the command says something.
        try place.write(Data("{stores: {other: {type: 'memory'}}}".utf8), to: "my data/c.json")
        #expect(try asked(["info", "--config", "my data/c.json", "o"], in: place) == ["other"])
        try place.write(Data("{".utf8), to: "roost.json")
        #expect(try asked(["info", "m"], in: place) == ["my data/", "memory:"])
    }

    @Test("offers the entities of the store that was named", arguments: Workplace.fileTypes)
    func entities(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, "a", objects: 10)
        let path = place.file("a")
        #expect(texts(["pick", path, "Al"], [Self.choices]) == ["Album"])
        #expect(texts(["pick", "\(type):\(path)", "--json", "Art"], [Self.choices]) == ["Artist"])
        #expect(texts(["pick", place.file("nothing"), ""], [Self.choices]) == [])
    }

    @Test("reads a line as a shell does")
    func lines() {
        #expect(ShellLine("roost info a").words == ["roost", "info", "a"])
        #expect(ShellLine("roost  info ").words == ["roost", "info", ""])
        #expect(ShellLine("roost 'a b' \"c\\\" d\" e\\ f").words == ["roost", "a b", "c\" d", "e f"])
        #expect(ShellLine("roost 'a b").isQuoted && ShellLine("roost 'a b").words.last == "a b")
        #expect(!ShellLine("roost 'a b' c").isQuoted)
        #expect(ShellLine.quoted("a b'$x.ä", keepsHome: true) == "a\\ b\\'\\$x.ä")
        #expect(ShellLine.quoted("~/a", keepsHome: true) == "~/a" && ShellLine.quoted("~a", keepsHome: true) == "\\~a")
    }
}

/// The scripts, run by the shells they are for.
@Suite("The script of completions")
struct CompletionScriptTests {
    /// A place with a configuration, a directory and a file, for all shells alike.
    private func place() throws -> Workplace {
        let place = try Workplace()
        try place.write(
            Data("{stores: {main: {type: 'memory'}, mail: {type: 'memory'}}}".utf8), to: "roost.json")
        try FileManager.default.createDirectory(atPath: place.file("my data"), withIntermediateDirectories: false)
        try place.write(Data(), to: "my data/a b.sqlite")
        try place.write(Data(), to: "only")
        return place
    }

    private static func path(_ shell: String) -> String? {
        ["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + shell }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a script in a shell, with the program first in the path, and gives its lines.
    private func run(
        _ shell: String, _ options: [String], _ script: String, _ arguments: [String] = [], in place: Workplace
    ) throws -> [String] {
        let program = try #require(Workplace.program)
        let directory = URL(fileURLWithPath: program).deletingLastPathComponent().path
        let result = try RunningCommand(
            ["/usr/bin/env", "PATH=\(directory):/usr/bin:/bin:/usr/local/bin", "HOME=\(place.path)"]
                + [try #require(Self.path(shell))] + options + ["-c", script] + arguments, in: place.path
        ).wait()
        #expect(result.code == 0 && result.errors == "", "\(result)")
        return result.output.split(separator: "\n").map(String.init)
    }

    /// What a whole word becomes is the same in all shells; only the quotes differ.
    private static let cases: [(line: String, wanted: [String])] = [
        ("roost con", ["convert", "config", "conformance"]), ("roost info ma", ["main", "mail"]),
        ("roost info o", ["only"]), ("roost info --mod", ["--model=", "--model-version="]),
        ("roost model diff on", ["only"]), ("roost completions f", ["fish"]), ("roost info ~/on", ["~/only"]),
        ("roost help dif", ["diff"]), ("roost info nothing", []),
    ]

    @Test("for Bash completes in Bash", .enabled(if: path("bash") != nil, "bash is not installed"))
    func bash() throws {
        let place = try place()
        // The words as Readline separates them, at blanks, colons and equals signs.
        let script = """
            source <(roost completions bash)
            complete -p roost
            COMP_LINE=$1 COMP_POINT=${#1}
            IFS=' ' read -ra COMP_WORDS <<< "$1"
            COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
            _roost roost
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        func complete(_ line: String) throws -> [String] {
            let lines = try run("bash", ["--norc"], script, ["bash", line], in: place)
            #expect(lines.first == "complete -F _roost roost")
            return Array(lines.dropFirst())
        }
        for (line, wanted) in Self.cases { #expect(try complete(line) == wanted, "\(line)") }
        #expect(try complete("roost info my") == ["my\\ data/"])
        #expect(try complete("roost info \"my data/") == ["my data/a b.sqlite"])
        // Bash replaces only what stands behind the colon or the equals sign.
        #expect(try complete("roost info memory:my") == [])
        #expect(try complete("roost info --model=my\\ data/a") == ["my\\ data/a\\ b.sqlite"])
        #if SQLite
            #expect(try complete("roost info sqlite:my\\ data/") == ["my\\ data/a\\ b.sqlite"])
        #endif
    }

    @Test("for Zsh completes in Zsh", .enabled(if: path("zsh") != nil, "zsh is not installed"))
    func zsh() throws {
        let place = try place()
        // Zsh's own commands for completion run only while a key is pressed, so they are stood in for.
        let script = """
            compdef() { print -r -- "compdef $*" }
            compset() { [[ $1 == -P && $PREFIX == ${~2}* ]] && cut=${PREFIX%%/*}/ }
            compadd() { local -a found=("${(@P)@[-1]}"); print -rl -- "$cut"${^found} }
            source <(roost completions zsh)
            cut='' words=(${(z)1}) PREFIX=''
            [[ $1 == *' ' ]] && words+=('') || PREFIX=${words[-1]}
            CURRENT=${#words}
            _roost
            true
            """
        func complete(_ line: String) throws -> [String] {
            let lines = try run("zsh", ["-f"], script, ["zsh", line], in: place)
            #expect(lines.first == "compdef _roost roost")
            return Array(lines.dropFirst())
        }
        for (line, wanted) in Self.cases { #expect(try complete(line) == wanted, "\(line)") }
        #expect(try complete("roost info my\\ da") == ["my data/"])
        #expect(try complete("roost info ").contains("memory:"))
        #if SQLite
            #expect(try complete("roost info sqlite:my\\ data/") == ["sqlite:my data/a b.sqlite"])
        #endif
    }

    @Test("for Fish completes in Fish", .enabled(if: path("fish") != nil, "fish is not installed"))
    func fish() throws {
        let place = try place()
        func complete(_ line: String) throws -> [String] {
            try run(
                "fish", ["--no-config"],
                "roost completions fish | source; complete -C '\(line.replacingOccurrences(of: "\\", with: "\\\\"))'",
                in: place
            ).map { String($0.prefix { $0 != "\t" }) }
        }
        // Fish sorts by itself, and writes homes out.
        for (line, wanted) in Self.cases where !line.contains("~") {
            #expect(try complete(line).sorted() == wanted.sorted(), "\(line)")
        }
        #expect(try complete("roost info my\\ da") == ["my data/"])
        #if SQLite
            #expect(try complete("roost info sqlite:my\\ data/") == ["sqlite:my data/a b.sqlite"])
        #endif
    }

    @Test(
        "has no errors of syntax", arguments: CompletionShell.allCases.filter { path($0.rawValue) != nil })
    func syntax(shell: CompletionShell) throws {
        let place = try Workplace()
        try place.write(Data(shell.script.utf8), to: "script")
        let command = [try #require(Self.path(shell.rawValue)), "-n", place.file("script")]
        let result = try RunningCommand(command, in: place.path).wait()
        #expect(result.code == 0 && result.errors == "" && result.output == "")
    }

    @Test("is refused for a shell that nobody knows")
    func unknown() throws {
        let place = try Workplace()
        try place.roost("completions", "fihs").expectError(2, containing: "did you mean 'fish'?")
        try place.roost("completions", "tcsh").expectError(2, containing: "bash, zsh or fish")
    }
}
