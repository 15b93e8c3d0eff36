public import RoostCore

/// How to migrate.
public struct MigrationOptions: Sendable {
    /// How the source is opened and the destination made, as in a conversion.
    ///
    /// ``ConversionOptions/sourceModel`` is the model of a source that embeds none.
    public var conversion: ConversionOptions
    /// How objects of the source's model become those of the new one; nil for what follows from the two models alone.
    public var mapping: MappingModel?
    /// What may follow from the two models alone, where ``mapping`` is nil.
    public var inference: MappingModel.InferenceOptions
    /// What makes the policies that entity mappings name, by ``EntityMapping/policyName``.
    ///
    /// Called once for each entity mapping of a migration.
    public var policies: [String: @Sendable () -> EntityMigrationPolicy]

    /// Makes options.
    public init(
        conversion: ConversionOptions = ConversionOptions(), mapping: MappingModel? = nil,
        inference: MappingModel.InferenceOptions = MappingModel.InferenceOptions(),
        policies: [String: @Sendable () -> EntityMigrationPolicy] = [:]
    ) {
        self.conversion = conversion
        self.mapping = mapping
        self.inference = inference
        self.policies = policies
    }
}
