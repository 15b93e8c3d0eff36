internal import Foundation
package import RoostCore

/// The content of the samples that the suite creates: a small, fixed library of music.
///
/// Stores of every type can hold it, even Core Data stores. It has:
///
/// - inheritance, and an entity without objects
/// - attributes of the scalar types, with nulls
/// - ordered and unordered relationships of most kinds
/// - deleted keys and versions above 1
/// - more objects of entity `Play` than a batch holds
package enum StandardSample {
    /// The library in a reference store, after ``commits``.
    package static let content: Result<ReferenceStore, any Error> = Result {
        var store = ReferenceStore(model: try model.get())
        for changes in try commits.get() { try store.commit(changes) }
        return store
    }

    /// The change sets that are written, in order, into a store of ``model``.
    package static let commits: Result<[ChangeSet], any Error> = Result {
        let model = try Self.model.get()
        return [try inserts(model), try links(model), try laterChanges(model)]
    }

    package static let model: Result<ManagedObjectModel, any Error> = Result {
        try ManagedObjectModel(entities: [
            EntityDescription("Party", attributes: [.init("name", type: .string), .init("since", type: .date)]).with {
                $0.isAbstract = true
            },
            EntityDescription(
                "Band", superentity: "Party",
                attributes: [.init("founded", type: .integer16), .init("page", type: .uri)],
                relationships: [.toMany("albums", to: "Album", inverse: "band")]),
            EntityDescription(
                "Person", superentity: "Party", attributes: [.init("token", type: .uuid)],
                relationships: [
                    .toMany("friends", to: "Person", inverse: "friends"),
                    .toMany("playlists", to: "Playlist", inverse: "owner"),
                ]),
            EntityDescription(
                "Album",
                attributes: [
                    .init("title", type: .string), .init("price", type: .decimal), .init("cover", type: .binaryData),
                ],
                relationships: [
                    .toOne("band", to: "Band", inverse: "albums"),
                    .toMany("tracks", to: "Track", inverse: "album", isOrdered: true),
                ]),
            EntityDescription(
                "Track",
                attributes: [
                    .init("title", type: .string), .init("seconds", type: .double), .init("gain", type: .float),
                    .init("plays", type: .integer64), .init("year", type: .integer32), .init("isLive", type: .boolean),
                ],
                relationships: [
                    .toOne("album", to: "Album", inverse: "tracks"), .toMany("history", to: "Play", inverse: "track"),
                    .toMany("tags", to: "Tag", inverse: "tagged"),
                    .toMany("lists", to: "Playlist", inverse: "entries", isOrdered: true),
                ]),
            EntityDescription(
                "Play", attributes: [.init("number", type: .integer32)],
                relationships: [.toOne("track", to: "Track", inverse: "history")]),
            EntityDescription(
                "Playlist", attributes: [.init("title", type: .string)],
                relationships: [
                    .toOne("owner", to: "Person", inverse: "playlists"),
                    .toMany("entries", to: "Track", inverse: "lists", isOrdered: true),
                ]),
            EntityDescription("Tag", relationships: [.toMany("tagged", to: "Track", inverse: "tags")]),
            EntityDescription("Vacancy", attributes: [.init("reason", type: .string)]),
        ])
    }

    private static let (partyCount, albumCount, trackCount, tagCount, listCount): (Int64, Int64, Int64, Int64, Int64) =
        (24, 15, 90, 7, 5)
    /// The objects fill two batches and start a third.
    private static let playCount = Int64(RecordBatch.capacityCount * 2 + 50)

    private static let words = [
        "", "blue", "Blue", "river", "Straße", "café", "cafe\u{301}", "夜", "🎷", "a\u{0}b", "'quoted' \"twice\"", "100%",
        "new\nline", "𝄞",
    ]

    private static func text(_ key: Int64) -> Value {
        key % 6 == 0 ? .null : .string(words[Int(key * 5) % words.count] + (key % 4 == 0 ? " \(key)" : ""))
    }

    private static func insertParties(into changes: inout ChangeSet) throws {
        for key in 1...partyCount {
            var values: [String: Value] = [
                "name": text(key),
                "since": key % 5 == 0
                    ? .null : .date(Date(timeIntervalSinceReferenceDate: Double(key * 7919) - 80_000.125)),
            ]
            if key % 3 == 0 {
                values["founded"] = key % 9 == 0 ? .null : .int(key * 100 - 1300)
                values["page"] = .uri("https://bands.example/\(key % 4)")
                try changes.insert(ObjectID("Band", key: key), values: values)
            } else {
                values["token"] = .uuid(
                    UUID(
                        uuid: (
                            UInt8(key * 11 % 256), 0, 1, 2, 3, 4, 0x45, 6, 0x87, 8, 9, 10, 11, 12, 13, UInt8(key % 3)
                        )))
                try changes.insert(ObjectID("Person", key: key), values: values)
            }
        }
    }

    private static func inserts(_ model: ManagedObjectModel) throws -> ChangeSet {
        var changes = ChangeSet(model: model)
        try insertParties(into: &changes)
        for key in 1...albumCount {
            try changes.insert(
                ObjectID("Album", key: key),
                values: [
                    "title": text(key + 3), "price": key % 4 == 0 ? .null : .decimal(Decimal(key * 333 - 1001) / 100),
                    "cover": key % 5 == 0
                        ? .null : .data(Data((0..<key * 40).map { UInt8(truncatingIfNeeded: $0 * key) })),
                    "band": key % 7 == 0 ? .null : .objectID(ObjectID("Band", key: key % 8 * 3 + 3)),
                ])
        }
        for key in 1...trackCount {
            var values: [String: Value] = [
                "title": text(key * 3), "seconds": .double(Double(key * 37 % 50) + 0.1),
                "gain": .double(Double(key) / 8 - 5),
                "plays": key % 10 == 0 ? .null : .int((key - 40) * 1_000_000_007 * (key % 3)),
                "year": .int(1970 + key % 30), "isLive": key % 8 == 0 ? .null : .bool(key % 3 == 0),
            ]
            if key % 6 != 0 {
                // Tracks in an album are not in the order of their keys.
                values["album"] = .objectID(ObjectID("Album", key: key % albumCount + 1))
                values["album#order"] = .int((trackCount - key) * 16 + key % 2 * 2000)
            }
            try changes.insert(ObjectID("Track", key: key), values: values)
        }
        for key in 1...playCount {
            // Odd keys are unused.
            try changes.insert(
                ObjectID("Play", key: key * 2),
                values: [
                    "number": .int(key * 7 % 100), "track": .objectID(ObjectID("Track", key: key % trackCount + 1)),
                ])
        }
        for key in 1...listCount {
            try changes.insert(
                ObjectID("Playlist", key: key),
                values: [
                    "title": text(key), "owner": key == 3 ? .null : .objectID(ObjectID("Person", key: key % 2 + 1)),
                ])
        }
        for key in 1...tagCount { try changes.insert(ObjectID("Tag", key: key), values: [:]) }
        changes.userMetadata = [
            "title": .string("a sample"), "number": .int(42), "bytes": .data(Data([0, 1, 255])),
            "list": .array([.string("one"), .string("two")]),
        ]
        return changes
    }

    private static func links(_ model: ManagedObjectModel) throws -> ChangeSet {
        var changes = ChangeSet(model: model)
        for key in 1...trackCount {
            for tag in 1..<tagCount where (key + tag) % 4 == 0 {
                try changes.add(Link(key, tag), to: RelationshipName("Track", name: "tags"))
            }
        }
        for list in 1..<listCount {
            for place in 0..<list * 6 {
                let track = (place * 17 + list) % trackCount + 1
                try changes.add(
                    Link(list, track, order: 1000 - place * 3, inverseOrder: list * 5 % 7),
                    to: RelationshipName("Playlist", name: "entries"))
            }
        }
        for (one, other) in [(1, 2), (1, 4), (5, 2), (8, 7), (10, 1), (22, 23)] as [(Int64, Int64)] {
            try changes.add(Link(one, other), to: RelationshipName("Person", name: "friends"))
        }
        return changes
    }

    /// Returns changes that raise versions above 1, and delete objects.
    private static func laterChanges(_ model: ManagedObjectModel) throws -> ChangeSet {
        var changes = ChangeSet(model: model)
        for key in Int64(1)...3 {
            try changes.update(ObjectID("Playlist", key: key), version: 1, values: ["title": .string("renamed \(key)")])
        }
        for key in [40, 42, 44] as [Int64] { changes.delete(ObjectID("Play", key: key), version: 1) }
        changes.delete(ObjectID("Tag", key: tagCount), version: 1)
        return changes
    }
}
