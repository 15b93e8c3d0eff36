internal import RoostCore

/// The treatment of a store whose model differs from the program's.
///
/// ```swift
/// let store = try Store.open(
///     .sqlite("music.sqlite"), model: model, ifIncompatible: .migrate(MigrationOptions()))
/// let covers = try Store.open(
///     .lmdb("covers.lmdb"), model: coverModel, ifIncompatible: .recreate)
/// ```
public enum IncompatibleStoreRule: Sendable {
    /// The store is not opened.
    ///
    /// The error is `modelMismatch` and names the differences.
    case refuse
    /// The store is migrated in place, then opened.
    ///
    /// See `MigrationManager.migrateInPlace(_:model:options:)`.
    case migrate(MigrationOptions)
    /// The store is replaced by an empty store, and its content is lost.
    ///
    /// Use this for stores whose content can be recreated, such as caches. A damaged store is
    /// replaced too. A file is refused and stays unchanged if it is not a store of the type, or has
    /// another format version.
    case recreate
}
