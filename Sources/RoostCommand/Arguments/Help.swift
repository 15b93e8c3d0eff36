internal import Roost

/// The texts of `--help`, made from the same table that the parser uses.
enum Help {
    /// The help of the whole program.
    static func overview(_ commands: [Subcommand]) -> String {
        let width = commands.map(\.name.count).max() ?? 0
        let list = commands.map { "  \(padded($0.name, width))  \($0.summary)" }.joined(separator: "\n")
        return """
            roost \(roostVersion): converts, checks, compares and reads object stores.

            Usage: roost COMMAND [OPTIONS] [ARGUMENTS]

            Commands:
            \(list)

            Options:
              -h, --help     Show this help, or that of a command: roost COMMAND --help
                  --version  Print the version.

            A store is written type:path (sqlite:music.sqlite, lmdb:music.lmdb, coredata:Old.sqlite, memory:), or as a bare
            path whose type is recognised by the file's content.

            Results go to standard output, errors and progress to standard error. Exit codes: 0 fine, 1 a finding (check,
            diff, model, conformance), 2 wrong usage, 3 an error of a store, a model or the system, 130 interrupted.

            Examples:
              roost convert sqlite:music.sqlite lmdb:music.lmdb
              roost info music.lmdb --json
              roost diff music.sqlite music.lmdb
            """
    }

    /// The help of one command.
    static func text(_ command: Subcommand) -> String {
        let options = command.options + [.help]
        let names = options.map { option in
            let letter = option.letter.map { "-\($0), " } ?? "    "
            return "\(letter)--\(option.name)\(option.valueName.map { "=\($0)" } ?? "")"
        }
        let width = names.map(\.count).max() ?? 0
        let list = zip(names, options).map { "  \(padded($0, width))  \($1.help)" }.joined(separator: "\n")
        let usage = command.usage.isEmpty ? "" : " \(command.usage)"
        return """
            \(command.summary)

            Usage: roost \(command.name) [OPTIONS]\(usage)

            \(command.discussion)

            Options:
            \(list)

            Examples:
            \(command.examples.map { "  \($0)" }.joined(separator: "\n"))
            """
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
            | 0 | Fine. |
            | 1 | A finding: `check` found damage, `diff` or `model compare` a difference, `model validate` a problem, `conformance` a failure, `fetch --id` no such object. |
            | 2 | Wrong usage: an unknown command or option, a missing argument. |
            | 3 | An error of a store, a model or the system. Nothing was changed, unless all that failed was printing the result. |
            | 130 | Interrupted by Ctrl-C or SIGTERM; nothing was changed. |

            An error is one line on standard error: what, where, and what to do about it.

            ```
            \(overview(commands))
            ```

            \(sections)
            """
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
