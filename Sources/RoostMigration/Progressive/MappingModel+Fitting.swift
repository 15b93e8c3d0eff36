internal import RoostCore

extension MappingModel {
    /// Throws code `invalidMappingModel`, with every reason, unless the mapping model fits both models.
    func requireFitting(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws(StoreError) {
        let problems = problems(from: source, to: destination)
        guard problems.isEmpty else { throw .invalidMappingModel(problems) }
    }
}
