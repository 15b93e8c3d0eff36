internal import RoostCore
internal import RoostQuery

/// A SELECT for a part of a fetch request, and the request that remains for the selected records.
struct SQLFetchStatement {
    /// The quoted name of the table.
    private let tableName: String
    /// The JOINs and conditions of the SELECT.
    private let from: String
    /// The JOINs and conditions if the keys of a range are collected from an index first; nil if
    /// that is not useful.
    private let fromRange: String?
    /// A SELECT of the rows of the range; nil if their number does not matter.
    private(set) var rangeRows: (sql: String, values: [SQLValue])?
    /// Whether the statement collects the keys of the range, because the range is small enough.
    var usesRange = true
    /// ORDER BY and LIMIT.
    ///
    /// The order ends with the key.
    private let ending: String
    /// The parameters.
    ///
    /// If ``ending`` has a LIMIT, the last two parameters are its limit and offset, which
    /// aggregates do not use.
    let values: [SQLValue]
    /// The number of parameters in the conditions.
    private let conditionValueCount: Int
    /// The parts of the predicate that the statement decides.
    let pushed: [FetchRequest.Predicate]
    /// The remaining request for the statement's records, which are in key order; nil if nothing
    /// remains.
    let rest: CheckedFetchRequest?
    /// The plan for converting rows to records.
    let plan: SQLReadPlan

    /// Translates a request.
    ///
    /// - Parameters:
    ///   - checked: The compiled request.
    ///   - schema: The tables.
    ///   - count: Counts the rows of a SELECT, up to a limit.
    ///   - isRegular: Returns whether a column of a table is known to contain no irregular NaN; see
    ///     ``SQLDialectAbilities/findIrregularNaN(_:in:)``.
    /// - Throws: Errors of `count` and `isRegular`.
    init(
        _ checked: CheckedFetchRequest, schema: SQLSchema,
        count: SQLRowCount,
        isRegular: (_ column: String, SQLTable) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let request = checked.request
        let entity = try schema.model.requireEntity(request.entity)
        let table = schema.table(of: entity.number)
        var translator = SQLPredicateTranslator(schema: schema, request: request, entity: entity)
        translator.searchedText = try Self.foldedSearch(of: request, entity: entity, schema: schema, count: count)
        var conditions = translator.conditions(request.predicate)
        let entities = request.includesSubentities ? entity.selfAndSubentities : [entity.number]
        if let filter = schema.entityFilter(entities, in: table, alias: "t0.") { conditions.terms.append(filter) }
        let order = conditions.rest.isEmpty ? try translator.order(request.sortDescriptors, isRegular: isRegular) : nil

        var values = translator.values
        conditionValueCount = values.count
        var ending = " ORDER BY "
        for term in order ?? [] { ending += term + ", " }
        ending += "t0._id"
        if order != nil {
            if request.fetchLimit != nil || request.fetchOffset ?? 0 != 0 {
                values += [.integer(Int64(request.fetchLimit ?? .max)), .integer(Int64(request.fetchOffset ?? 0))]
                let (limit, offset) = (
                    schema.dialect.parameter(values.count - 1), schema.dialect.parameter(values.count)
                )
                ending += " " + schema.dialect.limit(limit, offset: offset)
            }
            rest = nil
        } else {
            // If SQL decides no part of the predicate, the predicate is not compiled again.
            rest =
                conditions.pushed.isEmpty
                ? checked : try checked.with(conditions.rest.isEmpty ? nil : .and(conditions.rest))
        }
        plan = schema.reading[entity.number]
        tableName = table.quotedName
        let joins = translator.levels[0].joins
        from = joins + Self.words(conditions.terms)
        let endsEarly = request.fetchLimit != nil && request.sortDescriptors.isEmpty
        if let range = conditions.range, order?.isEmpty ?? true, !endsEarly {
            // The statement collects the keys of a range, then reads only their rows in key order.
            // Otherwise, a database reads the whole table or sorts whole rows. With a limit,
            // reading the table until the limit is cheaper.
            let rows = "FROM \(table.quotedName) AS t0\(Self.words(range.conditions))"
            let others = conditions.terms.filter { !range.conditions.contains($0) }
            fromRange = joins + Self.words(["t0._id IN (SELECT t0._id \(rows))"] + others)
            if range.ends != [.lower, .upper] {
                rangeRows = Self.rows(of: range.predicate, request: request, entity: entity, schema: schema)
            }
        } else {
            fromRange = nil
        }
        self.ending = ending
        self.values = values
        pushed = conditions.pushed
    }

    /// Returns a SELECT of the rows of a range, and its values.
    ///
    /// The range is translated separately, so that the statement uses all its parameters.
    /// PostgreSQL refuses a statement with unused parameters.
    static func rows(
        of range: FetchRequest.Predicate, request: FetchRequest, entity: ManagedObjectModel.Entity, schema: SQLSchema
    ) -> (sql: String, values: [SQLValue]) {
        var translator = SQLPredicateTranslator(schema: schema, request: request, entity: entity)
        let conditions = words(translator.conditions(range).terms)
        let table = schema.table(of: entity.number).quotedName
        return ("SELECT 1 FROM \(table) AS t0\(conditions)", translator.values)
    }

    /// The SELECT statement of the records.
    var recordsSQL: String { plan.qualifiedSQL + found }

    /// Returns a SELECT of the keys, and of the entity numbers if requested.
    func keysSQL(withEntity: Bool) -> String {
        "SELECT t0._id\(withEntity ? ", t0._entity" : "") FROM \(tableName) AS t0\(found)"
    }

    /// The part of a SELECT of records or keys after the table.
    private var found: String { (usesRange ? fromRange ?? from : from) + ending }

    /// Returns a SELECT of aggregates over all matching rows, and the values of its parameters.
    ///
    /// The SELECT ignores the offset and limit of the request.
    func aggregates(_ columns: String, in table: SQLTable) -> (sql: String, values: ArraySlice<SQLValue>) {
        ("SELECT \(columns) FROM \(table.quotedName) AS t0\(from)", values[..<conditionValueCount])
    }

    /// Returns a WHERE clause that requires all conditions; empty without conditions.
    static func words(_ conditions: [String]) -> String {
        conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    }
}
