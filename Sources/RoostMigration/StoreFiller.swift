internal import RoostCore
internal import RoostFiles

/// What makes a new store and fills it, all or nothing: the destination's part of a conversion, wherever its content comes from.
struct StoreFiller: Sendable {
    let destination: ConversionEndpoint
    /// What the source is called in reports.
    let sourceName: String
    let options: ConversionOptions
    let registry: StoreRegistry
    /// The most threads that read a finished destination at once; each has a batch, and a snapshot with what the store caches for it.
    var maximumReaders = Self.usualReaders

    /// As many readers as keep the memory of a conversion within its bounds.
    static let usualReaders = 4

    /// Makes the destination and fills it.
    func fill(from source: any StoreContents) throws(StoreError) -> ConversionReport {
        switch destination {
        case .store(let store):
            var report = try fill(store, from: source).report
            let userMetadata = try source.identity().userMetadata
            // What the caller created it with needs no commit.
            if !userMetadata.isEmpty, try store.metadata().userMetadata != userMetadata {
                var changes = ChangeSet(model: store.model)
                changes.userMetadata = userMetadata.mapValues { $0 }
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
        _ url: StoreURL, _ type: any PersistentStoreType, from source: any StoreContents
    ) throws(StoreError) -> ConversionReport {
        let isFile = type.capabilities.contains(.file)
        // Held until the new store has its name, so that nobody else sweeps it away or publishes another one meanwhile.
        let claim = isFile ? try options.claim(url) : nil
        defer { claim?.release() }
        // Another conversion into it may have ended meanwhile.
        if isFile, !options.overwrites { try StoreFile.requireAbsent(at: url.path) }
        if let claim { StoreFile.sweepTemporarySiblings(of: url.path, holding: claim) }
        let temporary = StoreURL(type: url.type, path: StoreFile.temporarySibling(of: url.path))
        var report: ConversionReport
        let isFlushed: Bool
        do throws(StoreError) {
            let store = try type.create(
                temporary, model: source.model, options: try creationOptions(source, isUnpublished: true))
            do throws(StoreError) {
                (report, isFlushed) = try fill(store, from: source)
            } catch {
                throw Self.close(store, after: error)
            }
            try store.close()
            // A load is durable when it is finished; commits to a store that nobody knows are not.
            if isFile, !isFlushed { try StoreFile.syncFile(at: temporary.path) }
            try options.cancellation?.check()
            try options.replace(url, type, with: temporary)
        } catch {
            // Its reader knows the destination's name, not the one that the store has until it is published.
            throw Self.destroy(temporary, type, after: error).naming(url.path)
        }
        // Published: whatever happens now, the conversion has succeeded.
        if isFile, let bytes = try? StoreFile.byteCount(at: url.path) { report.bytes = bytes }
        return report
    }

    /// Fills a store without a name.
    private func create(
        _ url: StoreURL, _ type: any PersistentStoreType, from source: any StoreContents
    ) throws(StoreError) -> ConversionReport {
        let store = try type.create(
            url, model: source.model, options: try creationOptions(source, isUnpublished: false))
        do throws(StoreError) {
            let report = try fill(store, from: source).report
            try store.close()
            return report
        } catch {
            throw Self.destroy(url, type, after: Self.close(store, after: error))
        }
    }

    private func creationOptions(
        _ source: any StoreContents, isUnpublished: Bool
    ) throws(StoreError) -> StoreOptions {
        let identity = try source.identity()
        return StoreOptions(
            timeoutSeconds: options.timeoutSeconds, storeUUID: identity.storeUUID, userMetadata: identity.userMetadata,
            isUnpublished: isUnpublished, typeOptions: options.destinationTypeOptions)
    }

    /// Copies and verifies; the destination's store stays open.
    private func fill(
        _ store: any PersistentStore, from source: any StoreContents
    ) throws(StoreError) -> (report: ConversionReport, isFlushed: Bool) {
        let clock = ContinuousClock()
        let start = clock.now
        let memory = PrivateMemory()
        let copied = try source.fill(store, by: self, memory)
        // After the copy, whose error names the damaged record of a source that cannot be read.
        let notices = try source.notices()
        try options.cancellation?.check()
        var dangling = copied.dangling
        if options.verifies || !copied.skipped.isEmpty {
            let pass = try readAgain(store, expecting: copied, memory)
            dangling += pass.dangling
            if options.verifies { try Self.compare(copied.tally, pass.tally, store.model, destination.url) }
        }
        report(.publishing, objects: 0, links: 0)
        memory.sample()
        let digest = copied.tally.digest
        let report = ConversionReport(
            source: sourceName, destination: destination.url.description, objects: digest.objectCount,
            links: digest.linkCount, digest: digest.description, verified: options.verifies,
            seconds: (clock.now - start).inSeconds, bytes: try store.byteCount(),
            peakPrivateBytes: memory.peakBytes, entities: copied.tally.entityCounts(store.model),
            relationships: copied.tally.relationshipCounts(store.model), skipped: copied.skipped.map(\.description),
            dangling: dangling, warnings: copied.warnings + notices,
            remarks: store.model.remarkLines())
        return (report, copied.isFlushed)
    }

    /// Tells how far it is.
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
    static func close(_ store: any PersistentStore, after first: StoreError) -> StoreError {
        do throws(StoreError) { try store.close() } catch {
            // The same trouble once more says nothing new.
            guard error.code != first.code else { return first }
            return first.adding("'\(store.url.path)' was not closed", error)
        }
        return first
    }

    /// Removes an unfinished store after `first`, the error that counts and that is given back.
    private static func destroy(
        _ url: StoreURL, _ type: any PersistentStoreType, after first: StoreError
    ) -> StoreError {
        do throws(StoreError) { try type.destroy(url) } catch {
            // The same trouble once more, as a name that is too long, says nothing new.
            guard error.code != first.code else { return first }
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
