#if SQLite && PostgreSQL
    import Foundation
    import RoostCore
    import RoostImport
    import RoostMigration
    import Testing

    @Suite(
        "Types of imported PostgreSQL databases",
        .enabled(if: ImportServer.parameters != nil, ImportServer.missing))
    struct ServerTypeTests {
        /// Imports a table `t` that has one column `c` with these values.
        private func column(_ declaration: String, values: [String]) throws -> Imported {
            let rows = values.map { "INSERT INTO t (c) VALUES (\($0));" }.joined(separator: "\n")
            return try ServerSchema("CREATE TABLE t (c \(declaration)); \(rows)").imported()
        }

        private static func date(_ seconds: Double) -> Value {
            .date(Date(timeIntervalSinceReferenceDate: seconds))
        }

        @Test(
            "a column gets the attribute type that holds all values of its PostgreSQL type",
            arguments: [
                (
                    "smallint", ["-32768", "32767", "NULL"], AttributeType.integer16,
                    [.int(-32768), .int(32767), .null]
                ),
                ("integer", ["-2147483648", "0"], .integer32, [.int(-2_147_483_648), .int(0)]),
                ("bigint", ["-9223372036854775808", "9223372036854775807"], .integer64, [.int(.min), .int(.max)]),
                ("oid", ["4294967295"], .integer64, [.int(4_294_967_295)]),
                ("real", ["0.1", "'Infinity'"], .float, [.double(Double(Float(0.1))), .double(.infinity)]),
                (
                    "double precision", ["0.1", "5e-324", "'-Infinity'", "1.7976931348623157e308"], .double,
                    [
                        .double(0.1), .double(.leastNonzeroMagnitude), .double(-.infinity),
                        .double(.greatestFiniteMagnitude),
                    ]
                ),
                (
                    "numeric(38,2)", ["-123456789012345678901234567890123456.78", "0.50", "0"], .decimal,
                    [
                        .decimal(Decimal(string: "-123456789012345678901234567890123456.78") ?? 0), .decimal(0.5),
                        .decimal(0),
                    ]
                ),
                ("boolean", ["true", "false", "NULL"], .boolean, [.bool(true), .bool(false), .null]),
                ("text", ["E'a\\n\\t\\\\b'", "''", "'👩‍👩‍👧'"], .string, [.string("a\n\t\\b"), .string(""), .string("👩‍👩‍👧")]),
                ("varchar(3)", ["'abc'"], .string, [.string("abc")]),
                ("char(3)", ["'a'"], .string, [.string("a  ")]),
                ("name", ["'a'"], .string, [.string("a")]),
                ("\"char\"", ["'x'"], .string, [.string("x")]),
                (
                    "bytea", ["'\\x'", "'\\x00ff5c78'", "NULL"], .binaryData,
                    [.data(Data()), .data(Data([0, 255, 0x5C, 0x78])), .null]
                ),
                (
                    "uuid", ["'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'"], .uuid,
                    [.uuid(UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6") ?? UUID())]
                ),
                (
                    "date", ["'2001-01-02'", "'0001-01-01'", "'9999-12-31'"], .date,
                    [date(86400), date(-63_113_904_000), date(252_423_907_200)]
                ),
                ("timestamp(3)", ["'2001-01-01 00:00:01.25'"], .date, [date(1.25)]),
                (
                    "timestamptz", ["'2001-01-01 02:00:00.000001+02'", "'2000-12-31 23:59:59.5+00'"], .date,
                    [date(0.000001), date(-0.5)]
                ),
            ] as [(String, [String], AttributeType, [Value])])
        func types(declaration: String, values: [String], type: AttributeType, expected: [Value]) throws {
            let imported = try column(declaration, values: values)
            #expect(try imported.entity("t").attribute("c")?.type == type)
            #expect(try imported.values("t", of: "c") == expected)
            #expect(imported.report.warnings == [])
            // A column without values has the same type.
            #expect(try column(declaration, values: []).entity("t").attribute("c")?.type == type)
        }

        @Test("NaN is kept in every type of numbers", arguments: ["real", "double precision", "numeric"])
        func notANumber(declaration: String) throws {
            let imported = try column(declaration, values: ["'NaN'"])
            let value = try #require(try imported.values("t", of: "c").first)
            switch value {
            case .double(let number): #expect(number.isNaN)
            case .decimal(let number): #expect(number.isNaN)
            default: Issue.record("\(value)")
            }
        }

        @Test(
            "values of a type that matches no attribute type are kept as the server's text, with a warning",
            arguments: [
                ("time", "'12:30:00.5'", "12:30:00.5"), ("timetz", "'12:30+02'", "12:30:00+02"),
                ("interval", "'1 year 2 days 03:00'", "1 year 2 days 03:00:00"),
                ("json", "'{\"a\":  1}'", "{\"a\":  1}"),
                ("jsonb", "'{\"a\":  1}'", "{\"a\": 1}"), ("xml", "'<a>1</a>'", "<a>1</a>"),
                ("inet", "'192.168.1.1'", "192.168.1.1"), ("cidr", "'10.0.0.0/8'", "10.0.0.0/8"),
                ("macaddr", "'08:00:2b:01:02:03'", "08:00:2b:01:02:03"), ("bit(3)", "B'101'", "101"),
                ("integer[]", "'{1,NULL,3}'", "{1,NULL,3}"), ("text[]", "ARRAY['a b', 'c\"d']", "{\"a b\",\"c\\\"d\"}"),
                ("int4range", "'[1,5)'", "[1,5)"),
                ("tstzrange", "'[2001-01-01 01:00+01,)'", "[\"2001-01-01 00:00:00+00\",)"),
                ("point", "'(1,2)'", "(1,2)"), ("tsvector", "'a b'", "'a' 'b'"), ("money", "'12.5'", "$12.50"),
                ("mood", "'ok'", "ok"), ("pair", "ROW(1, 'x y')", "(1,\"x y\")"), ("pair", "ROW(NULL, NULL)", "(,)"),
            ])
        func asText(declaration: String, value: String, text: String) throws {
            let schema = try ServerSchema(
                "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text); CREATE TABLE t (c \(declaration)); INSERT INTO t VALUES (\(value))"
            )
            let imported = try schema.imported()
            #expect(try imported.entity("t").attribute("c")?.type == .string)
            #expect(try imported.values("t", of: "c") == [.string(text)])
            #expect(
                imported.report.warnings.contains {
                    $0.hasPrefix("Column 'c' of table 't': type ") && $0.hasSuffix(" is kept as text.")
                })
        }

        @Test(
            "a column with a value that does not fit the attribute type is kept as text, and the warning names the row",
            arguments: [
                ("date", "'infinity'", "infinity"), ("timestamp", "'-infinity'", "-infinity"),
                ("date", "'0044-03-15 BC'", "0044-03-15 BC"),
                ("timestamptz", "'10000-01-01 00:00+00'", "10000-01-01 00:00:00+00"),
                ("numeric", "1e127", "1" + String(repeating: "0", count: 127)), ("numeric", "'Infinity'", "Infinity"),
                ("numeric", "1234567890123456789012345678901234567.89", "1234567890123456789012345678901234567.89"),
                ("numeric", "1e-200", "0." + String(repeating: "0", count: 199) + "1"),
            ])
        func unfitting(declaration: String, value: String, text: String) throws {
            let fitting = declaration == "numeric" ? "2.50" : "'2001-01-02'"
            let imported = try column(declaration, values: [fitting, value])
            if text.count == 128, try imported.entity("t").attribute("c")?.type == .decimal { return }
            #expect(try imported.values("t", of: "c").last == .string(text))
            #expect(try imported.values("t", of: "c").count == 2)
            let type = declaration == "numeric" ? "decimal" : "date"
            #expect(
                imported.report.warnings == [
                    "Column 'c' of table 't': 1 value does not fit type \(type), such as in row 2, so all values are kept as text."
                ])
        }

        @Test("microseconds of far dates are rounded with a warning")
        func farDates() throws {
            let imported = try column("timestamp UNIQUE", values: ["'9000-01-01 00:00:00.000001'"])
            #expect(imported.report.warnings.contains { $0.contains("long fractions of a second are rounded") })
            #expect(imported.report.warnings.contains { $0.contains("do not stay unique") })
            #expect(imported.remark("t", column: "c")?.hasPrefix("times without a zone are read as UTC") == true)
        }

        @Test(
            "a default value that is a literal is kept",
            arguments: [
                ("integer DEFAULT 5", Value.int(5)), ("bigint DEFAULT '-5'::integer", .int(-5)),
                ("integer DEFAULT -1", .int(-1)), ("text DEFAULT 'it''s'", .string("it's")),
                ("text DEFAULT E'a\\\\b'", .string("a\\b")), ("varchar(9) DEFAULT 'x::y'", .string("x::y")),
                ("boolean DEFAULT true", .bool(true)), ("numeric(9,2) DEFAULT 0.50", .decimal(0.5)),
                ("double precision DEFAULT 0.1", .double(0.1)), ("real DEFAULT 0.1", .double(Double(Float(0.1)))),
                ("date DEFAULT '2001-01-02'", .date(Date(timeIntervalSinceReferenceDate: 86400))),
                (
                    "timestamptz DEFAULT '2001-01-01 01:00:00+01'",
                    .date(Date(timeIntervalSinceReferenceDate: 0))
                ),
                ("bytea DEFAULT '\\x00ff'", .data(Data([0, 255]))), ("text DEFAULT NULL", .null),
                ("time DEFAULT '12:30'", .string("12:30:00")),
                (
                    "uuid DEFAULT 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'",
                    .uuid(UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6") ?? UUID())
                ),
            ])
        func defaults(declaration: String, value: Value) throws {
            let imported = try column(declaration, values: [])
            #expect(try imported.entity("t").attribute("c")?.defaultValue == value)
            #expect(!imported.report.warnings.contains { $0.contains("default") })
        }

        @Test(
            "a default value that is an expression, or does not fit its type, is left out with a warning",
            arguments: [
                "timestamptz DEFAULT now()", "text DEFAULT lower('A')", "integer DEFAULT 1 + 1",
                "date DEFAULT CURRENT_DATE", "text DEFAULT 'a' || 'b'", "smallint DEFAULT 100000",
                "date DEFAULT 'infinity'",
            ])
        func expressions(declaration: String) throws {
            let imported = try column(declaration, values: [])
            #expect(try imported.entity("t").attribute("c")?.defaultValue == .null)
            #expect(
                imported.report.warnings.contains { $0.contains("the default value ") && $0.contains("is not kept") })
        }

        @Test("large values are read whole")
        func large() throws {
            let imported = try column(
                "text", values: (1...40).map { "repeat(chr(96 + \($0 % 20 + 1)), \($0) * 50000)" })
            let values = try imported.values("t", of: "c")
            let expected = (1...40).map { number in
                Value.string(
                    String(repeating: String(UnicodeScalar(UInt8(96 + number % 20 + 1))), count: number * 50000))
            }
            #expect(values == expected)
        }
    }
#endif
