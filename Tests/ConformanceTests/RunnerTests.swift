import Roost
import RoostConformance
import RoostCore
import Testing

@Suite("Conformance runs")
struct RunnerTests {
    private static func memory(_ fault: FaultyStoreType.Fault? = nil) throws -> any PersistentStoreType {
        let sound = try StoreRegistry.standard.type(named: "memory")
        return fault.map { FaultyStoreType(sound, fault: $0) } ?? sound
    }

    private static func check(_ id: String) throws -> ConformanceCheck { try #require(ConformanceCheck.named(id)) }

    @Test("a conformance run reports a result for each fixture and check, in order")
    func reportsResultsInOrder() throws {
        let checks = [try Self.check("changes.empty"), try Self.check("links.order")]
        let fixtures = [StoreFixture(try Self.memory(), name: "a"), StoreFixture(try Self.memory(), name: "b")]
        var reported: [String] = []
        let results = try ConformanceRunner.run(checks, on: fixtures) { reported.append("\($0.store) \($0.check)") }
        #expect(reported == ["a changes.empty", "a links.order", "b changes.empty", "b links.order"])
        #expect(results.map { "\($0.store) \($0.check)" } == reported)
        #expect(results.allSatisfy { $0.seconds > 0 && !$0.isFailure })
        #expect(
            "\(ConformanceCounts(results))"
                == "4 checks: 4 passed, 0 passed as opposites, 0 excluded, 0 failed")
    }

    @Test("a conformance run ends when its report throws")
    func endedByReport() throws {
        struct Enough: Error {}
        var count = 0
        #expect(throws: Enough.self) {
            _ = try ConformanceRunner.run(on: [StoreFixture(try Self.memory())]) { _ in
                count += 1
                if count == 2 { throw Enough() }
            }
        }
        #expect(count == 2)
    }

    @Test("a conformance report shows a failure in every format", arguments: ConformanceReport.Format.allCases)
    func failing(format: ConformanceReport.Format) throws {
        let fixture = StoreFixture(try Self.memory(.dropsLastLink), keepsClosedStores: true)
        var report = ConformanceReport(format)
        var text = report.beginning(checkCount: 1)
        let results = try ConformanceRunner.run([try Self.check("links.many-to-many")], on: [fixture]) {
            text += report.add($0)
        }
        text += report.ending()
        #expect(results.map(\.isFailure) == [true])
        switch format {
        case .text: #expect(text.contains("FAIL      memory  links.many-to-many\n") && text.contains("1 failed\n"))
        case .tap: #expect(text.contains("not ok 1 - memory: links.many-to-many\n"))
        case .junit: #expect(text.contains("failures=\"1\"") && text.contains("<failure "))
        case .markdown: #expect(text.contains("| `links` | **1 failed** |"))
        }
    }

    @Test("an excluded check that fails is reported with its reason and is not a failure")
    func excluded() throws {
        let exclusion = ConformanceExclusion("links.many-to-many", because: "the last link is dropped")
        let fixture = StoreFixture(
            try Self.memory(.dropsLastLink), keepsClosedStores: true, exclusions: [exclusion])
        let check = try Self.check("links.many-to-many")
        let result = check.result(on: fixture)
        guard case .excluded(exclusion, let failure) = result.outcome else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(!result.isFailure && failure.check == check.id)
        // A test framework runs checks in this way.
        try check.run(on: fixture)
        #expect(throws: ConformanceFailure.self) { try Self.check("links.after").run(on: fixture) }
    }

    @Test("an excluded check that passes is a failure that asks to remove the exclusion")
    func needlessExclusion() throws {
        let fixture = StoreFixture(
            try Self.memory(), exclusions: [ConformanceExclusion("changes.empty", because: "it is slow")])
        let error = #expect(throws: ConformanceFailure.self) { try Self.check("changes.empty").run(on: fixture) }
        #expect(error?.actual == "it passes: remove the exclusion")
        #expect(error?.expected.hasSuffix("as the exclusion says: it is slow") == true)
    }

    @Test(
        "a mistaken exclusion is refused before any check runs",
        arguments: [
            ([("links.ordr", "why")], "did you mean 'links.order'?"), ([("links.order", "")], "without a reason"),
            ([("links.order", " \n")], "without a reason"),
            ([("links.order", "a"), ("links.order", "b")], "excluded twice"),
        ] as [([(String, String)], String)])
    func mistakenExclusion(exclusions: [(String, String)], message: String) throws {
        let used = Mutex(0)
        let fixture = StoreFixture(
            try Self.memory(), exclusions: exclusions.map { ConformanceExclusion($0, because: $1) }
        ).with {
            $0.makeLocation = { directory, name in
                used.withLock { $0 += 1 }
                return StoreLocation(type: "memory", path: "\(directory)/\(name)")
            }
        }
        var reported = 0
        let errors = [
            #expect(throws: ConformanceFailure.self) {
                _ = try ConformanceRunner.run(on: [StoreFixture(try Self.memory()), fixture]) { _ in reported += 1 }
            },
            // A test framework runs checks in this way; the exclusion is of another check.
            #expect(throws: ConformanceFailure.self) { try Self.check("changes.empty").run(on: fixture) },
        ]
        for error in errors { #expect(error?.actual.contains(message) == true, "\(String(describing: error))") }
        #expect(reported == 0 && used.withLock { $0 } == 0)
    }

    @Test(
        "a filter selects checks by a part of the ID or by a pattern with asterisks",
        arguments: [
            ("order", true), ("links.order", true), ("links", true), ("", true), ("orders", false), ("links.*", true),
            ("*.order", true), ("link*order", true), ("*", true), ("l*n*s*o*r", true), ("*links.order*", true),
            ("nks.*", false), ("links*s.order", false), ("*ordr*", false), ("links.order*r", false), ("l*k*k*", false),
        ])
    func filter(text: String, isFound: Bool) throws {
        #expect(try Self.check("links.order").matches(text) == isFound)
    }
}
