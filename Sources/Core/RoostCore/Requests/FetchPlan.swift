/// A description of how a store answers a fetch request, for people and for tests.
///
/// Plans differ in how fast an answer comes, never in the answer.
///
/// ```swift
/// let request = FetchRequest("Album", where: "title == \("Blue")")
/// let plan = try store.explain(request, executing: true)
/// print(plan)
/// if let count = plan.visitedCount { print("\(count) objects were read") }
/// ```
public struct FetchPlan: Sendable, Hashable {
    /// The way the objects that can match are found.
    public enum Access: Sendable, Hashable {
        /// All objects of the entity are read.
        case scan
        /// The objects with keys that the predicate names.
        case keys
        /// The index entries that meet a condition on its properties.
        ///
        /// The index or uniqueness constraint is named as in the model.
        case index(String)
        /// The objects found by a relationship, named as in the model, in either direction.
        case relationship(String)
        /// The database decides by itself, with this statement.
        case statement(String)
        /// Nothing is read: no object can meet the predicate.
        case nothing
    }

    /// The source of the order.
    public enum Order: Sendable, Hashable {
        /// The objects are found in it.
        case asFound
        /// The database sorts.
        case byDatabase
        /// All that match are kept and sorted.
        case sorted
        /// The best of them are kept, at most this many.
        case best(Int)
    }

    /// The ways objects are found; several if each finds a part, as for OR.
    package var access: [Access]
    /// The parts of the predicate that the access decides, printed.
    package var decidedByAccess: [String]
    /// The parts of the predicate that are checked on each object found, printed.
    package var filteredAfterwards: [String]
    /// The source of the order.
    package var order: Order
    /// The number of objects that were read; nil if the fetch was not executed or the database does
    /// not report it.
    public var visitedCount: Int?

    /// Makes a plan.
    public init(
        access: [Access], decidedByAccess: [String] = [], filteredAfterwards: [String] = [], order: Order = .asFound,
        visitedCount: Int? = nil
    ) {
        self.access = access
        self.decidedByAccess = decidedByAccess
        self.filteredAfterwards = filteredAfterwards
        self.order = order
        self.visitedCount = visitedCount
    }
}
