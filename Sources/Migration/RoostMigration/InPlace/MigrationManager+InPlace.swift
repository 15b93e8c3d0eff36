public import RoostCore

extension MigrationManager {
    /// Migrates a store to another model at its own location.
    ///
    /// All or nothing. The new store is created beside the old store and gets its UUID, user
    /// metadata and used keys. Unless ``ConversionOptions/verifies`` is false, it is read again and
    /// compared. Then it replaces the old store in one atomic step. Opening the store, even after a
    /// crash at any time, gives the complete old store or the complete new store. Running the same
    /// migration again finishes it and removes all temporary files.
    ///
    /// While the new store is created, no other process can open the old one, so no commit is lost.
    /// Other processes wait until their timeout. A store on a server stays open to others while a
    /// second store is created, and is not replaced if one of them commits. If several processes
    /// start the same migration at once, one migrates, and the others find the store already
    /// migrated.
    ///
    /// The old store's content, including dropped content, must match the tally of its last commit,
    /// unless ``ConversionOptions/acceptsChanges`` is set.
    ///
    /// A store that is compatible with the model is unchanged, even if there is a mapping model
    /// between equal versions. Use ``migrate(from:to:model:options:)`` for such a mapping.
    ///
    /// An SQLite store can change within its own file, and a PostgreSQL store within its schema, in
    /// one transaction. The requirements are:
    ///
    /// - At least half of the objects and links stay unchanged.
    /// - One migration step reaches the model. The step reads the source in one pass, and has no
    ///   stage with handlers.
    /// - Neither a backup nor ``ConversionOptions/acceptsChanges`` is requested.
    ///
    /// The unchanged tables are read and compared, but not written. No other program can have the
    /// store open meanwhile. A file retains gaps from the rebuilt tables. Tables and views of other
    /// programs remain; on a server, indexes and rights that those programs added to rebuilt tables
    /// are lost. ``MigrationReport/path`` and ``MigrationPlan/path`` show whether the migration
    /// uses one transaction or a new store.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - model: The new model.
    ///   - options: The options. ``MigrationOptions/keepsBackup`` retains the old store. The
    ///     options for a destination in ``MigrationOptions/conversion`` have no effect, except
    ///     ``ConversionOptions/verifies`` and ``ConversionOptions/reservedBytes``.
    /// - Returns: The report. Its ``MigrationReport/path`` is `nothing` if the store already has
    ///   the model.
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
