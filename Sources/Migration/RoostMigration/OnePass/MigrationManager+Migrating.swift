public import RoostCore

extension MigrationManager {
    /// Creates a store of any type, with another model, from the content of a store.
    ///
    /// ``MigrationOptions/mapping`` defines how objects become objects of the new model. If it is
    /// nil, a mapping model is inferred. The source is read in one pass, in batches, if each object
    /// can be migrated on its own, without a policy, and can keep its key. Otherwise, the migration
    /// takes three passes.
    ///
    /// - In one pass, objects keep their keys and versions. An object is written again each time
    ///   its derived attributes change, which adds 1 to its version.
    /// - In three passes, an object keeps its key if its hierarchy gets objects from one hierarchy
    ///   only and the key is free. It keeps its version until a policy or a rebuilt relationship
    ///   needs objects that are already written. From then on, objects are committed, and the store
    ///   numbers their versions: a new object starts at 1, and each rewrite adds 1.
    ///
    /// The store's UUID, the user metadata and the last used keys are preserved. In a relationship
    /// that becomes ordered, objects are in key order. Unless ``ConversionOptions/verifies`` is
    /// false, the finished destination is read again and compared with the digest of the mapped
    /// content. Then it is published, atomically. After an error or a cancellation, no part of the
    /// destination remains, except in an open destination store, which should be discarded. A
    /// source given by location is opened read-only.
    ///
    /// - Parameters:
    ///   - source: The store to migrate, which provides its own model.
    ///   - destination: The new store. An open, empty store must have the new model.
    ///   - model: The new model.
    ///   - options: The options.
    /// - Returns: The report.
    /// - Throws: `mappingNotInferable` with all reasons; `invalidMappingModel`; `lossRefused`;
    ///   `migrationFailed`, naming entity, property and object, for a mandatory attribute without a
    ///   value, a mandatory to-one relationship to a dropped object, a to-many relationship with
    ///   too few or too many objects, a value that does not fit its new type, or an object in two
    ///   pairs of a relationship with a to-one inverse, and for errors of a policy;
    ///   `constraintViolation` if objects violate a new uniqueness constraint; errors of
    ///   ``convert(from:to:options:)``.
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
    /// Counts the objects of each entity mapping, and searches for objects that would make the
    /// migration fail.
    ///
    /// - Parameters:
    ///   - source: The store to migrate.
    ///   - destination: The new store.
    ///   - model: The new model.
    ///   - options: The options.
    /// - Returns: The plan, with refusals if the migration would fail.
    /// - Throws: `unknownStoreType`; errors from opening and reading the source. Errors about the
    ///   models, the mapping or the objects are refusals in the plan.
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
