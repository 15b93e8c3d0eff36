/// How a migration gets from the objects of the source to those of the destination.
public enum MigrationPath: String, Sendable, Hashable, Codable {
    /// There was nothing to do: the store has the model already.
    case nothing
    /// The source is read once, in batches, and each object becomes one object with the same key.
    case onePass
    /// Objects are made first, then their relationships, then everything is validated: where policies take part, or keys change.
    case threePasses
}
