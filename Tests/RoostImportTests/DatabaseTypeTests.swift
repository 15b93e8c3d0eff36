import Foundation
import RoostCore
import RoostImport
import RoostMigration
import Testing

#if SQLite
    @Suite("Types of imported databases")
    struct DatabaseTypeTests {
        private let directory: ImportDirectory

        init() throws { directory = try ImportDirectory() }

        /// Imports a table `t` that has one column `c` with these values.
        private func column(_ declaration: String, values: String...) throws -> Imported {
            let rows = values.map { "INSERT INTO t (c) VALUES (\($0));" }.joined(separator: "\n")
            return try Imported("CREATE TABLE t (c \(declaration)); \(rows)", in: directory)
        }

        @Test(
            "the type of a column follows from its declaration and its values",
            arguments: [
                (
                    "INTEGER", ["1", "NULL", "9223372036854775807"], AttributeType.integer64,
                    [Value.int(1), .null, .int(.max)]
                ),
                ("BOOLEAN", ["0", "1"], .boolean, [.bool(false), .bool(true)]),
                ("BOOLEAN", ["0", "2"], .integer64, [.int(0), .int(2)]),
                (
                    "REAL", ["1", "1e999", "-1e999", "5e-324"], .double,
                    [.double(1), .double(.infinity), .double(-.infinity), .double(.leastNonzeroMagnitude)]
                ),
                ("", ["1", "2.5"], .double, [.double(1), .double(2.5)]),
                (
                    "DECIMAL(10,2)", ["1", "0.99", "1234.5"], .decimal,
                    [.decimal(1), .decimal(Decimal(string: "0.99") ?? 0), .decimal(Decimal(string: "1234.5") ?? 0)]
                ),
                ("NUMERIC", ["1e300"], .double, [.double(1e300)]),
                ("NUMERIC", ["0.1", "1e999"], .double, [.double(0.1), .double(.infinity)]),
                ("VARCHAR(3)", ["'abcd'", "''"], .string, [.string("abcd"), .string("")]),
                ("TEXT", ["CAST(X'610062' AS TEXT)"], .string, [.string("a\u{0}b")]),
                ("BLOB", ["X'00FF'", "X''"], .binaryData, [.data(Data([0, 255])), .data(Data())]),
                ("", ["CAST(X'FF' AS TEXT)"], .binaryData, [.data(Data([255]))]),
                ("", ["9007199254740993", "0.5"], .string, [.string("9007199254740993"), .string("0.5")]),
                ("", ["1", "'a'"], .string, [.string("1"), .string("a")]),
                (
                    "", ["1", "'a'", "X'FF'"], .binaryData,
                    [.data(Data("1".utf8)), .data(Data("a".utf8)), .data(Data([255]))]
                ),
                ("DATE", ["'2001-01-02'"], .date, [.date(Date(timeIntervalSinceReferenceDate: 86400))]),
                ("DATETIME", ["'2001-01-01 00:00:01'"], .date, [.date(Date(timeIntervalSinceReferenceDate: 1))]),
                (
                    "DATETIME", ["'2001-01-01T02:00:00.5+02:00'"], .date,
                    [.date(Date(timeIntervalSinceReferenceDate: 0.5))]
                ),
                ("DATETIME", ["'2001-02-30 00:00:01'"], .string, [.string("2001-02-30 00:00:01")]),
                ("DATETIME", ["1700000000"], .integer64, [.int(1_700_000_000)]),
                (
                    "UUID", ["'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'"], .uuid,
                    [.uuid(UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6") ?? UUID())]
                ),
                (
                    "UUID", ["X'F81D4FAE7DEC11D0A76500A0C91E6BF6'"], .uuid,
                    [.uuid(UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6") ?? UUID())]
                ),
                ("UUID", ["'none'"], .string, [.string("none")]),
            ] as [(String, [String], AttributeType, [Value])])
        func inferred(declaration: String, values: [String], type: AttributeType, expected: [Value]) throws {
            let rows = values.map { "INSERT INTO t VALUES (\($0));" }.joined(separator: "\n")
            let imported = try Imported("CREATE TABLE t (c \(declaration)); \(rows)", in: directory)
            #expect(try imported.entity("t").attribute("c")?.type == type)
            #expect(try imported.values("t", of: "c") == expected)
        }

        @Test(
            "the type of a column without values follows from its declaration",
            arguments: [
                ("INT", AttributeType.integer64), ("BOOL", .boolean), ("TIMESTAMP", .date), ("GUID", .uuid),
                ("NUMERIC(9,2)", .decimal), ("FLOAT", .double), ("BLOB", .binaryData), ("CLOB", .string), ("", .string),
            ])
        func empty(declaration: String, type: AttributeType) throws {
            let imported = try column(declaration)
            #expect(try imported.entity("t").attribute("c")?.type == type)
        }

        @Test(
            "a column whose values lose their form gets a remark and a warning",
            arguments: [
                ("DATETIME", ["'2001-01-01T02:00:00+02:00'"], "offset from UTC"),
                ("DATETIME", ["'2001-01-01'", "'2001-01-01 00:00:00'"], "different forms"),
                ("DATETIME", ["'2001-01-01 00:00:00.123456789012345678'"], "rounded"),
                ("UUID", ["'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'"], "case of the letters"),
                ("", ["1", "2.5", "'a'"], "1 whole number, 1 floating-point number, 1 text:"),
                ("TEXT", ["CAST(X'FF' AS TEXT)"], "not valid UTF-8"),
            ])
        func remarks(declaration: String, values: [String], remark: String) throws {
            let rows = values.map { "INSERT INTO t VALUES (\($0));" }.joined(separator: "\n")
            let imported = try Imported("CREATE TABLE t (c \(declaration)); \(rows)", in: directory)
            #expect(imported.remark("t", column: "c")?.contains(remark) == true)
            #expect(imported.report.warnings.contains { $0.contains(remark) })
        }

        @Test("a column is optional unless it is declared NOT NULL")
        func optional() throws {
            let imported = try Imported(
                "CREATE TABLE t (a NOT NULL, b); INSERT INTO t VALUES (1, 1)", in: directory)
            #expect(try imported.entity("t").attributes.map(\.isOptional) == [false, true])
        }

        @Test(
            "a literal default becomes the attribute's default",
            arguments: [
                ("INTEGER DEFAULT -5", Value.int(-5)), ("TEXT DEFAULT 'it''s'", .string("it's")),
                ("BOOLEAN DEFAULT TRUE", .bool(true)), ("REAL DEFAULT 1.5", .double(1.5)), ("TEXT DEFAULT NULL", .null),
                ("BLOB DEFAULT X'00ff'", .data(Data([0, 255]))),
                ("DECIMAL DEFAULT 0.10", .decimal(Decimal(string: "0.1") ?? 0)),
                ("DATE DEFAULT '2001-01-02'", .date(Date(timeIntervalSinceReferenceDate: 86400))),
            ])
        func defaults(declaration: String, value: Value) throws {
            let imported = try column(declaration)
            #expect(try imported.entity("t").attribute("c")?.defaultValue == value)
            #expect(imported.report.warnings == [])
        }

        @Test(
            "a default that is an expression is left out with a warning",
            arguments: ["CURRENT_TIMESTAMP", "(1 + 1)", "(lower('A'))"])
        func expressionDefaults(text: String) throws {
            let imported = try column("TEXT DEFAULT \(text)", values: "'a'")
            #expect(try imported.entity("t").attribute("c")?.defaultValue == .null)
            #expect(
                imported.report.warnings.contains { $0.contains("the default value") && $0.contains("is not kept") })
        }

        @Test("a text of a million characters and a blob of three million bytes are imported")
        func large() throws {
            let imported = try column("TEXT", values: "printf('%.*c', 1000000, 'x')", "zeroblob(3000000)")
            let text = Data(repeating: UInt8(ascii: "x"), count: 1_000_000)
            #expect(try imported.values("t", of: "c") == [.data(text), .data(Data(count: 3_000_000))])
        }

        @Test("text of a UTF-16 database is imported")
        func utf16() throws {
            let imported = try Imported(
                "PRAGMA encoding = 'UTF-16'; CREATE TABLE t (c TEXT); INSERT INTO t VALUES ('naïve 🎵');", in: directory)
            #expect(try imported.values("t", of: "c") == [.string("naïve 🎵")])
        }

        @Test(
            "a date of a database is parsed as DateText parses it, or stays text",
            arguments: [
                "2001-01-01", "1999-12-31", "2000-02-29", "1900-02-29", "1600-03-01", "0001-03-01", "0000-01-01",
                "9999-12-30 23:59:59", "2024-02-28T12:00:00", "2024-04-31", "2024-13-01", "2024-00-10", "2024-01-00",
                "2024-01-01 24:00:00", "2024-01-01x00:00:00", "0000-03-01", "0001-01-01 00:00:00",
            ])
        func dates(text: String) throws {
            let imported = try column("DATE", values: "'\(text)'")
            let expected = DateText.seconds(text).map { Value.date(Date(timeIntervalSinceReferenceDate: $0)) }
            #expect(try imported.values("t", of: "c") == [expected ?? .string(text)])
        }
    }
#endif
