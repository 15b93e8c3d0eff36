internal import Roost
internal import RoostConformance
internal import RoostCore
internal import RoostMigration

extension Subcommand {
    static let conformance = Subcommand(
        name: "conformance", summary: "Run the conformance suite on types of store.", usage: "TYPE...",
        argumentCount: 0...64,
        discussion: """
            Runs every check of the suite on new stores of each type, in a temporary directory, and exits 1 if a check fails. If the
            type lacks a capability, the checks that need it run as their opposite: the store must refuse, and change nothing.

            --filter=TEXT chooses the checks whose ID contains TEXT. With asterisks the whole ID must match, and * stands for any
            text: links.* are the checks of one group. A repeated option adds checks.

            --exclude names a check that is known to fail, for all types, or with TYPE:ID=REASON for one type. The check runs
            nevertheless. If it fails, it is reported with the reason and does not count as failed. If it passes, the run fails, so
            that the exclusion is removed.

            An interrupted run ends after the current check. It prints the results so far, marked as interrupted, and exits 130.

            text      A line for each check as it ends: ok, opposite, excluded or FAIL; then the counts of each type.
            tap       Version 13 of the Test Anything Protocol, line by line. An excluded check is a known failure (todo).
            junit     XML for continuous-integration servers: a test suite for each type. The property opposite names the
                      capability that is missing; an excluded check is skipped, with the reason.
            markdown  A table of the groups of checks, with --verbose of every check.

            With --self-test shows that the suite can fail. It gives stores of each type (default: memory) one fault after the other.
            The check for a fault must pass on the sound store and fail on the faulty one. Prints one line for each fault, and
            exits 1 if a fault is not caught. --filter chooses by the names of faults and checks; --format and --exclude are
            refused.

            With --json prints one object: checks [{type, id, behavior, passed, seconds, missingCapability, excluded, failure}],
            passed, excluded, failed, interrupted. For an excluded check that fails, passed is false, and failed omits it. With
            --self-test: faults [{type, fault, check, outcome, expected, actual}], caught, missed, skipped, interrupted.
            """,
        options: [
            CommandOption(
                "filter", letter: "f", value: "TEXT",
                help: "Run only the checks whose ID contains TEXT; can be repeated."),
            CommandOption(
                "exclude", letter: "x", value: "[TYPE:]ID=REASON",
                help: "A check that is known to fail, with the reason; can be repeated."
            ),
            CommandOption(
                "format", value: "text|tap|junit|markdown", help: "The format of the report (default: text)."), .json,
            CommandOption("self-test", help: "Show that the checks notice faulty stores."),
            CommandOption("quiet", letter: "q", help: "Print only failures, as text."),
            CommandOption("verbose", letter: "v", help: "Print the subject of each check, and in text its duration."),
        ],
        examples: [
            "roost conformance sqlite lmdb json memory", "roost conformance lmdb --filter='links.*' --verbose",
            "roost conformance sqlite --format=junit > conformance.xml", "roost conformance --self-test",
        ], run: runConformance)

    @Sendable private static func runConformance(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let cancellation = ConversionCancellation()
        if arguments.has("self-test") {
            return try Interruption.shared.cancelling(cancellation) {
                try ConformanceSelfTestReport.run(
                    arguments.positions.isEmpty ? ["memory"] : arguments.positions, arguments: arguments,
                    isCancelled: { cancellation.isCancelled }, print: { try console.print($0) })
            }
        }
        guard !arguments.positions.isEmpty else {
            throw UsageError("'roost conformance' needs TYPE...; see 'roost conformance --help'")
        }
        let run = try ConformanceRun(arguments, registry: StoreRegistry.standard) { cancellation.isCancelled }
        return try Interruption.shared.cancelling(cancellation) {
            try run.run { if !$0.isEmpty { try console.write(Array($0.utf8)) } }
        }
    }
}
