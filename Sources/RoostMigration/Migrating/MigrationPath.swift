/// How a migration gets from the objects of the source to those of the destination.
public enum MigrationPath: String, Sendable, Hashable, Codable {
    /// There was nothing to do: the store has the model already.
    case nothing
    /// The source is read once, in batches, and each object becomes one object with the same key.
    ///
    /// Validated is what changes: mandatory attributes must get values, relationships that were there before must have as many objects
    /// as the new model asks for where it asks for more than the old one, or objects are left out. A relationship that is new is empty,
    /// mandatory or not: there is no default for it.
    ///
    /// Mandatory attributes must get values, and mandatory to-one relationships keep their objects. A relationship that is new, or was
    /// empty, stays empty, mandatory or not: there is no default for it. Nothing else is validated, as in a commit.
    case onePass
    /// As ``onePass``, but within the store's own file and in one transaction: records and links that stay as they are are not written.
    ///
    /// That is a way to migrate SQLite stores in place, taken where at least half of all objects and links stay.
    case oneTransaction
    /// Objects are made first, then their relationships, then everything is validated: where policies take part, or keys change.
    case threePasses
}
