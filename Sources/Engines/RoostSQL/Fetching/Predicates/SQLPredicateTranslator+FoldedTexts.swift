internal import RoostCore
internal import RoostQuery

extension SQLPredicateTranslator {
    /// Returns the condition that a row is in the index ranges of a folded comparison with a
    /// constant; nil without such ranges.
    ///
    /// A folded comparison ignores case or diacritics. The ranges may contain rows that do not
    /// match.
    mutating func ranges(ofFolded predicate: FetchRequest.Predicate, alias: String) -> String? {
        guard case .comparison(let comparison) = predicate, comparison.modifier == .direct,
            case .keyPath(let path) = comparison.left, let pattern = comparison.right.constantText,
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

    mutating func foldedSearch(_ predicate: FetchRequest.Predicate) -> String? {
        guard let ranges = ranges(ofFolded: predicate, alias: "i") else { return nil }
        let table = schema.table(of: object.entity.number).quotedName
        return "SELECT i._id FROM \(table) AS i WHERE \(ranges)"
    }
}

extension FetchRequest.Predicate {
    fileprivate var hasFoldedConjunct: Bool {
        switch self {
        case .comparison(let comparison):
            !comparison.options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
        case .and(let members): members.contains { $0.hasFoldedConjunct }
        default: false
        }
    }
}

extension FetchRequest.Expression {
    /// The constant text or URI.
    fileprivate var constantText: String? {
        switch self {
        case .constant(.string(let text)), .constant(.uri(let text)): text
        default: nil
        }
    }
}

/// A function that counts the rows of a SELECT with parameters.
///
/// Returns nil for `limit` rows or more. If `limit` is nil, the limit is the number of rows at
/// which a scan becomes faster than an index.
typealias SQLRowCount = (_ sql: String, _ values: [SQLValue], _ limit: Int64?) throws(StoreError) -> Int64?

extension SQLFetchStatement {
    /// The maximum number of folded comparisons whose rows are counted for one request.
    private static let maximumCounted = 2

    /// Returns a folded comparison in a request's predicate, if its ranges in an index contain few
    /// rows.
    ///
    /// Returns nil if another condition finds fewer rows in an index.
    static func foldedSearch(
        of request: FetchRequest, entity: ManagedObjectModel.Entity, schema: SQLSchema, count: SQLRowCount
    ) throws(StoreError) -> FetchRequest.Predicate? {
        guard let predicate = request.predicate, predicate.hasFoldedConjunct else { return nil }
        let translator = SQLPredicateTranslator(schema: schema, request: request, entity: entity)
        let conjuncts = predicate.conjuncts
        guard !conjuncts.contains(where: { translator.isLookup($0) }) else { return nil }
        var counted = 0
        for conjunct in conjuncts where counted < maximumCounted {
            var counting = translator
            guard let sql = counting.foldedSearch(conjunct) else { continue }
            counted += 1
            guard let few = try count(sql, counting.values, nil) else { continue }
            let ranges = conjuncts.filter { translator.isRange($0) }
            guard !ranges.isEmpty else { return conjunct }
            let others = rows(of: .and(ranges), request: request, entity: entity, schema: schema)
            let isFewer = try count(others.sql, others.values, few) != nil
            return isFewer ? nil : conjunct
        }
        return nil
    }
}
