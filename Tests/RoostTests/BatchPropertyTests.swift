import Roost
import RoostCore
import Testing

@Suite("Properties in batch requests")
struct BatchPropertyTests {
    private let store: any PersistentStore

    init() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Album",
                relationships: [
                    .toMany("tracks", to: "Track", inverse: "album", isOrdered: true)
                ]),
            EntityDescription(
                "Track",
                attributes: [
                    .init("title", type: .string),
                    .composite(
                        "label",
                        elements: [
                            .init("name", type: .string),
                            .init("number", type: .integer64, isOptional: false, defaultValue: 1),
                        ]),
                ],
                relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
        ])
        store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("Album", key: 1), values: [:])
        _ = try store.commit(changes)
    }

    private func values(_ title: String) throws -> [String: Value] {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var batch = RecordBatch(model: store.model)
        let cursor = try snapshot.fetch(FetchRequest("Track", where: .equal("title", to: .string(title))))
        guard try cursor.next(into: &batch) else { return [:] }
        return batch.withRecord(at: 0) { record in
            Dictionary(uniqueKeysWithValues: record.layout.fields.map { ($0.name, record.value($0)) })
        }
    }

    @Test("a batch insert gives missing elements of a present composite their defaults")
    func elements() throws {
        let rows: [BatchInsertRequest.Row] = [
            ["title": "named", "label.name": "x"], ["title": "given", "label.name": "x", "label.number": 7],
            ["title": "none"],
        ]
        _ = try store.execute(BatchInsertRequest("Track", rows: rows))
        #expect(try values("named")["label.number"] == 1)
        #expect(try values("given")["label.number"] == 7)
        #expect(try values("none")["label.number"] == .null)
        #expect(throws: StoreError.self) {
            try store.execute(
                BatchInsertRequest("Track", rows: [["title": "null", "label.name": "x", "label.number": .null]]))
        }
    }

    @Test("an object inserted or updated without a place comes last in an ordered relationship")
    func places() throws {
        let album = Value.objectID(ObjectID("Album", key: 1))
        let rows: [BatchInsertRequest.Row] = ["a", "b", "c"].map { ["title": .string($0), "album": album] }
        _ = try store.execute(BatchInsertRequest("Track", rows: rows))
        _ = try store.execute(
            BatchUpdateRequest("Track", where: .equal("title", to: "a"), set: ["album#order": .constant(.null)]))
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var links = LinkBatch(
            relationship: try store.model.requireRelationship(RelationshipName("Album", name: "tracks")).number)
        let cursor = try snapshot.links(of: RelationshipName("Album", name: "tracks"), from: ObjectID("Album", key: 1))
        var targets: [Int64] = []
        while try cursor.next(into: &links) { targets += links.links.map(\.target) }
        #expect(targets == [2, 3, 1])
    }

    @Test("a batch update finds no object under an ID with the wrong subentity")
    func wrongEntity() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Artist", relationships: [.toMany("songs", to: "Song", inverse: "artist")]),
            EntityDescription("Band", superentity: "Artist"),
            EntityDescription("Song", relationships: [.toOne("artist", to: "Artist", inverse: "songs")]),
        ])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("Artist", key: 1), values: [:])
        try changes.insert(ObjectID("Band", key: 2), values: [:])
        try changes.insert(ObjectID("Song", key: 1), values: [:])
        _ = try store.commit(changes)
        for (id, code) in [
            (ObjectID("Band", key: 1), StoreError.Code.objectNotFound), (ObjectID("Artist", key: 1), nil),
            (ObjectID("Artist", key: 2), nil), (ObjectID("Band", key: 2), nil),
        ] {
            do throws(StoreError) {
                _ = try store.execute(BatchUpdateRequest("Song", set: ["artist": .constant(.objectID(id))]))
                #expect(code == nil, "\(id) was taken")
            } catch {
                #expect(error.code == code, "\(error)")
            }
        }
    }
}
