import RoostConformance
import RoostCore
import Testing

/// Runs the code that a lock-step failure printed for a store that keeps links of deleted objects.
func lockStepExample(on fixture: StoreFixture) throws {
    let bench = try Workbench(fixture)
    defer { bench.discard() }
    let store = try bench.create()
    var changes = ChangeSet(model: store.model)
    try changes.insert(ObjectID("Node", key: 1), values: [:])
    try changes.insert(ObjectID("Dog", key: 1), values: [:])
    try changes.add(Link(1, 1), to: RelationshipName("Being", name: "keepers"))
    _ = try store.commit(changes)
    changes = ChangeSet(model: store.model)
    changes.delete(ObjectID("Node", key: 1), version: 1)
    let receipt = try store.commit(changes)
    #expect(receipt.hasChanges)
    #expect(try store.snapshot().objects(of: "Being").map(\.id) == [ObjectID("Dog", key: 1)])
    #expect(try store.snapshot().objects(of: "Being").map(\.version) == [1])
    #expect(try store.snapshot().objects(of: "Being").map(\.values) == [[:]])
    #expect(try store.snapshot().objects(of: "Node").map(\.id) == [])
    #expect(try store.snapshot().objects(of: "Node").map(\.version) == [])
    #expect(try store.snapshot().objects(of: "Node").map(\.values) == [])
    #expect(try store.snapshot().allLinks(of: RelationshipName("Being", name: "keepers")) == [])
    #expect(try store.snapshot().recordedTally()?.digest.description == "fa0ee780fb0642c9-1-0")
}
