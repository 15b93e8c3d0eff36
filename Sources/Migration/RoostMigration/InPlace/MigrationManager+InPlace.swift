public import RoostCore

extension MigrationManager {
    /// Brings a store to another model under its own name, verified, all or nothing.
    ///
    /// The new store is made beside the old one, with its UUID, user metadata and used keys, read again and compared, and takes its place
    /// in one atomic step (reference §6.7, RELIABILITY §3.4): whoever opens the store, also after a crash at any instant, finds the
    /// whole old one or the whole new one, and running the same migration again finishes it and leaves nothing behind. From the first
    /// object that is read to the new name nobody else can open the store, so that no commit is lost; who tries waits for the timeout.
    /// Of several processes that begin at once one migrates and the others find it done.
    ///
    /// Without a backup the store is read once more before, since nobody could look at the old one any more: what it holds must be what its
    /// last commit recorded.
    ///
    /// A store that is compatible with the model is left alone, also where there is a mapping model between equal versions: that one
    /// is for ``migrate(from:to:model:options:)``.
    ///
    /// An SQLite store changes within its own file, in one transaction, where at least half of its objects and links stay as they are, one
    /// step of one pass leads to the model, and no backup is to be kept: their tables are read and compared, and not written. The
    /// content is the same, and so is everything said here; the file keeps the gaps of the tables that were made anew, and what other
    /// programs added to it. ``MigrationReport/path`` and the plan say which way it is.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - model: The model that it shall have.
    ///   - options: How; ``MigrationOptions/keepsBackup`` keeps the old file. The destination's options of
    ///     ``MigrationOptions/conversion`` are not used, and the store is verified as they say.
    /// - Returns: What was done; its ``MigrationReport/path`` is `nothing` for a store that has the model.
    /// - Throws: What ``migrate(from:to:model:options:)`` throws, and `busy`, naming the process as far as the system tells, when somebody
    ///   has the store open, or migrates it, for longer than the timeout; `unsupported` for stores that are no files, and on a file
    ///   system without hard links; `permissionDenied`, also for the file of another user, who would lose it; `noSpace`. The store is as
    ///   it was.
    public func migrateInPlace(
        _ location: StoreLocation, model: ManagedObjectModel, options: MigrationOptions = MigrationOptions()
    ) throws(StoreError) -> MigrationReport {
        try InPlaceMigration(location: location, model: model, options: options, registry: registry).run()
    }

    /// What ``migrateInPlace(_:model:options:)`` would do, found out without writing anything.
    ///
    /// - Throws: Whatever keeps the store from being opened, or the way to the model from being found; `unknownStoreType`, `unsupported`.
    ///   Everything else becomes a refusal in the plan.
    public func planMigrationInPlace(
        _ location: StoreLocation, model: ManagedObjectModel, options: MigrationOptions = MigrationOptions()
    ) throws(StoreError) -> MigrationPlan {
        try InPlaceMigration(location: location, model: model, options: options, registry: registry).plan()
    }
}
