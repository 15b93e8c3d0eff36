/// A description of the steps of a fetch, for people and for tests.
///
/// ```swift
/// let request = FetchRequest("Album", where: "title == \("Blue")")
/// let plan = try store.explain(request, executing: true)
/// print(plan)
/// if let count = plan.visitedCount { print("\(count) objects were read") }
/// ```
public struct FetchPlan: Sendable, Hashable {
    /// The method of finding the candidate objects.
    public enum Access: Sendable, Hashable {
        /// The objects of the entity are read one after the other.
        case scan
        /// The objects are looked up by the keys that the predicate lists.
        case keys
        /// The objects are found through an index.
        ///
        /// The value is the name of the index or uniqueness constraint in the model. In a plan with
        /// a ``statement(_:)``, it is the name of the index in the database.
        case index(String)
        /// The objects are found through the relationship with this name, in either direction.
        case relationship(String)
        /// The objects are found by this SQL statement; the database chooses the access path.
        case statement(String)
        /// No objects are read, because none can match the predicate.
        case nothing
    }

    /// The method of ordering the results.
    public enum Order: Sendable, Hashable {
        /// The objects are found in the requested order.
        case asFound
        /// The database sorts.
        case byDatabase
        /// All matching objects are collected and sorted.
        case sorted
        /// Sorting keeps only the first objects, at most this number.
        case best(Int)
    }

    /// The access methods; several if each finds a part of the objects, as with `OR`.
    package var access: [Access]
    /// The parts of the predicate that the access methods already ensure.
    package var decidedByAccess: [String]
    /// The parts of the predicate that are checked for each object found.
    package var filteredAfterwards: [String]
    package var order: Order
    /// The number of objects that were read; nil if the fetch was not executed, or if the database
    /// does not report the number.
    public var visitedCount: Int?

    /// Creates a plan.
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
