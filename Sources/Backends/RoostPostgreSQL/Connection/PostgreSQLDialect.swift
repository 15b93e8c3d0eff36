#if PostgreSQL
    package import RoostCore
    package import RoostSQL
    internal import RoostJSONText

    /// The SQL of PostgreSQL.
    package struct PostgreSQLDialect: SQLParallelDialect, SQLTextSearching {
        /// The suffix of the names that PostgreSQL gives to the indexes of primary keys.
        static let primaryKeySuffix = "_pkey"
        private static let systemColumns: Set<String> = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"]

        private let profile: PostgreSQLProfile

        package init(_ profile: PostgreSQLProfile = .postgresql) { self.profile = profile }

        /// NAMEDATALEN without the final zero byte.
        package var maximumIdentifierByteCount: Int { 63 }
        /// The limit of a table; see <https://www.postgresql.org/docs/15/limits.html>.
        package var maximumColumnCount: Int { 1600 }
        /// The maximum that fits into the 16-bit parameter count of a message.
        package var maximumParameterCount: Int { 65535 }

        /// Returns whether a name can be that of a system column, a system table, or a primary
        /// key's index.
        package func isReserved(_ name: String) -> Bool {
            let name = name.lowercased()
            return name.hasPrefix("pg_") || name.hasSuffix(Self.primaryKeySuffix) || Self.systemColumns.contains(name)
        }
        /// Quotes a name as `PQescapeIdentifier` does for UTF-8, but without a connection.
        package func quote(_ identifier: String) -> String { "\"" + identifier.replacing("\"", with: "\"\"") + "\"" }
        package func parameter(_ position: Int) -> String { "$\(position)" }

        package var integerType: String { "BIGINT" }
        /// TEXT with the collation C, which compares bytes.
        ///
        /// The databases of the portable profile always compare bytes.
        package var textType: String { profile == .portable ? "TEXT" : "TEXT COLLATE \"C\"" }
        package var blobType: String { "BYTEA" }
        /// DOUBLE PRECISION, whose bits are stored and sent unchanged.
        package var floatingType: String { "DOUBLE PRECISION" }

        /// Returns CREATE INDEX, with nulls first in ascending columns and last in descending ones.
        package func createIndex(
            _ name: String, on table: String, columns: [SQLIndexColumn], isUnique: Bool, condition: String?
        ) -> String {
            let list = columns.map { order($0.quotedName, ascending: $0.isAscending)[0] }.joined(separator: ", ")
            let rows = condition.map { " WHERE \($0)" } ?? ""
            return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(quote(name)) ON \(table) (\(list))\(rows)"
        }

        package var hasPartialIndexes: Bool { true }
        /// Always true, because DROP INDEX locks the table.
        package var locksReadersToDropIndexes: Bool { true }

        package func upsert(into table: String, key: [String], columns: [String]) -> String? {
            let all = key + columns
            let parameters = (1...all.count).map { parameter($0) }.joined(separator: ", ")
            let settings = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            return
                "INSERT INTO \(table) (\(all.joined(separator: ", "))) VALUES (\(parameters)) ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(settings)"
        }

        static let placeCount = 32
        package var writerPlaceCount: Int { Self.placeCount }

        package var makesIndexesWithTables: Bool { profile == .portable }

        /// Returns the clause for a lock; see
        /// <https://www.postgresql.org/docs/15/explicit-locking.html#LOCKING-ROWS>.
        ///
        /// In the portable profile, rows that are only read need no lock, because its transactions
        /// are `SERIALIZABLE`.
        package func rowLock(_ lock: SQLRowLock) -> String {
            guard profile == .postgresql else {
                return switch lock {
                case .existence, .version: ""
                case .change, .removal: "FOR UPDATE"
                }
            }
            return switch lock {
            case .existence: "FOR KEY SHARE"
            case .version: "FOR SHARE"
            case .change: "FOR NO KEY UPDATE"
            case .removal: "FOR UPDATE"
            }
        }

        private static let lowBits = "4294967295"

        /// Returns an expression for the sum modulo 2⁶⁴.
        ///
        /// It adds the low and the high 32 bits separately, so that each sum fits into 64 bits.
        package func wrappingSum(_ column: String) -> String {
            let low = "SUM(\(column) & \(Self.lowBits))::bigint"
            return
                "(((SUM((\(column) >> 32)::integer) + (\(low) >> 32)) << 32) | (\(low) & \(Self.lowBits)))"
        }

        /// Returns an INSERT that adds to the values of existing rows, modulo 2⁶⁴.
        package func addingInsert(into table: String, key: [String], columns: [String], rowCount: Int) -> String {
            let all = key + columns
            let rows = (0..<rowCount).map { row in
                "(" + (1...all.count).map { parameter(row * all.count + $0) }.joined(separator: ", ") + ")"
            }
            func sum(_ column: String) -> String {
                let (old, new) = ("\(table).\(column)", "excluded.\(column)")
                let low = "((\(old) & \(Self.lowBits)) + (\(new) & \(Self.lowBits)))"
                return
                    "(((\(old) >> 32) + (\(new) >> 32) + (\(low) >> 32)) << 32) | (\(low) & \(Self.lowBits))"
            }
            let settings = columns.map { "\($0) = \(sum($0))" }.joined(separator: ", ")
            return
                "INSERT INTO \(table) (\(all.joined(separator: ", "))) VALUES \(rows.joined(separator: ", ")) ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(settings)"
        }

        package func isDistinct(_ left: String, from right: String) -> String { "(\(left) IS DISTINCT FROM \(right))" }

        /// Returns a comparison that excludes NaN, which PostgreSQL orders after all numbers.
        package func floating(_ column: String, greaterThan parameter: String, orEqual: Bool) -> String? {
            "(\(column) \(orEqual ? ">=" : ">") \(parameter) AND \(column) < 'NaN')"
        }

        /// Returns a condition that is false only for NaN, which equals itself in PostgreSQL.
        package func isNoNaN(_ column: String) -> String? { "(\(column) IS DISTINCT FROM 'NaN'::double precision)" }

        /// Returns the terms of ``order(_:ascending:)``, in which NaN comes after all numbers.
        package func floatingOrder(_ column: String, ascending: Bool) -> [String]? {
            order(column, ascending: ascending)
        }

        /// Returns a search with `strpos`, or with `right` if the pattern must be at the end.
        ///
        /// Returns nil if the pattern contains U+0000, U+0001 or U+0002, which ``PostgreSQLText``
        /// escapes or uses in escapes.
        package func finds(_ pattern: String, parameter: String, atEnd: Bool, in text: String) -> String? {
            guard !pattern.utf8.contains(where: { $0 <= 2 }) else { return nil }
            return atEnd
                ? "right(\(text), \(pattern.unicodeScalars.count)) = \(parameter)"
                : "strpos(\(text), \(parameter)) > 0"
        }

        /// Returns `lower` of a text, and a condition that is true if the text is not ASCII.
        package func lowercasedASCII(_ text: String) -> (text: String, isOther: String) {
            ("lower(\(text))", "octet_length(\(text)) <> char_length(\(text))")
        }

        package func order(_ column: String, ascending: Bool) -> [String] {
            [ascending ? "\(column) NULLS FIRST" : "\(column) DESC NULLS LAST"]
        }

        /// Returns SUM as a 64-bit integer; the statement fails if the sum needs more bits.
        package func sum(_ column: String) -> String? { "CAST(SUM(\(column)) AS BIGINT)" }

        package func digitsOfSum(_ column: String) -> String { "SUM(\(column))::text" }

        /// Returns the values as an array in one parameter, and a query for the elements.
        ///
        /// Returns nil unless `values` is a nonempty array of only integers or only texts.
        package func list(_ values: [SQLValue], parameter: String) -> (value: SQLValue, elements: String)? {
            var text: [UInt8] = [UInt8(ascii: "{")]
            var type: String?
            text.reserveCapacity(values.count * 8)
            for value in values {
                if text.count > 1 { text.append(UInt8(ascii: ",")) }
                let own: String
                switch value {
                case .integer(let number):
                    own = "bigint"
                    text += Array(String(number).utf8)
                case .text(let element):
                    own = "text"
                    text.append(UInt8(ascii: "\""))
                    for byte in element.utf8 {
                        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
                        text.append(byte)
                    }
                    text.append(UInt8(ascii: "\""))
                default: return nil
                }
                guard type == nil || type == own else { return nil }
                type = own
            }
            text.append(UInt8(ascii: "}"))
            return type.map {
                (.text(String(decoding: text, as: UTF8.self)), "SELECT unnest(\(parameter)::text::\($0)[])")
            }
        }

        /// Returns the plan of EXPLAIN; see <https://www.postgresql.org/docs/15/sql-explain.html>.
        package func plan(of sql: String, on connection: any SQLConnection) throws(StoreError) -> SQLPlan {
            // The plan is generic, because the parameter values are not known here.
            guard let connection = connection as? PostgreSQLConnection else { return SQLPlan() }
            return try PostgreSQLPlan.plan(of: sql, on: connection)
        }
    }
#endif
