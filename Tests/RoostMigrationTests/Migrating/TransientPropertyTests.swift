import Foundation
import Roost
import RoostConformance
import RoostMigration
import Testing

@Suite("Models that differ in transient properties")
struct TransientPropertyTests {
    private static func model(_ transients: [AttributeDescription] = [], inverse: Bool = false) throws
        -> ManagedObjectModel
    {
        var seen = RelationshipDescription.toMany("seen", to: "Message", inverse: "user")
        seen.isTransient = true
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Message", attributes: [.string("text"), .integer64("size")] + transients.map { $0.transient() },
                relationships: [.toOne("user", to: "User", inverse: inverse ? "seen" : nil)]),
            EntityDescription("Picture", superentity: "Message", attributes: [.binaryData("bytes")]),
            EntityDescription("User", attributes: [.string("name")], relationships: inverse ? [seen] : []),
        ])
    }

    private static func models() throws -> [ManagedObjectModel] {
        [
            try model(), try model([.boolean("isDownloading", isOptional: false)]),
            try model([.date("isDownloading"), .string("a")]),
            try model([AttributeDescription("progress", type: .undefined)], inverse: true),
        ]
    }

    private static func changes(_ model: ManagedObjectModel, key: Int64) throws -> ChangeSet {
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("User", key: key), values: ["name": .string("u")])
        try changes.insert(
            ObjectID("Picture", key: key),
            values: ["text": .string("t"), "size": .int(key), "user": .objectID(ObjectID("User", key: key))])
        return changes
    }

    @Test(
        "a store opens with models that differ in transient properties and keeps its own model",
        arguments: ["sqlite", "lmdb", "json"], 0..<4)
    func opens(type: String, made: Int) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("store"))
        let models = try Self.models()
        let store = try StoreRegistry.standard.create(location, model: models[made])
        _ = try store.commit(try Self.changes(models[made], key: 1))
        try store.close()
        for (number, model) in models.enumerated() {
            let store = try StoreRegistry.standard.open(location, options: StoreOptions(model: model))
            #expect(store.model == models[made])
            #expect(try store.metadata().versionHashes == models[0].versionHashes(by: .v2))
            _ = try store.commit(try Self.changes(model, key: Int64(number) + 2))
            let snapshot = try store.snapshot()
            #expect(
                try snapshot.count(FetchRequest("Picture", where: .equal("user.name", to: .string("u")))) == number + 2)
            #expect(try checkStore(store) == [])
            snapshot.close()
            try store.close()
        }
    }

    @Test(
        "a change of transient properties needs no in-place migration, and a migration to a new store only copies",
        arguments: ["sqlite", "lmdb", "json"])
    func migrates(type: String) throws {
        let directory = try TemporaryDirectory()
        let models = try Self.models()
        let location = StoreLocation(type: type, path: directory.file("store"))
        let store = try StoreRegistry.standard.create(location, model: models[1])
        _ = try store.commit(try Self.changes(models[1], key: 1))
        let digest = try store.snapshot().computeTally().digest
        try store.close()
        let manager = MigrationManager(registry: .standard)
        for (number, model) in models.enumerated() {
            #expect(try manager.migrateInPlace(location, model: model).path == .nothing)
            let mapping = try MappingModel.inferred(from: models[1], to: model)
            #expect(mapping.entityMappings.allSatisfy { $0.type == .copy })
            #expect(mapping.remarks(from: models[1], to: model).isEmpty)
            let target = StoreLocation(type: type, path: directory.file("copy\(number)"))
            let report = try manager.migrate(from: .location(location), to: .location(target), model: model)
            #expect(report.destinationDigest == digest.description)
            let copy = try StoreRegistry.standard.open(target)
            #expect(copy.model == model)
            try copy.close()
        }
    }

    @Test("a property that becomes stored or transient needs a migration", arguments: [true, false])
    func becomesStored(isNew: Bool) throws {
        func stored(_ isStored: Bool) throws -> ManagedObjectModel {
            let flag = AttributeDescription.boolean("isDownloading", isOptional: false, default: true)
            return try ManagedObjectModel(entities: [
                EntityDescription("Message", attributes: [.string("text"), isStored ? flag : flag.transient()])
            ])
        }
        let (old, new) = (try stored(!isNew), try stored(isNew))
        #expect(!new.hasVersionHashes(of: old))
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(mapping.entityMappings.map(\.type) == [.transform])
        #expect(mapping.remarks(from: old, to: new).map(\.kind) == (isNew ? [] : [.loss]))
    }
}
