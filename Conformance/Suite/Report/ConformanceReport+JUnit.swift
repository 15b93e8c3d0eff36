internal import Foundation

extension ConformanceReport {
    /// Returns all results as a JUnit document: a test suite for each store, a case for each check.
    ///
    /// A check that passed as its opposite has the property `opposite`, which names the missing
    /// capability. An excluded check is `skipped`, with the reason. An interrupted run adds a suite
    /// whose one case is an error.
    func junit(isInterrupted: Bool) -> String {
        var document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        document +=
            "<testsuites name=\"roost conformance\" \(Self.totals(of: results, isInterrupted: isInterrupted))>\n"
        for (store, results) in resultsByStore {
            document += "  <testsuite name=\"\(Self.xml(store))\" \(Self.totals(of: results))>\n"
            for result in results { document += Self.testCase(result) }
            document += "  </testsuite>\n"
        }
        if isInterrupted {
            document += """
                  <testsuite name="interruption" \(Self.totals(of: [], isInterrupted: true))>
                    <testcase classname="interruption" name="interrupted" time="\(Self.time(0))">
                      <error type="Interruption" message="\(Self.xml(Self.interruption))"/>
                    </testcase>
                  </testsuite>

                """
        }
        return document + "</testsuites>\n"
    }

    private static func totals(of results: [ConformanceResult], isInterrupted: Bool = false) -> String {
        let counts = ConformanceCounts(results)
        let errors = isInterrupted ? 1 : 0
        let seconds = results.reduce(0) { $0 + $1.seconds }
        return
            "tests=\"\(counts.total + errors)\" failures=\"\(counts.failed)\" errors=\"\(errors)\" skipped=\"\(counts.excluded)\" time=\"\(time(seconds))\""
    }

    private static func testCase(_ result: ConformanceResult) -> String {
        let start =
            "    <testcase classname=\"\(xml(result.store)).\(xml(result.check.group))\" name=\"\(xml(result.check.id))\" time=\"\(time(result.seconds))\""
        let content: String
        switch result.outcome {
        case .passed: return start + "/>\n"
        case .passedAsOpposite(let capability):
            content =
                "      <properties>\n        <property name=\"opposite\" value=\"\(xml("\(capability)"))\"/>\n      </properties>\n"
        case .excluded(let exclusion, let failure):
            content =
                "      <skipped message=\"\(xml(exclusion.reason))\">\(xml(details(result, failure: failure)))</skipped>\n"
        case .failed(let failure):
            content =
                "      <failure type=\"ConformanceFailure\" message=\"\(xml(failure.actual))\">\(xml(details(result, failure: failure)))</failure>\n"
        }
        return start + ">\n" + content + "    </testcase>\n"
    }

    private static func details(_ result: ConformanceResult, failure: ConformanceFailure) -> String {
        "\(result.check.behavior)\nexpected: \(failure.expected)\nactual:   \(failure.actual)"
    }

    private static func time(_ seconds: Double) -> String { String(format: "%.6f", seconds) }

    /// Returns a text escaped for an XML element or attribute.
    ///
    /// A character that XML cannot contain becomes U+FFFD.
    private static func xml(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            // In attributes, a parser would replace these characters with spaces.
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
