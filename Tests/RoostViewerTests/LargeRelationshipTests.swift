#if Interactive
    import RoostCore
    import RoostJSONText
    import RoostStores
    import Testing

    @testable import RoostViewer

    @Suite("Relationships of many objects in the browser")
    struct LargeRelationshipTests {
        /// The number of objects of each relationship, one more than a list in a predicate can have.
        private static let count: Int64 = 100_001

        /// A box whose parts belong to it by a to-one inverse, a to-many inverse, and no inverse.
        private static let library: Result<ViewedLibrary, any Error> = Result {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Box",
                    relationships: [
                        .toMany("parts", to: "Part", inverse: "box"), .toMany("tagged", to: "Part", inverse: "boxes"),
                        .toMany("marked", to: "Part"),
                    ]),
                EntityDescription(
                    "Part", attributes: [.init("number", type: .integer64)],
                    relationships: [
                        .toOne("box", to: "Box", inverse: "parts"), .toMany("boxes", to: "Box", inverse: "tagged"),
                    ]),
            ])
            return try ViewedLibrary(model: model, fill: LargeRelationshipTests.fill)
        }

        private static func fill(_ store: Store) throws {
            let loader = try store.persistentStore.bulkLoader(BulkLoadOptions())
            let box = ObjectID("Box", key: 1)
            var batch = RecordBatch(model: store.model)
            try batch.append(box, values: [:])
            for key in 1...count {
                if batch.isFull {
                    try loader.append(batch)
                    batch.removeAll()
                }
                try batch.append(
                    ObjectID("Part", key: key), values: ["number": .int(count - key), "box": .objectID(box)])
            }
            try loader.append(batch)
            for relationship in store.model.linkRelationships {
                let links = (1...count).map { Link(box.key, $0) }
                try loader.append(LinkBatch(relationship: relationship.number, links: links))
            }
            _ = try loader.finish()
        }

        @Test("a relationship of more than 100 000 objects with an inverse is sorted", arguments: ["parts", "tagged"])
        func sorted(name: String) throws {
            let view = try Self.library.get().get("/library/Box/1/\(name).json?sort=number&size=2&select=number")
            #expect(view["count"]?.integer == Self.count)
            #expect(view["rows"]?.elements?.compactMap { $0["key"]?.integer } == [Self.count, Self.count - 1])
        }

        @Test(
            "a relationship of more than 100 000 objects with an inverse is filtered", arguments: ["parts", "tagged"])
        func filtered(name: String) throws {
            let view = try Self.library.get().get("/library/Box/1/\(name).json?where=number%20%3C%203&facet=number")
            #expect(view["count"]?.integer == 3)
            #expect(view.at("facets.0.values")?.elements?.count == 3)
        }

        @Test("more than 100 000 objects of a relationship without an inverse are shown, but not sorted")
        func withoutInverse() throws {
            let library = try Self.library.get()
            #expect(try library.get("/library/Box/1/marked.json?size=2")["count"]?.integer == Self.count)
            let refusal = try library.send("/library/Box/1/marked.json?sort=number")
            #expect(refusal.status == .badRequest)
            #expect(
                try refusal.json().at("error.message")?.text?.hasPrefix(
                    "'marked' of Box/p1 has 100001 objects and no inverse. Only 100000 objects") == true)
        }
    }
#endif
