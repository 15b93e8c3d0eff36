/// A request that deletes objects in one transaction, and applies the delete rules of their
/// relationships.
///
/// ```swift
/// let old = FetchRequest("Album", where: .path("year") < 1950)
/// let result = try store.execute(BatchDeleteRequest(old, result: .count))
/// ```
///
/// Delete rules have these effects:
///
/// - **cascade**: the destinations are deleted too, recursively; cycles are allowed.
/// - **nullify**: a destination's to-one reference to the deleted object is cleared. If the deleted
///   object's relationship is ordered, the destination's position in it is cleared too. If the
///   reference is mandatory, the request is refused.
/// - **deny**: the request is refused if the object has a destination that is not deleted too.
/// - **noAction**: the destinations' to-one references to the deleted object become dangling.
///
/// If a to-one relationship has no inverse, its references to deleted objects are cleared, as with
/// **nullify**. With every rule, each ``Link`` from or to a deleted object is removed. Ordered
/// relationships keep the order of the remaining objects.
public struct BatchDeleteRequest: Hashable, Sendable {
    package enum Selection: Hashable, Sendable {
        /// The objects that a fetch request finds, within its limit and offset.
        case fetched(FetchRequest)
        case objectIDs([ObjectID])
    }

    package var selection: Selection
    package var resultType: BatchResultType
    /// The author, for the store's history.
    public var author: String?

    /// Creates a request that deletes the objects that a fetch request finds.
    public init(_ request: FetchRequest, result: BatchResultType = .statusOnly) {
        selection = .fetched(request)
        resultType = result
    }

    /// Creates a request that deletes the objects with these IDs, and skips missing ones.
    public init(objectIDs: [ObjectID], result: BatchResultType = .statusOnly) {
        selection = .objectIDs(objectIDs)
        resultType = result
    }
}
