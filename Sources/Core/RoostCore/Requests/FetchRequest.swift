/// What to read from a store: objects of an entity that meet a predicate, in an order, some of them.
public struct FetchRequest: Hashable, Sendable, Adjustable {
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
    public var includesSubentities: Bool = true

    /// Makes a request.
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
