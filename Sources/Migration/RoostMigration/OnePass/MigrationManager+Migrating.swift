public import RoostCore

extension MigrationManager {
    /// Makes a store of another model, of any type, from the content of a store, verified, all or
    /// nothing.
    ///
    /// ``MigrationOptions/mapping`` says how objects become objects of the new model; without one
    /// it is inferred from the two models. If no policy is used and every object keeps its key, the
    /// source is read in one pass, in batches, with bounded memory; otherwise in three passes.
    ///
    /// - In one pass, objects keep their keys and versions.
    /// - In three passes, an object keeps its key if its hierarchy takes objects of one hierarchy
    ///   only. It keeps its version until a policy or a rebuilt relationship needs what was
    ///   written. From then on objects are committed, and the store numbers their versions: a new
    ///   object begins at 1, and each rewrite adds 1.
    ///
    /// The store's UUID, the user's metadata and the keys that count as used are carried over. In a
    /// relationship that becomes ordered, objects are in the order of their keys. The digest of
    /// what the mapping made is compared with the finished destination, which is read again; only
    /// then does the destination get its name, atomically. After an error or a cancellation nothing
    /// is left of it. The exception is a destination that is an open store: it may keep what was
    /// written to it by then, and should be discarded. The source is opened read-only.
    ///
    /// - Parameters:
    ///   - source: The store to migrate; its model comes from itself.
    ///   - destination: The new store. An open, empty store must have the new model.
    ///   - model: The new model.
    ///   - options: The options.
    /// - Returns: What was done.
    /// - Throws: `mappingNotInferable` with every reason at once; `invalidMappingModel`;
    ///   `migrationFailed` for a mandatory attribute without a value, a mandatory to-one
    ///   relationship whose object is left out, and a value that does not fit its new type, naming
    ///   entity, property and object, where an object would be in two pairs of a relationship with
    ///   a to-one inverse, and for what a policy throws; `constraintViolation` where objects
    ///   collide under a new uniqueness constraint; what ``convert(from:to:options:)`` throws.
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

    /// Plans ``migrate(from:to:model:options:)`` without writing anything.
    ///
    /// Counts the objects of each entity mapping, and the objects that would end the migration
    /// because a mandatory attribute has no value.
    ///
    /// - Parameters:
    ///   - source: The store to migrate.
    ///   - destination: The new store.
    ///   - model: The new model.
    ///   - options: The options.
    /// - Returns: The plan, with refusals where the migration would fail.
    /// - Throws: The error that prevents opening the source, and `unknownStoreType`. Every other
    ///   error becomes a refusal in the plan.
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
