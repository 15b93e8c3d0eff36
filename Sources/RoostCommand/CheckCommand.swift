internal import Roost

extension Subcommand {
    static let check = Subcommand(
        name: "check", summary: "Examine a store and report everything that is wrong with it.", usage: "STORE",
        argumentCount: 1...1,
        discussion: """
            Reads every record and link and compares checksums, digests, indexes and references. Changes nothing. Prints one line
            for each finding. Exits 1 when data were damaged or changed by another program, 0 otherwise, warnings included.

            With --json prints one object: store, sound (no damage), damage, warnings (how many of each),
            findings [{severity, message}] with severity damage or warning.
            """,
        options: [.json, .quiet, .verbose] + StoreArguments.openingOptions,
        examples: ["roost check music.sqlite", "roost check lmdb:music.lmdb --json"], run: runCheck)

    private struct Report: Encodable {
        struct Finding: Encodable {
            var severity: String
            var message: String
        }

        var store: String
        var sound: Bool
        var damage: Int
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
        let damage = findings.count { $0.severity == .damage }
        if arguments.has("json") {
            try console.printJSON(
                Report(
                    store: url.description, sound: damage == 0, damage: damage, warnings: findings.count - damage,
                    findings: findings.map { .init(severity: $0.severity.rawValue, message: $0.message) }))
        } else {
            for finding in findings { try console.print(finding.description) }
            if findings.isEmpty, !arguments.has("quiet") { try console.print("\(url) is sound.") }
        }
        return damage == 0 ? .success : .finding
    }
}
