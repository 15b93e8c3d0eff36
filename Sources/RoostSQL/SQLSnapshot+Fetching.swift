public import RoostCore

extension SQLSnapshot {
    /// Reads related objects by statements that stay prepared.
    public func objectGraph() -> any ObjectGraph { SQLObjectGraph(self) }

    /// Reads the records that a request asks for, in its order.
    ///
    /// What SQL can say exactly is left to the database, the rest is done on the records that are left.
    public func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        let statement = try readingStatement(for: request)
        let cursor = try cursor(statement, request)
        guard let rest = statement.rest else { return cursor }
        return try ScanningFetch(rest, model: model, source: cursor, graph: SQLObjectGraph(self))
    }

    /// How many records ``fetch(_:)`` would give, limit and offset included.
    public func count(_ request: FetchRequest) throws(StoreError) -> Int {
        try FetchCancellation.check()
        let statement = try statement(for: request)
        let entity = try model.requireEntity(request.entity)
        if let rest = statement.rest, rest.predicate != nil {
            return try ScanningFetch.count(
                rest, model: model, source: try cursor(try readingStatement(for: request), request),
                graph: SQLObjectGraph(self))
        }
        let (sql, values) = statement.aggregates("COUNT(*)", in: schema.table(of: entity.number))
        let connection = try open()
        let matches = try connection.withStatement(sql) { (statement) throws(StoreError) -> Int in
            try statement.bind(Array(values))
            return try connection.endingWithTask { () throws(StoreError) in
                try statement.step() ? Int(clamping: try statement.integer(at: 0)) : 0
            }
        }
        let remaining = max(0, matches - (request.fetchOffset ?? 0))
        return request.fetchLimit.map { min($0, remaining) } ?? remaining
    }

    /// Whole numbers about all records that a request asks for, where the database decides all of its predicate.
    ///
    /// Integers are added as such; a sum beyond 64 bits is an error of the database, and the caller's to make.
    public func wholeNumbers(
        _ aggregates: [WholeNumberAggregate], of request: FetchRequest
    ) throws(StoreError) -> [Int64?]? {
        try FetchCancellation.check()
        let statement = try statement(for: request)
        guard statement.rest?.predicate == nil, request.fetchLimit == nil, request.fetchOffset ?? 0 == 0 else {
            return nil
        }
        let entity = try model.requireEntity(request.entity)
        let table = schema.table(of: entity.number)
        var columns: [String] = []
        for aggregate in aggregates {
            guard let column = aggregate.column(of: entity, in: table) else { return nil }
            columns.append(column)
        }
        let (sql, values) = statement.aggregates(columns.joined(separator: ", "), in: table)
        let connection = try open()
        return try connection.withStatement(sql) { (statement) throws(StoreError) -> [Int64?]? in
            try statement.bind(Array(values))
            guard try connection.endingWithTask({ () throws(StoreError) in try statement.step() }) else { return nil }
            var numbers: [Int64?] = []
            for index in columns.indices {
                numbers.append(try statement.isNull(at: index) ? nil : try statement.integer(at: index))
            }
            return numbers
        }
    }

    /// The records that a request's statement gives.
    func cursor(_ statement: SQLFetchStatement, _ request: FetchRequest) throws(StoreError) -> SQLRecordCursor {
        SQLRecordCursor(
            self, try lease(statement.recordsSQL, statement.values),
            plan: schema.reading[try model.requireEntity(request.entity).number], endsWithTask: true)
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

    /// The same, to read records by: of a range with one end it finds out whether that is a small part of its table.
    func readingStatement(for request: FetchRequest) throws(StoreError) -> SQLFetchStatement {
        var statement = try statement(for: request)
        if let (sql, values) = statement.rangeCount {
            // Where a range holds much of a table, reading the table takes less than gathering keys.
            let most = try objectCount(try model.requireEntity(request.entity)) / 8 + 1000
            let count = try open().withStatement(sql) { (statement) throws(StoreError) -> Int64 in
                try statement.bind(values + [.integer(Int64(most))])
                return try statement.step() ? try statement.integer(at: 0) : 0
            }
            statement.usesRange = count < most
        }
        return statement
    }

    /// How many objects of an entity and its subentities the last commit recorded.
    private func objectCount(_ entity: ManagedObjectModel.Entity) throws(StoreError) -> Int {
        let tally = try SQLTallies.read(try open(), store)
        return entity.selfAndSubentities.reduce(0) { $0 + tally.entities[$1].count }
    }
}

extension WholeNumberAggregate {
    /// The aggregate in SQL, of the rows called `t0`; nil for what no column of integers holds.
    fileprivate func column(of entity: ManagedObjectModel.Entity, in table: SQLTable) -> String? {
        let (function, name): (String, String)
        switch self {
        case .objects: return "COUNT(*)"
        case .count(let attribute): (function, name) = ("COUNT", attribute)
        case .sum(let attribute): (function, name) = ("SUM", attribute)
        case .minimum(let attribute): (function, name) = ("MIN", attribute)
        case .maximum(let attribute): (function, name) = ("MAX", attribute)
        }
        guard let field = entity.layout.field(name), let column = table.column(field, of: entity.number) else {
            return nil
        }
        switch field.kind {
        case .integer64, .integer32, .integer16, .boolean: return "\(function)(t0.\(column))"
        default: return nil
        }
    }
}
