internal import Roost
internal import RoostStores

/// The texts of `--help`, made from the commands and options that the parser uses.
enum Help {
    static let summary = "converts, checks, compares and reads object stores"

    static let options = [
        CommandOption("help", letter: "h", help: "Show this help, or that of a command: roost COMMAND --help"),
        CommandOption("version", help: "Print the version."),
    ]

    static let stores = """
        A store is written type:path (sqlite:music.sqlite, lmdb:music.lmdb, json:music.json, coredata:Old.sqlite, memory:), as its
        name in the configuration (see 'roost config --help'), or as a bare path whose type is recognized by the file's content.
        The forms are tried in this order; ./NAME is always a path. Without STORE, a command uses the default of the configuration.
        """

    static let outputs = "Results go to standard output, errors and progress to standard error."

    static let exitCodes: [(code: ExitCode, short: String, text: String)] = [
        (.success, "success", "Success, also when the reader of the output has ended (`| head`)."),
        (
            .finding,
            "a finding (check, diff, fetch --id, delete --id, model, conformance), or a question answered with no",
            "A finding: `check` found damage or a violation, `diff` or `model diff` a difference, `model validate` a problem, `model history` a step that cannot be inferred, `conformance` a failure, `fetch --id` or `delete --id` no such object; or a question was answered with no."
        ),
        (
            .usage, "wrong usage or configuration",
            "Wrong usage: an unknown command or option, a missing argument; a configuration with errors."
        ),
        (
            .failure, "an error of a store, a model or the system",
            "An error of a store, a model or the system. The last transaction changed nothing, unless it was complete and only printing its result failed. Earlier transactions of `import --key` and `import --relate` remain."
        ),
        (
            .interrupted, "interrupted",
            "Interrupted by Ctrl-C, SIGTERM or SIGHUP; nothing was changed by the last transaction. A signal after a commit has no effect. A second signal ends the program at once, except within half a second of the first."
        ),
    ]

    static let environment = [
        (RoostConfiguration.fileVariable, "The configuration, instead of the nearest roost.json here or above."),
        (RoostConfiguration.storeVariable, "The default store in any form of STORE; overrides the configuration."),
    ]

    static let examples = [
        "roost convert sqlite:music.sqlite lmdb:music.lmdb", "roost info music.lmdb --json",
        "roost diff music.sqlite music.lmdb",
    ]

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

    /// Returns the usage of a command, such as `roost info [OPTIONS] STORE`.
    static func usage(_ command: Subcommand) -> String {
        "roost \(command.name) [OPTIONS]" + (command.usage.isEmpty ? "" : " \(command.usage)")
    }

    /// Returns the page `docs/command-line.md`, which has all help texts.
    static func page(_ commands: [Subcommand]) -> String {
        let sections = commands.map { "## roost \($0.name)\n\n```\n\(text($0))\n```\n" }.joined(separator: "\n")
        return """
            # The command line

            The texts that `roost --help` and `roost COMMAND --help` print. Later versions may add fields to JSON outputs, but
            they keep all existing fields.

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

    /// Returns an option as the help lists it, such as `-q, --quiet`.
    private static func writing(_ option: CommandOption) -> String {
        (option.letter.map { "-\($0), " } ?? "    ") + "--\(option.name)"
            + (option.valueName.map { "=\($0)" } ?? "")
    }

    private static func list(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { name, text in
            "  \(name)\(String(repeating: " ", count: width - name.count))  \(text)"
        }.joined(separator: "\n")
    }
}
