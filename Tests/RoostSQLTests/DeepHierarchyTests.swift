import RoostCore
import RoostFiles
import RoostSQLite
import RoostStores
import Testing

@testable import RoostSQL

/// A hierarchy of 500 levels, whose last entity has the properties of all.
@Suite("Deep hierarchies")
struct DeepHierarchyTests {
    private static let levelCount = 500

    private func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: (0..<Self.levelCount).map { level in
                EntityDescription(
                    "E\(level)", superentity: level == 0 ? nil : "E\(level - 1)",
                    attributes: [
                        AttributeDescription("a\(level)", type: level.isMultiple(of: 2) ? .string : .integer32),
                        AttributeDescription("b\(level)", type: .double),
                    ])
            })
    }

    @Test("the reading plan of an entity is created on first use")
    func createsPlansOnDemand() throws {
        let model = try model()
        let schema = try SQLSchema(model, dialect: SQLiteDialect())
        #expect(schema.reading.count == Self.levelCount && schema.reading.madeCount == 0)
        let last = try model.requireEntity("E499").number
        #expect(schema.reading[last].entities[last]?.steps.count == 2 * Self.levelCount)
        #expect(schema.reading.lookupSQL(last).contains("_entity IN (\(last))"))
        #expect(schema.reading.madeCount == 1)
        let root = try model.requireEntity("E0").number
        #expect(schema.reading[root].entities.allSatisfy { $0 != nil })
        #expect(schema.reading[root] === schema.reading[root] && schema.reading.madeCount == 2)
    }

    @Test("objects at each level of a deep hierarchy are inserted, read and updated")
    func storesObjectsAtEachLevel() throws {
        let directory = try TemporaryDirectory()
        let (type, location, model) = (SQLiteStoreType(), directory.location("s"), try model())
        try type.create(location, model: model, options: StoreOptions()).close()
        let store = try type.open(location, options: StoreOptions())
        defer { try? store.close() }
        for (name, key) in [("E0", 1), ("E250", 2), ("E499", 3)] as [(EntityName, Int64)] {
            var changes = ChangeSet(model: store.model)
            try changes.insert(
                ObjectID(name, key: key), values: ["a0": .string("\(name)"), "b0": .double(Double(key))])
            _ = try store.commit(changes)
        }
        var changes = ChangeSet(model: store.model)
        try changes.update(ObjectID("E499", key: 3), version: 1, values: ["a0": "last", "b0": 3.0, "b499": 4.5])
        _ = try store.commit(changes)
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        for (name, count) in [("E0", 3), ("E1", 2), ("E250", 2), ("E251", 1), ("E499", 1)] as [(EntityName, Int)] {
            #expect(try snapshot.count(FetchRequest(name)) == count)
            let cursor = try snapshot.fetch(FetchRequest(name, where: .equal("b0", to: 3.0)))
            var batch = RecordBatch(model: store.model)
            let isFound = try cursor.next(into: &batch)
            try #require(isFound && batch.count == 1, "\(name)")
            #expect(try batch.record(at: 0).value("a0") == "last")
            #expect(try batch.record(at: 0).value("b499") == 4.5)
        }
        #expect(try checkStore(store) == [])
    }
}
