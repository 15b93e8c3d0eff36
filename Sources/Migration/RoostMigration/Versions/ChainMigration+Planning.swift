internal import RoostCore

extension ChainMigration {
    /// Plans the first step, and describes all steps.
    ///
    /// Later steps cannot be planned, because their objects cannot be counted yet.
    func plan() throws(StoreError) -> MigrationPlan {
        let known: Self
        do throws(StoreError) { known = try knowingTheSource() } catch {
            guard StoreMigration.isAboutModels(error) else { throw error }
            return refused(error)
        }
        return try known.planKnowingTheSource()
    }

    private func refused(_ error: StoreError) -> MigrationPlan {
        MigrationPlan(
            source: source.location.description, destination: destination.location.description, path: .onePass,
            mappings: [],
            objects: nil, links: nil, losses: [], bytesNeeded: 0, bytesAvailable: nil, secondsNeeded: 0,
            refusals: [error.message], warnings: [])
    }

    private func planKnowingTheSource() throws(StoreError) -> MigrationPlan {
        let identity = try identity()
        let chain: MigrationChain
        do throws(StoreError) {
            chain = try options.chain(from: identity.model, to: model, storeAt: source.location)
        } catch {
            guard StoreMigration.isAboutModels(error) else { throw error }
            return refused(error)
        }
        var options = options
        (options.history, options.stages) = (nil, nil)
        options.mapping = chain.steps.first?.mapping
        var plan = try MigrationManager(registry: registry).planMigration(
            from: source, to: destination, model: chain.steps.first?.model ?? model, options: options)
        plan.way = chain.way ?? plan.way
        guard chain.steps.count > 1 else {
            plan.noteStages(of: chain)
            return plan
        }
        plan.take(chain, from: identity.model)
        do throws(StoreError) { try addStepsAfterFirst(of: chain, to: &plan) } catch {
            guard StoreMigration.isAboutModels(error) else { throw error }
            plan.refusals.append(error.message)
        }
        if case .location(let location) = destination, !location.path.isEmpty,
            try registry.type(named: location.type).capabilities.contains(.file)
        {
            do throws(StoreError) { try requireSpace(location) } catch { plan.refusals.append(error.message) }
        }
        return plan
    }
}

extension ChainMigration {
    /// Adds the durations and paths of the steps after the first.
    ///
    /// The durations assume that each step reads as many objects as the first step, from a store of
    /// the destination's type.
    private func addStepsAfterFirst(
        of chain: MigrationChain, to plan: inout MigrationPlan
    ) throws(StoreError) {
        var model = chain.steps.first?.model
        let costs = try destination.type(in: registry).estimatedCosts
        let count = plan.countRead
        for step in chain.steps.dropFirst() {
            guard let source = model else { break }
            let isOnePass = try MappingPlan(step.mapping, from: source, to: step.model).obstacles.isEmpty
            if !isOnePass { plan.path = .threePasses }
            plan.secondsNeeded += MigrationEstimate.seconds(
                for: count, from: costs, to: costs, path: isOnePass ? .onePass : .threePasses,
                verifies: options.conversion.verifies)
            model = step.model
        }
    }
}

extension MigrationPlan {
    /// Extends a plan of the first step to all steps.
    mutating func take(_ chain: MigrationChain, from source: ManagedObjectModel) {
        var model = source
        let counted = losses
        way = chain.way ?? "in \(chain.steps.count) steps"
        for step in chain.steps {
            let remarks = step.mapping.remarks(from: model, to: step.model)
            let losses =
                steps.isEmpty
                ? counted
                : remarks.filter { $0.kind == .loss }.map { "\($0.text) The loss is counted when the step runs." }
            // The plan already has the warnings of the first step.
            if !steps.isEmpty {
                warnings += remarks.filter { $0.kind != .loss }.map { "\(step.destinationName): \($0.text)" }
            }
            steps.append(
                Step(
                    source: step.sourceName, destination: step.destinationName, label: step.label,
                    isInferred: step.isInferred,
                    mappings: step.mapping.entityMappings.map { mapping in
                        let ends = [mapping.sourceEntity, mapping.destinationEntity].compactMap { $0?.text }
                        return "\(mapping.name) (\(mapping.type.rawValue))  \(ends.joined(separator: " to "))"
                    }, losses: losses))
            model = step.model
        }
        remarks = model.remarkLines()
        losses = steps.flatMap { step in step.losses.map { "\(step.destination): \($0)" } }
        if steps.dropFirst().contains(where: { !$0.losses.isEmpty }) {
            warnings.append("The losses of a later step are counted when the step runs, and may be refused then.")
        }
        (objects, links) = (nil, nil)
        warnings.append(
            "Only the first step was tried on the existing objects; later steps may still fail when they run."
        )
        needsTwice(1)
        noteStages(of: chain)
    }

    fileprivate mutating func noteStages(of chain: MigrationChain) {
        guard chain.steps.contains(where: { $0.stage != nil }) else { return }
        warnings.append("The code of stages runs during the migration; its effects are not planned.")
    }
}
