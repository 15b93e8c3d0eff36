import Foundation
import RoostConformance
import RoostCore
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reports of results of every kind, with texts that each format must escape.
@Suite("Conformance reports")
struct ReportTests {
    private static let evil = "<a & \"b\"> \u{1}\u{0} | # \\ é🦉\nsecond line\r\n]]>"

    private static func results() throws -> [ConformanceResult] {
        let checks = try ["links.order", "links.after", "digest.recorded-is-computed", "close.every-call"].map {
            try #require(ConformanceCheck.named($0))
        }
        let failure = ConformanceFailure(check: checks[3].id, store: "b#1", expected: "peace", actual: evil)
        let exclusion = ConformanceExclusion(checks[2].id, because: "no digests | yet # really")
        return [
            ConformanceResult(checks[0], store: "a", outcome: .passed, seconds: 0.25),
            ConformanceResult(checks[1], store: "a", outcome: .passed, seconds: 0.5),
            ConformanceResult(checks[0], store: "b#1", outcome: .passedAsOpposite(.writing), seconds: 0.125),
            ConformanceResult(checks[1], store: "b#1", outcome: .passed, seconds: 1),
            ConformanceResult(checks[2], store: "b#1", outcome: .excluded(exclusion, failure), seconds: 0),
            ConformanceResult(checks[3], store: "b#1", outcome: .failed(failure), seconds: 2),
        ]
    }

    private static func report(
        _ format: ConformanceReport.Format, detail: ConformanceReport.Detail = .usual
    ) throws -> String {
        var report = ConformanceReport(format, detail: detail)
        let results = try results()
        var text = report.beginning(checkCount: results.count)
        for result in results { text += report.add(result) }
        return text + report.ending()
    }

    @Test("a text report has a line per check, the details of failures and counts per store")
    func text() throws {
        let results = try Self.results()
        let (excluded, failed) = (results[4].check.id, results[5].check)
        #expect(
            try Self.report(.text) == """
                ok        a  links.order
                ok        a  links.after
                opposite  b#1  links.order  (no writing)
                ok        b#1  links.after
                excluded  b#1  \(excluded)  (no digests | yet # really)
                FAIL      b#1  \(failed.id)
                          \(failed.behavior)
                          expected: peace
                          actual:   <a & "b"> \u{1}\u{0} | # \\ é🦉
                            second line
                            ]]>
                a: 2 checks: 2 passed, 0 passed as opposites, 0 excluded, 0 failed
                b#1: 4 checks: 1 passed, 1 passed as opposites, 1 excluded, 1 failed

                """)
        let detailed = try Self.report(.text, detail: .everything)
        for result in results { #expect(detailed.contains("          \(result.check.behavior)\n")) }
        #expect(detailed.contains("ok        a  links.order  250.0 ms\n"))
    }

    @Test("a text report can show only failures")
    func failures() throws {
        let text = try Self.report(.text, detail: .failures)
        #expect(text.hasPrefix("FAIL      b#1  ") && text.contains("actual:   <a"))
        #expect(text.split(separator: "\n").count == 6)
        var report = ConformanceReport(.text, detail: .failures)
        for result in try Self.results().prefix(5) { #expect(report.add(result).isEmpty) }
        #expect(report.ending().isEmpty)
    }

    @Test("a TAP report has a plan, consecutive numbers, known failures and diagnostics")
    func tap() throws {
        let lines = try Self.report(.tap).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.prefix(2) == ["TAP version 13", "1..6"])
        #expect(lines.last == "")
        let points = lines.filter { $0.hasPrefix("ok ") || $0.hasPrefix("not ok ") }
        let results = try Self.results()
        #expect(
            points == [
                "ok 1 - a: links.order", "ok 2 - a: links.after", "ok 3 - b\\#1: links.order (opposite: no writing)",
                "ok 4 - b\\#1: links.after",
                "not ok 5 - b\\#1: \(results[4].check.id) # todo no digests | yet \\# really",
                "not ok 6 - b\\#1: \(results[5].check.id)",
            ])
        // Each failure has a block in which every value is on one line.
        #expect(lines.count { $0 == "  ---" } == 2 && lines.count { $0 == "  ..." } == 2)
        for key in ["behavior", "expected", "actual", "duration_ms"] {
            #expect(lines.count { $0.hasPrefix("  \(key): ") } == 2)
        }
        #expect(
            lines.contains(
                #"  actual: "<a & \"b\"> \U00000001\U00000000 | # \\ é🦉\nsecond line\r\n]]>""#))
        #expect(lines.allSatisfy { $0.isEmpty || !$0.hasPrefix(" ") || $0.hasPrefix("  ") })
    }

    @Test(
        "a report of an interrupted run has the results so far, and every format but text says it is incomplete",
        arguments: [0, 2])
    func interrupted(count: Int) throws {
        func ending(_ format: ConformanceReport.Format) throws -> String {
            var report = ConformanceReport(format)
            for result in try Self.results().prefix(count) { _ = report.add(result) }
            return report.ending(isInterrupted: true)
        }
        let counts = "a: 2 checks: 2 passed, 0 passed as opposites, 0 excluded, 0 failed\n"
        #expect(try ending(.text) == (count == 0 ? "" : counts))
        let bailOut = "Bail out! Interrupted: not all checks were made.\n"
        #expect(try ending(.tap) == (count == 0 ? "" : "# \(counts)") + bailOut)
        let markdown = try ending(.markdown)
        #expect(markdown.hasSuffix("|\n\n**Interrupted: not all checks were made.**\n"))
        #expect(markdown.contains("| `links` | 2 |\n") == (count == 2))

        let parser = XMLParser(data: Data(try ending(.junit).utf8))
        let reader = Reader()
        parser.delegate = reader
        try #require(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(reader.all("testsuites").first?["errors"] == "1")
        #expect(reader.all("testsuites").first?["tests"] == "\(count + 1)")
        #expect(reader.all("testsuite").map { $0["errors"] } == (count == 0 ? ["1"] : ["0", "1"]))
        #expect(reader.all("testcase").count == count + 1)
        #expect(reader.all("error").map { $0["message"] } == ["Interrupted: not all checks were made."])
    }

    /// The elements and texts that an XML parser finds.
    private final class Reader: NSObject, XMLParserDelegate {
        var elements: [(path: String, attributes: [String: String])] = []
        var text: [String: String] = [:]
        private var path: [String] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            path.append(name)
            elements.append((path.joined(separator: "/"), attributes))
        }
        func parser(_ parser: XMLParser, didEndElement: String, namespaceURI: String?, qualifiedName: String?) {
            path.removeLast()
        }
        func parser(_ parser: XMLParser, foundCharacters string: String) {
            text[path.last ?? "", default: ""] += string
        }
        func all(_ name: String) -> [[String: String]] {
            elements.filter { $0.path.split(separator: "/").last.map(String.init) == name }.map(\.attributes)
        }
    }

    @Test("a JUnit report is well-formed XML with a suite per store and the texts of failures")
    func junit() throws {
        let parser = XMLParser(data: Data(try Self.report(.junit).utf8))
        let reader = Reader()
        parser.delegate = reader
        try #require(parser.parse(), "\(String(describing: parser.parserError))")

        let results = try Self.results()
        #expect(
            reader.all("testsuites") == [
                [
                    "name": "roost conformance", "tests": "6", "failures": "1", "errors": "0", "skipped": "1",
                    "time": "3.875000",
                ]
            ])
        #expect(reader.all("testsuite").map { $0["name"] } == ["a", "b#1"])
        #expect(reader.all("testsuite").map { $0["tests"] } == ["2", "4"])
        #expect(reader.all("testsuite").map { $0["failures"] } == ["0", "1"])
        let cases = reader.all("testcase")
        #expect(cases.map { $0["name"] } == results.map(\.check.id))
        #expect(cases.map { $0["classname"] } == results.map { "\($0.store).\($0.check.group)" })
        #expect(cases.first?["time"] == "0.250000")
        #expect(reader.all("property") == [["name": "opposite", "value": "writing"]])
        #expect(reader.all("skipped") == [["message": "no digests | yet # really"]])
        let shown = Self.evil.replacingOccurrences(of: "\u{1}\u{0}", with: "\u{FFFD}\u{FFFD}")
        #expect(reader.all("failure") == [["type": "ConformanceFailure", "message": shown]])
        #expect(reader.text["failure"] == "\(results[5].check.behavior)\nexpected: peace\nactual:   \(shown)")
    }

    @Test("a Markdown report counts the checks of each group, or lists every check")
    func markdown() throws {
        let results = try Self.results()
        let groups = results[4...].map(\.check.group)
        #expect(
            try Self.report(.markdown) == """
                | checks | a | b#1 |
                | --- | --- | --- |
                | `links` | 2 | 1 + 1 opposite |
                | `\(groups[0])` |  | 1 excluded |
                | `\(groups[1])` |  | **1 failed** |
                | all | 2 | 1 + 1 opposite, 1 excluded, **1 failed** |

                """)
        let checks = results.map(\.check)
        #expect(
            try Self.report(.markdown, detail: .everything) == """
                ## links

                | check | behavior | a | b#1 |
                | --- | --- | --- | --- |
                | `links.order` | \(checks[0].behavior) | ✓ | no writing |
                | `links.after` | \(checks[1].behavior) | ✓ | ✓ |

                ## \(groups[0])

                | check | behavior | a | b#1 |
                | --- | --- | --- | --- |
                | `\(checks[4].id)` | \(checks[4].behavior) |  | excluded: no digests \\| yet # really |

                ## \(groups[1])

                | check | behavior | a | b#1 |
                | --- | --- | --- | --- |
                | `\(checks[5].id)` | \(checks[5].behavior) |  | **failed** |

                """)
    }
}
