import Foundation
import Roost
import RoostCore
import RoostFiles
import Testing

/// A directory for one test, removed when the test releases it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("roost-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        // If the removal fails, the system removes the files.
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Returns the sorted names of all files except lock files, which stay beside a store.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasSuffix(".lock") }.sorted()
    }
}

/// A small library with inheritance, and relationships that are ordered, unordered and stored in
/// every way.
enum Sample {
    static func model() throws(StoreError) -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [
                    AttributeDescription("name", type: .string), AttributeDescription("portrait", type: .binaryData),
                    AttributeDescription("born", type: .date), AttributeDescription("code", type: .integer64),
                ],
                relationships: [
                    .toMany("books", to: "Book", inverse: "author", isOrdered: true),
                    .toMany("friends", to: "Person", inverse: "friends"),
                ], uniquenessConstraints: [["code"]]),
            EntityDescription(
                "Editor", superentity: "Person", attributes: [AttributeDescription("desk", type: .integer16)]),
            EntityDescription(
                "Book",
                attributes: [
                    AttributeDescription("title", type: .string), AttributeDescription("price", type: .decimal),
                    AttributeDescription(
                        "format", type: .composite,
                        elements: [
                            AttributeDescription("width", type: .double), AttributeDescription("height", type: .double),
                        ]),
                ],
                relationships: [
                    .toOne("author", to: "Person", inverse: "books"),
                    .toMany("shelves", to: "Shelf", inverse: "books"),
                ]
            ).with { $0.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")] },
            EntityDescription(
                "Shelf", attributes: [AttributeDescription("label", type: .uri)],
                relationships: [.toMany("books", to: "Book", inverse: "shelves", isOrdered: true)]),
        ])
    }

    /// Fills an empty store of ``model()``: `people` persons (every third an editor), twice as many
    /// books, and 5 shelves.
    static func fill(_ store: any PersistentStore, people: Int = 1500) throws(StoreError) {
        let loader = try store.bulkLoader(BulkLoadOptions(lastKeys: ["Shelf": 77]))
        do throws(StoreError) {
            var batch = RecordBatch(model: store.model)
            for key in 1...people {
                let isEditor = key % 3 == 0
                var values: [String: Value] = [
                    "name": .string("Person \(key)"),
                    "portrait": .data(Data(repeating: UInt8(key % 251), count: key % 300)),
                    "born": .date(Date(timeIntervalSinceReferenceDate: Double(key) * 1e5 + 0.25)),
                    "code": .int(Int64(key)),
                ]
                if isEditor { values["desk"] = .int(Int64(key % 100)) }
                try batch.append(
                    ObjectID(isEditor ? "Editor" : "Person", key: Int64(key)), version: UInt32(key % 4 + 1),
                    values: values)
                if batch.isFull { try flush(&batch, to: loader) }
            }
            try flush(&batch, to: loader)
            for key in 1...people * 2 {
                let author = (key + 1) / 2
                try batch.append(
                    ObjectID("Book", key: Int64(key)),
                    values: [
                        "title": .string("Book \(key % 97) é"), "price": .decimal(Decimal(key) / 100),
                        "format": key % 2 == 0 ? .composite(["width": .double(Double(key))]) : .null,
                        "author": .objectID(ObjectID(author % 3 == 0 ? "Editor" : "Person", key: Int64(author))),
                        RecordLayout.orderFieldName(of: "author"): .int(Int64(key % 2)),
                    ])
                if batch.isFull { try flush(&batch, to: loader) }
            }
            for key in 1...5 {
                try batch.append(ObjectID("Shelf", key: Int64(key)), values: ["label": .uri("shelf:\(key)")])
            }
            try flush(&batch, to: loader)
            try link(
                RelationshipName("Person", name: "friends"), links: (1..<people).map { Link(Int64($0), Int64($0 + 1)) },
                in: store,
                with: loader)
            try link(
                RelationshipName("Shelf", name: "books"),
                links: (1...people * 2).map { Link(Int64($0 % 5 + 1), Int64($0), order: Int64(people * 2 - $0)) },
                in: store,
                with: loader)
            _ = try loader.finish()
        } catch {
            loader.abandon()
            throw error
        }
    }

    private static func flush(_ batch: inout RecordBatch, to loader: any BulkLoader) throws(StoreError) {
        guard !batch.isEmpty else { return }
        try loader.append(batch)
        batch.removeAll()
    }

    private static func link(
        _ name: RelationshipName, links: [Link], in store: any PersistentStore, with loader: any BulkLoader
    ) throws(StoreError) {
        let (owner, isFlipped) = try store.model.requireLinkRelationship(name)
        let relationship = store.model.relationships[owner]
        let stored = links.map { relationship.normalized(isFlipped ? $0.flipped : $0) }
            .sorted { ($0.source, $0.order, $0.target) < ($1.source, $1.order, $1.target) }
        for start in stride(from: 0, to: stored.count, by: 512) {
            try loader.append(
                LinkBatch(relationship: owner, links: Array(stored[start..<min(start + 512, stored.count)])))
        }
    }

    /// The writable types that need no server.
    static let writingTypes = StoreRegistry.standard.withoutServers.filter { $0.capabilities.contains(.writing) }.map(
        \.name)
    /// The writable types whose stores are files.
    static let fileTypes = StoreRegistry.standard.all
        .filter { $0.capabilities.contains(.writing) && $0.capabilities.contains(.file) }.map(\.name)

    /// Creates a filled store with fixed user metadata.
    static func store(
        _ type: String, at path: String, people: Int = 1500, uuid: StoreUUID = StoreUUID()
    ) throws(StoreError) -> any PersistentStore {
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: path), model: try model(),
            options: StoreOptions().with {
                $0.storeUUID = uuid
                $0.userMetadata = ["author": .string("me"), "numbers": .array([.int(1), .double(-0.0)])]
            })
        try fill(store, people: people)
        return store
    }

    /// Returns a registry in which the type `faulty` is `base` with faults.
    static func registry(_ base: String, faults: Faults) throws(StoreError) -> StoreRegistry {
        let registry = StoreRegistry(StoreRegistry.standard.all)
        registry.register(FaultyStoreType(base: try registry.type(named: base), faults: faults))
        return registry
    }
}
