internal import RoostCore

/// The way a migration gets from the objects of the source to those of the destination.
package enum MigrationPath: String, Sendable, Hashable, Codable {
    /// There was nothing to do: the store has the model already.
    case nothing
    /// The source is read once, in batches, and each object becomes one object with the same key.
    ///
    /// The objects that the mapping makes are validated:
    ///
    /// - Newly mandatory properties must have a value.
    /// - Mandatory to-one relationships must keep their objects.
    /// - To-many relationships must have as many objects as the new model requires, if it requires
    ///   more than the old model, or if objects are left out.
    ///
    /// Data that already violates an unchanged requirement in the source is copied, as in a commit.
    /// A mandatory relationship that the mapping does not set stays empty, because it has no
    /// default. Many models have such relationships, and their stores must not be lost. A warning
    /// counts the objects.
    case onePass
    /// As ``onePass``, but within the store's own file and in one transaction.
    ///
    /// Unchanged records and links are not written. SQLite stores can migrate in place this way, if
    /// at least half of all objects and links stay.
    case oneTransaction
    /// Objects are made first, then their relationships, then all are validated: for policies, or
    /// if keys change.
    ///
    /// What a policy makes must meet all requirements of the model; other objects must meet those
    /// of one pass.
    case threePasses
}
