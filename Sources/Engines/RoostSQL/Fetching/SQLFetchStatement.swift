internal import RoostCore
internal import RoostQuery

/// The part of a fetch request that one SELECT does, and the rest, to be done on its records.
struct SQLFetchStatement {
    /// The table, as SQL names it.
    private let tableName: String
    /// The JOINs and conditions of the SELECT.
    private let from: String
    /// The same with the keys of a range gathered from its index; nil where that is of no use.
    private let fromRange: String?
    /// A SELECT that counts the rows of the range, up to its last parameter, which follows the
    /// others; nil if the count is not needed.
    private(set) var rangeCount: (sql: String, values: [SQLValue])?
    /// Whether the range is small enough.
    var usesRange = true
    /// ORDER BY and LIMIT; the key comes last in every order.
    private let ending: String
    /// The parameters; an aggregate has no use for the last ones, if there is a limit.
    let values: [SQLValue]
    /// The number of parameters in the conditions.
    private let conditionValueCount: Int
    /// The parts of the predicate that the statement decides.
    let pushed: [FetchRequest.Predicate]
    /// The request to be answered from the statement's records in key order; nil when there is
    /// nothing left to do.
    let rest: CheckedFetchRequest?
    /// The plan by which its rows become records.
    let plan: SQLReadPlan

    /// Translates a request.
    ///
    /// - Parameters:
    ///   - checked: What is wanted.
    ///   - schema: The tables.
    ///   - isRegular: Whether a column of a table has no NaN but the common one.
    /// - Throws: What `isRegular` throws.
    init(
        _ checked: CheckedFetchRequest, schema: SQLSchema,
        isRegular: (_ column: String, SQLTable) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let request = checked.request
        let entity = try schema.model.requireEntity(request.entity)
        let table = schema.table(of: entity.number)
        var translator = SQLPredicateTranslator(schema: schema, request: request, entity: entity)
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
            // A predicate that SQL decides no part of is not compiled again.
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
            // The statement collects the keys of a range and reads the rows in key order. Otherwise
            // a database reads the whole table in that order or sorts whole rows. With a limit,
            // reading in order is cheaper.
            let rows = "FROM \(table.quotedName) AS t0\(Self.words(range.conditions))"
            let others = conditions.terms.filter { !range.conditions.contains($0) }
            fromRange = joins + Self.words(["t0._id IN (SELECT t0._id \(rows))"] + others)
            if range.ends != [.lower, .upper] {
                rangeCount = Self.rangeCount(range.predicate, of: request, entity: entity, schema: schema)
            }
        } else {
            fromRange = nil
        }
        self.ending = ending
        self.values = values
        pushed = conditions.pushed
    }

    /// Returns the statement that counts the rows of a range up to a limit, and its values.
    ///
    /// The range is translated separately, so that the statement uses all its parameters.
    /// PostgreSQL refuses a statement that does not.
    private static func rangeCount(
        _ range: FetchRequest.Predicate, of request: FetchRequest, entity: ManagedObjectModel.Entity, schema: SQLSchema
    ) -> (sql: String, values: [SQLValue]) {
        var counting = SQLPredicateTranslator(schema: schema, request: request, entity: entity)
        let conditions = words(counting.conditions(range).terms)
        let limit = schema.dialect.limit(schema.dialect.parameter(counting.values.count + 1), offset: nil)
        let table = schema.table(of: entity.number).quotedName
        return ("SELECT COUNT(*) FROM (SELECT 1 FROM \(table) AS t0\(conditions) \(limit)) AS matches", counting.values)
    }

    /// SELECT of the records.
    var recordsSQL: String { plan.qualifiedSQL + found }

    /// SELECT of the keys, and of the numbers of the entities if they are wanted.
    func keysSQL(withEntity: Bool) -> String {
        "SELECT t0._id\(withEntity ? ", t0._entity" : "") FROM \(tableName) AS t0\(found)"
    }

    /// The part after the table of a SELECT of records or keys.
    private var found: String { (usesRange ? fromRange ?? from : from) + ending }

    /// SELECT of aggregates over the rows that meet the conditions, offset and limit left aside,
    /// and its parameters.
    func aggregates(_ columns: String, in table: SQLTable) -> (sql: String, values: ArraySlice<SQLValue>) {
        ("SELECT \(columns) FROM \(table.quotedName) AS t0\(from)", values[..<conditionValueCount])
    }

    /// Returns a WHERE clause that requires all conditions; empty without conditions.
    static func words(_ conditions: [String]) -> String {
        conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    }
}
