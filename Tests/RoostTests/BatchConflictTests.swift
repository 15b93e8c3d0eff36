import Roost
import RoostCore
import Testing

@Suite("A batch request beside another writer")
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

    private func update(_ id: ObjectID, _ values: [String: Value]) throws(StoreError) {
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

    @Test("works a delete out anew when what it deletes was changed, and follows the new state")
    func deleteAgain() throws {
        // The third track leaves the album between snapshot and commit.
        let meddled = MeddledStore(store, times: 1) { _ throws(StoreError) in
            try update(ObjectID("Track", key: 3), ["plays": 1])
        }
        let result = try meddled.execute(BatchDeleteRequest(FetchRequest("Album"), result: .objectIDs))
        #expect(
            Set(result.objectIDs ?? []) == [
                ObjectID("Album", key: 1), ObjectID("Track", key: 1), ObjectID("Track", key: 2),
            ])
        #expect(try count("Track") == 1)
        #expect(meddled.commitCount == 2)
    }

    @Test("gives up with a conflict after ten attempts, and changes nothing")
    func givesUp() throws {
        let meddled = MeddledStore(store, times: .max) { number throws(StoreError) in
            try update(ObjectID("Album", key: 1), ["title": .string("\(number)")])
        }
        let error = try #require(throws: StoreError.self) {
            try meddled.execute(BatchDeleteRequest(FetchRequest("Album")))
        }
        #expect(error.code == .conflict)
        #expect(meddled.commitCount == 10)
        #expect(try count("Album") == 1)
        #expect(try count("Track") == 3)
    }

    @Test("inserts objects at once though the object that they refer to was changed, and none if it was deleted")
    func insert() throws {
        let row: BatchInsertRequest.Row = ["album": .objectID(ObjectID("Album", key: 1))]
        let changed = MeddledStore(store, times: 3) { number throws(StoreError) in
            try update(ObjectID("Album", key: 1), ["title": .string("\(number)")])
        }
        #expect(try changed.execute(BatchInsertRequest("Track", rows: [row, row], result: .count)).count == 2)
        #expect(changed.commitCount == 1)
        let deleted = MeddledStore(store, times: 1) { _ throws(StoreError) in
            _ = try store.execute(BatchDeleteRequest(FetchRequest("Album")))
        }
        let error = try #require(throws: StoreError.self) {
            try deleted.execute(BatchInsertRequest("Track", rows: [row]))
        }
        #expect(error.code == .objectNotFound)
        #expect(try count("Track") == 0)
    }
}

/// A store in which somebody else does something right before a commit.
private final class MeddledStore: StructureCheckingStore, IntegrityCheckingStore {
    private let base: any PersistentStore
    private let times: Int
    private let meddle: @Sendable (Int) throws(StoreError) -> Void
    private let commits = Mutex(0)

    init(_ base: any PersistentStore, times: Int, _ meddle: @escaping @Sendable (Int) throws(StoreError) -> Void) {
        (self.base, self.times, self.meddle) = (base, times, meddle)
    }

    var commitCount: Int { commits.withLock { $0 } }

    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        let number = commits.withLock { count in
            count += 1
            return count
        }
        if number <= times { try meddle(number) }
        return try base.commit(changes)
    }

    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }
    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func snapshot() throws(StoreError) -> any StoreSnapshot { try base.snapshot() }
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { try base.bulkLoader(options) }
    func checkStructure() throws(StoreError) { try base.requireSoundStructure() }
    func examineIntegrity() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func close() throws(StoreError) { try base.close() }
}
