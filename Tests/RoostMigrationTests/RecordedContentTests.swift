import Foundation
import Roost
import RoostConformance
import RoostMigration
import RoostStores
import RoostSystem
import Testing

@Suite("Content that differs from the record of the last commit")
struct RecordedContentTests {
    private let manager = MigrationManager(registry: .standard)

    private func error(_ body: () throws -> Void) -> StoreError? {
        do { try body() } catch { return error as? StoreError }
        return nil
    }

    @Test("a dump of records out of order fails and has no last line")
    func order() throws {
        let type = RoostConformance.FaultyStoreType(
            try StoreRegistry.standard.type(named: "memory"), fault: .reversesBatches)
        let sample = try Sample.store("memory", at: "", people: 20)
        let store = try type.create(
            StoreLocation(type: "memory", path: ""), model: sample.model, options: StoreOptions())
        _ = try manager.convert(
            from: .store(sample), to: .store(store), options: ConversionOptions().with { $0.verifies = false })
        let text = Mutex("")
        let found = error {
            try manager.dump(store) { (bytes) throws(StoreError) in
                text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            }
        }
        #expect(found?.code == .corrupted)
        #expect(found?.message.contains("is out of order") ?? false, "\(found.map { "\($0)" } ?? "no error")")
        #expect(text.withLock { !$0.contains("\"end\"") })
        #expect(try DumpText(sample).lines.last?.contains("\"end\"") ?? false)
    }

    @Test(
        "a conversion that skips damaged objects warns about other missing objects",
        .enabled(if: SQLiteShell.path != nil))
    func missingBesidesDamaged() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("a"))
        try Sample.store(location.type, at: location.path).close()
        try SQLiteShell.run("UPDATE Person SET name = 'other' WHERE _id = 3", on: location.path)
        let options = ConversionOptions(skipsDamaged: true)
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        let first = try manager.convert(from: .location(location), to: memory, options: options)
        #expect(first.skipped == ["Editor/p3"])
        #expect(first.warnings == [])
        try SQLiteShell.run("DELETE FROM Person WHERE _id = 4", on: location.path)
        let second = try manager.convert(from: .location(location), to: memory, options: options)
        #expect(second.skipped == ["Editor/p3"])
        #expect(second.warnings.count == 1 && second.warnings[0].contains("'Person'"), "\(second.warnings)")
        let strict = error { _ = try manager.convert(from: .location(location), to: memory) }
        #expect(strict?.damagedObject == ObjectID("Editor", key: 3))
    }

    @Test(
        "a check reports violations of objects also if the record of the last commit is damaged",
        .enabled(if: SQLiteShell.path != nil))
    func violationsBesideDamage() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("a"))
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Item",
                attributes: [AttributeDescription("number", type: .integer64).with { $0.validation.maximum = .int(3) }])
        ])
        let store = try StoreRegistry.standard.create(location, model: model)
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("Item", key: 1), values: ["number": 5])
        _ = try store.commit(changes)
        #expect(try checkStore(store).map(\.severity) == [.violation])
        try store.close()
        try SQLiteShell.run("UPDATE _roost_tallies SET count = -5", on: location.path)
        let damaged = try StoreRegistry.standard.open(location)
        #expect(try Set(checkStore(damaged).map(\.severity)) == [.damage, .violation])
        try damaged.close()
    }

    @Test(
        "changes by another program are accepted on request, but not in a read-only or LMDB store",
        .enabled(if: SQLiteShell.path != nil))
    func acceptance() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("a"))
        try Sample.store(location.type, at: location.path).close()
        let maintenance = StoreMaintenance(registry: .standard)
        #expect(try maintenance.acceptExternalChanges(in: location)?.isEmpty == true)
        try SQLiteShell.run("UPDATE Person SET name = 'other' WHERE _id = 3", on: location.path)
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        #expect(try maintenance.acceptExternalChanges(in: location, if: { _ in false }) == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
        let readOnly = error {
            _ = try maintenance.acceptExternalChanges(in: location, options: StoreOptions(isReadOnly: true))
        }
        #expect(readOnly?.code == .readOnly)
        let accepted = try maintenance.acceptExternalChanges(in: location, if: { $0.objectCount == 1 })
        #expect(accepted?.objects == [ObjectID("Editor", key: 3)])
        let store = try StoreRegistry.standard.open(location)
        #expect(try checkStore(store).filter { $0.severity == .damage } == [])
        try store.close()
        let lmdb = StoreLocation(type: "lmdb", path: directory.file("b"))
        try Sample.store(lmdb.type, at: lmdb.path).close()
        #expect(error { _ = try maintenance.acceptExternalChanges(in: lmdb) }?.code == .unsupported)
    }
}
