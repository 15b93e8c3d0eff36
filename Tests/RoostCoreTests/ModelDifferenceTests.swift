import RoostCore
import Testing

@Suite("Differences of models")
struct ModelDifferenceTests {
    @Test("equal models have no difference")
    func equal() throws {
        #expect(try ModelSamples.music().difference(from: ModelSamples.music()).isEmpty)
    }

    @Test("every difference of two models is listed with what it means for stores")
    func listsEveryDifference() throws {
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
                "Track.playCount: attribute renamed to plays (minimum: 0 → none); needs a migration",
                #"Track.title: attribute changed (defaultValue: none → "?", isOptional: true → false); needs a migration"#,
                #"Track.album: relationship changed (deleteRule: "nullify" → "deny")"#,
                #"Track.byTitle: fetch index changed (elements: [{"property":"title"}] → [{"property":"title"},{"property":"plays","isAscending":false}])"#,
            ])
        #expect(old.difference(from: new).first { $0.entity == "Genre" }?.kind == .removed)
    }

    @Test("a changed superentity is listed as a change of its subentity")
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

    @Test("entities and attributes with matching renaming identifiers are listed as renamed")
    func renamed() throws {
        let old = try ManagedObjectModel(entities: [
            EntityDescription("Note", attributes: [.string("a"), .string("b").renamed(from: "first")]),
            EntityDescription("Old"),
        ])
        let new = try ManagedObjectModel(entities: [
            EntityDescription(
                "Memo",
                attributes: [.string("c", isOptional: false).renamed(from: "a"), .string("d").renamed(from: "first")]
            ).with { $0.renamingIdentifier = "Note" },
            EntityDescription("New"),
        ])
        #expect(
            new.difference(from: old).map(\.description) == [
                "Note: entity renamed to Memo; needs a migration",
                #"Memo: entity changed (renamingIdentifier: none → "Note")"#,
                "Memo.a: attribute renamed to c (isOptional: true → false); needs a migration",
                "Memo.b: attribute renamed to d; needs a migration",
                "New: entity added; needs a migration", "Old: entity removed; needs a migration",
            ])
        // Renaming identifiers that are in both models rename nothing.
        #expect(new.difference(from: new).isEmpty)
    }

    @Test("an attribute that becomes a relationship is listed as removed and added")
    func kind() throws {
        let old = try ManagedObjectModel(entities: [EntityDescription("A", attributes: [.string("x")])])
        let new = try ManagedObjectModel(entities: [EntityDescription("A", relationships: [.toOne("x", to: "A")])])
        #expect(
            new.difference(from: old).map(\.description) == [
                "A.x: attribute removed; needs a migration", "A.x: relationship added; needs a migration",
            ])
    }
}
