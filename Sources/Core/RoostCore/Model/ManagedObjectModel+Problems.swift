extension ManagedObjectModel {
    /// Returns the problems that prevent a model from being built; empty for a valid model.
    package static func problems(
        entities: [EntityDescription], configurations: [String: [String]] = [:],
        fetchRequestTemplates: [FetchRequestTemplate] = []
    ) -> [ModelProblem] {
        ModelValidator.problems(
            entities: entities, configurations: configurations, fetchRequestTemplates: fetchRequestTemplates)
    }
}
