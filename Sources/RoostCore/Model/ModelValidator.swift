/// Finds everything that is wrong with a model's description.
enum ModelValidator {
    /// All problems, in the order of entities and properties; empty for a valid model.
    static func problems(
        entities: [EntityDescription], configurations: [String: [String]],
        fetchRequestTemplates: [FetchRequestTemplate]
    ) -> [ModelProblem] {
        []
    }
}
