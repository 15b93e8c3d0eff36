public import Foundation

/// The changes of one commit, batch request, bulk load or merge in the history of a store.
///
/// ```swift
/// for transaction in try store.history(after: token) {
///     print(transaction.date, transaction.author ?? "unknown")
///     for change in transaction.changes { print(change.kind, change.id) }
/// }
/// ```
public struct HistoryTransaction: Sendable, Hashable {
    /// The operation that a transaction comes from.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// A commit or a batch request.
        case commit
        /// A bulk load into a store that had objects before.
        ///
        /// All new objects are listed.
        case load
        /// A bulk load into an empty store, or a migration.
        ///
        /// Every object may be new, so none is listed.
        case wholeLoad
        /// Changes of another program were accepted.
        ///
        /// Every object may have changed, so none is listed.
        case acceptedChanges
    }

    /// The token after which reading continues.
    ///
    /// If ``isComplete`` is false, it is the token before the transaction, so that no change is
    /// skipped.
    public package(set) var token: HistoryToken
    /// The time of the transaction; never before that of an earlier transaction of the store.
    public package(set) var date: Date
    /// The author, as the writer gave it.
    public let author: String?
    /// The name of the context that made the changes.
    public let contextName: String?
    /// The operation.
    public let kind: Kind
    /// The changed objects: updates, deletes and inserts, each in the order of their keys.
    public package(set) var changes: [HistoryChange]
    /// The links that the writer added and removed.
    ///
    /// A link that was as the writer wanted it is not listed. Links that a delete takes along are
    /// not listed either: they follow from the delete.
    public package(set) var linkChanges: [HistoryLinkChange]
    /// Whether nothing of the transaction follows in the next value.
    ///
    /// A transaction of many changes is read in several values, so that memory stays bounded.
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
    /// A to-one relationship is also named if only the object's place in the ordered inverse
    /// changed. Empty for inserts and deletes.
    public package(set) var changedProperties: [String]
    /// The last values of a deleted object, for attributes whose
    /// ``AttributeDescription/preservesValueInHistoryOnDeletion`` is true and that had a value.
    public package(set) var preservedValues: [String: Value]
}

/// A link that a transaction of the history added or removed.
public struct HistoryLinkChange: Sendable, Hashable {
    /// The relationship, from the end that owns the links.
    public let relationship: RelationshipName
    /// The source, by the entity that the relationship declares.
    public let source: ObjectID
    /// The target, by the entity that the relationship declares.
    public let target: ObjectID
    /// Whether the link was added or moved to other places, rather than removed.
    public let isAdded: Bool
}
