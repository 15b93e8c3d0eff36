package import RoostCore
package import RoostQuery

extension SQLSnapshot: ExplainingSnapshot {
    /// Returns the plan of ``fetch(_:)``: the statement, and the indexes that the database uses.
    ///
    /// If `executing` is true and the engine filters or sorts the statement's rows,
    /// ``FetchPlan/visitedCount`` is their number. The database does not report how many rows it
    /// read.
    package func explain(_ checked: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        let request = checked.request
        let statement = try readingStatement(for: checked)
        let found = try schema.dialect.plan(of: statement.recordsSQL, on: try open())
        func describe(_ part: FetchRequest.Predicate) -> String {
            FetchPlan.describe(part, of: request, model: model)
        }
        var plan = FetchPlan(
            access: [.statement(statement.recordsSQL)] + (found.usesKeys ? [.keys] : [])
                + found.indexes.map { .index($0) },
            decidedByAccess: statement.pushed.map(describe))
        if let rest = statement.rest {
            plan.filteredAfterwards = (rest.request.predicate?.conjuncts ?? []).map(describe)
            plan.order = .afterwards(request)
        } else if found.sorts {
            plan.order = .byDatabase
        }
        guard executing else { return plan }
        let cursor = try cursor(statement)
        if let rest = statement.rest {
            let visits = VisitCount()
            let visitor = CountingVisitor(cursor, model: model, visits: visits)
            try ScanningFetch(rest, visiting: visitor, graph: SQLObjectGraph(self)).exhaust(model: model)
            plan.visitedCount = visits.count
        } else {
            try cursor.exhaust(model: model)
        }
        return plan
    }
}
