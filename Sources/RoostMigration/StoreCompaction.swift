internal import Foundation
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
        } catch  where error.code == .busy {
            let users = FileUsers.names(ofStoreAt: StoreFile.resolvingLink(url.path))
            guard !users.isEmpty else { throw error }
            let message = error.message.hasSuffix(".") ? error.message : error.message + "."
            throw StoreError(
                .busy, "\(message) It is open in \(users.joined(separator: ", ")).", underlying: error.underlying)
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
        var report = try settle(path, bytesBefore: before)
        try requireSpace(path)
        try options.cancellation?.check()
        let lock: StoreLock?
        do throws(StoreError) {
            lock = try StoreLock.acquire(forStoreAt: path, .exclusive, timeoutSeconds: 0)
        } catch  where error.code == .busy {
            lock = nil
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
    ///
    /// The lock keeps every opener out, this one too. So the file is read under a second name, which has a lock of its own: a
    /// closed store is one file.
    private func rewrite(_ path: String, _ report: inout CompactionReport) throws(StoreError) {
        try requireOneFile(path)
        try StoreFile.requireKeepingOwner(at: path)
        let old = StoreURL(type: url.type, path: StoreFile.temporarySibling(of: path))
        let new = StoreURL(type: url.type, path: StoreFile.temporarySibling(of: path))
        try StoreFile.addName(old.path, toFileAt: path)
        do throws(StoreError) {
            let copied = try copy(old, to: new)
            (report.objects, report.links, report.digest) = (copied.objects, copied.links, copied.digest)
            if let warning = copied.warnings.first {
                throw StoreError(.corrupted, "'\(path)' was not compacted, because that would hide this: \(warning)")
            }
            try options.cancellation?.check()
            try requireOneFile(path)
            try StoreFile.publish(new.path, as: path, overwriting: true)
        } catch {
            for url in [old, new] { remove(url) }
            throw error.naming(path, insteadOf: [old.path, new.path])
        }
        remove(old)
    }

    /// Throws code `busy` when a program that knows nothing of Roost's locks has the store open: then it is more than one file.
    private func requireOneFile(_ path: String) throws(StoreError) {
        for suffix in ["-wal", "-shm", "-journal"] where (try? StoreFile.byteCount(at: path + suffix)) != nil {
            throw StoreError(
                .busy,
                "'\(path)' is open in a program that is not Roost's: '\(path)\(suffix)' is there; close it there.")
        }
    }

    private func copy(_ old: StoreURL, to new: StoreURL) throws(StoreError) -> ConversionReport {
        var options = options
        (options.verifies, options.skipsDamaged, options.overwrites) = (true, false, false)
        options.destinationTypeOptions = options.sourceTypeOptions
        return try MigrationManager(registry: registry).convert(from: .url(old), to: .url(new), options: options)
    }

    /// Removes a name of ours with what belongs to it; what cannot be removed is swept by the next one who writes here.
    private func remove(_ url: StoreURL) {
        try? type.destroy(url)
        for path in [url.path, StoreLock.path(forStoreAt: url.path)] { try? StoreFile.remove(path) }
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

extension StoreError {
    /// The same error with a name that its reader knows in the place of temporary ones.
    fileprivate func naming(_ path: String, insteadOf temporary: [String]) -> StoreError {
        let message = temporary.reduce(message) { $0.replacingOccurrences(of: $1, with: path) }
        return StoreError(
            code, message, conflicts: conflicts, violations: violations, damagedObject: damagedObject,
            underlying: underlying)
    }
}
