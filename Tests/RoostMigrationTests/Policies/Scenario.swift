import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

/// Functions that create, migrate and read the stores of migration scenarios.
enum Scenario {
    static let types = ["sqlite", "lmdb", "json", "memory"]

    struct Object {
        var id: ObjectID
        var values: [String: Value]

        init(_ entity: EntityName, key: Int64, values: [String: Value]) {
            id = ObjectID(entity, key: key)
            self.values = values
        }
    }

    static func store(
        _ type: String, at path: String, model: ManagedObjectModel, objects: [Object],
        links: [(RelationshipName, Link)] = []
    ) throws -> any PersistentStore {
        let store = try StoreRegistry.standard.create(StoreLocation(type: type, path: path), model: model)
        var changes = ChangeSet(model: model)
        for object in objects { try changes.insert(object.id, values: object.values) }
        for (relationship, link) in links { try changes.add(link, to: relationship) }
        _ = try store.commit(changes)
        return store
    }

    /// Migrates an open store, and opens the new store.
    static func migrate(
        _ source: any PersistentStore, to type: String, at path: String, model: ManagedObjectModel,
        mapping: MappingModel?, policies: [String: @Sendable () -> EntityMigrationPolicy] = [:],
        allowsLoss: Bool = false
    ) throws -> any PersistentStore {
        let location = StoreLocation(type: type, path: path)
        let report = try MigrationManager(registry: .standard).migrate(
            from: .store(source), to: .location(location), model: model,
            options: MigrationOptions(mapping: mapping, policies: policies, allowsLoss: allowsLoss))
        #expect(report.verified)
        let store = try StoreRegistry.standard.open(location)
        #expect(try checkStore(store) == [])
        #expect(model.isCompatible(with: try store.metadata()))
        return store
    }

    /// Returns the IDs and values of all objects of an entity, in the order of their keys.
    static func objects(_ entity: EntityName, in store: any PersistentStore) throws -> [(
        id: ObjectID, values: [String: Value]
    )] {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let cursor = try snapshot.fetch(FetchRequest(entity))
        var found: [(id: ObjectID, values: [String: Value])] = []
        var batch = RecordBatch(model: store.model)
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count { found.append((batch.id(at: index), batch.values(at: index))) }
        }
        return found
    }

    /// Returns the values of a string attribute of a relationship's destinations.
    static func names(
        _ relationship: String, of id: ObjectID, attribute: String, in store: any PersistentStore
    ) throws -> [String] {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let cursor = try snapshot.links(of: RelationshipName(id.entity, name: relationship), from: id)
        var links = LinkBatch(relationship: 0)
        var keys: [Int64] = []
        while try cursor.next(into: &links) { keys += links.links.map(\.target) }
        let target = store.model.entities[
            try store.model.requireRelationship(RelationshipName(id.entity, name: relationship)).destination]
        var names: [String] = []
        let records = try snapshot.records(with: keys.map { ObjectID(target.name, key: $0) })
        var batch = RecordBatch(model: store.model)
        while try records.next(into: &batch) {
            for index in 0..<batch.count {
                if case .string(let name) = try batch.value(attribute, at: index) { names.append(name) }
            }
        }
        return names
    }

    static func digest(_ store: any PersistentStore) throws -> StoreDigest {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try snapshot.computeTally().digest
    }
}
