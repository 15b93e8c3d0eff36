import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostGraph
import SortedFile
import Testing

@Suite("Contexts on every store")
struct GraphConformanceTests {
    /// The writable built-in stores without a server, and the example of a third-party store.
    static let fixtures: [StoreFixture] =
        StoreRegistry.standard.withoutServers.filter { $0.capabilities.contains(.writing) }
        .map { StoreFixture($0, keepsClosedStores: $0.name == "memory") } + [StoreFixture(SortedFileStoreType())]

    private static func fixture(_ name: String) -> StoreFixture? { fixtures.first { $0.name == name } }

    @Test(
        "contexts on an SQLite store pass every graph check",
        .enabled(if: fixture("sqlite") != nil, "this type of store was left out of this build"),
        arguments: GraphCheck.all)
    func sqlite(check: GraphCheck) async throws { try await run(check, on: "sqlite") }

    @Test(
        "contexts on an LMDB store pass every graph check",
        .enabled(if: fixture("lmdb") != nil, "this type of store was left out of this build"),
        arguments: GraphCheck.all)
    func lmdb(check: GraphCheck) async throws { try await run(check, on: "lmdb") }

    @Test(
        "contexts on a JSON store pass every graph check",
        .enabled(if: fixture("json") != nil, "this type of store was left out of this build"),
        arguments: GraphCheck.all)
    func json(check: GraphCheck) async throws { try await run(check, on: "json") }

    @Test(
        "contexts on a store in memory pass every graph check",
        .enabled(if: fixture("memory") != nil, "this type of store was left out of this build"),
        arguments: GraphCheck.all)
    func memory(check: GraphCheck) async throws { try await run(check, on: "memory") }

    @Test(
        "contexts on the example of a third-party store pass every graph check",
        .enabled(if: fixture("sorted") != nil, "this type of store was left out of this build"),
        arguments: GraphCheck.all)
    func sorted(check: GraphCheck) async throws { try await run(check, on: "sorted") }

    @Test("each writable type of store without a server has a test of all graph checks")
    func types() {
        #expect(Set(Self.fixtures.map(\.name)).isSubset(of: ["sqlite", "lmdb", "json", "memory", "sorted"]))
    }

    private func run(_ check: GraphCheck, on name: String) async throws {
        let fixture = try #require(Self.fixture(name))
        let known = KnownFailure.all.first { $0.check == check.id && ($0.store == nil || $0.store == fixture.name) }
        if let known, known.stopsProcess {
            let failure = ConformanceFailure(
                check: check.id, store: fixture.name, expected: check.behavior, actual: "it stops the process")
            await Figures.shared.note(check, on: fixture, outcome: .failed(failure))
            withKnownIssue("\(known.reason)") { throw failure }
            return
        }
        let outcome = await check.outcome(on: fixture)
        await Figures.shared.note(check, on: fixture, outcome: outcome)
        switch outcome {
        case .passed, .skipped:
            if let known {
                Issue.record(
                    "\(check.id) passes on \(fixture.name): remove it from the known failures (\(known.reason))")
            }
        case .failed(let failure):
            guard let known else { throw failure }
            withKnownIssue("\(known.reason)") { throw failure }
        }
    }

    /// The second process: `roost`, built with the tests.
    static let peer = PeerProgram.besideTests("roost", arguments: ["__conformance-peer"])

    @Test(
        "contexts follow what another process imports, and catch up after a restart",
        .enabled(if: peer != nil, "the program 'roost' is not beside the tests"), arguments: GraphCheck.processes,
        StoreRegistry.standard.withoutServers.filter { $0.capabilities.contains(.writing) })
    func processes(_ check: GraphCheck, on type: any PersistentStoreType) async throws {
        if case .failed(let failure) = await check.outcome(on: StoreFixture(type, peer: Self.peer)) { throw failure }
    }

    @Test(
        "a graph check fails on a store that has the fault that the check looks for",
        arguments: GraphSelfTest.faults.map { ($0.fault, $0.check) })
    func selfTest(of fault: FaultyStoreType.Fault, caughtBy check: String) async throws {
        let fixture = try #require(Self.fixtures.first { $0.description == "json" })
        switch await GraphSelfTest.outcome(of: fault, caughtBy: check, on: fixture) {
        case .caught: break
        case .missed: Issue.record("\(check) passes on a store that \(fault)")
        case .unsound(let failure):
            withKnownIssue("a known failure hides the fault", isIntermittent: true) {
                if KnownFailure.all.contains(where: { $0.check == check }) { throw failure }
            }
            if !KnownFailure.all.contains(where: { $0.check == check }) { throw failure }
        }
    }

    #if PlantedFaults
        @Test(
            "a graph check fails if contexts have the planted fault that the check looks for",
            arguments: GraphSelfTest.plantedFaults.map { ($0.fault, $0.check) })
        func plantedFaults(of fault: PlantedFault, caughtBy check: String) async throws {
            let fixture = try #require(Self.fixtures.first { $0.description == "json" })
            switch await GraphSelfTest.outcome(of: fault, caughtBy: check, on: fixture) {
            case .caught(let failure): print("planted: \(check) finds \(fault): \(failure.actual.prefix(160))")
            case .missed: Issue.record("\(check) passes with the fault '\(fault)'")
            case .unsound(let failure): throw failure
            }
        }

        @Test("each fault planted in contexts has a graph check that looks for it")
        func eachPlantedFault() {
            #expect(Set(GraphSelfTest.plantedFaults.map(\.fault)) == Set(PlantedFault.allCases))
        }
    #else
        @Test(
            "a graph check fails if contexts have the planted fault that the check looks for",
            .disabled("needs the trait PlantedFaults, which 'make test' sets"))
        func plantedFaults() {}
    #endif

    @Test("graph checks have distinct IDs, and known failures name existing checks")
    func ids() {
        #expect(Set(GraphCheck.all.map(\.id)).count == GraphCheck.all.count)
        for known in KnownFailure.all { #expect(GraphCheck.named(known.check) != nil, "\(known.check)") }
        #expect(Self.fixtures.count >= 5)
    }
}

struct KnownFailure {
    let check: String
    /// The name of the store; nil for all.
    let store: String?
    let reason: String
    /// Whether to skip the check, which would crash the test process.
    let stopsProcess: Bool

    init(_ check: String, on store: String? = nil, stopsProcess: Bool = false, reason: String) {
        (self.check, self.store, self.reason, self.stopsProcess) = (check, store, reason, stopsProcess)
    }

    static let all: [KnownFailure] = []
}

/// The results of a run, printed after the last check.
actor Figures {
    static let shared = Figures()

    private var passed: [String: Int] = [:]
    private var skipped: [String: Int] = [:]
    private var failed: [String: [String]] = [:]
    private var count = 0

    func note(_ check: GraphCheck, on fixture: StoreFixture, outcome: GraphCheck.Outcome) {
        count += 1
        switch outcome {
        case .passed: passed[fixture.description, default: 0] += 1
        case .skipped: skipped[fixture.description, default: 0] += 1
        case .failed: failed[fixture.description, default: []].append(check.id)
        }
        guard count == GraphCheck.all.count * GraphConformanceTests.fixtures.count else { return }
        var lines = ["graph suite: \(GraphCheck.all.count) checks x \(GraphConformanceTests.fixtures.count) stores"]
        for fixture in GraphConformanceTests.fixtures.map(\.description) {
            let failures = (failed[fixture] ?? []).sorted()
            let list = failures.isEmpty ? "" : ": \(failures.joined(separator: ", "))"
            lines.append(
                "  \(fixture): \(passed[fixture] ?? 0) passed, \(skipped[fixture] ?? 0) skipped, \(failures.count) failed\(list)"
            )
        }
        // One call, so that no other output comes between the lines.
        print(lines.joined(separator: "\n"))
    }
}
