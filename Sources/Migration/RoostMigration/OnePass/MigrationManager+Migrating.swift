public import RoostCore

extension MigrationManager {
    /// Makes a store of another model, of any type, out of what a store holds, verified, all or nothing.
    ///
    /// ``MigrationOptions/mapping`` says how objects become objects of the new model; without one it is inferred from the two models.
    /// Where no policy takes part and every object keeps its key, the source goes through in one pass, in batches, with bounded
    /// memory; otherwise in three passes. In one pass objects keep their keys and versions. In three, an object keeps its key where its hierarchy
    /// takes objects of one hierarchy only, and its version until a policy or a relationship that must be made anew looks at what was written:
    /// from then on objects are committed, and it is the store that numbers a commit's versions. A new object begins at 1 there, and one that is written
    /// again counts one more. The store's UUID, the user's metadata and the keys that count as used are carried over. In a relationship
    /// that becomes ordered, objects stand in the order of their keys. The digest of what the mapping made is compared with the finished
    /// destination, which is read again; only then the destination gets its name, atomically. After an error or a cancellation nothing
    /// is left of it, but for an open store that was given: what was written to it by then may stay, and it is to be discarded. The source
    /// is opened read-only.
    ///
    /// - Parameters:
    ///   - source: The store to migrate; its model comes from itself.
    ///   - destination: Where the new store goes. An open, empty store must have the new model.
    ///   - model: The new model.
    ///   - options: How.
    /// - Returns: What was done.
    /// - Throws: `mappingNotInferable` with every reason at once; `invalidMappingModel`; `migrationFailed` for a mandatory attribute
    ///   without a value, a mandatory to-one relationship whose object is left out, and a value that does not fit its new type, naming
    ///   entity, property and object, where an object would be in two pairs of a relationship with a to-one inverse, and for what a policy
    ///   throws;
    ///   `constraintViolation` where objects collide under a new uniqueness constraint; what ``convert(from:to:options:)`` throws.
    public func migrate(
        from source: ConversionEndpoint, to destination: ConversionEndpoint, model: ManagedObjectModel,
        options: MigrationOptions = MigrationOptions()
    ) throws(StoreError) -> MigrationReport {
        if options.hasVersions {
            return try ChainMigration(
                source: source, destination: destination, model: model, options: options, registry: registry
            ).run()
        }
        return try StoreMigration(from: source, to: destination, model: model, options: options, registry: registry)
            .run()
    }

    /// What ``migrate(from:to:model:options:)`` would do, found out without writing anything.
    ///
    /// Counts the objects of each entity mapping, and those that would end the migration because a mandatory attribute has no value.
    /// - Throws: Whatever keeps the source from being opened, and `unknownStoreType`. Everything else becomes a refusal in the plan.
    public func planMigration(
        from source: ConversionEndpoint, to destination: ConversionEndpoint, model: ManagedObjectModel,
        options: MigrationOptions = MigrationOptions()
    ) throws(StoreError) -> MigrationPlan {
        if options.hasVersions {
            return try ChainMigration(
                source: source, destination: destination, model: model, options: options, registry: registry
            ).plan()
        }
        return try StoreMigration(from: source, to: destination, model: model, options: options, registry: registry)
            .plan()
    }
}
