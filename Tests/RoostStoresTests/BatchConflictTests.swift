import Roost
import RoostCore
import Testing

@Suite("Batch requests with a concurrent writer")
struct BatchConflictTests {
    private let store: any PersistentStore

    init() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Album", attributes: [.init("title", type: .string)],
                relationships: [.toMany("tracks", to: "Track", inverse: "album", deleteRule: .cascade)]),
            EntityDescription(
                "Track", attributes: [.init("plays", type: .integer64)],
                relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
        ])
        store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("Album", key: 1), values: ["title": "a"])
        for key in Int64(1)...3 {
            try changes.insert(
                ObjectID("Track", key: key), values: ["plays": 0, "album": .objectID(ObjectID("Album", key: 1))])
        }
        _ = try store.commit(changes)
    }

    private func update(_ id: ObjectID, to values: [String: Value]) throws(StoreError) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var batch = RecordBatch(model: store.model)
        guard try snapshot.records(with: [id]).next(into: &batch) else { return }
        var changes = ChangeSet(model: store.model)
        try changes.update(id, version: batch.version(at: 0), values: values)
        _ = try store.commit(changes)
    }

    private func count(_ entity: EntityName) throws -> Int {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try snapshot.count(FetchRequest(entity))
    }

    @Test("a batch delete whose objects another writer changed is computed again from the new state")
    func deleteAgain() throws {
        // The third track leaves the album between snapshot and commit.
        let meddled = MeddledStore(store) { number throws(StoreError) in
            guard number == 1 else { return }
            try update(ObjectID("Track", key: 3), to: ["plays": 1])
        }
        let result = try meddled.execute(BatchDeleteRequest(FetchRequest("Album"), result: .objectIDs))
        #expect(
            Set(result.objectIDs ?? []) == [
                ObjectID("Album", key: 1), ObjectID("Track", key: 1), ObjectID("Track", key: 2),
            ])
        #expect(try count("Track") == 1)
        #expect(meddled.commitCount == 2)
    }

    @Test("a batch delete fails with a conflict after ten attempts and changes nothing")
    func failsAfterTenConflicts() throws {
        let meddled = MeddledStore(store) { number throws(StoreError) in
            try update(ObjectID("Album", key: 1), to: ["title": .string("\(number)")])
        }
        let error = try #require(throws: StoreError.self) {
            try meddled.execute(BatchDeleteRequest(FetchRequest("Album")))
        }
        #expect(error.code == .conflict)
        #expect(meddled.commitCount == 10)
        #expect(try count("Album") == 1)
        #expect(try count("Track") == 3)
    }

    private let row: BatchInsertRequest.Row = ["album": .objectID(ObjectID("Album", key: 1))]

    @Test("a batch insert needs one commit although the object that it refers to was changed")
    func insertBesideUpdate() throws {
        let changed = MeddledStore(store) { number throws(StoreError) in
            guard number <= 3 else { return }
            try update(ObjectID("Album", key: 1), to: ["title": .string("\(number)")])
        }
        #expect(try changed.execute(BatchInsertRequest("Track", rows: [row, row], result: .count)).count == 2)
        #expect(changed.commitCount == 1)
    }

    @Test("a batch insert fails if the object that it refers to was deleted")
    func insertBesideDelete() throws {
        let deleted = MeddledStore(store) { number throws(StoreError) in
            guard number == 1 else { return }
            _ = try store.execute(BatchDeleteRequest(FetchRequest("Album")))
        }
        let error = try #require(throws: StoreError.self) {
            try deleted.execute(BatchInsertRequest("Track", rows: [row]))
        }
        #expect(error.code == .objectNotFound)
        #expect(try count("Track") == 0)
    }
}
