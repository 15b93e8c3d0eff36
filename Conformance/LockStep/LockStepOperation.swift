package import RoostCore

/// One operation of a random sequence, for example a change, a commit, a read or a reopening.
///
/// An operation does not depend on earlier operations: it names its objects by their IDs, and is
/// refused or has no effect if it does not fit the state. So a sequence stays valid if any
/// operations are left out.
package enum LockStepOperation: Hashable, Sendable {
    // MARK: Changes, collected until the next commit or load

    case insert(ObjectID, [String: Value])
    /// Replaces all values of an object, expecting its current version or a wrong one.
    case update(ObjectID, [String: Value], isStale: Bool)
    /// Deletes an object, expecting its current version or a wrong one.
    case delete(ObjectID, isStale: Bool)
    /// Requires that an object is unchanged, expecting its current version or a wrong one.
    case requireUnchanged(ObjectID, isStale: Bool)
    /// Requires that an object exists after the commit.
    case requireExisting(ObjectID)
    /// Requires that nothing refers to the objects that the commit deletes.
    case requireUnreferencedDeletes
    case link(Link, RelationshipName)
    case unlink(Link, RelationshipName)
    /// Sets or removes a value of the user's metadata.
    case setMetadata(String, MetadataValue?)

    // MARK: Writing

    /// Commits the gathered changes.
    case commit
    /// Loads the gathered inserts and valid links with a bulk loader, and drops the other changes.
    case load(finishes: Bool)
    case reserveKeys(Int, EntityName)

    // MARK: Reading

    case scan(EntityName, after: Int64?)
    case read([ObjectID])
    /// Walks a to-many relationship from one object.
    case walk(RelationshipName, ObjectID)
    /// Fetches and counts.
    case fetch(FetchRequest)

    // MARK: Snapshots and reopening

    /// Takes a snapshot and keeps it under a number, unless the number is in use.
    case openSnapshot(Int)
    /// Compares an open snapshot with its expected content, and closes it.
    case closeSnapshot(Int)
    /// Closes the snapshots, then closes and reopens the store.
    case reopen
    /// Reopens the store read-only, requires that a commit fails, and reopens it for writing.
    case reopenReadOnly
}
