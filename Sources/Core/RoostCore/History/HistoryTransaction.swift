public import Foundation

/// The changes of one transaction, such as a commit, in the history of a store.
///
/// ```swift
/// for transaction in try store.history(after: token) {
///     print(transaction.date, transaction.author ?? "unknown")
///     for change in transaction.changes { print(change.kind, change.id) }
/// }
/// ```
public struct HistoryTransaction: Sendable, Hashable {
    /// The operation that created a transaction.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// A commit, including one by a batch request.
        case commit
        /// A bulk load, such as a large batch insert, into a store that already contained objects.
        ///
        /// ``HistoryTransaction/changes`` lists all new objects.
        case load
        /// A bulk load into an empty store, or a migration.
        ///
        /// ``HistoryTransaction/changes`` is empty, because every object may be new.
        case wholeLoad
        /// An acceptance of changes that another program made.
        ///
        /// ``HistoryTransaction/changes`` is empty, because every object may have changed.
        case acceptedChanges
    }

    /// The token for reading the transactions that follow this transaction.
    ///
    /// If ``isComplete`` is false, this is the token of the previous transaction, so that reading
    /// after the token repeats this transaction.
    public package(set) var token: HistoryToken
    /// The time of the transaction; never earlier than the times of previous transactions.
    public package(set) var date: Date
    /// The author that the writer specified.
    public let author: String?
    /// The name of the context that made the changes.
    public let contextName: String?
    /// The operation.
    public let kind: Kind
    /// The changed objects.
    ///
    /// A commit lists updates, then deletes, then inserts, each sorted by root entity and key.
    public package(set) var changes: [HistoryChange]
    /// The links that the writer added, moved and removed.
    ///
    /// The list omits links that already had the requested state, and links that the store removed
    /// because it deleted an object.
    public package(set) var linkChanges: [HistoryLinkChange]
    /// Whether this value contains the end of the transaction.
    ///
    /// A large transaction is read as several values, to limit the use of memory.
    public let isComplete: Bool
}

/// The change of one object in a transaction of the history.
public struct HistoryChange: Sendable, Hashable {
    /// The kind of a change.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The object was inserted.
        case insert
        /// The object was updated.
        case update
        /// The object was deleted.
        case delete
    }

    /// The object.
    public let id: ObjectID
    /// The kind of the change.
    public let kind: Kind
    /// The names of the attributes and to-one relationships that an update changed, sorted.
    ///
    /// The list is empty for inserts and deletes. A changed position in an ordered inverse counts
    /// as a change of the to-one relationship.
    public package(set) var changedProperties: [String]
    /// The last values of a deleted object, for the attributes with
    /// ``AttributeDescription/preservesValueInHistoryOnDeletion``.
    public package(set) var preservedValues: [String: Value]
}

/// A link that a transaction added, moved or removed.
public struct HistoryLinkChange: Sendable, Hashable {
    /// The relationship that owns the link.
    public let relationship: RelationshipName
    /// The ID of the source object.
    ///
    /// Its entity is the relationship's source entity, even if the object belongs to a subentity.
    public let source: ObjectID
    /// The ID of the target object.
    ///
    /// Its entity is the relationship's destination entity, even if the object belongs to a
    /// subentity.
    public let target: ObjectID
    /// Whether the link was added or moved; false if it was removed.
    public let isAdded: Bool
}
