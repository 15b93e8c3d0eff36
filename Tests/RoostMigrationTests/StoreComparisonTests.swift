import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

@Suite("Comparing and checking stores")
struct StoreComparisonTests {
    private func pair(of types: (String, String), in directory: TemporaryDirectory) throws -> (
        any PersistentStore, any PersistentStore
    ) {
        (
            try Sample.store(types.0, at: directory.file("a"), people: 300),
            try Sample.store(types.1, at: directory.file("b"), people: 300)
        )
    }

    @Test(
        "a comparison of two stores with equal content finds no differences", arguments: Sample.writingTypes,
        Sample.writingTypes)
    func equalStores(a: String, b: String) throws {
        let directory = try TemporaryDirectory()
        let (left, right) = try pair(of: (a, b), in: directory)
        #expect(try StoreComparison.diff(left, right) == [])
        #expect(try StoreComparison.diff(left, right, trustingDigests: true) == [])
        try left.close()
        try right.close()
    }

    @Test("a comparison ignores versions of records", arguments: Sample.writingTypes)
    func versionsDoNotCount(type: String) throws {
        let directory = try TemporaryDirectory()
        let (left, right) = try pair(of: ("memory", type), in: directory)
        let snapshot = try right.snapshot()
        var batch = RecordBatch(model: right.model)
        _ = try snapshot.records(with: [ObjectID("Shelf", key: 2)]).next(into: &batch)
        snapshot.close()
        var changes = ChangeSet(model: right.model)
        changes.updates = batch
        _ = try right.commit(changes)
        #expect(try StoreComparison.diff(left, right) == [])
        try right.close()
    }

    @Test("a comparison lists differing objects, properties and links up to its limit", arguments: Sample.writingTypes)
    func differences(type: String) throws {
        let directory = try TemporaryDirectory()
        let (left, right) = try pair(of: ("memory", type), in: directory)
        var changes = ChangeSet(model: right.model)
        try changes.insert(ObjectID("Shelf", key: 78), values: [:])
        try changes.update(ObjectID("Shelf", key: 2), version: 1, values: ["label": .uri("other:2")])
        changes.deletes = [.init(ObjectID("Book", key: 600), version: 1)]
        try changes.add(Link(10, 20), to: RelationshipName("Person", name: "friends"))
        try changes.remove(Link(1, 2), from: RelationshipName("Person", name: "friends"))
        _ = try right.commit(changes)
        let differences = try StoreComparison.diff(left, right)
        let texts = differences.map(\.description)
        #expect(texts.contains("- Book/p600"))
        #expect(texts.contains("! Shelf/p2: label"))
        #expect(texts.contains("+ Shelf/p78"))
        #expect(texts.contains("+ Person.friends from Person/p10 to Person/p20"))
        #expect(texts.contains("- Person.friends from Person/p1 to Person/p2"))
        // The sixth difference is the deleted book's link to its shelf.
        #expect(texts.count == 6)
        #expect(try StoreComparison.diff(left, right, limit: 2) == Array(differences.prefix(2)))
        #expect(try !StoreComparison.diff(left, right, trustingDigests: true).isEmpty)
        #expect(try StoreComparison.diff(right, left).map(\.kind).filter { $0 == .onlyInFirst }.count == 1)
        try right.close()
    }

    @Test("a comparison of stores with different models names the differing entities")
    func differentModels() throws {
        let directory = try TemporaryDirectory()
        let left = try Sample.store("memory", at: directory.file("a"), people: 2)
        let right = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: ""),
            model: try ManagedObjectModel(entities: [EntityDescription("Shelf")]))
        let differences = try StoreComparison.diff(left, right)
        #expect(differences.map(\.kind) == [.model])
        #expect(differences.first?.properties == ["Book", "Editor", "Person", "Shelf"])
    }

    @Test("a check of a sound store has no findings", arguments: Sample.writingTypes)
    func soundStore(type: String) throws {
        let directory = try TemporaryDirectory()
        let store = try Sample.store(type, at: directory.file("a"), people: 2000)
        #expect(try checkStore(store) == [])
        try store.close()
    }

    @Test("a check lists dangling references as violations, up to its limit", arguments: Sample.writingTypes)
    func danglingReferences(type: String) throws {
        let directory = try TemporaryDirectory()
        let store = try Sample.store(type, at: directory.file("a"), people: 300)
        var changes = ChangeSet(model: store.model)
        changes.deletes = [
            .init(ObjectID("Person", key: 10), version: 3), .init(ObjectID("Editor", key: 12), version: 1),
        ]
        _ = try store.commit(changes)
        let findings = try checkStore(store)
        #expect(findings.count == 4)
        #expect(findings.allSatisfy { $0.severity == .violation && $0.message.contains("'Book.author'") })
        #expect(findings.contains { $0.message.hasPrefix("Book/p19 ") && $0.message.contains("Person/p10") })
        let limited = try checkStore(store, limit: 1)
        #expect(limited.count == 2)
        #expect(limited.last?.message.contains("3 more") == true)
        try store.close()
    }

    @Test("a check reports damaged records and continues after them")
    func damagedRecord() throws {
        let directory = try TemporaryDirectory()
        let base = try Sample.store("memory", at: directory.file("a"), people: 300)
        let store = FaultyStore(base, faults: Faults(damaged: [ObjectID("Person", key: 5), ObjectID("Shelf", key: 1)]))
        let findings = try checkStore(store)
        let damage = findings.filter { $0.severity == .damage }.map(\.message)
        #expect(damage.contains { $0.contains("Person/p5") })
        #expect(damage.contains { $0.contains("Shelf/p1") })
        // The check counts the damaged objects too, so it reports no wrong count.
        #expect(damage.count == 2)
    }
}
