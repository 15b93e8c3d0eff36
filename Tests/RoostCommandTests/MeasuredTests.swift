import Foundation
import Testing

@Suite("The README's measured numbers")
struct MeasuredTests {
    /// The part of `Benchmarks/Results/latest.json` that the README shows.
    private struct Results: Decodable {
        struct Machine: Decodable {
            let processor: String
            let cores: Int
            let system: String
            let libraries: [String]
        }

        struct Side: Decodable {
            let seconds: [Double]
            let peakPrivateBytes: Int?
        }

        struct Operation: Decodable {
            let name: String
            let title: String
            let unit: String
            let trackCount: Int
            let unitCount: Int
            let roost: Side
            let baseline: Side
            let ratio: Double
        }

        let machine: Machine
        let commit: String
        let rounds: Int
        let operations: [Operation]
    }

    /// The operations that the README shows, in its order.
    private static let shown = [
        "sqlite/scan", "lmdb/scan", "sqlite/point-read", "lmdb/point-read", "sqlite/index-lookup", "lmdb/index-lookup",
        "sqlite/filter-scan", "sqlite/sort-limit", "sqlite/update", "lmdb/update", "sqlite/transactions-1",
        "lmdb/transactions-1", "json/transactions-1", "sqlite/transactions-1000", "lmdb/transactions-1000",
        "sqlite/load", "lmdb/load", "json/open", "json/write", "sqlite-lmdb/verified", "lmdb-sqlite/verified",
        "sqlite-sqlite/verified", "sqlite-json/verified", "json-sqlite/verified", "coredata-sqlite/verified",
    ]

    private static let beginning = "<!-- Benchmarks/Results/latest.json; written by MeasuredTests -->\n"
    private static let end = "<!-- end of the numbers -->\n"

    /// With `ROOST_WRITE_DOCS=1`, updates the section instead of comparing it.
    @Test("the README's measured numbers are those of Benchmarks/Results/latest.json")
    func readme() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let results = try JSONDecoder().decode(
            Results.self, from: Data(contentsOf: root.appendingPathComponent("Benchmarks/Results/latest.json")))
        let location = root.appendingPathComponent("README.md")
        let text = String(decoding: try Data(contentsOf: location), as: UTF8.self)
        let start = try #require(text.range(of: Self.beginning)).upperBound
        let stop = try #require(text[start...].range(of: Self.end)).lowerBound
        let wanted = try text[..<start] + Self.section(results) + text[stop...]
        if ProcessInfo.processInfo.environment["ROOST_WRITE_DOCS"] != nil {
            try Data(wanted.utf8).write(to: location)
        } else {
            // The two texts are too long for a failure's message.
            let isCurrent = text == wanted
            #expect(isCurrent, "README.md does not show the numbers of latest.json; ROOST_WRITE_DOCS=1 updates it.")
        }
    }

    private static func section(_ results: Results) throws -> String {
        let machine = results.machine
        var lines = [
            "\(machine.processor), \(machine.cores) cores, \(machine.system), \(machine.libraries.joined(separator: ", ")); commit \(results.commit), medians of \(results.rounds) rounds.",
            "", "| operation | objects | Roost | C | × C | private memory |", "|---|--:|--:|--:|--:|--:|",
        ]
        for name in shown {
            let operation = try #require(results.operations.first { $0.name == name }, "\(name) was not measured")
            let memory = operation.roost.peakPrivateBytes
                .map { String(format: "%.0f MiB", (Double($0) / 1_048_576).rounded(.up)) }
            lines.append(
                "| \(title(operation)) | \(grouped(operation.trackCount)) | \(time(operation.roost, of: operation)) | \(time(operation.baseline, of: operation)) | \(String(format: "%.2f", operation.ratio)) | \(memory ?? "–") |"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the title with the store's name as a prefix.
    ///
    /// The title of a conversion gets no prefix, but its store types are replaced with names.
    private static func title(_ operation: Results.Operation) -> String {
        let names = ["sqlite": "SQLite", "lmdb": "LMDB", "json": "JSON", "memory": "memory", "coredata": "Core Data"]
        let group = String(operation.name.prefix { $0 != "/" })
        guard !group.contains("-") else {
            return names.reduce(operation.title) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        }
        return "\(names[group] ?? group): \(operation.title)"
    }

    private static func time(_ side: Results.Side, of operation: Results.Operation) -> String {
        let sorted = side.seconds.sorted()
        guard let low = sorted.dropLast(sorted.count / 2).last, let high = sorted.dropFirst(sorted.count / 2).first,
            operation.unitCount > 0
        else { return "–" }
        let nanoseconds = (low + high) / 2 / Double(operation.unitCount) * 1e9
        return nanoseconds < 10_000
            ? String(format: nanoseconds < 100 ? "%.1f ns" : "%.0f ns", nanoseconds)
            : String(format: "%.0f µs", nanoseconds / 1000)
    }

    private static func grouped(_ number: Int) -> String {
        var digits = Array(String(number))
        for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(" ", at: place) }
        return String(digits)
    }
}
