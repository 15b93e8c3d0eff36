internal import RoostCore
internal import RoostFiles

extension InPlaceMigration {
    func plan() throws(StoreError) -> MigrationPlan {
        let type = try replaceableType()
        let server = type as? any ServerStoreType
        let path = StoreFile.resolvingLink(location.path)
        if server == nil { try StoreFile.requireRegularFile(at: path, forWriting: false) }
        guard try steps(from: type.metadata(at: location, options: readingOptions)) != nil else {
            let report = try nothing(type)
            return MigrationPlan(
                source: location.description, destination: location.description, path: .nothing, mappings: [],
                objects: report.objects, links: report.links, losses: [], bytesNeeded: 0, bytesAvailable: nil,
                secondsNeeded: 0, refusals: [], warnings: report.warnings)
        }
        if let server { return try plan(onServer: server) }
        var options = options
        options.conversion.destinationTypeOptions = options.conversion.sourceTypeOptions
        let sibling = StoreLocation(type: type.name, path: StoreFile.temporarySibling(of: path))
        let change = try changePlan(type)
        var plan: MigrationPlan
        if let change {
            plan = try migrationPlan(of: change, beside: sibling)
            plan.needsTwice(change.changedPart)
        } else {
            plan = try MigrationManager(registry: registry).planMigration(
                from: .location(location), to: .location(sibling), model: model, options: options)
            // The migration requires space for two stores beside the old one. A plan with several
            // steps already counts both.
            if plan.steps.isEmpty { plan.needsTwice(1) }
        }
        (plan.source, plan.destination) = (location.description, location.description)
        plan.refusals = plan.refusals.map { StoreFile.namingStore(path, in: $0) }
        plan.refusals += refusals(path, type: type, change: change)
        return plan
    }

    func changePlan(_ type: any PersistentStoreType) throws(StoreError) -> ModelChangePlan? {
        let store = try type.open(location, options: readingOptions)
        let plan: ModelChangePlan?
        do throws(StoreError) { plan = try modelChange(of: store) } catch {
            guard StoreMigration.isAboutModels(error) else { throw store.closed(after: error) }
            plan = nil
        }
        try store.close()
        return plan
    }

    /// Plans a change within the store like a migration to `location`, where nothing is created.
    func migrationPlan(of change: ModelChangePlan, beside location: StoreLocation) throws(StoreError) -> MigrationPlan {
        var migration = migration(of: change, from: .location(self.location), to: .location(location))
        migration.needsSpace = false
        var plan = try migration.plan()
        plan.path = .oneTransaction
        plan.way = change.way ?? plan.way
        return plan
    }

    private func refusals(_ path: String, type: any PersistentStoreType, change: ModelChangePlan?) -> [String] {
        var refusals: [String] = []
        func note(_ body: () throws(StoreError) -> Void) {
            do throws(StoreError) { try body() } catch {
                refusals.append(error.namingUsers(ofStoreAt: path).message)
            }
        }
        note { () throws(StoreError) in try StoreFile.requireRegularFile(at: path, forWriting: true) }
        if let change {
            note { () throws(StoreError) in try requireSpace(path, part: change.changedPart) }
        } else {
            note { () throws(StoreError) in try StoreFile.requireKeepingOwner(at: path) }
            note { () throws(StoreError) in try requireSpace(path) }
            note { () throws(StoreError) in
                let store = try type.open(location, options: readingOptions)
                let foreign = try store.closing { () throws(StoreError) in try store.contentOfOthers() }
                try requireKept(foreign, path: path)
            }
        }
        // Without a lock file, no process has the store open, and acquiring the lock would create a lock file.
        if StoreFile.hasEntry(at: StoreLock.path(forStoreAt: path)) {
            note { () throws(StoreError) in
                let conversion = self.options.conversion
                try StoreLock.acquire(
                    forStoreAt: path, mode: .exclusive, timeoutSeconds: conversion.timeoutSeconds,
                    isCancelled: conversion.isCancelled
                ).release()
            }
        }
        return refusals
    }
}
