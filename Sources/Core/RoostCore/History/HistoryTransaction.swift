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
        /// All new objects are listed.
        case load
        /// A bulk load into an empty store, or a migration.
        ///
        /// No objects are listed, because every object may be new.
        case wholeLoad
        /// An acceptance of changes that another program made.
        ///
        /// No objects are listed, because every object may have changed.
        case acceptedChanges
    }

    /// The token for reading the transactions after this one.
    ///
    /// If ``isComplete`` is false, this is the token of the previous transaction, so that no change
    /// is skipped.
    public package(set) var token: HistoryToken
    /// The time of the transaction; never earlier than the time of a previous transaction.
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
    /// Links that already had the requested state, or were removed with a deleted object, are not
    /// listed.
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
    /// A to-one relationship is also listed if only the object's place in the ordered inverse
    /// changed. Empty for inserts and deletes.
    public package(set) var changedProperties: [String]
    /// The last values of a deleted object, for the attributes with
    /// ``AttributeDescription/preservesValueInHistoryOnDeletion``.
    public package(set) var preservedValues: [String: Value]
}

/// A link that a transaction added, moved or removed.
public struct HistoryLinkChange: Sendable, Hashable {
    /// The relationship that owns the link.
    public let relationship: RelationshipName
    /// The source, with the entity that the relationship declares.
    public let source: ObjectID
    /// The target, with the entity that the relationship declares.
    public let target: ObjectID
    /// Whether the link was added or moved; false if it was removed.
    public let isAdded: Bool
}
