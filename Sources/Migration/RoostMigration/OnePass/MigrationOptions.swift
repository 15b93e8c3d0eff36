public import RoostCore

/// Options for a migration.
///
/// ```swift
/// let options = MigrationOptions(history: history).with { $0.keepsBackup = true }
/// let store = try Store.open(
///     .sqlite("music.sqlite"), model: model, ifIncompatible: .migrate(options))
/// ```
public struct MigrationOptions: Sendable, Adjustable {
    /// The options for opening the source and making the destination, as in a conversion.
    ///
    /// ``ConversionOptions/sourceModel`` is the model of a source that embeds none.
    public var conversion: ConversionOptions
    /// The mapping from the source's model to the new one; nil to infer it from the two models.
    public var mapping: MappingModel?
    /// The versions of the model between that of the source and the new one; nil for a single step.
    ///
    /// Cannot be combined with ``mapping`` or ``stages``.
    public var history: ModelHistory?
    /// The stages up to the new model; nil for a single step.
    ///
    /// Cannot be combined with ``mapping`` or ``history``.
    public var stages: StagedMigrationManager? = nil
    /// Whether a mapping model may be inferred where none is given.
    public var infersMappingModel: Bool = true
    /// The options for inference, if ``mapping`` is nil.
    public var inference: MappingModel.InferenceOptions = MappingModel.InferenceOptions()
    /// The functions that make the policies of entity mappings, by ``EntityMapping/policyName``.
    ///
    /// Called once for each entity mapping of a migration.
    public var policies: [String: @Sendable () -> EntityMigrationPolicy]
    /// Whether objects, values and references of the source may be dropped.
    ///
    /// Otherwise a migration that would drop some is refused with code `lossRefused`, which lists
    /// them (``MigrationLossRefusal``), before anything is changed. Only data that objects have
    /// counts: an entity without objects is not a loss, nor is an attribute that is null in all of
    /// them. What a policy drops is the program's own decision: it is reported and not refused.
    public var allowsLoss: Bool
    /// Losses that the user has accepted when asked; nothing else may be dropped then.
    package var acceptedLosses: [[MigrationLoss]] = []
    /// Whether a migration in place keeps the old file, as `<name>.backup-<UUID>` beside the new
    /// one.
    ///
    /// It is an ordinary store of the old model, which only its owner removes.
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
