/// Checks of the batches that programs pass to stores.
extension RecordBatch {
    /// Throws unless a cursor over a store of `model` can fill the batch.
    ///
    /// - Throws: `modelMismatch`, because bytes of records have another meaning under another
    ///   model.
    package func requireModel(_ model: ManagedObjectModel) throws(StoreError) {
        guard self.model.hasVersionHashes(of: model) else {
            throw StoreError(
                .modelMismatch,
                "The batch and the records have different models; create the batch with the store's model.")
        }
    }

    /// Throws unless every record can be stored as an object in a store of `model`.
    ///
    /// A record must follow this model, its key must be positive, and its entity must not be
    /// abstract.
    ///
    /// - Throws: `modelMismatch`; `invalidRequest`, with the first invalid record.
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
    /// Throws unless all records can be stored as objects in a store of `model`.
    ///
    /// Does not read the store.
    ///
    /// - Throws: `modelMismatch`, `invalidRequest`.
    package func requireStorable(in location: StoreLocation, of model: ManagedObjectModel) throws(StoreError) {
        try inserts.requireStorable(in: location, of: model)
        try updates.requireStorable(in: location, of: model)
    }
}
