public import RoostCore

extension MappingModel {
    /// Options that allow inference to go beyond what is certain to lose nothing.
    public struct InferenceOptions: Hashable, Sendable {
        /// Whether an attribute that becomes a string takes the text of what it was, as `CAST`
        /// writes it.
        ///
        /// For every type that has a text (``AttributeType/hasText``).
        public var convertsToString: Bool

        /// Makes options.
        public init(convertsToString: Bool = false) { self.convertsToString = convertsToString }
    }

    /// Infers a mapping model from two models alone.
    ///
    /// Entities and properties are matched by their renaming identifiers, or by name if they have
    /// none. Each destination entity gets one mapping, in the order of their names, named
    /// `IEM_Copy_<source>` (equal version hashes), `IEM_Transform_<source>` or
    /// `IEM_Add_<destination>`. After them, each unmatched source entity gets
    /// `IEM_Remove_<source>`. Only mappings of type `transform` have property mappings: one for
    /// each stored property, without an expression where it is new.
    ///
    /// Beyond Core Data, types may change where no value can be lost
    /// (``AttributeType/widens(to:)``), and to strings on request. Whole numbers become doubles and
    /// floats; the migration fails at one that is not exactly representable. ``remarks(from:to:)``
    /// lists what an inferred mapping drops and what it requires of the data.
    ///
    /// - Parameters:
    ///   - source: The model of the objects as they are.
    ///   - destination: The model that they shall have.
    ///   - options: What may be inferred.
    /// - Returns: A mapping model with the version hashes of both sides, without
    ///   ``problems(from:to:)``.
    /// - Throws: `mappingNotInferable`, listing every reason: a type that changes, a to-many
    ///   relationship that becomes to-one and whose pairs no to-one inverse keeps, entities that
    ///   are split or merged, hierarchies that are merged, identifiers that mean several.
    public static func inferred(
        from source: ManagedObjectModel, to destination: ManagedObjectModel,
        options: InferenceOptions = InferenceOptions()
    ) throws(StoreError) -> MappingModel {
        let inference = MappingInference(from: source, to: destination, options: options)
        guard inference.problems.isEmpty else { throw .mappingNotInferable(inference.problems) }
        return inference.model
    }

    /// Returns the reasons why no mapping model can be inferred for two models; empty if one can.
    ///
    /// They are the reasons that ``inferred(from:to:options:)`` throws, for programs.
    package static func inferenceProblems(
        from source: ManagedObjectModel, to destination: ManagedObjectModel,
        options: InferenceOptions = InferenceOptions()
    ) -> [MappingProblem] {
        MappingInference(from: source, to: destination, options: options).problems
    }
}
