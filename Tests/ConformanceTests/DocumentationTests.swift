import Foundation
import RoostConformance
import RoostCore
import Testing

@Suite("Documented results")
struct DocumentationTests {
    /// The stores of the tables, in the order of their columns.
    private static let stores = ["sqlite", "lmdb", "json", "memory", "coredata"]
    private static let fixtures = stores.compactMap { name in StoreFixture.all.first { $0.name == name } }

    /// `ROOST_WRITE_DOCS=1` writes the tables again.
    @Test(
        "a documented table of conformance results equals the table of a run",
        .enabled(if: fixtures.count == stores.count, "a type of store was left out of this build"),
        arguments: [
            ("README.md", ConformanceReport.Detail.usual), ("docs/conformance.md", ConformanceReport.Detail.everything),
        ])
    func tables(file: String, detail: ConformanceReport.Detail) throws {
        var report = ConformanceReport(.markdown, detail: detail)
        for result in Results.shared.all(on: Self.fixtures) { _ = report.add(result) }
        let options = detail == .everything ? " --verbose" : ""
        let command = "roost conformance \(Self.stores.joined(separator: " ")) --format=markdown\(options)"
        let start = "<!-- What `\(command)` prints: -->\n"
        let end = "<!-- until here -->\n"

        let location = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(file)
        let text = try String(contentsOf: location, encoding: .utf8)
        let from = try #require(text.range(of: start)).upperBound
        let to = try #require(text.range(of: end, range: from..<text.endIndex)).lowerBound
        let written = "\n\(report.ending())\n"
        if ProcessInfo.processInfo.environment["ROOST_WRITE_DOCS"] != nil {
            try Data((text[..<from] + written + text[to...]).utf8).write(to: location)
        } else {
            #expect(String(text[from..<to]) == written)
        }
    }
}
