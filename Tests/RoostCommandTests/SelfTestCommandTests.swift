import RoostConformance
import Testing

@Suite("roost conformance --self-test")
struct SelfTestCommandTests {
    @Test("the conformance self-test names each fault and the check that catches it")
    func everyFault() throws {
        let place = try Workplace()
        let result = try place.roost("conformance", "--self-test")
        #expect(result.code == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        let faults = FaultyStoreType.Fault.allCases
        // These faults need a damaged file, or a second process with the store open.
        let skipped: [FaultyStoreType.Fault] = [.readsDamage, .signsDamage, .hidesOtherOpenings, .signalsFailures]
        #expect(
            lines.last
                == "\(faults.count) faults: \(faults.count - skipped.count) caught, 0 missed, \(skipped.count) skipped")
        for fault in skipped { #expect(lines.contains { $0.hasPrefix("skipped  \(fault)  \(fault.caughtBy)  ") }) }
        for fault in faults where !skipped.contains(fault) {
            #expect(lines.contains { $0.hasPrefix("caught  \(fault)  \(fault.caughtBy)  expected ") }, "\(fault)")
        }
    }

    @Test("the conformance self-test filters faults and refuses types that cannot be written")
    func usage() throws {
        let place = try Workplace()
        let result = try place.roost("conformance", "--self-test", "memory", "--filter=rounds", "--json")
        #expect(result.code == 0, "\(result.errors)")
        let report = try result.json()
        #expect(report["caught"] as? Int == 1)
        let faults = try #require(report["faults"] as? [[String: Any]])
        #expect(faults.map { $0["check"] as? String } == ["values.date.extremes"])
        #expect(faults.map { $0["outcome"] as? String } == ["caught"])
        let whole = try place.roost("conformance", "--self-test", "--filter=rounds-*")
        #expect(whole.code == 0 && whole.output.hasPrefix("caught  rounds-dates  "), "\(whole.output)")
        let quiet = try place.roost("conformance", "--self-test", "--filter=rounds-*", "--quiet")
        #expect(quiet.code == 0 && quiet.output == "" && quiet.errors == "")
        try place.roost("conformance", "--self-test", "memory", "--filter=no such fault").expectError(2)
        try place.roost("conformance", "--self-test", "coredata").expectError(2, containing: "cannot be written")
        try place.roost("conformance").expectError(2, containing: "needs TYPE...")
    }
}
