/// What to read from a store: objects of an entity that meet a predicate, in an order, some of them.
public struct FetchRequest: Hashable, Sendable {
    /// The entity whose objects are wanted.
    public var entity: EntityName
    /// What an object must meet; nil for everything.
    public var predicate: Predicate?
    /// The order, most significant first.
    ///
    /// Ties, and an empty list, go by ascending key, so that paging is stable everywhere.
    public var sortDescriptors: [SortDescriptor]
    /// The most objects to give; nil for no limit.
    public var fetchLimit: Int?
    /// How many objects to leave out at the beginning; nil for none.
    public var fetchOffset: Int?
    /// Whether objects of subentities count.
    public var includesSubentities: Bool
    /// The columns of ``StoreSnapshot/rows(_:)``; of none, every attribute, or with groups what they are grouped by.
    ///
    /// Only rows go by this and the three properties below. Objects come whole, a batch at a time: a cursor's batch, not the request, says
    /// how many are read at once.
    public var propertiesToFetch: [FetchedProperty] = []
    /// What rows are grouped by: key paths through to-one relationships, other expressions, names of columns.
    ///
    /// Objects are of one group when all of these are equal, as null and null are, NaN and NaN, and both zeros. A column then shows what
    /// is grouped by, constants, and aggregates.
    public var propertiesToGroupBy: [Expression] = []
    /// What groups must meet, made of names of columns, of what is grouped by, and of aggregates; nil for everything.
    public var havingPredicate: Predicate?
    /// Whether of equal rows only the first is given.
    public var returnsDistinctResults = false

    /// Makes a request.
    public init(
        _ entity: EntityName, where predicate: Predicate? = nil, sortedBy sortDescriptors: [SortDescriptor] = [],
        limit: Int? = nil, offset: Int? = nil, includesSubentities: Bool = true
    ) {
        self.entity = entity
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        self.fetchLimit = limit
        self.fetchOffset = offset
        self.includesSubentities = includesSubentities
    }
}
