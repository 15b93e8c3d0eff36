internal import Roost
internal import RoostMigration

extension Subcommand {
    static let convert = Subcommand(
        name: "convert", summary: "Copy a store into a new store of any type, verified.", usage: "SOURCE DEST",
        argumentCount: 2...2,
        discussion: """
            Copies every object with its ID and version, every link with its positions, the store's UUID and the user's metadata. The
            complete destination is read again and gets its name only if its digest is that of the source. After an error or
            Ctrl-C the unfinished destination is removed. The source is opened read-only.

            A source whose content differs from the record of its last commit is refused (exit 3). --accept-changes copies objects
            of an SQLite store that another program changed, and names them in warnings.

            With --json prints one object: source, destination, objects, links, digest, verified, seconds, bytes,
            peakPrivateBytes, entities [{name, count}], relationships [{relationship, count}], skipped [ID],
            dangling [{relationship, count}], warnings [text], remarks [text]; with --dry-run: source, destination, objects,
            links, entities, relationships, bytesNeeded, bytesAvailable, refusals [text], warnings [text], remarks [text].
            """,
        options: [
            CommandOption(
                "overwrite", help: "Replace an existing store of the destination's type, once the new one is complete."),
            CommandOption(
                "dry-run", letter: "n", help: "Show the plan and what it would refuse (exit 3), and write nothing."),
            CommandOption("skip-damaged", help: "Leave damaged records out and report them."),
            CommandOption("no-verify", help: "Do not read the finished destination again."),
            .json, .quiet, .verbose,
            CommandOption("yes", letter: "y", help: "Accepted for scripts; a conversion never asks."),
        ] + StoreArguments.openingOptions,
        examples: [
            "roost convert Old.sqlite lmdb:music.lmdb",
            "roost convert sqlite:a.sqlite sqlite:b.sqlite --overwrite --json",
            "roost convert coredata:Old.sqlite sqlite:new.sqlite --model=Music.xcdatamodeld --dry-run",
        ],
        run: runConvert)

    @Sendable private static func runConvert(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let progress = ProgressLine(console)
        let cancellation = ConversionCancellation()
        let source = try StoreArguments.store(arguments.positions[0], arguments: arguments)
        let destination = try StoreArguments.newStore(arguments.positions[1], arguments: arguments)
        try StoreArguments.requireDifferent(source.location, destination: destination.location)
        var options = ConversionOptions(
            overwrites: arguments.has("overwrite"), skipsDamaged: arguments.has("skip-damaged"),
            timeoutSeconds: source.options.timeoutSeconds, cancellation: cancellation
        ).with {
            $0.acceptsChanges = source.options.acceptsChanges
            $0.verifies = !arguments.has("no-verify")
            $0.sourceModel = source.options.model
            $0.acceptsLinks = source.options.acceptsLinks
            $0.sourceTypeOptions = source.options.typeOptions
            $0.destinationTypeOptions = destination.options.typeOptions
        }
        if !arguments.has("quiet"), console.showsProgress { options.onProgress = { progress.show($0) } }
        let manager = MigrationManager(registry: .standard)
        if arguments.has("dry-run") {
            let plan = try manager.plan(
                from: .location(source.location), to: .location(destination.location), options: options)
            if arguments.has("json") { try console.printJSON(plan) } else { try console.print(plan.description) }
            guard let refusal = plan.refusals.first else { return .success }
            console.printError(refusal)
            return .failure
        }
        let report: ConversionReport
        do {
            defer { progress.clear() }
            report = try Interruption.shared.cancelling(cancellation) {
                try manager.convert(
                    from: .location(source.location), to: .location(destination.location), options: options)
            }
        }
        try console.printReport(report, text: report.description, warnings: report.warnings, arguments: arguments)
        return .success
    }
}
