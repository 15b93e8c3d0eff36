import Roost
import RoostCore
import Testing

@Suite("A batch insert of many bytes")
struct LargeBatchTests {
    @Test("a batch insert of 39 MB updates both ends of a one-to-one relationship")
    func partners() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Person", relationships: [.toOne("passport", to: "Passport", inverse: "holder")]),
            EntityDescription(
                "Passport", attributes: [.init("scan", type: .string)],
                relationships: [.toOne("holder", to: "Person", inverse: "passport")]),
        ])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("Person", key: 1), values: ["passport": .objectID(ObjectID("Passport", key: 1))])
        try changes.insert(ObjectID("Passport", key: 1), values: ["holder": .objectID(ObjectID("Person", key: 1))])
        _ = try store.commit(changes)
        _ = try store.reserveKeys(1, for: "Passport")

        // Many rows without a holder, with more bytes than a change set allows, then one row with a
        // holder.
        let scan = Value.string(String(repeating: "x", count: 1 << 16))
        var rows: [BatchInsertRequest.Row] = (0..<600).map { _ in ["scan": scan] }
        rows.append(["holder": .objectID(ObjectID("Person", key: 1))])
        let result = try store.execute(BatchInsertRequest("Passport", rows: rows, result: .objectIDs))
        let new = try #require(result.objectIDs?.last)

        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let holder = FetchRequest.Predicate.equal("holder", to: .objectID(ObjectID("Person", key: 1)))
        #expect(try snapshot.count(FetchRequest("Passport", where: holder)) == 1)
        #expect(try snapshot.count(FetchRequest("Person", where: .equal("passport", to: .objectID(new)))) == 1)
    }
}
