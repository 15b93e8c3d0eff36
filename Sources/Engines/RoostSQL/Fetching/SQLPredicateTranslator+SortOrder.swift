internal import RoostCore

extension SQLPredicateTranslator {
    /// Returns the ORDER BY terms that order rows exactly as ``RecordSortOrder`` orders records.
    ///
    /// The result omits the final term `_id`, and is nil if SQL cannot express the order.
    /// `isRegular` returns whether a column is known to contain no irregular NaN; see
    /// ``SQLDialectAbilities/findIrregularNaN(_:in:)``.
    mutating func order(
        _ descriptors: [FetchRequest.SortDescriptor],
        isRegular: (_ column: String, SQLTable) throws(StoreError) -> Bool
    ) throws(StoreError) -> [String]? {
        var terms: [String] = []
        var keys: Set<FetchRequest.SortDescriptor> = []
        // A repeated sort key has no effect, and a statement can have only some 2000 terms.
        for descriptor in descriptors {
            var name = descriptor
            name.isAscending = true
            guard keys.insert(name).inserted else { continue }
            let names = descriptor.key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard case .term(let term) = operand(.keyPath(names), nesting: 0) else { return nil }
            let isAscending = descriptor.isAscending
            switch term.kind {
            case .double, .float, .date:
                // Plain ORDER BY terms can use an index, but give an irregular NaN the wrong
                // position.
                let isPlain = try indexedColumn(names).map { (column, table) throws(StoreError) in
                    try isRegular(column, table)
                }
                let order =
                    isPlain == true
                    ? dialect.order(term.sql, ascending: isAscending)
                    : dialect.floatingOrder(term.sql, ascending: isAscending)
                guard let order else { return nil }
                terms += order
            case .string, .uri:
                let options = descriptor.options.subtracting(.normalized)
                guard let key = options.isEmpty ? term.sql : dialect.sortKey(term.sql, options: options) else {
                    return nil
                }
                terms += dialect.order(key, ascending: isAscending)
            case .integer64, .integer32, .integer16, .boolean, .order, .uuid, .data:
                terms += dialect.order(term.sql, ascending: isAscending)
            default: return nil
            }
        }
        return terms
    }

    /// Returns the column of the fetched object's own field `names`, if an index begins with it.
    func indexedColumn(_ names: [String]) -> (column: String, table: SQLTable)? {
        let number = object.entity.number
        let table = schema.table(of: number)
        guard let field = object.entity.layout.field(names.joined(separator: ".")),
            let column = table.column(field, of: number),
            schema.indexedColumns[schema.tableOfEntity[number]].contains(column)
        else { return nil }
        return (column, table)
    }
}
