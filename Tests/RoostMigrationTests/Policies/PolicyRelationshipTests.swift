import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

@Suite("Relationships of migration policies")
struct PolicyRelationshipTests {
    // MARK: Relationships

    @Test(
        "relationships that a policy omits stay empty unless the inverse sets them",
        arguments: Scenario.types, [true, false])
    func leavesRelationshipsOut(type: String, bothSides: Bool) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, at: directory.file("old"), people: 30)
        var mapping = try PolicySample.mapping()
        for index in mapping.entityMappings.indices {
            let isLeftOut = bothSides || mapping.entityMappings[index].sourceEntity == "Book"
            mapping.entityMappings[index].policyName = isLeftOut ? "Without" : "P"
        }
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: old.model, mapping: mapping,
            policies: ["P": { EntityMigrationPolicy() }, "Without": { ClosurePolicy { $0.onRelate = { _, _, _ in } } }])
        if bothSides {
            #expect(try Scenario.objects("Book", in: new).allSatisfy { $0.values["author"] == nil })
            #expect(try PolicySample.links(new).isEmpty)
        } else {
            #expect(try StoreComparison.diff(old, new) == [])
        }
        try new.close()
        try old.close()
    }

    @Test("values that a policy sets after the standard behavior are kept", arguments: Scenario.types)
    func setsAfterStandard(type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, at: directory.file("old"), people: 30)
        var mapping = try PolicySample.mapping()
        for index in mapping.entityMappings.indices
        where mapping.entityMappings[index].sourceEntity != "Book" { mapping.entityMappings[index].policyName = nil }
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: old.model, mapping: mapping,
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onRelate = { book, session, standard in
                            try standard()
                            switch book.id.key {
                            case 3:
                                // The standard shelves and one more.
                                let shelves = try book.objects("shelves")
                                #expect(shelves.map(\.id.key) == [4])
                                let first = try session.destinationObjects(FetchRequest("Shelf", limit: 1))
                                try book.setObjects(shelves + first, for: "shelves")
                            case 4: try book.setObjects([], for: "shelves")
                            case 5: try book.setObject(nil, for: "author")
                            case 6:
                                let people = try session.destinationObjects(
                                    FetchRequest("Person", where: .equal("code", to: 30)))
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
            let cursor = try snapshot.links(
                of: RelationshipName("Book", name: "shelves"), from: ObjectID("Book", key: key))
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
        #expect(books[5].values["author"] == .objectID(ObjectID("Editor", key: 30)))
        #expect(books[6].values["author"] == .objectID(ObjectID("Person", key: 4)))
        try new.close()
        try old.close()
    }

    private static func insertNodes(_ session: MigrationSession) throws -> [DestinationObject] {
        try (0..<6).map { number in
            let node = try session.insert("Node")
            node["n"] = .int(Int64(number))
            return node
        }
    }

    private static func changeNext(of nodes: [DestinationObject]) throws {
        try nodes[0].setObject(nodes[1], for: "next")
        #expect(try nodes[1].object("previous") == nodes[0])
        // A new partner replaces the old partner, and the old partner's relationship becomes nil.
        try nodes[2].setObject(nodes[1], for: "next")
        #expect(try nodes[0].object("next") == nil)
        #expect(try nodes[1].object("previous") == nodes[2])
    }

    private static func changeChildren(of nodes: [DestinationObject]) throws {
        try nodes[0].setObjects([nodes[5], nodes[3], nodes[4]], for: "children")
        #expect(try nodes[3].object("parent") == nodes[0])
        try nodes[2].setObject(nodes[0], for: "parent")
        #expect(try nodes[0].objects("children") == [nodes[5], nodes[3], nodes[4], nodes[2]])
        try nodes[0].setObjects([nodes[2], nodes[5]], for: "children")
        #expect(try nodes[3].object("parent") == nil)
        #expect(try nodes[0].objects("children") == [nodes[2], nodes[5]])
    }

    private static func changeFriends(of nodes: [DestinationObject]) throws {
        try nodes[0].setObjects([nodes[1], nodes[0], nodes[1]], for: "friends")
        #expect(try nodes[1].objects("friends") == [nodes[0]])
        try nodes[1].setObjects([nodes[2]], for: "friends")
        #expect(try nodes[0].objects("friends") == [nodes[0]])
    }

    private static func changeLikes(of nodes: [DestinationObject]) throws {
        try nodes[0].setObjects([nodes[3], nodes[2]], for: "likes")
        try nodes[1].setObjects([nodes[2]], for: "likes")
        #expect(try nodes[2].objects("likedBy") == [nodes[0], nodes[1]])
        try nodes[0].setObjects([nodes[2], nodes[4], nodes[3]], for: "likes")
        #expect(try nodes[0].objects("likes") == [nodes[2], nodes[4], nodes[3]])
        try nodes[2].setObjects([nodes[1], nodes[0]], for: "likedBy")
        #expect(try nodes[2].objects("likedBy") == [nodes[1], nodes[0]])
        #expect(try nodes[0].objects("likes") == [nodes[2], nodes[4], nodes[3]])
    }

    @Test("inverses follow each change by a policy, in memory and in the store", arguments: Scenario.types)
    func inversesFollow(type: String) throws {
        let directory = try TemporaryDirectory()
        let empty = try ManagedObjectModel(entities: [EntityDescription("Seed", attributes: [.string("name")])])
        let old = try Scenario.store(
            "memory", at: directory.file("old"), model: empty, objects: [.init("Seed", key: 1, values: ["name": "s"])])
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Seed", attributes: [.string("name")]),
            EntityDescription(
                "Node", attributes: [.integer64("n")],
                relationships: [
                    .toOne("next", to: "Node", inverse: "previous"), .toOne("previous", to: "Node", inverse: "next"),
                    .toOne("parent", to: "Node", inverse: "children"),
                    .toMany("children", to: "Node", inverse: "parent", isOrdered: true),
                    .toMany("friends", to: "Node", inverse: "friends"),
                    .toMany("likes", to: "Node", inverse: "likedBy", isOrdered: true),
                    .toMany("likedBy", to: "Node", inverse: "likes", isOrdered: true),
                ]),
        ])
        let mapping = MappingModel([
            EntityMapping("Seed", type: .copy, from: "Seed", to: "Seed").with { $0.policyName = "P" },
            EntityMapping("Node", type: .add, to: "Node"),
        ])
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: model, mapping: mapping,
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onCreate = { _, session, standard in
                            try standard()
                            for isWritten in [false, true] {
                                let nodes = try Self.insertNodes(session)
                                if isWritten { #expect(try session.destinationCount(FetchRequest("Node")) == 12) }
                                try Self.changeNext(of: nodes)
                                try Self.changeChildren(of: nodes)
                                try Self.changeFriends(of: nodes)
                                try Self.changeLikes(of: nodes)
                            }
                        }
                    }
                }
            ])
        #expect(try Scenario.objects("Node", in: new).count == 12)
        try new.close()
    }

    @Test(
        "each object's number of destinations must be within the relationship's limits",
        arguments: Scenario.types,
        [
            (2, nil, true, false), (1, nil, false, false), (1, nil, true, true), (0, 2, false, false),
            (0, 3, false, true), (0, nil, false, true),
        ] as [(minimum: Int, maximum: Int?, isOptional: Bool, isFine: Bool)])
    func countsAreValidated(
        type: String, limits: (minimum: Int, maximum: Int?, isOptional: Bool, isFine: Bool)
    ) throws {
        let directory = try TemporaryDirectory()
        func model(_ relationship: RelationshipDescription) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("Parent", attributes: [.string("name")], relationships: [relationship]),
                EntityDescription(
                    "Child", attributes: [.string("name")],
                    relationships: [.toOne("parent", to: "Parent", inverse: "children")]),
            ])
        }
        let parent: (Int64) -> Value = { .objectID(ObjectID("Parent", key: $0)) }
        let old = try Scenario.store(
            type, at: directory.file("old"), model: try model(.toMany("children", to: "Child", inverse: "parent")),
            objects: [
                .init("Parent", key: 1, values: [:]), .init("Parent", key: 2, values: [:]),
                .init("Parent", key: 3, values: [:]),
                .init("Child", key: 1, values: ["parent": parent(1)]),
                .init("Child", key: 2, values: ["parent": parent(1)]),
                .init("Child", key: 3, values: ["parent": parent(1)]),
                .init("Child", key: 4, values: ["parent": parent(2)]),
            ])
        let strict = try model(
            RelationshipDescription(
                "children", destination: "Child", inverse: "parent", minCount: limits.minimum,
                maxCount: limits.maximum
            ).with { $0.isOptional = limits.isOptional })
        var mapping = try MappingModel.inferred(from: old.model, to: strict)
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "P" }
        let migration = Result {
            try Scenario.migrate(
                old, to: type, at: directory.file("new"), model: strict, mapping: mapping,
                policies: ["P": { EntityMigrationPolicy() }])
        }
        switch migration {
        case .success(let store):
            #expect(limits.isFine)
            try store.close()
        case .failure(let error):
            let error = try #require(error as? StoreError)
            #expect(!limits.isFine && error.code == .migrationFailed && error.message.contains("'Parent.children'"))
        }
        try old.close()
    }

    // MARK: Relationships set elsewhere

    private enum Office {
        static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Dept", attributes: [.string("name")],
                    relationships: [.toMany("employees", to: "Emp", inverse: "dept")]),
                EntityDescription(
                    "Emp", attributes: [.string("name")],
                    relationships: [.toOne("dept", to: "Dept", inverse: "employees")]
                ),
            ])
        }

        static func store(_ type: String, at path: String) throws -> any PersistentStore {
            let dept = Value.objectID(ObjectID("Dept", key: 1))
            return try Scenario.store(
                type, at: path, model: try model(),
                objects: [
                    .init("Dept", key: 1, values: ["name": "one"]), .init("Dept", key: 2, values: ["name": "two"]),
                    .init("Emp", key: 1, values: ["name": "a", "dept": dept]),
                    .init("Emp", key: 2, values: ["name": "b", "dept": dept]),
                ])
        }

        /// Returns a mapping model that maps departments first and names a policy for each entity.
        ///
        /// The entity mapping of departments omits the relationship `employees`.
        static func mapping() throws -> MappingModel {
            MappingModel([
                EntityMapping(
                    "Dept", type: .transform, from: "Dept", to: "Dept",
                    attributes: [PropertyMapping("name", expression: .source("name"))]
                ).with { $0.policyName = "Dept" },
                EntityMapping(
                    "Emp", type: .transform, from: "Emp", to: "Emp",
                    attributes: [PropertyMapping("name", expression: .source("name"))]
                ).with {
                    $0.relationshipMappings = [
                        PropertyMapping("dept", expression: .relatedInstances(ofSourceRelationship: "dept"))
                    ]
                    $0.policyName = "Emp"
                },
            ])
        }
    }

    /// A moment at which a policy sets an employee's department outside the employee's `onRelate`.
    enum Place: CaseIterable {
        case firstPass, otherEnd, otherTurn
    }

    @Test(
        "a to-one relationship set outside the object's onRelate is kept if onRelate skips the standard behavior",
        arguments: Scenario.types, Place.allCases)
    func setElsewhere(type: String, place: Place) throws {
        let directory = try TemporaryDirectory()
        let old = try Office.store(type, at: directory.file("old"))
        @Sendable func dept(in session: MigrationSession, key: Int64) throws -> DestinationObject {
            let all = try session.destinationInstances(forEntityMapping: "Dept", sourceObjects: nil)
            return try #require(all.first { $0.id.key == key })
        }
        @Sendable func emp(in session: MigrationSession, key: Int64) throws -> DestinationObject {
            let all = try session.destinationInstances(forEntityMapping: "Emp", sourceObjects: nil)
            return try #require(all.first { $0.id.key == key })
        }
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: old.model, mapping: try Office.mapping(),
            policies: [
                "Dept": {
                    ClosurePolicy {
                        $0.onRelate = { object, session, standard in
                            try standard()
                            guard place == .otherEnd, object.id.key == 2 else { return }
                            try object.setObjects([try emp(in: session, key: 1)], for: "employees")
                        }
                    }
                },
                "Emp": {
                    ClosurePolicy {
                        $0.onCreate = { source, session, standard in
                            guard place == .firstPass, source.id.key == 1 else { return try standard() }
                            let made = try session.createStandardInstance(for: source)
                            try made?.setObject(try dept(in: session, key: 2), for: "dept")
                        }
                        $0.onRelate = { object, session, _ in
                            guard place == .otherTurn, object.id.key == 2 else { return }
                            try emp(in: session, key: 1).setObject(try dept(in: session, key: 2), for: "dept")
                        }
                    }
                },
            ])
        let employees = try Scenario.objects("Emp", in: new)
        #expect(employees.map { $0.values["dept"] } == [.objectID(ObjectID("Dept", key: 2)), nil])
        #expect(try Scenario.names("employees", of: ObjectID("Dept", key: 2), attribute: "name", in: new) == ["a"])
        try new.close()
        try old.close()
    }

    @Test("links that are made one by one keep their places at both ends", arguments: Scenario.types)
    func keepsBothOrders(type: String) throws {
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "A", attributes: [.string("name")],
                relationships: [.toMany("bs", to: "B", inverse: "as", isOrdered: true)]),
            EntityDescription(
                "B", attributes: [.string("name")],
                relationships: [.toMany("as", to: "A", inverse: "bs", isOrdered: true)]),
        ])
        let names = (1...4).map { Value.string("\($0)") }
        let old = try Scenario.store(
            type, at: directory.file("old"), model: model,
            objects: (1...4).map { .init("A", key: Int64($0), values: ["name": names[$0 - 1]]) }
                + (1...2).map { .init("B", key: Int64($0), values: ["name": names[$0 - 1]]) },
            links: [
                // B 1 refers to A 3, 1 and 2 in this order, and B 2 refers to A 1 and 4. A 1 refers to B 2 and 1.
                (RelationshipName("A", name: "bs"), Link(1, 1, order: 7, inverseOrder: 1)),
                (RelationshipName("A", name: "bs"), Link(1, 2, order: 3, inverseOrder: 0)),
                (RelationshipName("A", name: "bs"), Link(2, 1, order: 0, inverseOrder: 5)),
                (RelationshipName("A", name: "bs"), Link(3, 1, order: 0, inverseOrder: 0)),
                (RelationshipName("A", name: "bs"), Link(4, 2, order: 0, inverseOrder: 9)),
            ])
        func orders(_ store: any PersistentStore) throws -> [[String]] {
            try ["as"].flatMap { name in
                try (1...2).map { try Scenario.names(name, of: ObjectID("B", key: $0), attribute: "name", in: store) }
            }
                + (1...3).map { try Scenario.names("bs", of: ObjectID("A", key: $0), attribute: "name", in: store) }
        }
        let before = try orders(old)
        #expect(before == [["3", "1", "2"], ["1", "4"], ["2", "1"], ["1"], ["1"]])
        var mapping = try MappingModel.inferred(from: model, to: model)
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "P" }
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: model, mapping: mapping,
            policies: [
                "P": {
                    ClosurePolicy {
                        // A value set in the first pass prevents copying all links at once.
                        $0.onCreate = { source, session, standard in
                            guard source.id == ObjectID("A", key: 4) else { return try standard() }
                            try session.createStandardInstance(for: source)?.setObjects([], for: "bs")
                        }
                    }
                }
            ])
        #expect(try orders(new) == before)
        try new.close()
        try old.close()
    }

    @Test("objects keep their order in an inverse relationship if their destination gets a new key")
    func keepsPlaces() throws {
        let directory = try TemporaryDirectory()
        let tracks = (Int64(1)...4).map { key in
            Scenario.Object(
                "Track", key: key,
                values: [
                    "name": .string("t\(key)"), "album": .objectID(ObjectID("Album", key: 1)),
                    RecordLayout.orderFieldName(of: "album"): .int(10 - key),
                ])
        }
        let old = try Scenario.store(
            "memory", at: "",
            model: try ManagedObjectModel(entities: [
                EntityDescription(
                    "Album", attributes: [.string("name")],
                    relationships: [.toMany("tracks", to: "Track", inverse: "album", isOrdered: true)]),
                EntityDescription("Single", attributes: [.string("name")]),
                EntityDescription(
                    "Track", attributes: [.string("name")],
                    relationships: [.toOne("album", to: "Album", inverse: "tracks")]
                ),
            ]),
            objects: [.init("Album", key: 1, values: ["name": "a"]), .init("Single", key: 1, values: ["name": "s"])]
                + tracks)
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Release", attributes: [.string("name")],
                relationships: [.toMany("tracks", to: "Track", inverse: "release", isOrdered: true)]),
            EntityDescription(
                "Track", attributes: [.string("name")],
                relationships: [.toOne("release", to: "Release", inverse: "tracks")]),
        ])
        let name = PropertyMapping("name", expression: .source("name"))
        let mapping = MappingModel([
            EntityMapping("S", type: .transform, from: "Single", to: "Release", attributes: [name]),
            EntityMapping("A", type: .transform, from: "Album", to: "Release", attributes: [name]),
            EntityMapping(
                "T", type: .transform, from: "Track", to: "Track", attributes: [name]
            ).with {
                $0.relationshipMappings = [
                    PropertyMapping(
                        "release", expression: .destinationInstances(ofEntityMapping: "A", from: .source("album")))
                ]
            },
        ])
        let new = try Scenario.migrate(old, to: "sqlite", at: directory.file("new"), model: model, mapping: mapping)
        let release = try #require(try Scenario.objects("Release", in: new).first { $0.values["name"] == "a" })
        #expect(release.id.key != 1)
        #expect(try Scenario.names("tracks", of: release.id, attribute: "name", in: new) == ["t4", "t3", "t2", "t1"])
        try new.close()
    }

    @Test("links that a policy removes at one end stay removed at the other end", arguments: Scenario.types)
    func takesLinksAway(type: String) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("A", relationships: [.toMany("bs", to: "B", inverse: "as")]),
            EntityDescription("B", relationships: [.toMany("as", to: "A", inverse: "bs")]),
        ])
        let directory = try TemporaryDirectory()
        let keys: [Int64] = [1, 2, 3]
        let old = try Scenario.store(
            type, at: directory.file("old"), model: model,
            objects: keys.flatMap {
                [Scenario.Object("A", key: $0, values: [:]), Scenario.Object("B", key: $0, values: [:])]
            },
            links: keys.flatMap { a in keys.map { (RelationshipName("A", name: "bs"), Link(a, $0)) } })
        var mapping = try MappingModel.inferred(from: model, to: model)
        for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntity == "B" {
            mapping.entityMappings[index].policyName = "P"
        }
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: directory.file("new")), model: model)
        _ = try PolicySample.migrate(
            old, to: .store(store), mapping: mapping,
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onRelate = { object, _, standard in
                            try standard()
                            if object.id.key == 2 { try object.setObjects([], for: "as") }
                        }
                    }
                }
            ])
        let pairs = try PolicySample.links(store).map { [$0.source.key, $0.target.key] }
        #expect(Set(pairs) == [[1, 1], [1, 3], [2, 1], [2, 3], [3, 1], [3, 3]])
        try store.close()
        try old.close()
    }

    @Test(
        "an object ID that a policy sets must name an existing object and its exact entity",
        arguments: Scenario.types,
        [
            (ObjectID("Dept", key: 2), true), (ObjectID("Dept", key: 9), false), (ObjectID("Big", key: 3), true),
            (ObjectID("Dept", key: 3), false),
        ] as [(id: ObjectID, isFine: Bool)])
    func requiresGivenObjects(type: String, choice: (id: ObjectID, isFine: Bool)) throws {
        let (given, isFine) = choice
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Dept", attributes: [.string("name")]), EntityDescription("Big", superentity: "Dept"),
            EntityDescription("Emp", attributes: [.string("name")], relationships: [.toOne("dept", to: "Dept")]),
        ])
        let old = try Scenario.store(
            type, at: directory.file("old"), model: model,
            objects: [
                .init("Dept", key: 2, values: [:]), .init("Big", key: 3, values: [:]),
                .init("Emp", key: 1, values: [:]), .init("Emp", key: 2, values: [:]),
            ])
        var mapping = try MappingModel.inferred(from: model, to: model)
        for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntity == "Emp" {
            mapping.entityMappings[index].policyName = "P"
        }
        let policies: [String: @Sendable () -> EntityMigrationPolicy] = [
            "P": {
                ClosurePolicy {
                    $0.onRelate = { object, _, standard in
                        try standard()
                        if object.id.key == 1 { object["dept"] = .objectID(given) }
                    }
                }
            }
        ]
        let migration = Result {
            try Scenario.migrate(
                old, to: type, at: directory.file("new"), model: model, mapping: mapping, policies: policies)
        }
        switch migration {
        case .success(let store):
            #expect(isFine, "\(given)")
            #expect(try Scenario.objects("Emp", in: store).first?.values["dept"] == .objectID(given))
            try store.close()
        case .failure(let error):
            let error = try #require(error as? StoreError)
            #expect(!isFine && error.code == .migrationFailed && error.message.contains("\(given)"), "\(error)")
        }
        try old.close()
    }
}
