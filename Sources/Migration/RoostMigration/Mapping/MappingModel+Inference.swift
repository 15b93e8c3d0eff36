public import RoostCore

extension MappingModel {
    /// Options that let inference accept more kinds of changes.
    public struct InferenceOptions: Hashable, Sendable {
        /// Whether an attribute that becomes a string gets its old value as text, as `CAST` writes
        /// it.
        ///
        /// Applies to every type with a text form.
        public var convertsToString: Bool

        /// Creates options.
        public init(convertsToString: Bool = false) { self.convertsToString = convertsToString }
    }

    /// Infers a mapping model from two models.
    ///
    /// Entities and properties are matched by their renaming identifiers, or by name if they have
    /// none. In name order, each destination entity gets one mapping: `IEM_Copy_<source>` (equal
    /// version hashes), `IEM_Transform_<source>` or `IEM_Add_<destination>`. Finally, each
    /// unmatched source entity gets `IEM_Remove_<source>`. Only `transform` mappings have property
    /// mappings, one for each stored property. The mapping of a new property has no expression.
    ///
    /// Inference accepts more changes of type than Core Data: an attribute may change its type if
    /// no value can be lost, and to a string if the options allow it. Whole numbers may become
    /// doubles and floats, but the migration fails at a number that is not exactly representable.
    ///
    /// The ``MigrationPlan`` lists the data that an inferred mapping model drops, and its
    /// requirements on the data.
    ///
    /// - Parameters:
    ///   - source: The model of the existing objects.
    ///   - destination: The new model.
    ///   - options: The options for inference.
    /// - Returns: A mapping model with the version hashes of both models, for which it is valid.
    /// - Throws: `mappingNotInferable`, with every reason: an incompatible change of type, a
    ///   to-many relationship that becomes to-one and does not get its pairs from a to-one inverse,
    ///   split entities, merged hierarchies, ambiguous identifiers.
    public static func inferred(
        from source: ManagedObjectModel, to destination: ManagedObjectModel,
        options: InferenceOptions = InferenceOptions()
    ) throws(StoreError) -> MappingModel {
        let inference = MappingInference(from: source, to: destination, options: options)
        guard inference.problems.isEmpty else { throw .mappingNotInferable(inference.problems) }
        return inference.model
    }

    /// Returns the reasons why no mapping model can be inferred; empty if inference succeeds.
    package static func inferenceProblems(
        from source: ManagedObjectModel, to destination: ManagedObjectModel,
        options: InferenceOptions = InferenceOptions()
    ) -> [MappingProblem] {
        MappingInference(from: source, to: destination, options: options).problems
    }
}
