public import Foundation

/// A selection of the transactions and changes in the history of a store.
///
/// ```swift
/// var request = HistoryRequest(after: token)
/// request.entity = "Track"
/// try store.forEachTransaction(request) { transaction in print(transaction.changes.count) }
/// ```
///
/// If the request has an entity or an object, transactions without a matching change are skipped.
/// Transactions that list no objects (``HistoryTransaction/Kind/wholeLoad``,
/// ``HistoryTransaction/Kind/acceptedChanges``) match every entity and object.
public struct HistoryRequest: Sendable, Hashable, Adjustable {
    /// The token after which transactions are read; nil for the whole history.
    public var token: HistoryToken?
    /// The author whose transactions are read; nil for all authors.
    public var author: String?
    /// The entity whose objects' changes are read, with its subentities; nil for all entities.
    ///
    /// Link changes are read for all entities with the same root entity.
    public var entity: EntityName?
    /// The object whose changes are read; nil for all objects.
    public var object: ObjectID?
    /// The earliest time of a transaction; nil for any.
    public var startDate: Date?
    /// The time before which transactions are read; nil for any.
    public var endDate: Date?

    /// Creates a request for all transactions after a token.
    public init(after token: HistoryToken? = nil) { self.token = token }
}

/// The limits of the history that a store keeps.
///
/// ```swift
/// let options = StoreOptions().with {
///     $0.tracksHistory = true
///     $0.historyRetention = HistoryRetention(days: 30)
/// }
/// ```
///
/// Commits remove the transactions that exceed a limit, but never the last transaction. Later
/// changes reuse the freed space in the file; see ``StoreMaintenance``.
public struct HistoryRetention: Sendable, Hashable {
    /// The maximum age of a transaction in days; nil for no limit.
    ///
    /// Once the oldest transaction exceeds the limit by 1/32, a commit removes all transactions
    /// that exceed the limit.
    public var days: Double?
    /// The maximum size of all transactions in bytes; nil for no limit.
    ///
    /// A commit that brings the size above the limit removes the oldest transactions until the size
    /// is at most 7/8 of the limit.
    public var byteCount: Int?

    /// Creates limits; an argument that is nil sets no limit.
    public init(days: Double? = nil, byteCount: Int? = nil) { (self.days, self.byteCount) = (days, byteCount) }
}
