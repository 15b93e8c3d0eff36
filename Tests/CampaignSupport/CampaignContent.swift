import Foundation
public import RoostCore

/// The content of the stores in campaigns: objects with references, links, long values and indexes.
public enum CampaignContent {
    /// Returns the model, with two more attributes of persons if `next` is set.
    public static func model(next: Bool = false) throws -> ManagedObjectModel {
        var person: [AttributeDescription] = [
            .string("name"), .integer64("age"), .string("bio"), .init("photo", type: .binaryData),
            .init("salary", type: .decimal),
            .init("born", type: .date), .init("token", type: .uuid), .boolean("active"), .double("score"),
        ]
        if next {
            person += [.string("nick", default: "none"), .integer32("level", default: 1)]
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Person", attributes: person,
                relationships: [
                    .toOne("employer", to: "Company", inverse: "staff"), .toOne("boss", to: "Person", inverse: "team"),
                    .toMany("team", to: "Person", inverse: "boss"), .toMany("tags", to: "Tag", inverse: "people"),
                    .toMany("friends", to: "Person", inverse: "friends"),
                ],
                uniquenessConstraints: [["name"]]
            ).with {
                $0.fetchIndexes = [
                    FetchIndexDescription("by_age", on: "age"), FetchIndexDescription("by_born", on: "born", "name"),
                ]
            },
            EntityDescription(
                "Company", attributes: [.string("name"), .init("page", type: .uri)],
                relationships: [.toMany("staff", to: "Person", inverse: "employer", isOrdered: true)]),
            EntityDescription(
                "Tag", attributes: [.string("name")],
                relationships: [.toMany("people", to: "Person", inverse: "tags", isOrdered: true)]),
        ])
    }

    /// Fills a new store.
    public static func fill(_ store: any PersistentStore, people: Int = 255) throws {
        for start in stride(from: 1, through: people, by: 1000) {
            var changes = ChangeSet(model: store.model)
            if start == 1 {
                for key in Int64(1)...30 {
                    try changes.insert(
                        ObjectID("Company", key: key),
                        values: ["name": .string("Company \(key)"), "page": .uri("https://example.org/\(key)")])
                }
                for key in Int64(1)...15 {
                    try changes.insert(ObjectID("Tag", key: key), values: ["name": .string("tag \(key)")])
                }
                changes.userMetadata = ["purpose": .string("campaign"), "bytes": .data(Data([1, 2, 3]))]
            }
            for number in start...min(people, start + 999) {
                let key = Int64(number)
                var values: [String: Value] = [
                    "name": .string("Person \(key)"), "age": .int(key * 37 % 90), "active": .bool(key % 3 == 0),
                    "bio": key % 7 == 0 ? .null : .string(String(repeating: "likes \(key), é ", count: number % 29)),
                    "salary": .decimal(Decimal(key * 12345) / 100), "score": .double(Double(key) / 7),
                    "born": .date(Date(timeIntervalSinceReferenceDate: Double(key) * 86400.25)),
                    "token": .uuid(
                        UUID(uuid: (UInt8(number % 251), 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11, 12, 13, 14, 15))),
                    "employer": .objectID(ObjectID("Company", key: key % 30 + 1)), "employer#order": .int(key * 16),
                ]
                // Some values are longer than a page.
                if key % 40 == 0 {
                    values["photo"] = .data(Data((0..<6000).map { UInt8(truncatingIfNeeded: $0 &* number) }))
                }
                if key > 10 { values["boss"] = .objectID(ObjectID("Person", key: key / 3)) }
                try changes.insert(ObjectID("Person", key: key), values: values)
                for tag in Int64(1)...15 where (key + tag) % 6 == 0 {
                    try changes.add(
                        Link(key, tag, order: 0, inverseOrder: key % 50), to: RelationshipName("Person", name: "tags"))
                }
                if number % 5 == 0 {
                    try changes.add(Link(key, key / 2 + 1), to: RelationshipName("Person", name: "friends"))
                }
            }
            _ = try store.commit(changes)
        }
    }
}
