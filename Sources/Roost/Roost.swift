@_exported public import RoostCore
@_exported public import RoostMigration

/// The version of Roost.
public let roostVersion = "0.1.0"
