/// Deletes objects where they are, in one transaction, with the delete rules of their relationships.
///
/// Execute it with ``PersistentStore/execute(_:)-(BatchDeleteRequest)``. For each object that goes, and each of its relationships:
///
/// - **cascade**: the destinations go too, and so on, round circles once;
/// - **nullify**: destinations whose to-one relationship leads back lose that reference, and the place that goes with it. If it is
///   mandatory the delete is refused;
/// - **deny**: the delete is refused while there is a destination that does not go too;
/// - **noAction**: to-one references back stay, and lead nowhere.
///
/// References by a to-one relationship that has no inverse, so that no rule speaks of it, are cleared as by nullify. Links go with
/// their objects whatever the rule; ordered relationships keep the order of what is left.
public struct BatchDeleteRequest: Hashable, Sendable {
    /// Which objects.
    package enum Selection: Hashable, Sendable {
        /// Those that a request would fetch: its order, limit and offset count.
        case fetched(FetchRequest)
        /// Those with these IDs, as ``StoreSnapshot/records(with:)`` finds them; what does not exist is left out.
        case objectIDs([ObjectID])
    }

    /// Which objects.
    package var selection: Selection
    /// What the result tells.
    public var resultType: BatchResultType

    /// Deletes what a request would fetch.
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
