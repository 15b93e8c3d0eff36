import Foundation
import Roost
import RoostConformance
import RoostMigration
import RoostSystem
import Testing

@Suite("Migration in one pass")
struct MigrationTests {
    @Test(
        "an inferred migration works between any two store types", arguments: Sample.writingTypes,
        Sample.writingTypes)
    func migratesAnything(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let uuid = StoreUUID()
        let original = try Sample.store(source, at: directory.file("a"), people: 700, uuid: uuid)
        let before = try #require(try original.snapshot().recordedTally())
        let contents = try original.contents()
        let target = ConversionEndpoint.location(StoreLocation(type: destination, path: directory.file("b")))
        let report = try MigrationManager(registry: .standard).migrate(
            from: .store(original), to: target, model: try EvolvedSample.model(),
            options: MigrationOptions(allowsLoss: true))
        let new = try StoreRegistry.standard.open(target.location)
        let expected = try EvolvedSample.contents(people: 700, like: contents.userMetadata)
        #expect(try new.contents().difference(from: expected) == nil)
        #expect(try checkStore(new) == [])
        #expect(try new.metadata().storeUUID == uuid)
        // Keys of deleted objects must not be reused.
        #expect(try new.snapshot().lastKey(of: "Shelf") == 77)
        #expect(try new.snapshot().lastKey(of: "Human") == 700)
        #expect(report.path == .onePass)
        #expect(report.verified)
        #expect(report.sourceDigest == before.digest.description)
        #expect(try report.destinationDigest == new.snapshot().recordedTally()?.digest.description)
        #expect(report.mappedDigest == report.destinationDigest)
        #expect(report.objects == 700 + 1400 + 5)
        #expect(report.links == 699 + 1400)
        #expect(
            report.mappings.map(\.description) == [
                "IEM_Add_Award (add)  Award, new  0", "IEM_Transform_Book (transform)  Book to Book  1400",
                "IEM_Transform_Editor (transform)  Editor to Editor  233",
                "IEM_Transform_Person (transform)  Person to Human  467",
                "IEM_Transform_Shelf (transform)  Shelf to Shelf  5",
            ])
        #expect(try original.contents().difference(from: contents) == nil)
        #expect(try directory.names().filter { $0.contains("roost-tmp") } == [])
        try new.close()
        try original.close()
    }

    @Test("a migration to the same model copies content and digest unchanged", arguments: Sample.writingTypes)
    func copiesEqualModels(type: String) throws {
        let directory = try TemporaryDirectory()
        let original = try Sample.store(type, at: directory.file("a"), people: 300)
        let target = StoreLocation(type: type, path: directory.file("b"))
        let report = try MigrationManager(registry: .standard).migrate(
            from: .store(original), to: .location(target), model: try Sample.model(),
            options: MigrationOptions(allowsLoss: true))
        let copy = try StoreRegistry.standard.open(target)
        #expect(try copy.contents().difference(from: original.contents()) == nil)
        #expect(report.sourceDigest == report.destinationDigest)
        #expect(report.mappings.allSatisfy { $0.type == "copy" && $0.read == $0.made })
        #expect(report.losses == [])
    }

    @Test("a migration into an open store ignores metadata committed meanwhile", arguments: Sample.writingTypes)
    func metadataOfOneCommit(type: String) throws {
        let directory = try TemporaryDirectory()
        let original = try Sample.store(type, at: directory.file("a"), people: 30)
        let metadata = try original.metadata().userMetadata
        let isDone = Mutex(false)
        let options = MigrationOptions(
            conversion: ConversionOptions(onProgress: { _ in
                let isFirst = isDone.withLock { isDone in
                    defer { isDone = true }
                    return !isDone
                }
                guard isFirst else { return }
                var changes = ChangeSet(model: original.model)
                changes.userMetadata["late"] = .some(.bool(true))
                _ = try? original.commit(changes)
            }), allowsLoss: true)
        let target = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: ""), model: try Sample.model())
        _ = try MigrationManager(registry: .standard).migrate(
            from: .store(original), to: .store(target), model: try Sample.model(), options: options)
        #expect(try original.metadata().userMetadata["late"] == .bool(true))
        #expect(try target.metadata().userMetadata == metadata)
        try target.close()
        try original.close()
    }

    @Test("a migration ignores objects and metadata committed after it started", arguments: Sample.writingTypes)
    func isOfOneCommit(type: String) throws {
        let directory = try TemporaryDirectory()
        let original = try Sample.store(type, at: directory.file("a"), people: 30)
        let before = try #require(try original.snapshot().recordedTally()).digest
        let metadata = try original.metadata().userMetadata
        let registry = StoreRegistry([
            FaultyStoreType(
                base: try StoreRegistry.standard.type(named: type),
                faults: Faults(onCreate: { () throws(StoreError) in
                    var changes = ChangeSet(model: original.model)
                    try changes.insert(ObjectID("Shelf", key: 1000), values: [:])
                    changes.userMetadata["late"] = .some(.bool(true))
                    _ = try original.commit(changes)
                }))
        ])
        let target = StoreLocation(type: "faulty", path: directory.file("b"))
        let report = try MigrationManager(registry: registry).migrate(
            from: .store(original), to: .location(target), model: try Sample.model(),
            options: MigrationOptions(allowsLoss: true))
        #expect(report.sourceDigest == before.description && report.destinationDigest == before.description)
        let copy = try registry.open(target)
        #expect(try copy.metadata().userMetadata == metadata)
        try copy.close()
        try original.close()
    }
}
