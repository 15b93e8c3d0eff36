import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

@Suite("The conformance suite")
struct SuiteTests {
    @Test("the conformance suite lists exactly the recorded checks, in their order")
    func recordedIDs() throws {
        #expect(ConformanceCheck.all.map(\.id) == RecordedChecks.ids)
    }

    @Test("each conformance check has a well-formed ID of its own")
    func uniqueIDs() {
        let ids = ConformanceCheck.all.map(\.id)
        #expect(Set(ids).count == ids.count)
        for id in ids { #expect(id.wholeMatch(of: /[a-z]+(\.[a-z0-9-]+)+/) != nil, "\(id)") }
    }

    @Test("each conformance check states its behavior in a sentence")
    func sentences() {
        for check in ConformanceCheck.all {
            #expect(check.behavior.hasSuffix("."), "\(check.id)")
            #expect(check.behavior.count > 15, "\(check.id)")
        }
    }

    @Test("the list of conformance checks has every group that a source file declares")
    func completeness() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Conformance")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var (declared, listed, lists, sum) = (Set<String>(), "", Set<String>(), "")
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /static let (\w+): \[ConformanceCheck\] = \[/) {
                declared.insert(String(match.1))
            }
            for match in text.matches(of: /static let (of[A-Z]\w*): \[ConformanceCheck\] = \[([^\]]*)\]/) {
                lists.insert(String(match.1))
                listed += match.2
            }
            if let match = text.firstMatch(of: /static let all: \[ConformanceCheck\] = (.*)/) { sum = String(match.1) }
        }
        declared.subtract(lists)
        #expect(Set(sum.split { !$0.isLetter }.map(String.init)) == lists)
        let names = Set(listed.split { !$0.isLetter }.map(String.init))
        #expect(!names.isEmpty)
        #expect(names == declared)
    }

    /// The codes that no conformance check provokes, with the reasons.
    private static let notProvoked: [String: String] = [
        "unsupportedVersion": "only a type can write another version into its files; each backend's own tests do",
        "unknownStoreType": "given by the registry, before a store is reached",
        "hasOtherNames": "not every file system has hard links; the tests of the built-in types make some",
        "lossRefused": "given by migrations, which do not run in a store",
        "ioFailure": "needs a broken disk; the fault campaigns make calls of the system fail",
        "invalidModel": "given by models, before a store is reached",
        "invalidMappingModel": "given by mapping models, before a store is reached",
        "mappingNotInferable": "given by models, before a store is reached",
        "verificationFailed": "given by conversions, if the destination lost content",
        "migrationFailed": "given by migrations, if an object does not fit the new model",
        "outcomeUnknown": "needs a server that stays unreachable; the tests of PostgreSQL use a proxy",
        "snapshotExpired": "given by servers that end idle transactions",
        "internalInconsistency": "given by a defect, which no call can provoke",
    ]

    @Test("conformance checks provoke every error code of stores except the listed ones")
    func errorCodes() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func text(_ folder: String, _ isWanted: (URL) -> Bool) throws -> String {
            let files = try #require(
                FileManager.default.enumerator(
                    at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil))
            return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" && isWanted($0) }
                .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
        }
        let declared = try text("Sources/Core/RoostCore/Errors") { $0.lastPathComponent == "StoreError.swift" }
            .matches(of: /static let (\w+) = Self\("\w+"\)/).map { String($0.1) }
        // Checks of contexts make stores fail on purpose, so they do not count.
        let checks = try text("Conformance") { file in
            !file.path.contains("Conformance/Graph/")
                && (file.path.contains("Checks") || file.path.contains("Opposite"))
        }
        var provoked: Set<String> = []
        for call in checks.matches(of: /expectError\(([^:)]*), in:/) {
            for code in call.1.split(separator: ",") {
                provoked.insert(code.trimmingCharacters(in: .whitespacesAndNewlines).trimmingPrefix(".").description)
            }
        }
        // Checks of damage accept any of several codes, so they name `corrupted` in a list instead of
        // calling `expectError`.
        if checks.contains("[.corrupted, .notAStore") { provoked.insert("corrupted") }
        #expect(declared.count > 25)
        for code in declared {
            #expect(provoked.contains(code) != (Self.notProvoked[code] != nil), "\(code)")
        }
        #expect(Set(Self.notProvoked.keys).isSubset(of: declared))
    }

    @Test("the conformance tests include memory stores and, if built, SQLite and LMDB stores")
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

    @Test("a sample graph is the same for the same seed and differs for another seed")
    func sampleGraph() throws {
        let first = try SampleGraph(seed: 1, objectCount: 300).digest
        #expect(try SampleGraph(seed: 1, objectCount: 300).digest == first)
        #expect(try SampleGraph(seed: 2, objectCount: 300).digest != first)
        #expect(first.objectCount == 300)
        #expect(first.linkCount > 100)
    }
}
