internal import RoostCore
internal import RoostQuery

extension SQLPredicateTranslator {
    /// Returns a condition on an indexed column that all rows meet for which a folded comparison
    /// with a constant is true.
    ///
    /// The condition is a few ranges of the index. It does not decide the comparison.
    ///
    /// - Parameters:
    ///   - predicate: The comparison.
    ///   - alias: The alias of the row of the object's table.
    /// - Returns: The condition; nil for any other predicate.
    mutating func ranges(ofFolded predicate: FetchRequest.Predicate, alias: String) -> String? {
        guard case .comparison(let comparison) = predicate, comparison.modifier == .direct,
            case .keyPath(let path) = comparison.left, case .constant(.string(let pattern)) = comparison.right,
            let (column, _) = indexedColumn(path),
            let matcher = try? StringMatcher(comparison.operator, pattern: pattern, options: comparison.options),
            let ranges = matcher.beginnings
        else { return nil }
        let terms = ranges.map { range in
            let lower = "\(alias).\(column) >= \(bind(.text(range.lower)))"
            guard let upper = range.upper else { return lower }
            return "(\(lower) AND \(alias).\(column) < \(bind(.text(upper))))"
        }
        return Self.chain(terms, word: "OR")
    }

    /// Returns the SELECT of the keys in the ranges of a folded comparison.
    mutating func foldedSearch(_ predicate: FetchRequest.Predicate) -> String? {
        guard let ranges = ranges(ofFolded: predicate, alias: "i") else { return nil }
        let table = schema.table(of: object.entity.number).quotedName
        return "SELECT i._id FROM \(table) AS i WHERE \(ranges)"
    }
}

extension SQLFetchStatement {
    /// Returns a folded comparison of a request whose ranges in an index contain few rows; nil if
    /// there is none, or if an index finds the rows without it.
    ///
    /// - Parameter isFew: Returns whether a SELECT with these parameters has few rows.
    static func foldedSearch(
        of request: FetchRequest, entity: ManagedObjectModel.Entity, schema: SQLSchema,
        isFew: (_ sql: String, _ values: [SQLValue]) throws(StoreError) -> Bool
    ) throws(StoreError) -> FetchRequest.Predicate? {
        let translator = SQLPredicateTranslator(schema: schema, request: request, entity: entity)
        let conjuncts = request.predicate?.conjuncts ?? []
        guard !conjuncts.contains(where: { translator.isLookup($0) }) else { return nil }
        for conjunct in conjuncts {
            var counting = translator
            guard let sql = counting.foldedSearch(conjunct) else { continue }
            if try isFew(sql, counting.values) { return conjunct }
        }
        return nil
    }
}
