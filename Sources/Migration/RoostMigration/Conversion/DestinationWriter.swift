internal import RoostCore
internal import RoostFiles

/// A writer that creates, fills, verifies and publishes a destination store from any source.
///
/// After an error, a destination given by location is unchanged. A destination that is an open
/// store may keep new content.
package struct DestinationWriter: Sendable {
    let destination: ConversionEndpoint
    let sourceName: String
    let options: ConversionOptions
    let registry: StoreRegistry
    /// The maximum number of threads that read a finished destination concurrently.
    ///
    /// Each thread uses memory for a batch and for a snapshot with its caches.
    var maximumReaders = Self.usualReaders

    static let usualReaders = 4

    /// Fills the destination, and creates it unless it is an open store.
    func fill(from source: any StoreContents) throws(StoreError) -> ConversionReport {
        switch destination {
        case .store(let store):
            var report = try fill(store, from: source).report
            let userMetadata = try source.identity().userMetadata
            // If the store was created with this metadata, no commit is needed.
            if !userMetadata.isEmpty, try store.metadata().userMetadata != userMetadata {
                var changes = ChangeSet(model: store.model)
                changes.userMetadata = userMetadata.mapValues { $0 }
                _ = try store.commit(changes)
            }
            report.bytes = try store.byteCount()
            return report
        case .location(let location):
            let type = try registry.type(named: location.type)
            return location.path.isEmpty
                ? try create(location, type: type, from: source) : try publish(location, type: type, from: source)
        }
    }

    /// Fills a store at a temporary path, then renames it to the destination's path.
    private func publish(
        _ location: StoreLocation, type: any PersistentStoreType, from source: any StoreContents
    ) throws(StoreError) -> ConversionReport {
        let isFile = type.capabilities.contains(.file)
        // Until the rename, the claim keeps other conversions from removing the new store or publishing at this path.
        let claim = isFile ? try options.claim(location) : nil
        defer { claim?.release() }
        // Another conversion may have published a store here before this one got the claim.
        if isFile, !options.overwrites { try StoreFile.requireAbsent(at: location.path) }
        if let claim {
            StoreFile.sweepTemporarySiblings(
                of: location.path, companions: registry.companionSuffixes, holding: claim)
        }
        let temporary = try StoreFile.temporaryLocation(beside: location, of: type)
        var report: ConversionReport
        let isFlushed: Bool
        do throws(StoreError) {
            let store = try type.create(
                temporary, model: source.model, options: try creationOptions(source, isUnpublished: true))
            do throws(StoreError) {
                var (filled, isLoaded) = try fill(store, from: source)
                if options.keepsHistory, try source.giveHistory(to: store) { isLoaded = false }
                filled.bytes = try store.byteCount()
                (report, isFlushed) = (filled, isLoaded)
            } catch {
                throw store.closed(after: error)
            }
            try store.close()
            // A finished load is durable, but commits to an unpublished store are not.
            if isFile, !isFlushed { try StoreFile.syncFile(at: temporary.path) }
            try options.cancellation?.check()
            try options.replace(location, type: type, with: temporary)
        } catch {
            throw Self.destroy(temporary, type: type, after: error).naming(location.path)
        }
        // The store is published, so later errors do not fail the conversion.
        if isFile, let bytes = try? StoreFile.byteCount(at: location.path) { report.bytes = bytes }
        return report
    }

    /// Creates and fills a store without a path.
    private func create(
        _ location: StoreLocation, type: any PersistentStoreType, from source: any StoreContents
    ) throws(StoreError) -> ConversionReport {
        let store = try type.create(
            location, model: source.model, options: try creationOptions(source, isUnpublished: false))
        do throws(StoreError) {
            let report = try fill(store, from: source).report
            if options.keepsHistory { _ = try source.giveHistory(to: store) }
            try store.close()
            return report
        } catch {
            throw Self.destroy(location, type: type, after: store.closed(after: error))
        }
    }

    private func creationOptions(
        _ source: any StoreContents, isUnpublished: Bool
    ) throws(StoreError) -> StoreOptions {
        let identity = try source.identity()
        let recordsHistory = options.keepsHistory ? try source.recordsHistory() : false
        return StoreOptions(
            timeoutSeconds: options.timeoutSeconds, typeOptions: options.destinationTypeOptions
        ).with {
            $0.storeUUID = identity.storeUUID
            $0.userMetadata = identity.userMetadata
            $0.isUnpublished = isUnpublished
            if recordsHistory { $0.tracksHistory = true }
        }
    }

    private func fill(
        _ store: any PersistentStore, from source: any StoreContents
    ) throws(StoreError) -> (report: ConversionReport, isFlushed: Bool) {
        let clock = ContinuousClock()
        let start = clock.now
        let memory = PrivateMemory()
        let copied = try source.fill(store, by: self, memory: memory)
        // If the source is damaged, the copy must fail first, because its error names the damaged record.
        let notices = try source.notices()
        try options.cancellation?.check()
        var dangling = copied.dangling
        if options.verifies || !copied.skipped.isEmpty {
            let pass = try readAgain(store, expecting: copied, memory: memory)
            dangling += pass.dangling
            if options.verifies {
                try Self.compare(copied.tally, found: pass.tally, model: store.model, location: destination.location)
            }
        }
        report(.publishing, objects: 0, links: 0)
        memory.sample()
        let digest = copied.tally.digest
        let report = ConversionReport(
            source: sourceName, destination: destination.location.description, objects: digest.objectCount,
            links: digest.linkCount, digest: digest.description, verified: options.verifies,
            seconds: (clock.now - start).inSeconds, bytes: try store.byteCount(),
            peakPrivateBytes: memory.peakBytes, entities: copied.tally.entityCounts(store.model),
            relationships: copied.tally.relationshipCounts(store.model), skipped: copied.skipped.map(\.description),
            dangling: dangling, warnings: copied.warnings + notices,
            remarks: store.model.remarkLines())
        return (report, copied.isFlushed)
    }

    func report(
        _ phase: ConversionProgress.Phase, current: String? = nil, objects: Int, links: Int, totalObjects: Int? = nil,
        totalLinks: Int? = nil, seconds: Double = 0
    ) {
        options.onProgress?(
            ConversionProgress(
                phase: phase, current: current, objects: objects, links: links, totalObjects: totalObjects,
                totalLinks: totalLinks, seconds: seconds))
    }

    // MARK: Cleaning up

    /// Removes an unfinished store after the error `first`, and returns the error to throw.
    private static func destroy(
        _ location: StoreLocation, type: any PersistentStoreType, after first: StoreError
    ) -> StoreError {
        do throws(StoreError) { try type.destroy(location) } catch {
            // A second error with the same code adds no information.
            guard error.code != first.code else { return first }
            return first.adding("the unfinished '\(location.path)' was not removed", of: error)
        }
        return first
    }
}

extension Duration {
    package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
