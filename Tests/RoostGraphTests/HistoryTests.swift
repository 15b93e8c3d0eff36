import Foundation
import Roost
import RoostGraph
import TestSamples
import Testing

@Suite("Random histories")
@MainActor
struct HistoryTests {
    private nonisolated static let environment = ProcessInfo.processInfo.environment
    /// The first seed: 1 by default, random if only `ROOST_GRAPH_HISTORIES` is set.
    private static let seed =
        environment["ROOST_GRAPH_SEED"].flatMap { UInt64($0) }
        ?? (environment["ROOST_GRAPH_HISTORIES"] == nil ? 1 : UInt64.random(in: 0..<1_000_000))
    private static let count = environment["ROOST_GRAPH_HISTORIES"].flatMap { Int($0) }
    /// Whether the outcomes of saves are printed.
    private static let isVerbose = environment["ROOST_GRAPH_OUTCOMES"] != nil

    enum Backend: String, CaseIterable, Sendable {
        case memory, sqlite, lmdb, json

        static let chosen: [Backend] = {
            guard let names = environment["ROOST_GRAPH_STORES"] else { return allCases }
            return names.split(separator: ",").compactMap { Backend(rawValue: String($0)) }
        }()

        var usualCount: Int { self == .memory ? 5 : 1 }
    }

    /// Runs random steps in new stores, and records the first failure with only the steps it needs.
    private func histories(
        on backend: Backend, kinds: [Int], length: Int,
        _ failure: @MainActor ([Step], StoreLocation) async throws -> String?
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "histories-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var number = 0
        func run(_ steps: [Step]) async throws -> String? {
            number += 1
            let folder = directory.appending(path: "\(number)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let location: StoreLocation =
                switch backend {
                case .memory: .memory
                case .sqlite: .sqlite(folder.appending(path: "m.sqlite").path)
                case .lmdb: .lmdb(folder.appending(path: "m.lmdb").path)
                case .json: .json(folder.appending(path: "m.json").path)
                }
            return try await failure(steps, location)
        }
        for number in 0..<UInt64(Self.count ?? backend.usualCount) {
            var random = SeededGenerator(seed: Self.seed &+ number)
            let steps = (0..<length).map { _ in Step.random(kinds, using: &random) }
            guard try await run(steps) != nil else { continue }
            let fewer = try await Step.shrink(steps, run)
            let text = try await run(fewer) ?? "it passes now"
            Issue.record(
                "ROOST_GRAPH_SEED=\(Self.seed &+ number) on \(backend): \(text)\n\(fewer.map(\.description).joined(separator: ",\n"))"
            )
            return
        }
    }

    @Test(
        "contexts that merge saves agree with a graph of dictionaries in random histories",
        arguments: Backend.chosen, [false, true])
    func merges(_ backend: Backend, isLazy: Bool) async throws {
        try await histories(on: backend, kinds: MergeHistory.kinds, length: 80) { steps, location in
            try await MergeHistory.failure(of: steps, in: location, isLazy: isLazy)
        }
    }

    @Test("undo and redo return to earlier states in random histories", arguments: Backend.chosen)
    func undo(_ backend: Backend) async throws {
        try await histories(on: backend, kinds: UndoHistory.kinds, length: 60) { steps, location in
            try await UndoHistory.failure(of: steps, in: location, isObservable: false)
        }
    }

    @Test("the results of controllers equal a new fetch throughout random histories", arguments: Backend.chosen)
    func results(_ backend: Backend) async throws {
        try await histories(on: backend, kinds: ResultsHistory.kinds, length: 30) { steps, location in
            try await ResultsHistory.failure(of: steps, in: location)
        }
    }

    @Test("undo and redo report each changed property to its observers in random histories", arguments: Backend.chosen)
    func observationOfUndo(_ backend: Backend) async throws {
        try await histories(on: backend, kinds: UndoHistory.kinds, length: 60) { steps, location in
            try await UndoHistory.failure(of: steps, in: location, isObservable: true)
        }
    }

    @Test("merges report each changed property to its observers in random histories", arguments: Backend.chosen)
    func observationOfMerges(_ backend: Backend) async throws {
        try await histories(on: backend, kinds: MergeHistory.kinds, length: 80) { steps, location in
            try await MergeHistory.failure(of: steps, in: location, isLazy: false, isObservable: true)
        }
    }

    @Test("conflicting saves in random histories follow the documented rules", arguments: Backend.chosen)
    func conflicts(_ backend: Backend) async throws {
        let outcomes = OutcomeCounts()
        try await histories(on: backend, kinds: ConflictHistory.kinds, length: 80) { steps, location in
            try await ConflictHistory.failure(of: steps, in: location, outcomes: outcomes)
        }
        if Self.isVerbose {
            print(outcomes.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n"))
        }
    }
}
