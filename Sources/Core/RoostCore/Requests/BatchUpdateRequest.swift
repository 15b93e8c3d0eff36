/// Sets properties of objects where they are, in one transaction, to constants or to what expressions give for each object.
///
/// Execute it with ``PersistentStore/execute(_:)-(BatchUpdateRequest)``. Expressions see the objects as they were before: `a = b` and `b = a` together
/// exchange two values. What can be set is what a ``BatchInsertRequest`` can name, with the same care for ordered relationships and the
/// other sides of to-one relationships.
public struct BatchUpdateRequest: Hashable, Sendable {
    /// The entity whose objects are meant.
    public var entity: EntityName
    /// What an object must meet; nil for all.
    public var predicate: FetchRequest.Predicate?
    /// Whether objects of subentities are meant too.
    public var includesSubentities: Bool
    /// What becomes of properties of the entity, by name; an element of a composite by its dotted path.
    public var values: [String: FetchRequest.Expression]
    /// What the result tells.
    public var resultType: BatchResultType

    /// Sets properties to the values of expressions.
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
