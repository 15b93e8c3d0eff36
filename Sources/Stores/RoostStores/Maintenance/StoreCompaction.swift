internal import RoostCore
internal import RoostFiles
internal import RoostMigration

struct StoreCompaction: Sendable {
    let location: StoreLocation
    let type: any PersistentStoreType
    let options: ConversionOptions
    let registry: StoreRegistry

    private struct Progress {
        var report: CompactionReport
        /// The content of other programs, which a copy would not have.
        var foreign = ForeignContent()
        /// Whether stores of the type can contain content of other programs.
        var canHaveForeign = false
    }

    func run() throws(StoreError) -> CompactionReport {
        do throws(StoreError) {
            return try compact()
        } catch {
            throw error.namingUsers(ofStoreAt: location.path)
        }
    }

    private func compact() throws(StoreError) -> CompactionReport {
        let clock = ContinuousClock()
        let start = clock.now
        let path = StoreFile.resolvingLink(location.path)
        try requireStore(path)
        // One timeout limits all waits.
        let timeout = options.timeout
        // The claim prevents other processes from replacing the store or removing the new file.
        let claim = try options.claim(location)
        defer { claim.release() }
        StoreFile.sweepTemporarySiblings(of: path, companions: registry.companionSuffixes, holding: claim)
        var (progress, lock) = try settleAndLock(path, timeout: timeout)
        if let held = lock, !progress.foreign.isEmpty {
            held.release()
            lock = nil
        }
        if lock == nil {
            do throws(StoreError) {
                try compactInPlace(&progress.report, timeout: timeout)
            } catch {
                // The error is `busy` if the type cannot compact an open store, or if the writers
                // did not finish in time.
                guard error.code == .busy, timeout.secondsLeft > 0, progress.foreign.isEmpty else { throw error }
                lock = try wait(path, progress: &progress, timeout: timeout, refusal: error)
            }
        }
        if let lock {
            defer { lock.release() }
            try rewrite(path, progress: &progress)
        }
        var report = progress.report
        report.bytesAfter = byteCount(path)
        report.seconds = (clock.now - start).inSeconds
        return report
    }

    /// Waits until the store is closed everywhere else, and locks it.
    ///
    /// Throws `refusal` after the timeout.
    private func wait(
        _ path: String, progress: inout Progress, timeout: Timeout, refusal: StoreError
    ) throws(StoreError) -> StoreLock {
        do throws(StoreError) {
            return try StoreReplacement.lock(path, type: type, timeout: timeout) { () throws(StoreError) in
                try prepare(&progress, path: path, timeout: timeout)
            }
        } catch {
            throw error.code == .busy ? refusal : error
        }
    }

    /// Moves the store's content into one file, and locks the store unless it is open elsewhere.
    private func settleAndLock(
        _ path: String, timeout: Timeout
    ) throws(StoreError) -> (Progress, StoreLock?) {
        var progress = Progress(
            report: CompactionReport(
                store: location.description, bytesBefore: byteCount(path), bytesAfter: 0, objects: 0, links: 0,
                digest: "", inPlace: false, seconds: 0, warnings: []))
        var isSettled = false
        do throws(StoreError) {
            let lock = try StoreReplacement.lock(path, type: type, timeout: Timeout(seconds: 0)) {
                () throws(StoreError) in
                try prepare(&progress, path: path, timeout: timeout)
                isSettled = true
            }
            return (progress, lock)
        } catch {
            guard error.code == .busy, isSettled else { throw error }
            return (progress, nil)
        }
    }

    // MARK: Before

    /// Checks that the file is a store of the type.
    ///
    /// This check precedes the creation of files beside the store, such as a lock file.
    private func requireStore(_ path: String) throws(StoreError) {
        try StoreFile.requireRegularFile(at: path, forWriting: true)
        try StoreFile.requirePlainCompanions(type.companionSuffixes, ofStoreAt: path)
        guard !type.recognizes(fileAt: path) else { return }
        // Reading the metadata throws a precise error, for example for an empty file, a newer
        // format or another program's file.
        _ = try type.metadata(at: location, options: StoreOptions(isReadOnly: true))
    }

    private func prepare(
        _ progress: inout Progress, path: String, timeout: Timeout
    ) throws(StoreError) {
        try settle(&progress, timeout: timeout)
        try requireSpace(path)
        try options.cancellation?.check()
    }

    /// Opens and closes the store, which recovers it after a crash and moves all content into one
    /// file.
    private func settle(_ progress: inout Progress, timeout: Timeout) throws(StoreError) {
        let store = try type.open(location, options: openingOptions(timeout))
        var foreign = ForeignContent()
        let digest = try store.closing { () throws(StoreError) -> StoreDigest in
            foreign = try store.contentOfOthers()
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            if let recorded = try snapshot.recordedTally() { return recorded.digest }
            return try snapshot.computeTally().digest
        }
        progress.foreign = foreign
        progress.canHaveForeign = store is any ForeignContentStore
        progress.report.objects = digest.objectCount
        progress.report.links = digest.linkCount
        progress.report.digest = digest.description
    }

    private func openingOptions(_ timeout: Timeout) -> StoreOptions {
        StoreOptions(
            model: options.sourceModel, timeoutSeconds: timeout.secondsLeft, typeOptions: options.sourceTypeOptions)
    }

    private func requireSpace(_ path: String) throws(StoreError) {
        let bytes = byteCount(path)
        let needed = bytes.addingReportingOverflow(bytes / 5).partialValue
        let available = try StoreFile.freeBytes(inDirectoryOf: path)
        let (total, overflow) = needed.addingReportingOverflow(options.reservedBytes)
        guard !overflow, total <= available else {
            throw StoreError(
                .noSpace,
                "Cannot compact '\(path)': there is not enough space. The copy needs up to \(needed) bytes and \(options.reservedBytes) bytes must stay free, but only \(available) are free. Make room, or convert the store to another disk."
            )
        }
    }

    private func byteCount(_ path: String) -> Int {
        // A missing file has no bytes.
        ([""] + type.companionSuffixes).reduce(0) { sum, suffix in
            sum + ((try? StoreFile.byteCount(at: path + suffix)) ?? 0)
        }
    }

    // MARK: Not open elsewhere

    /// Replaces the store with a copy of its content.
    ///
    /// The caller holds the store's lock exclusively.
    private func rewrite(_ path: String, progress: inout Progress) throws(StoreError) {
        let canHaveForeign = progress.canHaveForeign
        var copied: ConversionReport?
        _ = try StoreReplacement(type: type, path: path, keepsBackup: false).run { (old, new) throws(StoreError) in
            if canHaveForeign { try requireNoForeignContent(old, path: path) }
            let result: ConversionReport
            do throws(StoreError) {
                result = try copy(old, to: new)
            } catch  where error.code == .corrupted {
                throw error.located(in: "'\(path)' was not compacted, because that would hide damage")
            }
            if let warning = result.warnings.first, !options.acceptsChanges {
                throw StoreError(.corrupted, "'\(path)' was not compacted, because that would hide this: \(warning)")
            }
            try options.cancellation?.check()
            copied = result
            return true
        }
        guard let copied else { return }
        (progress.report.objects, progress.report.links) = (copied.objects, copied.links)
        progress.report.digest = copied.digest
        progress.report.warnings += copied.warnings
    }

    /// Throws `busy` if another program has added tables or indexes after `settle` looked for them.
    private func requireNoForeignContent(_ old: StoreLocation, path: String) throws(StoreError) {
        var reading = openingOptions(Timeout(seconds: 0))
        reading.isReadOnly = true
        // The replacement gave the old file a second hard link, which is refused by default.
        reading.acceptsLinks = true
        let store = try type.open(old, options: reading)
        let foreign = try store.closing { () throws(StoreError) in try store.contentOfOthers() }
        guard foreign.isEmpty else {
            throw StoreError(.busy, "Another program added \(foreign.names) to '\(path)' meanwhile; compact it again.")
        }
    }

    private func copy(_ old: StoreLocation, to new: StoreLocation) throws(StoreError) -> ConversionReport {
        var options = options
        (options.verifies, options.skipsDamaged, options.overwrites) = (true, false, false)
        options.keepsHistory = true
        options.destinationTypeOptions = options.sourceTypeOptions
        options.acceptsLinks = true
        return try MigrationManager(registry: registry).convert(
            from: .location(old), to: .location(new), options: options)
    }

    // MARK: Open elsewhere

    private func compactInPlace(_ report: inout CompactionReport, timeout: Timeout) throws(StoreError) {
        let cancellation = options.cancellation
        let isSmall = try type.compactOpenStore(
            location, options: openingOptions(timeout), isCancelled: { cancellation?.isCancelled ?? false })
        report.inPlace = true
        guard !isSmall else { return }
        report.warnings.append(
            "Other readers still use the old state of the store. The file shrinks after they finish and the store is written or closed."
        )
    }
}
