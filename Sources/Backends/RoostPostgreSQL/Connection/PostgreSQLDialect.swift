#if PostgreSQL
    package import RoostCore
    package import RoostSQL
    internal import RoostJSONText

    /// The SQL of PostgreSQL.
    package struct PostgreSQLDialect: SQLParallelDialect, SQLTextSearching {
        /// The suffix of the names that PostgreSQL gives to the indexes of primary keys.
        static let primaryKeySuffix = "_pkey"
        /// The columns that every table has.
        private static let systemColumns: Set<String> = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"]

        private let profile: PostgreSQLProfile

        /// Creates the dialect of a profile.
        package init(_ profile: PostgreSQLProfile = .postgresql) { self.profile = profile }

        /// The maximum length of a name: NAMEDATALEN without the final zero byte.
        package var maximumIdentifierByteCount: Int { 63 }
        /// The maximum number of columns; see <https://www.postgresql.org/docs/15/limits.html>.
        package var maximumColumnCount: Int { 1600 }
        /// The maximum number of parameters, which a message counts in 16 bits.
        package var maximumParameterCount: Int { 65535 }

        /// Returns whether a name can be that of a system column, a system table, or the index of a
        /// primary key.
        package func isReserved(_ name: String) -> Bool {
            let name = name.lowercased()
            return name.hasPrefix("pg_") || name.hasSuffix(Self.primaryKeySuffix) || Self.systemColumns.contains(name)
        }
        /// Encloses a name in double quotes, and doubles the quotes inside.
        ///
        /// For UTF-8, the result equals that of `PQescapeIdentifier`, which needs a connection.
        package func quote(_ identifier: String) -> String { "\"" + identifier.replacing("\"", with: "\"\"") + "\"" }
        /// Returns a parameter, such as `$1`.
        package func parameter(_ position: Int) -> String { "$\(position)" }

        /// The type BIGINT.
        package var integerType: String { "BIGINT" }
        /// TEXT with the collation C, which compares bytes.
        ///
        /// The portable profile needs no collation, because its databases compare bytes.
        package var textType: String { profile == .portable ? "TEXT" : "TEXT COLLATE \"C\"" }
        /// The type BYTEA.
        package var blobType: String { "BYTEA" }
        /// DOUBLE PRECISION, which is stored and sent bit by bit.
        package var floatingType: String { "DOUBLE PRECISION" }

        /// Returns CREATE INDEX, with nulls first in ascending columns and last in descending
        /// columns.
        package func createIndex(
            _ name: String, on table: String, columns: [SQLIndexColumn], isUnique: Bool, condition: String?
        ) -> String {
            let list = columns.map { order($0.quotedName, ascending: $0.isAscending)[0] }.joined(separator: ", ")
            let rows = condition.map { " WHERE \($0)" } ?? ""
            return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(quote(name)) ON \(table) (\(list))\(rows)"
        }

        /// Always true.
        package var hasPartialIndexes: Bool { true }
        /// Always true, because DROP INDEX locks the table.
        package var locksReadersToDropIndexes: Bool { true }

        /// Returns INSERT with ON CONFLICT DO UPDATE.
        package func upsert(into table: String, key: [String], columns: [String]) -> String? {
            let all = key + columns
            let parameters = (1...all.count).map { parameter($0) }.joined(separator: ", ")
            let settings = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            return
                "INSERT INTO \(table) (\(all.joined(separator: ", "))) VALUES (\(parameters)) ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(settings)"
        }

        static let placeCount = 32
        /// The number of writer places, 32.
        package var writerPlaceCount: Int { Self.placeCount }

        /// Whether the profile is portable.
        package var makesIndexesWithTables: Bool { profile == .portable }

        /// Returns FOR KEY SHARE, FOR SHARE, FOR NO KEY UPDATE or FOR UPDATE.
        ///
        /// In the portable profile, returns FOR UPDATE for rows that the transaction changes or
        /// removes. For other rows, returns an empty text. They need no lock, because transactions
        /// of this profile are `SERIALIZABLE`.
        ///
        /// See <https://www.postgresql.org/docs/15/explicit-locking.html#LOCKING-ROWS>.
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
        /// The expression adds the low and the high 32 bits separately, so that each sum
        /// fits into 64 bits.
        package func wrappingSum(_ column: String) -> String {
            let low = "SUM(\(column) & \(Self.lowBits))::bigint"
            return
                "(((SUM((\(column) >> 32)::integer) + (\(low) >> 32)) << 32) | (\(low) & \(Self.lowBits)))"
        }

        /// Returns INSERT with ON CONFLICT DO UPDATE, where the update adds modulo 2⁶⁴.
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

        /// Returns a comparison with IS DISTINCT FROM.
        package func isDistinct(_ left: String, from right: String) -> String { "(\(left) IS DISTINCT FROM \(right))" }

        /// Returns a comparison that excludes NaN, which PostgreSQL orders after all numbers.
        package func floating(_ column: String, greaterThan parameter: String, orEqual: Bool) -> String? {
            "(\(column) \(orEqual ? ">=" : ">") \(parameter) AND \(column) < 'NaN')"
        }

        /// Returns a condition that is false only for NaN.
        ///
        /// In PostgreSQL, NaN equals itself.
        package func isNoNaN(_ column: String) -> String? { "(\(column) IS DISTINCT FROM 'NaN'::double precision)" }

        /// Returns the order of an index, in which NaN comes after all numbers.
        package func floatingOrder(_ column: String, ascending: Bool) -> [String]? {
            order(column, ascending: ascending)
        }

        /// Returns a search with `strpos`, or with `right` if the pattern must be at the end.
        ///
        /// Returns nil if the pattern contains U+0000, U+0001 or U+0002. The stored form of a text
        /// uses U+0001 and U+0002 to escape U+0000 and U+0001 (``PostgreSQLText``).
        package func finds(_ pattern: String, parameter: String, atEnd: Bool, in text: String) -> String? {
            guard !pattern.utf8.contains(where: { $0 <= 2 }) else { return nil }
            return atEnd
                ? "right(\(text), \(pattern.unicodeScalars.count)) = \(parameter)"
                : "strpos(\(text), \(parameter)) > 0"
        }

        /// Returns `lower` of a text, and a condition that is true if the text is not ASCII.
        ///
        /// In an ASCII text, `lower` changes all uppercase letters.
        package func lowercasedASCII(_ text: String) -> (text: String, isOther: String) {
            ("lower(\(text))", "octet_length(\(text)) <> char_length(\(text))")
        }

        /// Returns NULLS FIRST, or NULLS LAST in a descending order.
        package func order(_ column: String, ascending: Bool) -> [String] {
            [ascending ? "\(column) NULLS FIRST" : "\(column) DESC NULLS LAST"]
        }

        /// Returns SUM as a 64-bit integer instead of a decimal number.
        ///
        /// The statement fails if the sum needs more bits.
        package func sum(_ column: String) -> String? { "CAST(SUM(\(column)) AS BIGINT)" }

        /// Returns SUM as text.
        package func digitsOfSum(_ column: String) -> String { "SUM(\(column))::text" }

        /// Returns the values as an array in one parameter, and a query for the elements.
        ///
        /// Returns nil if `values` is empty, contains both integers and texts, or contains any
        /// other value.
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
