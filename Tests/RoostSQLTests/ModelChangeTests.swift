import Foundation
import RoostCore
import RoostFiles
import RoostSQL
import Testing

@testable import RoostSQLite

@Suite("Changing the model of an SQLite store")
struct ModelChangeTests {
    let directory: TemporaryDirectory
    let type = SQLiteStoreType()

    init() throws { directory = try TemporaryDirectory() }

    /// Returns a model of songs and moods with the additional attributes `songs` and `moods`.
    private func model(songs: [AttributeDescription] = [], moods: [AttributeDescription] = []) throws
        -> ManagedObjectModel
    {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Song", attributes: [AttributeDescription("title", type: .string)] + songs,
                relationships: [.toMany("moods", to: "Mood")]
            ).with { $0.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")] },
            EntityDescription("Mood", attributes: [AttributeDescription("name", type: .string)] + moods),
        ])
    }

    private func create() throws -> any ModelChangingStore {
        let store = try type.create(directory.location("a"), model: try model(), options: StoreOptions())
        try store.change { changes in
            try changes.insert(ObjectID("Mood", key: 1), values: ["name": "blue"])
            for key in Int64(1)...3 {
                try changes.insert(ObjectID("Song", key: key), values: ["title": .string("song \(key)")])
                try changes.add(Link(key, 1), to: RelationshipName("Song", name: "moods"))
            }
        }
        return try #require(store as? any ModelChangingStore)
    }

    private func kept(_ names: EntityName..., of model: ManagedObjectModel) throws -> KeptContent {
        let links = Dictionary(uniqueKeysWithValues: model.linkRelationships.map { ($0.number, $0.number) })
        return KeptContent(hierarchies: Set(names.compactMap { model.entity($0)?.number }), relationships: links)
    }

    private func load(_ change: any ModelChange, songs: ClosedRange<Int64>, title: String = "song") throws {
        let model = change.store.model
        let loader = try change.store.bulkLoader(BulkLoadOptions(lastKeys: ["Song": 9]))
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Mood", key: 1), version: 1, values: ["name": "blue"])
        try loader.append(batch)
        batch.removeAll()
        for key in songs {
            try batch.append(ObjectID("Song", key: key), version: 1, values: ["title": .string("\(title) \(key)")])
        }
        try loader.append(batch)
        let relationship = try #require(model.linkRelationships.first)
        try loader.append(LinkBatch(relationship: relationship.number, links: songs.map { Link($0, 1) }))
        _ = try loader.finish()
    }

    @Test("a model change keeps rows as declared, rewrites others and closes the store")
    func keepsDeclaredRows() throws {
        let store = try create()
        let new = try model(songs: [], moods: [AttributeDescription("colour", type: .integer32)])
        let change = try #require(try store.beginModelChange(to: new, keeping: try kept("Song", of: new)))
        // Until the commit, other connections see the old content.
        #expect(try store.records("Song").count == 3 && store.records("Mood").count == 1)
        #expect(try change.store.digest()?.objectCount == 0)
        // The loaded titles differ from the stored ones, so writing them would be noticed.
        try load(change, songs: 1...3, title: "never written")
        #expect(try change.store.records("Song").map { try $0.value("title") } == ["song 1", "song 2", "song 3"])
        try change.commit()
        #expect(throws: StoreError.self) { try store.snapshot() }
        #expect(throws: StoreError.self) { try change.store.snapshot() }
        #expect(throws: StoreError.self) { try change.commit() }
        change.abandon()
        let again = try type.open(directory.location("a"), options: StoreOptions(model: new))
        #expect(try again.records("Song").count == 3 && again.records("Mood").count == 1)
        #expect(try again.links(RelationshipName("Song", name: "moods")).map(\.source) == [1, 2, 3])
        #expect(try again.reserveKeys(1, for: "Song").lowerBound == 10)
        try again.close()
        #expect(try directory.names == ["a", "a.lock"])
    }

    @Test("a model change rewrites rows declared as kept if their table differs")
    func rewritesDifferentRows() throws {
        let store = try create()
        let new = try model(songs: [AttributeDescription("length", type: .double)])
        let hierarchies = try kept("Song", "Mood", of: new).hierarchies
        let change = try #require(
            try store.beginModelChange(to: new, keeping: KeptContent(hierarchies: hierarchies)))
        try load(change, songs: 2...5)
        try change.commit()
        let again = try type.open(directory.location("a"), options: StoreOptions(model: new))
        #expect(try again.records("Song").map(\.id.key) == [2, 3, 4, 5])
        #expect(try again.keys(FetchRequest("Song", where: .equal("title", to: "song 4"))) == [4])
        #expect(try again.integrityFindings() == [])
        try again.close()
    }

    @Test("a model change rewrites columns whose type changes and link tables that are swapped")
    func rewritesDifferentColumns() throws {
        func model(_ title: AttributeType) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Song", attributes: [AttributeDescription("title", type: title)],
                    relationships: [.toMany("first", to: "Mood"), .toMany("second", to: "Mood")]),
                EntityDescription("Mood"),
            ])
        }
        let (old, new) = (try model(.string), try model(.integer64))
        let store = try type.create(directory.location("a"), model: old, options: StoreOptions())
        try store.change { changes in
            for key in Int64(1)...2 { try changes.insert(ObjectID("Mood", key: key), values: [:]) }
            try changes.insert(ObjectID("Song", key: 1), values: ["title": "7"])
            try changes.add(Link(1, 1), to: RelationshipName("Song", name: "first"))
            try changes.add(Link(1, 2), to: RelationshipName("Song", name: "second"))
        }
        let numbers = try ["first", "second"].map { name in
            try old.requireRelationship(RelationshipName("Song", name: name)).number
        }
        let kept = KeptContent(
            hierarchies: Set(new.roots), relationships: [numbers[0]: numbers[1], numbers[1]: numbers[0]])
        let changing = try #require(store as? any ModelChangingStore)
        let change = try #require(try changing.beginModelChange(to: new, keeping: kept))
        let loader = try change.store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: new)
        for key in Int64(1)...2 { try batch.append(ObjectID("Mood", key: key), version: 1, values: [:]) }
        try loader.append(batch)
        batch.removeAll()
        try batch.append(ObjectID("Song", key: 1), version: 1, values: ["title": 7])
        try loader.append(batch)
        try loader.append(LinkBatch(relationship: numbers[0], links: [Link(1, 2)]))
        try loader.append(LinkBatch(relationship: numbers[1], links: [Link(1, 1)]))
        _ = try loader.finish()
        try change.commit()
        let again = try type.open(directory.location("a"), options: StoreOptions(model: new))
        #expect(try again.records("Song").map { try $0.value("title") } == [7])
        #expect(try again.links(RelationshipName("Song", name: "first")) == [Link(1, 2)])
        #expect(try again.links(RelationshipName("Song", name: "second")) == [Link(1, 1)])
        #expect(try again.findings() == [])
        try again.close()
    }

    @Test("a model change keeps the UUID and user metadata of the store")
    func keepsIdentity() throws {
        let store = try create()
        try store.change { $0.userMetadata["owner"] = .some(.string("me")) }
        let before = try store.metadata()
        let new = try model(songs: [], moods: [AttributeDescription("colour", type: .integer32)])
        let change = try #require(try store.beginModelChange(to: new, keeping: try kept("Song", of: new)))
        try load(change, songs: 1...3)
        try change.commit()
        let again = try type.open(directory.location("a"), options: StoreOptions(model: new))
        #expect(try again.metadata().storeUUID == before.storeUUID)
        #expect(try again.metadata().userMetadata == ["owner": .string("me")])
        try again.close()
    }

    @Test("an SQLite store that is open for reading refuses a model change")
    func refusesReadOnly() throws {
        try create().close()
        let new = try model(songs: [], moods: [AttributeDescription("colour", type: .integer32)])
        let reading = try #require(
            try type.open(directory.location("a"), options: StoreOptions(isReadOnly: true)) as? any ModelChangingStore)
        #expect(code { _ = try reading.beginModelChange(to: new, keeping: KeptContent()) } == .readOnly)
        try reading.close()
    }

    @Test("a model change is not committed after the file of the store was exchanged")
    func refusesExchangedFile() throws {
        try create().close()
        let new = try model(songs: [], moods: [AttributeDescription("colour", type: .integer32)])
        let before = try directory.bytes("a")
        let store = try #require(
            try type.open(directory.location("a"), options: StoreOptions()) as? any ModelChangingStore)
        let change = try #require(try store.beginModelChange(to: new, keeping: KeptContent()))
        try load(change, songs: 1...3)
        try FileManager.default.moveItem(atPath: directory.file("a"), toPath: directory.file("b"))
        try directory.write(before, to: "a")
        #expect(code { try change.commit() } == .storeReplaced)
        #expect(try directory.bytes("a") == before)
    }

    @Test("if a model change cannot begin, other programs can still open the store", arguments: [true, false])
    func admitsOthersAfterFailure(isWriting: Bool) throws {
        try create().close()
        let foreign = try SQLiteConnection(
            directory.file("a"), access: .readWrite, settings: try SQLiteSettings(StoreOptions()))
        try foreign.execute("CREATE TABLE zebra (a)")
        let options = StoreOptions(timeoutSeconds: 0)
        let store = try #require(try type.open(directory.location("a"), options: options) as? any ModelChangingStore)
        let new = try ManagedObjectModel(
            entities: try model().entityDescriptions + [EntityDescription("Zebra", attributes: [])])
        if isWriting {
            try foreign.execute("BEGIN IMMEDIATE")
            #expect(code { _ = try store.beginModelChange(to: new, keeping: KeptContent()) } == .busy)
            try foreign.execute("ROLLBACK")
        } else {
            // The change would create the table `Zebra`, but `zebra` exists.
            let change = try store.beginModelChange(to: new, keeping: KeptContent())
            #expect(change == nil)
        }
        let other = try type.open(directory.location("a"), options: options)
        #expect(try other.records("Song").count == 3)
        try other.close()
        try store.change { try $0.insert(ObjectID("Song", key: 4), values: ["title": "song 4"]) }
        try foreign.close()
        try store.close()
    }

    @Test("an abandoned, released or incomplete model change changes no byte", arguments: 0..<4)
    func changesNothingIfAbandoned(way: Int) throws {
        try create().close()
        let before = try directory.bytes("a")
        let store = try #require(
            try type.open(directory.location("a"), options: StoreOptions()) as? any ModelChangingStore)
        let new = try model(songs: [], moods: [AttributeDescription("colour", type: .integer32)])
        do {
            let change = try #require(try store.beginModelChange(to: new, keeping: KeptContent()))
            if way < 2 { try load(change, songs: 1...3) }
            if way == 0 { change.abandon() }
            if way == 2 {
                let loader = try change.store.bulkLoader(BulkLoadOptions())
                loader.abandon()
                #expect(throws: StoreError.self) { try change.store.snapshot() }
                #expect(throws: StoreError.self) { try change.commit() }
            }
            if way == 3 {
                let loader = try change.store.bulkLoader(BulkLoadOptions())
                #expect(throws: StoreError.self) { try change.commit() }
                #expect(throws: StoreError.self) { _ = try loader.finish() }
            }
        }
        #expect(throws: StoreError.self) { try store.snapshot() }
        #expect(try directory.bytes("a") == before)
        #expect(try directory.names == ["a", "a.lock"])
    }

    @Test("a model change is busy while another connection has the store open")
    func busyBesideConnection() throws {
        try create().close()
        let options = StoreOptions(timeoutSeconds: 0)
        let store = try #require(try type.open(directory.location("a"), options: options) as? any ModelChangingStore)
        let other = try type.open(directory.location("a"), options: StoreOptions(isReadOnly: true))
        let new = try model(songs: [], moods: [AttributeDescription("colour", type: .integer32)])
        do throws(StoreError) {
            _ = try store.beginModelChange(to: new, keeping: KeptContent())
            Issue.record("the change began")
        } catch {
            #expect(error.code == .busy)
        }
        try store.change { try $0.insert(ObjectID("Song", key: 4), values: ["title": "song 4"]) }
        #expect(try other.records("Song").count == 4)
        try other.close()
        #expect(throws: Never.self) { try store.beginModelChange(to: new, keeping: KeptContent())?.abandon() }
    }
}
