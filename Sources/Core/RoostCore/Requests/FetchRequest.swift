/// A request for the objects of an entity: a predicate, an order, a limit and an offset.
///
/// ```swift
/// let request = FetchRequest(
///     "Album", where: .path("year") > 1970, sortedBy: [.init("title")], limit: 20)
/// let albums = try snapshot.fetch(request)
/// ```
public struct FetchRequest: Hashable, Sendable, Adjustable {
    /// The entity of the objects.
    public var entity: EntityName
    /// The condition that objects must meet; nil for all objects.
    public var predicate: Predicate?
    /// The sort order, most significant key first.
    ///
    /// Objects with equal sort values are in ascending key order; so are all objects if the list is
    /// empty.
    public var sortDescriptors: [SortDescriptor]
    /// The maximum number of objects; nil for no limit.
    public var fetchLimit: Int?
    /// The number of objects to skip at the beginning; nil for none.
    public var fetchOffset: Int?
    /// Whether objects of subentities are included.
    public var includesSubentities: Bool = true

    /// Creates a request.
    public init(
        _ entity: EntityName, where predicate: Predicate? = nil, sortedBy sortDescriptors: [SortDescriptor] = [],
        limit: Int? = nil, offset: Int? = nil
    ) {
        self.entity = entity
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        self.fetchLimit = limit
        self.fetchOffset = offset
    }
}
