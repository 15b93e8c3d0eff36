public import RoostCore

/// How to migrate.
///
/// ```swift
/// let options = MigrationOptions(history: history).with { $0.keepsBackup = true }
/// let store = try Store.open(
///     .sqlite("music.sqlite"), model: model, ifIncompatible: .migrate(options))
/// ```
public struct MigrationOptions: Sendable, Adjustable {
    /// How the source is opened and the destination made, as in a conversion.
    ///
    /// ``ConversionOptions/sourceModel`` is the model of a source that embeds none.
    public var conversion: ConversionOptions
    /// How objects of the source's model become those of the new one; nil for what follows from the two models alone.
    public var mapping: MappingModel?
    /// The versions of the model between that of the source and the new one; nil to go there in one step.
    ///
    /// In the place of ``mapping``.
    public var history: ModelHistory?
    /// The stages that lead to the new model; nil to go there in one step.
    ///
    /// In the place of ``mapping``.
    public var stages: StagedMigrationManager? = nil
    /// Whether a mapping model may be inferred where none is given.
    public var infersMappingModel: Bool = true
    /// What may follow from the two models alone, where ``mapping`` is nil.
    public var inference: MappingModel.InferenceOptions = MappingModel.InferenceOptions()
    /// What makes the policies that entity mappings name, by ``EntityMapping/policyName``.
    ///
    /// Called once for each entity mapping of a migration.
    public var policies: [String: @Sendable () -> EntityMigrationPolicy]
    /// Whether objects, values and references of the source may be dropped.
    ///
    /// Otherwise a migration that would drop some is refused with code `lossRefused`, which lists
    /// them (``MigrationLossRefusal``), before anything is changed. What counts is what the objects
    /// have: an entity without objects is not a loss, nor is an attribute that is null in all of
    /// them. What a policy makes nothing of is the program's own decision: it is reported and not
    /// refused.
    public var allowsLoss: Bool
    /// Losses that the user has accepted when asked; nothing else may be dropped then.
    package var acceptedLosses: [[MigrationLoss]] = []
    /// Whether a migration in place keeps the old file, as `<name>.backup-<UUID>` beside the new one.
    ///
    /// It is an ordinary store of the old model, which nobody removes but its owner.
    public var keepsBackup: Bool = false
    /// The memory for associations after which they go to a file; tests make it small.
    package var associationByteCount = 8 << 20

    /// Makes options.
    public init(
        conversion: ConversionOptions = ConversionOptions(), mapping: MappingModel? = nil,
        history: ModelHistory? = nil, policies: [String: @Sendable () -> EntityMigrationPolicy] = [:],
        allowsLoss: Bool = false
    ) {
        self.conversion = conversion
        self.mapping = mapping
        self.history = history
        self.allowsLoss = allowsLoss
        self.policies = policies
    }
}
