import Roost
import RoostCore
import RoostGraph
import Testing

extension ConflictTests {
    @Test("a conflict remains if a merge policy returns a value of the wrong type")
    func unsuitableMerge() throws {
        let container = try Music.container()
        let (mine, other) = (container.makeContext("mine"), container.makeContext("other"))
        let artist: Artist = try mine.insert()
        artist.name = "a"
        try mine.save()
        let copy = try other.existingObject(artist.id)
        (copy.name, copy.rank) = ("theirs", 5)
        try other.save()
        artist.rank = 7
        mine.mergePolicy = MergePolicy(
            "wrong", resolve: { _ in .keep(["name": .int(1), "rank": .int(7)]) }, resolveConstraint: { _ in .fail })
        #expect(throws: StoreError.self) { try mine.save() }
        mine.mergePolicy = .error
        let error = #expect(throws: StoreError.self) { try mine.save() }
        #expect(error?.code == .conflict)
        #expect(try container.makeContext().existingObject(artist.id).name == "theirs")
    }

    private static let unsuitable: [[String: Value]] = [
        ["name": .int(1)], ["passport": .int(1)], ["passport": .objectID(ObjectID("Track", key: 1))],
    ]

    @Test(
        "all conflicts remain if a merge policy returns an unsuitable value for one of them", arguments: 0..<2,
        unsuitable)
    func unsuitableMergeOfOne(_ wrong: Int, values: [String: Value]) throws {
        let container = try Music.container()
        let sample = try Sample(container)
        let context = sample.contexts[1]
        for artist in sample.artists[0][..<2] { artist.rank = 5 }
        try sample.contexts[0].save()
        for artist in sample.artists[1][..<2] { artist.rank = 7 }
        let id = sample.artists[1][wrong].objectID
        context.mergePolicy = MergePolicy(
            "wrong",
            resolve: { conflict in
                let mine: [String: Value] = ["name": "mine", "rank": 7]
                return .keep(conflict.id == id ? mine.merging(values) { $1 } : mine)
            }, resolveConstraint: { _ in .fail })
        #expect(throws: StoreError.self) { try context.save() }
        #expect(sample.artists[1][..<2].map(\.name) == ["0", "1"])
        #expect(sample.artists[1][..<2].compactMap(\.passport) == sample.passports[1])
        context.mergePolicy = .error
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.conflicts.count == 2)
    }

    @Test(
        "a conflict remains if a merge policy returns the ID of an object of another subentity",
        arguments: ["album", nil] as [String?])
    func unsuitableSubentity(inverse: String?) throws {
        let back: [RelationshipDescription] = inverse.map { [.toOne($0, to: "Album", inverse: "cover")] } ?? []
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Item"), EntityDescription("Photo", superentity: "Item", relationships: back),
            EntityDescription("Video", superentity: "Item"),
            EntityDescription(
                "Album", attributes: [.string("title")],
                relationships: [.toOne("cover", to: "Photo", inverse: inverse)]),
        ])
        let container = try PersistentContainer(.memory, model: model)
        let (mine, other) = (container.makeContext("mine"), container.makeContext("other"))
        let (album, video) = (try other.insert("Album"), try other.insert("Video"))
        try other.save()
        let copy = try mine.existingObject(with: album.objectID)
        album["title"] = "theirs"
        try other.save()
        copy["title"] = "mine"
        // The ID of a photo could have the same entity.
        let id = ObjectID("Item", key: video.objectID.key)
        mine.mergePolicy = MergePolicy(
            "video", resolve: { _ in .keep(["title": "mine", "cover": .objectID(id)]) },
            resolveConstraint: { _ in .fail })
        let error = #expect(throws: StoreError.self) { try mine.save() }
        #expect(error?.code == .invalidValue && copy["cover"] == .null)
        mine.mergePolicy = .error
        let conflict = #expect(throws: StoreError.self) { try mine.save() }
        #expect(conflict?.code == .conflict)
    }
}
