import RoostCore
import Testing

@Suite("Differences of models")
struct ModelDifferenceTests {
    @Test("equal models have no difference")
    func equal() throws {
        #expect(try ModelSamples.music().difference(from: ModelSamples.music()).isEmpty)
    }

    @Test("every difference is listed with what it means for stores")
    func all() throws {
        let old = try ModelSamples.music()
        var track = try #require(old.entity("Track")?.declaration)
        track.attributes = [
            .string("title", isOptional: false, default: "?"),
            .integer64("plays", default: 0).renamed(from: "playCount"),
        ]
        track.relationships[0].deleteRule = .deny
        track.fetchIndexes[0].elements.append(.init("plays", isAscending: false))
        track.isAbstract = true
        track.userInfo = ["note": "x"]
        let new = try ManagedObjectModel(
            entities: [
                track, EntityDescription("Single", superentity: "Track"),
                EntityDescription(
                    "Album",
                    relationships: [
                        .toMany("tracks", to: "Track", inverse: "album", isOrdered: true, deleteRule: .cascade)
                    ]
                ),
                EntityDescription("Genre").with {
                    $0.fetchedProperties = [FetchedPropertyDescription("all", entity: "Track")]
                },
            ], configurations: ["C": ["Genre"]], versionIdentifiers: ["2"])
        #expect(
            new.difference(from: old).map(\.description) == [
                #"model changed (configurations: none → {"C":["Genre"]}, versionIdentifiers: none → ["2"])"#,
                "Album.title: attribute removed; needs a migration",
                "Genre: entity added; needs a migration",
                "Single: entity added; needs a migration",
                #"Track: entity changed (isAbstract: false → true, userInfo: none → {"note":"x"}); needs a migration"#,
                "Track.playCount: attribute renamed to plays (defaultValue: none → 0); needs a migration",
                #"Track.title: attribute changed (defaultValue: none → "?", isOptional: true → false); needs a migration"#,
                #"Track.album: relationship changed (deleteRule: "nullify" → "deny")"#,
                #"Track.byTitle: fetch index changed (elements: [{"property":"title"}] → [{"property":"title"},{"property":"plays","isAscending":false}])"#,
            ])
        #expect(old.difference(from: new).first { $0.entity == "Genre" }?.kind == .removed)
    }

    @Test("an entity whose superentity changed is listed")
    func inherited() throws {
        func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("A", superentity: "B"), EntityDescription("B", attributes: attributes),
            ])
        }
        #expect(
            try model([.string("x")]).difference(from: model([])).map(\.description) == [
                "A: entity changed (a superentity changed); needs a migration",
                "B.x: attribute added; needs a migration",
            ])
    }

    @Test("a property that turns into another kind is removed and added")
    func kind() throws {
        let old = try ManagedObjectModel(entities: [EntityDescription("A", attributes: [.string("x")])])
        let new = try ManagedObjectModel(entities: [EntityDescription("A", relationships: [.toOne("x", to: "A")])])
        #expect(
            new.difference(from: old).map(\.description) == [
                "A.x: attribute removed; needs a migration", "A.x: relationship added; needs a migration",
            ])
    }
}
