/// A request that inserts an object of an entity for each row of values, in one transaction.
///
/// ```swift
/// let rows = names.lazy.map { ["name": Value.string($0)] }
/// let result = try store.execute(BatchInsertRequest("Artist", rows: rows, result: .count))
/// ```
///
/// A row can set:
///
/// - attributes, and elements of composites by their dotted path;
/// - to-one relationships, with the ID of an object of the store;
/// - the object's position in an ordered inverse, under the to-one relationship's name followed by
///   `#order`.
///
/// A property that a row omits gets the model's default value. A null sets the property to null.
///
/// Without a position, the object is appended to the ordered inverse. Concurrent batches never
/// append at equal positions. A one-to-one relationship is set in both objects, and the
/// destination's previous partner loses its reference.
public struct BatchInsertRequest {
    /// The values of one object, by property name.
    public typealias Row = [String: Value]

    /// A row that can also set to-many relationships.
    package struct MemberRow {
        package var values: Row
        package var members: [String: [ObjectID]]

        package init(values: Row, members: [String: [ObjectID]] = [:]) {
            (self.values, self.members) = (values, members)
        }
    }

    package var entity: EntityName
    package var resultType: BatchResultType
    /// The rule for a row that has the same unique values as an existing object.
    public var onConflict = ConflictRule.fail
    /// The author, for the store's history.
    public var author: String?
    /// A source of rows that can also set to-many relationships; nil to read ``rows`` instead.
    package var memberRows: (() -> () throws(StoreError) -> MemberRow?)?
    /// The source of the rows; each call starts a new pass over them.
    package let rows: () -> () throws(StoreError) -> Row?

    /// Creates a request that inserts the rows of a sequence.
    ///
    /// The sequence can be lazy. Each execution of the request reads it once.
    public init(_ entity: EntityName, rows: some Sequence<Row>, result: BatchResultType = .statusOnly) {
        self.entity = entity
        self.resultType = result
        self.rows = {
            var iterator = rows.makeIterator()
            return { () throws(StoreError) in iterator.next() }
        }
    }

    /// Creates a request that calls a handler for each row, until the handler returns true.
    ///
    /// Each call gets an empty row to fill in. The row of the call that returns true is not
    /// inserted. If the handler throws, the request ends and nothing is inserted.
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
