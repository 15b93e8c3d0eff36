internal import RoostCore
internal import RoostFiles

/// A migration of a store at its own location.
struct InPlaceMigration: Sendable {
    let location: StoreLocation
    let model: ManagedObjectModel
    let options: MigrationOptions
    let registry: StoreRegistry

    func run() throws(StoreError) -> MigrationReport {
        let type = try replaceableType()
        if let server = type as? any ServerStoreType { return try run(onServer: server) }
        do throws(StoreError) {
            return try run(type)
        } catch {
            throw error.namingUsers(ofStoreAt: location.path)
        }
    }

    static let historyWarning =
        "The store starts a new history: its old history is removed with the old model, and the tokens of the old history have expired."

    private func run(_ type: any PersistentStoreType) throws(StoreError) -> MigrationReport {
        let start = ContinuousClock.now
        let path = StoreFile.resolvingLink(location.path)
        try StoreFile.requireRegularFile(at: path, forWriting: true)
        // Before any file is created, this throws if the path has no store of this type.
        let metadata = try type.metadata(at: location, options: readingOptions)
        // Removes the temporary files of a crashed migration. If another process migrates the
        // store, that process removes them.
        if let claim = try? DestinationClaim.acquire(forStoreAt: path, timeoutSeconds: 0) {
            StoreFile.sweepTemporarySiblings(of: path, companions: registry.companionSuffixes, holding: claim)
            claim.release()
        }
        // If the models make the migration impossible or unnecessary, it ends here, before other programs are blocked.
        guard try steps(from: metadata) != nil else {
            try settleLeftovers(type, path: path)
            return try nothing(type)
        }
        // Until the migration ends, no other process replaces the store or removes the new files.
        let claim = try options.conversion.claim(location)
        defer { claim.release() }
        StoreFile.sweepTemporarySiblings(of: path, companions: registry.companionSuffixes, holding: claim)
        // Opening and closing recovers the store after a crash and merges its log into its file.
        let store = try type.open(location, options: settlingOptions)
        let changed: MigrationReport?
        do throws(StoreError) { changed = try changeModel(of: store, path: path) } catch {
            throw store.closed(after: error)
        }
        if let changed {
            // The migration has succeeded, so later errors do not fail it.
            try? store.close()
            return finished(changed, backup: nil, path: path, since: start)
        }
        try store.close()
        let lock = try StoreReplacement.lock(path, type: type, timeout: options.conversion.timeout) {
            () throws(StoreError) in
            // Another process may have used the store since it was closed above, and left a log.
            let store = try type.open(location, options: settlingOptions)
            try store.close()
            try requireSpace(path)
            try options.conversion.cancellation?.check()
        }
        let done: (report: MigrationReport, backup: String?)?
        do {
            defer { lock.release() }
            done = try replace(type, path: path)
        }
        guard let (migrated, backup) = done else { return try nothing(type) }
        return finished(migrated, backup: backup, path: path, since: start)
    }

    /// Opens and closes a store that already has the model, if there is a log or journal beside it.
    ///
    /// A process that was killed after its commit leaves such files.
    private func settleLeftovers(_ type: any PersistentStoreType, path: String) throws(StoreError) {
        guard StoreReplacement.otherFile(besideStoreAt: path, type: type) != nil else { return }
        var opening = settlingOptions
        opening.timeoutSeconds = 0
        do throws(StoreError) {
            try type.open(location, options: opening).close()
        } catch  where error.code == .busy {
            // The process that has the store open merges the files when it closes the store.
        }
    }

    func finished(
        _ report: MigrationReport, backup: String?, path: String?, since start: ContinuousClock.Instant
    ) -> MigrationReport {
        var report = report
        (report.source, report.destination) = (location.description, location.description)
        report.backup = backup
        if let path, let bytes = try? StoreFile.byteCount(at: path) { report.bytes = bytes }
        report.seconds = (ContinuousClock.now - start).inSeconds
        return report
    }

    /// Replaces the old store with a new one, or returns nil if another process already migrated
    /// it.
    ///
    /// The caller holds the store's lock exclusively.
    private func replace(
        _ type: any PersistentStoreType, path: String
    ) throws(StoreError) -> (report: MigrationReport, backup: String?)? {
        var report: MigrationReport?
        let replacement = StoreReplacement(type: type, path: path, keepsBackup: options.keepsBackup)
        let backup = try replacement.run { (old, new) throws(StoreError) in
            // The source stays open, because the cleanup of temporary stores skips open stores.
            var reading = readingOptions
            // The replacement gave the old file a second hard link.
            reading.acceptsLinks = true
            let source = try type.open(old, options: reading)
            var outcome: ChainRun.Outcome?
            let retention: HistoryRetention?
            do throws(StoreError) {
                retention = try source.historyRetention()
                outcome = try migrate(source, type: type, path: path)
            } catch {
                throw source.closed(after: error)
            }
            do throws(StoreError) { try source.close() } catch { throw outcome?.store?.discard(after: error) ?? error }
            guard var outcome else { return false }
            guard let store = outcome.store else {
                throw StoreError(.internalInconsistency, "A migration in place has made no store.")
            }
            do throws(StoreError) {
                try options.conversion.cancellation?.check()
                try store.store.close()
                if let retention {
                    try beginHistory(of: store, type: type, retention: retention, report: &outcome.report)
                }
                // `type.replace` merges the closed store into one file, flushes it and renames it.
                try type.replace(new, with: store.location, overwriting: false)
            } catch {
                throw store.discard(after: error)
            }
            report = outcome.report
            return true
        }
        guard let report else { return nil }
        return (report, backup)
    }

    /// Starts a history in the new, closed store with the given retention, and adds a warning.
    func beginHistory(
        of store: UnpublishedStore, type: any PersistentStoreType, retention: HistoryRetention,
        report: inout MigrationReport
    ) throws(StoreError) {
        var opening = settlingOptions
        (opening.tracksHistory, opening.historyRetention) = (true, retention)
        try type.open(store.location, options: opening).close()
        report.warnings.append(Self.historyWarning)
    }

    /// Creates the new store beside the old one, or returns nil if the old store already has the
    /// model.
    func migrate(
        _ source: any PersistentStore, type: any PersistentStoreType, path: String
    ) throws(StoreError) -> ChainRun.Outcome? {
        let identity = try source.metadata()
        guard let chain = try steps(from: identity) else { return nil }
        let foreign = try source.contentOfOthers()
        try requireKept(foreign, path: path)
        var options = options
        options.conversion.destinationTypeOptions = options.conversion.sourceTypeOptions
        let run = ChainRun(
            chain: chain, destination: .location(StoreLocation(type: type.name, path: path)), options: options,
            registry: registry)
        var outcome = try run.run(from: .store(source), identity: identity)
        if let warning = warning(about: foreign) { outcome.report.warnings.append(warning) }
        return outcome
    }

    /// Throws if the old store has tables of other programs and is not kept as a backup.
    func requireKept(_ foreign: ForeignContent, path: String) throws(StoreError) {
        guard !foreign.tables.isEmpty, !options.keepsBackup else { return }
        throw StoreError(
            .unsupported,
            "'\(path)' has tables of other programs: \(foreign.names). This migration makes a new file, which would not have them. Keep a backup (--keep-backup), or move or drop these tables."
        )
    }

    private func warning(about foreign: ForeignContent) -> String? {
        guard !foreign.isEmpty else { return nil }
        let place = options.keepsBackup ? "They are in the backup." : "Create them again."
        return "The new file does not have the tables and indexes of other programs: \(foreign.names). \(place)"
    }

    /// Requires space for two stores in addition to the old one: a step's input and its output.
    func requireSpace(_ path: String) throws(StoreError) {
        try StoreFile.requireSpace(
            forStoresOf: try StoreFile.byteCount(at: path), count: 2, besideStoreAt: path,
            reserving: options.conversion.reservedBytes)
    }

    /// Returns the migration steps to `model`, or nil if the store needs none.
    func steps(from metadata: StoreMetadata) throws(StoreError) -> MigrationChain? {
        guard !model.isCompatible(with: metadata) else { return nil }
        let chain = try options.chain(from: metadata.model, to: model, storeAt: location)
        return chain.steps.isEmpty ? nil : chain
    }

    /// Returns the report for a store that already has the model.
    func nothing(_ type: any PersistentStoreType) throws(StoreError) -> MigrationReport {
        let store = try type.open(location, options: readingOptions)
        return try store.closing { () throws(StoreError) in try nothing(store) }
    }

    private func nothing(_ store: any PersistentStore) throws(StoreError) -> MigrationReport {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let tally = try snapshot.recordedTally() ?? StoreTally(model: store.model)
        let digest = tally.digest
        return MigrationReport(
            source: location.description, destination: location.description, path: .nothing, mappings: [],
            objects: digest.objectCount, links: digest.linkCount,
            relationships: tally.relationshipCounts(store.model), sourceDigest: digest.description,
            mappedDigest: digest.description, destinationDigest: digest.description, verified: false,
            seconds: 0, bytes: try store.byteCount(), skipped: [], losses: [], warnings: keptModelWarnings(store.model))
    }

    /// Returns a warning if the store's own model differs from the requested model in ways that
    /// need no migration.
    private func keptModelWarnings(_ own: ManagedObjectModel) -> [String] {
        let differences = model.difference(from: own)
        guard !differences.isEmpty else { return [] }
        return [
            "The store keeps its own model, because the version hashes are equal. The models differ in: "
                + differences.map(\.description).joined(separator: "; ")
                + ". To get the new model, migrate the store into another store."
        ]
    }

    /// Returns the store's type, or throws if the options or the type forbid replacing the store.
    func replaceableType() throws(StoreError) -> any PersistentStoreType {
        guard !options.conversion.skipsDamaged else {
            throw StoreError(
                .invalidRequest,
                "A migration in place cannot skip damaged objects, because no copy of them would remain; migrate '\(location)' into another store, or restore a backup."
            )
        }
        let type = try registry.type(named: location.type)
        let canBeReplaced = type.capabilities.contains(.file) || type is any ServerStoreType
        guard canBeReplaced, type.capabilities.contains(.writing) else {
            throw StoreError(
                .unsupported,
                "Cannot migrate '\(location)' in place: a store of type '\(type.name)' cannot be replaced. Migrate it into another store."
            )
        }
        return type
    }

    var readingOptions: StoreOptions {
        var options = settlingOptions
        options.isReadOnly = true
        return options
    }

    var settlingOptions: StoreOptions {
        StoreOptions(
            timeoutSeconds: options.conversion.timeoutSeconds,
            typeOptions: options.conversion.sourceTypeOptions
        ).with { $0.acceptsChanges = options.conversion.acceptsChanges }
    }
}
