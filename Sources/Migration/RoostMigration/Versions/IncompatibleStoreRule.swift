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
    /// It is not opened: code `modelMismatch`, with what differs.
    case refuse
    /// It is migrated in place, then opened; see
    /// ``MigrationManager/migrateInPlace(_:model:options:)``.
    ///
    /// ``MigrationOptions/infersMappingModel`` says whether that may happen without a mapping
    /// model, and ``MigrationOptions/keepsBackup`` whether the old store stays beside the new one.
    case migrate(MigrationOptions)
    /// It is replaced by an empty store, and its content is lost.
    ///
    /// For stores whose content can be had again, such as caches. A damaged store is replaced too.
    /// A file that is not a store of the type, or that has another version of its format, stays and
    /// is refused.
    case recreate
}
