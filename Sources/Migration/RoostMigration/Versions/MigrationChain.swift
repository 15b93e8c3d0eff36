public import RoostCore

/// The steps from a store's model to another model, each with its mapping model.
struct MigrationChain: Sendable {
    /// A migration of the whole store by one mapping model.
    struct Step: Sendable {
        var sourceName: String
        var destinationName: String
        /// The model of the step's result.
        var model: ManagedObjectModel
        var mapping: MappingModel
        var isInferred: Bool
        /// The custom stage whose code the step runs, or nil.
        var stage: CustomMigrationStage?
        /// The name of the stage, or nil outside a staged migration.
        var label: String?
    }

    /// The steps in order; empty if the store already has the model.
    var steps: [Step]
    /// A description of the chosen path and its reason, for users.
    var way: String?

    /// Returns a chain with one step, by the given mapping model or by inference.
    ///
    /// The chain is empty if no mapping model is given and the version hashes are equal.
    ///
    /// - Throws: `mappingNotInferable`; `invalidMappingModel`; `modelMismatch` if inference is
    ///   needed but disabled.
    static func direct(
        from source: ManagedObjectModel, to model: ManagedObjectModel, options: MigrationOptions
    ) throws(StoreError) -> MigrationChain {
        let mapping: MappingModel
        if let given = options.mapping {
            try given.requireValid(from: source, to: model)
            mapping = given
        } else if source.stores(sameAs: model) {
            return MigrationChain(steps: [])
        } else {
            guard options.infersMappingModel else { throw .noMappingModel }
            mapping = try MappingModel.inferred(from: source, to: model, options: options.inference)
        }
        return MigrationChain(
            steps: [
                Step(
                    sourceName: source.versionName ?? "the store's model",
                    destinationName: model.versionName ?? "the model",
                    model: model, mapping: mapping, isInferred: options.mapping == nil)
            ], way: options.mapping == nil ? "inferred in one step" : "by a mapping model")
    }
}

extension MigrationChain {
    /// Returns the chain with successive inferred steps combined where ``FusedSteps`` allows it.
    func fusing(from source: ManagedObjectModel, options: MappingModel.InferenceOptions) -> MigrationChain {
        var fused: [Step] = []
        // The models and mappings that the last step of `fused` combines.
        var (models, mappings) = ([source], [MappingModel]())
        for step in steps {
            if let last = fused.last, last.isInferred, step.isInferred, last.stage == nil, step.stage == nil {
                let (wider, longer) = (models + [step.model], mappings + [step.mapping])
                if let mapping = FusedSteps.mapping(of: longer, between: wider, options: options) {
                    fused[fused.count - 1].destinationName = step.destinationName
                    fused[fused.count - 1].model = step.model
                    fused[fused.count - 1].mapping = mapping
                    (models, mappings) = (wider, longer)
                    continue
                }
            }
            (models, mappings) = ([fused.last?.model ?? source, step.model], [step.mapping])
            fused.append(step)
        }
        return MigrationChain(steps: fused, way: way)
    }
}

extension ManagedObjectModel {
    var versionName: String? { versionIdentifiers.first { !$0.isEmpty } }
}

extension ModelHistory {
    /// Returns the steps from a store's model to the version of the target model.
    ///
    /// - Throws: `invalidRequest` if the target is not a version; `unknownModelVersion`,
    ///   `newerModelVersion`; `mappingNotInferable` with the obstacles of each step.
    func chain(
        from source: ManagedObjectModel, to target: ManagedObjectModel, storeAt location: StoreLocation,
        options: MigrationOptions
    ) throws(StoreError) -> MigrationChain {
        guard let end = position(of: target) else {
            throw StoreError(
                .invalidRequest,
                "The model to migrate to is none of the versions \(versionList); add it to the history.")
        }
        guard let start = try start(of: source, notBehind: end, storeAt: location) else {
            return MigrationChain(steps: [])
        }
        var search = VersionSearch(self, from: start, to: end, options: options)
        guard var chain = try search.chain() else {
            let reasons = search.failures.map { "\n  \($0)" }.joined()
            throw StoreError(
                .mappingNotInferable,
                "Cannot migrate '\(location)' from version '\(versions[start].name)' to '\(versions[end].name)'; give a mapping model for what cannot be inferred:\(reasons)"
            )
        }
        // The program's own model may have details that are not in the version hash.
        if !chain.steps.isEmpty { chain.steps[chain.steps.count - 1].model = target }
        return chain
    }

    /// Returns the position of a store's version, or nil if the store has the target version.
    private func start(
        of source: ManagedObjectModel, notBehind end: Int, storeAt location: StoreLocation
    ) throws(StoreError) -> Int? {
        if versions[end].model.stores(sameAs: source) { return nil }
        if let start = versions[..<end].lastIndex(where: { $0.model.stores(sameAs: source) }) { return start }
        if let newer = versions[end...].firstIndex(where: { $0.model.stores(sameAs: source) }) {
            throw StoreError(
                .newerModelVersion,
                "'\(location)' has version '\(versions[newer].name)', which is newer than '\(versions[end].name)'; use a newer program. Only a step without a history can migrate backward (--direct). The versions in order are \(versionList); if that order is wrong, give the right one (--versions)."
            )
        }
        throw StoreError.unknownModelVersion(location, model: source, known: versions.map { ($0.name, $0.model) })
    }
}

extension StoreError {
    static var noMappingModel: StoreError {
        StoreError(
            .modelMismatch,
            "The store has another model, no mapping model was given, and inference is off; give a mapping model, or allow inference."
        )
    }

    static func unknownModelVersion(
        _ location: StoreLocation, model: ManagedObjectModel, known: [(name: String, model: ManagedObjectModel)]
    ) -> StoreError {
        let list = known.map { "'\($0.name)'" }.joined(separator: ", ")
        let called = model.versionName.map { ", which calls itself '\($0)'," } ?? ""
        let differences = known.map { version in
            (version.name, version.model.difference(from: model).filter(\.changesVersionHash))
        }
        let nearest = differences.min { $0.1.count < $1.1.count }.map { name, differences in
            let first = differences.prefix(3).map(\.description).joined(separator: "; ")
            let rest = differences.count > 3 ? "; and \(differences.count - 3) more" : ""
            return " Nearest is '\(name)': \(first)\(rest)."
        }
        return StoreError(
            .unknownModelVersion,
            "The model of '\(location)'\(called) is none of the versions \(list); add the store's version to them, or migrate the store directly with a mapping model.\(nearest ?? "")"
        )
    }
}

extension StoreError.Code {
    /// The store's model is not a known version.
    ///
    /// The model may be older or newer than all known versions, or from another program. No data
    /// was changed.
    public static let unknownModelVersion = Self("unknownModelVersion")
    /// The store's model version is newer than the target version.
    ///
    /// No data was changed. Use a newer program.
    public static let newerModelVersion = Self("newerModelVersion")
}
