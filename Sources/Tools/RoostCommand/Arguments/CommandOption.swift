/// An option of a subcommand, for the help, the parser and the completion.
struct CommandOption: Sendable {
    /// The name after two hyphens.
    let name: String
    /// The letter after one hyphen, or nil.
    let letter: Character?
    /// The name of the value in the help, or nil for an option without a value.
    let valueName: String?
    /// The name of another option that must be given too, or nil.
    let needs: String?
    let help: String

    init(_ name: String, letter: Character? = nil, value valueName: String? = nil, needs: String? = nil, help: String) {
        self.name = name
        self.letter = letter
        self.valueName = valueName
        self.needs = needs
        self.help = help
    }

    var isNumber: Bool { valueName == "N" || valueName == "S" || valueName == "SECONDS" }

    /// The possible values, or an empty array if the help does not list them.
    ///
    /// The list is the beginning of ``help``, as in `table, json or csv; the default is table.`, or
    /// ``valueName``, as in `table|json|csv`.
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
        "config", value: "FILE",
        help: "The configuration (default: ROOST_CONFIG, or the nearest roost.json here or above).")
    static let json = CommandOption("json", help: "Print the result as JSON.")
    static let quiet = CommandOption("quiet", letter: "q", help: "Print no progress and no report, only errors.")
    static let verbose = CommandOption(
        "verbose", letter: "v", help: "Print more: versions of libraries, errors of the backend.")
}

/// One command of `roost`.
struct Subcommand: Sendable {
    let name: String
    let summary: String
    /// The names of the arguments, as in `SOURCE DEST`.
    let usage: String
    let argumentCount: ClosedRange<Int>
    /// The details, in paragraphs.
    let discussion: String
    /// The options, except the common ones that ``allOptions`` adds.
    let options: [CommandOption]
    /// All options, including `--help`, and `--config` if an argument is a store.
    var allOptions: [CommandOption] {
        let words = usage.split { $0 == " " || $0 == "," || $0 == "[" || $0 == "]" }
        let takesStores = words.contains { ["STORE", "SOURCE", "DEST", "A", "B"].contains($0) }
        let names = options.map(\.name)
        return options + (takesStores && !names.contains("config") ? [.config] : []) + [.help]
    }
    let examples: [String]
    let run: @Sendable (ParsedArguments, Console) throws -> ExitCode
}

enum ExitCode: Int32, Sendable {
    case success = 0
    /// The command found a problem, such as damage or a missing object; or the user answered no.
    case finding = 1
    /// The command line or the configuration was wrong.
    case usage = 2
    /// A store, a model or the system reported an error.
    case failure = 3
    /// Ctrl-C, SIGTERM or SIGHUP interrupted the command.
    case interrupted = 130
}
