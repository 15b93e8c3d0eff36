internal import Roost
internal import RoostCore
internal import RoostMigration
internal import RoostStores

extension Subcommand {
    static let backup = Subcommand(
        name: "backup", summary: "Make a verified copy of a store while other programs use it.",
        usage: "STORE DEST", argumentCount: 2...2,
        discussion: """
            Copies every object and link of the last commit into a new store of the same type, with IDs, versions, positions of
            links, UUID, the user's metadata and used keys. Other programs can read and write the store meanwhile. The complete
            backup is read again and gets its name only if its digest is that of the store. After an error or Ctrl-C it is removed.

            A store whose content differs from the record of its last commit is refused (exit 3), and an older backup stays.
            --accept-changes copies objects that another program changed, and names them in warnings.

            DEST is a path, type:path with the type of the store, or a name of the configuration.

            With --json prints one object, as 'roost convert --json' does.
            """,
        options: [
            CommandOption("overwrite", help: "Replace an existing backup, once the new one is complete."),
            .json, .quiet, .verbose,
        ] + StoreArguments.openingOptions,
        examples: [
            "roost backup music.sqlite backups/music-monday.sqlite",
            "roost backup lmdb:music.lmdb /backups/music.lmdb --overwrite --quiet",
        ],
        run: runBackup)

    @Sendable private static func runBackup(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let source = try StoreArguments.store(arguments.positions[0], arguments: arguments)
        let destination = try destination(arguments.positions[1], type: source.location.type, arguments: arguments)
        try StoreArguments.requireDifferent(source.location, destination: destination.location)
        guard source.location.type == destination.location.type else {
            throw UsageError(
                "a backup has the type of its store, '\(source.location.type)', not '\(destination.location.type)'; use 'roost convert' for another type"
            )
        }
        let maintenance = StoreMaintenance(registry: .standard)
        let report = try maintain(source, arguments: arguments, console: console) { options in
            var options = options
            options.destinationTypeOptions = destination.options.typeOptions
            return try maintenance.backUp(.location(source.location), to: destination.location, options: options)
        }
        try console.printReport(
            report, text: report.description.replacingFirstLine("Backed up \(report.source) to \(report.destination)."),
            warnings: report.warnings, arguments: arguments)
        return .success
    }

    /// Returns the destination of a backup.
    ///
    /// A path without a type gets the type of the source if no store exists there. The backup
    /// reports an unusable path.
    private static func destination(
        _ text: String, type: String, arguments: ParsedArguments
    ) throws -> PersistentStoreDescription {
        try StoreArguments.typedStore(text, arguments: arguments)
            ?? PersistentStoreDescription(StoreLocation(type: type, path: text))
    }

    /// Runs an operation with progress; a signal cancels it.
    static func maintain<Report>(
        _ store: PersistentStoreDescription, arguments: ParsedArguments, console: Console,
        _ body: (ConversionOptions) throws -> Report
    ) throws -> Report {
        let progress = ProgressLine(console)
        let cancellation = ConversionCancellation()
        var options = ConversionOptions(
            overwrites: arguments.has("overwrite"), timeoutSeconds: store.options.timeoutSeconds,
            cancellation: cancellation
        ).with {
            $0.acceptsChanges = store.options.acceptsChanges
            $0.sourceModel = store.options.model
            $0.acceptsLinks = store.options.acceptsLinks
            $0.sourceTypeOptions = store.options.typeOptions
        }
        if !arguments.has("quiet"), console.showsProgress { options.onProgress = { progress.show($0) } }
        defer { progress.clear() }
        return try Interruption.shared.cancelling(cancellation) { try body(options) }
    }
}

extension String {
    fileprivate func replacingFirstLine(_ line: String) -> String {
        guard let end = firstIndex(of: "\n") else { return line }
        return line + self[end...]
    }
}
