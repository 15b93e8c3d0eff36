public import RoostCore

extension StoreSnapshot {
    /// Reads the rows that a request asks for: values in named columns instead of objects.
    ///
    /// Without aggregates and groups there is one row for each object, in the order of the request; they stream, and only columns that
    /// are asked for are decoded. With aggregates and no groups there is one row, also when there is no object. With groups there is one for each,
    /// in the order of the sort descriptors, then of the objects with the least key in each; all objects are read before the first row,
    /// and memory is one entry for each group (median, mode and standard deviation keep every value).
    ///
    /// A to-one relationship's value is the ID of its object. A key path through one that leads nowhere is null. Where an order,
    /// `havingPredicate` or `propertiesToGroupBy` has the name of a column, the column is meant. Offset and limit count rows. Sums
    /// of whole numbers and decimals are exact, rounded once to the 38 digits of a decimal; floating-point numbers are added in the order of keys, so that every store gives the
    /// same rows, bit for bit.
    ///
    /// An order by a column that is an expression keeps all rows (with a limit about twice as many as it wants); distinct rows keep a key each.
    ///
    /// - Throws: Before the first row: `unknownEntity`, `unknownProperty`; `invalidRequest`, naming it, for a column with many values, one
    ///   that is neither grouped nor an aggregate beside such, a condition on groups without groups, an order by what a grouped row does not
    ///   have, and what ``fetch(_:)`` refuses.
    /// - Complexity: That of ``fetch(_:)``, plus reading each object that columns lead to once for each batch at most.
    public func rows(_ request: RowRequest) throws(StoreError) -> any RowCursor {
        let plan = try RowPlan(request, model: model)
        let objects = try CheckedFetchRequest(plan.request, model: model)
        let evaluator = PredicateEvaluator(plan.program, graph: objectGraph())
        let records = try fetch(checked: objects)
        var rows: any RowCursor
        if let grouping = plan.grouping {
            let source = GroupedRows.Source(snapshot: self, request: objects, records: records)
            rows = GroupedRows(plan, grouping, of: source, evaluator)
        } else {
            rows = RecordRows(plan, records, evaluator)
        }
        if let order = plan.order {
            let window = plan.isDistinct ? nil : plan.window
            rows = SortedRows(
                rows, columns: plan.columns, levels: order, needed: window.flatMap { $0.reach }, model: model)
        }
        if plan.isDistinct { rows = DistinctRows(rows, model) }
        if let window = plan.window { rows = WindowedRows(rows, offset: window.offset, limit: window.limit) }
        return rows
    }

    /// Tells how the store finds the objects that rows are made of, as ``explain(_:executing:)`` does.
    ///
    /// - Throws: As ``rows(_:)``.
    package func explainRows(_ request: RowRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try explain(try RowPlan(request, model: model).request, executing: executing)
    }
}
