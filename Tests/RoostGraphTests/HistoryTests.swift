import Foundation
import Roost
import RoostGraph
import TestSamples
import Testing

@Suite("Random histories")
struct HistoryTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["ROOST_GRAPH_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
    private static let count = environment["ROOST_GRAPH_HISTORIES"].flatMap { Int($0) } ?? 40

    @Test("of several contexts end as a naive graph of dictionaries does")
    func plainGraph() throws {
        for number in 0..<UInt64(Self.count) {
            var random = SeededGenerator(seed: Self.seed &+ number)
            let steps = (0..<80).map { _ in Step.random(using: &random) }
            func failure(_ steps: [Step]) throws -> String? {
                try History.failure(of: steps, in: .memory, checksEach: 1)
            }
            guard try failure(steps) != nil else { continue }
            let fewer = try History.shrink(steps, failure)
            let text = try failure(fewer) ?? "it passes now"
            Issue.record(
                "ROOST_GRAPH_SEED=\(Self.seed &+ number): \(text)\n\(fewer.map(\.description).joined(separator: ",\n"))"
            )
            return
        }
    }
}
