internal import RoostCore
internal import RoostFiles

/// A migration through several versions, from one store into another.
struct ChainMigration: Sendable {
    let source: ConversionEndpoint
    let destination: ConversionEndpoint
    let model: ManagedObjectModel
    let options: MigrationOptions
    let registry: StoreRegistry

    func run() throws(StoreError) -> MigrationReport { try knowingTheSource().runKnowingTheSource() }

    /// Returns this migration, with the matching version's model if the source contains no model.
    func knowingTheSource() throws(StoreError) -> Self {
        guard case .location(let location) = source, options.conversion.sourceModel == nil,
            let version = try options.history?.version(
                ofStoreWithoutModelAt: location, options: openingOptions, registry: registry)
        else { return self }
        var options = options
        options.conversion.sourceModel = version.model
        return Self(source: source, destination: destination, model: model, options: options, registry: registry)
    }

    private func runKnowingTheSource() throws(StoreError) -> MigrationReport {
        let clock = ContinuousClock()
        let start = clock.now
        if let refusal = try conversion.refusalsBeforeOpening().first { throw refusal }
        let identity = try identity()
        let chain = try options.chain(from: identity.model, to: model, storeAt: source.location)
        // Without a step, or with a single step without code, an ordinary migration suffices.
        guard chain.steps.count > 1 || chain.steps.contains(where: { $0.stage != nil }) else {
            var options = options
            (options.history, options.stages) = (nil, nil)
            options.mapping = chain.steps.first?.mapping ?? options.mapping
            var report = try MigrationManager(registry: registry).migrate(
                from: source, to: destination, model: model, options: options)
            report.way = chain.way ?? report.way
            return report
        }
        let run = ChainRun(chain: chain, destination: destination, options: options, registry: registry)
        var report = try withClaim { () throws(StoreError) in
            let outcome = try run.run(from: source, identity: identity)
            if let store = outcome.store { try publish(store) }
            return outcome.report
        }
        (report.source, report.destination) = (source.location.description, destination.location.description)
        if case .location(let location) = destination, let bytes = try? StoreFile.byteCount(at: location.path) {
            report.bytes = bytes
        }
        report.seconds = (clock.now - start).inSeconds
        return report
    }

    private var conversion: StoreConversion {
        StoreConversion(from: source, to: destination, options: options.conversion, registry: registry)
    }

    func identity() throws(StoreError) -> StoreMetadata {
        switch source {
        case .store(let store): return try store.metadata()
        case .location(let location):
            return try registry.type(named: location.type).metadata(at: location, options: openingOptions)
        }
    }

    private var openingOptions: StoreOptions {
        StoreOptions(
            isReadOnly: true, model: options.conversion.sourceModel,
            timeoutSeconds: options.conversion.timeoutSeconds,
            typeOptions: options.conversion.sourceTypeOptions
        ).with { $0.acceptsLinks = options.conversion.acceptsLinks }
    }

    /// Runs `body` while claiming a file destination.
    ///
    /// The claim prevents other processes from publishing a store there and from removing the
    /// temporary files of this migration.
    private func withClaim<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        guard case .location(let location) = destination, !location.path.isEmpty,
            try registry.type(named: location.type).capabilities.contains(.file)
        else { return try body() }
        let claim = try options.conversion.claim(location)
        defer { claim.release() }
        StoreFile.sweepTemporarySiblings(
            of: location.path, companions: registry.companionSuffixes, holding: claim)
        try requireSpace(location)
        return try body()
    }

    /// Requires space for two stores in addition to the source: the input and output of a step.
    func requireSpace(_ location: StoreLocation) throws(StoreError) {
        let bytes: Int
        switch source {
        case .store(let store): bytes = try store.byteCount()
        case .location(let source): bytes = (try? StoreFile.byteCount(at: source.path)) ?? 0
        }
        try StoreFile.requireSpace(
            forStoresOf: bytes, count: 2, besideStoreAt: location.path, reserving: options.conversion.reservedBytes)
    }

    private func publish(_ unpublished: UnpublishedStore) throws(StoreError) {
        do throws(StoreError) {
            try options.conversion.cancellation?.check()
            try unpublished.store.close()
        } catch {
            throw unpublished.discard(after: error)
        }
        guard case .location(let location) = destination, !location.path.isEmpty else { return }
        let type = try registry.type(named: location.type)
        do throws(StoreError) {
            try options.conversion.replace(location, type: type, with: unpublished.location)
        } catch {
            // The next process that writes to `location` removes files that remain after an error.
            try? type.destroy(unpublished.location)
            throw error
        }
    }
}

extension MigrationOptions {
    /// Whether the migration may go through intermediate versions.
    var hasVersions: Bool { history != nil || stages != nil }

    func chain(
        from source: ManagedObjectModel, to model: ManagedObjectModel, storeAt location: StoreLocation
    ) throws(StoreError) -> MigrationChain {
        guard [mapping != nil, history != nil, stages != nil].filter({ $0 }).count <= 1 else {
            throw StoreError(
                .invalidRequest,
                "A migration uses a mapping model, a history of versions or stages; give only one of them.")
        }
        if let stages { return try stages.chain(from: source, to: model, storeAt: location, options: self) }
        if let history { return try history.chain(from: source, to: model, storeAt: location, options: self) }
        return try MigrationChain.direct(from: source, to: model, options: self)
    }
}

extension StoreFile {
    /// Throws `noSpace` unless there is space for `count` stores, each a fifth larger than `bytes`,
    /// and for the reserved bytes.
    static func requireSpace(
        forStoresOf bytes: Int, count: Int, besideStoreAt path: String, reserving reserved: Int
    ) throws(StoreError) {
        let one = bytes.addingReportingOverflow(bytes / 5)
        let (all, isTooMany) = one.partialValue.multipliedReportingOverflow(by: count)
        let (total, overflow) = all.addingReportingOverflow(reserved)
        let available = try freeBytes(inDirectoryOf: path)
        guard !one.overflow, !isTooMany, !overflow, total <= available else {
            throw StoreError(
                .noSpace,
                "There is not enough space to migrate '\(path)': up to \(all) bytes are needed meanwhile and \(reserved) must stay free, but only \(available) are available. Free some space, or migrate to another disk."
            )
        }
    }
}
