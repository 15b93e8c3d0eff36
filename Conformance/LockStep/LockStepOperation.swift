package import RoostCore

/// One operation of a random sequence: a change that the next commit writes, a commit, a read, an
/// opening.
///
/// Each means the same whatever came before: it names its objects by their IDs, and a change that
/// does not fit the state is refused, by every store alike. So any operations may be left out of a
/// sequence, and what remains is a sequence.
package enum LockStepOperation: Hashable, Sendable {
    // MARK: Changes, gathered until something writes them

    /// Adds a new object.
    case insert(ObjectID, [String: Value])
    /// Replaces all values of an object, from its current version or from one that it has not.
    case update(ObjectID, [String: Value], isStale: Bool)
    /// Deletes an object at its current version or at one that it has not.
    case delete(ObjectID, isStale: Bool)
    /// Requires that an object has its current version, or a version that it does not have.
    case requireUnchanged(ObjectID, isStale: Bool)
    /// Requires that an object exists after the commit.
    case requireExisting(ObjectID)
    /// Requires that nothing refers to the objects that the commit deletes.
    case requireUnreferencedDeletes
    /// Adds a link.
    case link(Link, RelationshipName)
    /// Removes a link.
    case unlink(Link, RelationshipName)
    /// Sets or removes a value of the user's metadata.
    case setMetadata(String, MetadataValue?)

    // MARK: Writing

    /// Commits the changes gathered so far.
    case commit
    /// Loads the inserts and links gathered so far with a bulk loader and drops the other changes.
    case load(finishes: Bool)
    /// Reserves keys.
    case reserveKeys(Int, EntityName)

    // MARK: Reading

    /// Scans an entity, after a key if given.
    case scan(EntityName, after: Int64?)
    /// Reads objects by ID.
    case read([ObjectID])
    /// Walks a to-many relationship from one object.
    case walk(RelationshipName, ObjectID)
    /// Fetches and counts.
    case fetch(FetchRequest)

    // MARK: Views and openings

    /// Takes a snapshot and keeps it under a number, unless that is taken.
    case openSnapshot(Int)
    /// Compares a kept snapshot with what it must show, and closes it.
    case closeSnapshot(Int)
    /// Closes and opens the store; kept snapshots are closed first.
    case reopen
    /// As ``reopen``, and opens it read-only in between, where a commit must be refused.
    case reopenReadOnly
}
