internal import Roost
internal import RoostCore
internal import RoostMigration

extension Subcommand {
    static let load = Subcommand(
        name: "load", summary: "Make a new store of a dump from standard input, verified.", usage: "STORE",
        argumentCount: 1...1,
        discussion: """
            Reads what 'roost dump' wrote into a new store of any type: objects and links with their IDs, versions and places,
            the store's UUID, the user's metadata and the keys that count as used. The dump must be what its last line says, and
            the finished store is read again; only then it gets its name. After an error, which says line and column, or after
            Ctrl-C, nothing is left of it.

            A dump of some entities may hold references and links to objects that it does not hold. They are refused, with their
            number for each relationship, unless --allow-dangling is given: then to-one references among them become null, with
            their places, links are left out, and the report counts both. Attributes that are object IDs stay as they are.

            With --json prints one object, as 'roost convert' does: source, destination, objects, links, digest, verified,
            seconds, bytes, peakPrivateBytes, entities [{name, count}], relationships [{relationship, count}], skipped [],
            dangling [{relationship, count}], warnings [text], remarks [text].
            """,
        options: [
            CommandOption(
                "overwrite", help: "Replace an existing store of the same type, once the new one is complete."),
            CommandOption(
                "allow-dangling", help: "Leave out what leads to objects that a dump of some entities does not hold."),
            CommandOption(
                "timeout", value: "SECONDS", help: "How long to wait for a store that is in use; 10 unless given."),
            .json, .quiet, .verbose,
        ],
        examples: [
            "roost load sqlite:music.sqlite < music.jsonl", "roost dump music.sqlite | roost load lmdb:music.lmdb",
            "roost load sqlite:some.sqlite --allow-dangling --json < some.jsonl",
        ],
        run: runLoad)

    @Sendable private static func runLoad(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let destination = try StoreArguments.newStore(arguments.positions[0], arguments: arguments)
        guard !StandardInput.isTerminal else {
            throw UsageError("a dump is expected on standard input: roost load \(arguments.positions[0]) < FILE")
        }
        let progress = ProgressLine(console)
        let cancellation = ConversionCancellation()
        var options = ConversionOptions(
            overwrites: arguments.has("overwrite"),
            cancellation: cancellation
        ).with { $0.destinationTypeOptions = destination.options.typeOptions }
        if let seconds = try arguments.integer("timeout", minimum: 0) { options.timeoutSeconds = Double(seconds) }
        if !arguments.has("quiet"), console.showsProgress { options.onProgress = { progress.show($0) } }
        let report: ConversionReport
        do {
            defer { progress.clear() }
            report = try Interruption.shared.cancelling(cancellation) {
                try MigrationManager(registry: .standard).load(
                    into: .location(destination.location), from: StandardInput.name,
                    allowsDangling: arguments.has("allow-dangling"),
                    options: options
                ) { (buffer) throws(StoreError) in try StandardInput.read(into: buffer, cancellation: cancellation) }
            }
        }
        try console.printReport(report, text: report.description, warnings: report.warnings, arguments: arguments)
        return .success
    }
}
