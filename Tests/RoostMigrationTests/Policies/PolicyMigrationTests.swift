import Foundation
import Roost
import RoostMigration
import Testing

/// What policies see and do in a migration in three passes.
@Suite("Migration policies")
struct PolicyMigrationTests {
    /// A policy made of closures.
    private final class Custom: EntityMigrationPolicy {
        var onBegin: ((MigrationSession) throws -> Void)?
        var onCreate: ((SourceObject, MigrationSession, () throws -> Void) throws -> Void)?
        var onEndCreation: ((MigrationSession) throws -> Void)?
        var onRelate: ((DestinationObject, MigrationSession, () throws -> Void) throws -> Void)?
        var onEndRelating: ((MigrationSession) throws -> Void)?
        var onValidate: ((MigrationSession) throws -> Void)?
        var onEnd: ((MigrationSession) throws -> Void)?

        init(_ setUp: (Custom) -> Void) {
            super.init()
            setUp(self)
        }

        override func begin(_ mapping: EntityMapping, _ session: MigrationSession) throws { try onBegin?(session) }
        override func createDestinationInstances(
            for source: SourceObject, in mapping: EntityMapping, _ session: MigrationSession
        ) throws {
            func standard() throws { try super.createDestinationInstances(for: source, in: mapping, session) }
            if let onCreate { try onCreate(source, session, standard) } else { try standard() }
        }
        override func endInstanceCreation(for mapping: EntityMapping, _ session: MigrationSession) throws {
            try onEndCreation?(session)
        }
        override func createRelationships(
            for destination: DestinationObject, in mapping: EntityMapping, _ session: MigrationSession
        ) throws {
            func standard() throws { try super.createRelationships(for: destination, in: mapping, session) }
            if let onRelate { try onRelate(destination, session, standard) } else { try standard() }
        }
        override func endRelationshipCreation(for mapping: EntityMapping, _ session: MigrationSession) throws {
            try onEndRelating?(session)
        }
        override func performCustomValidation(for mapping: EntityMapping, _ session: MigrationSession) throws {
            try onValidate?(session)
        }
        override func end(_ mapping: EntityMapping, _ session: MigrationSession) throws { try onEnd?(session) }
    }

    private struct Mine: Error, Equatable { var text: String }

    /// The sample's inferred mapping, with a policy for each entity mapping that makes objects.
    private func sampleMapping(_ policy: String = "P") throws -> MappingModel {
        let model = try Sample.model()
        var mapping = try MappingModel.inferred(from: model, to: model)
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = policy }
        return mapping
    }

    private func migrate(
        _ source: any PersistentStore, to destination: ConversionEndpoint, _ mapping: MappingModel,
        model: ManagedObjectModel? = nil, options: ConversionOptions = ConversionOptions(),
        policies: [String: @Sendable () -> EntityMigrationPolicy]
    ) throws -> MigrationReport {
        try MigrationManager(registry: .builtIn).migrate(
            from: .store(source), to: destination, model: model ?? source.model,
            options: MigrationOptions(conversion: options, mapping: mapping, policies: policies))
    }

    // MARK: The standard behaviour

    @Test("policies that change nothing make the same content", arguments: Scenario.types, Scenario.types)
    func standardIsIdentity(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(source, directory.file("old"), people: 300)
        let url = StoreURL(type: destination, path: directory.file("new"))
        let report = try migrate(
            old, to: .url(url), sampleMapping(), policies: ["P": { EntityMigrationPolicy() }])
        #expect(report.path == .threePasses)
        let new = try StoreRegistry.builtIn.open(url)
        #expect(try StoreComparison.diff(old, new) == [])
        #expect(report.destinationDigest == (try Scenario.digest(old)).description)
        #expect(try new.metadata().storeUUID == old.metadata().storeUUID)
        #expect(try new.metadata().userMetadata == old.metadata().userMetadata)
        #expect(report.mappings.map(\.made) == report.mappings.map { $0.read ?? -1 })
        #expect(try checkStore(new) == [])
        try new.close()
        try old.close()
    }

    @Test("objects that a policy drops vanish with everything that led to them", arguments: Scenario.types, 0..<3)
    func dropsObjects(type: String, seed: Int) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, directory.file("old"), people: 120)
        let stays: @Sendable (ObjectID) -> Bool = { id in
            (id.key &* 2_654_435_761 &+ Int64(id.entity.text.utf8.count) &+ Int64(seed)) % 3 != 0
        }
        let url = StoreURL(type: Scenario.types[(seed + 1) % 4], path: directory.file("new"))
        _ = try migrate(
            old, to: .url(url), sampleMapping(),
            policies: [
                "P": {
                    Custom { $0.onCreate = { source, _, standard in if stays(source.id) { try standard() } } }
                }
            ])
        let new = try StoreRegistry.builtIn.open(url)
        for entity: EntityName in ["Person", "Book", "Shelf"] {
            let expected = try Scenario.objects(entity, in: old).filter { stays($0.id) }.map { object in
                var values = object.values
                if case .objectID(let author)? = values["author"], !stays(author) {
                    values["author"] = nil
                    values[RecordLayout.orderFieldName(of: "author")] = nil
                }
                return values
            }
            #expect(try Scenario.objects(entity, in: new).map(\.values) == expected)
        }
        #expect(try links(new) == links(old).filter { stays($0.source) && stays($0.target) })
        #expect(try checkStore(new) == [])
        try new.close()
        try old.close()
    }

    private struct Pair: Hashable {
        var source: ObjectID
        var target: ObjectID
        var order: Int64
    }

    /// All links of the sample's relationships, with the entities that their ends have.
    private func links(_ store: any PersistentStore) throws -> Set<Pair> {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var ids: [Int: [Int64: ObjectID]] = [:]
        for root in store.model.roots {
            for object in try Scenario.objects(store.model.entities[root].name, in: store) {
                ids[root, default: [:]][object.id.key] = object.id
            }
        }
        var pairs: Set<Pair> = []
        for relationship in store.model.linkRelationships {
            let ends = (
                store.model.entities[relationship.source].root, store.model.entities[relationship.destination].root
            )
            var batch = LinkBatch(relationship: relationship.number)
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            while try cursor.next(into: &batch) {
                for link in batch.links {
                    let source = try #require(ids[ends.0]?[link.source])
                    let target = try #require(ids[ends.1]?[link.target])
                    pairs.insert(Pair(source: source, target: target, order: link.order + link.inverseOrder))
                }
            }
        }
        return pairs
    }

    @Test(
        "a mapping takes the objects that its predicate chooses, and several share an entity", arguments: Scenario.types
    )
    func splitsByPredicate(type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Scenario.store(
            type, directory.file("old"),
            try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: [.string("kind"), .string("name")])
            ]),
            [
                .init("Item", 1, ["kind": "a", "name": "one"]), .init("Item", 2, ["kind": "b", "name": "two"]),
                .init("Item", 3, ["kind": "a", "name": "three"]), .init("Item", 4, ["name": "four"]),
            ])
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Thing", isAbstract: true, attributes: [.string("name")]),
            EntityDescription("A", superentity: "Thing"), EntityDescription("B", superentity: "Thing"),
            EntityDescription("Log", attributes: [.string("name")]),
        ])
        let name = [PropertyMapping("name", .source("name"))]
        let mapping = MappingModel([
            EntityMapping("A", .transform, from: "Item", to: "A", where: .equal("kind", "a"), attributes: name),
            EntityMapping("B", .transform, from: "Item", to: "B", where: .equal("kind", "b"), attributes: name),
            EntityMapping("All", .transform, from: "Item", to: "B", attributes: name, policy: "P"),
            EntityMapping("Log", .transform, from: "Item", to: "Log", attributes: name),
        ])
        let new = try Scenario.migrate(
            old, to: type, directory.file("new"), model, mapping, policies: ["P": { EntityMigrationPolicy() }])
        let things = try Scenario.objects("Thing", in: new)
        // Who is there already keeps the key; the others of the same hierarchy get new ones.
        #expect(
            things.map { "\($0.id) \($0.values["name"] ?? .null)" } == [
                #"A/p1 "one""#, #"B/p2 "two""#, #"A/p3 "three""#, #"B/p4 "four""#, #"B/p5 "one""#, #"B/p6 "two""#,
                #"B/p7 "three""#,
            ])
        #expect(try Scenario.objects("Log", in: new).map(\.id.key) == [1, 2, 3, 4])
        try new.close()
        try old.close()
    }

    @Test(
        "objects of two hierarchies that become one get new keys, and everything that leads to them follows",
        arguments: Scenario.types, Scenario.types)
    func mergesHierarchies(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let tags = RelationshipDescription.toMany("tags", "Tag", inverse: nil)
        func owned(_ name: String) -> EntityDescription {
            EntityDescription(
                name, attributes: [.string("name")],
                relationships: [.toOne("home", "Home", inverse: name.lowercased() + "s"), tags])
        }
        let old = try Scenario.store(
            source, directory.file("old"),
            try ManagedObjectModel(entities: [
                owned("Cat"), owned("Dog"), EntityDescription("Tag", attributes: [.string("name")]),
                EntityDescription(
                    "Home", attributes: [.string("name")],
                    relationships: [.toMany("cats", "Cat", inverse: "home"), .toMany("dogs", "Dog", inverse: "home")]),
            ]),
            [
                .init("Home", 1, ["name": "H"]), .init("Tag", 1, ["name": "t1"]), .init("Tag", 2, ["name": "t2"]),
                .init("Cat", 1, ["name": "cat1", "home": .objectID(ObjectID("Home", 1))]),
                .init("Cat", 2, ["name": "cat2"]),
                .init("Dog", 1, ["name": "dog1", "home": .objectID(ObjectID("Home", 1))]),
                .init("Dog", 9, ["name": "dog9", "home": .objectID(ObjectID("Home", 1))]),
            ],
            links: [
                (RelationshipName("Cat", "tags"), Link(1, 2)), (RelationshipName("Dog", "tags"), Link(1, 1)),
                (RelationshipName("Dog", "tags"), Link(1, 2)), (RelationshipName("Dog", "tags"), Link(9, 2)),
            ])
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Pet", attributes: [.string("name")],
                relationships: [.toOne("home", "Home", inverse: "pets"), .toMany("tags", "Tag", inverse: "pets")]),
            EntityDescription(
                "Tag", attributes: [.string("name")], relationships: [.toMany("pets", "Pet", inverse: "tags")]),
            EntityDescription(
                "Home", attributes: [.string("name")],
                relationships: [
                    .toMany("pets", "Pet", inverse: "home"), .toOne("favourite", "Pet"),
                ]),
        ])
        let name = [PropertyMapping("name", .source("name"))]
        func pets(_ entity: EntityName) -> EntityMapping {
            EntityMapping(
                "\(entity)ToPet", .transform, from: entity, to: "Pet", attributes: name,
                relationships: [
                    PropertyMapping("home", .relatedInstances(ofSourceRelationship: "home")),
                    PropertyMapping("tags", .relatedInstances(ofSourceRelationship: "tags")),
                ])
        }
        let mapping = MappingModel([
            pets("Cat"), pets("Dog"), EntityMapping("Tags", .transform, from: "Tag", to: "Tag", attributes: name),
            EntityMapping("Homes", .transform, from: "Home", to: "Home", attributes: name, policy: "P"),
        ])
        let new = try Scenario.migrate(
            old, to: destination, directory.file("new"), model, mapping,
            policies: [
                "P": {
                    Custom {
                        $0.onRelate = { home, session, standard in
                            try standard()
                            let sources = try session.sourceInstances(
                                forEntityMapping: "Homes", destinationObjects: [home])
                            let dogs = try sources.first?.objects("dogs") ?? []
                            let pets = try session.destinationInstances(
                                forEntityMapping: "DogToPet", sourceObjects: dogs)
                            try home.setObject(pets.last, for: "favourite")
                        }
                    }
                }
            ])
        let found = try Scenario.objects("Pet", in: new)
        #expect(found.map { $0.values["name"] } == ["cat1", "cat2", "dog1", "dog9"])
        #expect(found.map(\.id.key) == [1, 2, 3, 4])
        #expect(found.map { $0.values["home"] != nil } == [true, false, true, true])
        #expect(
            try found.map { try Scenario.names("tags", of: $0.id, "name", in: new) } == [
                ["t2"], [], ["t1", "t2"], ["t2"],
            ])
        #expect(try Scenario.names("pets", of: ObjectID("Home", 1), "name", in: new) == ["cat1", "dog1", "dog9"])
        let homes = try Scenario.objects("Home", in: new)
        #expect(homes.first?.values["favourite"] == .objectID(ObjectID("Pet", 4)))
        try new.close()
        try old.close()
    }

    // MARK: Callbacks

    @Test("callbacks come in their order, each step for all mappings")
    func callbackOrder() throws {
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [.string("name")]),
            EntityDescription("B", attributes: [.string("name")]),
        ])
        let old = try Scenario.store(
            "memory", directory.file("old"), model, [.init("A", 1, [:]), .init("A", 2, [:]), .init("B", 1, [:])])
        let seen = Mutex<[String]>([])
        let note: @Sendable (String, MigrationSession) -> Void = { what, session in
            seen.withLock { $0.append("\(session.currentEntityMapping?.name ?? "none") \(what)") }
        }
        let mapping = MappingModel(
            ["A", "B"].map { EntityMapping($0, .copy, from: EntityName($0), to: EntityName($0), policy: "P") })
        _ = try migrate(
            old, to: .url(StoreURL(type: "memory", path: directory.file("new"))), mapping,
            policies: [
                "P": {
                    Custom {
                        $0.onBegin = { note("begin", $0) }
                        $0.onCreate = { source, session, standard in
                            note("create \(source.id.key)", session)
                            try standard()
                        }
                        $0.onEndCreation = { note("endCreation", $0) }
                        $0.onRelate = { object, session, standard in
                            note("relate \(object.id.key)", session)
                            try standard()
                        }
                        $0.onEndRelating = { note("endRelating", $0) }
                        $0.onValidate = { note("validate", $0) }
                        $0.onEnd = { note("end", $0) }
                    }
                }
            ])
        #expect(
            seen.withLock { $0 } == [
                "A begin", "A create 1", "A create 2", "A endCreation", "B begin", "B create 1", "B endCreation",
                "A relate 1", "A relate 2", "A endRelating", "B relate 1", "B endRelating", "A validate", "B validate",
                "A end", "B end",
            ])
    }

    /// A place where a policy can end the migration.
    enum Callback: String, CaseIterable {
        case begin, create, endCreation, relate, endRelating, validate, end
    }

    private static func ending(at callback: Callback, _ body: @escaping (MigrationSession) throws -> Void) -> Custom {
        Custom { policy in
            switch callback {
            case .begin: policy.onBegin = body
            case .create:
                policy.onCreate = { source, session, standard in
                    try standard()
                    if source.id.key == 7 { try body(session) }
                }
            case .endCreation: policy.onEndCreation = body
            case .relate:
                policy.onRelate = { object, session, standard in
                    try standard()
                    if object.id.key == 7 { try body(session) }
                }
            case .endRelating: policy.onEndRelating = body
            case .validate: policy.onValidate = body
            case .end: policy.onEnd = body
            }
        }
    }

    @Test(
        "an error at any callback leaves the source as it was and nothing of the destination",
        arguments: Callback.allCases, Scenario.types)
    func throwsAnywhere(callback: Callback, type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, directory.file("old"), people: 60)
        let before = try Scenario.digest(old)
        let url = StoreURL(type: type, path: directory.file("new"))
        let error = try #require(throws: StoreError.self) {
            _ = try migrate(
                old, to: .url(url), sampleMapping(),
                policies: ["P": { Self.ending(at: callback) { _ in throw Mine(text: callback.rawValue) } }])
        }
        #expect(error.code == .migrationFailed)
        #expect(error.underlying as? Mine == Mine(text: callback.rawValue))
        #expect(try Scenario.digest(old) == before)
        #expect(try directory.names().filter { $0.hasPrefix("new") || $0.contains("roost-tmp") } == [])
        // The same migration without the error goes through.
        _ = try migrate(old, to: .url(url), sampleMapping(), policies: ["P": { EntityMigrationPolicy() }])
        try old.close()
    }

    @Test("a policy that cancels ends the migration with its error", arguments: Callback.allCases)
    func cancelsAnywhere(callback: Callback) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("sqlite", directory.file("old"), people: 60)
        let error = try #require(throws: StoreError.self) {
            _ = try migrate(
                old, to: .url(StoreURL(type: "lmdb", path: directory.file("new"))), sampleMapping(),
                policies: ["P": { Self.ending(at: callback) { $0.cancel(with: Mine(text: "enough")) } }])
        }
        #expect(error.code == .cancelled && error.underlying as? Mine == Mine(text: "enough"))
        #expect(try directory.names().filter { $0.hasPrefix("new") || $0.contains("roost-tmp") } == [])
        try old.close()
    }

    @Test("a cancellation from outside is heard between objects")
    func cancelsFromOutside() throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("memory", directory.file("old"), people: 60)
        let cancellation = ConversionCancellation()
        let count = Mutex(0)
        let error = try #require(throws: StoreError.self) {
            _ = try migrate(
                old, to: .url(StoreURL(type: "sqlite", path: directory.file("new"))), sampleMapping(),
                options: ConversionOptions(cancellation: cancellation),
                policies: [
                    "P": {
                        Custom {
                            $0.onCreate = { _, _, standard in
                                try standard()
                                count.withLock { $0 += 1 }
                                cancellation.cancel()
                            }
                        }
                    }
                ])
        }
        #expect(error.code == .cancelled)
        #expect(count.withLock { $0 } == 1)
        #expect(try directory.names().filter { $0.hasPrefix("new") || $0.contains("roost-tmp") } == [])
    }

    // MARK: Mistakes

    /// What a policy may do wrong, and how the migration ends then.
    private func mistake(_ body: @escaping @Sendable (SourceObject, MigrationSession) throws -> Void) throws
        -> StoreError
    {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("memory", directory.file("old"), people: 9)
        let model = try Sample.model()
        return try #require(throws: StoreError.self) {
            _ = try migrate(
                old, to: .url(StoreURL(type: "memory", path: directory.file("new"))), sampleMapping(), model: model,
                policies: [
                    "P": {
                        Custom {
                            $0.onCreate = { source, session, standard in
                                try standard()
                                try body(source, session)
                            }
                        }
                    }
                ])
        }
    }

    @Test("mistakes of policies are errors that name what is wrong")
    func mistakes() throws {
        var error = try mistake { source, _ in _ = source["nmae"] }
        #expect(error.code == .unknownProperty && error.message.contains("'nmae'"))
        error = try mistake { _, session in try session.insert("Book")["titel"] = "x" }
        #expect(error.code == .unknownProperty && error.message.contains("did you mean 'title'?"))
        error = try mistake { _, session in try session.insert("Book")["title"] = 5 }
        #expect(error.code == .invalidValue && error.message.contains("Book.title"))
        error = try mistake { _, session in try session.insert("Editor")["desk"] = 70_000 }
        #expect(error.code == .invalidValue && error.message.contains("desk"))
        error = try mistake { _, session in _ = try session.insert("Bok") }
        #expect(error.code == .unknownEntity)
        error = try mistake { source, session in
            try session.associate(source, with: try session.insert("Book"), for: "IEM_Copy_Bok")
        }
        #expect(error.code == .invalidRequest && error.message.contains("did you mean 'IEM_Copy_Book'?"))
        error = try mistake { _, session in
            _ = try session.destinationInstances(forEntityMapping: "nobody", sourceObjects: nil)
        }
        #expect(error.code == .invalidRequest)
        error = try mistake { _, session in
            try session.insert("Book").setObject(try session.insert("Shelf"), for: "author")
        }
        #expect(error.code == .invalidRequest && error.message.contains("Book.author"))
        error = try mistake { _, session in try session.insert("Book").setObjects([], for: "author") }
        #expect(error.code == .invalidRequest && error.message.contains("to-one"))
        error = try mistake { _, session in
            try session.createStandardRelationships(for: try session.insert("Book"))
        }
        #expect(error.code == .invalidRequest && error.message.contains("createStandardRelationships"))
    }

    @Test("a mapping whose policy is not registered is refused before anything is read")
    func unknownPolicy() throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("memory", directory.file("old"), people: 9)
        let error = try #require(throws: StoreError.self) {
            _ = try migrate(
                old, to: .url(StoreURL(type: "sqlite", path: directory.file("new"))), sampleMapping("Polcy"),
                policies: ["Policy": { EntityMigrationPolicy() }])
        }
        #expect(error.code == .invalidMappingModel && error.message.contains("did you mean 'Policy'?"))
        #expect(try directory.names().filter { $0.hasPrefix("new") } == [])
    }

    // MARK: Relationships

    @Test(
        "relationships that a policy does not make stay empty, unless the other side gives them",
        arguments: Scenario.types, [true, false])
    func leavesRelationshipsOut(type: String, bothSides: Bool) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, directory.file("old"), people: 30)
        var mapping = try sampleMapping()
        for index in mapping.entityMappings.indices {
            let isLeftOut = bothSides || mapping.entityMappings[index].sourceEntity == "Book"
            mapping.entityMappings[index].policyName = isLeftOut ? "Without" : "P"
        }
        let new = try Scenario.migrate(
            old, to: type, directory.file("new"), old.model, mapping,
            policies: ["P": { EntityMigrationPolicy() }, "Without": { Custom { $0.onRelate = { _, _, _ in } } }])
        if bothSides {
            #expect(try Scenario.objects("Book", in: new).allSatisfy { $0.values["author"] == nil })
            #expect(try links(new).isEmpty)
        } else {
            #expect(try StoreComparison.diff(old, new) == [])
        }
        try new.close()
        try old.close()
    }

    @Test("what a policy sets after the standard behaviour stands", arguments: Scenario.types)
    func setsAfterStandard(type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, directory.file("old"), people: 30)
        var mapping = try sampleMapping()
        for index in mapping.entityMappings.indices
        where mapping.entityMappings[index].sourceEntity != "Book" { mapping.entityMappings[index].policyName = nil }
        let new = try Scenario.migrate(
            old, to: type, directory.file("new"), old.model, mapping,
            policies: [
                "P": {
                    Custom {
                        $0.onRelate = { book, session, standard in
                            try standard()
                            switch book.id.key {
                            case 3:
                                // Both the standard shelves and another one.
                                let shelves = try book.objects("shelves")
                                #expect(shelves.map(\.id.key) == [4])
                                let first = try session.destinationObjects(FetchRequest("Shelf", limit: 1))
                                try book.setObjects(shelves + first, for: "shelves")
                            case 4: try book.setObjects([], for: "shelves")
                            case 5: try book.setObject(nil, for: "author")
                            case 6:
                                let people = try session.destinationObjects(
                                    FetchRequest("Person", where: .equal("code", 30)))
                                try book.setObject(people.first, for: "author")
                            default: break
                            }
                        }
                    }
                }
            ])
        func shelves(_ key: Int64) throws -> [String] {
            let snapshot = try new.snapshot()
            defer { snapshot.close() }
            var batch = LinkBatch(relationship: 0)
            let cursor = try snapshot.links(of: RelationshipName("Book", "shelves"), from: ObjectID("Book", key))
            var keys: [String] = []
            while try cursor.next(into: &batch) { keys += batch.links.map { "\($0.target)" } }
            return keys
        }
        #expect(try shelves(2) == ["3"])
        #expect(try shelves(3) == ["1", "4"])
        #expect(try shelves(4) == [])
        #expect(try shelves(7) == ["3"])
        let books = try Scenario.objects("Book", in: new)
        #expect(books[4].values["author"] == nil)
        #expect(books[5].values["author"] == .objectID(ObjectID("Editor", 30)))
        #expect(books[6].values["author"] == .objectID(ObjectID("Person", 4)))
        try new.close()
        try old.close()
    }

    @Test("inverses follow whatever a policy sets, in memory and in the store", arguments: Scenario.types)
    func inversesFollow(type: String) throws {
        let directory = try TemporaryDirectory()
        let empty = try ManagedObjectModel(entities: [EntityDescription("Seed", attributes: [.string("name")])])
        let old = try Scenario.store("memory", directory.file("old"), empty, [.init("Seed", 1, ["name": "s"])])
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Seed", attributes: [.string("name")]),
            EntityDescription(
                "Node", attributes: [.integer64("n")],
                relationships: [
                    .toOne("next", "Node", inverse: "previous"), .toOne("previous", "Node", inverse: "next"),
                    .toOne("parent", "Node", inverse: "children"),
                    .toMany("children", "Node", inverse: "parent", isOrdered: true),
                    .toMany("friends", "Node", inverse: "friends"),
                    .toMany("likes", "Node", inverse: "likedBy", isOrdered: true),
                    .toMany("likedBy", "Node", inverse: "likes", isOrdered: true),
                ]),
        ])
        let mapping = MappingModel([
            EntityMapping("Seed", .copy, from: "Seed", to: "Seed", policy: "P"),
            EntityMapping("Node", .add, to: "Node"),
        ])
        let new = try Scenario.migrate(
            old, to: type, directory.file("new"), model, mapping,
            policies: [
                "P": {
                    Custom {
                        $0.onCreate = { _, session, standard in
                            try standard()
                            for isWritten in [false, true] {
                                var nodes: [DestinationObject] = []
                                for number in 0..<6 {
                                    let node = try session.insert("Node")
                                    node["n"] = .int(Int64(number))
                                    nodes.append(node)
                                }
                                if isWritten { #expect(try session.destinationCount(FetchRequest("Node")) == 12) }
                                try nodes[0].setObject(nodes[1], for: "next")
                                #expect(try nodes[1].object("previous") == nodes[0])
                                // Who takes somebody's partner leaves the old one alone.
                                try nodes[2].setObject(nodes[1], for: "next")
                                #expect(try nodes[0].object("next") == nil)
                                #expect(try nodes[1].object("previous") == nodes[2])
                                try nodes[0].setObjects([nodes[5], nodes[3], nodes[4]], for: "children")
                                #expect(try nodes[3].object("parent") == nodes[0])
                                try nodes[2].setObject(nodes[0], for: "parent")
                                #expect(try nodes[0].objects("children") == [nodes[5], nodes[3], nodes[4], nodes[2]])
                                try nodes[0].setObjects([nodes[2], nodes[5]], for: "children")
                                #expect(try nodes[3].object("parent") == nil)
                                #expect(try nodes[0].objects("children") == [nodes[2], nodes[5]])
                                try nodes[0].setObjects([nodes[1], nodes[0], nodes[1]], for: "friends")
                                #expect(try nodes[1].objects("friends") == [nodes[0]])
                                try nodes[1].setObjects([nodes[2]], for: "friends")
                                #expect(try nodes[0].objects("friends") == [nodes[0]])
                                try nodes[0].setObjects([nodes[3], nodes[2]], for: "likes")
                                try nodes[1].setObjects([nodes[2]], for: "likes")
                                #expect(try nodes[2].objects("likedBy") == [nodes[0], nodes[1]])
                                try nodes[0].setObjects([nodes[2], nodes[4], nodes[3]], for: "likes")
                                #expect(try nodes[0].objects("likes") == [nodes[2], nodes[4], nodes[3]])
                                try nodes[2].setObjects([nodes[1], nodes[0]], for: "likedBy")
                                #expect(try nodes[2].objects("likedBy") == [nodes[1], nodes[0]])
                                #expect(try nodes[0].objects("likes") == [nodes[2], nodes[4], nodes[3]])
                            }
                        }
                    }
                }
            ])
        #expect(try Scenario.objects("Node", in: new).count == 12)
        try new.close()
    }

    @Test("too few and too many destinations of a relationship are refused", arguments: Scenario.types)
    func countsAreValidated(type: String) throws {
        for (minimum, maximum, isOptional, isFine) in [
            (2, nil, true, false), (1, nil, false, false), (1, nil, true, true), (0, 2, false, false),
            (0, 3, false, true),
            (0, nil, false, true),
        ] as [(Int, Int?, Bool, Bool)] {
            let directory = try TemporaryDirectory()
            func model(_ relationship: RelationshipDescription) throws -> ManagedObjectModel {
                try ManagedObjectModel(entities: [
                    EntityDescription("Parent", attributes: [.string("name")], relationships: [relationship]),
                    EntityDescription(
                        "Child", attributes: [.string("name")],
                        relationships: [.toOne("parent", "Parent", inverse: "children")]),
                ])
            }
            let parent: (Int64) -> Value = { .objectID(ObjectID("Parent", $0)) }
            let old = try Scenario.store(
                type, directory.file("old"), try model(.toMany("children", "Child", inverse: "parent")),
                [
                    .init("Parent", 1, [:]), .init("Parent", 2, [:]), .init("Parent", 3, [:]),
                    .init("Child", 1, ["parent": parent(1)]), .init("Child", 2, ["parent": parent(1)]),
                    .init("Child", 3, ["parent": parent(1)]), .init("Child", 4, ["parent": parent(2)]),
                ])
            let strict = try model(
                RelationshipDescription(
                    "children", destination: "Child", inverse: "parent", minCount: minimum, maxCount: maximum,
                    isOptional: isOptional))
            var mapping = try MappingModel.inferred(from: old.model, to: strict)
            for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "P" }
            let migration = Result {
                try Scenario.migrate(
                    old, to: type, directory.file("new"), strict, mapping, policies: ["P": { EntityMigrationPolicy() }])
            }
            switch migration {
            case .success(let store):
                #expect(isFine)
                try store.close()
            case .failure(let error):
                let error = try #require(error as? StoreError)
                #expect(!isFine && error.code == .migrationFailed && error.message.contains("'Parent.children'"))
            }
            try old.close()
        }
    }

    @Test("what policies make shows in fetches at once, and can be changed", arguments: Scenario.types)
    func fetchesSeeEverything(type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, directory.file("old"), people: 20)
        let new = try Scenario.migrate(
            old, to: type, directory.file("new"), old.model, sampleMapping(),
            policies: [
                "P": {
                    Custom {
                        $0.onCreate = { source, session, standard in
                            try standard()
                            guard source.entity == "Person", source.id.key == 10 else { return }
                            let request = FetchRequest("Person", where: .equal("code", 10))
                            let found = try #require(try session.destinationObjects(request).first)
                            #expect(found.string("name") == "Person 10")
                            found["name"] = "changed"
                            found["code"] = 1000
                            #expect(try session.destinationCount(request) == 0)
                            // Associations answer at once, from both sides.
                            let mapping = try #require(session.currentEntityMapping).name
                            #expect(
                                try session.destinationInstances(forEntityMapping: mapping, sourceObjects: [source])
                                    == [found])
                            let back = try session.sourceInstances(
                                forEntityMapping: mapping, destinationObjects: [found])
                            #expect(back.map(\.id) == [source.id])
                            let all = try session.destinationInstances(forEntityMapping: mapping, sourceObjects: nil)
                            #expect(all.last == found && all.first?.string("name") == "Person 1")
                        }
                        $0.onEndCreation = { session in
                            let made = try session.insert("Shelf")
                            made["label"] = .uri("made:\(session.currentEntityMapping?.name ?? "")")
                        }
                    }
                }
            ])
        let people = try Scenario.objects("Person", in: new)
        #expect(people.first { $0.id.key == 10 }?.values["name"] == "changed")
        #expect(people.count == 20)
        let shelves = try Scenario.objects("Shelf", in: new)
        #expect(shelves.count == 9)
        // New objects do not take the keys of deleted ones.
        #expect(shelves.filter { $0.id.key > 5 }.map(\.id.key) == [78, 79, 80, 81])
        try new.close()
        try old.close()
    }

    @Test("after the migration its objects and its session refuse to be used")
    func nothingLivesOn() throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("memory", directory.file("old"), people: 9)
        final class Kept: @unchecked Sendable {
            // Proof of Sendable: written on the thread of the migration, read when it has ended.
            var session: MigrationSession?
            var object: DestinationObject?
            var source: SourceObject?
        }
        let kept = Kept()
        _ = try migrate(
            old, to: .url(StoreURL(type: "memory", path: directory.file("new"))), sampleMapping(),
            policies: [
                "P": {
                    Custom {
                        $0.onCreate = { source, session, standard in
                            try standard()
                            kept.session = session
                            kept.source = source
                            kept.object = try session.insert("Shelf")
                        }
                    }
                }
            ])
        #expect(kept.source?.id.entity == "Shelf")
        #expect(throws: StoreError.self) { try kept.source?.objects("books") }
        #expect(throws: StoreError.self) { try kept.session?.insert("Shelf") }
        #expect(throws: StoreError.self) { try kept.session?.destinationObjects(FetchRequest("Shelf")) }
        #expect(throws: StoreError.self) { try kept.object?.setObjects([], for: "books") }
        kept.object?["label"] = .uri("x")
        #expect(kept.object?["label"] == .null)
    }
}
