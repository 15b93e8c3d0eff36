internal import RoostCore

/// A migration by one mapping model.
struct StoreMigration: Sendable {
    let source: ConversionEndpoint
    let destination: ConversionEndpoint
    let model: ManagedObjectModel
    let options: MigrationOptions
    let registry: StoreRegistry
    /// Whether the destination is the source store itself, during a transaction.
    ///
    /// If so, only one thread at a time uses the destination.
    var isModelChange = false
    /// Whether a plan checks that there is space for a new store.
    var needsSpace = true

    init(
        from source: ConversionEndpoint, to destination: ConversionEndpoint, model: ManagedObjectModel,
        options: MigrationOptions, registry: StoreRegistry
    ) {
        self.source = source
        self.destination = destination
        self.model = model
        self.options = options
        self.registry = registry
    }

    var conversion: StoreConversion {
        var conversion = StoreConversion(
            from: source, to: destination, options: options.conversion, registry: registry)
        if isModelChange { conversion.maximumReaders = 1 }
        return conversion
    }

    func run() throws(StoreError) -> MigrationReport {
        if let refusal = try conversion.refusalsBeforeOpening().first { throw refusal }
        return try conversion.withSource(isReadOnce: true) { (store) throws(StoreError) in
            if let refusal = try conversion.refusals(of: store, for: model).first { throw refusal }
            // Objects and metadata must come from the same commit.
            let frozen = try FrozenStore(store)
            defer { try? frozen.close() }
            let mapping = try self.mapping(from: frozen.model)
            let plan = try MappingPlan(mapping, from: frozen.model, to: model)
            let snapshot = try frozen.snapshot()
            defer { snapshot.close() }
            let pairs = try pairs(plan, store: frozen, snapshot: snapshot)
            let losses = try losses(plan, pairs: pairs, snapshot: snapshot)
            try requireAllowed(losses)
            var report =
                try plan.obstacles.isEmpty
                ? onePass(frozen, plan: plan, pairs: pairs, snapshot: snapshot)
                : threePasses(frozen, plan: plan, snapshot: snapshot)
            report.add(losses)
            report.way = way
            return report
        }
    }

    /// Returns the given mapping model after validation, or an inferred one.
    func mapping(from sourceModel: ManagedObjectModel) throws(StoreError) -> MappingModel {
        guard let mapping = options.mapping else {
            // Models with equal version hashes need no permission for inference.
            guard options.infersMappingModel || model.hasVersionHashes(of: sourceModel) else { throw .noMappingModel }
            return try MappingModel.inferred(from: sourceModel, to: model, options: options.inference)
        }
        try mapping.requireValid(from: sourceModel, to: model)
        return mapping
    }

    private var way: String { options.mapping == nil ? "inferred in one step" : "by a mapping model" }

    // MARK: Losses

    private func losses(
        _ plan: MappingPlan, pairs: [Int: OneSidedPairs], snapshot: any StoreSnapshot
    ) throws(StoreError) -> [MigrationLoss] {
        try LossCounter.losses(of: plan.mapping, snapshot: snapshot, to: plan.destination, options: options.conversion)
            + plan.losses(of: pairs)
    }

    private func pairs(
        _ plan: MappingPlan, store: any PersistentStore, snapshot: any StoreSnapshot
    ) throws(StoreError) -> [Int: OneSidedPairs] {
        try plan.oneSidedPairs(snapshot, options: options.conversion, directories: store.spillDirectories)
    }

    private func requireAllowed(_ losses: [MigrationLoss]) throws(StoreError) {
        guard losses.isEmpty || options.allowsLoss || options.acceptedLosses.contains(losses) else {
            throw .lossRefused(losses, of: source.location)
        }
    }

    // MARK: Running

    private func onePass(
        _ store: any PersistentStore, plan: MappingPlan, pairs: [Int: OneSidedPairs],
        snapshot: any StoreSnapshot
    ) throws(StoreError) -> MigrationReport {
        if let refusal = try plan.refusals(snapshot, options: options.conversion, pairs: pairs, countsNulls: false)
            .first
        {
            throw refusal
        }
        let content = MappedContent(store, plan: plan, pairs: pairs, options: options.conversion)
        let copied = try conversion.destinationWriter.fill(from: content)
        let outcome = content.outcome
        let mappings = zip(plan.mapping.entityMappings, outcome.counts).map { mapping, counts in
            let dropped = mapping.sourceEntity.flatMap(plan.source.entity).flatMap { entity in
                outcome.recorded?.entities[entity.number].count
            }
            return MigrationReport.Mapping(
                mapping, read: counts?.read ?? (mapping.sourceEntity == nil ? 0 : dropped), made: counts?.made ?? 0)
        }
        return MigrationReport(
            copied, path: .onePass, mappings: mappings, sourceDigest: outcome.recorded?.digest,
            remarks: plan.mapping.remarks(from: plan.source, to: plan.destination), losses: outcome.losses)
    }

    private func threePasses(
        _ store: any PersistentStore, plan: MappingPlan, snapshot: any StoreSnapshot
    ) throws(StoreError) -> MigrationReport {
        let content = PolicyContent(source: store, model: model, mapping: plan.mapping, options: options)
        let copied = try conversion.destinationWriter.fill(from: content)
        let outcome = content.outcome.withLock { $0 }
        let mappings = zip(plan.mapping.entityMappings, outcome.counts).map { mapping, count in
            MigrationReport.Mapping(mapping, read: count.read, made: count.made)
        }
        return MigrationReport(
            copied, path: .threePasses, mappings: mappings, sourceDigest: try snapshot.recordedTally()?.digest,
            remarks: plan.mapping.remarks(from: plan.source, to: plan.destination), losses: outcome.losses)
    }

    // MARK: Planning

    func plan() throws(StoreError) -> MigrationPlan {
        var refusals = try conversion.refusalsBeforeOpening()
        return try conversion.withSource(isReadOnce: false) { (store) throws(StoreError) in
            refusals +=
                needsSpace
                ? try conversion.refusals(of: store, for: model) : try conversion.destinationWriter.refusals(for: model)
            var plan = MigrationPlan(
                source: source.location.description, destination: destination.location.description, path: .onePass,
                mappings: [],
                objects: nil, links: nil, losses: [], bytesNeeded: try conversion.bytesNeeded(store),
                bytesAvailable: try? conversion.destinationWriter.bytesAvailable(), secondsNeeded: 0, refusals: [],
                warnings: [],
                remarks: model.remarkLines())
            do throws(StoreError) {
                plan.warnings = try StoreContent(store, options: options.conversion).notices()
            } catch {
                guard error.code == .corrupted else { throw error }
                refusals.append(error)
            }
            do throws(StoreError) {
                let mapping = try self.mapping(from: store.model)
                try complete(
                    &plan, store: store, mapped: MappingPlan(mapping, from: store.model, to: model), refusals: &refusals
                )
            } catch {
                guard Self.isAboutModels(error) else { throw error }
                refusals.append(error)
            }
            plan.refusals = refusals.map(\.message)
            return plan
        }
    }

    /// Returns whether an error is about the models or the mapping.
    static func isAboutModels(_ error: StoreError) -> Bool {
        let codes: [StoreError.Code] = [
            .mappingNotInferable, .invalidMappingModel, .unknownModelVersion, .newerModelVersion, .unknownEntity,
            .unknownProperty, .invalidRequest,
            .invalidValue,
        ]
        return codes.contains(error.code)
    }

    private func complete(
        _ plan: inout MigrationPlan, store: any PersistentStore, mapped: MappingPlan, refusals: inout [StoreError]
    ) throws(StoreError) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        plan.path = mapped.obstacles.isEmpty ? .onePass : .threePasses
        plan.links = try snapshot.recordedTally()?.digest.linkCount
        for (index, mapping) in mapped.mapping.entityMappings.enumerated() {
            var count = 0
            if let entity = mapping.sourceEntity {
                count = try snapshot.count(
                    FetchRequest(entity, where: mapping.sourcePredicate).with { $0.includesSubentities = false })
            }
            plan.mappings.append(
                MigrationPlan.Mapping(
                    name: mapping.name, type: mapping.type.rawValue, source: mapping.sourceEntity?.text,
                    destination: mapping.destinationEntity?.text, objects: count, steps: mapped.steps(of: index)))
        }
        for obstacle in mapped.obstacles { plan.warnings.append("The migration takes three passes: \(obstacle).") }
        let pairs = try pairs(mapped, store: store, snapshot: snapshot)
        if mapped.obstacles.isEmpty {
            plan.objects = plan.objectsRead
            let counted = try mapped.refusals(snapshot, options: options.conversion, pairs: pairs, countsNulls: true)
            refusals += counted.isEmpty ? try rehearse(mapped, pairs: pairs, store: store, snapshot: snapshot) : counted
        }
        plan.way = way
        plan.secondsNeeded = MigrationEstimate.seconds(
            for: plan.countRead, from: try source.type(in: registry).estimatedCosts,
            to: try destination.type(in: registry).estimatedCosts, path: plan.path,
            verifies: options.conversion.verifies)
        let losses = try losses(mapped, pairs: pairs, snapshot: snapshot)
        plan.add(losses)
        do throws(StoreError) { try requireAllowed(losses) } catch { refusals.append(error) }
        for remark in mapped.mapping.remarks(from: mapped.source, to: mapped.destination) where remark.kind != .loss {
            if let property = remark.property, remark.isAboutEmptyRelationship {
                let count = plan.mappings.reduce(0) { $0 + ($1.destination == remark.entity ? $1.objects : 0) }
                if count > 0 {
                    plan.warnings.append(EmptyRelationships.warning(property, of: remark.entity, count: count))
                }
            } else {
                plan.warnings.append(remark.text)
            }
        }
        if !mapped.obstacles.isEmpty { refusals += try refusalsOfThreePasses(mapped, store: store, snapshot: snapshot) }
    }

    /// Returns the errors that are known in advance for a migration in three passes.
    private func refusalsOfThreePasses(
        _ mapped: MappingPlan, store: any PersistentStore, snapshot: any StoreSnapshot
    ) throws(StoreError) -> [StoreError] {
        _ = try PolicyPlan(
            mapped.mapping, from: mapped.source, to: mapped.destination, policies: options.policies,
            makesPolicies: false)
        // A policy may set missing properties for the objects of all mappings, so nothing is checked in advance.
        guard mapped.mapping.entityMappings.allSatisfy({ $0.policyName == nil }) else { return [] }
        let attributes = try MappingPlan(
            mapped.mapping, from: mapped.source, to: mapped.destination, onlyAttributes: true)
        let counted = try attributes.refusals(snapshot, options: options.conversion, pairs: [:], countsNulls: true)
        return counted.isEmpty ? try rehearse(attributes, pairs: [:], store: store, snapshot: snapshot) : counted
    }

    /// Returns the errors that only a rehearsal on the source's objects reveals.
    private func rehearse(
        _ plan: MappingPlan, pairs: [Int: OneSidedPairs], store: any PersistentStore, snapshot: any StoreSnapshot
    ) throws(StoreError) -> [StoreError] {
        let limit = try conversion.destinationWriter.documentLimit(store)
        // In three passes, the links are unknown, so the limit applies to the objects alone.
        var rehearsal = MigrationRehearsal(
            plan, of: store, pairs: pairs, snapshot: snapshot, options: options.conversion,
            documentLimit: plan.isForThreePasses ? limit : nil,
            directories: store.spillDirectories)
        let refusals = try rehearsal.refusals()
        guard refusals.isEmpty, let limit, !plan.isForThreePasses else { return refusals }
        return try limit.refusals(of: MappedContent(store, plan: plan, pairs: pairs, options: options.conversion))
    }
}

extension MigrationPlan {
    /// The number of source objects of the entity mappings that have a destination.
    fileprivate var objectsRead: Int { mappings.reduce(0) { $0 + ($1.destination == nil ? 0 : $1.objects) } }
    /// The number of objects to read, plus the number of links if the source records it.
    var countRead: Int { objectsRead + (links ?? 0) }
}

extension MigrationPlan {
    fileprivate mutating func add(_ losses: [MigrationLoss]) {
        lossCounts = losses
        self.losses = losses.map(\.description)
    }
}

extension MigrationReport {
    /// Puts counted losses before all other losses.
    ///
    /// Lost IDs appear twice, because they are counted before and during the migration.
    fileprivate mutating func add(_ losses: [MigrationLoss]) {
        lossCounts = losses
        self.losses = losses.map(\.description) + self.losses
    }
}

extension MappingRemark {
    var text: String { "\(entity)\(property.map { "." + $0 } ?? ""): \(message)" }
}

extension MigrationReport.Mapping {
    init(_ mapping: EntityMapping, read: Int?, made: Int) {
        self.init(
            name: mapping.name, type: mapping.type.rawValue, source: mapping.sourceEntity?.text,
            destination: mapping.destinationEntity?.text, read: read, made: made)
    }
}

extension MigrationReport {
    static func warnings(of dangling: [RelationshipCount]) -> [String] {
        dangling.map { "\($0.count) references by '\($0.relationship)' are to damaged objects that were left out." }
    }

    /// Returns messages about IDs that became null, one for each attribute.
    static func losses(_ entity: EntityName, lostIDs: [String: Int]) -> [String] {
        lostIDs.sorted { $0.key < $1.key }.map { name, count in
            "\(entity): IDs that became null in '\(name)': \(count); the destination has no object, or several objects, for each of these IDs."
        }
    }

    init(
        _ copied: ConversionReport, path: MigrationPath, mappings: [Mapping], sourceDigest: StoreDigest?,
        remarks: [MappingRemark], losses: [String]
    ) {
        self.init(
            source: copied.source, destination: copied.destination, path: path, mappings: mappings,
            objects: copied.objects, links: copied.links, relationships: copied.relationships,
            sourceDigest: sourceDigest?.description, mappedDigest: copied.digest, destinationDigest: copied.digest,
            verified: copied.verified, seconds: copied.seconds, bytes: copied.bytes,
            peakPrivateBytes: copied.peakPrivateBytes, skipped: copied.skipped,
            losses: losses,
            warnings: copied.warnings
                + MigrationReport.warnings(of: copied.dangling)
                // Empty relationships already have warnings with counts.
                + remarks.filter { $0.kind == .note && !$0.isAboutEmptyRelationship }.map(\.text),
            remarks: copied.remarks)
    }
}
