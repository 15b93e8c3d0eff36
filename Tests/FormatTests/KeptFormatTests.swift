import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

@Suite("Stores that older programs wrote")
struct KeptFormatTests {
    /// The versions that this program refuses; the programs that wrote them can dump them.
    private static let refused: Set<String> = ["sqlite-1", "lmdb-1"]
    static let readable = KeptFiles.stores.filter { !refused.contains("\($0)") }
    private static let unreadable = KeptFiles.stores.filter { refused.contains("\($0)") }
    /// The fixtures with a second store, which was not closed and has its last commits in a log.
    static let unclosed = readable.filter { KeptFiles.exists("\($0)/unclosed") }

    private func loadKeptDump() throws -> any PersistentStore {
        var options = StoreOptions()
        options.storeUUID = KeptContent.storeUUID
        let store = try StoreRegistry.standard.type(named: "memory").create(
            StoreLocation(type: "memory", path: ""), model: try KeptContent.model(), options: options)
        try load(try KeptFiles.bytes("dump-1/content.jsonl"), into: .store(store))
        return store
    }

    private func expectKeptContent(_ store: any PersistentStore) throws {
        let expected = try loadKeptDump()
        #expect(try StoreComparison.diff(expected, store) == [])
        let kept = try dump(store)
        #expect(kept.digest == KeptFiles.digest)
        #expect(
            String(decoding: kept.text, as: UTF8.self)
                == String(decoding: try KeptFiles.bytes("dump-1/content.jsonl"), as: UTF8.self))
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        #expect(try snapshot.recordedTally()?.digest == snapshot.computeTally().digest)
        #expect(try store.metadata().storeUUID == KeptContent.storeUUID)
        #expect(try store.metadata().model == KeptContent.model())
        #expect(try checkStore(store).filter { $0.severity == .damage } == [])
        try expected.close()
    }

    @Test("a store of an older program opens read-only with all its content, and does not change", arguments: readable)
    func reading(kept: KeptStore) throws {
        let folder = try Folder()
        let location = try kept.copy(to: folder)
        let before = try folder.bytes("store")
        let store = try kept.kind.open(location, options: StoreOptions(isReadOnly: true))
        try expectKeptContent(store)
        try store.close()
        #expect(try folder.bytes("store") == before)
        #expect(try folder.names().filter { $0 != "store.lock" } == ["store"])
    }

    @Test("a store of an older program accepts a commit and is sound afterwards", arguments: readable)
    func writing(kept: KeptStore) throws {
        let folder = try Folder()
        let location = try kept.copy(to: folder)
        let store = try kept.kind.open(location, options: StoreOptions(model: try KeptContent.model()))
        try expectKeptContent(store)
        // The highest key of a hierarchy counts as used, so the next key of Tag is 91.
        let key = try store.reserveKeys(1, for: "Tag").lowerBound
        #expect(key == 91)
        var changes = ChangeSet(model: store.model)
        try changes.insert(ObjectID("Tag", key: key), values: ["number": .int(5)])
        try changes.update(ObjectID("Tag", key: 2), version: 2, values: ["number": .int(6)])
        try changes.add(Link(3, key), to: RelationshipName("Track", name: "tags"))
        _ = try store.commit(changes)
        // The unique values of the kept objects are in use.
        changes = ChangeSet(model: store.model)
        let other = try store.reserveKeys(1, for: "Person").lowerBound
        try changes.insert(ObjectID("Person", key: other), values: ["name": "x", "email": "p4@example.org"])
        #expect(error { _ = try store.commit(changes) }?.code == .constraintViolation)
        try store.close()

        let again = try kept.kind.open(location, options: StoreOptions(isReadOnly: true))
        let snapshot = try again.snapshot()
        #expect(try snapshot.count(FetchRequest("Tag", where: .equal("number", to: 6))) == 1)
        #expect(try checkStore(again).filter { $0.severity == .damage } == [])
        snapshot.close()
        try again.close()
    }

    @Test("an unclosed store of an older program opens with the commits in its log", arguments: unclosed)
    func leftoverLog(kept: KeptStore) throws {
        let folder = try Folder()
        let location = try kept.copy("unclosed", to: folder)
        #expect(try folder.names().count == 2)
        let reader = try kept.kind.open(location, options: StoreOptions(isReadOnly: true))
        try expectKeptContent(reader)
        try reader.close()
        let writer = try kept.kind.open(location, options: StoreOptions())
        try expectKeptContent(writer)
        try writer.close()
        #expect(try folder.names().filter { $0 != "unclosed.lock" } == ["unclosed"])
        let closed = try kept.kind.open(location, options: StoreOptions(isReadOnly: true))
        try expectKeptContent(closed)
        try closed.close()
    }

    @Test("a store of an older program converts into every file type", arguments: readable, fileTypes)
    func converting(kept: KeptStore, into type: String) throws {
        let folder = try Folder()
        let location = try kept.copy(to: folder)
        let destination = StoreLocation(type: type, path: folder.file("new-\(type)"))
        let report = try MigrationManager(registry: .standard).convert(
            from: .location(location), to: .location(destination))
        #expect("\(report.digest)" == KeptFiles.digest)
    }

    @Test("a store of a format that is too old is refused with its version and a remedy", arguments: unreadable)
    func tooOld(kept: KeptStore) throws {
        let folder = try Folder()
        let location = try kept.copy(to: folder)
        let before = try folder.bytes("store")
        for isReadOnly in [true, false] {
            let refusal = error { try kept.kind.open(location, options: StoreOptions(isReadOnly: isReadOnly)).close() }
            #expect(refusal?.code == .unsupportedVersion)
            #expect(refusal?.message.contains("version \(kept.version); this program reads") == true)
            #expect(refusal?.message.contains("Dump it with the version of the program that wrote it") == true)
        }
        #expect(try folder.bytes("store") == before)
    }

    @Test("a kept dump loads into a store in memory with all its content")
    func remedyForOldFormats() throws {
        let store = try loadKeptDump()
        try expectKeptContent(store)
        try store.close()
    }

    @Test("a kept dump loads into every file type", arguments: fileTypes)
    func loadsDump(into type: String) throws {
        let folder = try Folder()
        let location = StoreLocation(type: type, path: folder.file(type))
        try load(try KeptFiles.bytes("dump-1/content.jsonl"), into: .location(location))
        let store = try StoreRegistry.standard.type(named: type).open(
            location, options: StoreOptions(isReadOnly: true))
        try expectKeptContent(store)
        try store.close()
    }

    @Test("model and mapping documents of older programs give the expected models and mappings")
    func documents() throws {
        let model = try ManagedObjectModel(document: try KeptFiles.bytes("model-1/model.roostmodel.json"))
        #expect(try model == KeptContent.model())
        let next = try ManagedObjectModel(document: try KeptFiles.bytes("model-1/next.roostmodel.json"))
        #expect(try next == KeptContent.nextModel())
        let mapping = try MappingModel(document: try KeptFiles.bytes("mapping-1/mapping.roostmapping.json"))
        var expected = try KeptContent.mapping()
        // The document was written when version hashes were computed by recipe v1.
        for index in expected.entityMappings.indices {
            let source = expected.entityMappings[index].sourceEntity
            let destination = expected.entityMappings[index].destinationEntity
            expected.entityMappings[index].sourceVersionHash = source.flatMap { model.versionHashes(by: .v1)[$0] }
            expected.entityMappings[index].destinationVersionHash = destination.flatMap {
                next.versionHashes(by: .v1)[$0]
            }
        }
        #expect(mapping == expected)
        #expect(mapping.problems(from: model, to: next).isEmpty)
    }

    @Test("each format version that this program writes has a kept store", arguments: fileTypes)
    func everyVersion(type: String) throws {
        let folder = try Folder()
        let store = try StoreRegistry.standard.type(named: type).create(
            StoreLocation(type: type, path: folder.file("store")), model: try KeptContent.model(),
            options: StoreOptions())
        let version = try store.metadata().formatVersion
        try store.close()
        #expect(
            KeptFiles.stores.contains { $0.type == type && $0.version == version },
            "Write one with ROOST_WRITE_FIXTURES=1 before the format is merged.")
    }
}
