internal import Roost
internal import RoostCore
internal import RoostMigration

extension Subcommand {
    static let load = Subcommand(
        name: "load", summary: "Make a new, verified store from a dump on standard input.", usage: "STORE",
        argumentCount: 1...1,
        discussion: """
            Reads a dump of 'roost dump' into a new store of any type: objects with their IDs and versions, links with
            their positions, the store's UUID, the user's metadata and the used keys. The store gets its name only if the dump
            agrees with its last line and the finished store was read again. After an error, which names line and column, or after
            Ctrl-C, the unfinished store is removed.

            A dump of some entities can have references and links to objects that it does not contain. They are refused, with
            their number for each relationship. With --allow-dangling, to-one references to missing objects become null, links to
            them are left out, and the report counts both. Attributes that are object IDs do not change.

            With --json prints one object, as 'roost convert' does: source, destination, objects, links, digest, verified,
            seconds, bytes, peakPrivateBytes, entities [{name, count}], relationships [{relationship, count}], skipped [],
            dangling [{relationship, count}], warnings [text], remarks [text].
            """,
        options: [
            CommandOption(
                "overwrite", help: "Replace an existing store of the same type, once the new one is complete."),
            CommandOption(
                "allow-dangling", help: "Leave out references to objects that a dump of some entities does not contain."
            ),
            CommandOption(
                "timeout", value: "SECONDS", help: "How long to wait for a store that is in use (default: 10)."),
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
