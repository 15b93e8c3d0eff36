internal import RoostCore
internal import RoostFiles

/// One conversion, from its refusals to its report.
struct StoreConversion: Sendable {
    let source: ConversionEndpoint
    let destination: ConversionEndpoint
    let options: ConversionOptions
    let registry: StoreRegistry

    init(
        from source: ConversionEndpoint, to destination: ConversionEndpoint, options: ConversionOptions,
        registry: StoreRegistry
    ) {
        self.source = source
        self.destination = destination
        self.options = options
        self.registry = registry
    }

    /// See ``MigrationManager/convert(from:to:options:)``.
    func run() throws(StoreError) -> ConversionReport {
        if let refusal = try refusalsBeforeOpening().first { throw refusal }
        return try withSource { (store) throws(StoreError) in
            if let refusal = try refusals(of: store).first { throw refusal }
            return try convert(store)
        }
    }

    /// See ``MigrationManager/plan(from:to:options:)``.
    func plan() throws(StoreError) -> ConversionPlan {
        var refusals = try refusalsBeforeOpening()
        return try withSource { (store) throws(StoreError) in
            refusals += try self.refusals(of: store)
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let recorded = try snapshot.recordedTally()
            var warnings: [String] = []
            do throws(StoreError) { warnings = try notices(of: store) } catch {
                guard error.code == .corrupted else { throw error }
                refusals.append(error)
            }
            let entities: [EntityCount]
            if let recorded {
                entities = recorded.entityCounts(store.model)
            } else {
                entities = try Self.countObjects(snapshot)
            }
            return ConversionPlan(
                source: source.url.description, destination: destination.url.description,
                objects: entities.reduce(0) { $0 + $1.count }, links: recorded?.digest.linkCount, entities: entities,
                relationships: recorded?.relationshipCounts(store.model) ?? [], bytesNeeded: try bytesNeeded(store),
                bytesAvailable: try? bytesAvailable(), refusals: refusals.map(\.message), warnings: warnings)
        }
    }

    // MARK: The source

    /// Runs `body` with the source, opened read-only for that time unless it was open already.
    private func withSource<Result>(
        _ body: (any PersistentStore) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard case .url(let url) = source else {
            guard case .store(let store) = source else { preconditionFailure("an endpoint is a URL or a store") }
            return try body(store)
        }
        let store = try registry.open(
            url,
            options: StoreOptions(
                isReadOnly: true, model: options.sourceModel, timeoutSeconds: options.timeoutSeconds,
                typeOptions: options.sourceTypeOptions))
        let result: Result
        do throws(StoreError) {
            result = try body(store)
        } catch {
            throw close(store, after: error)
        }
        try store.close()
        return result
    }

    private static func countObjects(_ snapshot: any StoreSnapshot) throws(StoreError) -> [EntityCount] {
        var counts: [EntityCount] = []
        for entity in snapshot.model.entities where !entity.isAbstract {
            let count = try snapshot.count(FetchRequest(entity.name, includesSubentities: false))
            if count > 0 { counts.append(EntityCount(name: entity.name.text, count: count)) }
        }
        return counts
    }

    // MARK: The destination

    private func convert(_ source: any PersistentStore) throws(StoreError) -> ConversionReport {
        switch destination {
        case .store(let store):
            var report = try fill(store, from: source)
            let metadata = try source.metadata()
            if !metadata.userMetadata.isEmpty {
                var changes = ChangeSet(model: store.model)
                changes.userMetadata = metadata.userMetadata.mapValues { $0 }
                _ = try store.commit(changes)
            }
            report.bytes = try store.byteCount()
            return report
        case .url(let url):
            let type = try registry.type(named: url.type)
            return url.path.isEmpty ? try create(url, type, from: source) : try publish(url, type, from: source)
        }
    }

    /// Fills a store under a name that nobody knows, then gives it the destination's name.
    private func publish(
        _ url: StoreURL, _ type: any PersistentStoreType, from source: any PersistentStore
    ) throws(StoreError) -> ConversionReport {
        let isFile = type.capabilities.contains(.file)
        // Held until the new store has its name, so that nobody else sweeps it away or publishes another one meanwhile.
        let claim = isFile ? try DestinationClaim.acquire(forStoreAt: url.path) : nil
        defer { claim?.release() }
        if let claim { StoreFile.sweepTemporarySiblings(of: url.path, holding: claim) }
        let temporary = StoreURL(type: url.type, path: StoreFile.temporarySibling(of: url.path))
        var report: ConversionReport
        do throws(StoreError) {
            let store = try type.create(
                temporary, model: source.model, options: try creationOptions(source, isUnpublished: true))
            do throws(StoreError) {
                report = try fill(store, from: source)
            } catch {
                throw close(store, after: error)
            }
            try store.close()
            try options.cancellation?.check()
            try type.replace(url, with: temporary, overwriting: options.overwrites)
        } catch {
            throw destroy(temporary, type, after: error)
        }
        // Published: whatever happens now, the conversion has succeeded.
        if isFile, let bytes = try? StoreFile.byteCount(at: url.path) { report.bytes = bytes }
        return report
    }

    /// Fills a store without a name.
    private func create(
        _ url: StoreURL, _ type: any PersistentStoreType, from source: any PersistentStore
    ) throws(StoreError) -> ConversionReport {
        let store = try type.create(
            url, model: source.model, options: try creationOptions(source, isUnpublished: false))
        do throws(StoreError) {
            let report = try fill(store, from: source)
            try store.close()
            return report
        } catch {
            throw destroy(url, type, after: close(store, after: error))
        }
    }

    private func creationOptions(
        _ source: any PersistentStore, isUnpublished: Bool
    ) throws(StoreError) -> StoreOptions {
        let metadata = try source.metadata()
        return StoreOptions(
            timeoutSeconds: options.timeoutSeconds, storeUUID: metadata.storeUUID, userMetadata: metadata.userMetadata,
            isUnpublished: isUnpublished, typeOptions: options.destinationTypeOptions)
    }

    /// Copies and verifies; the destination's store stays open.
    private func fill(_ store: any PersistentStore, from source: any PersistentStore) throws(StoreError)
        -> ConversionReport
    {
        let clock = ContinuousClock()
        let start = clock.now
        let memory = PrivateMemory()
        let copied = try copy(source, to: store, memory)
        // After the copy, whose error names the damaged record of a source that cannot be read.
        let notices = try notices(of: source)
        try options.cancellation?.check()
        var dangling: [RelationshipCount] = []
        if options.verifies || !copied.skipped.isEmpty {
            let pass = try readAgain(store, expecting: copied, memory)
            dangling = pass.dangling
            if options.verifies { try Self.compare(copied.tally, pass.tally, store.model, destination.url) }
        }
        report(.publishing, objects: 0, links: 0)
        memory.sample()
        let digest = copied.tally.digest
        return ConversionReport(
            source: self.source.url.description, destination: destination.url.description, objects: digest.objectCount,
            links: digest.linkCount, digest: digest.description, verified: options.verifies,
            seconds: (clock.now - start).inSeconds, bytes: try store.byteCount(),
            peakPrivateBytes: memory.peakBytes, entities: copied.tally.entityCounts(store.model),
            relationships: copied.tally.relationshipCounts(store.model), skipped: copied.skipped.map(\.description),
            dangling: dangling, warnings: copied.warnings + notices)
    }

    /// What of the source does not come out of it as it stands.
    private func notices(of source: any PersistentStore) throws(StoreError) -> [String] {
        do throws(StoreError) { return try source.notices() } catch {
            guard options.skipsDamaged, error.code == .corrupted else { throw error }
            return ["What else of the source is missing is not known: \(error.message)"]
        }
    }

    func report(
        _ phase: ConversionProgress.Phase, _ current: String? = nil, objects: Int, links: Int, totalObjects: Int? = nil,
        totalLinks: Int? = nil, seconds: Double = 0
    ) {
        options.onProgress?(
            ConversionProgress(
                phase: phase, current: current, objects: objects, links: links, totalObjects: totalObjects,
                totalLinks: totalLinks, seconds: seconds))
    }

    // MARK: Cleaning up

    /// Closes a store after `first`, the error that counts and that is given back.
    private func close(_ store: any PersistentStore, after first: StoreError) -> StoreError {
        do throws(StoreError) { try store.close() } catch {
            return first.adding("'\(store.url.path)' was not closed", error)
        }
        return first
    }

    /// Removes an unfinished store after `first`, the error that counts and that is given back.
    private func destroy(
        _ url: StoreURL, _ type: any PersistentStoreType, after first: StoreError
    ) -> StoreError {
        do throws(StoreError) { try type.destroy(url) } catch {
            return first.adding("the unfinished '\(url.path)' was not removed", error)
        }
        return first
    }
}

extension StoreError {
    /// The same error, saying also what went wrong while cleaning up.
    fileprivate func adding(_ what: String, _ other: StoreError) -> StoreError {
        StoreError(
            code, "\(message) Also, \(what): \(other.message)", conflicts: conflicts, violations: violations,
            damagedObject: damagedObject, underlying: underlying)
    }
}

extension Duration {
    /// The duration in seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
