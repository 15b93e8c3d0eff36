/// How a store answers a fetch request, for people and for tests.
///
/// What is in it changes how fast an answer comes, never the answer.
///
/// ```swift
/// let request = FetchRequest("Album", where: "title == \("Blue")")
/// let plan = try store.explain(request, executing: true)
/// print(plan)
/// if let count = plan.visitedCount { print("\(count) objects were read") }
/// ```
public struct FetchPlan: Sendable, Hashable {
    /// How the objects that can be wanted are found.
    public enum Access: Sendable, Hashable {
        /// All objects of the entity are read.
        case scan
        /// The objects with keys that the predicate names.
        case keys
        /// The entries of an index or a uniqueness constraint, named as in the model, that a condition on its properties leaves.
        case index(String)
        /// The objects that a relationship, named as in the model, leads to or from.
        case relationship(String)
        /// The database decides by itself, with this statement.
        case statement(String)
        /// Nothing is read: no object can meet the predicate.
        case nothing
    }

    /// Where the order comes from.
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

    /// How objects are found; several where each finds a part, as for OR.
    package var access: [Access]
    /// The parts of the predicate that the access decides, printed.
    package var decidedByAccess: [String]
    /// The parts of the predicate that are checked on each object found, printed.
    package var filteredAfterwards: [String]
    /// Where the order comes from.
    package var order: Order
    /// How many objects were read to give the answer; nil where the fetch was not carried out, or the database does not tell.
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
