public import RoostCore

/// The steps that bring a store from its model to another one, each with its mapping model.
struct MigrationChain: Sendable {
    /// One migration of the whole store.
    struct Step: Sendable {
        /// The name of the version at which the step begins.
        var sourceName: String
        /// The name of the version at which the step ends.
        var destinationName: String
        /// The model of the step's result.
        var model: ManagedObjectModel
        /// The mapping model of the step.
        var mapping: MappingModel
        /// Whether the mapping model was inferred.
        var isInferred: Bool
        /// The stage that the step carries out; nil outside a staged migration.
        var stage: CustomMigrationStage?
        /// The name of the stage; nil outside a staged migration.
        var label: String?
    }

    /// The steps, in order; empty for a store that has the model already.
    var steps: [Step]
    /// The way that was taken and why, for people; nil without a choice.
    var way: String?

    /// Returns the one step to a model, by a given mapping model or an inferred one.
    ///
    /// - Throws: `mappingNotInferable`; `invalidMappingModel`; `modelMismatch` where nothing may be
    ///   inferred.
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
    /// Returns the chain with inferred steps combined where one step gives the same result; see
    /// ``FusedSteps``.
    ///
    /// - Parameters:
    ///   - source: The model at which the first step begins.
    ///   - options: The options with which the steps were inferred.
    /// - Returns: The chain, unchanged if no steps can be combined.
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
    /// The name of the model's version, or nil.
    var versionName: String? { versionIdentifiers.first { !$0.isEmpty } }
}

extension ModelHistory {
    /// Returns the steps from the model of a store to a version of the history.
    ///
    /// - Parameters:
    ///   - source: The model of the store.
    ///   - target: The model to reach, which is that of a version.
    ///   - location: The store, for messages.
    ///   - options: Whether and how mappings are inferred.
    /// - Returns: The steps; none for a store that has the model already.
    /// - Throws: `invalidRequest` for a target that is not a version; `unknownModelVersion`,
    ///   `newerModelVersion`; `mappingNotInferable` if the target cannot be reached, with the
    ///   obstacles of each step.
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
        guard let chain = try search.chain() else {
            let reasons = search.failures.map { "\n  \($0)" }.joined()
            throw StoreError(
                .mappingNotInferable,
                "Cannot migrate '\(location)' from version '\(versions[start].name)' to '\(versions[end].name)'; give a mapping model for what cannot be inferred:\(reasons)"
            )
        }
        return chain
    }

    /// Returns the version that a store is at; nil if it stores what the target does.
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
    /// An error about a store of another model without a mapping model to the target.
    static var noMappingModel: StoreError {
        StoreError(
            .modelMismatch,
            "The store has another model, no mapping model was given, and inference is off; give a mapping model, or allow inference."
        )
    }

    /// An error about a store whose model is none of the known versions, with the nearest version
    /// and the differences.
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
            "The model of '\(location)'\(called) is none of the versions \(list); add its version, or migrate it directly with a mapping model of its own.\(nearest ?? "")"
        )
    }
}

extension StoreError.Code {
    /// The store's model is none of the versions that are known: older than all of them, or of
    /// another program.
    ///
    /// Nothing was changed.
    public static let unknownModelVersion = Self("unknownModelVersion")
    /// The store has a version of the model that comes after the target version.
    ///
    /// Nothing was changed. Use a newer program.
    public static let newerModelVersion = Self("newerModelVersion")
}
