internal import Roost
internal import RoostCore
internal import RoostMigration
internal import RoostStores

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
            or destination. If count is above 1, the entry summarizes that number of unlisted findings. object or property is
            absent if a finding is not about one.

            With --accept records the changes that another program made to an SQLite store. It lists the objects and links that
            differ from the record of the last commit, asks, and writes new checksums, versions and tallies in one transaction.
            Invalid content and a damaged file are refused. Exits 1 if the answer is no, and 2 if standard input
            is not a terminal and --yes is missing. With --json prints one object: store, accepted (whether it was done),
            objectCount, objects [ID] (the first 100), entities and relationships [{name, recorded, found}] that differ, generation.
            """,
        options: [
            CommandOption("accept", help: "Record the changes that another program made."),
            CommandOption("yes", letter: "y", needs: "accept", help: "Do not ask for confirmation."),
            .json, .quiet, .verbose,
        ] + StoreArguments.openingOptions,
        examples: [
            "roost check music.sqlite", "roost check lmdb:music.lmdb --json", "roost check music.sqlite --accept --yes",
        ], run: runCheck)

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

    @Sendable private static func runCheck(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        if arguments.has("accept") { return try ChangeAcceptance(arguments, console: console).run() }
        let location = try StoreArguments.store(arguments.positions[0], arguments: arguments).location
        let findings: [StoreFinding]
        do {
            findings = try StoreArguments.withStore(arguments.positions[0], arguments: arguments) { try checkStore($0) }
        } catch let error as StoreError where error.code == .corrupted {
            // The damage prevents the store from being opened or examined.
            findings = [StoreFinding(.damage, message: error.message)]
        }
        func count(_ severity: StoreFinding.Severity) -> Int {
            findings.reduce(0) { $0 + ($1.severity == severity ? $1.count : 0) }
        }
        let (damage, violations) = (count(.damage), count(.violation))
        if arguments.has("json") {
            try console.printJSON(
                Report(
                    store: location.description, sound: damage == 0, valid: violations == 0, damage: damage,
                    violations: violations, warnings: count(.warning),
                    findings: findings.map { finding in
                        .init(
                            severity: finding.severity.rawValue, kind: finding.kind,
                            object: finding.object?.description, property: finding.property, message: finding.message,
                            count: finding.count)
                    }))
        } else {
            for finding in findings { try console.print(finding.description) }
            if findings.isEmpty, !arguments.has("quiet") { try console.print("\(location) is sound.") }
        }
        return damage == 0 && violations == 0 ? .success : .finding
    }
}

/// One run of `roost check --accept`.
private struct ChangeAcceptance {
    private struct Report: Encodable {
        var store: String
        var accepted: Bool
        var objectCount: Int
        var objects: [String]
        var entities: [ExternalChanges.Difference]
        var relationships: [ExternalChanges.Difference]
        var generation: Generation?
    }

    private let arguments: ParsedArguments
    private let console: Console

    init(_ arguments: ParsedArguments, console: Console) throws {
        self.arguments = arguments
        self.console = console
        guard arguments.has("yes") || StandardInput.isTerminal else {
            throw UsageError(
                "cannot ask whether to accept: standard input is not a terminal. Use --yes to accept without asking, or leave out --accept to see the findings"
            )
        }
    }

    func run() throws -> ExitCode {
        var isAccepted = false
        func closingFailed(_ error: StoreError) -> Bool {
            guard isAccepted else { return false }
            console.printError(
                "warning: the changes are accepted, but the store was not closed: \(error.message)")
            return true
        }
        return try StoreArguments.withStore(
            arguments.positions[0], arguments: arguments, forWriting: true, closingFailed: closingFailed
        ) { store in
            let accepting = try StoreMaintenance.changeAccepting(store)
            let changes = try accepting.externalChanges()
            guard !changes.isEmpty else {
                return try report(
                    changes, location: store.location, generation: nil,
                    text: "Nothing to accept: \(store.location) is as its last commit recorded."
                )
            }
            if !arguments.has("yes") {
                let list = changes.sentences.joined(separator: "\n")
                guard try console.ask("\(list)\nAccept these changes? [y/N] ") else {
                    console.printError("nothing was accepted")
                    return .finding
                }
            }
            try Interruption.shared.beginCommit()
            let generation = try accepting.acceptExternalChanges(changes)
            isAccepted = true
            return try report(
                changes, location: store.location, generation: generation,
                text:
                    "\(changes.sentences.joined(separator: "\n"))\nAccepted: \(store.location) has new checksums for all of this."
            )
        }
    }

    private func report(
        _ changes: ExternalChanges, location: StoreLocation, generation: Generation?, text: String
    ) throws -> ExitCode {
        let report = Report(
            store: location.description, accepted: generation != nil, objectCount: changes.objectCount,
            objects: changes.objects.map(\.description), entities: changes.entities,
            relationships: changes.relationships, generation: generation)
        try console.printReport(report, text: text, warnings: [], arguments: arguments)
        return .success
    }
}
