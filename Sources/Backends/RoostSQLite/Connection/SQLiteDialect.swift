package import RoostCore
package import RoostSQL
internal import RoostSystem

/// The SQL dialect of SQLite.
package struct SQLiteDialect: SQLDialect {
    package init() {}

    /// Roost's own limit, because SQLite has none.
    package var maximumIdentifierByteCount: Int { 120 }
    /// SQLITE_MAX_COLUMN of standard builds.
    package var maximumColumnCount: Int { 2000 }
    package var maximumParameterCount: Int { Int(SQLiteConnection.maximumParameterCount) }

    package func isReserved(_ name: String) -> Bool { name.lowercased().hasPrefix("sqlite_") }
    package func quote(_ identifier: String) -> String { "\"" + identifier.replacing("\"", with: "\"\"") + "\"" }
    package func parameter(_ position: Int) -> String { "?\(position)" }

    package var integerType: String { "INTEGER" }
    /// TEXT, whose default collation BINARY compares bytes.
    package var textType: String { "TEXT" }
    package var blobType: String { "BLOB" }
    /// ANY, since REAL would store −0.0 as the integer 0 and refuse the text of a NaN.
    ///
    /// In a STRICT table, ANY does not convert values.
    package var floatingType: String { "ANY" }
    package var anyType: String? { "ANY" }

    package func createTable(_ name: String, columns: [String], primaryKey: [String]) -> String {
        let key = primaryKey.isEmpty ? [] : ["PRIMARY KEY (\(primaryKey.joined(separator: ", ")))"]
        let options = primaryKey.isEmpty ? "STRICT" : "STRICT, WITHOUT ROWID"
        return "CREATE TABLE \(quote(name)) (\n  \((columns + key).joined(separator: ",\n  "))\n) \(options)"
    }

    /// Returns a column that is an alias of the rowid.
    package func keyColumn(_ quotedName: String) -> String { "\(quotedName) INTEGER PRIMARY KEY" }

    package func isDistinct(_ left: String, from right: String) -> String { "\(left) IS NOT \(right)" }

    /// Always true, because SQLite compares a 64-bit integer with a double exactly.
    package var comparesNumbersExactly: Bool { true }

    /// Returns a comparison that excludes NaN, which is a text and so greater than all numbers.
    package func floating(_ column: String, greaterThan parameter: String, orEqual: Bool) -> String? {
        "(\(column) \(orEqual ? ">=" : ">") \(parameter) AND \(column) < '')"
    }

    package func isNoNaN(_ column: String) -> String? { "typeof(\(column)) <> 'text'" }

    /// Returns an order in which all texts are equal and greater than all numbers.
    package func floatingOrder(_ column: String, ascending: Bool) -> [String]? {
        let direction = ascending ? "" : " DESC"
        return [
            "typeof(\(column)) = 'text'\(direction)",
            "CASE WHEN typeof(\(column)) <> 'text' THEN \(column) END\(direction)",
        ]
    }

    /// Returns a query for a text other than `NaN`; an index on the column can answer it.
    package func findIrregularNaN(_ column: String, in table: String) -> String? {
        "SELECT 1 FROM \(table) WHERE \(column) >= '' AND \(column) <> 'NaN' LIMIT 1"
    }

    /// Returns only the column and its direction, because SQLite already sorts nulls below all
    /// values.
    package func order(_ column: String, ascending: Bool) -> [String] { [ascending ? column : "\(column) DESC"] }

    /// Always true.
    package var hasPartialIndexes: Bool { true }
    /// Always true.
    package var rewritesIndexesOfSetColumns: Bool { true }

    /// Returns INSERT OR FAIL.
    ///
    /// With the default ABORT, SQLite would save the old content of every changed page in a file.
    package func insertMany(into table: String) -> String { "INSERT OR FAIL INTO \(table)" }

    package func upsert(into table: String, key: [String], columns: [String]) -> String? {
        let all = key + columns
        let parameters = (1...all.count).map { parameter($0) }.joined(separator: ", ")
        let settings = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return
            "INSERT INTO \(table) (\(all.joined(separator: ", "))) VALUES (\(parameters)) ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(settings)"
    }

    /// Returns a SUM, which is an integer if all values are integers and fails beyond 64 bits.
    package func sum(_ column: String) -> String? { "SUM(\(column))" }

    /// Returns the values as a JSON array, and a SELECT of its elements.
    ///
    /// Returns nil if SQLite has no JSON functions, or if a value is neither an integer nor a text.
    /// Returns nil for a text with U+0000 too, because SQLite's JSON cannot contain it.
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

    package func matches(_ text: String, with parameter: String) -> String? {
        "\(SQLiteFunctions.matches)(\(text), \(parameter))"
    }

    /// Returns the column with a unary plus, which prevents the use of an index.
    package func withoutIndex(_ column: String) -> String { "+\(column)" }

    package func sortKey(_ text: String, options: FetchRequest.Comparison.Options) -> String? {
        "\(SQLiteFunctions.sortKey)(\(text), \(options.rawValue))"
    }

    /// Reads the text of EXPLAIN QUERY PLAN, whose form can change.
    ///
    /// See <https://www.sqlite.org/eqp.html>.
    package func plan(of sql: String, on connection: any SQLConnection) throws(StoreError) -> SQLPlan {
        try connection.withStatement("EXPLAIN QUERY PLAN " + sql) { (statement) throws(StoreError) -> SQLPlan in
            var plan = SQLPlan()
            while try statement.step() {
                guard case .text(let detail) = try statement.value(at: 3) else { continue }
                if detail.hasPrefix("USE TEMP B-TREE FOR") { plan.sorts = true }
                if detail.hasPrefix("SEARCH"), detail.contains(" USING INTEGER PRIMARY KEY ") { plan.usesKeys = true }
                for word in [" USING INDEX ", " USING COVERING INDEX "] {
                    guard let range = detail.firstRange(of: word) else { continue }
                    // After the index name, the search terms are in parentheses.
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
