public import RoostCore

extension MigrationManager {
    /// Migrates a store to another model under its own name, verified, all or nothing.
    ///
    /// The new store is made beside the old store, with its UUID, user metadata and used keys. It
    /// is read again and compared, and then takes the old store's name in one atomic step. Opening
    /// the store, even after a crash at any instant, gives the whole old store or the whole new
    /// store. Running the same migration again finishes it and removes all remains.
    ///
    /// From the first object read until the new store has the name, nothing else can open the
    /// store, so no commit is lost; attempts wait until their timeout. A store on a server stays
    /// open to others, and is not replaced if one of them commits. If several processes start the
    /// same migration at once, one migrates, and the others find it done.
    ///
    /// Without a backup, nothing is left of the old store to examine. So before the migration it is
    /// read once more, and must hold what its last commit recorded.
    ///
    /// A store that is compatible with the model is left alone, even if there is a mapping model
    /// between equal versions; use ``migrate(from:to:model:options:)`` for such a mapping.
    ///
    /// An SQLite store changes within its own file, in one transaction, under three conditions. At
    /// least half of its objects and links stay unchanged, one step of one pass reaches the model,
    /// and no backup is kept. The unchanged tables are read and compared, but not written. The
    /// content and the guarantees are the same; the file keeps gaps from the rebuilt tables, and
    /// what other programs added to it. ``MigrationReport/path`` and the plan say which way is
    /// used.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - model: The new model.
    ///   - options: The options; ``MigrationOptions/keepsBackup`` keeps the old file. The
    ///     destination's options of ``MigrationOptions/conversion`` have no effect, except whether
    ///     to verify.
    /// - Returns: What was done; its ``MigrationReport/path`` is `nothing` for a store that has the
    ///   model.
    /// - Throws: What ``migrate(from:to:model:options:)`` throws, and `busy` if the store is open
    ///   elsewhere, or being migrated, for longer than the timeout, with the process if the system
    ///   reports it; `unsupported` for stores that are neither files nor on a server, and on a file
    ///   system without hard links; `permissionDenied`, also for the file of another user, who
    ///   would lose it; `noSpace`. The store is then unchanged.
    public func migrateInPlace(
        _ location: StoreLocation, model: ManagedObjectModel, options: MigrationOptions = MigrationOptions()
    ) throws(StoreError) -> MigrationReport {
        try InPlaceMigration(location: location, model: model, options: options, registry: registry).run()
    }

    /// Plans ``migrateInPlace(_:model:options:)`` without writing anything.
    ///
    /// - Throws: Whatever keeps the store from being opened, or the way to the model from being
    ///   found; `unknownStoreType`, `unsupported`. Everything else becomes a refusal in the plan.
    public func planMigrationInPlace(
        _ location: StoreLocation, model: ManagedObjectModel, options: MigrationOptions = MigrationOptions()
    ) throws(StoreError) -> MigrationPlan {
        try InPlaceMigration(location: location, model: model, options: options, registry: registry).plan()
    }
}
