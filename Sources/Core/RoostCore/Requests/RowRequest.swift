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
/// The parts of ``fetchRequest`` are parts of the row request too: `request.predicate`,
/// `request.fetchLimit`.
@dynamicMemberLookup
public struct RowRequest: Hashable, Sendable {
    /// The objects that rows are made of.
    ///
    /// Its order may name columns. Its limit and its offset count rows.
    public var fetchRequest: FetchRequest
    /// The columns; if empty, every attribute, or the values by which rows are grouped.
    public var propertiesToFetch: [FetchRequest.FetchedProperty]
    /// The values that rows are grouped by: key paths through to-one relationships, other
    /// expressions, names of columns.
    ///
    /// Objects are of one group when all of these are equal, as null and null are, NaN and NaN, and
    /// both zeros. A column then shows what is grouped by, constants, and aggregates.
    public var propertiesToGroupBy: [FetchRequest.Expression]
    /// The condition that groups must meet; nil for all groups.
    ///
    /// It is made of names of columns, of what is grouped by, and of aggregates.
    public var havingPredicate: FetchRequest.Predicate?
    /// Whether only the first of equal rows is returned.
    public var returnsDistinctResults: Bool

    /// Creates a request for rows of the objects that another request asks for.
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

    /// A part of ``fetchRequest``.
    public subscript<Part>(dynamicMember part: WritableKeyPath<FetchRequest, Part>) -> Part {
        get { fetchRequest[keyPath: part] }
        set { fetchRequest[keyPath: part] = newValue }
    }
}
