package import RoostCore
package import RoostSQL
internal import RoostSystem

/// The SQL dialect of SQLite.
package struct SQLiteDialect: SQLDialect {
    /// Makes the dialect.
    package init() {}

    /// A limit of our own: SQLite has none.
    package var maximumIdentifierByteCount: Int { 120 }
    /// SQLITE_MAX_COLUMN as it is compiled in everywhere.
    package var maximumColumnCount: Int { 2000 }
    /// The limit that ``SQLiteConnection`` sets.
    package var maximumParameterCount: Int { Int(SQLiteConnection.maximumParameterCount) }

    /// Names that start with `sqlite_` are SQLite's own.
    package func isReserved(_ name: String) -> Bool { name.lowercased().hasPrefix("sqlite_") }
    /// Double quotes, doubled inside.
    package func quote(_ identifier: String) -> String { "\"" + identifier.replacing("\"", with: "\"\"") + "\"" }
    /// `?1`.
    package func parameter(_ position: Int) -> String { "?\(position)" }

    /// INTEGER.
    package var integerType: String { "INTEGER" }
    /// TEXT with its default collation BINARY, which compares bytes.
    package var textType: String { "TEXT" }
    /// BLOB.
    package var blobType: String { "BLOB" }
    /// ANY: REAL would store −0.0 as the integer 0 and refuse the text of a NaN.
    ///
    /// In a STRICT table ANY converts nothing.
    package var floatingType: String { "ANY" }
    /// ANY.
    package var anyType: String? { "ANY" }

    /// A STRICT table; one with a compound key WITHOUT ROWID.
    package func createTable(_ name: String, columns: [String], primaryKey: [String]) -> String {
        let key = primaryKey.isEmpty ? [] : ["PRIMARY KEY (\(primaryKey.joined(separator: ", ")))"]
        let options = primaryKey.isEmpty ? "STRICT" : "STRICT, WITHOUT ROWID"
        return "CREATE TABLE \(quote(name)) (\n  \((columns + key).joined(separator: ",\n  "))\n) \(options)"
    }

    /// The rowid under a name.
    package func keyColumn(_ quotedName: String) -> String { "\(quotedName) INTEGER PRIMARY KEY" }

    /// `IS NOT`.
    package func isDistinct(_ left: String, from right: String) -> String { "\(left) IS NOT \(right)" }

    /// SQLite compares a 64-bit integer with a double as the numbers that they are.
    package var comparesNumbersExactly: Bool { true }

    /// NaN are texts, and every text is greater than every number, the empty one the least.
    package func floating(_ column: String, greaterThan parameter: String, orEqual: Bool) -> String? {
        "(\(column) \(orEqual ? ">=" : ">") \(parameter) AND \(column) < '')"
    }

    /// NaN are texts.
    package func isNoNaN(_ column: String) -> String? { "typeof(\(column)) <> 'text'" }

    /// Sorts texts as equals, greater than all numbers.
    package func floatingOrder(_ column: String, ascending: Bool) -> [String]? {
        let direction = ascending ? "" : " DESC"
        return [
            "typeof(\(column)) = 'text'\(direction)",
            "CASE WHEN typeof(\(column)) <> 'text' THEN \(column) END\(direction)",
        ]
    }

    /// With an index on the column this costs one look-up.
    package func findIrregularNaN(_ column: String, in table: String) -> String? {
        "SELECT 1 FROM \(table) WHERE \(column) >= '' AND \(column) <> 'NaN' LIMIT 1"
    }

    /// Nulls come first anyway.
    package func order(_ column: String, ascending: Bool) -> [String] { [ascending ? column : "\(column) DESC"] }

    /// True.
    package var hasPartialIndexes: Bool { true }
    /// True.
    package var rewritesIndexesOfSetColumns: Bool { true }

    /// OR FAIL: with ABORT, the default, SQLite first copies every page that the statement changes
    /// to a file, so that it can undo the statement alone.
    package func insertMany(into table: String) -> String { "INSERT OR FAIL INTO \(table)" }

    /// ON CONFLICT DO UPDATE.
    package func upsert(into table: String, key: [String], columns: [String]) -> String? {
        let all = key + columns
        let parameters = (1...all.count).map { parameter($0) }.joined(separator: ", ")
        let settings = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return
            "INSERT INTO \(table) (\(all.joined(separator: ", "))) VALUES (\(parameters)) ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(settings)"
    }

    /// SUM, which is an integer where all values are, and fails beyond 64 bits.
    package func sum(_ column: String) -> String? { "SUM(\(column))" }

    /// A JSON array of integers, or of texts without U+0000, which SQLite's JSON cannot hold; where
    /// SQLite has JSON.
    ///
    /// Its elements are the rows of `json_each`, a part of SQLite since 3.38 and of most builds
    /// before.
    package func list(_ values: [SQLValue], parameter: String) -> (value: SQLValue, elements: String)? {
        guard SQLiteFunctions.hasJSON else { return nil }
        var json: [UInt8] = [UInt8(ascii: "[")]
        json.reserveCapacity(values.count * 8)
        for value in values {
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            switch value {
            case .integer(let number): json += Array(String(number).utf8)
            case .text(let text):
                json.append(UInt8(ascii: "\""))
                for byte in text.utf8 {
                    switch byte {
                    case 0: return nil
                    case UInt8(ascii: "\""), UInt8(ascii: "\\"): json += [UInt8(ascii: "\\"), byte]
                    case 1..<0x20:
                        json += Array("\\u00\(byte.hexadecimal)".utf8)
                    default: json.append(byte)
                    }
                }
                json.append(UInt8(ascii: "\""))
            default: return nil
            }
        }
        json.append(UInt8(ascii: "]"))
        return (.text(String(decoding: json, as: UTF8.self)), "SELECT value FROM json_each(\(parameter))")
    }

    /// A function of ``SQLiteFunctions``.
    package func matches(_ text: String, with parameter: String) -> String? {
        "\(SQLiteFunctions.matches)(\(text), \(parameter))"
    }

    /// Unary plus.
    package func withoutIndex(_ column: String) -> String { "+\(column)" }

    /// A function of ``SQLiteFunctions``.
    package func sortKey(_ text: String, options: FetchRequest.Comparison.Options) -> String? {
        "\(SQLiteFunctions.sortKey)(\(text), \(options.rawValue))"
    }

    /// EXPLAIN QUERY PLAN, whose rows are meant for people: see <https://www.sqlite.org/eqp.html>.
    package func plan(of sql: String, on connection: any SQLConnection) throws(StoreError) -> SQLPlan {
        try connection.withStatement("EXPLAIN QUERY PLAN " + sql) { (statement) throws(StoreError) -> SQLPlan in
            var plan = SQLPlan()
            while try statement.step() {
                guard case .text(let detail) = try statement.value(at: 3) else { continue }
                if detail.hasPrefix("USE TEMP B-TREE FOR") { plan.sorts = true }
                if detail.hasPrefix("SEARCH"), detail.contains(" USING INTEGER PRIMARY KEY ") { plan.usesKeys = true }
                for word in [" USING INDEX ", " USING COVERING INDEX "] {
                    guard let range = detail.firstRange(of: word) else { continue }
                    // The search terms follow the name, in parentheses.
                    let rest = detail[range.upperBound...]
                    let end = detail.hasPrefix("SEARCH") ? rest.firstRange(of: " (")?.lowerBound : nil
                    let name = String(rest[..<(end ?? rest.endIndex)])
                    if !plan.indexes.contains(name) { plan.indexes.append(name) }
                }
            }
            return plan
        }
    }
}
