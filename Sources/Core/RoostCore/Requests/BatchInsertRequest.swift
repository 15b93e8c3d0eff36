/// A request that inserts many objects of one entity, from values by property name, in one
/// transaction.
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
/// - the place in an ordered inverse relationship, under the name that
///   `RecordLayout.orderFieldName(of:)` returns.
///
/// A property that is not in the row gets the model's default value. A property that is null in the
/// row is null.
///
/// If a row sets a to-one relationship whose inverse is ordered, but sets no place, the object gets
/// the last place. Concurrent batches never append at equal places. A to-one relationship whose
/// inverse is to-one is set on both sides. The destination's previous partner loses the
/// relationship.
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
    /// The rule for a row that has the unique values of an existing object.
    public var onConflict = ConflictRule.fail
    /// The author of the changes, for the store's history.
    public var author: String?
    /// A source of rows that can also set to-many relationships.
    ///
    /// The request reads this source instead of ``rows``; nil to read ``rows``.
    package var memberRows: (() -> () throws(StoreError) -> MemberRow?)?
    /// Returns a function that returns the next row, or nil at the end.
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
