import Foundation
import RoostCore
import Testing

@testable import RoostImport

@Suite("Inferred types of columns")
struct InferenceTests {
    @Test(
        "the inferred type is the narrowest that keeps every cell",
        arguments: [
            (["1", "-20", "9223372036854775807"], AttributeType.integer64), (["1", "2.5", "-1e-3"], .double),
            (["9223372036854775808", "1"], .decimal), (["0.1234567890123456789"], .decimal),
            (["155.09230314036427", "1"], .double),
            (["155.09230314036421"], .decimal),
            (["123456789012345678901234567890123456789"], .string), (["true", "FALSE"], .boolean),
            (["true", "1"], .string), (["2024-05-01", "2024-05-01T12:30:00Z"], .date), (["2024-13-01"], .string),
            (["6BA7B810-9DAD-11D1-80B4-00C04FD430C8"], .uuid), (["007", "12"], .string), (["0", "-0.5"], .double),
            (["+49 30 1234"], .string), (["1,5"], .string), ([" 1"], .string), (["1e400"], .string),
            (["NaN", "1"], .string), (["1234567890123456789e150"], .string), (["1e-400"], .string),
            (["1.23456789e-320"], .string), (["2024-05-01T12:30:00.123456Z"], .date),
            (["2024-05-01T12:30:00.123456789Z"], .string), (["-"], .string), (["0x10"], .string),
            (["1700-01-01T00:00:00.12345Z"], .date), (["1700-01-01T00:00:00.123456Z"], .string),
            (["-0", "5"], .double), (["-0", "9007199254740993"], .string), (["-0.00"], .double),
        ])
    func types(cells: [String], type: AttributeType) throws {
        let text = "a|b\n" + cells.map { "\($0)|\n" }.joined()
        let model = try ImportBench { $0.delimiter = UInt8(ascii: "|") }.content(Array(text.utf8)).model
        #expect(model.entity("Row")?.attribute("a")?.type == type)
    }

    @Test("the minus sign of a zero is kept")
    func negativeZero() throws {
        #expect(try ImportBench().rows("a,b\n-0,\n5,\n") == [["a": .double(-0.0)], ["a": 5.0]])
    }

    @Test(
        "the remark about a column of dates says how the stored dates differ from the text",
        arguments: [
            (
                ["2024-05-01T12:30:00+02:00", "2024-05-01T12:30:00-05:30"],
                "2 times with an offset from UTC are kept as times in UTC", true
            ),
            (["2024-05-01T12:30:00+02:00"], "1 time with an offset from UTC is kept as a time in UTC", true),
            (["2024-05-01T12:30:00+00:00"], nil, false),
            (["2024-05-01", "2024-05-01T12:30:00Z"], "the different forms of the dates are not kept", true),
            (["2024-05-01T12:30:00Z", "2024-05-01T12:30:00.5Z"], nil, false),
            (["2024-05-01 12:30"], "times without a zone are read as UTC", false),
        ] as [([String], String?, Bool)])
    func dateRemarks(cells: [String], remark: String?, isLoss: Bool) throws {
        let text = "a,b\n" + cells.map { "\($0),\n" }.joined()
        let content = try ImportBench().content(Array(text.utf8))
        #expect(content.plan.tables.first?.columns.first?.remark == remark)
        #expect(content.warnings() == (isLoss ? ["Column 'a': \(remark ?? "")."] : []))
    }

    @Test("the inferred type depends on all rows")
    func allRows() throws {
        let text = "a\n" + String(repeating: "1\n", count: 5000) + "x\n"
        let rows = try ImportBench().rows(text)
        #expect(rows.count == 5001 && rows.first == ["a": "1"] && rows.last == ["a": "x"])
    }

    @Test("numbers with a decimal comma are read if the option for it is set")
    func decimalComma() throws {
        let bench = ImportBench {
            $0.hasDecimalComma = true
            $0.delimiter = UInt8(ascii: ";")
        }
        #expect(try bench.rows("a;b\n1,5;1.500\n-2;2\n") == [["a": 1.5, "b": "1.500"], ["a": -2.0, "b": "2"]])
    }

    @Test("dates are read with a given pattern and time zone")
    func dates() throws {
        let bench = ImportBench {
            $0.datePattern = "dd.MM.yyyy HH:mm"
            $0.timeZone = TimeZone(identifier: "Europe/Berlin")
        }
        let rows = try bench.rows("a\n01.01.2001 01:00\n01.07.2001 02:30\n")
        #expect(
            rows == [
                ["a": .date(Date(timeIntervalSinceReferenceDate: 0))],
                ["a": .date(Date(timeIntervalSinceReferenceDate: 15_640_200))],
            ])
        #expect(
            ImportBench { $0.datePattern = "gg.MM" }.message("a\n1\n").hasPrefix(
                "The date format 'gg.MM' cannot be read."))
    }

    @Test("digits that match a given date pattern are dates, and dates without a time ignore the time zone")
    func datesLikeNumbers() throws {
        let bench = ImportBench {
            $0.datePattern = "yyyyMMdd"
            $0.timeZone = TimeZone(identifier: "Europe/Berlin")
        }
        #expect(try bench.rows("a\n20010102\n") == [["a": .date(Date(timeIntervalSinceReferenceDate: 86400))]])
        let usual = ImportBench { $0.timeZone = TimeZone(identifier: "Europe/Berlin") }
        #expect(try usual.rows("a\n2001-01-02\n") == [["a": .date(Date(timeIntervalSinceReferenceDate: 86400))]])
    }

    @Test(
        "a date pattern reads only matching texts",
        arguments: [
            ("yyyyMMdd", "20010102", 86400.0), ("d/M/yy", "2/1/01", 86400), ("MMM d, yyyy", "Jan 2, 2001", 86400),
            ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2001-01-01T00:00:01.5", 1.5), ("dd.MM.yyyy", "31.02.2001", nil),
            ("dd.MM.yyyy", "1.1.2001", nil), ("yyyy-MM-dd HH:mm", "2001-01-01 24:00", nil),
            ("yyyy-MM-dd", "2001-01-01x", nil),
        ] as [(String, String, Double?)])
    func patterns(pattern: String, text: String, seconds: Double?) throws {
        let pattern = try #require(DatePattern(pattern))
        #expect(Array(text.utf8).withUnsafeBytes { pattern.seconds($0) } == seconds)
    }

    @Test("the plan of a text import shows types, left-out columns and empty columns")
    func plan() throws {
        let content = try ImportBench { $0.leftOut = ["c"] }.content(Array("a,b.b,c,d\n1,x,2,\n".utf8))
        let table = try #require(content.plan.tables.first)
        #expect(
            table.columns == [
                .init("a", property: "a", type: "integer64"), .init("b.b", property: "b_b", type: "string"),
                .init("c", property: nil, type: nil, remark: "left out"),
                .init("d", property: "d", type: "string", remark: "no row has a value"),
            ])
        #expect(table.rows == 1 && table.entity == "Row")
    }
}
