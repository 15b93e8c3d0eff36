import Foundation
import Testing

@testable import RoostCommand

@Suite("Completion of command lines")
struct CompletionTests {
    private static let choices = Subcommand(
        name: "pick", summary: "Pick.", usage: "STORE ENTITY", argumentCount: 2...2, discussion: "",
        options: [
            CommandOption(
                "format", letter: "f", value: "FORMAT", help: "table, json, jsonl or csv; the default is table."),
            CommandOption("mode", value: "fast|slow", help: "How."), .json,
        ], examples: [], run: { _, _ in .success })

    private func texts(_ words: [String], of commands: [Subcommand] = RoostTool.commands) -> [String] {
        Completer(commands).candidates(words).map(\.text)
    }

    /// Returns the completions that the program prints when it runs in the directory of `place`.
    private func asked(_ words: [String], in place: Workplace) throws -> [String] {
        let result = try place.start([Completer.commandName, "words"] + words).wait()
        #expect(result.code == 0 && result.errors == "")
        return result.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
    }

    @Test("completion offers every command, help topic and option that continues the typed word")
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
        "completion offers subcommands, shells, types or choices that fit the cursor's position",
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
        #expect(texts(words, of: RoostTool.commands + [Self.choices]) == wanted)
    }

    @Test("completion reads an option's choices from its value name or help")
    func choicesOfOptions() {
        let found = Dictionary(
            (RoostTool.commands + [Self.choices]).flatMap(\.options).filter { !$0.choices.isEmpty }
                .map { ($0.name, $0.choices) }
        ) { $1 }
        #expect(found["format"]?.contains("json") == true)
        #expect(found["mode"] == ["fast", "slow"])
        #expect(found["timeout"] == nil && found["model"] == nil && found["verbose"] == nil)
    }

    /// Creates a workplace with a configured store, and files with unusual names.
    private func placeWithFiles(_ type: String) throws -> Workplace {
        let place = try Workplace()
        try place.write(Data("{stores: {main: {type: '\(type)', path: 'x'}}}".utf8), to: "roost.json")
        try FileManager.default.createDirectory(atPath: place.file("my data/deep"), withIntermediateDirectories: true)
        for name in ["my data/a b", "my data/a b.lock", "my data/a b-wal", ".hidden", "my\tfile", "ä"] {
            try place.write(Data(), to: name)
        }
        return place
    }

    @Test("completion of a store offers configured names, files and types", arguments: Workplace.fileTypes)
    func stores(type: String) throws {
        let place = try placeWithFiles(type)
        let all = try asked(["info", ""], in: place)
        #expect(all.prefix(4) == ["main", "my data/", "roost.json", "ä"])
        #expect(all.contains("\(type):") && all.contains("coredata:") == (type == "sqlite" || all.contains("sqlite:")))
        #expect(try asked(["info", "m"], in: place) == ["main", "my data/", "memory:"])
        #expect(try !asked(["convert", "main", ""], in: place).contains("coredata:"))
    }

    @Test(
        "completion of a path offers no companion files, and hidden files only after a dot",
        arguments: Workplace.fileTypes)
    func paths(type: String) throws {
        let place = try placeWithFiles(type)
        #expect(try asked(["info", "\(type):my"], in: place) == ["\(type):my data/"])
        #expect(
            try asked(["info", "\(type):my data/"], in: place) == ["\(type):my data/a b", "\(type):my data/deep/"])
        #expect(try asked(["info", "./."], in: place) == ["./.hidden"])
        #expect(try asked(["info", "nowhere/"], in: place) == [])
        #expect(try asked(["info", "memory:"], in: place) == [])
        #expect(try asked(["demo", "--directory="], in: place) == ["--directory=my data/"])
        #expect(try asked(["info", "--config=ro"], in: place) == ["--config=roost.json"])
    }

    @Test(
        "completion reads the configuration that --config names, and ignores an invalid configuration",
        arguments: Workplace.fileTypes)
    func configurations(type: String) throws {
        let place = try placeWithFiles(type)
        try place.write(Data("{stores: {other: {type: 'memory'}}}".utf8), to: "my data/c.json")
        #expect(try asked(["info", "--config", "my data/c.json", "o"], in: place) == ["other"])
        try place.write(Data("{".utf8), to: "roost.json")
        #expect(try asked(["info", "m"], in: place) == ["my data/", "memory:"])
    }

    @Test("completion offers the entities of the store that the line names", arguments: Workplace.fileTypes)
    func entities(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 10)
        let path = place.file("a")
        #expect(texts(["pick", path, "Al"], of: [Self.choices]) == ["Album"])
        #expect(texts(["pick", "\(type):\(path)", "--json", "Art"], of: [Self.choices]) == ["Artist"])
        #expect(texts(["pick", place.file("nothing"), ""], of: [Self.choices]) == [])
    }

    @Test("completion splits and quotes a line as a shell does")
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

@Suite("Completion scripts")
struct CompletionScriptTests {
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

    /// Runs a script in a shell whose `PATH` begins with the program's directory, and returns the
    /// lines of the output.
    private func run(
        _ shell: String, options: [String], script: String, arguments: [String] = [], in place: Workplace
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

    /// Lines and their completions, which are the same in all shells except for `~` in Fish.
    private static let cases: [(String, [String])] = [
        ("roost con", ["convert", "config", "conformance"]), ("roost info ma", ["main", "mail"]),
        ("roost info o", ["only"]), ("roost info --mod", ["--model=", "--model-version="]),
        ("roost model diff on", ["only"]), ("roost completions f", ["fish"]), ("roost info ~/on", ["~/only"]),
        ("roost help dif", ["diff"]), ("roost info nothing", []),
    ]

    private static let bashCases: [(String, [String])] = {
        var all = cases
        all += [
            ("roost info my", ["my\\ data/"]), ("roost info \"my data/", ["my data/a b.sqlite"]),
            // Bash replaces only the text after the colon or the equals sign.
            ("roost info memory:my", []), ("roost info --model=my\\ data/a", ["my\\ data/a\\ b.sqlite"]),
        ]
        #if SQLite
            all.append(("roost info sqlite:my\\ data/", ["my\\ data/a\\ b.sqlite"]))
        #endif
        return all
    }()

    @Test(
        "the script for Bash completes commands, options, stores and files",
        .enabled(if: path("bash") != nil, "bash is not installed"), arguments: bashCases)
    func bash(line: String, wanted: [String]) throws {
        let place = try place()
        // Sets Bash's variables for completions, with words split only at blanks.
        let script = """
            source <(roost completions bash)
            complete -p roost
            COMP_LINE=$1 COMP_POINT=${#1}
            IFS=' ' read -ra COMP_WORDS <<< "$1"
            COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
            _roost roost
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let lines = try run("bash", options: ["--norc"], script: script, arguments: ["bash", line], in: place)
        #expect(lines.first == "complete -F _roost roost")
        #expect(Array(lines.dropFirst()) == wanted)
    }

    private static let zshCases: [(String, [String])] = {
        var all = cases
        all.append(("roost info my\\ da", ["my data/"]))
        #if SQLite
            all.append(("roost info sqlite:my\\ data/", ["sqlite:my data/a b.sqlite"]))
        #endif
        return all
    }()

    private func completeInZsh(_ line: String) throws -> [String] {
        // Zsh's builtins for completion work only while Zsh handles a key, so functions replace
        // them.
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
        let lines = try run("zsh", options: ["-f"], script: script, arguments: ["zsh", line], in: try place())
        #expect(lines.first == "compdef _roost roost")
        return Array(lines.dropFirst())
    }

    @Test(
        "the script for Zsh completes commands, options, stores and files",
        .enabled(if: path("zsh") != nil, "zsh is not installed"), arguments: zshCases)
    func zsh(line: String, wanted: [String]) throws {
        #expect(try completeInZsh(line) == wanted)
    }

    @Test(
        "the script for Zsh offers the types of stores for an empty word",
        .enabled(if: path("zsh") != nil, "zsh is not installed"))
    func emptyWordInZsh() throws {
        #expect(try completeInZsh("roost info ").contains("memory:"))
    }

    private static let fishCases: [(String, [String])] = {
        // Fish expands `~`.
        var all = cases.filter { !$0.0.contains("~") }
        all.append(("roost info my\\ da", ["my data/"]))
        #if SQLite
            all.append(("roost info sqlite:my\\ data/", ["sqlite:my data/a b.sqlite"]))
        #endif
        return all
    }()

    @Test(
        "the script for Fish completes commands, options, stores and files",
        .enabled(if: path("fish") != nil, "fish is not installed"), arguments: fishCases)
    func fish(line: String, wanted: [String]) throws {
        let escaped = line.replacingOccurrences(of: "\\", with: "\\\\")
        let found = try run(
            "fish", options: ["--no-config"], script: "roost completions fish | source; complete -C '\(escaped)'",
            in: try place()
        ).map { String($0.prefix { $0 != "\t" }) }
        // Fish sorts the completions itself.
        #expect(found.sorted() == wanted.sorted())
    }

    @Test(
        "each completion script passes its shell's syntax check",
        arguments: CompletionShell.allCases.filter { path($0.rawValue) != nil })
    func syntax(shell: CompletionShell) throws {
        let place = try Workplace()
        try place.write(Data(shell.script.utf8), to: "script")
        let command = [try #require(Self.path(shell.rawValue)), "-n", place.file("script")]
        let result = try RunningCommand(command, in: place.path).wait()
        #expect(result.code == 0 && result.errors == "" && result.output == "")
    }

    @Test("roost completions refuses an unknown shell and names the supported shells")
    func unknown() throws {
        let place = try Workplace()
        try place.roost("completions", "fihs").expectError(2, containing: "did you mean 'fish'?")
        try place.roost("completions", "tcsh").expectError(2, containing: "bash, zsh or fish")
    }
}
