public import RoostCore

/// A migration in stages, in one order: versions that follow each other by inference alone, and
/// versions around which code runs.
///
/// A store at any of the versions goes through the steps after it, up to the last one. From each
/// version to the next the mapping model is inferred; the handlers of a ``CustomMigrationStage`` do
/// what inference cannot. To change a type, for example, one version usually has both attributes,
/// and a handler fills the new one.
///
/// All or nothing: handlers work on unpublished stores, and the result gets its name when the last
/// stage is done.
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
    /// One version, and how it is reached from the version before.
    struct Version: Sendable {
        let name: String
        let model: ManagedObjectModel
        /// The stage that the version belongs to.
        let label: String
        /// The custom stage that ends at this version; nil for a version that is reached by
        /// inference alone, and for the first.
        let stage: CustomMigrationStage?
    }

    /// The stages, in order.
    package let stages: [MigrationStage]
    /// The versions of all stages, in order.
    let versions: [Version]

    /// Makes a manager.
    ///
    /// - Parameter stages: The stages, oldest first. Each version is in exactly one stage. The
    ///   exception is a version at which one custom stage ends and the next custom stage begins.
    /// - Throws: `invalidRequest` with everything that is wrong: no stages, a stage without
    ///   versions, a version that is in two stages or twice in one. Versions that store the same
    ///   count as one, since a store does not show which of them it has.
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
                        "'\(name)' of the \(Self.named(label)) stores the same as '\(other.name)' of the \(Self.named(other.label)); each version is in exactly one stage."
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

    /// Returns the steps from the model of a store to the last version.
    ///
    /// - Throws: `invalidRequest` for another target; `unknownModelVersion`, `newerModelVersion`,
    ///   `mappingNotInferable`.
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
                    // The program's own words for the last one, which may say more than the version hash.
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
    /// Versions that follow each other by inference alone.
    case lightweight(LightweightMigrationStage)
    /// A version, code, and the version that comes next.
    case custom(CustomMigrationStage)

    /// The name of the stage in messages and reports; nil for its number.
    package var label: String? {
        switch self {
        case .lightweight(let stage): stage.label
        case .custom(let stage): stage.label
        }
    }

    /// The versions of the stage, in order.
    var models: [ManagedObjectModel] {
        switch self {
        case .lightweight(let stage): stage.models
        case .custom(let stage): [stage.currentModel, stage.nextModel]
        }
    }
}

/// A stage of versions that follow each other, and the version before them, by inference alone.
///
/// ```swift
/// let stage = LightweightMigrationStage([version1, version2], label: "ratings")
/// let manager = try StagedMigrationManager([.lightweight(stage)])
/// let options = MigrationOptions().with { $0.stages = manager }
/// ```
public struct LightweightMigrationStage: Sendable {
    /// The name of the stage in messages and reports; nil for its number.
    package var label: String?
    /// The versions, oldest first.
    package var models: [ManagedObjectModel]

    /// Makes a stage.
    public init(_ models: [ManagedObjectModel], label: String? = nil) { (self.models, self.label) = (models, label) }
}

/// A stage from one version to the next by inference, with code before and after.
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
    /// Code of a stage.
    ///
    /// It gets an open, unpublished store, which it may read and change, but must not close. It
    /// runs on the thread that called the migration. An error ends the migration, which leaves no
    /// trace.
    public typealias Handler = @Sendable (_ store: any PersistentStore, _ stage: CustomMigrationStage) throws -> Void

    /// The name of the stage in messages and reports; nil for its number.
    public var label: String?
    /// The version at which it begins.
    public var currentModel: ManagedObjectModel
    /// The version at which it ends.
    public var nextModel: ManagedObjectModel
    /// Runs on the store at the current version, before it is migrated; nil for nothing.
    ///
    /// In the first step the store is a copy: the source is not changed by a byte.
    package var willMigrate: Handler?
    /// Runs on the store at the next version, after it was migrated; nil for nothing.
    package var didMigrate: Handler?

    /// Makes a stage.
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
