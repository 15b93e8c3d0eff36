public import RoostCore

extension SQLSnapshot {
    /// Reads related objects by statements that stay prepared.
    public func objectGraph() -> any ObjectGraph { SQLObjectGraph(self) }

    /// Reads the records that a request asks for, in its order.
    ///
    /// What SQL can say exactly is left to the database, the rest is done on the records that are left.
    public func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        let statement = try statement(for: request)
        let cursor = try cursor(statement, request)
        guard let rest = statement.rest else { return cursor }
        return try ScanningFetch(rest, model: model, source: cursor, graph: SQLObjectGraph(self))
    }

    /// How many records ``fetch(_:)`` would give, limit and offset included.
    public func count(_ request: FetchRequest) throws(StoreError) -> Int {
        let statement = try statement(for: request)
        let entity = try model.requireEntity(request.entity)
        if let rest = statement.rest, rest.predicate != nil {
            return try ScanningFetch.count(
                rest, model: model, source: try cursor(statement, request), graph: SQLObjectGraph(self))
        }
        let (sql, values) = statement.count(in: schema.table(of: entity.number))
        let matches = try open().withStatement(sql) { (statement) throws(StoreError) -> Int in
            try statement.bind(Array(values))
            return try statement.step() ? Int(clamping: try statement.integer(at: 0)) : 0
        }
        let remaining = max(0, matches - (request.fetchOffset ?? 0))
        return request.fetchLimit.map { min($0, remaining) } ?? remaining
    }

    /// The records that a request's statement gives.
    func cursor(_ statement: SQLFetchStatement, _ request: FetchRequest) throws(StoreError) -> SQLRecordCursor {
        SQLRecordCursor(
            self, try lease(statement.recordsSQL, statement.values),
            plan: schema.reading[try model.requireEntity(request.entity).number])
    }

    /// What of a request one statement does.
    func statement(for request: FetchRequest) throws(StoreError) -> SQLFetchStatement {
        let connection = try open()
        // Compiled first, because their errors are the same in every store.
        _ = try RecordFilter(request, model: model)
        _ = try RecordOrder(request, model: model)
        return try SQLFetchStatement(request, schema: schema) { (column, table) throws(StoreError) in
            try connection.integer(schema.dialect.findIrregularNaN(column, in: table.quotedName)) == nil
        }
    }
}
