internal import Roost

extension Subcommand {
    static let check = Subcommand(
        name: "check", summary: "Examine a store and report everything that is wrong with it.", usage: "STORE",
        argumentCount: 1...1,
        discussion: """
            Reads every record and link. Changes nothing. Prints one line for each finding:

            damage     Checksums, digests, indexes or records differ from what was written.
            violation  The data break a rule of the model: a mandatory value is missing, a number, date or string is outside its
                       limits, a string does not match its pattern, a relationship has too few or too many objects, or a
                       reference is dangling.
            warning    The store is sound, but its data may surprise.

            The first 100 findings of a kind and property are listed, the rest is counted. Exits 1 for damage and violations,
            0 otherwise, warnings included.

            With --json prints one object: store, sound (no damage), valid (no violation), damage, violations, warnings (how many
            of each), findings [{severity: damage, violation or warning, kind, object, property, message, count}]. The kind of a
            violation is mandatory, minimum, maximum, minimumLength, maximumLength, pattern, minimumCount, maximumCount, dangling
            or destination; count is above 1 for a line that stands for findings that are not listed; object and property are
            absent where a finding is about neither.
            """,
        options: [.json, .quiet, .verbose] + StoreArguments.openingOptions,
        examples: ["roost check music.sqlite", "roost check lmdb:music.lmdb --json"], run: runCheck)

    private struct Report: Encodable {
        struct Finding: Encodable {
            var severity: String
            var kind: String
            var object: String?
            var property: String?
            var message: String
            var count: Int
        }

        var store: String
        var sound: Bool
        var valid: Bool
        var damage: Int
        var violations: Int
        var warnings: Int
        var findings: [Finding]
    }

    @Sendable private static func runCheck(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let url = try StoreArguments.store(arguments.positions[0], arguments).url
        let findings: [StoreFinding]
        do {
            findings = try StoreArguments.withStore(arguments.positions[0], arguments) { try checkStore($0) }
        } catch let error as StoreError where error.code == .corrupted {
            // Damage that keeps the store from being opened at all.
            findings = [StoreFinding(.damage, error.message)]
        }
        func count(_ severity: StoreFinding.Severity) -> Int {
            findings.reduce(0) { $0 + ($1.severity == severity ? $1.count : 0) }
        }
        let (damage, violations) = (count(.damage), count(.violation))
        if arguments.has("json") {
            try console.printJSON(
                Report(
                    store: url.description, sound: damage == 0, valid: violations == 0, damage: damage,
                    violations: violations, warnings: count(.warning),
                    findings: findings.map { finding in
                        .init(
                            severity: finding.severity.rawValue, kind: finding.kind,
                            object: finding.object?.description, property: finding.property, message: finding.message,
                            count: finding.count)
                    }))
        } else {
            for finding in findings { try console.print(finding.description) }
            if findings.isEmpty, !arguments.has("quiet") { try console.print("\(url) is sound.") }
        }
        return damage == 0 && violations == 0 ? .success : .finding
    }
}
