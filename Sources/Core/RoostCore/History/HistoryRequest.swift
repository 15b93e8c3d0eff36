public import Foundation

/// A selection of the transactions and changes in the history of a store.
///
/// ```swift
/// var request = HistoryRequest(after: token)
/// request.entity = "Track"
/// try store.forEachTransaction(request) { transaction in print(transaction.changes.count) }
/// ```
///
/// A transaction without a matching change is left out. Transactions that list no objects
/// (``HistoryTransaction/Kind/wholeLoad``, ``HistoryTransaction/Kind/acceptedChanges``) match every
/// entity and object.
public struct HistoryRequest: Sendable, Hashable, Adjustable {
    /// The token after which transactions are read; nil for all that the store has.
    public var token: HistoryToken?
    /// The author whose transactions are read; nil for all.
    public var author: String?
    /// The entity whose changes are read, subentities included; nil for all.
    public var entity: EntityName?
    /// The object whose changes are read; nil for all.
    public var object: ObjectID?
    /// The earliest time of a transaction; nil for any.
    public var startDate: Date?
    /// The time before which transactions are read; nil for any.
    public var endDate: Date?

    /// Creates a request for everything after a token.
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
/// Commits remove what is older, or exceeds the size. The last transaction is always kept. Removed
/// transactions free their space in the file for later use; see ``StoreMaintenance``.
public struct HistoryRetention: Sendable, Hashable {
    /// The number of days; nil for any age.
    ///
    /// A transaction is removed by the first commit after its age exceeds the days by 1/32.
    public var days: Double?
    /// The number of bytes of all transactions; nil for any size.
    ///
    /// A commit that exceeds it removes the oldest transactions down to 7/8 of it.
    public var byteCount: Int?

    /// Creates a limit; without arguments, everything is kept.
    public init(days: Double? = nil, byteCount: Int? = nil) { (self.days, self.byteCount) = (days, byteCount) }
}
