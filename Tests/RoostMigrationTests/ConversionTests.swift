import Foundation
import Roost
import RoostCore
import RoostFiles
import RoostMigration
import RoostSystem
import Testing

@Suite("Conversion")
struct ConversionTests {
    @Test(
        "a conversion between any two store types keeps content, keys, versions and metadata",
        arguments: Sample.writingTypes, Sample.writingTypes)
    func convertsAnything(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let uuid = StoreUUID()
        let original = try Sample.store(source, at: directory.file("a"), uuid: uuid)
        let before = try #require(try original.snapshot().recordedTally())
        let target = ConversionEndpoint.location(StoreLocation(type: destination, path: directory.file("b")))
        let report = try MigrationManager(registry: .standard).convert(from: .store(original), to: target)
        let copy = try StoreRegistry.standard.open(target.location)
        try expectEqual(original, copy: copy, report: report, before: before)
        #expect(try copy.metadata().storeUUID == uuid)
        #expect(try directory.names().filter { $0.contains("roost-tmp") } == [])
        try copy.close()
        try original.close()
    }

    private func expectEqual(
        _ original: any PersistentStore, copy: any PersistentStore, report: ConversionReport, before: StoreTally
    ) throws {
        let snapshot = try copy.snapshot()
        defer { snapshot.close() }
        let computed = try snapshot.computeTally()
        #expect(computed.entities == before.entities)
        #expect(computed.relationships == before.relationships)
        #expect(try snapshot.recordedTally()?.digest == before.digest)
        #expect(report.verified)
        #expect(report.digest == before.digest.description)
        #expect(report.objects == 4505)
        #expect(report.links == 1499 + 3000)
        #expect(report.entities.first { $0.name == "Editor" }?.count == 500)
        #expect(report.skipped == [] && report.warnings == [])
        #expect(try copy.metadata().userMetadata == original.metadata().userMetadata)
        // The copy must not reuse a deleted object's key.
        #expect(try snapshot.lastKey(of: "Shelf") == 77)
        var request = try snapshot.records(with: [ObjectID("Editor", key: 3)])
        var batch = RecordBatch(model: copy.model)
        #expect(try request.next(into: &batch))
        #expect(batch.version(at: 0) == 4)
        request = try snapshot.records(with: [])
        #expect(try StoreComparison.diff(original, copy) == [])
        #expect(try checkStore(copy) == [])
    }

    @Test(
        "a conversion copies its source as it was at the start, despite later commits", arguments: Sample.writingTypes)
    func copiesOneSnapshot(type: String) throws {
        let directory = try TemporaryDirectory()
        let original = try Sample.store(type, at: directory.file("a"))
        let before = try #require(try original.snapshot().recordedTally()).digest
        let copy = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: directory.file("b")), model: original.model)
        let changed = Mutex(false)
        let faulty = FaultyStore(
            copy,
            faults: Faults(onAppend: { number in
                guard number == 2 else { return }
                var changes = ChangeSet(model: original.model)
                changes.deletes = [.init(ObjectID("Shelf", key: 1), version: 1)]
                let isCommitted = (try? original.commit(changes)) != nil
                changed.withLock { $0 = isCommitted }
            }))
        let report = try MigrationManager(registry: .standard).convert(from: .store(original), to: .store(faulty))
        #expect(changed.withLock { $0 })
        #expect(report.digest == before.description)
    }

    @Test("progress of a conversion names entities, counts to the total and passes every phase")
    func reportsProgress() throws {
        let directory = try TemporaryDirectory()
        let original = try Sample.store("memory", at: directory.file("a"))
        let copy = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: directory.file("b")), model: original.model)
        let seen = Mutex<[ConversionProgress]>([])
        let options = ConversionOptions(onProgress: { progress in seen.withLock { $0.append(progress) } })
        _ = try MigrationManager(registry: .standard).convert(
            from: .store(original), to: .store(copy), options: options)
        let steps = seen.withLock { $0 }
        var phases: [ConversionProgress.Phase] = []
        for step in steps where step.phase != phases.last { phases.append(step.phase) }
        #expect(phases == [.copying, .finishing, .verifying, .publishing])
        let last = try #require(steps.last { $0.phase == .copying })
        #expect(last.objects == 4505 && last.totalObjects == 4505)
        #expect(last.links == 4499 && last.totalLinks == 4499)
        #expect(last.fraction == 1)
        #expect(steps.contains { $0.current == "Book" })
        #expect(steps.contains { $0.current == "Person.friends" })
    }

    @Test("a conversion report reads back from its JSON and has the documented fields")
    func encodesReport() throws {
        let directory = try TemporaryDirectory()
        let original = try Sample.store("memory", at: directory.file("a"), people: 10)
        let copy = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: directory.file("b")), model: original.model)
        let report = try MigrationManager(registry: .standard).convert(from: .store(original), to: .store(copy))
        let data = try JSONEncoder().encode(report)
        #expect(try JSONDecoder().decode(ConversionReport.self, from: data) == report)
        let fields = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(
            Set(fields.keys).isSuperset(of: [
                "source", "destination", "objects", "links", "digest", "verified", "seconds", "peakPrivateBytes",
            ]))
        #if os(Linux)
            #expect(try #require(report.peakPrivateBytes) > 0)
        #endif
    }

    @Test("a conversion of an empty store succeeds and reports no objects", arguments: Sample.writingTypes)
    func convertsNothing(type: String) throws {
        let directory = try TemporaryDirectory()
        let original = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: directory.file("a")), model: try Sample.model())
        let copy = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: directory.file("b")), model: original.model)
        let report = try MigrationManager(registry: .standard).convert(from: .store(original), to: .store(copy))
        #expect(report.objects == 0 && report.verified)
        try original.close()
    }
}
