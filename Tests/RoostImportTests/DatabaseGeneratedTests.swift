import Foundation
import RoostCore
import RoostImport
import RoostMigration
import Testing

#if SQLite
    @Suite("Generated databases")
    struct DatabaseGeneratedTests {
        /// A generator of repeatable numbers.
        private struct Numbers {
            var state: UInt64

            mutating func next(_ limit: Int) -> Int {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(state >> 33) % limit
            }

            mutating func pick<T>(_ values: [T]) -> T { values[next(values.count)] }

            mutating func literal() -> String {
                switch next(12) {
                case 0: "NULL"
                case 1, 2: "\(next(3) - 1)"
                case 3: pick(["9223372036854775807", "-9223372036854775808", "9007199254740993", "4294967296"])
                case 4: pick(["0.1", "-2.5", "1e300", "123456789.125", "1e999", "0.30000000000000004"])
                case 5, 6: "'text \(next(5))'"
                case 7: pick(["''", "'naïve 🎵'", "'1'", "'1.5'", "CAST(X'6100' AS TEXT)", "CAST(X'FF00' AS TEXT)"])
                case 8:
                    pick(["'2024-02-29'", "'2024-02-29 12:00:00'", "'2024-02-29T12:00:00.25Z'", "'1999-12-31 23:59'"])
                case 9: pick(["X''", "X'00FF'", "X'F81D4FAE7DEC11D0A76500A0C91E6BF6'"])
                case 10: "'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'"
                default: "\(next(1000)).\(next(100))"
                }
            }
        }

        @Test("an import of generated tables keeps every value or converts it exactly", arguments: 0..<12)
        func values(seed: Int) throws {
            let directory = try ImportDirectory()
            var numbers = Numbers(state: UInt64(seed) &* 7919 &+ 3)
            let types = [
                "", "INTEGER", "TEXT", "REAL", "NUMERIC", "DECIMAL(8,2)", "DATETIME", "UUID", "BOOLEAN", "BLOB", "DATE",
            ]
            var script = ""
            for table in 0..<4 {
                let columns = (0..<12).map { "c\($0) \(numbers.pick(types))" }.joined(separator: ", ")
                script += "CREATE TABLE t\(table) (\(columns));\n"
                // With at most three literals to pick from, some columns have only one kind of value.
                let pools = (0..<12).map { _ in (0...numbers.next(3)).map { _ in numbers.literal() } }
                for _ in 0..<20 {
                    script +=
                        "INSERT INTO t\(table) VALUES (\(pools.map { numbers.pick($0) }.joined(separator: ", ")));\n"
                }
            }
            let path = try directory.database(script)
            let imported = try Imported(path)
            let database = try TestDatabase(path)
            for table in 0..<4 {
                let objects = try imported.objects("t\(table)")
                let rows = try database.rows("SELECT * FROM t\(table)")
                #expect(objects.count == rows.count)
                for (index, row) in rows.enumerated() {
                    for (column, value) in row.enumerated() {
                        let kept = objects[Int64(index + 1)]?["c\(column)"] ?? .null
                        #expect(
                            Self.agrees(kept, with: value),
                            "table \(table), row \(index + 1), column \(column): \(value)")
                    }
                }
            }
        }

        private static func agrees(_ kept: Value, with value: TestValue) -> Bool {
            switch (kept, value) {
            case (.null, .null): true
            case (.bool(let flag), .integer(let number)): number == (flag ? 1 : 0)
            case (.int(let left), .integer(let right)): left == right
            case (.double(let left), .real(let right)): left == right
            case (.double(let left), .integer(let right)): Double(exactly: right) == left
            case (.decimal(let left), .integer(let right)): "\(left)" == "\(right)"
            case (.decimal(let left), .real(let right)): Double("\(left)") == right
            case (.string(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
            case (.string(let left), .integer(let right)): left == "\(right)"
            case (.string(let left), .real(let right)): Double(left) == right
            case (.data(let left), .blob(let right)): left.elementsEqual(right)
            case (.data(let left), .text(let right)): String(decoding: left, as: UTF8.self) == right
            case (.data(let left), .integer(let right)): left.elementsEqual("\(right)".utf8)
            case (.data(let left), .real(let right)): Double(String(decoding: left, as: UTF8.self)) == right
            case (.date(let left), .text(let right)): DateText.seconds(right) == left.timeIntervalSinceReferenceDate
            case (.uuid(let left), .text(let right)): UUID(uuidString: right) == left
            case (.uuid(let left), .blob(let right)): withUnsafeBytes(of: left.uuid) { $0.elementsEqual(right) }
            default: false
            }
        }

        @Test("an import of generated foreign keys finds the rows that a join finds", arguments: 0..<8)
        func references(seed: Int) throws {
            let directory = try ImportDirectory()
            var numbers = Numbers(state: UInt64(seed) &* 104_729 &+ 7)
            let keys = [
                "a INTEGER PRIMARY KEY, b", "a TEXT PRIMARY KEY, b", "a, b, PRIMARY KEY (a)",
                "a TEXT COLLATE NOCASE PRIMARY KEY, b",
            ]
            let endings = numbers.next(2) == 0 ? "" : " WITHOUT ROWID"
            let types = ["", "INT", "TEXT", "BLOB"]
            let parent = numbers.pick(keys)
            var script = "CREATE TABLE p (\(parent))\(endings);\n"
            script += "CREATE TABLE c (x \(numbers.pick(types)) REFERENCES p (a), n INT);\n"
            let values = ["1", "2", "-3", "'1'", "'a'", "'A'", "'02'", "2.0", "X'61'", "0"]
            for _ in 0..<12 {
                script +=
                    "INSERT OR IGNORE INTO p VALUES (CASE WHEN \(parent.hasPrefix("a INTEGER") ? 1 : 0) THEN \(numbers.next(6) - 2) ELSE \(numbers.pick(values)) END, 'p');\n"
            }
            for number in 0..<40 { script += "INSERT INTO c VALUES (\(numbers.pick(values + ["NULL"])), \(number));\n" }
            let path = try directory.database(script)
            let database = try TestDatabase(path)
            // The texts in column b identify the rows of p, because an import can give objects new keys.
            try database.execute("UPDATE p SET b = typeof(a) || ':' || quote(a)")
            let imported = try Imported(path)
            let names = try imported.objects("p").mapValues { $0["b"] }
            let expected = try database.rows(
                "SELECT (SELECT p.b FROM p WHERE p.a = +c.x) FROM c ORDER BY n"
            ).map { row -> Value? in if case .text(let text)? = row.first { .string(text) } else { nil } }
            let found = try imported.values("c", of: "x").map { value -> Value? in
                if case .objectID(let id) = value { names[id.key] ?? nil } else { nil }
            }
            #expect(found == expected)
            let dangling = try database.rows("SELECT count(*) FROM pragma_foreign_key_check('c')")
            let missing = try database.rows("SELECT count(*) FROM c WHERE x IS NOT NULL").first?.first
            let bound = found.count { $0 != nil }
            if case .integer(let total)? = missing, case .integer(let violations)? = dangling.first?.first {
                #expect(bound == Int(total - violations))
            }
        }
    }
#endif
