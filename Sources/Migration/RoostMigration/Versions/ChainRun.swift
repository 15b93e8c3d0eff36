internal import RoostCore

/// A run of the steps of a chain.
///
/// Each step writes its own unpublished store. If the destination is an open store, the last step
/// writes there.
struct ChainRun: Sendable {
    /// The steps, at least one.
    let chain: MigrationChain
    /// The final destination.
    ///
    /// All intermediate stores have its type and are created beside it.
    let destination: ConversionEndpoint
    let options: MigrationOptions
    let registry: StoreRegistry

    struct Outcome: Sendable {
        /// The finished store, still open, or nil if the destination is an open store.
        var store: UnpublishedStore?
        /// The report with all steps.
        ///
        /// The caller sets the locations, bytes and seconds of the whole migration.
        var report: MigrationReport
    }

    /// Runs all steps.
    ///
    /// After an error, no unpublished store remains.
    func run(from source: ConversionEndpoint, identity: StoreMetadata) throws(StoreError) -> Outcome {
        var current = source
        var held: UnpublishedStore?
        var reports: [MigrationReport] = []
        /// The report of copying the source for a handler.
        var copying: ConversionReport?
        do throws(StoreError) {
            for (position, step) in chain.steps.enumerated() {
                if let handler = step.stage?.willMigrate, let stage = step.stage {
                    if held == nil {
                        let (copy, report) = try copy(source, identity: identity)
                        (held, current) = (copy, .store(copy.store))
                        copying = report
                    }
                    if let held { try call(handler, store: held.store, stage: stage, step: step) }
                }
                // Handlers may have changed the metadata.
                let next = try next(after: position, step: step, identity: try held?.store.metadata() ?? identity)
                let target: any PersistentStore
                if let next { target = next.store } else { target = try openDestination }
                do throws(StoreError) {
                    reports.append(try migrate(current, to: target, position: position))
                    try held?.discard()
                } catch {
                    throw next?.discard(after: error) ?? error
                }
                (held, current) = (next, .store(target))
                if let handler = step.stage?.didMigrate, let stage = step.stage {
                    try call(handler, store: target, stage: stage, step: step)
                    try takeOver(target, into: &reports[reports.count - 1])
                }
            }
        } catch {
            throw held?.discard(after: error) ?? error
        }
        if let copying, !reports.isEmpty { reports[0].begin(with: copying) }
        guard var report = MigrationReport(joining: reports) else {
            throw StoreError(.internalInconsistency, "A migration without steps was run.")
        }
        report.way = chain.way ?? (chain.steps.count > 1 ? "in \(chain.steps.count) steps" : report.way)
        return Outcome(store: held, report: report)
    }

    private var openDestination: any PersistentStore {
        get throws(StoreError) {
            guard case .store(let store) = destination else {
                throw StoreError(.internalInconsistency, "The last step of a migration has no destination.")
            }
            return store
        }
    }

    /// Creates the store for a step's result, or returns nil for the last step into an open store.
    private func next(
        after position: Int, step: MigrationChain.Step, identity: StoreMetadata
    ) throws(StoreError) -> UnpublishedStore? {
        if case .store = destination, position == chain.steps.count - 1 { return nil }
        return try UnpublishedStore(
            beside: place, model: step.model, identity: identity, options: options.conversion, registry: registry)
    }

    /// The location beside which the intermediate stores are created.
    ///
    /// The path is empty for an open destination that is neither a file nor on a server.
    private var place: StoreLocation {
        switch destination {
        case .location(let location): return location
        case .store(let store):
            let hasPlace = store.type.capabilities.contains(.file) || store.type is any ServerStoreType
            return StoreLocation(type: store.type.name, path: hasPlace ? store.location.path : "")
        }
    }

    /// Copies the source for a handler, which may change the copy.
    private func copy(
        _ source: ConversionEndpoint, identity: StoreMetadata
    ) throws(StoreError) -> (store: UnpublishedStore, report: ConversionReport) {
        let copy = try UnpublishedStore(
            beside: place, model: identity.model, identity: identity, options: options.conversion, registry: registry)
        do throws(StoreError) {
            var conversion = options.conversion
            conversion.overwrites = false
            let report = try MigrationManager(registry: registry).convert(
                from: source, to: .store(copy.store), options: conversion)
            return (copy, report)
        } catch {
            throw copy.discard(after: error)
        }
    }

    private func migrate(
        _ source: ConversionEndpoint, to store: any PersistentStore, position: Int
    ) throws(StoreError) -> MigrationReport {
        let step = chain.steps[position]
        var options = options
        (options.history, options.stages) = (nil, nil)
        options.mapping = step.mapping
        options.conversion.overwrites = false
        let count = chain.steps.count
        if count > 1, let onProgress = self.options.conversion.onProgress {
            options.conversion.onProgress = { progress in
                var progress = progress
                progress.step = ConversionProgress.Step(number: position + 1, count: count)
                onProgress(progress)
            }
        }
        do throws(StoreError) {
            var report = try MigrationManager(registry: registry).migrate(
                from: source, to: .store(store), model: step.model, options: options)
            (report.source, report.destination) = (step.sourceName, step.destinationName)
            return report
        } catch {
            guard count > 1 else { throw error }
            throw error.located(in: "From version '\(step.sourceName)' to '\(step.destinationName)'")
        }
    }

    private func call(
        _ handler: CustomMigrationStage.Handler, store: any PersistentStore, stage: CustomMigrationStage,
        step: MigrationChain.Step
    ) throws(StoreError) {
        try options.conversion.cancellation?.check()
        do {
            try handler(store, stage)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(
                .migrationFailed,
                "The code of '\(step.label ?? "a stage")', from '\(step.sourceName)' to '\(step.destinationName)', failed: \(error). The source is unchanged.",
                underlying: error)
        }
        try options.conversion.cancellation?.check()
    }

    /// Updates a step's report after a handler, which may have changed the store.
    private func takeOver(
        _ store: any PersistentStore, into report: inout MigrationReport
    ) throws(StoreError) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        guard let recorded = try snapshot.recordedTally() else { return }
        if options.conversion.verifies {
            try DestinationWriter.compare(
                recorded, found: try snapshot.computeTally(), model: store.model, location: store.location)
        }
        let digest = recorded.digest
        (report.objects, report.links) = (digest.objectCount, digest.linkCount)
        report.relationships = recorded.relationshipCounts(store.model)
        (report.mappedDigest, report.destinationDigest) = (digest.description, digest.description)
    }
}

extension MigrationReport {
    /// Adds the report of copying the source.
    fileprivate mutating func begin(with copying: ConversionReport) {
        sourceDigest = copying.digest
        skipped = copying.skipped + skipped
        warnings = copying.warnings + Self.warnings(of: copying.dangling) + warnings
    }

    /// Joins the reports of a whole chain, or returns nil without reports.
    init?(joining steps: [MigrationReport]) {
        guard let first = steps.first, var report = steps.last else { return nil }
        if steps.count > 1 {
            report.steps = steps
            report.source = first.source
            report.sourceDigest = first.sourceDigest
            report.path = steps.contains { $0.path == .threePasses } ? .threePasses : .onePass
            report.mappings = []
            report.verified = steps.allSatisfy(\.verified)
            report.seconds = steps.reduce(0) { $0 + $1.seconds }
            report.peakPrivateBytes = steps.compactMap(\.peakPrivateBytes).max()
            report.skipped = steps.flatMap(\.skipped)
            report.losses = steps.flatMap { step in step.losses.map { "\(step.destination): \($0)" } }
            report.lossCounts = steps.flatMap(\.lossCounts)
            report.warnings = steps.flatMap { step in step.warnings.map { "\(step.destination): \($0)" } }
        }
        self = report
    }
}
