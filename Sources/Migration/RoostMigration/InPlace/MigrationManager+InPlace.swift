public import RoostCore

extension MigrationManager {
    /// Migrates a store to another model at its own location.
    ///
    /// The new store is created beside the old store, with the old store's UUID, user metadata and
    /// used keys. Unless ``ConversionOptions/verifies`` is false, the new store is read again and
    /// compared with the expected content. Then the new store replaces the old store in one atomic
    /// step. After a crash at any time, opening the store gives the complete old store or the
    /// complete new store. Running the same migration again then finishes it and removes all
    /// temporary files.
    ///
    /// While the new store is created, other processes cannot open the old store, and wait until
    /// their timeout. However, a store on a server stays open to them. If one of them commits, the
    /// store on the server is not replaced. So no commit is lost. If several processes start the
    /// same migration at once, one migrates, and the others find the store already migrated.
    ///
    /// The old store's content, including dropped content, must match the tally of its last commit,
    /// unless ``ConversionOptions/acceptsChanges`` is set.
    ///
    /// A store that is already compatible with the model stays unchanged, even if the options
    /// contain a mapping model. To apply that mapping model, use
    /// ``migrate(from:to:model:options:)``.
    ///
    /// An SQLite store can change within its own file, and a PostgreSQL store within its schema, in
    /// one transaction. The requirements are:
    ///
    /// - At least half of the objects and links stay unchanged.
    /// - One migration step reaches the model. The step reads the source in one pass, and has no
    ///   stage with handlers.
    /// - Neither a backup nor ``ConversionOptions/acceptsChanges`` is requested.
    ///
    /// Unchanged tables are read and compared, but not written. During the transaction, no other
    /// program can have the store open. The file of an SQLite store keeps gaps where rebuilt tables
    /// were. Tables and views of other programs remain. On a server, indexes and rights that those
    /// programs added to rebuilt tables are lost. ``MigrationReport/path`` and
    /// ``MigrationPlan/path`` show whether the migration uses one transaction or a new store.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - model: The new model.
    ///   - options: The options. Those for a destination in ``MigrationOptions/conversion`` have no
    ///     effect, except ``ConversionOptions/verifies`` and ``ConversionOptions/reservedBytes``.
    /// - Returns: The report; its path is `nothing` if the store already has the model.
    /// - Throws: The errors of ``migrate(from:to:model:options:)``; `busy` (naming the process if
    ///   the system reports it) if the store is open elsewhere or being migrated for longer than
    ///   the timeout; `unsupported` for stores that are neither files nor on a server, on a file
    ///   system without hard links, and for a file with tables of other programs if the migration
    ///   makes a new file and keeps no backup; `permissionDenied`, also if the new file would not
    ///   belong to the old owner; `noSpace`; `invalidRequest` if the options skip damaged objects.
    ///   After an error other than `ioFailure`, the store is unchanged.
    public func migrateInPlace(
        _ location: StoreLocation, model: ManagedObjectModel, options: MigrationOptions = MigrationOptions()
    ) throws(StoreError) -> MigrationReport {
        try InPlaceMigration(location: location, model: model, options: options, registry: registry).run()
    }

    /// Plans ``migrateInPlace(_:model:options:)`` without writing anything.
    ///
    /// - Throws: `unknownStoreType`, `unsupported`, `invalidRequest`; errors from reading the store
    ///   or finding the path to the model. Other reasons to refuse the migration are in the plan.
    public func planMigrationInPlace(
        _ location: StoreLocation, model: ManagedObjectModel, options: MigrationOptions = MigrationOptions()
    ) throws(StoreError) -> MigrationPlan {
        try InPlaceMigration(location: location, model: model, options: options, registry: registry).plan()
    }
}
