/// A request that deletes objects and applies the delete rules of their relationships, in one
/// transaction.
///
/// ```swift
/// let old = FetchRequest("Album", where: .path("year") < 1950)
/// let result = try store.execute(BatchDeleteRequest(old, result: .count))
/// ```
///
/// For each deleted object, and each of its relationships:
///
/// - **cascade**: the destinations are deleted too, recursively; cycles are allowed.
/// - **nullify**: a destination's to-one reference to the deleted object is cleared. If the deleted
///   object's relationship is ordered, the destination's place in it is cleared too. The request is
///   refused if the reference is mandatory.
/// - **deny**: the request is refused if a destination exists that is not deleted too.
/// - **noAction**: to-one references to the deleted object stay, and become dangling.
///
/// Other objects can refer to a deleted object through a to-one relationship without an inverse.
/// Such a reference is treated as for **nullify**. With every rule, each ``Link`` from or to a
/// deleted object is removed. Ordered relationships keep the order of the remaining objects.
public struct BatchDeleteRequest: Hashable, Sendable {
    /// The objects to delete.
    package enum Selection: Hashable, Sendable {
        /// The objects that a request fetches, with its limit and offset.
        case fetched(FetchRequest)
        /// The objects with these IDs, as ``StoreSnapshot/records(with:)`` finds them.
        ///
        /// IDs of objects that do not exist are skipped.
        case objectIDs([ObjectID])
    }

    /// The objects to delete.
    package var selection: Selection
    /// The content of the result.
    package var resultType: BatchResultType
    /// The author of the changes, for the store's history.
    public var author: String?

    /// Deletes the objects that a request fetches.
    public init(_ request: FetchRequest, result: BatchResultType = .statusOnly) {
        selection = .fetched(request)
        resultType = result
    }

    /// Deletes objects by their IDs.
    public init(objectIDs: [ObjectID], result: BatchResultType = .statusOnly) {
        selection = .objectIDs(objectIDs)
        resultType = result
    }
}
