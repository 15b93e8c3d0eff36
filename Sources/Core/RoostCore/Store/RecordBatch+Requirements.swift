/// The requirements of stores on the batches that programs give them.
extension RecordBatch {
    /// Checks that a cursor over a store of `model` can fill the batch.
    ///
    /// - Throws: `modelMismatch`, because the bytes of one model would be other values in another.
    package func requireModel(_ model: ManagedObjectModel) throws(StoreError) {
        guard self.model.hasVersionHashes(of: model) else {
            throw StoreError(
                .modelMismatch,
                "The batch was made for another model than that of the records; make one with the model of their store."
            )
        }
    }

    /// Checks that every record can be an object of a store of `model`.
    ///
    /// It follows this model, its key is positive, and its entity is not abstract.
    ///
    /// - Throws: `modelMismatch`; `invalidRequest`, naming the first that cannot.
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
    /// Checks that all records follow the store's model and can be objects.
    ///
    /// The content of the store does not matter.
    ///
    /// - Throws: `modelMismatch`, `invalidRequest`.
    package func requireStorable(in location: StoreLocation, of model: ManagedObjectModel) throws(StoreError) {
        try inserts.requireStorable(in: location, of: model)
        try updates.requireStorable(in: location, of: model)
    }
}
