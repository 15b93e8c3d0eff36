public import RoostCore

/// A migration in ordered stages, which are inferred and can also run custom code.
///
/// A store at any version is migrated through the later versions, up to the new model. Mapping
/// models are inferred, and the handlers of a ``CustomMigrationStage`` make other changes. To
/// change a type, for example, one version has the old and the new attribute, and a handler sets
/// the new attribute.
///
/// All or nothing: handlers work on unpublished stores, and the result is published after the last
/// stage.
///
/// ```swift
/// let stages = try StagedMigrationManager([
///     .lightweight(LightweightMigrationStage([version1, version2])),
///     .custom(CustomMigrationStage(from: version3, to: version4, didMigrate: fillSeconds)),
/// ])
/// let options = MigrationOptions().with { $0.stages = stages }
/// let store = try Store.open(
///     .sqlite("music.sqlite"), model: version4, ifIncompatible: .migrate(options))
/// ```
public struct StagedMigrationManager: Sendable {
    /// A version, with the label of its stage.
    struct Version: Sendable {
        let name: String
        let model: ManagedObjectModel
        let label: String
        /// The custom stage that ends at this version, or nil.
        let stage: CustomMigrationStage?
    }

    package let stages: [MigrationStage]
    let versions: [Version]

    /// Creates a manager.
    ///
    /// - Parameter stages: The stages, oldest first. Each version is in exactly one stage. The
    ///   exception is a version at which one custom stage ends and the next custom stage begins.
    /// - Throws: `invalidRequest` with all problems: no stages, a stage without versions, a version
    ///   in two stages or twice in one stage. Versions with equal version hashes count as one.
    public init(_ stages: [MigrationStage]) throws(StoreError) {
        var versions: [Version] = []
        var problems: [String] = []
        if stages.isEmpty { problems.append("A migration with no stages cannot run; give at least one.") }
        var follows = false
        for (position, stage) in stages.enumerated() {
            let label = stage.label ?? "stage \(position + 1)"
            var models = stage.models
            if models.isEmpty { problems.append("The \(Self.named(label)) has no versions; leave it out.") }
            if case .custom = stage, follows, let last = versions.last, let first = models.first,
                last.model.stores(sameAs: first)
            {
                models.removeFirst()
            }
            for (index, model) in models.enumerated() {
                let name = model.versionName ?? "version \(versions.count + 1)"
                if let other = versions.first(where: { $0.model.stores(sameAs: model) }) {
                    problems.append(
                        "'\(name)' of the \(Self.named(label)) has the same version hashes as '\(other.name)' of the \(Self.named(other.label)); each version is in exactly one stage."
                    )
                }
                var custom: CustomMigrationStage?
                if case .custom(let stage) = stage, index == models.count - 1 { custom = stage }
                versions.append(Version(name: name, model: model, label: label, stage: custom))
            }
            if case .custom = stage { follows = true } else { follows = false }
        }
        guard problems.isEmpty else {
            throw StoreError(
                .invalidRequest,
                problems.count == 1
                    ? problems[0] : "The stages cannot be used:" + problems.map { "\n  \($0)" }.joined())
        }
        (self.stages, self.versions) = (stages, versions)
    }

    private static func named(_ label: String) -> String { label.hasPrefix("stage ") ? label : "stage '\(label)'" }

    /// Returns the steps from the model of a store to the version of the target model.
    ///
    /// - Throws: `invalidRequest` if the target is not a version; `unknownModelVersion`,
    ///   `newerModelVersion`, `mappingNotInferable`.
    func chain(
        from source: ManagedObjectModel, to target: ManagedObjectModel, storeAt location: StoreLocation,
        options: MigrationOptions
    ) throws(StoreError) -> MigrationChain {
        let names = versions.map { "'\($0.name)'" }.joined(separator: ", ")
        guard let end = versions.firstIndex(where: { $0.model.stores(sameAs: target) }) else {
            throw StoreError(
                .invalidRequest, "The model to migrate to is none of the stages' versions \(names); add a stage for it."
            )
        }
        guard let start = versions.firstIndex(where: { $0.model.stores(sameAs: source) }) else {
            throw StoreError.unknownModelVersion(location, model: source, known: versions.map { ($0.name, $0.model) })
        }
        guard start <= end else {
            throw StoreError(
                .newerModelVersion,
                "'\(location)' has version '\(versions[start].name)', which is newer than '\(versions[end].name)'; use a newer program. Stages do not migrate backward; their versions are \(names)."
            )
        }
        var steps: [MigrationChain.Step] = []
        for position in start..<end {
            let (from, to) = (versions[position], versions[position + 1])
            let mapping: MappingModel
            do throws(StoreError) {
                mapping = try MappingModel.inferred(from: from.model, to: to.model, options: options.inference)
            } catch {
                throw error.located(in: "The \(Self.named(to.label)), from '\(from.name)' to '\(to.name)'")
            }
            steps.append(
                MigrationChain.Step(
                    sourceName: from.name, destinationName: to.name,
                    // The program's own model may have details that are not in the version hash.
                    model: position + 1 == end ? target : to.model, mapping: mapping, isInferred: true, stage: to.stage,
                    label: to.label))
        }
        return MigrationChain(steps: steps, way: "over the versions of the stages")
            .fusing(from: versions[start].model, options: options.inference)
    }
}

/// A part of a staged migration.
///
/// ```swift
/// let stages: [MigrationStage] = [
///     .lightweight(LightweightMigrationStage([version1, version2])),
///     .custom(CustomMigrationStage(from: version3, to: version4, didMigrate: fillSeconds)),
/// ]
/// let manager = try StagedMigrationManager(stages)
/// ```
public enum MigrationStage: Sendable {
    /// A sequence of versions connected by inference alone.
    case lightweight(LightweightMigrationStage)
    /// A step from one version to the next, with code.
    case custom(CustomMigrationStage)

    package var label: String? {
        switch self {
        case .lightweight(let stage): stage.label
        case .custom(let stage): stage.label
        }
    }

    var models: [ManagedObjectModel] {
        switch self {
        case .lightweight(let stage): stage.models
        case .custom(let stage): [stage.currentModel, stage.nextModel]
        }
    }
}

/// A stage whose versions, including the first, are reached by inference alone.
///
/// ```swift
/// let stage = LightweightMigrationStage([version1, version2], label: "ratings")
/// let manager = try StagedMigrationManager([.lightweight(stage)])
/// let options = MigrationOptions().with { $0.stages = manager }
/// ```
public struct LightweightMigrationStage: Sendable {
    package var label: String?
    /// The versions, oldest first.
    package var models: [ManagedObjectModel]

    /// Creates a stage.
    public init(_ models: [ManagedObjectModel], label: String? = nil) { (self.models, self.label) = (models, label) }
}

/// A stage from one version to the next, with code before and after an inferred migration.
///
/// ```swift
/// let stage = CustomMigrationStage(
///     from: version3, to: version4, label: "minutes to seconds",
///     didMigrate: { store, _ in
///         let values: [String: FetchRequest.Expression] = ["seconds": "minutes * 60"]
///         _ = try store.execute(BatchUpdateRequest("Track", set: values))
///     })
/// ```
public struct CustomMigrationStage: Sendable {
    /// A function with the code of a stage.
    ///
    /// The handler receives an open, unpublished store, which it may read and change, but must not
    /// close. The handler runs on the thread that called the migration. An error ends the
    /// migration, which removes its unpublished stores.
    public typealias Handler = @Sendable (_ store: any PersistentStore, _ stage: CustomMigrationStage) throws -> Void

    /// The name of the stage in messages and reports, or nil for its number.
    public var label: String?
    /// The version at the start of the stage.
    public var currentModel: ManagedObjectModel
    /// The version at the end of the stage.
    public var nextModel: ManagedObjectModel
    /// The handler that runs on the store at the current version, before its migration, or nil.
    ///
    /// In the first step, the store is a copy, so the source is never changed.
    package var willMigrate: Handler?
    /// The handler that runs on the store at the next version, after its migration, or nil.
    package var didMigrate: Handler?

    /// Creates a stage.
    public init(
        from currentModel: ManagedObjectModel, to nextModel: ManagedObjectModel, label: String? = nil,
        willMigrate: Handler? = nil, didMigrate: Handler? = nil
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        self.label = label
        self.willMigrate = willMigrate
        self.didMigrate = didMigrate
    }
}
