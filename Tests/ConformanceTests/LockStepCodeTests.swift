import Foundation
import RoostCore
import Testing

@testable import RoostConformance

@Suite("Printed code of lock-step failures")
struct LockStepCodeTests {
    private static func memory() throws -> StoreFixture {
        try #require(StoreFixture.writable.first { $0.name == "memory" })
    }

    @Test("printed code of a load with links of two relationships declares each constant once")
    func loadOfTwoRelationships() throws {
        let code = LockStepCode.text(
            [
                .insert(ObjectID("Track", key: 1), [:]), .insert(ObjectID("Tag", key: 1), [:]),
                .insert(ObjectID("Playlist", key: 1), [:]), .link(Link(1, 1), RelationshipName("Track", name: "tags")),
                .link(Link(1, 1), RelationshipName("Track", name: "playlists")), .load(finishes: true),
            ], on: try Self.memory())
        let lines = code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.count { $0.hasPrefix("try loader.append(LinkBatch(") } == 2, "\(code)")
        let names = lines.filter { $0.hasPrefix("let ") }.map { $0.prefix { $0 != "=" } }
        #expect(Set(names).count == names.count, "\(code)")
    }

    @Test("printed code expects a refusal of equal unique values only if the stores have uniqueness constraints")
    func equalUniqueValues() throws {
        let operations: [LockStepOperation] = [
            .insert(ObjectID("Account", key: 1), ["number": 1]), .insert(ObjectID("Account", key: 2), ["number": 1]),
            .commit,
        ]
        let memory = try Self.memory()
        let unconstrained = StoreFixture(UnconstrainedStoreType(base: memory.type), keepsClosedStores: true)
        #expect(LockStepCode.text(operations, on: memory).contains("#expect(throws: StoreError.self)"))
        #expect(LockStepCode.text(operations, on: unconstrained).contains("#expect(receipt.hasChanges)"))
    }

    @Test("printed code expects a digest only if the stores record one")
    func digests() throws {
        let operations: [LockStepOperation] = [.insert(ObjectID("Tag", key: 1), [:]), .commit]
        let memory = try Self.memory()
        let type = UnconstrainedStoreType(base: memory.type, capabilities: StoreCapabilities(.writing))
        #expect(LockStepCode.text(operations, on: memory).contains("digest"))
        #expect(!LockStepCode.text(operations, on: StoreFixture(type, keepsClosedStores: true)).contains("digest"))
    }
}
