internal import RoostCore
internal import RoostQuery

/// A SELECT for a part of a fetch request, and the request that remains for the selected records.
struct SQLFetchStatement {
    private let tableName: String
    /// The JOINs and conditions of the SELECT.
    private let from: String
    /// The JOINs and conditions if the keys in an index range are collected first; nil if that is
    /// not useful.
    private let fromRange: String?
    /// A SELECT of the rows of the range; nil if their number does not matter.
    private(set) var rangeRows: (sql: String, values: [SQLValue])?
    /// Whether the statement collects the keys of the range first.
    var usesRange = true
    /// ORDER BY and LIMIT; the order ends with the key.
    private let ending: String
    /// The parameters.
    ///
    /// If ``ending`` has a LIMIT, its limit and offset are the last two parameters.
    let values: [SQLValue]
    private let conditionValueCount: Int
    /// The parts of the predicate that the statement decides.
    let pushed: [FetchRequest.Predicate]
    /// The remaining request for the statement's records; nil if nothing remains.
    ///
    /// The records are in key order.
    let rest: CheckedFetchRequest?
    let plan: SQLReadPlan

    /// Translates a compiled request.
    ///
    /// `isRegular` returns whether a column is known to contain no irregular NaN; see
    /// ``SQLDialectAbilities/findIrregularNaN(_:in:)``.
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
            // Collecting the keys first and then reading the rows in key order avoids reading the whole table or
            // sorting whole rows. With a limit, reading the table until the limit is cheaper.
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
    /// The range is translated separately, because PostgreSQL refuses a statement with unused
    /// parameters.
    static func rows(
        of range: FetchRequest.Predicate, request: FetchRequest, entity: ManagedObjectModel.Entity, schema: SQLSchema
    ) -> (sql: String, values: [SQLValue]) {
        var translator = SQLPredicateTranslator(schema: schema, request: request, entity: entity)
        let conditions = words(translator.conditions(range).terms)
        let table = schema.table(of: entity.number).quotedName
        return ("SELECT 1 FROM \(table) AS t0\(conditions)", translator.values)
    }

    var recordsSQL: String { plan.qualifiedSQL + found }

    func keysSQL(withEntity: Bool) -> String {
        "SELECT t0._id\(withEntity ? ", t0._entity" : "") FROM \(tableName) AS t0\(found)"
    }

    private var found: String { (usesRange ? fromRange ?? from : from) + ending }

    /// Returns a SELECT of aggregates over all matching rows; ignores offset and limit.
    func aggregates(_ columns: String, in table: SQLTable) -> (sql: String, values: ArraySlice<SQLValue>) {
        ("SELECT \(columns) FROM \(table.quotedName) AS t0\(from)", values[..<conditionValueCount])
    }

    static func words(_ conditions: [String]) -> String {
        conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    }
}
