internal import Roost
internal import RoostStores

/// The texts of `--help`, made from the same table that the parser uses.
enum Help {
    /// What the program is, in a few words.
    static let summary = "converts, checks, compares and reads object stores"

    /// The options of the program itself.
    static let options = [
        CommandOption("help", letter: "h", help: "Show this help, or that of a command: roost COMMAND --help"),
        CommandOption("version", help: "Print the version."),
    ]

    /// How stores are written on the command line.
    static let stores = """
        A store is written type:path (sqlite:music.sqlite, lmdb:music.lmdb, json:music.json, coredata:Old.sqlite, memory:), as its
        name in the configuration (see 'roost config --help'), or as a bare path whose type is recognized by the file's content.
        They are tried in this order; ./NAME is always a path. A STORE that is left out is the configuration's default.
        """

    /// Where outputs go.
    static let outputs = "Results go to standard output, errors and progress to standard error."

    /// The exit codes, each with a word or two and with a sentence for those who need more.
    static let exitCodes: [(code: ExitCode, short: String, text: String)] = [
        (.success, "fine", "Fine, also when nobody reads the output any more (`| head`)."),
        (
            .finding, "a finding (check, diff, fetch --id, model, conformance)",
            "A finding: `check` found damage, `diff` or `model diff` a difference, `model validate` a problem, `model history` a step that cannot be inferred, `conformance` a failure, `fetch --id` no such object."
        ),
        (
            .usage, "wrong usage or configuration",
            "Wrong usage: an unknown command or option, a missing argument; a configuration with errors."
        ),
        (
            .failure, "an error of a store, a model or the system",
            "An error of a store, a model or the system. Nothing was changed, unless all that failed was printing the result."
        ),
        (
            .interrupted, "interrupted",
            "Interrupted by Ctrl-C, SIGTERM or SIGHUP; nothing was changed. What comes behind a commit changes nothing any more; a second signal ends the program at once."
        ),
    ]

    /// The environment variables, each with what it does.
    static let environment = [
        (RoostConfiguration.fileVariable, "The configuration's file, instead of the next roost.json upwards."),
        (RoostConfiguration.storeVariable, "The default store, instead of the configuration's: written as any store."),
    ]

    /// Commands one can copy.
    static let examples = [
        "roost convert sqlite:music.sqlite lmdb:music.lmdb", "roost info music.lmdb --json",
        "roost diff music.sqlite music.lmdb",
    ]

    /// The help of the whole program.
    static func overview(_ commands: [Subcommand]) -> String {
        """
        roost \(roostVersion): \(summary).

        Usage: roost COMMAND [OPTIONS] [ARGUMENTS]

        Commands:
        \(list(commands.map { ($0.name, $0.summary) }))

        Options:
        \(list(options.map { (writing($0), $0.help) }))

        Environment:
        \(list(environment))

        \(stores)

        \(outputs)

        Exit codes:
        \(list(exitCodes.map { ("\($0.code.rawValue)", $0.short) }))

        Examples:
        \(examples.map { "  \($0)" }.joined(separator: "\n"))
        """
    }

    /// The help of one command.
    static func text(_ command: Subcommand) -> String {
        """
        \(command.summary)

        Usage: \(usage(command))

        \(command.discussion)

        Options:
        \(list(command.allOptions.map { (writing($0), $0.help) }))

        Examples:
        \(command.examples.map { "  \($0)" }.joined(separator: "\n"))
        """
    }

    /// How a command is written: `roost info [OPTIONS] STORE`.
    static func usage(_ command: Subcommand) -> String {
        "roost \(command.name) [OPTIONS]" + (command.usage.isEmpty ? "" : " \(command.usage)")
    }

    /// The documentation page `docs/command-line.md`: all help texts, one after the other.
    static func page(_ commands: [Subcommand]) -> String {
        let sections = commands.map { "## roost \($0.name)\n\n```\n\(text($0))\n```\n" }.joined(separator: "\n")
        return """
            # The command line

            The texts that `roost --help` and `roost COMMAND --help` print. Fields of JSON outputs stay as they are; later
            versions may add some.

            | Exit code | Meaning |
            | --- | --- |
            \(exitCodes.map { "| \($0.code.rawValue) | \($0.text) |" }.joined(separator: "\n"))

            An error is one line on standard error: what, where, and what to do about it.

            ```
            \(overview(commands))
            ```

            \(sections)
            """
    }

    /// How an option is written, letter first: `-q, --quiet`.
    private static func writing(_ option: CommandOption) -> String {
        (option.letter.map { "-\($0), " } ?? "    ") + "--\(option.name)"
            + (option.valueName.map { "=\($0)" } ?? "")
    }

    /// Rows of a name and what it means, aligned.
    private static func list(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { name, text in
            "  \(name)\(String(repeating: " ", count: width - name.count))  \(text)"
        }.joined(separator: "\n")
    }
}
