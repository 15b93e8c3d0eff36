/// What takes part in the migration of the objects of one entity mapping.
open class EntityMigrationPolicy {
    /// Makes a policy.
    public init() {}
}
