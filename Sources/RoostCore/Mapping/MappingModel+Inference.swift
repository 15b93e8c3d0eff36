extension MappingModel {
    /// What inference may do beyond what cannot lose anything.
    public struct InferenceOptions: Hashable, Sendable {
        /// Makes options.
        public init() {}
    }

    /// The mapping that follows from two models alone.
    ///
    /// - Throws: `unsupported`.
    public static func inferred(
        from source: ManagedObjectModel, to destination: ManagedObjectModel,
        options: InferenceOptions = InferenceOptions()
    ) throws(StoreError) -> MappingModel {
        throw StoreError(.unsupported, "Mapping models are not inferred; give one.")
    }
}
