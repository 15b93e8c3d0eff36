internal import RoostCore

/// The treatment of a store that was made with another model than the program's.
///
/// ```swift
/// let store = try Store.open(
///     .sqlite("music.sqlite"), model: model, ifIncompatible: .migrate(MigrationOptions()))
/// let covers = try Store.open(
///     .lmdb("covers.lmdb"), model: coverModel, ifIncompatible: .recreate)
/// ```
public enum IncompatibleStoreRule: Sendable {
    /// The store is not opened; the error has code `modelMismatch` and names the differences.
    case refuse
    /// The store is migrated in place, then opened; see
    /// ``MigrationManager/migrateInPlace(_:model:options:)``.
    ///
    /// ``MigrationOptions/infersMappingModel`` says whether that may happen without a mapping
    /// model, and ``MigrationOptions/keepsBackup`` whether the old store stays beside the new one.
    case migrate(MigrationOptions)
    /// The store is replaced by an empty store, and its content is lost.
    ///
    /// Use this for stores whose content can be made again, such as caches. A damaged store is
    /// replaced too. A file that is not a store of the type, or that has another version of its
    /// format, stays and is refused.
    case recreate
}
