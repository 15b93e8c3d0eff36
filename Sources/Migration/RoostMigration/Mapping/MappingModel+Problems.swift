public import RoostCore

extension MappingModel {
    /// Returns all problems of the mapping model for two models, in the order of the mappings.
    package func problems(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingProblem] {
        var validator = MappingValidator(self, from: source, to: destination)
        validator.check()
        return validator.problems
    }

    /// Throws all problems for two models in one `invalidMappingModel` error.
    public func requireValid(
        from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) throws(StoreError) {
        let problems = problems(from: source, to: destination)
        guard problems.isEmpty else { throw .invalidMappingModel(problems) }
    }
}
