import Foundation
import Roost
import RoostMigration
import Testing

/// The acceptance scenarios of mapping models with policies.
@Suite("Migration scenarios")
struct ScenarioTests {
    // MARK: Posts are dropped, comments are kept

    private func blog(postIsOptional: Bool = true) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Post", attributes: [.string("title")],
                relationships: [.toMany("comments", to: "Comment", inverse: "post")]
            ),
            EntityDescription(
                "Comment", attributes: [.string("message")],
                relationships: [.toOne("post", to: "Post", inverse: "comments", isOptional: postIsOptional)]),
        ])
    }

    private func filledBlog(_ type: String, at path: String, model: ManagedObjectModel) throws -> any PersistentStore {
        try Scenario.store(
            type, at: path, model: model,
            objects: [
                .init("Post", key: 1, values: ["title": "Hello"]), .init("Post", key: 2, values: ["title": "Bye"]),
                .init("Comment", key: 1, values: ["message": "first", "post": .objectID(ObjectID("Post", key: 1))]),
                .init("Comment", key: 2, values: ["message": "second", "post": .objectID(ObjectID("Post", key: 1))]),
                .init("Comment", key: 3, values: ["message": "third", "post": .objectID(ObjectID("Post", key: 2))]),
            ])
    }

    private var withoutPosts: MappingModel {
        MappingModel([
            EntityMapping(
                "PostToPost", type: .custom, from: "Post", to: "Post",
                attributes: [PropertyMapping("title", expression: .source("title"))]
            ).with {
                $0.relationshipMappings = [
                    PropertyMapping(
                        "comments",
                        expression: .destinationInstances(
                            ofEntityMapping: "CommentToComment", from: .source("comments")))
                ]
                $0.policyName = "DropPosts"
            },
            EntityMapping(
                "CommentToComment", type: .copy, from: "Comment", to: "Comment"),
        ])
    }

    private final class DropPosts: EntityMigrationPolicy {
        override func createDestinationInstances(
            for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
        ) {}
    }

    @Test(
        "a policy drops posts, and the migrated comments refer to no post", arguments: Scenario.types, Scenario.types)
    func dropsPosts(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let model = try blog()
        let old = try filledBlog(source, at: directory.file("old"), model: model)
        let new = try Scenario.migrate(
            old, to: destination, at: directory.file("new"), model: model, mapping: withoutPosts,
            policies: ["DropPosts": { DropPosts() }])
        #expect(try Scenario.objects("Post", in: new).isEmpty)
        let comments = try Scenario.objects("Comment", in: new)
        #expect(comments.map { $0.values["message"] } == ["first", "second", "third"])
        #expect(comments.allSatisfy { $0.values["post"] == nil })
        try new.close()
        try old.close()
    }

    @Test(
        "a policy that drops posts fails and changes nothing if comments require a post", arguments: Scenario.types,
        Scenario.types)
    func refusesOrphans(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let model = try blog(postIsOptional: false)
        let old = try filledBlog(source, at: directory.file("old"), model: model)
        let before = try Scenario.digest(old)
        let error = try #require(throws: StoreError.self) {
            _ = try Scenario.migrate(
                old, to: destination, at: directory.file("new"), model: model, mapping: withoutPosts,
                policies: ["DropPosts": { DropPosts() }])
        }
        #expect(error.code == .migrationFailed)
        #expect(error.message.contains("'Comment.post'") && error.message.contains("Comment/p1"))
        #expect(try Scenario.digest(old) == before)
        #expect(try directory.names().filter { $0.hasPrefix("new") || $0.contains("roost-tmp") } == [])
        try old.close()
    }

    // MARK: JSON text becomes related objects without duplicates

    private static let tracks = [
        #"{"artists":[{"id":"a1","name":"Ann","imageURL":"u1"},{"id":"b1","name":"Bob","imageURL":"u2"}]}"#,
        #"{"artists":[{"id":"a1","name":"Ann","imageURL":"u1"}]}"#, nil, "not json",
    ]

    private final class SplitArtists: EntityMigrationPolicy {
        private struct List: Decodable {
            struct Artist: Decodable { let id, name, imageURL: String }
            let artists: [Artist]
        }

        override func createDestinationInstances(
            for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
        ) throws {
            let track = try session.insert("Track")
            for name in ["imageURL", "lastPlayedAt", "title"] { track[name] = source[name] }
            try session.associate(source, with: track, for: mapping.name)
            guard let json = source.string("json"),
                let list = try? JSONDecoder().decode(List.self, from: Data(json.utf8))
            else { return }
            var artists: [DestinationObject] = []
            for artist in list.artists {
                let request = FetchRequest("Artist", where: .equal("name", to: .string(artist.name)), limit: 1)
                if let known = try session.destinationObjects(request).first {
                    artists.append(known)
                    continue
                }
                let made = try session.insert("Artist")
                made["id"] = .string(artist.id)
                made["name"] = .string(artist.name)
                made["imageURL"] = .string(artist.imageURL)
                artists.append(made)
            }
            try track.setObjects(artists, for: "artists")
        }
    }

    @Test(
        "a policy that reads artists from JSON text makes each artist once", arguments: Scenario.types, Scenario.types)
    func splitsArtists(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let played = Date(timeIntervalSinceReferenceDate: 700_000_000.5)
        let old = try Scenario.store(
            source, at: directory.file("old"),
            model: try ManagedObjectModel(entities: [
                EntityDescription(
                    "Track",
                    attributes: [
                        .string("imageURL"), .string("json"), .date("lastPlayedAt"), .string("title"),
                        .string("artistName"),
                    ])
            ]),
            objects: Self.tracks.enumerated().map { index, json in
                .init(
                    "Track", key: Int64(index + 1),
                    values: [
                        "title": .string("T\(index + 1)"), "json": json.map { .string($0) } ?? .null, "imageURL": "i",
                        "lastPlayedAt": .date(played), "artistName": "somebody",
                    ])
            })
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Track", attributes: [.string("imageURL"), .date("lastPlayedAt"), .string("title")],
                relationships: [.toMany("artists", to: "Artist", inverse: "tracks")]),
            EntityDescription(
                "Artist", attributes: [.string("id"), .string("name"), .string("imageURL")],
                relationships: [.toMany("tracks", to: "Track", inverse: "artists")]),
        ])
        let mapping = MappingModel([
            EntityMapping("TrackToTrack", type: .custom, from: "Track", to: "Track").with {
                $0.policyName = "SplitArtists"
            },
            EntityMapping("Artist", type: .add, to: "Artist"),
        ])
        let new = try Scenario.migrate(
            old, to: destination, at: directory.file("new"), model: model, mapping: mapping,
            policies: ["SplitArtists": { SplitArtists() }])
        let tracks = try Scenario.objects("Track", in: new)
        #expect(tracks.map { $0.values["title"] } == ["T1", "T2", "T3", "T4"])
        #expect(tracks.allSatisfy { $0.values.keys.sorted() == ["imageURL", "lastPlayedAt", "title"] })
        #expect(tracks.allSatisfy { $0.values["lastPlayedAt"] == .date(played) })
        let artists = try Scenario.objects("Artist", in: new)
        #expect(artists.map { $0.values["name"] } == ["Ann", "Bob"])
        #expect(
            try tracks.map { try Scenario.names("artists", of: $0.id, attribute: "name", in: new).sorted() }
                == [["Ann", "Bob"], ["Ann"], [], []])
        #expect(try Scenario.names("tracks", of: artists[0].id, attribute: "title", in: new).sorted() == ["T1", "T2"])
        #expect(try Scenario.names("tracks", of: artists[1].id, attribute: "title", in: new) == ["T1"])
        try new.close()
        try old.close()
    }

    // MARK: An attribute becomes an object, a to-one becomes a to-many

    /// Returns the notes model in its four versions, v1.0 to v1.3.
    private func notes() throws -> [ManagedObjectModel] {
        let texts: [AttributeDescription] = [.string("title", isOptional: false), .string("body", isOptional: false)]
        let images = RelationshipDescription(
            "images", destination: "Image", inverse: "noteUsedIn", maxCount: nil
        ).with { $0.isOptional = false }
        return [
            try ManagedObjectModel(entities: [EntityDescription("Note", attributes: texts)]),
            try ManagedObjectModel(entities: [
                EntityDescription("Note", attributes: texts + [AttributeDescription("imageData", type: .binaryData)])
            ]),
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Note", attributes: texts, relationships: [.toOne("image", to: "Image", inverse: "noteUsedIn")]),
                EntityDescription(
                    "Image", attributes: [AttributeDescription("imageData", type: .binaryData)],
                    relationships: [.toOne("noteUsedIn", to: "Note", inverse: "image")]),
            ]),
            try ManagedObjectModel(entities: [
                EntityDescription("Note", attributes: texts, relationships: [images]),
                EntityDescription(
                    "Image",
                    attributes: [
                        AttributeDescription("imageData", type: .binaryData), .integer16("index", default: 0),
                    ],
                    relationships: [.toOne("noteUsedIn", to: "Note", inverse: "images")]),
            ]),
        ]
    }

    private static let noteTexts = [
        PropertyMapping("title", expression: .source("title")), PropertyMapping("body", expression: .source("body")),
    ]

    private final class NoteToNote: EntityMigrationPolicy {
        override func createDestinationInstances(
            for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
        ) throws {
            try super.createDestinationInstances(for: source, by: mapping, in: session)
            guard mapping.userInfo["sourceVersion"] == "v1.1", let data = source.data("imageData"),
                let note = try session.destinationInstances(forEntityMapping: mapping.name, sourceObjects: [source])
                    .first
            else { return }
            let image = try session.insert("Image")
            image["imageData"] = .data(data)
            try note.setObject(image, for: "image")
        }

        override func createRelationships(
            for destination: DestinationObject, by mapping: EntityMapping, in session: MigrationSession
        ) throws {
            try super.createRelationships(for: destination, by: mapping, in: session)
            guard mapping.userInfo["sourceVersion"] == "v1.2" else { return }
            let sources = try session.sourceInstances(forEntityMapping: mapping.name, destinationObjects: [destination])
            guard let image = try sources.first?.object("image") else { return }
            try destination.setObjects(
                try session.destinationInstances(forEntityMapping: "ImageToImage", sourceObjects: [image]),
                for: "images")
        }
    }

    private func notesMapping(to version: Int) -> MappingModel? {
        switch version {
        case 2:
            MappingModel([
                EntityMapping(
                    "NoteToNote", type: .custom, from: "Note", to: "Note", attributes: Self.noteTexts
                ).with {
                    $0.policyName = "NoteToNote"
                    $0.userInfo = ["sourceVersion": "v1.1"]
                }
            ])
        case 3:
            MappingModel([
                EntityMapping(
                    "ImageToImage", type: .transform, from: "Image", to: "Image",
                    attributes: [
                        PropertyMapping("imageData", expression: .source("imageData")), PropertyMapping("index"),
                    ]),
                EntityMapping(
                    "NoteToNote", type: .custom, from: "Note", to: "Note", attributes: Self.noteTexts
                ).with {
                    $0.policyName = "NoteToNote"
                    $0.userInfo = ["sourceVersion": "v1.2"]
                },
            ])
        default: nil
        }
    }

    /// Migrates step by step to the last version.
    private func chain(
        _ store: any PersistentStore, models: [ManagedObjectModel], from first: Int, to type: String,
        in directory: TemporaryDirectory, policies: [String: @Sendable () -> EntityMigrationPolicy],
        _ mapping: (Int) -> MappingModel?
    ) throws -> any PersistentStore {
        var current = store
        for version in first + 1..<models.count {
            let next = try Scenario.migrate(
                current, to: type, at: directory.file("v\(version)"), model: models[version], mapping: mapping(version),
                policies: policies)
            try current.close()
            current = next
        }
        return current
    }

    @Test(
        "notes without images get no images in a chain of migrations to the last version", arguments: Scenario.types,
        Scenario.types)
    func notesWithoutImages(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let models = try notes()
        let old = try Scenario.store(
            source, at: directory.file("old"), model: models[0],
            objects: [
                .init("Note", key: 1, values: ["title": "a", "body": "b"]),
                .init("Note", key: 2, values: ["title": "c", "body": "d"]),
            ])
        let new = try chain(
            old, models: models, from: 0, to: destination, in: directory, policies: ["NoteToNote": { NoteToNote() }],
            notesMapping)
        #expect(try Scenario.objects("Note", in: new).map { $0.values["title"] } == ["a", "c"])
        #expect(try Scenario.objects("Note", in: new).map { $0.values["body"] } == ["b", "d"])
        #expect(try Scenario.objects("Image", in: new).isEmpty)
        try new.close()
    }

    @Test("a policy turns the image bytes of a note into an Image object", arguments: Scenario.types, Scenario.types)
    func notesWithImages(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let models = try notes()
        let old = try Scenario.store(
            source, at: directory.file("old"), model: models[1],
            objects: [
                .init("Note", key: 1, values: ["title": "a", "body": "b", "imageData": .data(Data([1, 2]))]),
                .init("Note", key: 2, values: ["title": "c", "body": "d"]),
            ])
        let new = try chain(
            old, models: models, from: 1, to: destination, in: directory, policies: ["NoteToNote": { NoteToNote() }],
            notesMapping)
        let images = try Scenario.objects("Image", in: new)
        #expect(images.count == 1)
        #expect(images.first?.values["imageData"] == .data(Data([1, 2])))
        #expect(images.first?.values["index"] == .int(0))
        #expect(images.first?.values["noteUsedIn"] == .objectID(ObjectID("Note", key: 1)))
        #expect(try Scenario.objects("Note", in: new).map { $0.values["title"] } == ["a", "c"])
        try new.close()
    }

    // MARK: Long content becomes sections, between inferred steps

    private final class PostToSections: EntityMigrationPolicy {
        override func createDestinationInstances(
            for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
        ) throws {
            try super.createDestinationInstances(for: source, by: mapping, in: session)
            let post = try session.destinationInstances(forEntityMapping: mapping.name, sourceObjects: [source]).first
            let section = try session.insert("Section")
            if let content = source.string("content") {
                section["title"] = .string(content.prefix(4) + "...")
                section["body"] = .string(content)
            }
            section["index"] = 0
            try section.setObject(post, for: "post")
        }
    }

    @Test(
        "a chain of inferred steps and a policy turns the content of a post into a section", arguments: Scenario.types,
        Scenario.types)
    func splitsContent(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let common: [AttributeDescription] = [.date("date"), .string("postID")]
        let sections = RelationshipDescription.toMany("sections", to: "Section", inverse: "post", deleteRule: .cascade)
        let section = EntityDescription(
            "Section", attributes: [.string("title"), .string("body"), .integer16("index", default: 0)],
            relationships: [.toOne("post", to: "Post", inverse: "sections")])
        let models = [
            try ManagedObjectModel(entities: [
                EntityDescription("Post", attributes: common + [.string("color"), .string("content")])
            ]),
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Post", attributes: common + [.string("hexColor").renamed(from: "color"), .string("content")])
            ]),
            try ManagedObjectModel(entities: [
                EntityDescription("Post", attributes: common + [.string("hexColor")], relationships: [sections]),
                section,
            ]),
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Post", attributes: common + [.string("hexColor"), .boolean("softDeleted", default: false)],
                    relationships: [sections]), section,
            ]),
        ]
        let date = Date(timeIntervalSinceReferenceDate: 12.25)
        let old = try Scenario.store(
            source, at: directory.file("old"), model: models[0],
            objects: [
                .init(
                    "Post", key: 7,
                    values: ["color": "FF0000", "content": "ABCDEFGH", "date": .date(date), "postID": "p7"])
            ])
        let new = try chain(
            old, models: models, from: 0, to: destination, in: directory,
            policies: ["PostToSections": { PostToSections() }]
        ) { version in
            version == 2
                ? MappingModel([
                    EntityMapping(
                        "PostToPost", type: .custom, from: "Post", to: "Post",
                        attributes: ["date", "postID", "hexColor"].map { PropertyMapping($0, expression: .source($0)) }
                    ).with { $0.policyName = "PostToSections" }
                ]) : nil
        }
        let posts = try Scenario.objects("Post", in: new)
        #expect(
            posts.map(\.values) == [
                ["postID": "p7", "date": .date(date), "hexColor": "FF0000", "softDeleted": false]
            ])
        let found = try Scenario.objects("Section", in: new)
        #expect(
            found.map(\.values) == [
                ["title": "ABCD...", "body": "ABCDEFGH", "index": 0, "post": .objectID(ObjectID("Post", key: 7))]
            ])
        #expect(
            try Scenario.names("sections", of: ObjectID("Post", key: 7), attribute: "title", in: new) == ["ABCD..."])
        try new.close()
    }

    // MARK: Later use of a store

    @Test(
        "object IDs and each delete rule work in a migrated store, and a recreated store is empty",
        arguments: Scenario.types, Scenario.types)
    func keepsIDsAndDeleteRules(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        func library(_ rule: DeleteRule, extra: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Shelf", attributes: [.string("name")] + extra,
                    relationships: [.toMany("books", to: "Book", inverse: "shelf", deleteRule: rule)]),
                EntityDescription(
                    "Book", attributes: [.string("title")],
                    relationships: [.toOne("shelf", to: "Shelf", inverse: "books")]),
            ])
        }
        for rule in DeleteRule.allCases {
            let path = directory.file("new-\(rule)")
            let old = try Scenario.store(
                source, at: directory.file("old-\(rule)"), model: try library(.nullify, extra: []),
                objects: [
                    .init("Shelf", key: 4, values: ["name": "s"]), .init("Shelf", key: 5, values: ["name": "empty"]),
                    .init("Book", key: 9, values: ["title": "b", "shelf": .objectID(ObjectID("Shelf", key: 4))]),
                ])
            let uri = ObjectID("Book", key: 9).uriRepresentation(storeUUID: try old.metadata().storeUUID)
            let model = try library(rule, extra: [.boolean("isOpen", default: true)])
            let new = try Scenario.migrate(old, to: destination, at: path, model: model, mapping: nil)
            let (uuid, id) = try #require(ObjectID.parse(uri: uri))
            #expect(try new.metadata().storeUUID == uuid)
            #expect(try Scenario.objects("Book", in: new).map(\.id) == [id])
            #expect(try Scenario.objects("Shelf", in: new).map { $0.values["isOpen"] } == [true, true])
            let request = BatchDeleteRequest(FetchRequest("Shelf", where: .equal("name", to: "s")))
            if rule == .deny {
                let error = #expect(throws: StoreError.self) { try new.execute(request) }
                #expect(error?.code == .deleteDenied)
            } else {
                _ = try new.execute(request)
            }
            let books = try Scenario.objects("Book", in: new)
            #expect(books.count == (rule == .cascade ? 0 : 1))
            #expect(books.allSatisfy { ($0.values["shelf"] == nil) == (rule == .nullify) })
            #expect(try Scenario.objects("Shelf", in: new).count == (rule == .deny ? 2 : 1))
            try new.close()
            try old.close()
            let type = try StoreRegistry.standard.type(named: destination)
            try type.destroy(new.location)
            let fresh = try StoreRegistry.standard.create(new.location, model: model)
            #expect(try Scenario.objects("Book", in: fresh).isEmpty)
            try fresh.close()
        }
    }

    // MARK: Values are converted

    private final class Convert: EntityMigrationPolicy {
        override func value(
            of function: String, arguments: [Value], for source: SourceObject, property: PropertyMapping,
            in session: MigrationSession
        ) throws -> Value {
            guard function == "number:" else {
                return try super.value(of: function, arguments: arguments, for: source, property: property, in: session)
            }
            guard case .string(let text)? = arguments.first else { return .null }
            guard let number = Int64(text) else {
                throw StoreError(.invalidValue, "'\(property.name)' of \(source.id) is not a number; write a number.")
            }
            return .int(number)
        }
    }

    private func converted(_ texts: [String], from source: String, to destination: String) throws -> [Value?] {
        let directory = try TemporaryDirectory()
        let old = try Scenario.store(
            source, at: directory.file("old"),
            model: try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: [.string("text"), .integer64("x")])
            ]),
            objects: texts.enumerated().map {
                .init("Item", key: Int64($0 + 1), values: ["text": .string($1), "x": 10])
            })
        let before = try Scenario.digest(old)
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Item", attributes: [.integer16("number"), .integer16("twice"), .double("half")])
        ])
        let number = FetchRequest.Expression.policy("number:", .source("text"))
        let mapping = MappingModel([
            EntityMapping(
                "ItemToItem", type: .transform, from: "Item", to: "Item",
                attributes: [
                    PropertyMapping("number", expression: number),
                    PropertyMapping("twice", expression: .function(.multiply, [number, .constant(2)])),
                    PropertyMapping("half", expression: .function(.divide, [.source("x"), .constant(2.0)])),
                ]
            ).with { $0.policyName = "Convert" }
        ])
        let policies: [String: @Sendable () -> EntityMigrationPolicy] = ["Convert": { Convert() }]
        do {
            let new = try Scenario.migrate(
                old, to: destination, at: directory.file("new"), model: model, mapping: mapping, policies: policies)
            defer { try? new.close() }
            return try Scenario.objects("Item", in: new).flatMap {
                [$0.values["number"], $0.values["twice"], $0.values["half"]]
            }
        } catch {
            #expect(try Scenario.digest(old) == before)
            #expect(try directory.names().filter { $0.hasPrefix("new") || $0.contains("roost-tmp") } == [])
            throw error
        }
    }

    @Test(
        "a policy converts text to numbers, and expressions calculate with numbers", arguments: Scenario.types,
        Scenario.types)
    func convertsValues(from source: String, to destination: String) throws {
        #expect(try converted(["12"], from: source, to: destination) == [.int(12), .int(24), .double(5)])
    }

    @Test(
        "a policy that throws for a value ends the migration with its error",
        arguments: Scenario.types, Scenario.types)
    func refusesValues(from source: String, to destination: String) throws {
        let error = try #require(throws: StoreError.self) {
            _ = try converted(["12", "twelve"], from: source, to: destination)
        }
        #expect(error.code == .invalidValue && error.message.contains("Item/p2"))
    }

    @Test("a migration fails if a policy returns a too large number, and the error names the object")
    func refusesLargeNumbers() throws {
        let error = try #require(throws: StoreError.self) {
            _ = try converted(["70000"], from: "memory", to: "memory")
        }
        #expect(error.code == .migrationFailed)
        #expect(error.message.contains("'Item.number'") && error.message.contains("Item/p1"))
    }
}
