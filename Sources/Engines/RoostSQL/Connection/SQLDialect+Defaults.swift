public import RoostCore

// The defaults in standard SQL; nil if standard SQL has no expression.

extension SQLDialect {
    /// Returns false.
    public func isReserved(_ name: String) -> Bool { false }
    /// The default, nil.
    public var anyType: String? { nil }

    /// Returns CREATE TABLE with a primary key.
    public func createTable(_ name: String, columns: [String], primaryKey: [String]) -> String {
        let key = primaryKey.isEmpty ? [] : ["PRIMARY KEY (\(primaryKey.joined(separator: ", ")))"]
        return "CREATE TABLE \(quote(name)) (\n  \((columns + key).joined(separator: ",\n  "))\n)"
    }

    /// Returns a column with NOT NULL PRIMARY KEY.
    public func keyColumn(_ quotedName: String) -> String { "\(quotedName) \(integerType) NOT NULL PRIMARY KEY" }

    /// Returns CREATE INDEX in standard SQL, with WHERE if there is a condition.
    public func createIndex(
        _ name: String, on table: String, columns: [SQLIndexColumn], isUnique: Bool, condition: String?
    ) -> String {
        let list = columns.map { $0.isAscending ? $0.quotedName : $0.quotedName + " DESC" }.joined(separator: ", ")
        let rows = condition.map { " WHERE \($0)" } ?? ""
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(quote(name)) ON \(table) (\(list))\(rows)"
    }

    /// Returns DROP INDEX.
    public func dropIndex(_ name: String) -> String { "DROP INDEX \(quote(name))" }
    /// The default, false.
    public var hasPartialIndexes: Bool { false }
    /// The default, false.
    public var locksReadersToDropIndexes: Bool { false }
    /// The default, false.
    public var rewritesIndexesOfSetColumns: Bool { false }

    /// Returns INSERT INTO.
    public func insertMany(into table: String) -> String { "INSERT INTO \(table)" }
    /// Returns nil.
    public func upsert(into table: String, key: [String], columns: [String]) -> String? { nil }

    /// Returns a condition in standard SQL.
    public func isDistinct(_ left: String, from right: String) -> String {
        "COALESCE(\(left) <> \(right), NOT (\(left) IS NULL AND \(right) IS NULL))"
    }

    /// The default, false.
    public var comparesNumbersExactly: Bool { false }
    /// Returns nil; the engine checks records.
    public func floating(_ column: String, greaterThan parameter: String, orEqual: Bool) -> String? { nil }
    /// Returns nil; the engine checks records.
    public func isNoNaN(_ column: String) -> String? { nil }
    /// Returns nil; the engine computes the sum from records.
    public func sum(_ column: String) -> String? { nil }
    /// Returns nil; each value is a parameter.
    public func list(_ values: [SQLValue], parameter: String) -> (value: SQLValue, elements: String)? { nil }
    /// Returns nil; the engine checks records.
    public func matches(_ text: String, with parameter: String) -> String? { nil }
    /// Returns the column itself.
    public func withoutIndex(_ column: String) -> String { column }

    /// Returns a term for the position of nulls, and a term for the value.
    public func order(_ column: String, ascending: Bool) -> [String] {
        let direction = ascending ? "" : " DESC"
        return ["CASE WHEN \(column) IS NULL THEN 0 ELSE 1 END\(direction)", "\(column)\(direction)"]
    }

    /// Returns nil; the engine sorts records.
    public func floatingOrder(_ column: String, ascending: Bool) -> [String]? { nil }
    /// Returns nil.
    public func findIrregularNaN(_ column: String, in table: String) -> String? { nil }
    /// Returns nil; the engine sorts records.
    public func sortKey(_ text: String, options: FetchRequest.Comparison.Options) -> String? { nil }

    /// Returns LIMIT and OFFSET.
    public func limit(_ count: String, offset: String?) -> String {
        "LIMIT \(count)" + (offset.map { " OFFSET \($0)" } ?? "")
    }

    /// Returns an empty plan.
    public func plan(of sql: String, on connection: any SQLConnection) throws(StoreError) -> SQLPlan { SQLPlan() }
}
