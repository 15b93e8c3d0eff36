@_exported public import RoostCore
@_exported public import RoostMigration
@_exported public import RoostQuery
@_exported public import RoostStores

/// The version of Roost.
public let roostVersion = "0.1.0"
