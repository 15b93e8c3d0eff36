import Foundation
import RoostCore
import Testing

@testable import RoostImport

@Suite("JSON rows")
struct JSONRowTests {
    private let array = ImportBench { $0.format = .json }
    private let lines = ImportBench { $0.format = .jsonl }

    @Test("rows of JSON are the objects of an array, in any layout")
    func arrays() throws {
        let text = #" [{"a": 1, "b": "x"}, {"b": "\u00e9\n",\#n "a": null}, {}] "#
        #expect(try array.rows(text) == [["a": 1, "b": "x"], ["b": "é\n"], [:]])
        #expect(try array.rows("[]").isEmpty)
    }

    @Test("canonically equivalent keys of a JSON row become two properties")
    func equivalentKeys() throws {
        let found = try #require(try lines.rows("{\"\\u00e9\": 1, \"e\\u0301\": 2}").first)
        #expect(found.count == 2 && Set(found.values) == [1, 2])
    }

    @Test("JSON lines can have different keys")
    func linesOfObjects() throws {
        #expect(
            try lines.rows("{\"a\": 1}\n\n{\"b\": true, \"a\": 2}\n{\"c\": 1.5}") == [
                ["a": 1], ["a": 2, "b": true], ["c": 1.5],
            ])
    }

    @Test("lists and objects in a JSON row are kept as JSON text with a warning")
    func nested() throws {
        let content = try array.content(Array(#"[{"a": [1, {"b": "x"}]}, {"a": {"c": null}}]"#.utf8))
        #expect(content.plan.tables.first?.columns.first?.remark == "lists and objects are kept as JSON text")
        #expect(content.warnings() == ["Column 'a': lists and objects are kept as JSON text."])
        #expect(
            try array.rows(#"[{"a": [1, {"b": "x"}]}, {"a": {"c": null}}]"#) == [
                ["a": #"[1,{"b":"x"}]"#], ["a": #"{"c":null}"#],
            ])
    }

    @Test("the rows of a JSON array on one line are read in linear time")
    func arrayOnOneLine() throws {
        func seconds(separator: String) throws -> Double {
            let rows = (0..<10_000).map { "{\"number\": \(100_000 + $0)}" }
            let text = Array("[\(rows.joined(separator: separator))]".utf8)
            let reader = try JSONRowReader(try ImportBench.input(text), encoding: nil, isLines: false)
            let start = processorSeconds()
            var count = 0
            while try reader.next() { count += 1 }
            #expect(count == rows.count)
            return processorSeconds() - start
        }
        let manyLines = try seconds(separator: ",\n")
        // Counting each row's column from the start of the line would take 20 times as long.
        #expect(try seconds(separator: ", ") < 5 * manyLines)
    }

    /// Returns the processor time of this thread, which does not depend on other tests.
    private func processorSeconds() -> Double {
        var time = timespec()
        #expect(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("numbers in JSON strings stay text, and date strings become dates")
    func strings() throws {
        #expect(
            try array.rows(#"[{"n": "12", "d": "2001-01-02"}]"#) == [
                ["n": "12", "d": .date(.init(timeIntervalSinceReferenceDate: 86400))]
            ])
    }

    @Test(
        "the error for malformed JSON rows gives the place or the expected value",
        arguments: [
            (#"[{"a": 1},\#n {"a": }]"#, "line 2, column 8"),
            (#"{"a": 1}"#, "an array of objects (rows on lines of their own need --format=jsonl) is expected"),
            ("[1]", "'rows', line 1: an object is expected."),
        ])
    func problems(text: String, part: String) {
        let message = array.message(text)
        #expect(message.contains(part), "\(message)")
    }
}
