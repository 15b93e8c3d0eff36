internal import RoostCore

/// The path of a migration from the source's objects to the destination's.
package enum MigrationPath: String, Sendable, Hashable, Codable {
    /// The store already has the model.
    case nothing
    /// The source is read once, in batches, and each migrated object keeps its key.
    ///
    /// The resulting objects are validated:
    ///
    /// - Newly mandatory properties must have a value.
    /// - Mandatory to-one relationships must keep their destinations.
    /// - To-many relationships must respect the new model's limits, if these are stricter than the
    ///   old model's or if objects are left out.
    ///
    /// Data that violates a requirement in the source is copied if the requirement is unchanged. A
    /// mandatory relationship that the mapping does not set stays empty. A warning reports the
    /// number of objects with such a relationship.
    case onePass
    /// Like ``onePass``, but within the store itself and in one transaction.
    ///
    /// Unchanged records and links are not written.
    case oneTransaction
    /// Objects are created first, then relationships, and then all objects are validated.
    ///
    /// Used for policies, new keys and other obstacles to one pass. Objects from a policy must meet
    /// all requirements of the model. Other objects must meet the requirements of ``onePass``.
    case threePasses
}
