import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

@Suite("Killed writers", .serialized)
struct KillTests {
    /// 50 processes, one after the other, commit in a loop and are killed at random instants.
    @Test("after a kill, a store holds every acknowledged commit whole and no half commit", arguments: FileBackends.all)
    func committing(type: String) throws {
        let seed = seed(named: "ROOST_KILL_SEED")
        print("kill on \(type): ROOST_KILL_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let bench = try Bench()
        let location = bench.location(type)
        try StoreRegistry.standard.create(location, model: try CrashWorkload.model).close()
        var state = try CrashWorkload.State()
        for round in 1...50 {
            // With this option, some kills interrupt the writing of a new JSON document.
            let child = try Child("commit", at: location, options: type == "json" ? ["journalBytes=9000"] : [])
            var acked = try #require(
                try child.number("ready"), "round \(round): the child did not open the store: \(child.wait())")
            #expect(acked == state.number, "round \(round)")
            for _ in 0..<random.below(6) {
                acked = try #require(try child.number("acked"), "round \(round): \(child.wait())")
            }
            // A busy loop of random length puts the kill anywhere inside a transaction.
            var spin = random.below(3_000_000)
            while spin > 0 { spin -= 1 + Int(random.next() & 1) }
            child.kill()
            while let more = try child.number("acked") { acked = more }
            let (status, errors) = child.wait()
            #expect(status == -9, "round \(round): \(errors)")

            let store = try StoreRegistry.standard.open(location)
            defer { try? store.close() }
            let found = CrashWorkload.number(in: try store.metadata())
            #expect(
                found == acked || found == acked + 1,
                "round \(round), seed \(seed): \(acked) were acknowledged, \(found) are there")
            try #require(found >= state.number)
            try state.advance(to: found)
            if let difference = try store.contents().difference(from: state.contents) {
                Issue.record("round \(round), seed \(seed), transaction \(found): \(difference)")
            }
            try examine(store, expecting: state.digest, at: "round \(round), seed \(seed)")
            _ = try store.commit(try CrashWorkload.transaction(found + 1))
            try state.advance(to: found + 1)
        }
    }

    private func examine(_ store: any PersistentStore, expecting digest: StoreDigest, at when: String) throws {
        let damage = try store.integrityFindings().filter { $0.severity == .damage }
        #expect(damage.isEmpty, "\(when): \(damage)")
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let computed = try snapshot.computeTally()
        #expect(computed.digest == digest, "\(when)")
        if let recorded = try snapshot.recordedTally() { #expect(recorded == computed, "\(when)") }
    }
}
