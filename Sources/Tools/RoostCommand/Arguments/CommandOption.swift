/// One option of a subcommand; help, parser and suggestions all come from this.
struct CommandOption: Sendable {
    /// The name behind two hyphens.
    let name: String
    /// The letter behind one hyphen.
    let letter: Character?
    /// What the option's value is called in the help; nil for an option without one.
    let valueName: String?
    /// The option without which this one makes no sense.
    let needs: String?
    /// What it does, one line.
    let help: String

    init(_ name: String, letter: Character? = nil, value valueName: String? = nil, needs: String? = nil, help: String) {
        self.name = name
        self.letter = letter
        self.valueName = valueName
        self.needs = needs
        self.help = help
    }

    /// Whether the value is a whole number.
    var isNumber: Bool { valueName == "N" || valueName == "S" || valueName == "SECONDS" }

    /// The words that the value can be, where the help says so: by its first words, as in
    /// `table, json or csv; table by default.`, or by the value's name, as in `table|json|csv`.
    var choices: [String] {
        guard let valueName else { return [] }
        if valueName.contains("|") { return valueName.split(separator: "|").map(String.init) }
        let list = help.prefix { $0 != ";" && $0 != "." }.split(separator: ",").flatMap { part in
            part.split(separator: " ").map(String.init).split(separator: "or").map { $0.joined(separator: " ") }
        }
        guard list.count > 1, list.allSatisfy({ $0.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } }) else {
            return []
        }
        return list
    }

    static let help = CommandOption("help", letter: "h", help: "Show this help.")
    static let config = CommandOption(
        "config", value: "FILE", help: "The configuration; ROOST_CONFIG or the next roost.json upwards unless given.")
    static let json = CommandOption("json", help: "Print the result as JSON.")
    static let quiet = CommandOption("quiet", letter: "q", help: "Print no progress and no report, only errors.")
    static let verbose = CommandOption(
        "verbose", letter: "v", help: "Print more: library versions, errors of the backend.")
}

/// One thing that `roost` can do.
struct Subcommand: Sendable {
    /// The verb.
    let name: String
    /// What it does, one line.
    let summary: String
    /// How its arguments are written, as in `SOURCE DEST`.
    let usage: String
    /// How many arguments it takes.
    let argumentCount: ClosedRange<Int>
    /// What it does, in paragraphs, with the results and exit codes that need words.
    let discussion: String
    /// Its options, without those that many commands have.
    let options: [CommandOption]
    /// All its options: the configuration's too where its arguments are stores, and `--help`.
    var allOptions: [CommandOption] {
        let words = usage.split { $0 == " " || $0 == "," || $0 == "[" || $0 == "]" }
        let takesStores = words.contains { ["STORE", "SOURCE", "DEST", "A", "B"].contains($0) }
        let names = options.map(\.name)
        return options + (takesStores && !names.contains("config") ? [.config] : []) + [.help]
    }
    /// Commands one can copy.
    let examples: [String]
    /// Does it.
    let run: @Sendable (ParsedArguments, Console) throws -> ExitCode
}

/// How a command ended.
enum ExitCode: Int32, Sendable {
    /// Everything is fine.
    case success = 0
    /// A check, a comparison or a suite found something.
    case finding = 1
    /// The command line was wrong.
    case usage = 2
    /// A store, a model or the system refused.
    case failure = 3
    /// Interrupted by Ctrl-C, SIGTERM or SIGHUP.
    case interrupted = 130
}
