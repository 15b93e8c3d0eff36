import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration

/// The library of ``Sample`` in its next version, with other names, types and orders.
enum EvolvedSample {
    static func model() throws(StoreError) -> ManagedObjectModel {
        var name = AttributeDescription("fullName", type: .string, isOptional: false, defaultValue: "nobody")
        name.renamingIdentifier = "name"
        var books = RelationshipDescription.toMany("works", to: "Book", inverse: "writer")
        books.renamingIdentifier = "books"
        var writer = RelationshipDescription.toOne("writer", to: "Human", inverse: "works")
        writer.renamingIdentifier = "author"
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Human",
                attributes: [
                    name, AttributeDescription("born", type: .date), AttributeDescription("code", type: .decimal),
                    AttributeDescription("rank", type: .integer32, isOptional: false, defaultValue: 7),
                    AttributeDescription("motto", type: .string, defaultValue: "none yet"),
                    // Only editors had this attribute.
                    AttributeDescription("desk", type: .integer64),
                ],
                relationships: [books, .toMany("friends", to: "Human", inverse: "friends")]
            ).with { $0.renamingIdentifier = "Person" },
            EntityDescription("Editor", superentity: "Human"),
            EntityDescription(
                "Book",
                attributes: [
                    AttributeDescription("title", type: .string), AttributeDescription("price", type: .decimal),
                    AttributeDescription(
                        "format", type: .composite,
                        elements: [
                            AttributeDescription("width", type: .double),
                            AttributeDescription("unit", type: .string, defaultValue: "mm"),
                        ]),
                ],
                relationships: [
                    writer, .toMany("shelves", to: "Shelf", inverse: "books", isOrdered: true),
                ]),
            EntityDescription(
                "Shelf", attributes: [AttributeDescription("label", type: .uri)],
                relationships: [.toMany("books", to: "Book", inverse: "shelves")]),
            EntityDescription("Award", attributes: [AttributeDescription("title", type: .string)]),
        ])
    }

    /// Returns the content of ``Sample`` in the next version.
    static func contents(people: Int, like metadata: [String: MetadataValue]) throws -> StoreContents {
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: ""), model: try model(),
            options: StoreOptions().with { $0.userMetadata = metadata })
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: store.model)
        for key in 1...people {
            var values: [String: Value] = [
                "fullName": .string("Person \(key)"),
                "born": .date(Date(timeIntervalSinceReferenceDate: Double(key) * 1e5 + 0.25)),
                "code": .decimal(Decimal(key)), "rank": 7, "motto": "none yet",
            ]
            if key % 3 == 0 { values["desk"] = .int(Int64(key % 100)) }
            try batch.append(
                ObjectID(key % 3 == 0 ? "Editor" : "Human", key: Int64(key)), version: UInt32(key % 4 + 1),
                values: values)
        }
        for key in 1...people * 2 {
            let writer = (key + 1) / 2
            try batch.append(
                ObjectID("Book", key: Int64(key)),
                values: [
                    "title": .string("Book \(key % 97) é"), "price": .decimal(Decimal(key) / 100),
                    "format": key % 2 == 0 ? .composite(["width": .double(Double(key)), "unit": "mm"]) : .null,
                    "writer": .objectID(ObjectID(writer % 3 == 0 ? "Editor" : "Human", key: Int64(writer))),
                ])
        }
        for key in 1...5 {
            try batch.append(ObjectID("Shelf", key: Int64(key)), values: ["label": .uri("shelf:\(key)")])
        }
        try loader.append(batch)
        func number(of entity: EntityName, named name: String) throws -> Int {
            try store.model.requireRelationship(RelationshipName(entity, name: name)).number
        }
        let friends = (1..<Int64(people)).map { Link($0, $0 + 1) }
        // The new model orders the shelves of a book, initially by key, and no longer the books of a shelf.
        let shelves = (1...Int64(people * 2)).map { key in
            let shelf: Int64 = key % 5 + 1
            return Link(key, shelf, order: shelf)
        }
        try loader.append(
            LinkBatch(
                relationship: try number(of: "Human", named: "friends"),
                links: friends))
        try loader.append(
            LinkBatch(
                relationship: try number(of: "Book", named: "shelves"),
                links: shelves))
        _ = try loader.finish()
        return try store.contents()
    }
}
