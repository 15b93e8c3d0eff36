/// A request that sets properties of objects to the values of expressions, in one transaction.
///
/// ```swift
/// let old: FetchRequest.Predicate = .path("year") < 1950
/// let values: [String: FetchRequest.Expression] = ["genre": .constant("classic")]
/// let result = try store.execute(BatchUpdateRequest("Album", where: old, set: values))
/// ```
///
/// Expressions read the objects as they were before the update, so `a = b` together with `b = a`
/// exchanges two values. An update can set the same properties as a ``BatchInsertRequest``, with
/// the same rules for inverses.
public struct BatchUpdateRequest: Hashable, Sendable {
    package var entity: EntityName
    package var predicate: FetchRequest.Predicate?
    package var includesSubentities: Bool
    /// The new values, by property name or by the dotted path of a composite's element.
    package var values: [String: FetchRequest.Expression]
    package var resultType: BatchResultType
    /// The author, for the store's history.
    public var author: String?

    /// Creates a request that sets properties to the values of expressions.
    public init(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil, includesSubentities: Bool = true,
        set values: [String: FetchRequest.Expression], result: BatchResultType = .statusOnly
    ) {
        self.entity = entity
        self.predicate = predicate
        self.includesSubentities = includesSubentities
        self.values = values
        self.resultType = result
    }
}
