import Foundation
import Roost
import RoostCore
import RoostMigration
import RoostSystem
import Testing

/// The values of derived attributes after a migration.
@Suite("Migration of derived attributes")
struct DerivedAttributeTests {
    private let manager = MigrationManager(registry: .standard)

    // MARK: Models

    /// Returns a model of bands and albums, with these derivations of `Band.key` and `Band.total`.
    private func model(
        key: String? = nil, total: String? = nil, albums: [AttributeDescription] = []
    ) throws -> ManagedObjectModel {
        var attributes: [AttributeDescription] = [.string("name")]
        if let key { attributes.append(.derived("key", type: .string, from: key)) }
        if let total { attributes.append(.derived("total", type: .integer64, from: total)) }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Band", attributes: attributes, relationships: [.toMany("albums", to: "Album", inverse: "band")]),
            EntityDescription(
                "Album", attributes: [.integer64("price")] + albums,
                relationships: [.toOne("band", to: "Band", inverse: "albums")]),
        ])
    }

    private func old() throws -> ManagedObjectModel { try model(key: "uppercase:(name)", total: "albums.@count") }

    /// Returns a model with other derivations, and an attribute that reads a derived attribute.
    private func new() throws -> ManagedObjectModel {
        try model(
            key: "lowercase:(name)", total: "albums.price.@sum",
            albums: [.derived("bandKey", type: .string, from: "band.key")])
    }

    /// Creates a store of ``old()`` with bands `1…count` and three albums of the first band.
    private func store(_ type: String, at path: String, count: Int = 2) throws -> any PersistentStore {
        let bands: [Scenario.Object] = (1...count).map { number in
            let total: Int64 = number == 1 ? 3 : 0
            return .init(
                "Band", key: Int64(number),
                values: ["name": .string("Band \(number)"), "key": .string("BAND \(number)"), "total": .int(total)])
        }
        let albums: [Scenario.Object] = (1...3).map { number in
            .init("Album", key: Int64(number), values: ["price": 5, "band": .objectID(ObjectID("Band", key: 1))])
        }
        return try Scenario.store(type, at: path, model: old(), objects: bands + albums)
    }

    private func values(_ attribute: String, of entity: EntityName, in store: any PersistentStore) throws -> [Value] {
        try Scenario.objects(entity, in: store).map { $0.values[attribute] ?? .null }
    }

    /// Expects the derived values of ``new()`` in a store migrated from a store of two bands.
    private func expectNewValues(
        _ store: any PersistentStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try values("key", of: "Band", in: store) == ["band 1", "band 2"], sourceLocation: sourceLocation)
        #expect(try values("total", of: "Band", in: store) == [15, 0], sourceLocation: sourceLocation)
        #expect(
            try values("bandKey", of: "Album", in: store) == ["band 1", "band 1", "band 1"],
            sourceLocation: sourceLocation)
    }

    // MARK: Paths of a migration

    @Test("a migration computes derived attributes between any two types", arguments: Scenario.types, Scenario.types)
    func onePass(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let old = try store(source, at: directory.file("old"))
        let location = StoreLocation(type: destination, path: directory.file("new"))
        let report = try manager.migrate(from: .store(old), to: .location(location), model: new())
        #expect(report.path == .onePass && report.verified && report.losses == [])
        let store = try StoreRegistry.standard.open(location)
        try expectNewValues(store)
        #expect(report.destinationDigest == (try Scenario.digest(store)).description)
        #expect(try checkStore(store) == [])
        try store.close()
        try old.close()
    }

    @Test("a migration in place computes derived attributes", arguments: Sample.fileTypes)
    func inPlace(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("store"))
        try store(type, at: location.path).close()
        let report = try manager.migrateInPlace(location, model: new())
        #expect(report.path == .onePass && report.verified)
        let store = try StoreRegistry.standard.open(location)
        try expectNewValues(store)
        try store.close()
    }

    @Test("a migration in one transaction also computes derived attributes of objects that it otherwise keeps")
    func oneTransaction() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        let before = try store("sqlite", at: location.path, count: 200)
        var changes = ChangeSet(model: before.model)
        // This commit computes no derived attributes, so the total is wrong.
        try changes.update(
            ObjectID("Band", key: 1), version: 1, values: ["name": "Band 1", "key": "BAND 1", "total": 99])
        _ = try before.commit(changes)
        try before.close()
        let model = try model(
            key: "uppercase:(name)", total: "albums.@count",
            albums: [.string("color"), .derived("bandKey", type: .string, from: "band.key")])
        let report = try manager.migrateInPlace(location, model: model)
        #expect(report.path == .oneTransaction && report.verified)
        let store = try StoreRegistry.standard.open(location)
        #expect(try values("total", of: "Band", in: store).prefix(2) == [3, 0])
        #expect(try values("bandKey", of: "Album", in: store) == ["BAND 1", "BAND 1", "BAND 1"])
        #expect(report.destinationDigest == (try Scenario.digest(store)).description)
        #expect(try checkStore(store) == [])
        try store.close()
    }

    @Test("each step of a migration through versions computes derived attributes")
    func versions() throws {
        func note(_ attributes: [AttributeDescription]) throws(StoreError) -> ManagedObjectModel {
            try ManagedObjectModel(entities: [EntityDescription("Note", attributes: [.string("title")] + attributes)])
        }
        let first = try note([])
        let second = try note([.derived("key", type: .string, from: "uppercase:(title)")])
        let third = try note([.string("key")])
        let source = try Scenario.store(
            "memory", at: "", model: first, objects: [.init("Note", key: 1, values: ["title": "a"])])
        var history = try ModelHistory([
            .init("first", model: first), .init("second", model: second), .init("third", model: third),
        ])
        // The mapping model makes the migration pass through the second version.
        try history.add(MappingModel.inferred(from: first, to: second), from: "first", to: "second")
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("new"))
        let report = try manager.migrate(
            from: .store(source), to: .location(location), model: third, options: MigrationOptions(history: history))
        #expect(report.steps.count == 2)
        let store = try StoreRegistry.standard.open(location)
        #expect(try values("key", of: "Note", in: store) == ["A"])
        try store.close()
    }

    @Test("the code after a custom stage reads computed derived attributes")
    func stages() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try store("sqlite", at: location.path).close()
        let found = Mutex<[Value]>([])
        let stage = try CustomMigrationStage(
            from: old(), to: new(),
            didMigrate: { store, _ in
                let keys = try Scenario.objects("Band", in: store).map { $0.values["key"] ?? .null }
                found.withLock { $0 = keys }
            })
        let stages = try StagedMigrationManager([.custom(stage)])
        _ = try manager.migrateInPlace(location, model: new(), options: MigrationOptions().with { $0.stages = stages })
        #expect(found.withLock { $0 } == ["band 1", "band 2"])
        let store = try StoreRegistry.standard.open(location)
        try expectNewValues(store)
        try store.close()
    }

    @Test(
        "a migration in three passes computes derived attributes, also after changes by a policy",
        arguments: Scenario.types)
    func threePasses(type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try store("memory", at: "")
        var mapping = try MappingModel.inferred(from: old.model, to: new())
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "P" }
        let location = StoreLocation(type: type, path: directory.file("new"))
        let report = try PolicySample.migrate(
            old, to: .location(location), mapping: mapping, model: new(),
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onRelate = { object, _, standard in
                            try standard()
                            if object.id.entity == "Band" { object["name"] = object["name"] }
                        }
                    }
                }
            ])
        #expect(report.path == .threePasses && report.verified)
        let store = try StoreRegistry.standard.open(location)
        try expectNewValues(store)
        #expect(report.destinationDigest == (try Scenario.digest(store)).description)
        try store.close()
    }

    @Test("a migration computes the derived attributes of more objects than one commit writes")
    func manyObjects() throws {
        let count = 9_000
        let old = try store("memory", at: "", count: count)
        let directory = try TemporaryDirectory()
        let store = try Scenario.migrate(old, to: "sqlite", at: directory.file("new"), model: new(), mapping: nil)
        #expect(try values("key", of: "Band", in: store) == (1...count).map { .string("band \($0)") })
        #expect(try values("total", of: "Band", in: store).prefix(2) == [15, 0])
        try store.close()
    }

    @Test("a migration computes attributes that depend on themselves over a chain of objects")
    func chainOfObjects() throws {
        func node(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Node", attributes: [.derived("origin", type: .string, from: "parent.origin")] + attributes,
                    relationships: [
                        .toOne("parent", to: "Node", inverse: "children"),
                        .toMany("children", to: "Node", inverse: "parent"),
                    ])
            ])
        }
        // The first node has no parent, so all origins must become null.
        let nodes = (1...4).map { (key: Int64) -> Scenario.Object in
            var values: [String: Value] = ["origin": "old"]
            if key > 1 { values["parent"] = .objectID(ObjectID("Node", key: key - 1)) }
            return Scenario.Object("Node", key: key, values: values)
        }
        let old = try Scenario.store("memory", at: "", model: node([]), objects: nodes)
        let directory = try TemporaryDirectory()
        let store = try Scenario.migrate(
            old, to: "sqlite", at: directory.file("new"), model: node([.string("name")]), mapping: nil)
        #expect(try values("origin", of: "Node", in: store) == [.null, .null, .null, .null])
        try store.close()
    }

    // MARK: Times

    @Test("a migration keeps the time of the last save and gives a time to objects without one")
    func times() throws {
        func note(_ names: [String]) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("Note", attributes: names.map { .derived($0, type: .date, from: "now()") })
            ])
        }
        let saved = Value.date(Date(timeIntervalSinceReferenceDate: 1000))
        let old = try Scenario.store(
            "memory", at: "", model: note(["saved"]),
            objects: [.init("Note", key: 1, values: ["saved": saved]), .init("Note", key: 2, values: [:])])
        let directory = try TemporaryDirectory()
        let store = try Scenario.migrate(
            old, to: "sqlite", at: directory.file("new"), model: note(["made", "saved"]), mapping: nil)
        let times = try values("saved", of: "Note", in: store)
        #expect(times[0] == saved && !times[1].isNull)
        #expect(try values("made", of: "Note", in: store).contains(.null) == false)
        try store.close()
    }

    // MARK: Losses and mappings

    @Test("removing a derived attribute loses no data")
    func removal() throws {
        let old = try store("memory", at: "")
        let model = try model(total: "albums.@count")
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        #expect(try manager.planMigration(from: .store(old), to: memory, model: model).losses == [])
        #expect(try manager.migrate(from: .store(old), to: memory, model: model).losses == [])
    }

    @Test("replacing the values of a stored attribute by derived values is a loss")
    func replacement() throws {
        func note(_ key: AttributeDescription) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [EntityDescription("Note", attributes: [.string("title"), key])])
        }
        let old = try Scenario.store(
            "memory", at: "", model: note(.string("key")),
            objects: [.init("Note", key: 1, values: ["title": "a", "key": "mine"])])
        let model = try note(.derived("key", type: .string, from: "uppercase:(title)"))
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        let error = #expect(throws: StoreError.self) {
            _ = try manager.migrate(from: .store(old), to: memory, model: model)
        }
        #expect(error?.code == .lossRefused)
        let directory = try TemporaryDirectory()
        let store = try Scenario.migrate(
            old, to: "sqlite", at: directory.file("new"), model: model, mapping: nil, allowsLoss: true)
        #expect(try values("key", of: "Note", in: store) == ["A"])
        try store.close()
    }

    @Test("a mapping's expression for a derived attribute has no effect and gives a warning")
    func customMapping() throws {
        let old = try store("memory", at: "")
        var mapping = try MappingModel.inferred(from: old.model, to: new())
        let index = try #require(mapping.entityMappings.firstIndex { $0.destinationEntity == "Band" })
        mapping.entityMappings[index].attributeMappings.removeAll { $0.name == "key" }
        mapping.entityMappings[index].attributeMappings.append(
            PropertyMapping("key", expression: .function(.uppercase, [.source("name")])))
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("new"))
        let report = try manager.migrate(
            from: .store(old), to: .location(location), model: new(), options: MigrationOptions(mapping: mapping))
        #expect(report.warnings.contains { $0.hasPrefix("Band.key:") && $0.contains("no effect") })
        let store = try StoreRegistry.standard.open(location)
        try expectNewValues(store)
        try store.close()
    }
}
