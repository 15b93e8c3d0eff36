internal import Foundation
internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostMigration

extension Subcommand {
    static let migrate = Subcommand(
        name: "migrate", summary: "Bring a store to another version of its model, in place or into a new store.",
        usage: "STORE", argumentCount: 1...1,
        discussion: """
            Migrates the content of STORE to the model of --to. With --in-place the result replaces STORE; with --output it becomes
            another store, of any type. The result is read again and compared, and then gets its name in one step. After an error,
            Ctrl-C or a crash, STORE is unchanged or migrated, and the same command finishes the work. With --in-place no other
            program can open STORE meanwhile, and a STORE that already has the model does not change. If at least half of the objects
            and links stay the same and no backup is kept, an SQLite or PostgreSQL store changes in one transaction (path
            oneTransaction), without a copy.

            FILE is a model document (.roostmodel.json), a model of Apple's (.xcdatamodeld, .momd, .xcdatamodel, .mom) or a store. In a
            bundle, FILE@VERSION names a version (default: the current version). STORE then goes from its version to VERSION, with
            the mapping models of --mapping between these two versions. Each gap without a mapping model is one inferred step, as
            in Core Data. STORE goes through the versions in a gap only if one step cannot be inferred, or would drop something
            that these versions keep. With --direct, and for any other FILE, there is one step. A Core Data STORE without a model
            is read with the version of the bundle that fits it.

            The order of the versions follows from --versions, from the numbers in their names, from the mapping models (the source of
            a mapping is older) and from the current version; 'roost model history' shows it. If names mislead, use --versions.

            A migration that would drop objects, values that are not null, references or the order of related objects is refused,
            and nothing is changed: the error lists all losses with counts. On a terminal the command asks instead. --allow-loss
            drops the data. An entity without objects and an attribute that is always null do not count as losses. --keep-backup
            does not replace --allow-loss.

            --mapping takes .roostmapping.json and .xcmappingmodel. The version hashes or names in a mapping model determine its
            versions in the bundle; if several fit, use FILE@FROM..TO. A mapping model that needs a policy, which is code, is
            refused: write a program for it.

            With --json prints one object: source, destination, path (nothing, onePass, oneTransaction, threePasses), mappings [{name, type, source,
            destination, read, made}], objects, links, relationships [{relationship, count}], sourceDigest, mappedDigest,
            destinationDigest, verified, seconds, bytes, peakPrivateBytes, skipped [ID], losses [text], lossCounts [{entity, property,
            kind (objects, values, references, order), count, mappings [name], message}], way, warnings [text], remarks [text],
            steps [a report for each, if several], backup; with --dry-run: source, destination, path, mappings [{name, type, source,
            destination, objects, steps [text]}], objects, links, losses [text], lossCounts, way, bytesNeeded, bytesAvailable,
            secondsNeeded, refusals [text], warnings [text], remarks [text], steps [{source, destination, label, isInferred,
            mappings [text], losses [text]}].
            """,
        options: [
            CommandOption("to", letter: "t", value: "FILE", help: "The model to migrate to, as FILE or FILE@VERSION."),
            CommandOption(
                "mapping", value: "FILE", help: "A mapping model, as FILE or FILE@FROM..TO; can be repeated."
            ),
            .versions,
            CommandOption("in-place", letter: "i", help: "Replace STORE with the result."),
            CommandOption("output", letter: "o", value: "DEST", help: "Write the result to a new store, as type:path."),
            CommandOption(
                "keep-backup", help: "With --in-place, keep the old file as <name>.backup-<UUID> beside the new one."
            ),
            CommandOption("overwrite", help: "With --output, replace an existing store of DEST's type."),
            CommandOption(
                "allow-loss",
                help: "Drop objects, values and references that the new model cannot keep, without asking."),
            CommandOption("direct", help: "Go to the model in one step, without versions between."),
            CommandOption("to-text", help: "Convert values to text if their attribute becomes a string."),
            CommandOption(
                "dry-run", letter: "n", help: "Show the plan and what it would refuse (exit 3), and write nothing."),
            CommandOption("skip-damaged", help: "Leave damaged records out and report them; not with --in-place."),
            CommandOption("no-verify", help: "Do not read the finished store again."),
            .json, .quiet, .verbose,
        ] + StoreArguments.openingOptions,
        examples: [
            "roost migrate notes.sqlite --to=Notes.xcdatamodeld --in-place --keep-backup",
            "roost migrate notes.sqlite --to='Notes.xcdatamodeld@Notes 3' --output=lmdb:notes.lmdb --dry-run",
            "roost migrate main --to=Notes.roostmodel.json --mapping=NotesToPosts.roostmapping.json --in-place --json",
        ],
        run: runMigrate)

    @Sendable private static func runMigrate(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        guard let target = arguments.value("to") else {
            throw UsageError("option --to is missing: it names the model to migrate to; see 'roost migrate --help'")
        }
        try requireFitting(arguments)
        let store = try StoreArguments.store(arguments.positions[0], arguments: arguments)
        let request = try MigrationRequest(store, target: target, arguments: arguments)
        if !arguments.has("quiet") { for warning in request.warnings { console.printError("warning: \(warning)") } }
        let destination = try arguments.value("output").map { try StoreArguments.newStore($0, arguments: arguments) }
        if let destination { try StoreArguments.requireDifferent(store.location, destination: destination.location) }
        var options = request.options
        options.conversion.destinationTypeOptions = destination?.options.typeOptions ?? [:]
        var run = MigrationRun(
            source: store.location, destination: destination?.location, model: request.model, options: options,
            arguments: arguments, console: console)
        return arguments.has("dry-run") ? try run.printPlan() : try run.run()
    }

    /// Refuses conflicting options, and a command line without `--in-place` or `--output`.
    private static func requireFitting(_ arguments: ParsedArguments) throws {
        let isInPlace = arguments.has("in-place")
        guard isInPlace != (arguments.value("output") != nil) else {
            throw UsageError(
                isInPlace
                    ? "--in-place and --output exclude each other; leave one out"
                    : "say where the result goes: --in-place, or --output=type:path")
        }
        for (option, needed) in [("keep-backup", "in-place"), ("overwrite", "output")]
        where arguments.has(option) && isInPlace != (needed == "in-place") {
            throw UsageError("option '--\(option)' needs '--\(needed)' too")
        }
        guard !isInPlace || !arguments.has("skip-damaged") else {
            throw UsageError(
                "--skip-damaged loses data, so it is not done in place; write to another store with --output")
        }
    }
}

private struct MigrationRun {
    let source: StoreLocation
    /// The new store, or nil for a migration in place.
    let destination: StoreLocation?
    let model: ManagedObjectModel
    var options: MigrationOptions
    let arguments: ParsedArguments
    let console: Console

    /// Prints the plan and its first refusal.
    func printPlan() throws -> ExitCode {
        let manager = MigrationManager(registry: .standard)
        let plan: MigrationPlan
        if let destination {
            plan = try manager.planMigration(
                from: .location(source), to: .location(destination), model: model, options: options)
        } else {
            plan = try manager.planMigrationInPlace(source, model: model, options: options)
        }
        if arguments.has("json") { try console.printJSON(plan) } else { try console.print(plan.description) }
        guard let refusal = plan.refusals.first else { return .success }
        console.printError(RoostTool.line(refusal))
        return .failure
    }

    mutating func run() throws -> ExitCode {
        guard let report = try migrateOrAsk() else {
            console.printError("nothing was changed")
            return .finding
        }
        if report.path == .nothing, !arguments.allValues("mapping").isEmpty, !arguments.has("quiet") {
            console.printError("warning: no step was needed, so no mapping was used; --output always makes a step")
        }
        try console.printReport(report, text: report.description, warnings: report.warnings, arguments: arguments)
        return .success
    }

    /// Migrates the store; on a terminal, asks before data are dropped.
    ///
    /// - Returns: The report, or nil if the answer is no.
    private mutating func migrateOrAsk() throws -> MigrationReport? {
        let progress = ProgressLine(console)
        let cancellation = ConversionCancellation()
        options.conversion.cancellation = cancellation
        if !arguments.has("quiet"), console.showsProgress { options.conversion.onProgress = { progress.show($0) } }
        while true {
            do { return try migrate(progress, cancellation: cancellation) } catch let error as StoreError {
                guard let refusal = error.underlying as? MigrationLossRefusal, StandardInput.isTerminal else {
                    throw error
                }
                let losses = refusal.losses.map { "  loses  \($0)\n" }.joined()
                guard try console.ask("\(losses)Drop these data? [y/N] ") else { return nil }
                // Accepts only the shown losses, because the store can change before the answer.
                options.acceptedLosses.append(refusal.losses)
            }
        }
    }

    private func migrate(_ progress: ProgressLine, cancellation: ConversionCancellation) throws -> MigrationReport {
        defer { progress.clear() }
        let manager = MigrationManager(registry: .standard)
        return try Interruption.shared.cancelling(cancellation) {
            if let destination {
                return try manager.migrate(
                    from: .location(source), to: .location(destination), model: model, options: options)
            }
            return try manager.migrateInPlace(source, model: model, options: options)
        }
    }
}

private struct MigrationRequest {
    let model: ManagedObjectModel
    let options: MigrationOptions
    /// Warnings about omitted or changed parts of models, and about unused mapping models.
    let warnings: [String]

    init(_ store: PersistentStoreDescription, target: String, arguments: ParsedArguments) throws {
        var warnings: [String] = []
        let (path, version) = ModelFile.splitVersion(target)
        let read = try StoreArguments.model(path, version: version, arguments: arguments)
        (model, warnings) = (read.model, read.warnings)
        var options = Self.baseOptions(store, arguments: arguments)
        let files = try VersionList.mappings(arguments)
        let bundle = try VersionBundle(at: path)
        var evidence = VersionEvidence(order: try VersionList.order(arguments), target: version)
        guard bundle != nil || evidence.order.isEmpty else {
            throw UsageError("--versions needs a bundle of versions for --to, and '\(path)' is not one")
        }
        if store.options.model == nil {
            options.conversion.sourceModel =
                try bundle?.history(evidence).history.version(
                    ofStoreWithoutModelAt: store.location, options: store.options, registry: .standard)?.model
        }
        func storeModel() throws -> ManagedObjectModel {
            var opening = store.options
            opening.model = options.conversion.sourceModel
            return try StoreRegistry.standard.type(named: store.location.type).metadata(
                at: store.location, options: opening
            ).model
        }
        if let bundle, !arguments.has("direct") {
            evidence.mappings = files
            var (history, found, isDecided) = try UsageError.readingModel(at: path, version: version) {
                try bundle.history(evidence)
            }
            if !isDecided {
                // The store's model, which is older than the target, can decide the order of versions.
                evidence.storeModel = try storeModel()
                (history, found, _) = try bundle.history(evidence)
            }
            warnings += found
            for (file, mapping) in zip(files, history.mappings) {
                _ = try Self.requireDeclared(mapping.mapping, file: file)
            }
            options.history = history
            if !files.isEmpty {
                warnings += Self.unused(
                    zip(files, history.mappings), history: history, from: try storeModel(), to: model)
            }
        } else if let file = files.first {
            guard files.count == 1 else {
                throw UsageError(
                    "a migration in one step can use only one --mapping; for several, --to must name a bundle of versions"
                )
            }
            let mapping = try MappingFile.read(file, source: try storeModel(), destination: model)
            warnings += mapping.warnings
            options.mapping = try Self.requireDeclared(mapping.mapping, file: file)
        }
        (self.options, self.warnings) = (options, warnings)
    }

    private static func baseOptions(
        _ store: PersistentStoreDescription, arguments: ParsedArguments
    ) -> MigrationOptions {
        MigrationOptions(
            conversion: ConversionOptions(
                overwrites: arguments.has("overwrite"), skipsDamaged: arguments.has("skip-damaged"),
                timeoutSeconds: store.options.timeoutSeconds
            ).with {
                $0.acceptsChanges = store.options.acceptsChanges
                $0.verifies = !arguments.has("no-verify")
                $0.sourceModel = store.options.model
                $0.acceptsLinks = store.options.acceptsLinks
                $0.sourceTypeOptions = store.options.typeOptions
            }, allowsLoss: arguments.has("allow-loss")
        ).with {
            $0.inference = MappingModel.InferenceOptions(convertsToString: arguments.has("to-text"))
            $0.keepsBackup = arguments.has("keep-backup")
        }
    }

    /// Returns warnings about mapping models that start before the store's version, or end after
    /// the target.
    private static func unused(
        _ named: some Sequence<(String, ModelHistory.VersionMapping)>, history: ModelHistory,
        from model: ManagedObjectModel, to target: ManagedObjectModel
    ) -> [String] {
        func position(_ model: ManagedObjectModel) -> Int? {
            history.versions.lastIndex { $0.model.hasVersionHashes(of: model) }
        }
        guard !model.hasVersionHashes(of: target), let start = position(model), let end = position(target) else {
            return []
        }
        return named.compactMap { file, mapping in
            let (from, to) = (history.versions[mapping.source], history.versions[mapping.destination])
            let isBefore = mapping.source < start && !from.model.hasVersionHashes(of: model)
            guard isBefore || mapping.destination > end && !to.model.hasVersionHashes(of: target) else { return nil }
            return
                "'\(file)' is not used: it maps '\(from.name)' to '\(to.name)', and this migration goes from '\(history.versions[start].name)' to '\(history.versions[end].name)'."
        }
    }

    /// Returns the mapping model; refuses one that requires code.
    private static func requireDeclared(_ mapping: MappingModel, file: String) throws(StoreError) -> MappingModel {
        guard let entity = mapping.entityMappings.first(where: { $0.policyName != nil || $0.type == .custom }) else {
            return mapping
        }
        let policy = entity.policyName.map { "the policy '\($0)'" } ?? "a policy"
        throw StoreError(
            .unsupported,
            "The mapping '\(entity.name)' of '\(file)' needs \(policy), which is code; write a program that registers it in MigrationOptions.policies and calls MigrationManager.migrate."
        )
    }
}
