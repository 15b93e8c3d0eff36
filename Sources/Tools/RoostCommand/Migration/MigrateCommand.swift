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
            Makes a store of the model that --to names out of what STORE holds: in the place of STORE with --in-place, or as another
            store, of any type, with --output. The result is read again and compared before it gets its name, in one step. After an
            error, Ctrl-C or a crash STORE is as it was, or migrated; the same command finishes what is left. With --in-place nobody
            can open STORE meanwhile, and one that has the model already is left alone. An SQLite store changes within its own file, in
            one transaction, where at least half of its objects and links stay as they are and no backup is kept (path oneTransaction).

            FILE is a model document (.roostmodel.json), a model of Apple's (.xcdatamodeld, .momd, .xcdatamodel, .mom) or a store. For a
            bundle, FILE@VERSION names a version (default: the current version). Of a bundle STORE goes from its version
            to that one by the mapping models of --mapping that lie between them. The rest of the way is inferred, as Core Data does it:
            in one step. STORE passes through the versions between only where one step cannot be inferred, or would drop
            something that they keep. With --direct, and for any other FILE, STORE goes there in one step. A STORE of Core Data that
            holds no model is read with the version of the bundle that it fits.

            The order of the versions follows from --versions, from the numbers in their names, from the mapping models (what one leads
            from is older) and from the current version; 'roost model history' shows it. Where names mislead, give --versions.

            A migration that would drop objects, values that are not null, references or the order of destinations is refused, and
            nothing is changed: the error lists everything that would be lost, with counts. On a terminal the command asks instead.
            --allow-loss drops them. An entity without objects and an attribute that is null everywhere do not count as losses.
            --keep-backup does not replace --allow-loss.

            --mapping takes .roostmapping.json and .xcmappingmodel. Between which versions of a bundle it leads follows from its version
            hashes, or from the names in it; where that leaves several, FILE@FROM..TO says it. A mapping model that needs a policy, which
            is code, is refused: that takes a program.

            With --json prints one object: source, destination, path (nothing, onePass, oneTransaction, threePasses), mappings [{name, type, source,
            destination, read, made}], objects, links, relationships [{relationship, count}], sourceDigest, mappedDigest,
            destinationDigest, verified, seconds, bytes, peakPrivateBytes, skipped [ID], losses [text], lossCounts [{entity, property,
            kind (objects, values, references, order), count, mappings [name], message}], way, warnings [text], remarks [text],
            steps [the same for each of several], backup; with --dry-run: source, destination, path, mappings [{name, type, source,
            destination, objects, steps [text]}], objects, links, losses [text], lossCounts, way, bytesNeeded, bytesAvailable,
            secondsNeeded, refusals [text], warnings [text], remarks [text], steps [{source, destination, label, isInferred,
            mappings [text], losses [text]}].
            """,
        options: [
            CommandOption("to", letter: "t", value: "FILE", help: "The model to migrate to, as FILE or FILE@VERSION."),
            CommandOption(
                "mapping", value: "FILE", help: "A mapping model, as FILE or FILE@FROM..TO; can be given several times."
            ),
            .versions,
            CommandOption("in-place", letter: "i", help: "Replace STORE by the result."),
            CommandOption("output", letter: "o", value: "DEST", help: "Make a new store of the result; type:path."),
            CommandOption(
                "keep-backup", help: "With --in-place, keep the old file as <name>.backup-<UUID> beside the new one."
            ),
            CommandOption("overwrite", help: "With --output, replace an existing store of DEST's type."),
            CommandOption(
                "allow-loss",
                help: "Drop objects, values and references that the new model has no place for. Asks nothing."),
            CommandOption("direct", help: "Go to the model in one step, whatever versions there are."),
            CommandOption("to-text", help: "Where an attribute becomes a string, take the text of its value."),
            CommandOption(
                "dry-run", letter: "n",
                help: "Show what would be done, and what would be refused (exit 3). Writes nothing."),
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
            throw UsageError("--to is missing: the model to migrate to; see 'roost migrate --help'")
        }
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
        let store = try StoreArguments.store(arguments.positions[0], arguments: arguments)
        let request = try MigrationRequest(store, target: target, arguments: arguments)
        if !arguments.has("quiet") { for warning in request.warnings { console.printError("warning: \(warning)") } }
        var options = request.options
        let manager = MigrationManager(registry: .standard)
        let destination = try arguments.value("output").map { try StoreArguments.newStore($0, arguments: arguments) }
        if let destination { try StoreArguments.requireDifferent(store.location, destination: destination.location) }
        options.conversion.destinationTypeOptions = destination?.options.typeOptions ?? [:]
        if arguments.has("dry-run") {
            let plan: MigrationPlan
            if let destination {
                plan = try manager.planMigration(
                    from: .location(store.location), to: .location(destination.location), model: request.model,
                    options: options)
            } else {
                plan = try manager.planMigrationInPlace(store.location, model: request.model, options: options)
            }
            if arguments.has("json") { try console.printJSON(plan) } else { try console.print(plan.description) }
            guard let refusal = plan.refusals.first else { return .success }
            console.printError(RoostTool.line(refusal))
            return .failure
        }
        let progress = ProgressLine(console)
        let cancellation = ConversionCancellation()
        options.conversion.cancellation = cancellation
        if !arguments.has("quiet"), console.showsProgress { options.conversion.onProgress = { progress.show($0) } }
        func migrate() throws -> MigrationReport {
            defer { progress.clear() }
            return try Interruption.shared.cancelling(cancellation) {
                if let destination {
                    return try manager.migrate(
                        from: .location(store.location), to: .location(destination.location), model: request.model,
                        options: options)
                }
                return try manager.migrateInPlace(store.location, model: request.model, options: options)
            }
        }
        /// Asks on a terminal before data are dropped; nil when the answer is no.
        func migrateOrAsk() throws -> MigrationReport? {
            while true {
                do { return try migrate() } catch let error as StoreError {
                    guard let refusal = error.underlying as? MigrationLossRefusal, StandardInput.isTerminal else {
                        throw error
                    }
                    let losses = refusal.losses.map { "  loses  \($0)\n" }.joined()
                    guard try console.ask("\(losses)Drop these data? [y/N] ") else { return nil }
                    // Nothing else is accepted, should the store change while the question is open.
                    options.acceptedLosses.append(refusal.losses)
                }
            }
        }
        guard let report = try migrateOrAsk() else {
            console.printError("nothing was changed")
            return .finding
        }
        if report.path == .nothing, !arguments.allValues("mapping").isEmpty, !arguments.has("quiet") {
            console.printError(
                "warning: no step was needed, so no mapping was used; with --output one is made all the same")
        }
        try console.printReport(report, text: report.description, warnings: report.warnings, arguments: arguments)
        return .success
    }
}

/// What a command line asks to be migrated, and how.
private struct MigrationRequest {
    let model: ManagedObjectModel
    let options: MigrationOptions
    /// What of models and mapping models was not taken over as it stands.
    let warnings: [String]

    init(_ store: PersistentStoreDescription, target: String, arguments: ParsedArguments) throws {
        var warnings: [String] = []
        let (path, version) = ModelFile.splitVersion(target)
        let read = try StoreArguments.model(path, version: version, arguments: arguments)
        (model, warnings) = (read.model, read.warnings)
        var options = MigrationOptions(
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
        let files = try VersionList.mappings(arguments)
        let bundle = try VersionBundle(at: path)
        var evidence = VersionEvidence(order: try VersionList.order(arguments), target: version)
        guard bundle != nil || evidence.order.isEmpty else {
            throw UsageError("--versions needs a bundle of versions for --to, and '\(path)' is none")
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
                // What the store has is older than what it is to get.
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
                throw UsageError("one step takes one --mapping; several need a bundle of versions for --to")
            }
            let mapping = try MappingFile.read(file, source: try storeModel(), destination: model)
            warnings += mapping.warnings
            options.mapping = try Self.requireDeclared(mapping.mapping, file: file)
        }
        (self.options, self.warnings) = (options, warnings)
    }

    /// Returns the named mapping models that start from an older version than the store's, or end
    /// beyond the target.
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
                "'\(file)' takes no part: it leads from '\(from.name)' to '\(to.name)', and this migration goes from '\(history.versions[start].name)' to '\(history.versions[end].name)'."
        }
    }

    /// Refuses a mapping model that code takes part in.
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
