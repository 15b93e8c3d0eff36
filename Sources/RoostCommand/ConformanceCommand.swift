internal import Roost
internal import RoostConformance

extension Subcommand {
    static let conformance = Subcommand(
        name: "conformance", summary: "Run the conformance suite on types of store.", usage: "TYPE...",
        argumentCount: 0...64,
        discussion: """
            Runs every check of the suite on new stores of each type, in a temporary directory. Prints one line for each check and
            exits 1 when one fails. A check that needs a capability the type lacks is run as its opposite, and says so.

            With --self-test shows that the suite can fail: it gives stores of each type (memory, if none is named) one fault after the
            other, and for each the check that is named for it must pass on the sound store and fail on the faulty one. Prints one line
            for each fault and exits 1 when one is not caught.

            With --json prints one object: checks [{type, id, behaviour, passed, missingCapability, failure}], passed, failed; with
            --self-test: faults [{type, fault, check, outcome, expected, actual}], caught, missed, skipped.
            """,
        options: [
            CommandOption("filter", "f", value: "TEXT", help: "Run only the checks whose ID contains TEXT."), .json,
            CommandOption(
                "self-test", help: "Show that the checks notice faulty stores; --filter looks at their names too."),
            CommandOption("quiet", "q", help: "Print only failures."), .verbose,
        ],
        examples: [
            "roost conformance sqlite lmdb memory", "roost conformance lmdb --filter=links",
            "roost conformance --self-test",
        ], run: runConformance
    )

    private struct Report: Encodable {
        struct Check: Encodable {
            var type: String
            var id: String
            var behaviour: String
            var passed: Bool
            var missingCapability: String?
            var failure: String?
        }

        var checks: [Check] = []
        var passed: Int { checks.count { $0.passed } }
        var failed: Int { checks.count - passed }

        private enum CodingKeys: String, CodingKey { case checks, passed, failed }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(checks, forKey: .checks)
            try container.encode(passed, forKey: .passed)
            try container.encode(failed, forKey: .failed)
        }
    }

    @Sendable private static func runConformance(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        if arguments.has("self-test") {
            return try ConformanceSelfTestReport.run(
                arguments.positions.isEmpty ? ["memory"] : arguments.positions, arguments, console)
        }
        guard !arguments.positions.isEmpty else {
            throw UsageError("'roost conformance' needs TYPE...; see 'roost conformance --help'")
        }
        let fixtures = try arguments.positions.map { StoreFixture(try StoreRegistry.builtIn.type(named: $0)) }
        let filter = arguments.value("filter") ?? ""
        let checks = ConformanceCheck.all.filter { filter.isEmpty || $0.id.contains(filter) }
        guard !checks.isEmpty else { throw UsageError("no check's ID contains the text of --filter") }
        var report = Report()
        for fixture in fixtures {
            for check in checks {
                let missing = check.missingCapability(on: fixture)?.description
                var result = Report.Check(
                    type: fixture.name, id: check.id, behaviour: check.behaviour, passed: true,
                    missingCapability: missing)
                do throws(ConformanceFailure) { try check.run(on: fixture) } catch {
                    result.passed = false
                    result.failure = "expected: \(error.expected); actual: \(error.actual)"
                }
                report.checks.append(result)
                guard !arguments.has("json") else { continue }
                if let failure = result.failure {
                    try console.print("FAIL  \(fixture.name)  \(check.id)  \(check.behaviour)\n      \(failure)")
                } else if !arguments.has("quiet") {
                    let note = missing.map { "  (without \($0): refused as it should be)" } ?? ""
                    try console.print("ok    \(fixture.name)  \(check.id)\(note)")
                }
            }
        }
        if arguments.has("json") {
            try console.printJSON(report)
        } else {
            try console.print("\(report.passed) passed, \(report.failed) failed")
        }
        return report.failed == 0 ? .success : .finding
    }
}
