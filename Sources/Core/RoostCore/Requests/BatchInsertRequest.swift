/// A request that inserts many objects of one entity, from values by property name, in one
/// transaction.
///
/// ```swift
/// let rows = names.lazy.map { ["name": Value.string($0)] }
/// let result = try store.execute(BatchInsertRequest("Artist", rows: rows, result: .count))
/// ```
///
/// A row can name:
///
/// - attributes, and elements of composites by their dotted path;
/// - to-one relationships, whose value is an object of the store;
/// - the place in the ordered relationship back, by ``RecordLayout/orderFieldName(of:)``.
///
/// A property that a row does not name gets the model's default value. A null that it names is
/// null.
///
/// An object that joins an ordered relationship by its to-one side becomes the last one in it. Two
/// batches at once never give equal places: the later batch moves its objects after those of the
/// other. A to-one relationship whose inverse is to-one is set on both sides, and cleared in the
/// object that had it before.
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
    package var entity: EntityName
    /// The content of the result.
    package var resultType: BatchResultType
    /// The rule for a row with the values of an existing object in a uniqueness constraint.
    public var onConflict = ConflictRule.fail
    /// The author of the changes, for the store's history.
    public var author: String?
    /// Starts rows that also set to-many relationships; they replace ``rows``.
    package var memberRows: (() -> () throws(StoreError) -> MemberRow?)?
    /// Starts the rows: returns a function that returns the next row, and nil at the end.
    package let rows: () -> () throws(StoreError) -> Row?

    /// Inserts the rows of a sequence, which is read once and can be lazy.
    public init(_ entity: EntityName, rows: some Sequence<Row>, result: BatchResultType = .statusOnly) {
        self.entity = entity
        self.resultType = result
        self.rows = {
            var iterator = rows.makeIterator()
            return { () throws(StoreError) in iterator.next() }
        }
    }

    /// Inserts the rows that a handler fills in, until the handler returns true.
    ///
    /// Each call gets an empty row. The row of the call that returns true is not inserted. If the
    /// handler throws, the request ends and nothing is inserted.
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
