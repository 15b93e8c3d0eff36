internal import RoostCore
internal import RoostFiles

/// One compaction, from its refusals to its report.
struct StoreCompaction: Sendable {
    let url: StoreURL
    let type: any PersistentStoreType
    let options: ConversionOptions
    let registry: StoreRegistry

    /// See ``StoreMaintenance/compact(_:options:)``.
    func run() throws(StoreError) -> CompactionReport {
        do throws(StoreError) {
            return try compact()
        } catch {
            throw error.namingUsers(ofStoreAt: url.path)
        }
    }

    private func compact() throws(StoreError) -> CompactionReport {
        let clock = ContinuousClock()
        let start = clock.now
        let path = StoreFile.resolvingLink(url.path)
        try StoreFile.requireRegularFile(at: path, forWriting: true)
        // Nobody else replaces the store, or sweeps away what is built here, before this ends.
        let claim = try DestinationClaim.acquire(forStoreAt: path)
        defer { claim.release() }
        StoreFile.sweepTemporarySiblings(of: path, holding: claim)
        let before = Self.byteCount(path)
        var settled: CompactionReport?
        var lock: StoreLock?
        do throws(StoreError) {
            lock = try StoreReplacement.lock(path, timeoutSeconds: 0) { () throws(StoreError) in
                settled = try settle(path, bytesBefore: before)
                try requireSpace(path)
                try options.cancellation?.check()
            }
        } catch {
            guard error.code == .busy, settled != nil else { throw error }
        }
        guard var report = settled else {
            throw StoreError(.internalInconsistency, "'\(path)' was locked before it was settled.")
        }
        if let lock {
            defer { lock.release() }
            try rewrite(path, &report)
        } else {
            try compactInPlace(&report)
        }
        report.bytesAfter = Self.byteCount(path)
        report.seconds = (clock.now - start).inSeconds
        return report
    }

    // MARK: Before

    /// Opens the store and closes it again: recovers what a crash left and brings everything into the one file.
    private func settle(_ path: String, bytesBefore: Int) throws(StoreError) -> CompactionReport {
        let store = try type.open(url, options: openingOptions)
        let tally: StoreTally
        do throws(StoreError) {
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            tally = try snapshot.recordedTally() ?? StoreTally(model: store.model)
        } catch {
            // The first error is the one to tell.
            try? store.close()
            throw error
        }
        try store.close()
        let digest = tally.digest
        return CompactionReport(
            store: url.description, bytesBefore: bytesBefore, bytesAfter: bytesBefore, objects: digest.objectCount,
            links: digest.linkCount, digest: digest.description, inPlace: false, seconds: 0, warnings: [])
    }

    private var openingOptions: StoreOptions {
        StoreOptions(
            model: options.sourceModel, timeoutSeconds: options.timeoutSeconds, typeOptions: options.sourceTypeOptions)
    }

    private func requireSpace(_ path: String) throws(StoreError) {
        let bytes = Self.byteCount(path)
        let needed = bytes.addingReportingOverflow(bytes / 5).partialValue
        let available = try StoreFile.freeBytes(inDirectoryOf: path)
        let (total, overflow) = needed.addingReportingOverflow(options.reservedBytes)
        guard !overflow, total <= available else {
            throw StoreError(
                .noSpace,
                "There is not enough space to compact '\(path)': up to \(needed) bytes are needed meanwhile and \(options.reservedBytes) must stay free, \(available) are there. Make room, or convert the store to another disk."
            )
        }
    }

    private static func byteCount(_ path: String) -> Int {
        // What is not there has no bytes.
        ["", "-wal", "-journal"].reduce(0) { sum, suffix in
            sum + ((try? StoreFile.byteCount(at: path + suffix)) ?? 0)
        }
    }

    // MARK: Nobody else has it open

    /// Copies the store into a new file that takes its place; the caller holds the store's lock exclusively.
    private func rewrite(_ path: String, _ report: inout CompactionReport) throws(StoreError) {
        var copied: ConversionReport?
        _ = try StoreReplacement(type: type, path: path, keepsBackup: false).run { (old, new) throws(StoreError) in
            let result: ConversionReport
            do throws(StoreError) {
                result = try copy(old, to: new)
            } catch  where error.code == .corrupted {
                throw StoreError(
                    .corrupted, "'\(path)' was not compacted, because that would hide damage: \(error.message)",
                    damagedObject: error.damagedObject, underlying: error.underlying)
            }
            if let warning = result.warnings.first, !options.acceptsChanges {
                throw StoreError(.corrupted, "'\(path)' was not compacted, because that would hide this: \(warning)")
            }
            try options.cancellation?.check()
            copied = result
            return true
        }
        guard let copied else { return }
        (report.objects, report.links, report.digest) = (copied.objects, copied.links, copied.digest)
        report.warnings += copied.warnings
    }

    private func copy(_ old: StoreURL, to new: StoreURL) throws(StoreError) -> ConversionReport {
        var options = options
        (options.verifies, options.skipsDamaged, options.overwrites) = (true, false, false)
        options.destinationTypeOptions = options.sourceTypeOptions
        return try MigrationManager(registry: registry).convert(from: .url(old), to: .url(new), options: options)
    }

    // MARK: Somebody else has it open

    private func compactInPlace(_ report: inout CompactionReport) throws(StoreError) {
        let cancellation = options.cancellation
        let isSmall = try type.compactWhileOpen(
            url, options: openingOptions, isCancelled: { cancellation?.isCancelled ?? false })
        report.inPlace = true
        guard !isSmall else { return }
        report.warnings.append(
            "Others still read the state before; the file becomes small when they have ended and the store is written or closed."
        )
    }
}
