public import RoostCore

extension StoreSnapshot {
    /// Reads the rows that a request returns: values in named columns instead of objects.
    ///
    /// - Without aggregates and groups, each object gives one row, in the order of the request.
    ///   Rows are streamed, and only requested columns are decoded.
    /// - With aggregates and no groups, there is exactly one row, even without objects.
    /// - With groups, each group gives one row. Groups are ordered by the sort descriptors, then by
    ///   the lowest key of each group's objects.
    ///
    /// For groups and aggregates, all objects are read before the first row. Memory contains one
    /// entry for each group; median, mode and standard deviation also store every value.
    ///
    /// The value of a to-one relationship is the ID of the destination. A key path through an empty
    /// or dangling relationship is null. In sort descriptors, `havingPredicate` and
    /// `propertiesToGroupBy`, a column name takes precedence over a property name. Offset and limit
    /// count rows. Sums of whole numbers and decimals are exact, and are rounded once to 38 digits.
    /// Floating-point numbers are added in key order, so that every store returns the same rows,
    /// bit for bit.
    ///
    /// Sorting by a column with an expression buffers all rows in memory. With a limit and without
    /// removal of duplicates, it buffers only about 2 × (offset + limit) rows. Removing duplicates
    /// keeps the encoded values of each distinct row in memory.
    ///
    /// - Throws: Before the first row: `unknownEntity`, `unknownProperty`; `invalidRequest` for a
    ///   column with many values, a column that is neither grouped nor an aggregate in a request
    ///   with groups or aggregates, a `havingPredicate` without groups, or an order by a value that
    ///   a grouped row does not have; the other errors of ``fetch(_:)``.
    /// - Complexity: The complexity of ``fetch(_:)``. Objects to which columns refer are read at
    ///   most once for each batch if they fit into 8 MiB.
    public func rows(_ request: RowRequest) throws(StoreError) -> any RowCursor {
        let plan = try RowPlan(request, model: model)
        let objects = try CheckedFetchRequest(plan.request, model: model)
        let evaluator = PredicateEvaluator(plan.program, graph: objectGraph())
        let records = try fetch(checked: objects)
        var rows: any RowCursor
        if let grouping = plan.grouping {
            let source = GroupedRows.Source(snapshot: self, request: objects, records: records)
            rows = GroupedRows(plan, grouping: grouping, of: source, evaluator: evaluator)
        } else {
            rows = RecordRows(plan, records: records, evaluator: evaluator)
        }
        if let order = plan.order {
            let window = plan.isDistinct ? nil : plan.window
            rows = SortedRows(
                rows, columns: plan.columns, levels: order, needed: window.flatMap { $0.reach }, model: model)
        }
        if plan.isDistinct { rows = DistinctRows(rows, model: model) }
        if let window = plan.window { rows = WindowedRows(rows, offset: window.offset, limit: window.limit) }
        return rows
    }

    /// Returns the plan for fetching the objects of the rows; see ``explain(_:executing:)``.
    package func explainRows(_ request: RowRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try explain(try RowPlan(request, model: model).request, executing: executing)
    }
}
