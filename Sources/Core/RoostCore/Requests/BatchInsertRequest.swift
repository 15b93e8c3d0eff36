/// Inserts many objects of one entity in one transaction, from values by property name.
///
/// Execute it with ``PersistentStore/execute(_:)-(BatchInsertRequest)``. A row names attributes, to-one relationships (an object of the store),
/// elements of composites by their dotted path, and, where it must not be the last one, the place in the ordered relationship back by
/// ``RecordLayout/orderFieldName(of:)``. A property that a row does not name takes the model's default value; a null that it names is null.
///
/// An object that joins an ordered relationship by its to-one side comes last in it. Two batches at
/// once never give equal places: the later one moves its objects after those of the other. A to-one
/// relationship whose inverse is to-one is set on both sides, and taken away from the object that
/// had it before.
public struct BatchInsertRequest {
    /// The values of one object, by property name.
    public typealias Row = [String: Value]

    /// The values of one object, with the objects of to-many relationships.
    package struct MemberRow {
        /// The values, by property name.
        package var values: Row
        /// The objects of to-many relationships, by property name.
        package var members: [String: [ObjectID]]

        /// Creates a row.
        package init(values: Row, members: [String: [ObjectID]] = [:]) {
            (self.values, self.members) = (values, members)
        }
    }

    /// The entity of the new objects.
    public var entity: EntityName
    /// What the result tells.
    public var resultType: BatchResultType
    /// The rule for a row with the values of an existing object in a uniqueness constraint.
    public var onConflict = ConflictRule.fail
    /// Starts to give rows that also set to-many relationships; they replace ``rows``.
    package var memberRows: (() -> () throws(StoreError) -> MemberRow?)?
    /// Starts to give the rows: a function that gives the next one each time, and nil at the end.
    public let rows: () -> () throws(StoreError) -> Row?

    /// Inserts the rows of a sequence, which is read once and need not be in memory.
    public init(_ entity: EntityName, rows: some Sequence<Row>, result: BatchResultType = .statusOnly) {
        self.entity = entity
        self.resultType = result
        self.rows = {
            var iterator = rows.makeIterator()
            return { () throws(StoreError) in iterator.next() }
        }
    }

    /// Inserts the rows that a handler fills in, each time an empty one, until it returns true.
    ///
    /// The row of the call that returns true is not inserted. An error of the handler ends the request; nothing is inserted then.
    public init(
        _ entity: EntityName, result: BatchResultType = .statusOnly,
        handler: @escaping (inout Row) throws(StoreError) -> Bool
    ) {
        self.entity = entity
        self.resultType = result
        self.rows = {
            { () throws(StoreError) in
                var row: Row = [:]
                return try handler(&row) ? nil : row
            }
        }
    }
}
