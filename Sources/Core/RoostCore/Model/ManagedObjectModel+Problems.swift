extension ManagedObjectModel {
    /// Everything that would keep a model of these parts from being built; empty for a valid one.
    package static func problems(
        entities: [EntityDescription], configurations: [String: [String]] = [:],
        fetchRequestTemplates: [FetchRequestTemplate] = []
    ) -> [ModelProblem] {
        ModelValidator.problems(
            entities: entities, configurations: configurations, fetchRequestTemplates: fetchRequestTemplates)
    }
}
