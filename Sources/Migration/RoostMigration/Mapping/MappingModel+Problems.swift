public import RoostCore

extension MappingModel {
    /// What is wrong with the mapping model for two models, all at once; empty when objects can be migrated with it.
    ///
    /// Names that mean nothing (with the nearest one that does), version hashes of other versions, types that miss or have too much,
    /// expressions and predicates with errors, or with values that their property cannot hold.
    ///
    /// - Parameters:
    ///   - source: The model of the objects as they are.
    ///   - destination: The model that they shall have.
    /// - Returns: The problems, in the order of the mappings.
    package func problems(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingProblem] {
        var validator = MappingValidator(self, from: source, to: destination)
        validator.check()
        return validator.problems
    }

    /// Throws all problems for two models as one error of code `invalidMappingModel`.
    public func requireValid(
        from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) throws(StoreError) {
        let problems = problems(from: source, to: destination)
        guard problems.isEmpty else { throw .invalidMappingModel(problems) }
    }
}
