internal import Roost
internal import RoostConformance
internal import RoostCore
internal import RoostMigration

extension Subcommand {
    static let conformance = Subcommand(
        name: "conformance", summary: "Run the conformance suite on types of store.", usage: "TYPE...",
        argumentCount: 0...64,
        discussion: """
            Runs every check of the suite on new stores of each type, in a temporary directory, and exits 1 when one fails. A check
            that needs a capability the type lacks is run as its opposite: that the store refuses, and changes nothing.

            --filter=TEXT chooses the checks whose ID contains TEXT; with asterisks the whole ID must fit, and * stands for any
            text: links.* are the checks of one group. Given several times, what any of them finds is run.

            --exclude names a check that the types, or with TYPE:ID=REASON the one type, are known not to pass. It is run all the
            same: while it fails, it is reported with the reason and is no failure; once it passes, that is a failure, so that the
            exclusion is removed.

            A run that is interrupted ends behind the check under way. It prints what was run, marked as interrupted, and exits 130.

            text      A line for each check as it ends: ok, opposite, excluded or FAIL; then the counts of each type.
            tap       Version 13 of the Test Anything Protocol, line by line. An excluded check is a known failure (todo).
            junit     XML for continuous-integration servers: a test suite for each type. The property opposite names the
                      capability that is missing; an excluded check is skipped, with the reason.
            markdown  A table of the groups of checks, with --verbose of every check.

            With --self-test shows that the suite can fail: it gives stores of each type (memory, if none is named) one fault after the
            other, and for each the check that is named for it must pass on the sound store and fail on the faulty one. Prints one line
            for each fault and exits 1 when one is not caught. --filter looks at the names of faults and checks;
            --format and --exclude are refused.

            With --json prints one object: checks [{type, id, behavior, passed, seconds, missingCapability, excluded, failure}],
            passed, excluded, failed, interrupted. An excluded check that fails has passed false, and is not counted as failed. With --self-test:
            faults [{type, fault, check, outcome, expected, actual}], caught, missed, skipped, interrupted.
            """,
        options: [
            CommandOption(
                "filter", letter: "f", value: "TEXT",
                help: "Run only the checks whose ID contains TEXT; can be given several times."),
            CommandOption(
                "exclude", letter: "x", value: "[TYPE:]ID=REASON",
                help: "A check that must fail, and why; can be given several times."
            ),
            CommandOption("format", value: "FORMAT", help: "text, tap, junit or markdown; text unless given."), .json,
            CommandOption("self-test", help: "Show that the checks notice faulty stores."),
            CommandOption("quiet", letter: "q", help: "Print nothing but failures, as text."),
            CommandOption(
                "verbose", letter: "v", help: "Print what each check is about; in text how long it took, too."),
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
