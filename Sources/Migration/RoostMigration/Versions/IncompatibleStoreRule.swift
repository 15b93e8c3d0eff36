internal import RoostCore

/// What becomes of a store that was made with another model than the program's.
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
    /// It is migrated in place, then opened; see ``MigrationManager/migrateInPlace(_:model:options:)``.
    ///
    /// ``MigrationOptions/infersMappingModel`` says whether that may happen without a mapping model, and
    /// ``MigrationOptions/keepsBackup`` whether the old store stays beside the new one.
    case migrate(MigrationOptions)
    /// Its content is given up: an empty store takes its place.
    ///
    /// For stores whose content can be had again, such as caches. So is a store that is damaged. A file
    /// that is no store of the type at all, or one of another version of its format, stays and is refused.
    case recreate
}
