import Foundation
import Roost
import RoostCore
import Testing

@Suite(
    "Outcomes of failed commits", .serialized,
    .enabled(if: CrashLab.works, "calls can be recorded only on Linux with glibc"))
struct CommitOutcomeTests {
    /// The number of the last transaction before the run.
    private static let transactionCount: Int64 = 6

    private func lastTransaction(after run: CrashLab.Run, type: String) throws -> Int64? {
        let location = StoreLocation(type: type, path: run.root.appendingPathComponent("store").path)
        let store = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: true))
        defer { try? store.close() }
        guard case .int(let number)? = try store.metadata().userMetadata["transaction"] else { return nil }
        return number
    }

    @Test("a JSON commit whose failed flush cannot be undone has an unknown outcome")
    func unknownJSONCommit() throws {
        let lab = try CrashLab(.commit, from: "json", to: "json", transactions: Self.transactionCount)
        let run = try lab.fail(
            CrashLab.Fault(classes: [.sync, .truncate], number: 1, action: .error(EIO), isSticky: true))
        defer { lab.discard(run) }
        #expect(run.status == 3)
        #expect(run.errors.hasPrefix("outcomeUnknown: "), "\(run.errors)")
        // The journal's last frame is complete, because only its flush failed.
        #expect(try lastTransaction(after: run, type: "json") == Self.transactionCount + 1)
    }

    @Test("a JSON commit whose flush fails once is not made")
    func failedJSONCommit() throws {
        let lab = try CrashLab(.commit, from: "json", to: "json", transactions: Self.transactionCount)
        let run = try lab.fail(CrashLab.Fault(classes: [.sync], number: 1, action: .error(EIO)))
        defer { lab.discard(run) }
        #expect(run.status == 3)
        #expect(run.errors.hasPrefix("ioFailure: "), "\(run.errors)")
        #expect(try lastTransaction(after: run, type: "json") == Self.transactionCount)
    }

    @Test(
        "an LMDB commit whose last write fails has an unknown outcome",
        .enabled(if: FileBackends.all.contains("lmdb"), "this build has no LMDB"))
    func unknownLMDBCommit() throws {
        let lab = try CrashLab(.commit, from: "lmdb", to: "lmdb", transactions: Self.transactionCount)
        let counted = try lab.fail(CrashLab.Fault(classes: [.write], number: .max, action: .error(EIO)))
        lab.discard(counted)
        let calls = try #require(counted.callCount)
        // Commits end with writes of meta pages.
        let errors = try (1..<calls + 1).map { number in
            let run = try lab.fail(CrashLab.Fault(classes: [.write], number: number, action: .error(EIO)))
            defer { lab.discard(run) }
            return run.errors
        }
        #expect(errors.contains { $0.hasPrefix("outcomeUnknown: ") }, "\(errors)")
    }
}
