internal import RoostCore
internal import RoostFiles

/// A plan for changing a store's model within the store itself.
struct ModelChangePlan: Sendable {
    let step: MigrationChain.Step
    /// The migration path, as text for users.
    let way: String?
    let kept: KeptContent
    /// The approximate fraction of the file that is rewritten, from 0 to 1.
    let changedPart: Double
}

extension InPlaceMigration {
    /// Changes the store's model in one transaction if most content stays unchanged.
    ///
    /// Returns nil if the change requires a new store, or if no change is needed. The caller closes
    /// the store and holds the ``DestinationClaim`` of its file. `path` is nil for a store on a
    /// server.
    func changeModel(of store: any PersistentStore, path: String?) throws(StoreError) -> MigrationReport? {
        guard let changing = store as? any ModelChangingStore, let plan = try modelChange(of: store) else { return nil }
        if let path { try requireSpace(path, part: plan.changedPart) }
        try options.conversion.cancellation?.check()
        guard let change = try changing.beginModelChange(to: plan.step.model, keeping: plan.kept) else { return nil }
        do throws(StoreError) {
            // `store` can be the source: its snapshots show the state before the change, and no other program can
            // write.
            var migration = migration(of: plan, from: .store(store), to: .store(change.store))
            migration.isModelChange = true
            var report = try migration.run()
            try options.conversion.cancellation?.check()
            if try store.recordsHistory() { report.warnings.append(Self.historyWarning) }
            try change.commit()
            report.path = .oneTransaction
            report.way = plan.way ?? report.way
            return report
        } catch {
            change.abandon()
            throw error
        }
    }

    /// Returns a plan for changing the model within the store, or nil if the change requires a new
    /// store or is not needed.
    ///
    /// At least half of all objects and links must stay unchanged, because rewritten content goes
    /// into the log first and leaves gaps in the file.
    func modelChange(of store: any PersistentStore) throws(StoreError) -> ModelChangePlan? {
        // A store that accepts changes by other programs may have wrong checksums, which unchanged
        // rows would keep.
        guard !options.keepsBackup, !store.takesChanges, (store as? any ModelChangingStore)?.changesModels ?? false,
            let chain = try steps(from: store.metadata()),
            chain.steps.count == 1, let step = chain.steps.first,
            step.stage?.willMigrate == nil, step.stage?.didMigrate == nil
        else { return nil }
        let plan = try MappingPlan(step.mapping, from: store.model, to: step.model)
        guard plan.obstacles.isEmpty else { return nil }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        guard let tally = try snapshot.recordedTally() else { return nil }
        let kept = try plan.keptContent()
        let entities = kept.hierarchies.flatMap { plan.source.entities[$0].selfAndSubentities }
        let keptCount =
            entities.reduce(0) { $0 + tally.entities[$1].count }
            + kept.relationships.values.reduce(0) { $0 + tally.relationships[$1].count }
        let count =
            tally.entities.reduce(0) { $0 + $1.count } + tally.relationships.reduce(0) { $0 + $1.count }
        guard keptCount > 0, keptCount >= count - keptCount else { return nil }
        return ModelChangePlan(
            step: step, way: chain.way, kept: kept, changedPart: Double(count - keptCount) / Double(count))
    }

    func migration(
        of plan: ModelChangePlan, from source: ConversionEndpoint, to destination: ConversionEndpoint
    ) -> StoreMigration {
        var options = options
        (options.history, options.stages) = (nil, nil)
        options.mapping = plan.step.mapping
        options.conversion.overwrites = false
        return StoreMigration(
            from: source, to: destination, model: plan.step.model, options: options, registry: registry)
    }

    /// Requires disk space for the changed part twice: in the log and in the file.
    func requireSpace(_ path: String, part: Double) throws(StoreError) {
        let bytes = Int((Double(try StoreFile.byteCount(at: path)) * part).rounded(.up))
        try StoreFile.requireSpace(
            forStoresOf: bytes, count: 2, besideStoreAt: path, reserving: options.conversion.reservedBytes)
    }
}

extension MappingPlan {
    /// Returns the source content that is unchanged in the destination, byte for byte.
    func keptContent() throws(StoreError) -> KeptContent {
        var kept = KeptContent()
        for hierarchy in hierarchies where try isKept(hierarchy) { kept.hierarchies.insert(hierarchy.destination) }
        for link in links {
            if let number = origin(ofKept: link) { kept.relationships[link.relationship.number] = number }
        }
        return kept
    }

    private func isKept(_ hierarchy: Hierarchy) throws(StoreError) -> Bool {
        guard let root = hierarchy.source, root == hierarchy.destination, source.entities[root].root == root else {
            return false
        }
        for number in source.entities[root].selfAndSubentities where !source.entities[number].isAbstract {
            guard let entityPlan = hierarchy.entityPlans[number].map({ entityPlans[$0] }),
                entityPlan.destination.number == number,
                entityPlan.filter == nil, !entityPlan.fields.contains(where: \.isEvaluated),
                try RecordTransform(entityPlan, in: self, over: nil).isIdentity
            else { return false }
        }
        return true
    }

    /// Returns the source relationship's number if its links are copied unchanged, or nil.
    private func origin(ofKept link: LinkPlan) -> Int? {
        guard case .links(let number) = link.relation.storage, !link.relation.isFlipped, link.sources == .all,
            link.targets == .all
        else { return nil }
        let (old, new) = (source.relationships[number], link.relationship)
        guard old.isOrdered == new.isOrdered, old.inverseIsOrdered == new.inverseIsOrdered,
            old.isReflexive == new.isReflexive
        else { return nil }
        return number
    }
}

extension FieldPlan {
    fileprivate var isEvaluated: Bool {
        if case .expression = source { return true }
        return false
    }
}
