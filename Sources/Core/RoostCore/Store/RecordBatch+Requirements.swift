extension RecordBatch {
    /// Throws `modelMismatch` unless a cursor over a store of `model` can fill the batch.
    package func requireModel(_ model: ManagedObjectModel) throws(StoreError) {
        guard self.model.hasVersionHashes(of: model) else {
            throw StoreError(
                .modelMismatch,
                "The batch and the records have different models; create the batch with the store's model.")
        }
    }

    /// Throws `modelMismatch` or `invalidRequest` unless a store of `model` can store every record.
    package func requireStorable(in location: StoreLocation, of model: ManagedObjectModel) throws(StoreError) {
        guard self.model.hasVersionHashes(of: model) else { throw .recordsOfOtherModel(than: location) }
        for index in 0..<entries.count {
            let entry = entries[index]
            guard entry.key > 0 else {
                throw StoreError(
                    .invalidRequest,
                    "The key of \(ObjectID(model.entities[Int(entry.entity)].name, key: entry.key)) is not positive; reserve keys from the store."
                )
            }
            guard !model.entities[Int(entry.entity)].isAbstract else {
                throw StoreError(
                    .invalidRequest,
                    "Entity '\(model.entities[Int(entry.entity)].name)' is abstract, so p\(entry.key) cannot be an object of it; make one of a subentity."
                )
            }
        }
    }
}

extension ChangeSet {
    package func requireStorable(in location: StoreLocation, of model: ManagedObjectModel) throws(StoreError) {
        try inserts.requireStorable(in: location, of: model)
        try updates.requireStorable(in: location, of: model)
    }
}
