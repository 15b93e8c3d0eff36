public import RoostCore

/// Options for a migration.
///
/// ```swift
/// let options = MigrationOptions(history: history).with { $0.keepsBackup = true }
/// let store = try Store.open(
///     .sqlite("music.sqlite"), model: model, ifIncompatible: .migrate(options))
/// ```
public struct MigrationOptions: Sendable, Adjustable {
    /// The options for opening the source and creating the destination, as in a conversion.
    ///
    /// ``ConversionOptions/sourceModel`` is the model of a source without an embedded model.
    public var conversion: ConversionOptions
    /// The mapping from the source's model to the new model, or nil to infer it.
    public var mapping: MappingModel?
    /// The model history from the source's model to the new model, or nil.
    ///
    /// Cannot be combined with ``mapping`` or ``stages``.
    public var history: ModelHistory?
    /// The stages up to the new model, or nil.
    ///
    /// Cannot be combined with ``mapping`` or ``history``.
    public var stages: StagedMigrationManager? = nil
    /// Whether to infer a mapping model if none is given.
    public var infersMappingModel: Bool = true
    /// The options for inference, if ``mapping`` is nil.
    public var inference: MappingModel.InferenceOptions = MappingModel.InferenceOptions()
    /// The functions that create the policies of entity mappings, by ``EntityMapping/policyName``.
    ///
    /// Each function is called once for each entity mapping that names it.
    public var policies: [String: @Sendable () -> EntityMigrationPolicy]
    /// Whether the migration may drop objects, values and references of the source.
    ///
    /// If false, a migration that would drop data throws `lossRefused` with the losses
    /// (``MigrationLossRefusal``) before any change. Only existing data counts: dropping an entity
    /// without objects, or an attribute that is always null, loses nothing. Data that a policy
    /// drops is reported but never refused.
    public var allowsLoss: Bool
    /// The lists of losses that the user has confirmed.
    ///
    /// Losses that equal one of these lists are permitted even if ``allowsLoss`` is false.
    package var acceptedLosses: [[MigrationLoss]] = []
    /// Whether an in-place migration retains the old store.
    ///
    /// An old file is kept as `<name>.backup-<UUID>` beside the new one. The backup is an ordinary
    /// store of the old model, which Roost never removes.
    public var keepsBackup: Bool = false
    /// The memory limit for associations, in bytes.
    package var associationByteCount = 8 << 20

    /// Creates options.
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
