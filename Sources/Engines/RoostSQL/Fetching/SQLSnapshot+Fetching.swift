package import RoostCore
package import RoostQuery

extension SQLSnapshot: CheckedFetchingSnapshot, IDListingSnapshot, AggregatingSnapshot {
    package func makeObjectGraph() -> any ObjectGraph { SQLObjectGraph(self) }

    /// Returns the records of a request, in the request's order.
    ///
    /// The database evaluates what SQL can express exactly, and the engine evaluates the rest.
    package func fetch(_ request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor {
        try records(of: try readingStatement(for: request))
    }

    /// Returns the records of a statement, after applying the remaining filter and order.
    private func records(of statement: SQLFetchStatement) throws(StoreError) -> any RecordCursor {
        let cursor = try cursor(statement)
        guard let rest = statement.rest else { return cursor }
        return ScanningFetch(rest, visiting: CursorVisitor(cursor, model: model), graph: SQLObjectGraph(self))
    }

    package func appendIDs(of request: CheckedFetchRequest, to ids: inout [ObjectID]) throws(StoreError) {
        try FetchCancellation.check()
        let statement = try readingStatement(for: request)
        guard statement.rest == nil else {
            return try records(of: statement).appendIDs(to: &ids, model: model)
        }
        let names = model.entities.map(\.name)
        let entity = try model.requireEntity(request.request.entity)
        // Without subentities, all objects have the request's entity, so the statement omits entity
        // numbers.
        let isAlone = entity.selfAndSubentities.count == 1
        let connection = try open()
        var found = ids
        ids = []
        defer { ids = found }
        try connection.withRows(statement.keysSQL(withEntity: !isAlone)) { (rows) throws(StoreError) in
            try rows.bind(statement.values)
            try connection.endingWithTask { () throws(StoreError) in
                while try rows.step() {
                    let key = try rows.integer(at: 0)
                    guard !isAlone else {
                        found.append(ObjectID(entity.name, key: key))
                        continue
                    }
                    let number = Int(truncatingIfNeeded: try rows.integer(at: 1))
                    guard entity.includes(number) else {
                        throw StoreError(
                            .corrupted, "The row of '\(entity.name)' with key \(key) has a wrong entity number.",
                            damagedObject: ObjectID(entity.name, key: key))
                    }
                    found.append(ObjectID(names[number], key: key))
                }
            }
        }
    }

    /// Returns the number of records that ``fetch(_:)`` would return.
    package func count(_ checked: CheckedFetchRequest) throws(StoreError) -> Int {
        try FetchCancellation.check()
        let request = checked.request
        var statement = try statement(for: checked)
        let entity = try model.requireEntity(request.entity)
        if let rest = statement.rest, rest.request.predicate != nil {
            try chooseRange(&statement, entity: entity)
            return try ScanningFetch.count(
                rest, visiting: CursorVisitor(try cursor(statement), model: model), graph: SQLObjectGraph(self))
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

    /// Returns integer aggregates over all records of a request; nil if the database cannot compute
    /// them.
    ///
    /// If a sum exceeds 64 bits, throws the database's error. If such an error would end the
    /// snapshot, returns nil instead.
    package func computeNumbers(
        _ aggregates: [WholeNumberAggregate], of checked: CheckedFetchRequest
    ) throws(StoreError) -> [Int64?]? {
        try FetchCancellation.check()
        let request = checked.request
        let statement = try statement(for: checked)
        guard statement.rest?.request.predicate == nil, request.fetchLimit == nil, request.fetchOffset ?? 0 == 0 else {
            return nil
        }
        let entity = try model.requireEntity(request.entity)
        let table = schema.table(of: entity.number)
        var columns: [String] = []
        for aggregate in aggregates {
            guard let column = aggregate.column(of: entity, in: table, dialect: schema.dialect) else { return nil }
            columns.append(column)
        }
        let (sql, values) = statement.aggregates(columns.joined(separator: ", "), in: table)
        let connection = try open()
        return try connection.withStatement(sql) { (statement) throws(StoreError) -> [Int64?]? in
            try statement.bind(Array(values))
            guard try connection.endingWithTask({ () throws(StoreError) in try statement.step() }) else { return nil }
            var numbers: [Int64?] = []
            for index in columns.indices {
                if case .text(let digits) = try statement.value(at: index) {
                    guard let sum = Int64(digits) else { return nil }
                    numbers.append(sum)
                } else {
                    numbers.append(try statement.isNull(at: index) ? nil : try statement.integer(at: index))
                }
            }
            return numbers
        }
    }

    /// Returns the records of a statement, before applying the remaining filter and order.
    func cursor(_ statement: SQLFetchStatement) throws(StoreError) -> SQLRecordCursor {
        SQLRecordCursor(
            self, lease: try lease(statement.recordsSQL, values: statement.values), plan: statement.plan,
            endsWithTask: true)
    }

    /// Returns the statement for the part of a request that one statement can answer.
    func statement(for request: CheckedFetchRequest) throws(StoreError) -> SQLFetchStatement {
        let connection = try open()
        try request.requireModel(model)
        return try SQLFetchStatement(
            request, schema: schema,
            count: { (sql, values, limit) throws(StoreError) in
                // A given limit makes it unnecessary to read the number of objects.
                if let limit { return try rowCount(sql, values: values, below: limit) }
                return try rowCount(sql, values: values, below: usefulCount(request.request))
            }
        ) { (column, table) throws(StoreError) in
            guard let search = schema.dialect.findIrregularNaN(column, in: table.quotedName) else { return false }
            return try connection.integer(search) == nil
        }
    }

    /// Counts the rows of a SELECT; returns nil if there are `limit` rows or more.
    private func rowCount(_ sql: String, values: [SQLValue], below limit: Int64) throws(StoreError) -> Int64? {
        try FetchCancellation.check()
        guard limit > 0 else { return nil }
        let ending = schema.dialect.limit(schema.dialect.parameter(values.count + 1), offset: nil)
        let connection = try open()
        let count = try connection.withStatement("SELECT COUNT(*) FROM (\(sql) \(ending)) AS matches") {
            (statement) throws(StoreError) -> Int64 in
            try statement.bind(values + [.integer(limit)])
            return try connection.endingWithTask { () throws(StoreError) in
                try statement.step() ? try statement.integer(at: 0) : limit
            }
        }
        return count < limit ? count : nil
    }

    /// Returns the number of rows at which a scan becomes faster than look-ups.
    ///
    /// Small tables are always scanned. With a fetch limit, the number is at most 1000, because the
    /// scan ends early.
    private func usefulCount(_ request: FetchRequest) throws(StoreError) -> Int64 {
        let count = try objectCount(try model.requireEntity(request.entity))
        guard count > 1000 else { return 0 }
        return min(count / 8, request.fetchLimit == nil ? 100_000 : 1000)
    }

    /// Returns ``statement(for:)`` after ``chooseRange(_:entity:)``.
    func readingStatement(for request: CheckedFetchRequest) throws(StoreError) -> SQLFetchStatement {
        var statement = try statement(for: request)
        try chooseRange(&statement, entity: try model.requireEntity(request.request.entity))
        return statement
    }

    /// Decides whether the statement first collects the keys of a range with one bound.
    private func chooseRange(
        _ statement: inout SQLFetchStatement, entity: ManagedObjectModel.Entity
    ) throws(StoreError) {
        guard let (sql, values) = statement.rangeRows else { return }
        // If the range contains a large part of the table, reading the table is faster.
        let most = try objectCount(entity) / 8 + 1000
        statement.usesRange = try rowCount(sql, values: values, below: most) != nil
    }

    /// Returns the number of objects of an entity and its subentities; 0 if the tallies are
    /// damaged.
    ///
    /// Only the choice of a plan depends on the number, so a fetch need not fail.
    private func objectCount(_ entity: ManagedObjectModel.Entity) throws(StoreError) -> Int64 {
        do throws(StoreError) {
            let tally = try SQLTallies.read(try open(), store: store)
            return entity.selfAndSubentities.reduce(0) { $0 + Int64(tally.entities[$1].count) }
        } catch  where error.code == .corrupted {
            return 0
        }
    }
}

extension WholeNumberAggregate {
    /// Returns the aggregate in SQL; nil if the property has no integer column.
    fileprivate func column(
        of entity: ManagedObjectModel.Entity, in table: SQLTable, dialect: any SQLDialect
    ) -> String? {
        let (make, name): ((String) -> String?, String)
        switch self {
        case .objects: return "COUNT(*)"
        case .count(let attribute): (make, name) = ({ "COUNT(\($0))" }, attribute)
        case .sum(let attribute):
            (make, name) = (
                { (dialect as? any SQLParallelDialect)?.digitsOfSum($0) ?? dialect.sum($0) }, attribute
            )
        case .minimum(let attribute): (make, name) = ({ "MIN(\($0))" }, attribute)
        case .maximum(let attribute): (make, name) = ({ "MAX(\($0))" }, attribute)
        }
        guard let field = entity.layout.field(name), let column = table.column(field, of: entity.number) else {
            return nil
        }
        switch field.kind {
        case .integer64, .integer32, .integer16, .boolean: return make("t0.\(column)")
        default: return nil
        }
    }
}
