internal import RoostCore

/// How a migration gets from the objects of the source to those of the destination.
package enum MigrationPath: String, Sendable, Hashable, Codable {
    /// There was nothing to do: the store has the model already.
    case nothing
    /// The source is read once, in batches, and each object becomes one object with the same key.
    ///
    /// Validated is what the mapping makes of the objects: what is mandatory and was not before must have a value, mandatory to-one
    /// relationships keep their objects, and to-many relationships have as many objects as the new model asks for where it asks for more
    /// than the old one, or objects are left out. What the source lacks under the same demand is taken over, as a commit would take it. A
    /// mandatory relationship of which the mapping says nothing stays empty, since there is no default for it: many models came to be that way, whose stores
    /// must not be lost. A warning counts the objects.
    case onePass
    /// As ``onePass``, but within the store's own file and in one transaction: records and links that stay as they are are not written.
    ///
    /// That is a way to migrate SQLite stores in place, taken where at least half of all objects and links stay.
    case oneTransaction
    /// Objects are made first, then their relationships, then all are validated: where policies take part, or keys change.
    ///
    /// What a policy makes must have all that the model demands; of other objects is demanded what one pass demands of them.
    case threePasses
}
