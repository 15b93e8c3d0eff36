/// A request for rows: values in named columns instead of objects.
///
/// ```swift
/// var request = RowRequest(FetchRequest("Track", where: predicate))
/// request.propertiesToGroupBy = [.keyPath(["album", "title"])]
/// let count = FetchRequest.Expression.function(.count, [.evaluatedObject])
/// request.propertiesToFetch = ["album.title", .init("tracks", expression: count)]
/// let rows = try snapshot.rows(request)
/// ```
///
/// A row request also has the properties of its ``fetchRequest``: `request.predicate`,
/// `request.fetchLimit`.
@dynamicMemberLookup
public struct RowRequest: Hashable, Sendable {
    /// The objects that the rows are computed from.
    ///
    /// The sort order may contain column names. The limit and the offset count rows, not objects.
    public var fetchRequest: FetchRequest
    /// The columns.
    ///
    /// If the list is empty, a row has all attributes, or the grouping values in a grouped request.
    public var propertiesToFetch: [FetchRequest.FetchedProperty]
    /// The values that objects are grouped by: key paths through to-one relationships, other
    /// expressions, or names of columns.
    ///
    /// Objects with equal values are in the same group. Null equals null, NaN equals NaN, and 0.0
    /// equals −0.0. Each group has one row, with grouping values, constants, and aggregates as
    /// columns.
    public var propertiesToGroupBy: [FetchRequest.Expression]
    /// The condition that groups must meet; nil for all groups.
    ///
    /// It can contain names of columns, grouping values, and aggregates.
    public var havingPredicate: FetchRequest.Predicate?
    /// Whether duplicate rows are removed.
    public var returnsDistinctResults: Bool

    /// Creates a request for rows computed from the objects of a fetch request.
    public init(
        _ fetchRequest: FetchRequest, propertiesToFetch: [FetchRequest.FetchedProperty] = [],
        propertiesToGroupBy: [FetchRequest.Expression] = [], havingPredicate: FetchRequest.Predicate? = nil,
        returnsDistinctResults: Bool = false
    ) {
        self.fetchRequest = fetchRequest
        self.propertiesToFetch = propertiesToFetch
        self.propertiesToGroupBy = propertiesToGroupBy
        self.havingPredicate = havingPredicate
        self.returnsDistinctResults = returnsDistinctResults
    }

    /// Accesses a property of ``fetchRequest``.
    public subscript<Part>(dynamicMember part: WritableKeyPath<FetchRequest, Part>) -> Part {
        get { fetchRequest[keyPath: part] }
        set { fetchRequest[keyPath: part] = newValue }
    }
}
