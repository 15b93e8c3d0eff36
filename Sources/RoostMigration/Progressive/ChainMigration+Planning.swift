internal import RoostCore

extension ChainMigration {
    /// See ``MigrationManager/planMigration(from:to:model:options:)``.
    ///
    /// What there will be behind the first step nobody can count, so the steps are described and the first one is planned.
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
            source: source.url.description, destination: destination.url.description, path: .onePass, mappings: [],
            objects: nil, links: nil, losses: [], bytesNeeded: 0, bytesAvailable: nil, secondsNeeded: 0,
            refusals: [error.message], warnings: [])
    }

    private func planKnowingTheSource() throws(StoreError) -> MigrationPlan {
        let identity = try identity()
        let chain: MigrationChain
        do throws(StoreError) {
            chain = try options.chain(from: identity.model, to: model, storeAt: source.url)
        } catch {
            guard StoreMigration.isAboutModels(error) else { throw error }
            return refused(error)
        }
        var options = options
        (options.history, options.stages) = (nil, nil)
        options.mapping = chain.steps.first?.mapping
        var plan = try MigrationManager(registry: registry).planMigration(
            from: source, to: destination, model: chain.steps.first?.model ?? model, options: options)
        guard chain.steps.count > 1 else { return plan }
        plan.take(chain, from: identity.model)
        do throws(StoreError) { plan.secondsNeeded += try secondsAfterFirst(of: chain, plan.countRead) } catch {
            guard StoreMigration.isAboutModels(error) else { throw error }
            plan.refusals.append(error.message)
        }
        if case .url(let url) = destination, !url.path.isEmpty,
            try registry.type(named: url.type).capabilities.contains(.file)
        {
            do throws(StoreError) { try requireSpace(url) } catch { plan.refusals.append(error.message) }
        }
        return plan
    }
}

extension ChainMigration {
    /// How long the steps behind the first one take, of which each is read from a store of the destination's type.
    ///
    /// As if there were as many objects all the way.
    private func secondsAfterFirst(of chain: MigrationChain, _ count: Int) throws(StoreError) -> Double {
        var (seconds, model) = (0.0, chain.steps.first?.model)
        let type = destination.url.type
        for step in chain.steps.dropFirst() {
            guard let source = model else { break }
            let isOnePass = try MappingPlan(step.mapping, from: source, to: step.model).obstacles.isEmpty
            seconds += MigrationEstimate.seconds(
                for: count, from: type, to: type, path: isOnePass ? .onePass : .threePasses,
                verifies: options.conversion.verifies)
            model = step.model
        }
        return seconds
    }
}

extension MigrationPlan {
    /// Makes a plan of the first step one of all steps.
    mutating func take(_ chain: MigrationChain, from source: ManagedObjectModel) {
        var model = source
        for step in chain.steps {
            let losses = step.mapping.remarks(from: model, to: step.model).filter { $0.kind == .loss }
            steps.append(
                Step(
                    source: step.sourceName, destination: step.destinationName, label: step.label,
                    isInferred: step.isInferred,
                    mappings: step.mapping.entityMappings.map { mapping in
                        let ends = [mapping.sourceEntity, mapping.destinationEntity].compactMap { $0?.text }
                        return "\(mapping.name) (\(mapping.type.rawValue))  \(ends.joined(separator: " to "))"
                    }, losses: losses.map(\.text)))
            model = step.model
        }
        losses = steps.flatMap { step in step.losses.map { "\(step.destination): \($0)" } }
        objects = nil
        bytesNeeded = bytesNeeded.addingReportingOverflow(bytesNeeded).overflow ? .max : bytesNeeded * 2
        if chain.steps.contains(where: { $0.stage != nil }) {
            warnings.append("Code of the stages runs on the way; what it does is not planned.")
        }
    }
}
