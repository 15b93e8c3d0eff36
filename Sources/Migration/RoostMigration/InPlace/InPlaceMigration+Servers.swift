internal import Foundation
internal import RoostCore

extension InPlaceMigration {
    /// Changes the store's model in one transaction, or replaces the store with a migrated second
    /// store.
    ///
    /// While the second store is created, other programs may read and write the first store. If
    /// another program commits, the first store is not replaced.
    func run(onServer type: any ServerStoreType) throws(StoreError) -> MigrationReport {
        let start = ContinuousClock.now
        let metadata = try type.metadata(at: location, options: readingOptions)
        guard try steps(from: metadata) != nil else { return try nothing(type) }
        if let changed = try changeModelWaiting(onServer: type, since: start) {
            return finished(changed, backup: nil, path: nil, since: start)
        }
        let source = try type.open(location, options: readingOptions)
        let generation: Generation?
        let retention: HistoryRetention?
        let outcome: ChainRun.Outcome?
        do throws(StoreError) {
            generation = try source.currentGeneration()
            retention = try source.historyRetention()
            outcome = try migrate(source, type: type, path: location.path)
        } catch {
            throw source.closed(after: error)
        }
        do throws(StoreError) { try source.close() } catch { throw outcome?.store?.discard(after: error) ?? error }
        // The outcome is nil if another program has migrated the store meanwhile.
        guard var outcome else { return try nothing(type) }
        guard let store = outcome.store, let generation else {
            throw StoreError(.internalInconsistency, "A migration in place has made no store.")
        }
        let backup = options.keepsBackup ? try type.backupLocation(beside: location) : nil
        do throws(StoreError) {
            try options.conversion.cancellation?.check()
            try store.store.close()
            if let retention { try beginHistory(of: store, type: type, retention: retention, report: &outcome.report) }
            try type.replace(location, at: generation, with: store.location, keepingAs: backup)
        } catch {
            throw store.discard(after: error)
        }
        return finished(outcome.report, backup: backup?.description, path: nil, since: start)
    }

    /// Changes the model of the store, and waits up to the timeout while another program has the
    /// store open.
    private func changeModelWaiting(
        onServer type: any ServerStoreType, since start: ContinuousClock.Instant
    ) throws(StoreError) -> MigrationReport? {
        let deadline = start + .seconds(max(0, min(options.conversion.timeoutSeconds, 1e9)))
        while true {
            do throws(StoreError) { return try changeModel(onServer: type) } catch {
                guard error.code == .busy else { throw error }
                // Another program may have migrated the store meanwhile.
                guard try steps(from: type.metadata(at: location, options: readingOptions)) != nil else {
                    return try nothing(type)
                }
                guard ContinuousClock.now < deadline else { throw error }
            }
            try options.conversion.cancellation?.check()
            // The random delay prevents programs that migrate at the same time from always retrying together.
            Thread.sleep(forTimeInterval: .random(in: 0.05...0.5))
        }
    }

    private func changeModel(onServer type: any ServerStoreType) throws(StoreError) -> MigrationReport? {
        let store = try type.open(location, options: settlingOptions)
        let changed: MigrationReport?
        do throws(StoreError) { changed = try changeModel(of: store, path: nil) } catch {
            throw store.closed(after: error)
        }
        // A committed change has already closed the store; closing it again has no effect.
        try store.close()
        guard var changed else { return nil }
        // The size of the changed store is known only after the commit.
        if let store = try? type.open(location, options: readingOptions) {
            if let bytes = try? store.byteCount() { changed.bytes = bytes }
            try? store.close()
        }
        return changed
    }

    func plan(onServer type: any ServerStoreType) throws(StoreError) -> MigrationPlan {
        var options = options
        options.conversion.destinationTypeOptions = options.conversion.sourceTypeOptions
        let beside = try type.temporaryLocation(beside: location)
        var plan =
            if let change = try changePlan(type) {
                try migrationPlan(of: change, beside: beside)
            } else {
                try MigrationManager(registry: registry).planMigration(
                    from: .location(location), to: .location(beside), model: model, options: options)
            }
        (plan.source, plan.destination) = (location.description, location.description)
        return plan
    }
}
