import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

/// What must hold of the suite itself.
@Suite("The conformance suite")
struct SuiteTests {
    @Test("lists exactly the recorded checks, in their order: an ID that is released never changes")
    func recordedIDs() throws {
        #expect(ConformanceCheck.all.map(\.id) == RecordedChecks.ids)
    }

    @Test("names every check once")
    func uniqueIDs() {
        let ids = ConformanceCheck.all.map(\.id)
        #expect(Set(ids).count == ids.count)
        for id in ids { #expect(id.wholeMatch(of: /[a-z]+(\.[a-z0-9-]+)+/) != nil, "\(id)") }
    }

    @Test("states every behaviour in a sentence")
    func sentences() {
        for check in ConformanceCheck.all {
            #expect(check.behaviour.hasSuffix("."), "\(check.id)")
            #expect(check.behaviour.count > 15, "\(check.id)")
        }
    }

    @Test("leaves no check out of its list: every group that a source file declares is in it")
    func completeness() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Conformance")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var (declared, listed) = (Set<String>(), "")
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /static let (\w+): \[ConformanceCheck\] = \[/) {
                declared.insert(String(match.1))
            }
            if let match = text.firstMatch(of: /static let all: \[ConformanceCheck\] = \[([^\]]*)\]/) {
                listed = String(match.1)
            }
        }
        declared.remove("all")
        let names = Set(listed.split { !$0.isLetter }.map(String.init))
        #expect(!names.isEmpty)
        #expect(names == declared)
    }

    @Test("runs on every built-in backend")
    func backends() {
        let names = Set(StoreFixture.all.map(\.name))
        #expect(names.isSuperset(of: ["memory"]))
        #if SQLite
            #expect(names.contains("sqlite"))
        #endif
        #if LMDB
            #expect(names.contains("lmdb"))
        #endif
        #expect(StoreFixture.pairs.count == StoreFixture.writable.count * StoreFixture.writable.count)
    }

    @Test("generates the same library from the same seed, and another from another")
    func sampleGraph() throws {
        let first = try SampleGraph(seed: 1, objectCount: 300).digest
        #expect(try SampleGraph(seed: 1, objectCount: 300).digest == first)
        #expect(try SampleGraph(seed: 2, objectCount: 300).digest != first)
        #expect(first.objectCount == 300)
        #expect(first.linkCount > 100)
    }
}
