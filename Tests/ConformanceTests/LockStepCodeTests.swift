import Foundation
import RoostCore
import Testing

@testable import RoostConformance

@Suite("Printed code of lock-step failures")
struct LockStepCodeTests {
    @Test("printed code of a load with links of two relationships declares each constant once")
    func loadOfTwoRelationships() {
        let code = LockStepCode.text([
            .insert(ObjectID("Track", key: 1), [:]), .insert(ObjectID("Tag", key: 1), [:]),
            .insert(ObjectID("Playlist", key: 1), [:]), .link(Link(1, 1), RelationshipName("Track", name: "tags")),
            .link(Link(1, 1), RelationshipName("Track", name: "playlists")), .load(finishes: true),
        ])
        let lines = code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.count { $0.hasPrefix("try loader.append(LinkBatch(") } == 2, "\(code)")
        let names = lines.filter { $0.hasPrefix("let ") }.map { $0.prefix { $0 != "=" } }
        #expect(Set(names).count == names.count, "\(code)")
    }
}
