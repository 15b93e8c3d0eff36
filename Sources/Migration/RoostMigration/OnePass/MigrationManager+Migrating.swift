public import RoostCore

extension MigrationManager {
    /// Creates a store of any type, with another model, from the content of a store.
    ///
    /// If ``MigrationOptions/mapping`` is nil, a mapping model is inferred. The migration takes one
    /// pass over the source if no mapping has a policy, and each object can be migrated
    /// individually and keeps its key. Otherwise, it takes three passes.
    ///
    /// - In one pass, objects keep their keys and versions. If the derived attributes of a written
    ///   object change, the object is rewritten and its version grows by 1.
    /// - In three passes, an object keeps its key if the key is free and its new hierarchy gets
    ///   objects from only one source hierarchy. Objects keep their versions until a policy or the
    ///   creation of a relationship needs objects that are already written. Objects written after
    ///   that start at version 1, and each rewrite adds 1.
    ///
    /// The store's UUID, the user metadata and the last used keys are preserved. In a relationship
    /// that becomes ordered, objects are in key order. If ``ConversionOptions/verifies`` is true,
    /// the finished destination is read again and compared with the digest of the mapped content
    /// before publication. The destination is published atomically. After an error or a
    /// cancellation, a new destination is removed. An open destination store may keep a part of the
    /// content and should be discarded. A source given by location is opened read-only.
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
    ///   too few or too many objects, a value that does not fit its new type, or a to-one
    ///   relationship that would get two objects; `migrationFailed` with a policy's error as the
    ///   underlying error, if that error is not a `StoreError`; `constraintViolation` if objects
    ///   violate a new uniqueness constraint; errors of ``convert(from:to:options:)``.
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
